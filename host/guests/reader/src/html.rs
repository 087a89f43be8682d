//! HTML: the visible text, from html5ever's tree, walked without recursion.

use scraper::Html;
use scraper::node::Node;

use crate::{TEXT_CHARS_MAX, push};

/// Elements whose content is not text of the page.
const HIDDEN: [&str; 12] = [
    "head", "script", "style", "template", "noscript", "iframe", "object", "svg", "math", "canvas",
    "select", "datalist",
];
/// Elements that begin and end a line.
const BLOCKS: [&str; 36] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tr",
    "ul",
];

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub title: Option<String>,
    pub text: String,
}

/// The page's text, lines kept, runs of white space within a line one space.
pub(crate) fn page(source: &str) -> Page {
    let document = Html::parse_document(source);
    let mut walk = Walk {
        text: String::new(),
        left: TEXT_CHARS_MAX,
        space: false,
    };
    let mut title = None;
    // Depth-first with a stack of our own: a page may nest a million elements.
    let mut stack = vec![(document.tree.root(), false)];
    while let Some((node, leaving)) = stack.pop() {
        match node.value() {
            Node::Text(text) => walk.words(text),
            Node::Element(element) => {
                let name = element.name();
                if name == "title" && title.is_none() {
                    let text: String = node
                        .children()
                        .filter_map(|child| child.value().as_text().map(|text| text.to_string()))
                        .collect();
                    title = Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
                        .filter(|title| !title.is_empty());
                }
                if BLOCKS.contains(&name) {
                    walk.line();
                } else if matches!(name, "td" | "th") {
                    walk.space = true;
                }
                if leaving {
                    continue;
                }
                // The title is in the head, of which nothing else is read.
                if name == "title" || (HIDDEN.contains(&name) && name != "head") {
                    continue;
                }
                stack.push((node, true));
                stack.extend(children(node).filter(|(child, _)| {
                    name != "head"
                        || child
                            .value()
                            .as_element()
                            .is_some_and(|e| e.name() == "title")
                }));
            }
            Node::Document | Node::Fragment => stack.extend(children(node)),
            _ => {}
        }
        if walk.left == 0 {
            break;
        }
    }
    let text = walk.text.trim().to_owned();
    Page { title, text }
}

/// The last first, so that the first is on top of the stack.
fn children<'a>(
    node: ego_tree::NodeRef<'a, Node>,
) -> impl Iterator<Item = (ego_tree::NodeRef<'a, Node>, bool)> {
    node.children().rev().map(|child| (child, false))
}

struct Walk {
    text: String,
    left: usize,
    /// White space was seen since the last word.
    space: bool,
}

impl Walk {
    fn words(&mut self, text: &str) {
        for (n, word) in text.split(char::is_whitespace).enumerate() {
            self.space |= n > 0;
            if word.is_empty() {
                continue;
            }
            if self.space && !self.text.is_empty() && !self.text.ends_with('\n') {
                push(&mut self.text, &mut self.left, " ");
            }
            self.space = false;
            if !push(&mut self.text, &mut self.left, word) {
                return;
            }
        }
    }

    fn line(&mut self) {
        self.space = false;
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            push(&mut self.text, &mut self.left, "\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_what_a_reader_sees() {
        for (source, text) in [
            ("<p>One  two\n three<p>Four", "One two three\nFour"),
            ("a<b>b</b>c <i>d</i>", "abc d"),
            ("<style>p{}</style><script>x()</script>seen", "seen"),
            ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
            ("<ul><li>x<li>y</ul>z", "x\ny\nz"),
            ("&lt;b&gt; &amp; caf&eacute;", "<b> & café"),
            ("<!-- <p>no --><p>yes", "yes"),
            ("", ""),
        ] {
            assert_eq!(page(source).text, text, "{source}");
        }
        let titled = page("<title> A \n title </title><meta name=x><p>b");
        assert_eq!(titled.title.as_deref(), Some("A title"));
        assert_eq!(titled.text, "b");
    }

    #[test]
    fn broken_html_is_read_as_browsers_read_it() {
        for (source, text) in [
            ("<p>one<p>two</div></b>three", "one\ntwothree"),
            ("<table>stray<tr><td>cell", "stray\ncell"),
            (
                "a < b > c &nosuch; &#0; &#x110000;",
                "a < b > c &nosuch; \u{fffd} \u{fffd}",
            ),
            ("<div unclosed='attribute>gone", ""),
            ("seen<script>never closed", "seen"),
            ("<!-- never closed", ""),
            ("<![CDATA[x]]>y", "y"),
        ] {
            assert_eq!(page(source).text, text, "{source}");
        }
        let garbage: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        page(&String::from_utf8_lossy(&garbage));
        let flood = page(&format!("<p>{}", "word ".repeat(TEXT_CHARS_MAX)));
        assert!(flood.text.chars().count() <= TEXT_CHARS_MAX);
    }

    #[test]
    fn a_deep_document_does_not_use_up_the_stack() {
        let deep = format!("{}x", "<div>".repeat(5_000));
        assert_eq!(page(&deep).text, "x");
    }
}
