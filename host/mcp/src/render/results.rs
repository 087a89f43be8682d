//! Results that do not fit one answer: their beginning, and how to read on.

use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::RESULT_CHARS_MAX;
use toolgate_gateway::tools::results::{StoredResult, Truncated};

/// Reads on in a result that was cut. No plugin can have the name: its service is reserved.
pub(crate) const READ_RESULT: &str = "toolgate_read_result";

/// Appends the beginning of a kept result and where the rest is.
pub(super) fn push_head(text: &mut String, head: &RawValue, truncated: &Truncated) {
    let head: String = serde_json::from_str(head.get()).unwrap_or_default();
    text.push_str(&head);
    let _ = write!(
        text,
        "\n\n[Cut: these are the first {} of {} bytes. The whole result is kept until {}. {} Or call \
         `svc_execute_tool` again with arguments that ask for less.]",
        truncated.bytes_shown,
        truncated.bytes_total,
        truncated.expires_at,
        how_to_read_on(&truncated.result_id, truncated.bytes_shown),
    );
}

fn how_to_read_on(result_id: &str, offset: usize) -> String {
    format!(
        "To read on, call `svc_execute_tool` with `tool_name` \"{READ_RESULT}\" and `arguments` \
         '{{\"result_id\":\"{result_id}\",\"offset\":{offset}}}'."
    )
}

/// A piece of a kept result, at most [`RESULT_CHARS_MAX`] characters of it.
pub fn result_piece(piece: &StoredResult) -> String {
    let cut = piece.content.char_indices().nth(RESULT_CHARS_MAX);
    let content = cut.map_or(piece.content.as_str(), |(end, _)| &piece.content[..end]);
    let end = piece.offset + content.len();
    let mut text = format!(
        "Result: {}\nBytes: {} to {end} of {}\n\nContent:\n{content}\n\n",
        piece.result_id, piece.offset, piece.bytes_total
    );
    if end < piece.bytes_total {
        let _ = write!(text, "[{}]", how_to_read_on(&piece.result_id, end));
    } else {
        text.push_str("[This is the end of the result.]");
    }
    text
}

/// What [`READ_RESULT`] takes.
pub fn read_result_schema() -> String {
    format!(
        "**{READ_RESULT}**\n\nReads on in a result that was cut, for an hour.\n\nInput Schema:\n\
         ```json\n{{\n  \"type\": \"object\",\n  \"properties\": {{\n    \"result_id\": {{ \"type\": \
         \"string\", \"description\": \"As the cut answer says.\" }},\n    \"offset\": {{ \"type\": \
         \"integer\", \"description\": \"Where to read on, in bytes.\" }}\n  }},\n  \"required\": \
         [\"result_id\"]\n}}\n```\n\nRequired arguments:\n- result_id\n\nNext step: call \
         `svc_execute_tool` with `tool_name` \"{READ_RESULT}\" and `arguments` as a JSON string."
    )
}
