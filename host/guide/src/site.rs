//! The whole site as files.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use crate::as_markdown::as_markdown;
use crate::contents::GuideSource;
use crate::layout::{self, PageFrame};
use crate::llms;
use crate::markdown::{Links, Rendered, render};
use crate::pictures;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("search.js");
/// Characters of a section's text in the search index.
const INDEXED_CHARS_MAX: usize = 20_000;

/// One file of the site.
#[derive(Clone, Debug)]
pub struct GuideFile {
    pub media_type: &'static str,
    pub bytes: Cow<'static, [u8]>,
}

/// The documentation site, rendered.
#[derive(Debug)]
pub struct Guide {
    files: BTreeMap<String, GuideFile>,
}

impl Guide {
    /// Renders all pages. `version` is the version of the program that they describe.
    pub fn render(sources: &[GuideSource], version: &str) -> Self {
        let by_path: BTreeMap<&str, &str> = sources
            .iter()
            .filter(|source| !source.path.is_empty())
            .map(|source| (source.path, &*source.name))
            .collect();
        let links_of = |source: &GuideSource| Links {
            from: source.path,
            pages: &by_path,
            is_picture: &pictures::is_picture,
        };
        let rendered: Vec<(&GuideSource, Rendered)> = sources
            .iter()
            .map(|source| (source, render(&source.markdown, &links_of(source))))
            .collect();
        let mut files = BTreeMap::new();
        for (source, page) in &rendered {
            let frame = PageFrame {
                pages: &rendered,
                source,
                page,
                version,
            };
            let html = layout::page(&frame).into_string();
            files.insert(
                format!("{}.html", source.name),
                GuideFile::new("text/html; charset=utf-8", html),
            );
            let markdown = as_markdown(&source.markdown, &links_of(source));
            files.insert(
                format!("{}.md", source.name),
                GuideFile::new("text/markdown; charset=utf-8", markdown),
            );
        }
        let index = search_index(&rendered);
        let texts = [
            ("style.css", "text/css; charset=utf-8", STYLE.to_owned()),
            (
                "search.js",
                "text/javascript; charset=utf-8",
                SCRIPT.to_owned(),
            ),
            ("search.json", "application/json", index),
            (
                "llms.txt",
                "text/plain; charset=utf-8",
                llms::list(&rendered, version),
            ),
        ];
        for (name, media_type, text) in texts {
            files.insert(name.to_owned(), GuideFile::new(media_type, text));
        }
        for (name, bytes) in pictures::PICTURES {
            let picture = GuideFile {
                media_type: "image/png",
                bytes: Cow::Borrowed(bytes),
            };
            files.insert((*name).to_owned(), picture);
        }
        Self { files }
    }

    /// One file by its name, such as `start.html`.
    pub fn file(&self, name: &str) -> Option<&GuideFile> {
        self.files.get(name)
    }

    /// Every file by its name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &GuideFile)> {
        self.files.iter().map(|(name, file)| (name.as_str(), file))
    }
}

impl GuideFile {
    fn new(media_type: &'static str, text: String) -> Self {
        Self {
            media_type,
            bytes: Cow::Owned(text.into_bytes()),
        }
    }
}

