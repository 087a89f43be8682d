//! Pieces of text and of JSON.

/// `text` as JSON.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The beginning of `text`, of at most `bytes_max` bytes.
pub(crate) fn bounded(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
