//! Texts that people and models read: their length, and nothing invisible in any of them.

use serde_json::Value;

use super::{Lint, ManifestPath};
use crate::manifest::Manifest;
use toolgate_core::visible;

/// Findings quote the manifest; no more of it than this, in characters.
const MESSAGE_CHARS_MAX: usize = 600;
const SHOWN_CHARS_MAX: usize = 80;

/// Checks that a text has `min..=max` characters.
pub(super) fn check(
    found: &mut Lint,
    at: &ManifestPath<'_>,
    what: &str,
    text: &str,
    min: usize,
    max: usize,
) {
    let chars = text.chars().count();
    if text.trim().chars().count() < min {
        found.error(at, format!("the {what} is missing"));
    } else if chars > max {
        found.error(
            at,
            format!("the {what} has {chars} characters; at most {max} are kept"),
        );
    }
}

/// Refuses characters that hide something from a reader, wherever they are in the manifest: names
/// of keys, schemas, patterns and templates too.
pub(super) fn nothing_hidden(manifest: &Manifest, found: &mut Lint) {
    match serde_json::to_value(manifest) {
        Ok(whole) => walk(&whole, found, &ManifestPath::Root),
        Err(cause) => found.error(
            &ManifestPath::Root,
            format!("the manifest cannot be read: {cause}"),
        ),
    }
}

fn walk(value: &Value, found: &mut Lint, at: &ManifestPath<'_>) {
    let mut check = |text: &str, at: &ManifestPath<'_>| {
        if let Some(c) = text.chars().find(|c| is_hidden(*c)) {
            found.error(
                at,
                format!(
                    "the text contains the invisible character U+{:04X}; write only what a reader can see",
                    c as u32
                ),
            );
        }
    };
    match value {
        Value::String(text) => check(text, at),
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                walk(item, found, &at.index(place));
            }
        }
        Value::Object(map) => {
            for key in map.keys() {
                check(key, at);
            }
            for (key, value) in map {
                walk(value, found, &at.key(key));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether the character is hidden in a text of several lines.
fn is_hidden(c: char) -> bool {
    visible::is_hidden(c) && !matches!(c, '\n' | '\r' | '\t')
}

/// The start of a foreign text, safe to print.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    let mut shown = visible::visible_line(&start).into_owned();
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
