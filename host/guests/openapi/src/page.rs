//! HTML pages where something else was declared: sign-in pages, block pages, pages of proxies.
//!
//! Such a page is sent with any status, also 200, and is not the requested resource.

/// Longest title that is handed on, in characters.
const TITLE_CHARS_MAX: usize = 200;
/// How far into a page its title is looked for, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// An HTML page as a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its title, or its first heading.
    pub title: Option<String>,
}

impl Page {
    /// ` (title: Sign in)`, empty without a title.
    pub fn titled(&self) -> String {
        let title = self.title.as_ref();
        title.map_or_else(String::new, |title| format!(" (title: {title})"))
    }
}

/// The page that a text is, if it is one. `media_type` is the `Content-Type` with its parameters.
pub fn read(media_type: Option<&str>, text: &str) -> Option<Page> {
    let start = after_prolog(text);
    let named = media_type.is_some_and(|media| {
        let media = media.split([';', ',']).next().unwrap_or_default().trim();
        media.eq_ignore_ascii_case("text/html")
            || media.eq_ignore_ascii_case("application/xhtml+xml")
    });
    let document = begins(start, "<!doctype html") || begins(start, "<html");
    (document || (named && start.starts_with('<'))).then(|| Page { title: title(text) })
}

/// Behind whitespace, a byte order mark, comments and an XML declaration.
fn after_prolog(text: &str) -> &str {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    for (open, close) in std::iter::repeat([("<!--", "-->"), ("<?", "?>")])
        .flatten()
        .take(20)
    {
        if let Some(inside) = rest.strip_prefix(open)
            && let Some((_, after)) = inside.split_once(close)
        {
            rest = after.trim_start();
        }
    }
    rest
}

fn begins(text: &str, with: &str) -> bool {
    let start = text.as_bytes().get(..with.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

/// The text of the first `title`, else of the first heading.
fn title(text: &str) -> Option<String> {
    let head = &text[..text.floor_char_boundary(HEAD_BYTES_MAX)];
    // Only ASCII letters change, so positions in both are the same.
    let lower = head.to_ascii_lowercase();
    ["title", "h1", "h2"].into_iter().find_map(|tag| {
        let open = format!("<{tag}");
        let mut from = 0;
        loop {
            let at = from + lower[from..].find(&open)? + open.len();
            from = at;
            if !lower[at..].starts_with(['>', ' ', '\t', '\r', '\n']) {
                continue;
            }
            let start = at + lower[at..].find('>')? + 1;
            let end = lower[start..].find(&format!("</{tag}"))? + start;
            let words = plain(&head[start..end]);
            if !words.is_empty() {
                return Some(words);
            }
        }
    })
}

/// Text without markup, entities and characters that a reader cannot see, in one line.
fn plain(markup: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in markup.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if inside || is_hidden(c) => {}
            c => text.push(if c.is_whitespace() { ' ' } else { c }),
        }
    }
    for (entity, written) in [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#039;", "'"),
        ("&apos;", "'"),
        ("&ndash;", "–"),
        ("&mdash;", "—"),
        ("&hellip;", "…"),
        ("&raquo;", "»"),
        ("&laquo;", "«"),
        // Last, so that `&amp;lt;` stays the text `&lt;`.
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, written);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(TITLE_CHARS_MAX).collect()
}

/// Controls but whitespace, and marks that change the direction of text or take no room.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{Page, read};

    #[test]
    fn a_page_is_known_by_its_type_or_by_how_it_begins() {
        let titled = |title: &str| {
            Some(Page {
                title: Some(title.to_owned()),
            })
        };
        for (media_type, text, expected) in [
            (
                Some("text/html"),
                "<html><head><title>Sign in</title></head><body>x</body></html>",
                titled("Sign in"),
            ),
            (
                Some("text/html; charset=UTF-8"),
                "\u{feff}\n<!DOCTYPE html>\n<TITLE lang=\"en\">Just a\n moment...</TITLE>",
                titled("Just a moment..."),
            ),
            (
                Some("application/xhtml+xml"),
                "<?xml version=\"1.0\"?><!-- a --><html><title>A &amp; B &quot;c&quot;</title>",
                titled("A & B \"c\""),
            ),
            // A proxy that writes no type, and one that writes the asked type.
            (
                None,
                "<!-- proxy --><!doctype html><h1>Access <b>denied</b></h1>",
                titled("Access denied"),
            ),
            (
                Some("application/json"),
                "<html><title>\u{202e}Log\u{200b}in</title>",
                titled("Login"),
            ),
            (
                Some("text/html"),
                "<script>location='/login'</script>",
                Some(Page { title: None }),
            ),
            // PHP answers everything as HTML, and a file of source code is a text.
            (Some("text/html"), "OK", None),
            (Some("text/html"), "", None),
            (
                Some("application/xml"),
                "<feed><title>x</title></feed>",
                None,
            ),
            (Some("text/plain"), "<b>no page</b>", None),
            (None, "<htm", None),
        ] {
            assert_eq!(read(media_type, text), expected, "{media_type:?} {text}");
        }
        let long = format!("<html><title>{}</title>", "ä".repeat(300));
        let found = read(None, &long).and_then(|page| page.title);
        assert_eq!(found.map(|title| title.chars().count()), Some(200));
    }
}
