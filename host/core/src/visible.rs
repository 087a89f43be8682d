//! Untrusted text for printing: nothing in it is invisible, nothing moves the cursor.
//!
//! One list decides for the lint of manifests and for everything that prints: which characters a
//! reader sees. Allowed are letters, marks, digits, punctuation, symbols and a few spaces; controls,
//! format and private characters, unassigned code points, separators and whatever Unicode calls
//! default-ignorable are shown as `\u{200b}`.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Whether a reader cannot see the character, or it changes how the text around it is shown.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    use GeneralCategory as Is;
    let seen = match get_general_category(c) {
        Is::UppercaseLetter
        | Is::LowercaseLetter
        | Is::TitlecaseLetter
        | Is::ModifierLetter
        | Is::OtherLetter
        | Is::NonspacingMark
        | Is::SpacingMark
        | Is::EnclosingMark
        | Is::DecimalNumber
        | Is::LetterNumber
        | Is::OtherNumber
        | Is::ConnectorPunctuation
        | Is::DashPunctuation
        | Is::OpenPunctuation
        | Is::ClosePunctuation
        | Is::InitialPunctuation
        | Is::FinalPunctuation
        | Is::OtherPunctuation
        | Is::MathSymbol
        | Is::CurrencySymbol
        | Is::ModifierSymbol
        | Is::OtherSymbol => true,
        // No-break, narrow no-break and ideographic space; the thin ones hide.
        Is::SpaceSeparator => matches!(c, '\u{a0}' | '\u{202f}' | '\u{3000}'),
        _ => false,
    };
    !seen || is_blank(c)
}

/// Letters, marks and symbols that leave nothing on the page: those that Unicode calls
/// default-ignorable (DerivedCoreProperties.txt), the empty braille pattern and null note head.
fn is_blank(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{1d159}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// `text` with every hidden character written as `\u{..}`; line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && !matches!(c, '\n' | '\t'))
}

/// The same for one line: line breaks and tabs are written out too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&hidden) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        if hidden(c) {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A JSON document whose texts show what they hold: hidden characters in it are written as the
/// escapes that any reader of JSON turns back (RFC 8259, section 7).
pub fn visible_json(document: &str) -> Cow<'_, str> {
    let hidden = |c: char| is_hidden(c) && !matches!(c, '\n' | '\r' | '\t');
    let Some(first) = document.find(hidden) else {
        return Cow::Borrowed(document);
    };
    let mut out = String::with_capacity(document.len() + 16);
    out.push_str(&document[..first]);
    for c in document[first..].chars() {
        if hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The writer of log lines: hidden characters of untrusted text in a line are escaped, so that the terminal
/// and the reader of the file see them.
pub struct Lines<W> {
    pub to: W,
    /// Lines are JSON documents.
    pub json: bool,
}

impl<W: io::Write> io::Write for Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        // Each line in one piece: lines of other threads do not come between.
        if self.json {
            self.to.write_all(visible_json(&text).as_bytes())?;
        } else {
            // An event is one line, with any text in it.
            let event = text.strip_suffix('\n').unwrap_or(&text);
            let end = &text[event.len()..];
            match visible_line(event) {
                Cow::Borrowed(_) => self.to.write_all(text.as_bytes())?,
                Cow::Owned(shown) => self.to.write_all((shown + end).as_bytes())?,
            }
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Most characters of an untrusted name that are shown.
const NAME_CHARS_MAX: usize = 128;

/// An untrusted name for a message: cut, with its hidden characters escaped.
pub fn shown_name(name: &str) -> String {
    let start: String = name.chars().take(NAME_CHARS_MAX).collect();
    visible_line(&start).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 16.
    const DEFAULT_IGNORABLE: &[(u32, u32)] = &[
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    #[test]
    fn no_character_that_unicode_calls_ignorable_is_seen() {
        for &(first, last) in DEFAULT_IGNORABLE {
            for c in (first..=last).filter_map(char::from_u32) {
                assert!(is_hidden(c), "U+{:04X}", c as u32);
            }
        }
        for c in [
            '\0',
            '\u{7}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{2028}',
            '\u{2029}',
            '\u{fff9}',
            '\u{e000}',
            '\u{f0000}',
            '\u{10ffff}',
            '\u{378}',
            '\u{2800}',
            '\u{200a}',
            '\u{1d159}',
        ] {
            assert!(is_hidden(c), "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn visible_text_is_not_changed() {
        let text = "Grüße, señor – 日本語のテキスト。 العربية हिन्दी 한국어 “quoted” € 5 ≤ 7 \u{1f600} no\u{a0}break e\u{301}";
        assert_eq!(text.chars().find(|c| is_hidden(*c)), None);
        assert!(matches!(visible_line(text), Cow::Borrowed(_)));
    }

    #[test]
    fn hidden_characters_are_written_out() {
        let text = "a\u{200b}b\u{202e}\nc\t\u{1b}[2J\u{e0041}";
        assert_eq!(
            visible(text),
            "a\\u{200b}b\\u{202e}\nc\t\\u{1b}[2J\\u{e0041}"
        );
        assert_eq!(
            visible_line(text),
            "a\\u{200b}b\\u{202e}\\u{a}c\\u{9}\\u{1b}[2J\\u{e0041}"
        );
        let document = serde_json::json!({ "file": text }).to_string();
        let shown = visible_json(&document);
        assert!(!shown.chars().any(is_hidden), "{shown}");
        let read: serde_json::Value = serde_json::from_str(&shown).expect("still JSON");
        assert_eq!(read["file"], text);
    }

    #[test]
    fn a_line_of_a_log_shows_what_it_repeats() {
        for (json, written, shown) in [
            (
                false,
                "a\u{9b}31m\n\u{202e}\u{1b}]0;x\u{7}\n",
                "a\\u{9b}31m\\u{a}\\u{202e}\\u{1b}]0;x\\u{7}\n",
            ),
            (true, "{\"a\":\"\u{202e}\"}\n", "{\"a\":\"\\u202e\"}\n"),
        ] {
            let mut lines = Lines {
                to: Vec::new(),
                json,
            };
            lines.write_all(written.as_bytes()).expect("memory");
            assert_eq!(String::from_utf8_lossy(&lines.to), shown);
        }
    }
}
