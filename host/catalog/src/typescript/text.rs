//! Foreign texts in TypeScript: none of them ends the comment or the literal that it stands in.

use std::fmt::Write as _;

use toolgate_core::visible::{is_hidden, visible_line};

use crate::script_names::is_identifier;

/// A text as one line of a comment: at most `chars_max` characters, without the end of a comment and without what the
/// compiler takes for a directive. Empty where the text has only spaces.
pub(super) fn comment(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if let Some((end, _)) = line.char_indices().nth(chars_max) {
        line.truncate(end);
        line.push_str("...");
    }
    visible_line(&line)
        .replace("*/", "* /")
        .replace("@ts-", "@ ts-")
}

/// A text as a string literal.
pub(super) fn literal(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Hidden are also the two separators that end a line of JavaScript.
            c if is_hidden(c) => {
                let _ = write!(quoted, "\\u{{{:x}}}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The name of a property.
pub(super) fn property(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        literal(name)
    }
}

/// The name of a function that is a member. `new(` would declare what `new` makes.
pub(super) fn method(name: &str) -> String {
    if name == "new" {
        literal(name)
    } else {
        property(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_one_line_that_a_text_cannot_end() {
        for (text, expected) in [
            ("Two\nlines,\r\n\ta tab ", "Two lines, a tab"),
            ("*/ evil(); /*", "* / evil(); /*"),
            ("**//", "** //"),
            ("*\u{200b}/", "*\\u{200b}/"),
            ("@ts-ignore", "@ ts-ignore"),
            ("see @ts-expect-error", "see @ ts-expect-error"),
            ("a\u{2028}b\u{202e}c", "a b\\u{202e}c"),
            (" \n ", ""),
        ] {
            assert_eq!(comment(text, 50), expected, "{text:?}");
        }
        assert_eq!(comment("ab\u{e9}de", 5), "ab\u{e9}de");
        assert_eq!(comment("ab\u{e9}de", 3), "ab\u{e9}...");
        // Cut first: no half of what was made harmless is left.
        assert_eq!(comment("abc*/", 4), "abc*...");
    }

    #[test]
    fn a_literal_holds_any_text() {
        for (text, expected) in [
            ("plain", r#""plain""#),
            (r#"a"b\c"#, r#""a\"b\\c""#),
            ("a\nb\rc\td", r#""a\nb\rc\td""#),
            ("\u{2028}\u{0}\u{200b}", r#""\u{2028}\u{0}\u{200b}""#),
            ("`${x}`", r#""`${x}`""#),
            ("\u{e9}\u{1f600}", "\"\u{e9}\u{1f600}\""),
        ] {
            assert_eq!(literal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_name_that_is_no_identifier_is_quoted() {
        for (name, expected) in [
            ("ok_1$", "ok_1$"),
            ("__proto__", "__proto__"),
            ("delete", "delete"),
            ("new", "new"),
            ("1st", "\"1st\""),
            ("a-b", "\"a-b\""),
            ("", "\"\""),
            ("x; evil", "\"x; evil\""),
            ("\u{e9}", "\"\u{e9}\""),
        ] {
            assert_eq!(property(name), expected, "{name:?}");
        }
        assert_eq!(method("new"), "\"new\"");
        assert_eq!(method("constructor"), "constructor");
    }
}
