//! No reading tool of the shipped plugins needs a scope that also writes, but for what providers do not separate.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_catalog::manifest::{AuthKind, Effect};

use super::{shipped, tools};

/// Reading tools' scopes that also write, by service, each with what the provider says.
const SCOPES_THAT_ALSO_WRITE: &[(&str, &str, &str)] = &[
    (
        "bitbucket",
        "pullrequest",
        "atlassian.com, Bitbucket OAuth scopes: `pullrequest` reads and also lets comment and approve",
    ),
    (
        "constant_contact",
        "campaign_data",
        "developer.constantcontact.com, scopes: one scope to view, create and send campaigns",
    ),
    (
        "constant_contact",
        "contact_data",
        "developer.constantcontact.com, scopes: one scope to view and change contacts",
    ),
    (
        "egnyte",
        "Egnyte.filesystem",
        "developers.egnyte.com, OAuth scopes: one scope per area, without a reading one",
    ),
    (
        "egnyte",
        "Egnyte.link",
        "developers.egnyte.com, OAuth scopes: one scope per area, without a reading one",
    ),
    (
        "egnyte",
        "Egnyte.permission",
        "developers.egnyte.com, OAuth scopes: one scope per area, without a reading one",
    ),
    (
        "fitbit",
        "weight",
        "dev.fitbit.com, OAuth scopes: `weight` reads and logs",
    ),
    (
        "github",
        "gist",
        "docs.github.com, scopes for OAuth apps: secret gists need `gist`, which also writes",
    ),
    (
        "github",
        "notifications",
        "docs.github.com, scopes for OAuth apps: `notifications` reads and marks as read",
    ),
    (
        "github",
        "repo",
        "docs.github.com, scopes for OAuth apps: private repositories have no reading scope",
    ),
    (
        "google_business_profile",
        "https://www.googleapis.com/auth/business.manage",
        "developers.google.com, Business Profile APIs: `business.manage` is the only scope of all of them",
    ),
    (
        "gumroad",
        "view_profile",
        "gumroad.com/api: `view_profile` is the base scope; products are managed by `edit_products`",
    ),
    (
        "hubspot",
        "e-commerce",
        "developers.hubspot.com, scopes: `e-commerce` is the one of products",
    ),
    (
        "hubspot",
        "tickets",
        "developers.hubspot.com, scopes: `tickets` is the one of tickets",
    ),
    (
        "hugging_face",
        "inference-api",
        "huggingface.co/docs/hub/oauth: one scope to make calls to inference",
    ),
    (
        "instagram",
        "instagram_business_content_publish",
        "developers.facebook.com, IG Container: the state of a publication needs it",
    ),
    (
        "instagram",
        "instagram_business_manage_comments",
        "developers.facebook.com, IG Media comments: reading needs it",
    ),
    (
        "instagram",
        "instagram_business_manage_insights",
        "developers.facebook.com, IG Media insights: the only scope of insights",
    ),
    (
        "linkedin",
        "rw_organization_admin",
        "learn.microsoft.com, Organization Authorizations: the permission of reporting data",
    ),
    (
        "slack",
        "chat:write",
        "docs.slack.dev, chat.scheduledMessages.list: needs `chat:write`",
    ),
    (
        "youtube",
        "https://www.googleapis.com/auth/youtube.force-ssl",
        "developers.google.com, commentThreads.list: needs `youtube.force-ssl`",
    ),
    (
        "airtable",
        "webhook:manage",
        "airtable.com/developers: listing webhooks needs `webhook:manage`",
    ),
    (
        "close",
        "all.full_access",
        "developer.close.com, OAuth: `all.full_access` is the only scope",
    ),
    (
        "copper",
        "developer/v1/all",
        "developer.copper.com, OAuth: `developer/v1/all` is the only scope",
    ),
    (
        "databricks",
        "all-apis",
        "docs.databricks.com, OAuth of service principals: `all-apis` is the only scope",
    ),
    (
        "stripe",
        "read_write",
        "docs.stripe.com, OAuth reference: `read_only` or `read_write`; one connection has one of them",
    ),
    (
        "tiktok",
        "video.publish",
        "developers.tiktok.com, query creator info: needs `video.publish`",
    ),
    (
        "wordpress",
        "global",
        "developer.wordpress.com, OAuth2: `posts` and `global` read and write; there is no reading scope",
    ),
];

/// Whether a scope says that it writes, in a word of its own: `read:org` and `user_management:read` do not.
fn says_it_writes(scope: &str) -> bool {
    let scope = scope.to_ascii_lowercase();
    let mut words = scope.split(|c: char| !c.is_ascii_alphanumeric());
    let also = |word: &str| word.contains("write") || matches!(word, "rw" | "full" | "edit");
    let other = |word: &str| matches!(word, "manage" | "publish" | "delete" | "all" | "global");
    words.any(|word| also(word) || (!says_it_reads(&scope) && other(word)))
}

fn says_it_reads(scope: &str) -> bool {
    scope.to_ascii_lowercase().contains("read")
}

#[test]
fn a_reading_tool_needs_no_scope_that_writes() {
    let mut of_writes: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (service, tool) in tools().filter(|(_, tool)| tool.effect != Effect::Read) {
        // Of several scopes some may be there for the reading that comes with the change.
        if let [scope] = tool.scopes.as_slice()
            && !says_it_reads(scope)
        {
            of_writes.insert((service, scope));
        }
    }
    let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for plugin in shipped() {
        let service = plugin.manifest.service.as_str();
        let reading = plugin.manifest.tools.iter();
        for tool in reading.filter(|tool| tool.effect == Effect::Read) {
            let slots = plugin.manifest.auth.iter();
            let slots = slots
                .filter(|slot| tool.auth.contains(&slot.slot) && slot.kind == AuthKind::Oauth2);
            // A link asks for those of the slot too.
            let always: BTreeSet<&String> = slots.flat_map(|slot| &slot.scopes).collect();
            for scope in tool.scopes.iter().chain(always) {
                if says_it_writes(scope) || of_writes.contains(&(service, scope)) {
                    *found.entry((service, scope)).or_default() += 1;
                }
            }
        }
    }
    let listed = SCOPES_THAT_ALSO_WRITE.iter();
    let listed: BTreeSet<_> = listed
        .map(|(service, scope, _)| (*service, *scope))
        .collect();
    let all: BTreeSet<_> = found.keys().copied().collect();
    assert_eq!(
        all, listed,
        "left: found, right: listed with what the provider says\n{found:#?}"
    );
}
