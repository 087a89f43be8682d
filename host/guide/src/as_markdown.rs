//! A page as Markdown, for programs that read the documentation.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use crate::markdown::{LinkTarget, Links, options, picture, target};

/// The text of a page with links to the other Markdown files of the site. A link to a file that has no page becomes
/// its text.
pub(crate) fn as_markdown(text: &str, links: &Links<'_>) -> String {
    let mut written = String::with_capacity(text.len());
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let change = match event {
            Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                dest_url,
                ..
            }) => link(text, range, &dest_url, links),
            Event::Start(Tag::Image {
                link_type: LinkType::Inline,
                dest_url,
                ..
            }) => picture(&dest_url, links)
                .and_then(|name| Some((address(text, range, &dest_url)?, name))),
            _ => None,
        };
        if let Some((range, new)) = change
            && range.start >= copied
        {
            written.push_str(&text[copied..range.start]);
            written.push_str(&new);
            copied = range.end;
        }
    }
    written.push_str(&text[copied..]);
    written
}

/// What replaces which part of the text, so that the link leads to a file of the site.
fn link(
    text: &str,
    whole: Range<usize>,
    dest_url: &str,
    links: &Links<'_>,
) -> Option<(Range<usize>, String)> {
    let place = address(text, whole.clone(), dest_url)?;
    match target(dest_url, links) {
        LinkTarget::Link(url) => Some((place, markdown_file(&url))),
        LinkTarget::Text => {
            // `[label](address)`: the label is between the first bracket and the two characters before the address.
            let label = text.get(whole.start + 1..place.start - 2)?;
            Some((whole, label.to_owned()))
        }
    }
}

/// Where in the text the address of an inline link is. `None`: it is written with escapes.
fn address(text: &str, whole: Range<usize>, dest_url: &str) -> Option<Range<usize>> {
    let begin = format!("]({dest_url}");
    let at = whole.start + text.get(whole)?.rfind(&begin)? + 2;
    Some(at..at + dest_url.len())
}

/// `start.html#find` is `start.md#find`; other addresses stay.
fn markdown_file(url: &str) -> String {
    if url.contains(':') || url.starts_with('/') {
        return url.to_owned();
    }
    let (file, anchor) = match url.find('#') {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    match file.strip_suffix(".html") {
        Some(name) => format!("{name}.md{anchor}"),
        None => url.to_owned(),
    }
}

/// The first sentence of the first paragraph; empty if there is no paragraph.
pub(crate) fn first_sentence(text: &str) -> String {
    let mut inside = false;
    let mut said = String::new();
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Start(Tag::Paragraph) => inside = true,
            Event::End(TagEnd::Paragraph) if !said.is_empty() => break,
            Event::Text(part) | Event::Code(part) if inside => said.push_str(&part),
            Event::SoftBreak | Event::HardBreak if inside => said.push(' '),
            _ => {}
        }
    }
    match said.find(". ") {
        Some(end) => said[..=end].to_owned(),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn on_the_site(text: &str) -> String {
        let pages = BTreeMap::from([
            ("docs/proxies.md", "proxies"),
            ("docs/operate/tls.md", "tls"),
        ]);
        let links = Links {
            from: "docs/operate/README.md",
            pages: &pages,
            is_picture: &|name| name == "a.png",
        };
        as_markdown(text, &links)
    }

    #[test]
    fn links_lead_to_markdown_files_and_other_files_are_text() {
        for (text, said) in [
            (
                "See [p](../proxies.md#nginx).",
                "See [p](proxies.md#nginx).",
            ),
            (
                "| a | [`t`](tls.md) |\n|---|---|\n| [t](tls.md) | [out](https://e.com/x.html) |",
                "| a | [`t`](tls.md) |\n|---|---|\n| [t](tls.md) | [out](https://e.com/x.html) |",
            ),
            ("- [`x.rs`](../../host/x.rs) is code", "- `x.rs` is code"),
            (
                "[list](integrations-a.html#asana)",
                "[list](integrations-a.md#asana)",
            ),
            (
                "[here](#below) and [api](/docs)",
                "[here](#below) and [api](/docs)",
            ),
            ("![shot](../screenshots/a.png)", "![shot](a.png)"),
            ("`[p](../proxies.md)`", "`[p](../proxies.md)`"),
        ] {
            assert_eq!(on_the_site(text), said);
        }
    }

    #[test]
    fn a_page_is_summed_up_by_its_first_sentence() {
        let text = "# Title\n\nOne `thing`\nof [two](x.md). Another one.\n\nA second paragraph.";
        assert_eq!(first_sentence(text), "One thing of two.");
        assert_eq!(first_sentence("# Title\n\n## Below\n"), "");
    }
}
