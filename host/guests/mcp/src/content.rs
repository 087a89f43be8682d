//! The result of a tool: texts, structured data, and files.
//!
//! What a server promised by an output schema is the result. Without such a promise a single text is the result, and
//! anything else is `content` in the server's own form, with binary data taken out as files.

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value, json};
use toolgate_mcp_wire::table::UpstreamTool;

use crate::elicitation;
use crate::fault::{self, CallFault, FaultKind};

/// Most files of one result.
const FILES_MAX: usize = 64;
/// Longest media type, in bytes.
const MEDIA_TYPE_BYTES_MAX: usize = 200;
/// Servers write base64 with and without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a call returns.
#[derive(Clone, Debug, PartialEq)]
pub struct CallContent {
    pub data: Value,
    pub files: Vec<ContentFile>,
    /// What the result leaves out.
    pub summary: Option<String>,
}

/// Binary data of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentFile {
    pub media_type: String,
    pub name: Option<String>,
    pub bytes: Vec<u8>,
}

/// Reads the result of `tools/call`.
pub fn read(tool: &UpstreamTool, mut result: Value) -> Result<CallContent, CallFault> {
    if let Some(question) = elicitation::of_result(&result) {
        return Err(question);
    }
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return Err(fault::of_tool(&result));
    }
    let structured = result
        .get_mut("structuredContent")
        .map(Value::take)
        .filter(|value| !value.is_null());
    let blocks = match result.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err(unreadable("`content` of the result is no list")),
    };
    let mut files = Vec::new();
    let mut shown = Vec::new();
    for block in blocks {
        shown.push(block_of(block, &mut files)?);
    }
    let is_text = |block: &Value| block["type"] == "text";
    let (data, left_out) = match structured {
        Some(data) if tool.structured || shown.iter().all(is_text) => (
            data,
            shown
                .iter()
                .filter(|block| block["type"] == "resource_link")
                .count(),
        ),
        None if tool.structured => {
            return Err(unreadable(
                "the result has no `structuredContent`, which the server promises for this tool",
            ));
        }
        Some(data) => (json!({"structured_content": data, "content": shown}), 0),
        None => (plain(shown), 0),
    };
    let summary = (left_out > 0).then(|| format!("{left_out} links to resources are not shown"));
    Ok(CallContent {
        data,
        files,
        summary,
    })
}

/// A single text is the result itself.
fn plain(mut shown: Vec<Value>) -> Value {
    if let [only] = shown.as_mut_slice()
        && only["type"] == "text"
        && let Some(text @ Value::String(_)) = only.get_mut("text")
    {
        return text.take();
    }
    json!({"content": shown})
}

/// One block without hints for other clients, its binary data among the files.
fn block_of(block: Value, files: &mut Vec<ContentFile>) -> Result<Value, CallFault> {
    let Value::Object(mut block) = block else {
        return Err(unreadable("a block of the result is no object"));
    };
    block.remove("_meta");
    block.remove("annotations");
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match kind {
        "image" | "audio" => take_file(&mut block, "data", None, files)?,
        "resource" => {
            if let Some(Value::Object(resource)) = block.get_mut("resource") {
                resource.remove("_meta");
                // Some serializers write the absent one of `text` and `blob` as `null`.
                resource.retain(|_, value| !value.is_null());
                let name = resource
                    .get("uri")
                    .and_then(Value::as_str)
                    .and_then(name_of);
                if resource.contains_key("blob") {
                    take_file(resource, "blob", name, files)?;
                }
            }
        }
        _ => {}
    }
    Ok(Value::Object(block))
}

/// Moves base64 text at `key` to the files, and leaves the file's place in the list.
fn take_file(
    holder: &mut Map<String, Value>,
    key: &str,
    name: Option<String>,
    files: &mut Vec<ContentFile>,
) -> Result<(), CallFault> {
    let Some(Value::String(text)) = holder.remove(key) else {
        return Err(unreadable("a block of the result has no data"));
    };
    if files.len() == FILES_MAX {
        return Err(CallFault::new(
            FaultKind::TooLarge,
            "too_many_files",
            format!("the result has more than {FILES_MAX} files"),
        ));
    }
    let bytes = LENIENT
        .decode(text)
        .map_err(|_| unreadable("binary data of the result is no base64"))?;
    let media_type = holder
        .get("mimeType")
        .and_then(Value::as_str)
        .filter(|media| is_media_type(media))
        .unwrap_or("application/octet-stream")
        .to_owned();
    holder.insert("file".to_owned(), files.len().into());
    files.push(ContentFile {
        media_type,
        name,
        bytes,
    });
    Ok(())
}

