//! Messages as people read and write them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgate_sdk::Blob;
use toolgate_sdk::html::to_text;
use toolgate_sdk::prelude::*;

/// What an overview reads of a message.
pub const OVERVIEW: &str = "id,conversationId,subject,from,toRecipients,receivedDateTime,bodyPreview,\
                            isRead,isDraft,hasAttachments,importance,categories,flag";
/// Most bytes of all attachments that one request can carry (docs: attach large files).
const ATTACHMENTS_BYTES_MAX: u64 = 3 * 1024 * 1024;
/// Longest text of one message, in characters.
const TEXT_CHARS_MAX: usize = 40_000;

fn person(value: &Value) -> Option<String> {
    let address = value["emailAddress"]["address"].as_str()?;
    let name = value["emailAddress"]["name"].as_str().unwrap_or_default();
    Some(if name.is_empty() || name == address {
        address.to_owned()
    } else {
        format!("{name} <{address}>")
    })
}

fn people(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(person).collect()
}

/// Who, what and when, without the text.
pub fn overview(message: &Value) -> Value {
    let mut out = pick(
        message,
        &[
            "id",
            "thread=conversationId",
            "subject",
            "received=receivedDateTime",
            "preview=bodyPreview",
            "read=isRead",
            "draft=isDraft",
            "has_attachments=hasAttachments",
            "importance",
            "flag=flag/flagStatus",
        ],
    );
    if let Some(from) = person(&message["from"]) {
        out["from"] = json!(from);
    }
    for (key, list) in [
        ("to", "toRecipients"),
        ("cc", "ccRecipients"),
        ("reply_to", "replyTo"),
        ("categories", "categories"),
    ] {
        let all = match key {
            "categories" => message[list].as_array().cloned().unwrap_or_default(),
            _ => people(&message[list])
                .into_iter()
                .map(Value::from)
                .collect(),
        };
        if !all.is_empty() {
            out[key] = json!(all);
        }
    }
    out
}

/// [`overview`] with the text.
pub fn whole(message: &Value) -> Value {
    let mut out = overview(message);
    let body = &message["body"];
    let content = body["content"].as_str().unwrap_or_default();
    let text = if body["contentType"] == "html" {
        to_text(content)
    } else {
        content.replace("\r\n", "\n")
    };
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map(|(at, _)| at);
    out["text"] = json!(text[..end.unwrap_or(text.len())].trim_end());
    if end.is_some() {
        out["truncated"] = json!(true);
    }
    if let Some(members) = out.as_object_mut() {
        members.remove("preview");
    }
    out
}

/// `a@b.example` or `Name <a@b.example>`, each as a recipient.
pub fn recipients(all: &[String], field: &str) -> Result<Vec<Value>, ToolError> {
    let all = all.iter().enumerate().map(|(index, text)| {
        let text = text.trim();
        let (name, address) = match text
            .strip_suffix('>')
            .and_then(|text| text.rsplit_once('<'))
        {
            Some((name, address)) => (name.trim().trim_matches('"'), address),
            None => ("", text),
        };
        let plain = |c: char| c.is_ascii_graphic() && !"<>(),;:\\\"[]".contains(c);
        let parts = address.split_once('@');
        let fits = parts.is_some_and(|(local, domain)| {
            !local.is_empty() && !domain.is_empty() && !domain.contains('@')
        });
        if !fits || !address.chars().all(plain) {
            let text =
                format!("`{text}` is not a mail address: write a@b.example or Name <a@b.example>");
            return Err(ToolError::invalid(format!("/{field}/{index}"), text));
        }
        let mut address = json!({ "address": address });
        if !name.is_empty() {
            address["name"] = json!(name);
        }
        Ok(json!({ "emailAddress": address }))
    });
    all.collect()
}

/// A text or, where there is one, HTML as a body.
pub fn body(text: &str, html: Option<&str>) -> Value {
    match html {
        Some(html) => json!({ "contentType": "html", "content": html }),
        None => json!({ "contentType": "text", "content": text }),
    }
}

/// Files as attachments within a request.
pub fn attachments(references: &[String]) -> Result<Vec<Value>, ToolError> {
    let mut left = ATTACHMENTS_BYTES_MAX;
    let mut all = Vec::new();
    for reference in references {
        let file = Blob::open(reference)?;
        let bytes = file.read_all(left)?;
        left -= bytes.len() as u64;
        all.push(json!({
            "@odata.type": "#microsoft.graph.fileAttachment",
            "name": file.name().unwrap_or_else(|| "attachment".to_owned()),
            "contentType": file.media_type(),
            "contentBytes": STANDARD.encode(bytes),
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::recipients;
    use toolgate_sdk::json;

    #[test]
    fn recipients_are_told_apart_or_refused() {
        let read = |text: &str| recipients(&[text.to_owned()], "to");
        assert_eq!(
            read("Smith, J. <j@example.com>"),
            Ok(vec![
                json!({ "emailAddress": { "address": "j@example.com", "name": "Smith, J." } })
            ])
        );
        for text in [
            "nobody",
            "a@b@c.example",
            "a@example.com, b@example.com",
            "x <>",
            "",
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.field.as_deref(), Some("/to/0"), "{text}");
        }
    }
}
