//! Files of results: how they are named to a model, and how their texts are read.

use std::fmt::Write as _;

use rmcp::model::Resource;

use super::{RESULT_CHARS_MAX, ReadingOn, one_line};
use toolgate_gateway::knowledge::file_text::FileText;
use toolgate_gateway::tools::{Execution, Outcome, ResultFile};

/// Reads the text of a file. No plugin can have the name: its service is reserved.
pub(crate) const READ_FILE: &str = "toolgate_read_file";

/// Before the handle of a file, in its address as a resource.
const FILE_URIS: &str = "toolgate://files/";

/// The address of a file, or of its text from `offset` on.
fn file_uri(file_id: &str, offset: usize) -> String {
    match offset {
        0 => format!("{FILE_URIS}{file_id}"),
        _ => format!("{FILE_URIS}{file_id}?offset={offset}"),
    }
}

/// The file and the offset that an address names.
pub(crate) fn file_at(uri: &str) -> Option<(&str, usize)> {
    let named = uri.strip_prefix(FILE_URIS)?;
    match named.split_once("?offset=") {
        None => Some((named, 0)),
        Some((file_id, offset)) => Some((file_id, offset.parse().ok()?)),
    }
}

/// The files of a result as links, for clients that know them (2025-06-18 and later).
pub(crate) fn file_links(execution: &Execution) -> Vec<Resource> {
    let Outcome::Success { files, .. } = &execution.outcome else {
        return Vec::new();
    };
    let kept = files.iter().filter_map(|file| {
        let file_id = file.file_id.as_deref()?;
        let name = file.name.as_deref().unwrap_or(file_id);
        let mut link = Resource::new(file_uri(file_id, 0), one_line(name));
        link.mime_type = Some(one_line(&file.media_type).into_owned());
        link.size = Some(file.size_bytes);
        Some(link)
    });
    kept.collect()
}

/// Says of each file what it is, and how it is read or passed on.
pub(super) fn push_files(text: &mut String, files: &[ResultFile], reading: ReadingOn) {
    for file in files {
        let name = one_line(file.name.as_deref().unwrap_or("unnamed"));
        let kind = one_line(&file.media_type);
        let _ = write!(text, "File: {name} ({kind}, {} bytes", file.size_bytes);
        match &file.file_id {
            Some(file_id) => {
                let until = file.expires_at.as_deref().unwrap_or_default();
                let _ = writeln!(text, "; its handle is {file_id}, until {until})");
            }
            None => text.push_str("; its content is in the REST answer)\n"),
        }
    }
    let Some(file_id) = files.iter().find_map(|file| file.file_id.as_deref()) else {
        return;
    };
    let how = how_to_read(file_id, 0, reading);
    let _ = writeln!(
        text,
        "A tool that takes a file takes its handle. To read the text of a file, {how}"
    );
}

fn how_to_read(file_id: &str, offset: usize, reading: ReadingOn) -> String {
    match reading {
        ReadingOn::Tool => format!(
            "call `svc_execute_tool` with `tool_name` \"{READ_FILE}\" and `arguments` \
             '{{\"file_id\":\"{file_id}\",\"offset\":{offset}}}'."
        ),
        ReadingOn::Resource => {
            let uri = file_uri(file_id, offset);
            format!("read the resource {uri} (resources/read).")
        }
    }
}

/// A piece of the text of a file, at most [`RESULT_CHARS_MAX`] characters of it.
pub fn file_piece(piece: &FileText, reading: ReadingOn) -> String {
    let file = &piece.file;
    let name = one_line(file.name.as_deref().unwrap_or("unnamed"));
    let mut text = format!(
        "File: {name} ({}, {} bytes; its handle is {}, until {})\n",
        one_line(&file.media_type),
        file.size_bytes,
        file.file_id,
        file.expires_at
    );
    let Some(content) = &piece.text else {
        text.push_str(
            "\nThis file has no text to read. Pass its handle to a tool that takes a file, or have the user download \
             it.",
        );
        return text;
    };
    let cut = content.char_indices().nth(RESULT_CHARS_MAX);
    let content = cut.map_or(content.as_str(), |(end, _)| &content[..end]);
    let end = piece.offset + content.len();
    let _ = write!(
        text,
        "Bytes of its text: {} to {end} of {}\n\nContent:\n{content}\n\n",
        piece.offset, piece.bytes_total
    );
    if end < piece.bytes_total {
        let how = how_to_read(&file.file_id, end, reading);
        let _ = write!(text, "[To read on, {how}]");
    } else {
        text.push_str("[This is the end of the text.]");
    }
    text
}

/// What [`READ_FILE`] takes.
pub fn read_file_schema() -> String {
    format!(
        "**{READ_FILE}**\n\nReads the text of a file that a tool returned or that the user uploaded: of text, JSON, XML, \
         HTML and PDF.\n\nInput Schema:\n```json\n{{\n  \"type\": \"object\",\n  \"properties\": {{\n    \"file_id\": \
         {{ \"type\": \"string\", \"description\": \"The handle, file_...\" }},\n    \"offset\": {{ \"type\": \
         \"integer\", \"description\": \"Where to read on, in bytes of the text.\" }}\n  }},\n  \"required\": \
         [\"file_id\"]\n}}\n```\n\nRequired arguments:\n- file_id\n\nNext step: call `svc_execute_tool` with \
         `tool_name` \"{READ_FILE}\" and `arguments` as a JSON string."
    )
}
