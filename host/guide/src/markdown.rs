//! One page of Markdown as HTML: headings get anchors, links between documents become links between pages.
//!
//! HTML in the text is escaped and shown as text, so that a page has no element that this file does not write.

use std::collections::{BTreeMap, HashMap};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

const TABLE_BEGINS: &str =
    "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table\">\n";

/// A heading below the title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heading {
    pub level: HeadingLevel,
    pub id: String,
    pub text: String,
}

/// A rendered page.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    pub title: String,
    pub html: String,
    pub headings: Vec<Heading>,
    /// Words of the page, for the search.
    pub text: String,
}

/// Where a link of a document leads on the site.
pub(crate) struct Links<'a> {
    /// Path in the repository of the document that is rendered.
    pub from: &'a str,
    /// Pages by their path in the repository.
    pub pages: &'a BTreeMap<&'a str, &'a str>,
    /// Whether there is a picture of this file name.
    pub is_picture: &'a dyn Fn(&str) -> bool,
}

/// How the page shows a link of the document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    Link(String),
    /// A repository file without a page in the guide: rendered as plain text.
    Text,
}

/// What the documents use beside CommonMark.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

pub(crate) fn render(markdown: &str, links: &Links<'_>) -> Rendered {
    let mut renderer = Renderer {
        links,
        page: PageBuilder::default(),
        events: Vec::new(),
        open_links: Vec::new(),
    };
    let mut parser = Parser::new_ext(markdown, options());
    while let Some(event) = parser.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let is_inside =
                    |event: &Event<'_>| !matches!(event, Event::End(TagEnd::Heading(_)));
                let inside = parser.by_ref().take_while(is_inside).collect();
                renderer.heading(level, inside);
            }
            other => renderer.event(other),
        }
    }
    let mut written = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut written, renderer.events.into_iter());
    // HTML of the text is escaped already: each `<pre>` was written by `push_html`.
    let written = written.replace("<pre>", "<pre tabindex=\"0\">");
    Rendered {
        title: renderer.page.title,
        html: written,
        headings: renderer.page.headings,
        text: renderer.page.text,
    }
}

/// Turns the events of a document into those of its page.
struct Renderer<'a> {
    links: &'a Links<'a>,
    page: PageBuilder,
    /// The events of the page so far.
    events: Vec<Event<'a>>,
    /// For each open link of the document, whether the page has it too.
    open_links: Vec<bool>,
}

impl<'a> Renderer<'a> {
    /// A heading gets an anchor and keeps only its text.
    fn heading(&mut self, level: HeadingLevel, inside: Vec<Event<'a>>) {
        let id = self.page.heading(level, &plain(&inside));
        let heading = Tag::Heading {
            level,
            id: Some(id.into()),
            classes: Vec::new(),
            attrs: Vec::new(),
        };
        self.events.push(Event::Start(heading));
        self.events
            .extend(inside.into_iter().filter(is_inline_text));
        self.events.push(Event::End(TagEnd::Heading(level)));
    }

    fn event(&mut self, event: Event<'a>) {
        match event {
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let target = target(&dest_url, self.links);
                self.open_links.push(target != LinkTarget::Text);
                if let LinkTarget::Link(url) = target {
                    self.events.push(Event::Start(Tag::Link {
                        link_type,
                        dest_url: url.into(),
                        title,
                        id,
                    }));
                }
            }
            Event::End(TagEnd::Link) => {
                if self.open_links.pop() == Some(true) {
                    self.events.push(Event::End(TagEnd::Link));
                }
            }
            Event::Start(Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            }) => {
                let dest_url = picture(&dest_url, self.links).unwrap_or_default().into();
                self.events.push(Event::Start(Tag::Image {
                    link_type,
                    dest_url,
                    title,
                    id,
                }));
            }
            Event::Html(text) | Event::InlineHtml(text) => self.events.push(Event::Text(text)),
            // A wide table scrolls by itself, for the keyboard too.
            Event::Start(Tag::Table(columns)) => {
                self.events.push(Event::Html(TABLE_BEGINS.into()));
                self.events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                self.events.push(Event::End(TagEnd::Table));
                self.events.push(Event::Html("</div>\n".into()));
            }
            other => {
                self.page.words(&other);
                self.events.push(other);
            }
        }
    }
}

#[derive(Default)]
struct PageBuilder {
    title: String,
    headings: Vec<Heading>,
    text: String,
    ids: HashMap<String, usize>,
}

