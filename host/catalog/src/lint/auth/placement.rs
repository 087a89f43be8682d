//! Where the gateway puts a slot's credential, and what a template there may name.

use std::collections::HashSet;

use crate::lint::{Lint, ManifestPath, text};
use crate::manifest::{AuthKind, CLIENT_ID, CLIENT_SECRET, Manifest, Placement, Slot};

const PLACES_MAX: usize = 10;

/// Headers that frame or route a request; none of them carries a credential.
const OWN_HEADERS: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
];

pub(super) fn check(manifest: &Manifest, slot: &Slot, found: &mut Lint, at: &ManifestPath<'_>) {
    let names = TemplateNames::for_slot(manifest, slot);
    if slot.placement.is_empty() || slot.placement.len() > PLACES_MAX {
        found.error(at, "say where the credential goes, in 1 to 10 places");
    }
    for (i, placement) in slot.placement.iter().take(PLACES_MAX).enumerate() {
        place(placement, &names, found, &at.index(i));
    }
}

/// What a template of the slot may name.
struct TemplateNames(HashSet<String>);

impl TemplateNames {
    fn for_slot(manifest: &Manifest, slot: &Slot) -> Self {
        let mut names: HashSet<String> = slot.fields.iter().map(|f| f.key.clone()).collect();
        match (slot.fields.len(), slot.kind) {
            (0, AuthKind::Basic) => names.extend(["username".to_owned(), "password".to_owned()]),
            (0 | 1, _) => {
                names.insert("secret".to_owned());
            }
            _ => {}
        }
        let oauth = matches!(
            slot.kind,
            AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials
        );
        // The operator's registration, which some services want to see beside the token.
        if oauth {
            names.extend([CLIENT_ID, CLIENT_SECRET].map(str::to_owned));
        }
        names.extend(manifest.parameters.iter().map(|p| p.key.clone()));
        names.extend(slot.token_parameters.keys().cloned());
        Self(names)
    }

    /// Checks a template and answers how many names it uses.
    fn check(&self, template: &str, found: &mut Lint, at: &ManifestPath<'_>) -> usize {
        if template.len() > 500 || template.chars().any(char::is_control) {
            found.error(at, "a template has at most 500 printable bytes");
            return 0;
        }
        let mut used = 0;
        let mut rest = template;
        while let Some(open) = rest.find(['{', '}']) {
            let after = &rest[open + 1..];
            let close = after.find('}').filter(|_| rest[open..].starts_with('{'));
            let Some(close) = close else {
                found.error(
                    at,
                    format!("`{}` has an unmatched brace", text::shown(template)),
                );
                return used;
            };
            let name = &after[..close];
            if !self.0.contains(name) {
                let mut known: Vec<&str> = self.0.iter().map(String::as_str).collect();
                known.sort_unstable();
                found.error(
                    at,
                    format!(
                        "`{{{}}}` is not a field of this slot; known: {}",
                        text::shown(name),
                        known.join(", ")
                    ),
                );
            }
            used += 1;
            rest = &after[close + 1..];
        }
        used
    }
}

fn place(placement: &Placement, names: &TemplateNames, found: &mut Lint, at: &ManifestPath<'_>) {
    let used = match placement {
        Placement::Header { header, template } => {
            let token = !header.is_empty()
                && header.len() <= 100
                && header
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
            if !token {
                found.error(
                    &at.key("header"),
                    format!("`{}` is not a header name", text::shown(header)),
                );
            } else if OWN_HEADERS.contains(&header.to_ascii_lowercase().as_str()) {
                found.error(
                    &at.key("header"),
                    format!("`{header}` is set by the gateway and cannot carry a credential"),
                );
            }
            names.check(template, found, &at.key("template"))
        }
        Placement::Query {
            query: name,
            template,
        }
        | Placement::Body {
            body: name,
            template,
        } => {
            if name.is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
                found.error(at, "the field's name has 1 to 100 printable bytes");
            }
            names.check(template, found, &at.key("template"))
        }
        Placement::Path { path } => {
            if !path.starts_with('/')
                || path.contains(['?', '#', '\\'])
                || path.split('/').any(|s| s == "..")
            {
                found.error(
                    &at.key("path"),
                    "a path starts with `/` and has no `?`, `#`, `\\` or `..`",
                );
            }
            names.check(path, found, &at.key("path"))
        }
        Placement::Basic { basic } => {
            let at = at.key("basic");
            names.check(&basic.username, found, &at.key("username"))
                + names.check(&basic.password, found, &at.key("password"))
        }
        Placement::AwsSigv4 { aws_sigv4 } => {
            let at = at.key("aws_sigv4");
            for needed in ["access_key_id", "secret_access_key"] {
                if !names.0.contains(needed) {
                    found.error(&at, format!("signing needs the field `{needed}`"));
                }
            }
            if aws_sigv4.service.is_empty() || aws_sigv4.region.is_empty() {
                found.error(&at, "name the AWS service and the region");
            }
            // A signature is for one service; it is never filled in from a connection.
            let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            if !aws_sigv4.service.bytes().all(is_plain) {
                found.error(
                    &at.key("service"),
                    "an AWS service is named as its signatures name it, such as `execute-api`",
                );
            }
            names.check(&aws_sigv4.region, found, &at.key("region")) + 1
        }
    };
    if used == 0 {
        found.error(
            at,
            "the template names no field, so no credential would be sent",
        );
    }
}
