//! Writing a message: headers (RFC 5322), encoded words (RFC 2047), bodies and attachments (RFC 2045
//! and 2046).
//!
//! Nothing that the caller gives can start a header of its own: line breaks are refused.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use toolgate_sdk::ToolError;

use crate::words;

/// Longest line of an encoded body (RFC 2045, section 6.8).
const LINE_CHARS: usize = 76;

/// A message to be written.
#[derive(Debug, Default)]
pub struct Mail {
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    pub subject: String,
    pub text: String,
    pub html: Option<String>,
    /// `In-Reply-To` and `References` of an answer.
    pub in_reply_to: Option<String>,
    pub references: Option<String>,
    pub attachments: Vec<Attachment>,
}

#[derive(Debug)]
pub struct Attachment {
    pub name: String,
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// The message as the Gmail API takes it, base64url. `boundary` must not occur in any body; random
/// bytes do.
pub fn raw(mail: &Mail, boundary: &str) -> Result<String, ToolError> {
    Ok(URL_SAFE_NO_PAD.encode(write(mail, boundary)?))
}

/// The message as text.
pub fn write(mail: &Mail, boundary: &str) -> Result<String, ToolError> {
    if mail.to.is_empty() && mail.cc.is_empty() && mail.bcc.is_empty() {
        return Err(ToolError::invalid("/to", "a message needs a recipient"));
    }
    let mut out = String::new();
    for (name, field, all) in [
        ("To", "to", &mail.to),
        ("Cc", "cc", &mail.cc),
        ("Bcc", "bcc", &mail.bcc),
    ] {
        if !all.is_empty() {
            let written: Result<Vec<String>, ToolError> = all
                .iter()
                .enumerate()
                .map(|(i, one)| address(one, &format!("/{field}/{i}")))
                .collect();
            out.push_str(&format!("{name}: {}\r\n", written?.join(",\r\n ")));
        }
    }
    single_line(&mail.subject, "/subject")?;
    out.push_str(&format!("Subject: {}\r\n", words::encode(&mail.subject)));
    for (name, value) in [
        ("In-Reply-To", &mail.in_reply_to),
        ("References", &mail.references),
    ] {
        if let Some(value) = value {
            let ids: Vec<&str> = value
                .split_whitespace()
                .filter(|id| id.is_ascii())
                .collect();
            out.push_str(&format!("{name}: {}\r\n", ids.join("\r\n ")));
        }
    }
    out.push_str("MIME-Version: 1.0\r\n");
    if mail.attachments.is_empty() {
        write_body(mail, boundary, &mut out);
        return Ok(out);
    }
    let outer = format!("{boundary}-mixed");
    out.push_str(&format!(
        "Content-Type: multipart/mixed; boundary=\"{outer}\"\r\n\r\n"
    ));
    out.push_str(&format!("--{outer}\r\n"));
    write_body(mail, boundary, &mut out);
    for attachment in &mail.attachments {
        single_line(&attachment.name, "/attachments")?;
        single_line(&attachment.media_type, "/attachments")?;
        let name = words::encode(&attachment.name.replace(['"', '\\'], "_"));
        out.push_str(&format!(
            "--{outer}\r\nContent-Type: {}; name=\"{name}\"\r\nContent-Disposition: attachment; \
             filename=\"{name}\"\r\nContent-Transfer-Encoding: base64\r\n\r\n",
            attachment.media_type
        ));
        push_base64(&attachment.bytes, &mut out);
    }
    out.push_str(&format!("--{outer}--\r\n"));
    Ok(out)
}

fn write_body(mail: &Mail, boundary: &str, out: &mut String) {
    let Some(html) = &mail.html else {
        return push_text("text/plain", &mail.text, out);
    };
    let inner = format!("{boundary}-alternative");
    out.push_str(&format!(
        "Content-Type: multipart/alternative; boundary=\"{inner}\"\r\n\r\n"
    ));
    for (media_type, text) in [("text/plain", &mail.text), ("text/html", html)] {
        out.push_str(&format!("--{inner}\r\n"));
        push_text(media_type, text, out);
    }
    out.push_str(&format!("--{inner}--\r\n"));
}

fn push_text(media_type: &str, text: &str, out: &mut String) {
    out.push_str(&format!(
        "Content-Type: {media_type}; charset=\"utf-8\"\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    ));
    let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    push_base64(text.as_bytes(), out);
}

fn push_base64(bytes: &[u8], out: &mut String) {
    let encoded = STANDARD.encode(bytes);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE_CHARS));
        out.push_str(line);
        out.push_str("\r\n");
        rest = after;
    }
}

