//! `llms.txt`: every page in one list, for a model that looks for the right one (<https://llmstxt.org>).

use std::fmt::Write as _;

use crate::as_markdown::first_sentence;
use crate::contents::{BELOW_INTEGRATIONS, GuideSource, SECTIONS};
use crate::markdown::Rendered;

/// `pages` begins with the front page, which says what the program is.
pub(crate) fn list(pages: &[(&GuideSource, Rendered)], version: &str) -> String {
    let mut text = String::new();
    if let Some((front, page)) = pages.first() {
        let _ = writeln!(
            text,
            "# {}\n\n> {}\n\nThe documentation of version {version}. Addresses are relative to this file.",
            page.title,
            first_sentence(&front.markdown)
        );
    }
    for section in SECTIONS {
        let listed = pages
            .iter()
            .filter(|(source, _)| source.section == *section && !is_optional(source));
        add(&mut text, section, listed);
    }
    // A reader with little room leaves this section out, as the format says.
    let details = pages.iter().filter(|(source, _)| is_optional(source));
    add(&mut text, "Optional", details);
    text
}

fn add<'a>(
    text: &mut String,
    section: &str,
    pages: impl Iterator<Item = &'a (&'a GuideSource, Rendered)>,
) {
    let _ = writeln!(text, "\n## {section}\n");
    for (source, page) in pages {
        let about = first_sentence(&source.markdown);
        let about = match about.is_empty() {
            true => String::new(),
            false => format!(": {about}"),
        };
        let _ = writeln!(text, "- [{}]({}.md){about}", page.title, source.name);
    }
}

fn is_optional(source: &GuideSource) -> bool {
    source.name.starts_with(BELOW_INTEGRATIONS)
}
