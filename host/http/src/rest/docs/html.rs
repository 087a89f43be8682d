//! Writing HTML: the only place where text becomes markup.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A page under way, beside the document that it shows.
pub(super) struct HtmlWriter<'a> {
    pub document: &'a Value,
    pub html: String,
}

impl<'a> HtmlWriter<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self {
            document,
            html: String::with_capacity(64 * 1024),
        }
    }

    /// Markup as it stands; never anything that comes from the document.
    pub(super) fn raw(&mut self, html: &str) {
        self.html.push_str(html);
    }

    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\'' => self.raw("&#39;"),
                c => self.html.push(c),
            }
        }
    }

    pub(super) fn element(&mut self, name: &str, text: &str) {
        write!(self.html, "<{name}>").expect("writing to a String cannot fail");
        self.text(text);
        write!(self.html, "</{name}>").expect("writing to a String cannot fail");
    }

    /// A paragraph of [`HtmlWriter::inline`] text.
    pub(super) fn prose(&mut self, text: &str) {
        self.raw("<p>");
        self.inline(text);
        self.raw("</p>");
    }

    /// Text in which `code` is marked as in Markdown.
    pub(super) fn inline(&mut self, text: &str) {
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                self.element("code", part);
            } else {
                self.text(part);
            }
        }
    }
}

/// A value as text, empty if it is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// A value's items, none if it is no array.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A value's members, none if it is no object.
pub(super) fn object(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}
