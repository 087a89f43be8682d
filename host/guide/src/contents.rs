//! The table of contents: every page with its section.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Sections in the order of the navigation.
pub const SECTIONS: &[&str] = &[
    "Start",
    "Build agents",
    "Write plugins",
    "Operate",
    "Security",
    "Reference",
    "Project",
];

/// One page before it is rendered.
#[derive(Clone, Debug)]
pub struct GuideSource {
    /// One of [`SECTIONS`].
    pub section: &'static str,
    /// Name of the page's file without `.html`.
    pub name: Cow<'static, str>,
    /// Where the text is in the repository: links in it are relative to that. Empty for a generated page.
    pub path: &'static str,
    /// Begins with a heading of level 1, the page's title.
    pub markdown: Cow<'static, str>,
}

macro_rules! pages {
    ($($section:literal { $($name:literal = $path:literal;)+ })+) => {
        &[$($(ListedPage {
            section: $section,
            name: $name,
            path: $path,
            text: include_str!(concat!("../../../", $path)),
        }),+),+]
    };
}

struct ListedPage {
    section: &'static str,
    name: &'static str,
    path: &'static str,
    text: &'static str,
}

const PAGES: &[ListedPage] = pages! {
    "Start" {
        "index" = "docs/README.md";
        "start" = "docs/start.md";
        "first-agent" = "docs/first-agent.md";
        "tour" = "docs/tour.md";
        "concepts" = "docs/concepts.md";
        "oauth-apps" = "docs/oauth-apps.md";
        "troubleshooting" = "docs/troubleshooting.md";
        "faq" = "docs/faq.md";
        "coming-from" = "docs/coming-from.md";
        "comparison" = "docs/comparison.md";
    }
    "Build agents" {
        "frameworks" = "docs/frameworks.md";
        "mcp-clients" = "docs/mcp-clients.md";
        "tunnel" = "docs/tunnel.md";
        "recipes" = "docs/recipes.md";
        "code-mode" = "docs/code-mode.md";
        "python" = "sdk/clients/python/README.md";
        "node" = "sdk/clients/node/README.md";
        "go" = "sdk/clients/go/README.md";
        "examples" = "examples/README.md";
    }
    "Write plugins" {
        "openapi-plugins" = "docs/writing-an-openapi-plugin.md";
        "graphql" = "docs/graphql.md";
        "mcp-upstreams" = "docs/mcp-upstreams.md";
        "plugins" = "sdk/plugins/README.md";
    }
    "Operate" {
        "operate" = "docs/operate/README.md";
        "install" = "docs/operate/install.md";
        "tls" = "docs/operate/tls.md";
        "proxies" = "docs/proxies.md";
        "postgresql" = "docs/operate/postgresql.md";
        "backup" = "docs/operate/backup.md";
        "upgrade" = "docs/operate/upgrade.md";
        "people" = "docs/operate/people.md";
        "monitoring" = "docs/operate/monitoring.md";
        "hardening" = "docs/operate/hardening.md";
        "capacity" = "docs/operate/capacity.md";
        "limits" = "docs/limits.md";
        "scaling" = "docs/scaling.md";
        "performance" = "docs/performance.md";
    }
    "Security" {
        "egress-guarantees" = "docs/egress-guarantees.md";
        "threat-model" = "docs/threat-model.md";
        "claims" = "docs/claims.md";
        "security" = "SECURITY.md";
    }
    "Reference" {
        "most-used" = "docs/most-used.md";
        "oauth-providers" = "docs/oauth-providers.md";
        "events" = "docs/events.md";
        "triggers" = "docs/triggers.md";
        "files" = "docs/files.md";
        "receipts" = "docs/receipts.md";
        "search" = "docs/search.md";
    }
    "Project" {
        "reading" = "docs/reading.md";
        "architecture" = "ARCHITECTURE.md";
        "changelog" = "CHANGELOG.md";
    }
};

/// The WIT file of the interface between host and plugin, shown as a page of the reference.
const WIT: &str = include_str!("../../../wit/toolgate.wit");
/// The list of integrations: a table, then a section for each service in the order of their names.
const INTEGRATIONS: &str = include_str!("../../../docs/integrations.md");

/// The pages that are written by hand, or made from files of the repository.
pub fn written() -> Vec<GuideSource> {
    let pages = PAGES.iter().map(|page| GuideSource {
        section: page.section,
        name: page.name.into(),
        path: page.path,
        markdown: page.text.into(),
    });
    let mut all: Vec<GuideSource> = pages.collect();
    all.extend(integrations(INTEGRATIONS));
    all.push(GuideSource {
        section: "Reference",
        name: "wit".into(),
        path: "wit/toolgate.wit",
        markdown: format!(
            "# WIT\n\nThe world that a plugin implements, in [WIT](https://component-model.bytecodealliance.org/design/wit.html). \
             Versions that shipped never change.\n\n```wit\n{WIT}\n```\n"
        )
        .into(),
    });
    all
}

/// The list of integrations as one page with the table and a page for each first letter.
fn integrations(list: &str) -> Vec<GuideSource> {
    let mut parts = list.split("\n## ");
    let table = parts.next().unwrap_or_default();
    let letter_of = |service: &str| service.chars().next().unwrap_or('a').to_ascii_lowercase();
    let mut linked = String::with_capacity(table.len() * 2);
    for (at, part) in table.split("](#").enumerate() {
        if at > 0 {
            linked.push_str(&format!("](integrations-{}.html#", letter_of(part)));
        }
        linked.push_str(part);
    }
    let mut by_letter: BTreeMap<char, String> = BTreeMap::new();
    for part in parts {
        let letter = letter_of(part);
        let page = by_letter
            .entry(letter)
            .or_insert_with(|| format!("# Integrations: {}\n", letter.to_ascii_uppercase()));
        page.push_str(&format!("\n## {part}\n"));
    }
    let page = |name: String, path, markdown: String| GuideSource {
        section: "Reference",
        name: name.into(),
        path,
        markdown: markdown.into(),
    };
    let mut pages = vec![page(
        "integrations".to_owned(),
        "docs/integrations.md",
        linked,
    )];
    let letters = by_letter.into_iter();
    pages.extend(
        letters.map(|(letter, text)| page(format!("{BELOW_INTEGRATIONS}{letter}"), "", text)),
    );
    pages
}

/// Pages that the list of integrations leads to: they are not in the navigation.
pub(crate) const BELOW_INTEGRATIONS: &str = "integrations-";
