//! `multipart/form-data` (RFC 7578): the parts of a form, and how they are written.

use serde_json::Value;
use toolgate_openapi_table::{Field, Source};

use super::form::{bracketed, joined};
use crate::encode;
use crate::failure::Fault;

/// One part of `multipart/form-data` (RFC 7578).
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub media_type: Option<String>,
    pub content: PartContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    Text(String),
    File(String),
}

/// A file that was opened for a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    pub name: Option<String>,
    pub media_type: String,
    pub data: Vec<u8>,
}

/// The parts of a form's fields, in their order.
pub(super) fn parts(
    filled: &[(&Field, &Value)],
    page: Option<(&[String], Value)>,
) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    for (field, value) in filled {
        let name = bracketed(&field.path);
        if let Some(text) = joined(field, value).filter(|_| !field.file) {
            parts.push(Part {
                name,
                media_type: field.media_type.clone(),
                content: PartContent::Text(text),
            });
            continue;
        }
        let values: Vec<&Value> = match value {
            Value::Array(items)
                if field.file || items.iter().all(|i| !i.is_object() && !i.is_array()) =>
            {
                items.iter().collect()
            }
            other => vec![other],
        };
        for value in values {
            let content = match value {
                Value::String(reference) if field.file => PartContent::File(reference.clone()),
                _ if field.file => {
                    let argument = match &field.source {
                        Source::Argument(name) => name.as_str(),
                        Source::Constant(_) => "",
                    };
                    return Err(Fault::argument(argument, "must be a file reference"));
                }
                other => PartContent::Text(encode::scalar(other)),
            };
            let json = value.is_object() || value.is_array();
            let media_type = field
                .media_type
                .clone()
                .or_else(|| json.then(|| "application/json".to_owned()));
            parts.push(Part {
                name: name.clone(),
                media_type,
                content,
            });
        }
    }
    if let Some((path, value)) = page {
        parts.push(Part {
            name: bracketed(path),
            media_type: None,
            content: PartContent::Text(encode::scalar(&value)),
        });
    }
    Ok(parts)
}

/// Writes a multipart body; `files` in the order of the parts that are files.
pub fn write(parts: &[Part], files: Vec<OpenFile>, boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut files = files.into_iter();
    for part in parts {
        let name = quoted(&part.name);
        let head = |file: Option<&str>, media_type: Option<&str>| {
            let file = file.map(file_name).unwrap_or_default();
            let media_type = media_type
                .map(|m| format!("Content-Type: {}\r\n", quoted(m)))
                .unwrap_or_default();
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n{media_type}\r\n"
            )
        };
        match &part.content {
            PartContent::Text(text) => {
                out.extend(head(None, part.media_type.as_deref()).into_bytes());
                out.extend(text.as_bytes());
            }
            PartContent::File(_) => {
                let file = files.next().unwrap_or(OpenFile {
                    name: None,
                    media_type: "application/octet-stream".to_owned(),
                    data: Vec::new(),
                });
                let media_type = part.media_type.as_deref().unwrap_or(&file.media_type);
                out.extend(
                    head(
                        Some(file.name.as_deref().unwrap_or("file")),
                        Some(media_type),
                    )
                    .into_bytes(),
                );
                out.extend(&file.data);
            }
        }
        out.extend(b"\r\n");
    }
    out.extend(format!("--{boundary}--\r\n").into_bytes());
    out
}

