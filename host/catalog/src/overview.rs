//! The catalog as a page to read: every service with its tools, credentials and rights.
//!
//! Pure: manifests in, Markdown out, the same for the same manifests. `docs/integrations.md` is made
//! with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::manifest::{Effect, Manifest, Slot};

/// Services and tools of each category, by its name. A service counts in each of its categories.
pub fn by_category<'a>(
    services: impl IntoIterator<Item = (&'a [String], usize)>,
) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for (categories, tools) in services {
        for category in categories {
            let count = counts.entry(category.clone()).or_default();
            count.services += 1;
            count.tools += tools;
        }
    }
    counts
}

/// How much of the catalog a category is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Count {
    pub services: usize,
    pub tools: usize,
}

/// All services as one Markdown page, sorted by name.
pub fn markdown(manifests: &[Manifest]) -> String {
    let mut sorted: Vec<&Manifest> = manifests.iter().collect();
    sorted.sort_by(|a, b| a.service.cmp(&b.service));
    let tools: usize = sorted.iter().map(|manifest| manifest.tools.len()).sum();
    let counts = by_category(
        sorted
            .iter()
            .map(|manifest| (&*manifest.categories, manifest.tools.len())),
    );
    let mut page = format!(
        "# Integrations\n\n\
         Made by `make integrations` from the plugins that ship; do not edit.\n\n\
         {} services with {tools} tools. **R** reads, **W** changes something, **D** may destroy something.\n\n\
         | category | services | tools | |\n|---|---|---|---|\n",
        sorted.len()
    );
    for (category, count) in &counts {
        let members: Vec<String> = sorted
            .iter()
            .filter(|manifest| manifest.categories.contains(category))
            .map(|manifest| format!("[{}](#{})", manifest.service, manifest.service))
            .collect();
        let _ = writeln!(
            page,
            "| {category} | {} | {} | {} |",
            count.services,
            count.tools,
            members.join(", ")
        );
    }
    for manifest in sorted {
        section(&mut page, manifest);
    }
    page
}

fn section(page: &mut String, manifest: &Manifest) {
    // The heading is the service's name, so that its anchor is known.
    let _ = write!(
        page,
        "\n## {}\n\n**{}** {}: {}\n\n",
        manifest.service,
        manifest.title,
        manifest.version,
        line(&manifest.description)
    );
    if manifest.auth.is_empty() {
        page.push_str("- Auth: none\n");
    }
    for slot in &manifest.auth {
        let _ = writeln!(page, "- Auth: {}", credential(slot));
    }
    for parameter in &manifest.parameters {
        let need = if parameter.required { "" } else { ", optional" };
        let _ = writeln!(
            page,
            "- The user gives `{}` ({}{need})",
            parameter.key,
            line(&parameter.title)
        );
    }
    for setting in &manifest.config {
        let _ = writeln!(
            page,
            "- The operator sets `{}` ({})",
            setting.key,
            line(&setting.title)
        );
    }
    if !manifest.hosts.is_empty() {
        let _ = writeln!(page, "- Hosts: `{}`", manifest.hosts.join("`, `"));
    }
    let scoped = manifest.tools.iter().any(|tool| !tool.scopes.is_empty());
    page.push_str(if scoped {
        "\n| tool | | what it does | scopes |\n|---|---|---|---|\n"
    } else {
        "\n| tool | | what it does |\n|---|---|---|\n"
    });
    for tool in &manifest.tools {
        let effect = match tool.effect {
            Effect::Read => "R",
            Effect::Write => "W",
            Effect::Destructive => "D",
        };
        let deprecated = tool.deprecated.as_ref().map_or("", |_| " (deprecated)");
        let _ = write!(
            page,
            "| `{}_{}` | {effect} | {}{deprecated} |",
            manifest.service,
            tool.name,
            first_sentence(&tool.description)
        );
        if scoped {
            let scopes: Vec<String> = tool.scopes.iter().map(|s| format!("`{s}`")).collect();
            let _ = write!(page, " {} |", scopes.join(" "));
        }
        page.push('\n');
    }
}

fn credential(slot: &Slot) -> String {
    let mut text = format!(
        "{} (`{}`, slot `{}`)",
        line(&slot.title),
        slot.kind.as_str(),
        slot.slot
    );
    if !slot.scopes.is_empty() {
        let _ = write!(text, "; scopes `{}`", slot.scopes.join("`, `"));
    }
    text
}

/// On one line, fit for a table cell.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// Up to the first full stop that ends a sentence: one in front of a capital letter.
fn first_sentence(text: &str) -> String {
    let text = line(text);
    let mut from = 0;
    while let Some(at) = text[from..].find(". ") {
        let end = from + at + 1;
        if text[end + 1..].starts_with(char::is_uppercase) {
            return text[..end].to_owned();
        }
        from = end;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{by_category, first_sentence, markdown};
    use crate::Manifest;

    #[test]
    fn a_page_names_tools_credentials_rights_and_counts() {
        let manifest = Manifest::parse(
            r#"{"manifest": 1, "service": "notes", "title": "Notes", "version": "1.0.0", "description": "Keeps | notes.",
                "categories": ["documents"], "hosts": ["api.example.com"],
                "auth": [{"slot": "user", "title": "Account", "type": "bearer", "scopes": ["read"],
                          "placement": {"header": "authorization"}, "audience": ["https://api.example.com"]}],
                "tools": [{"name": "get", "description": "Reads one. Then more.", "effect": "read", "scopes": ["read"],
                           "input": {"type": "object"}, "auth": ["user"]}]}"#,
        )
        .expect("it has its shape");
        let page = markdown(&[manifest]);
        for expected in [
            "1 services with 1 tools.",
            "| documents | 1 | 1 | [notes](#notes) |",
            "## notes\n\n**Notes** 1.0.0: Keeps \\| notes.",
            "- Auth: Account (`bearer`, slot `user`); scopes `read`",
            "| `notes_get` | R | Reads one. | `read` |",
        ] {
            assert!(page.contains(expected), "{expected} in\n{page}");
        }
    }

    #[test]
    fn a_service_counts_in_each_of_its_categories() {
        let (both, one) = (["a".to_owned(), "b".to_owned()], ["b".to_owned()]);
        let counts = by_category([(&both[..], 2), (&one[..], 3)]);
        assert_eq!((counts["a"].services, counts["a"].tools), (1, 2));
        assert_eq!((counts["b"].services, counts["b"].tools), (2, 5));
    }

    #[test]
    fn a_sentence_ends_before_a_capital() {
        for (text, expected) in [
            ("Reads one. Then more.", "Reads one."),
            ("Reads e.g. one. Then", "Reads e.g. one."),
            ("Reads one", "Reads one"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
