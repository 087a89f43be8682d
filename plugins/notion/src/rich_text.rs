//! Notion's rich text: Markdown marks to annotated pieces, and back.

use toolgate_sdk::markdown::between_marks;
use toolgate_sdk::{Value, json};

/// Longest content of one piece, in characters.
const PIECE_CHARS_MAX: usize = 2000;

#[derive(Clone, Copy, Default)]
struct Marks {
    bold: bool,
    italic: bool,
    strike: bool,
}

/// Markdown within a line as a `rich_text` array.
pub fn from_markdown(text: &str) -> Value {
    let mut pieces = Vec::new();
    inline(text, Marks::default(), &mut pieces);
    Value::Array(pieces)
}

/// Text without marks as a `rich_text` array.
pub fn plain(text: &str) -> Value {
    let mut pieces = Vec::new();
    push(text, Marks::default(), false, None, &mut pieces);
    Value::Array(pieces)
}

fn inline(text: &str, marks: Marks, pieces: &mut Vec<Value>) {
    let mut rest = text;
    let mut unmarked = 0;
    while let Some(first) = rest[unmarked..].chars().next() {
        let at = &rest[unmarked..];
        let found = marked(at, marks);
        let Some((length, inner, kind)) = found else {
            unmarked += first.len_utf8();
            continue;
        };
        push(&rest[..unmarked], marks, false, None, pieces);
        match kind {
            Kind::Code => push(inner, marks, true, None, pieces),
            Kind::Link(target) => push(inner, marks, false, Some(target), pieces),
            Kind::Marks(marks) => inline(inner, marks, pieces),
        }
        rest = &at[length..];
        unmarked = 0;
    }
    push(rest, marks, false, None, pieces);
}

enum Kind<'a> {
    Code,
    Link(&'a str),
    Marks(Marks),
}

/// A marked span at the start of `text`: its length, what is in it, and what the mark means.
fn marked(text: &str, marks: Marks) -> Option<(usize, &str, Kind<'_>)> {
    if let Some((length, inner)) = between_marks(text, "`") {
        return Some((length, inner, Kind::Code));
    }
    for mark in ["**", "__"] {
        if let Some((length, inner)) = between_marks(text, mark) {
            return Some((
                length,
                inner,
                Kind::Marks(Marks {
                    bold: true,
                    ..marks
                }),
            ));
        }
    }
    if let Some((length, inner)) = between_marks(text, "~~") {
        return Some((
            length,
            inner,
            Kind::Marks(Marks {
                strike: true,
                ..marks
            }),
        ));
    }
    if let Some((length, inner)) = between_marks(text, "*") {
        return Some((
            length,
            inner,
            Kind::Marks(Marks {
                italic: true,
                ..marks
            }),
        ));
    }
    let (label, after) = text.strip_prefix('[')?.split_once("](")?;
    let (target, _) = after.split_once(')')?;
    let web = ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| target.starts_with(scheme));
    let length = label.len() + target.len() + 4;
    (web && !label.contains(['[', ']'])).then_some((length, label, Kind::Link(target)))
}

fn push(text: &str, marks: Marks, code: bool, link: Option<&str>, pieces: &mut Vec<Value>) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(PIECE_CHARS_MAX)
            .map_or(rest.len(), |(at, _)| at);
        let (content, after) = rest.split_at(end);
        rest = after;
        let mut piece = json!({ "type": "text", "text": { "content": content } });
        if let Some(url) = link {
            piece["text"]["link"] = json!({ "url": url });
        }
        let mut annotations = json!({});
        for (set, name) in [
            (marks.bold, "bold"),
            (marks.italic, "italic"),
            (marks.strike, "strikethrough"),
            (code, "code"),
        ] {
            if set {
                annotations[name] = json!(true);
            }
        }
        if annotations != json!({}) {
            piece["annotations"] = annotations;
        }
        pieces.push(piece);
    }
}

/// A `rich_text` array as Markdown.
pub fn to_markdown(rich_text: &Value) -> String {
    let mut out = String::new();
    for piece in rich_text.as_array().into_iter().flatten() {
        let text = piece["plain_text"]
            .as_str()
            .or_else(|| piece["text"]["content"].as_str());
        let text = text.unwrap_or_default();
        let set = |name: &str| piece["annotations"][name] == true && !text.trim().is_empty();
        let mut marked = text.to_owned();
        for (name, mark) in [
            ("code", "`"),
            ("strikethrough", "~~"),
            ("italic", "*"),
            ("bold", "**"),
        ] {
            if set(name) {
                marked = format!("{mark}{marked}{mark}");
            }
        }
        match piece["href"].as_str() {
            Some(href) if piece["type"] != "mention" => {
                out.push_str(&format!("[{marked}]({href})"))
            }
            _ => out.push_str(&marked),
        }
    }
    out
}

/// A `rich_text` array as text without marks.
pub fn to_plain(rich_text: &Value) -> String {
    let pieces = rich_text.as_array().into_iter().flatten();
    pieces
        .filter_map(|piece| piece["plain_text"].as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_annotations() {
        let piece = |content: &str, annotations: Value| json!({ "type": "text", "text": { "content": content }, "annotations": annotations });
        let bare = |content: &str| json!({ "type": "text", "text": { "content": content } });
        for (markdown, expected) in [
            ("plain ünï", json!([bare("plain ünï")])),
            (
                "a **b** c",
                json!([bare("a "), piece("b", json!({ "bold": true })), bare(" c")]),
            ),
            (
                "**a *b***",
                json!([piece("a *b", json!({ "bold": true })), bare("*")]),
            ),
            (
                "~~x~~ `y**z**`",
                json!([
                    piece("x", json!({ "strikethrough": true })),
                    bare(" "),
                    piece("y**z**", json!({ "code": true }))
                ]),
            ),
            (
                "[l](https://a.example)",
                json!([
                    { "type": "text", "text": { "content": "l", "link": { "url": "https://a.example" } } }
                ]),
            ),
            ("2 * 3 * 4", json!([bare("2 * 3 * 4")])),
            ("", json!([])),
        ] {
            assert_eq!(from_markdown(markdown), expected, "{markdown}");
        }
    }

    #[test]
    fn a_long_text_is_cut_into_pieces() {
        let pieces = plain(&"é".repeat(PIECE_CHARS_MAX + 1));
        assert_eq!(pieces.as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn annotations_become_marks() {
        let rich_text = json!([
            { "type": "text", "plain_text": "see ", "annotations": {} },
            { "type": "text", "plain_text": "this", "href": "https://a.example",
              "annotations": { "bold": true, "code": true } },
            { "type": "text", "plain_text": " ", "annotations": { "bold": true } },
            { "type": "mention", "plain_text": "@Mona", "href": "https://notion.so/x", "annotations": {} }
        ]);
        assert_eq!(
            to_markdown(&rich_text),
            "see [**`this`**](https://a.example) @Mona"
        );
        assert_eq!(to_plain(&rich_text), "see this @Mona");
    }
}