impl PageBuilder {
    /// Adds a heading and returns its anchor.
    fn heading(&mut self, level: HeadingLevel, text: &str) -> String {
        let slug = slug(text);
        let before = self.ids.entry(slug.clone()).or_default();
        let id = match *before {
            0 => slug,
            count => format!("{slug}-{count}"),
        };
        *before += 1;
        if level == HeadingLevel::H1 && self.title.is_empty() {
            text.clone_into(&mut self.title);
        } else {
            let text = text.to_owned();
            let (level, id) = (level, id.clone());
            self.headings.push(Heading { level, id, text });
        }
        self.text.push_str(text);
        self.text.push('\n');
        id
    }

    fn words(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => {
                self.text.push_str(text);
                self.text.push(' ');
            }
            Event::End(TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::TableRow) => {
                self.text.push('\n');
            }
            _ => {}
        }
    }
}

fn is_inline_text(event: &Event<'_>) -> bool {
    matches!(event, Event::Text(_) | Event::Code(_))
}

fn plain(events: &[Event<'_>]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// The anchor of a heading, as code hosts write it.
fn slug(text: &str) -> String {
    let kept = text.chars().filter_map(|c| match c {
        ' ' | '-' => Some('-'),
        c if c.is_alphanumeric() || c == '_' => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

pub(crate) fn target(url: &str, links: &Links<'_>) -> LinkTarget {
    if url.starts_with('#') || url.starts_with('/') {
        return LinkTarget::Link(url.to_owned());
    }
    // A document needs no other scheme; `javascript:` would run code.
    if ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        return LinkTarget::Link(url.to_owned());
    }
    let (path, anchor) = url.split_once('#').unwrap_or((url, ""));
    // A generated page links to the files of the site.
    if path.ends_with(".html") && !path.contains('/') {
        return LinkTarget::Link(url.to_owned());
    }
    let Some(found) = links.pages.get(&*joined(links.from, path)) else {
        return LinkTarget::Text;
    };
    let anchor = match anchor {
        "" => String::new(),
        anchor => format!("#{anchor}"),
    };
    LinkTarget::Link(format!("{found}.html{anchor}"))
}

pub(crate) fn picture(url: &str, links: &Links<'_>) -> Option<String> {
    let path = joined(links.from, url);
    let name = path.strip_prefix("docs/screenshots/")?;
    (links.is_picture)(name).then(|| name.to_owned())
}

/// A path relative to the folder of a file of the repository.
fn joined(from: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links<'a>(pages: &'a BTreeMap<&'a str, &'a str>) -> Links<'a> {
        Links {
            from: "docs/operate/README.md",
            pages,
            is_picture: &|name| name == "a.png",
        }
    }

    #[test]
    fn links_lead_to_pages_and_other_files_are_text() {
        let pages = BTreeMap::from([
            ("docs/proxies.md", "proxies"),
            ("docs/operate/tls.md", "tls"),
        ]);
        let text = "# T\n\n[p](../proxies.md#nginx) [t](tls.md) [code](../../host/x.rs) [out](https://e.com) [bad](javascript:alert(1))";
        let html = render(text, &links(&pages)).html;
        for part in [
            "href=\"proxies.html#nginx\"",
            "href=\"tls.html\"",
            "href=\"https://e.com\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert_eq!(html.matches("<a ").count(), 3, "{html}");
        assert!(html.contains("code") && html.contains("bad"), "{html}");
    }

    #[test]
    fn markup_is_shown_and_not_passed_on() {
        let pages = BTreeMap::new();
        let text = "# T <b>x</b>\n\n<script>alert(1)</script>\n\na <img src=x onerror=y> b";
        let html = render(text, &links(&pages)).html;
        for element in ["<script", "<img", "<b>"] {
            assert!(!html.contains(element), "{element} in {html}");
        }
        assert!(html.contains("&lt;script&gt;"), "{html}");
    }

    #[test]
    fn headings_have_anchors_of_their_own() {
        let pages = BTreeMap::new();
        let text = "# The title\n\n## `serve` and more\n\n## Twice\n\n## Twice\n\n![shot](../screenshots/a.png)";
        let page = render(text, &links(&pages));
        assert_eq!(page.title, "The title");
        let ids: Vec<&str> = page.headings.iter().map(|one| &*one.id).collect();
        assert_eq!(ids, ["serve-and-more", "twice", "twice-1"]);
        assert!(page.html.contains("<h2 id=\"twice-1\">"), "{}", page.html);
        assert!(page.html.contains("src=\"a.png\""), "{}", page.html);
    }
}