fn is_media_type(text: &str) -> bool {
    text.len() <= MEDIA_TYPE_BYTES_MAX
        && text
            .split_once('/')
            .is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty())
        && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
}

/// The last segment of an address as the name of a file.
fn name_of(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next()?;
    let last = path.rsplit('/').next()?;
    let plain = last
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    (plain && (1..=100).contains(&last.len()) && !last.starts_with('.')).then(|| last.to_owned())
}

fn unreadable(what: &str) -> CallFault {
    CallFault::new(
        FaultKind::Upstream,
        "unreadable_result",
        format!("the server's result cannot be read: {what}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(structured: bool) -> UpstreamTool {
        UpstreamTool {
            name: "t".to_owned(),
            structured,
            headers: Vec::new(),
        }
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text, "annotations": {"priority": 1}})
    }

    #[test]
    fn texts_and_structured_data_are_the_result() {
        let data = json!({"temperature": 21});
        for (structured, result, expected) in [
            (false, json!({"content": [text("hello")]}), json!("hello")),
            (
                false,
                json!({"content": [text("a"), text("b")]}),
                json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            ),
            (
                false,
                json!({"content": [text("{}")], "structuredContent": data}),
                data.clone(),
            ),
            (true, json!({"structuredContent": data}), data.clone()),
            (
                false,
                json!({"content": [{"type": "resource_link", "uri": "x:y"}], "structuredContent": data}),
                json!({"structured_content": data, "content": [{"type": "resource_link", "uri": "x:y"}]}),
            ),
            (false, json!({"content": []}), json!({"content": []})),
            (false, json!({}), json!({"content": []})),
        ] {
            let read = read(&tool(structured), result.clone()).expect("a result");
            assert_eq!(read.data, expected, "{result}");
            assert!(read.files.is_empty());
        }
    }

    #[test]
    fn binary_data_becomes_files() {
        let result = json!({"content": [
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGVsbG8", "mimeType": "not a type"},
            {"type": "resource", "resource": {"uri": "file:///a/report.pdf", "blob": "aGk=", "mimeType": "application/pdf"}},
            {"type": "resource", "resource": {"uri": "note://1", "text": "plain", "blob": null, "mimeType": null}},
        ]});
        let read = read(&tool(false), result).expect("a result");
        let names: Vec<_> = read
            .files
            .iter()
            .map(|file| {
                (
                    file.media_type.as_str(),
                    file.name.as_deref(),
                    file.bytes.len(),
                )
            })
            .collect();
        assert_eq!(
            names,
            [
                ("image/png", None, 5),
                ("application/octet-stream", None, 5),
                ("application/pdf", Some("report.pdf"), 2),
            ]
        );
        assert_eq!(read.data["content"][2]["resource"]["file"], 2);
        assert_eq!(
            read.data["content"][3]["resource"],
            json!({"uri": "note://1", "text": "plain"})
        );
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        for result in [
            json!({"content": "text"}),
            json!({"content": ["text"]}),
            json!({"content": [{"type": "image", "mimeType": "image/png"}]}),
            json!({"content": [{"type": "image", "data": "%%%"}]}),
        ] {
            let found = read(&tool(false), result.clone()).expect_err("no result");
            assert_eq!(found.code.as_deref(), Some("unreadable_result"), "{result}");
        }
        let broken = read(&tool(true), json!({"content": [text("{}")]})).expect_err("a promise");
        assert!(broken.message.contains("structuredContent"), "{broken:?}");
        let image = json!({"type": "image", "data": ""});
        let many = read(&tool(false), json!({"content": vec![image; FILES_MAX + 1]}));
        assert_eq!(many.expect_err("too many").kind, FaultKind::TooLarge);
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(
            name_of("https://x.test/a/b.txt?q"),
            Some("b.txt".to_owned())
        );
        for odd in [
            "https://x.test/",
            "x:..",
            "file:///a/..%2f",
            "file:///\u{202e}a",
        ] {
            assert_eq!(name_of(odd), None, "{odd}");
        }
    }
}