/// `a@b.example` or `Name <a@b.example>` as a header takes it.
fn address(text: &str, field: &str) -> Result<String, ToolError> {
    single_line(text, field)?;
    let text = text.trim();
    let (name, address) = match text
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once('<'))
    {
        Some((name, address)) => (name.trim().trim_matches('"'), address),
        None => ("", text),
    };
    let plain = |c: char| c.is_ascii_graphic() && !"<>(),;:\\\"[]".contains(c);
    let valid = address.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty() && !domain.is_empty() && !domain.contains('@')
    });
    if !valid || !address.chars().all(plain) {
        let message =
            format!("`{text}` is not a mail address: write a@b.example or Name <a@b.example>");
        return Err(ToolError::invalid(field, message));
    }
    if name.is_empty() {
        return Ok(address.to_owned());
    }
    let encoded = words::encode(name);
    let name = if encoded == name {
        format!("\"{}\"", name.replace(['"', '\\'], ""))
    } else {
        encoded
    };
    Ok(format!("{name} <{address}>"))
}

fn single_line(text: &str, field: &str) -> Result<(), ToolError> {
    if text.contains(['\r', '\n', '\0']) {
        return Err(ToolError::invalid(
            field,
            "a line break is not allowed here",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail() -> Mail {
        Mail {
            to: vec!["mona@example.com".to_owned()],
            subject: "Hello".to_owned(),
            text: "Hi\nthere".to_owned(),
            ..Mail::default()
        }
    }

    #[test]
    fn a_plain_message_is_written() {
        assert_eq!(
            write(&mail(), "b").expect("valid"),
            "To: mona@example.com\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n\
             Content-Type: text/plain; charset=\"utf-8\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\
             SGkNCnRoZXJl\r\n"
        );
    }

    #[test]
    fn names_and_subjects_are_encoded() {
        let mail = Mail {
            to: vec![
                "Möna <mona@example.com>".to_owned(),
                "Smith, J. <j@example.com>".to_owned(),
            ],
            subject: "Grüße".to_owned(),
            ..mail()
        };
        let written = write(&mail, "b").expect("valid");
        assert!(
            written.starts_with(
                "To: =?UTF-8?B?TcO2bmE=?= <mona@example.com>,\r\n \"Smith, J.\" <j@example.com>\r\n\
             Subject: =?UTF-8?B?R3LDvMOfZQ==?=\r\n"
            ),
            "{written}"
        );
    }

    #[test]
    fn html_and_attachments_become_parts() {
        let mail = Mail {
            html: Some("<b>Hi</b>".to_owned()),
            attachments: vec![Attachment {
                name: "a\"b.txt".to_owned(),
                media_type: "text/plain".to_owned(),
                bytes: vec![b'x'; 100],
            }],
            ..mail()
        };
        let written = write(&mail, "b").expect("valid");
        for part in [
            "multipart/mixed; boundary=\"b-mixed\"",
            "multipart/alternative; boundary=\"b-alternative\"",
            "--b-alternative\r\nContent-Type: text/html",
            "--b-alternative--\r\n--b-mixed\r\nContent-Type: text/plain; name=\"a_b.txt\"",
            "--b-mixed--\r\n",
        ] {
            assert!(written.contains(part), "{part}\n{written}");
        }
        assert!(written.lines().all(|line| line.len() <= 100));
    }

    #[test]
    fn a_header_cannot_be_smuggled_in() {
        for (change, field) in [
            (
                Mail {
                    subject: "a\r\nBcc: x@example.com".to_owned(),
                    ..mail()
                },
                "/subject",
            ),
            (
                Mail {
                    to: vec!["a@example.com\nBcc: x@example.com".to_owned()],
                    ..mail()
                },
                "/to/0",
            ),
            (
                Mail {
                    to: vec!["a@example.com, b@example.com".to_owned()],
                    ..mail()
                },
                "/to/0",
            ),
            (
                Mail {
                    to: vec!["nobody".to_owned()],
                    ..mail()
                },
                "/to/0",
            ),
            (
                Mail {
                    cc: vec!["x <>".to_owned()],
                    ..mail()
                },
                "/cc/0",
            ),
            (
                Mail {
                    to: Vec::new(),
                    ..mail()
                },
                "/to",
            ),
        ] {
            let error = write(&change, "b").expect_err("refused");
            assert_eq!(error.field.as_deref(), Some(field), "{change:?}");
        }
    }
}
