//! A message of the Gmail API as people read it: headers decoded, one text, a list of attachments.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use toolgate_sdk::{Value, html, json};

use crate::words::{decode, text_of};

/// Longest text of one message, in characters.
const TEXT_CHARS_MAX: usize = 40_000;

const HEADERS: [(&str, &str); 8] = [
    ("from", "From"),
    ("to", "To"),
    ("cc", "Cc"),
    ("bcc", "Bcc"),
    ("reply_to", "Reply-To"),
    ("subject", "Subject"),
    ("date", "Date"),
    ("message_id", "Message-ID"),
];

/// Headers worth asking for when only an overview is wanted.
pub const OVERVIEW_HEADERS: [&str; 4] = ["From", "To", "Subject", "Date"];

/// The value of a header of the API's payload, decoded.
pub fn header(payload: &Value, name: &str) -> Option<String> {
    let headers = payload["headers"].as_array()?;
    let found = headers.iter().find(|header| {
        header["name"]
            .as_str()
            .is_some_and(|known| known.eq_ignore_ascii_case(name))
    })?;
    Some(decode(found["value"].as_str()?))
}

/// Who, what and when, without the text.
pub fn overview(message: &Value) -> Value {
    let mut out = json!({ "id": message["id"], "thread_id": message["threadId"] });
    for (key, name) in HEADERS {
        if let Some(value) = header(&message["payload"], name) {
            out[key] = json!(value);
        }
    }
    let mut snippet = String::new();
    snippet.push_str(message["snippet"].as_str().unwrap_or_default());
    if !snippet.is_empty() {
        out["snippet"] = json!(html::to_text(&snippet));
    }
    if let Some(labels) = message.get("labelIds") {
        out["labels"] = labels.clone();
    }
    // When Gmail took the message, which the sender cannot set: milliseconds since 1970, written as a text.
    let received = message["internalDate"].as_str();
    if let Some(received_ms) = received.and_then(|text| text.parse::<i64>().ok()) {
        out["received_ms"] = json!(received_ms);
    }
    out
}

/// [`overview`] with the text and the attachments.
pub fn whole(message: &Value) -> Value {
    let mut out = overview(message);
    let mut found = Found::default();
    collect(&message["payload"], &mut found);
    let text = match (found.plain, found.html) {
        (Some(plain), _) if !plain.trim().is_empty() => plain,
        (_, Some(html)) => html::to_text(&html),
        (plain, None) => plain.unwrap_or_default(),
    };
    let text = text.replace("\r\n", "\n");
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map(|(at, _)| at);
    out["text"] = json!(text[..end.unwrap_or(text.len())].trim_end());
    if end.is_some() {
        out["truncated"] = json!(true);
    }
    if !found.attachments.is_empty() {
        out["attachments"] = json!(found.attachments);
    }
    if let Some(object) = out.as_object_mut() {
        object.remove("snippet");
    }
    out
}

#[derive(Default)]
struct Found {
    plain: Option<String>,
    html: Option<String>,
    attachments: Vec<Value>,
}

/// Walks the parts: the first plain text and the first HTML are the message, named parts are
/// attachments. The API bounds how deep parts nest.
fn collect(part: &Value, found: &mut Found) {
    let media_type = part["mimeType"].as_str().unwrap_or_default();
    let name = part["filename"].as_str().unwrap_or_default();
    if !name.is_empty() {
        found.attachments.push(json!({
            "attachment_id": part["body"]["attachmentId"],
            "part_id": part["partId"],
            "name": decode(name),
            "media_type": media_type,
            "bytes": part["body"]["size"],
        }));
    } else if media_type == "text/plain" {
        append(&mut found.plain, body(part));
    } else if media_type == "text/html" && found.html.is_none() {
        found.html = body(part);
    }
    for part in part["parts"].as_array().into_iter().flatten() {
        collect(part, found);
    }
}

fn append(to: &mut Option<String>, text: Option<String>) {
    match (to.as_mut(), text) {
        (Some(all), Some(text)) => {
            all.push('\n');
            all.push_str(&text);
        }
        (None, text) => *to = text,
        _ => {}
    }
}

fn body(part: &Value) -> Option<String> {
    let bytes = bytes_of(part["body"]["data"].as_str()?)?;
    let content_type = header(part, "Content-Type").unwrap_or_default();
    let charset = content_type.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().to_owned())
    });
    Some(text_of(&bytes, charset.as_deref().unwrap_or("utf-8")))
}

/// The API's base64url, which may or may not be padded.
pub fn bytes_of(data: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(data.trim_end_matches('=')).ok()
}
