//! Results that do not fit one answer: their beginning, and how to read on.

use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::RESULT_CHARS_MAX;
use toolgate_gateway::tools::results::{StoredResult, Truncated};

/// Reads on in a result that was cut. No plugin can have the name: its service is reserved.
pub(crate) const READ_RESULT: &str = "toolgate_read_result";

/// Before the id of a kept result, in its address as a resource.
const RESULT_URIS: &str = "toolgate://results/";

/// How a client reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingOn {
    /// By `svc_execute_tool`.
    Tool,
    /// By `resources/read`: at the address of a toolset without the generic tools.
    Resource,
}

/// Appends the beginning of a kept result and where the rest is. `tool`: by which name the tool is called again.
pub(super) fn push_head(
    text: &mut String,
    head: &RawValue,
    truncated: &Truncated,
    reading: ReadingOn,
    tool: &str,
) {
    let head: String = serde_json::from_str(head.get()).unwrap_or_default();
    text.push_str(&head);
    let _ = write!(
        text,
        "\n\n[Cut: these are the first {} of {} bytes. The whole result is kept until {}. {} Or call \
         `{tool}` again with arguments that ask for less: a filter, fewer fields or a smaller page.]",
        truncated.bytes_shown,
        truncated.bytes_total,
        truncated.expires_at,
        how_to_read_on(&truncated.result_id, truncated.bytes_shown, reading),
    );
}

fn how_to_read_on(result_id: &str, offset: usize, reading: ReadingOn) -> String {
    match reading {
        ReadingOn::Tool => format!(
            "To read on, call `svc_execute_tool` with `tool_name` \"{READ_RESULT}\" and `arguments` \
             '{{\"result_id\":\"{result_id}\",\"offset\":{offset}}}'."
        ),
        ReadingOn::Resource => {
            let uri = result_uri(result_id, offset);
            format!("To read on, read the resource {uri} (resources/read).")
        }
    }
}

/// The address of a kept result from `offset` on.
pub(crate) fn result_uri(result_id: &str, offset: usize) -> String {
    format!("{RESULT_URIS}{result_id}?offset={offset}")
}

/// The result and the offset that an address names.
pub(crate) fn result_at(uri: &str) -> Option<(&str, usize)> {
    let named = uri.strip_prefix(RESULT_URIS)?;
    match named.split_once("?offset=") {
        None => Some((named, 0)),
        Some((result_id, offset)) => Some((result_id, offset.parse().ok()?)),
    }
}

/// A piece of a kept result, at most [`RESULT_CHARS_MAX`] characters of it.
pub fn result_piece(piece: &StoredResult, reading: ReadingOn) -> String {
    let cut = piece.content.char_indices().nth(RESULT_CHARS_MAX);
    let content = cut.map_or(piece.content.as_str(), |(end, _)| &piece.content[..end]);
    let end = piece.offset + content.len();
    let mut text = format!(
        "Result: {}\nBytes: {} to {end} of {}\n\nContent:\n{content}\n\n",
        piece.result_id, piece.offset, piece.bytes_total
    );
    if end < piece.bytes_total {
        let _ = write!(text, "[{}]", how_to_read_on(&piece.result_id, end, reading));
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