/// The parameters of a file's name. `filename` is UTF-8 in quotes as browsers write it. RFC 7578, section 4.2, has no
/// `filename*` here; for a name that `filename` cannot express exactly it is sent too, as older clients do: some services
/// read only one of the two, and those that read both prefer the exact one.
fn file_name(name: &str) -> String {
    let plain = name
        .bytes()
        .all(|byte| (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\' | b'%'));
    let mut written = format!("; filename=\"{}\"", quoted(name));
    if !plain {
        // RFC 8187, section 3.2.1: what is no `attr-char` is percent-encoded; unreserved characters are all of them.
        let exact = encode::percent(name, false);
        written.push_str(&format!("; filename*=UTF-8''{exact}"));
    }
    written
}

/// A text inside quotes of a part's head (RFC 7578, section 2: percent-encoding as browsers do).
fn quoted(text: &str) -> String {
    text.replace('\r', "%0D")
        .replace('\n', "%0A")
        .replace('"', "%22")
}

/// A boundary that occurs in none of the contents: a fold of them, so that equal bodies are equal.
pub fn boundary(parts: &[Part], files: &[OpenFile]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for part in parts {
        eat(part.name.as_bytes());
        if let PartContent::Text(text) = &part.content {
            eat(text.as_bytes());
        }
    }
    for file in files {
        eat(&file.data);
    }
    loop {
        let boundary = format!("----toolgate{hash:016x}");
        let needle = boundary.as_bytes();
        let inside = |hay: &[u8]| hay.windows(needle.len()).any(|window| window == needle);
        let taken = files.iter().any(|file| inside(&file.data))
            || parts.iter().any(
                |part| matches!(&part.content, PartContent::Text(text) if inside(text.as_bytes())),
            );
        if !taken {
            return boundary;
        }
        hash = hash.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_openapi_table::{Encoding, Field};

    use super::{OpenFile, PartContent, boundary, write};
    use crate::body::sample::{body, field, object};
    use crate::body::{Payload, build};

    #[test]
    fn multipart_sends_files_with_their_names_and_nothing_can_forge_a_part() {
        let form = body(
            Encoding::Multipart,
            vec![
                field(&["title"], "title"),
                Field {
                    file: true,
                    ..field(&["file"], "file")
                },
            ],
        );
        let arguments = object(json!({"title": "a", "file": "blob:1"}));
        let Payload::Multipart(parts) = build(&form, &arguments, None).expect("a payload").0 else {
            panic!("not multipart");
        };
        let file = OpenFile {
            name: Some("x\".txt\r\n".into()),
            media_type: "text/plain".into(),
            data: b"hi".to_vec(),
        };
        let mark = boundary(&parts, std::slice::from_ref(&file));
        let text = String::from_utf8(write(&parts, vec![file], &mark)).expect("UTF-8");
        assert_eq!(
            text,
            format!(
                "--{mark}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n\
                 --{mark}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x%22.txt%0D%0A\"; \
                 filename*=UTF-8''x%22.txt%0D%0A\r\n\
                 Content-Type: text/plain\r\n\r\nhi\r\n--{mark}--\r\n"
            )
        );
        let refused = build(&form, &object(json!({"file": 7})), None).expect_err("not a reference");
        assert_eq!(refused.field.as_deref(), Some("/file"));
    }

    #[test]
    fn a_file_keeps_its_name_whatever_its_letters() {
        for (name, written) in [
            ("a b.pdf", r#"; filename="a b.pdf""#),
            (
                "résumé \"q\".pdf",
                "; filename=\"résumé %22q%22.pdf\"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%22q%22.pdf",
            ),
            (
                "レポート.txt",
                "; filename=\"レポート.txt\"; filename*=UTF-8''%E3%83%AC%E3%83%9D%E3%83%BC%E3%83%88.txt",
            ),
            (
                "100%.txt",
                "; filename=\"100%.txt\"; filename*=UTF-8''100%25.txt",
            ),
            (
                "back\\slash.txt",
                "; filename=\"back\\slash.txt\"; filename*=UTF-8''back%5Cslash.txt",
            ),
        ] {
            assert_eq!(super::file_name(name), written, "{name}");
        }
    }

    #[test]
    fn a_joined_list_is_one_part_and_the_page_is_one_more() {
        let form = body(
            Encoding::Multipart,
            vec![
                Field {
                    joined: Some('|'),
                    ..field(&["tags"], "tags")
                },
                field(&["to"], "to"),
            ],
        );
        let arguments = object(json!({"tags": ["a", "b"], "to": ["c", "d"]}));
        let page = Some((&["page".to_owned()][..], json!(2)));
        let Payload::Multipart(parts) = build(&form, &arguments, page).expect("a payload").0 else {
            panic!("not multipart");
        };
        let sent: Vec<(&str, &PartContent)> = parts
            .iter()
            .map(|part| (part.name.as_str(), &part.content))
            .collect();
        let text = |text: &str| PartContent::Text(text.to_owned());
        assert_eq!(
            sent,
            [
                ("tags", &text("a|b")),
                ("to", &text("c")),
                ("to", &text("d")),
                ("page", &text("2"))
            ]
        );
    }
}
