//! Texts that people and models read: length, and nothing invisible in them.

use super::{At, Lint};

/// Findings quote the manifest; no more of it than this, in characters.
const MESSAGE_CHARS_MAX: usize = 600;
const SHOWN_CHARS_MAX: usize = 80;

/// Checks that a text has `min..=max` characters and none that hides something from its reader.
pub(super) fn check(found: &mut Lint, at: &At<'_>, what: &str, text: &str, min: usize, max: usize) {
    let chars = text.chars().count();
    if text.trim().chars().count() < min {
        found.error(at, format!("the {what} is missing"));
    } else if chars > max {
        found.error(
            at,
            format!("the {what} has {chars} characters; at most {max} are kept"),
        );
    }
    if let Some(c) = text.chars().find(|c| is_hidden(*c)) {
        found.error(
            at,
            format!(
                "the {what} contains the invisible character U+{:04X}; write only what a reader can see",
                c as u32
            ),
        );
    }
}

/// Characters that change what a model reads without changing what a person sees: controls other
/// than line breaks and tabs, bidirectional overrides, zero-width spaces, tag characters.
pub(super) fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
        || matches!(c,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The start of a foreign text, safe to print.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(SHOWN_CHARS_MAX)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}

pub(super) fn clip(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}