/// What `search.js` reads: each page with its headings and its words.
fn search_index(pages: &[(&GuideSource, Rendered)]) -> String {
    let pages: Vec<_> = pages
        .iter()
        .map(|(source, page)| {
            let headings: Vec<_> = page
                .headings
                .iter()
                .map(|one| json!([one.id, one.text]))
                .collect();
            let text: String = page.text.chars().take(INDEXED_CHARS_MAX).collect();
            json!({
                "url": format!("{}.html", source.name),
                "title": page.title,
                "section": source.section,
                "headings": headings,
                "text": text,
            })
        })
        .collect();
    json!(pages).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;
    use crate::contents::{SECTIONS, written};
    use crate::markdown::options;

    fn attribute<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
        let begin = format!(" {name}=\"");
        html.split(&begin)
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect()
    }

    fn text(file: &GuideFile) -> &str {
        std::str::from_utf8(&file.bytes).expect("UTF-8")
    }

    #[test]
    fn every_link_of_the_site_leads_somewhere() {
        let guide = Guide::render(&written(), "1.2.3");
        // Pages that the gateway or `toolgate docs` adds.
        let added = ["cli.html", "errors.html"];
        for (name, file) in guide.files().filter(|(name, _)| name.ends_with(".html")) {
            let html = text(file);
            for url in attribute(html, "href")
                .iter()
                .chain(&attribute(html, "src"))
            {
                if url.starts_with("http") || url.starts_with("mailto:") || url.starts_with('/') {
                    continue;
                }
                let (page, anchor) = url.split_once('#').unwrap_or((url, ""));
                let page = if page.is_empty() { name } else { page };
                if added.contains(&page) {
                    continue;
                }
                let target = guide.file(page);
                let target = target.unwrap_or_else(|| panic!("{name} links to {url}"));
                let there = anchor.is_empty() || attribute(text(target), "id").contains(&anchor);
                assert!(there, "{name} links to {url}");
            }
        }
    }

    #[test]
    fn every_page_is_there_as_markdown_whose_links_lead_to_markdown() {
        let guide = Guide::render(&written(), "1.2.3");
        let added = ["cli.md", "errors.md"];
        let mut links = 0;
        for (name, file) in guide.files().filter(|(name, _)| name.ends_with(".md")) {
            assert_eq!(file.media_type, "text/markdown; charset=utf-8", "{name}");
            for event in Parser::new_ext(text(file), options()) {
                let Event::Start(Tag::Link { dest_url: url, .. }) = event else {
                    continue;
                };
                if url.contains(':') || url.starts_with('/') {
                    continue;
                }
                let (page, _) = url.split_once('#').unwrap_or((&*url, ""));
                let known = page.is_empty() || added.contains(&page);
                assert!(known || guide.file(page).is_some(), "{name} links to {url}");
                assert!(page.is_empty() || page.ends_with(".md"), "{name}: {url}");
                links += 1;
            }
        }
        assert!(links > 300, "{links}");
        for source in written() {
            let html = guide.file(&format!("{}.html", source.name));
            let markdown = format!("{}.md", source.name);
            assert!(guide.file(&markdown).is_some(), "{markdown}");
            assert!(
                attribute(text(html.expect("there")), "href").contains(&&*markdown),
                "{markdown} is named by its page"
            );
        }
    }

    #[test]
    fn the_list_for_models_names_every_page_once() {
        let guide = Guide::render(&written(), "1.2.3");
        let list = text(guide.file("llms.txt").expect("there"));
        assert!(
            list.starts_with("# toolgate\n\n> A tool gateway for software agents.\n\n"),
            "{list}"
        );
        for source in written() {
            let entry = format!("]({}.md)", source.name);
            assert_eq!(list.matches(&entry).count(), 1, "{entry}");
        }
        let (main, optional) = list.split_once("\n## Optional\n").expect("there");
        assert!(main.contains("](start.md): From a checkout or an archive"));
        assert!(optional.contains("](integrations-a.md)"), "{optional}");
        assert!(!main.contains("](integrations-a.md)"));
    }

    #[test]
    fn every_document_is_a_page_or_is_left_out_for_a_reason() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        // The style guide of this repository, and the report of a check.
        let left_out = ["docs/style.md", "docs/vendor-check.md"];
        let known: BTreeSet<&str> = written().iter().map(|source| source.path).collect();
        for folder in ["docs", "docs/operate"] {
            for entry in std::fs::read_dir(root.join(folder)).expect("a folder") {
                let name = entry.expect("an entry").file_name();
                let path = format!("{folder}/{}", name.to_string_lossy());
                if path.ends_with(".md") && !left_out.contains(&path.as_str()) {
                    assert!(known.contains(path.as_str()), "{path} is not a page");
                }
            }
        }
    }

    #[test]
    fn every_page_has_a_title_a_section_and_its_words_in_the_index() {
        let guide = Guide::render(&written(), "1.2.3");
        let index: serde_json::Value =
            serde_json::from_str(text(guide.file("search.json").expect("there"))).expect("JSON");
        let index = index.as_array().expect("a list");
        assert_eq!(index.len(), written().len());
        for page in index {
            assert!(!page["title"].as_str().expect("text").is_empty(), "{page}");
            assert!(
                SECTIONS.contains(&page["section"].as_str().expect("text")),
                "{page}"
            );
        }
        let tls = index
            .iter()
            .find(|page| page["url"] == "tls.html")
            .expect("there");
        assert!(tls["text"].as_str().expect("text").contains("certificate"));
    }

    #[test]
    fn every_picture_is_on_a_page_and_every_page_has_its_pictures() {
        let guide = Guide::render(&written(), "1.2.3");
        let pages = guide.files().filter(|(name, _)| name.ends_with(".html"));
        let shown: BTreeSet<&str> = pages
            .flat_map(|(_, file)| attribute(text(file), "src"))
            .filter(|url| !url.ends_with(".js"))
            .collect();
        let there: BTreeSet<&str> = pictures::PICTURES.iter().map(|(name, _)| *name).collect();
        assert_eq!(shown, there);
    }
}
