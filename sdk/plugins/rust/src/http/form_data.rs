//! A form with one file in it (`multipart/form-data`, RFC 7578), which some services want for an upload.

use std::fmt::Write as _;

/// The media type of the form, with its boundary, and the form itself.
pub fn with_file(field: &str, name: &str, media_type: &str, content: &[u8]) -> (String, Vec<u8>) {
    with_fields(&[], field, name, media_type, content)
}

/// [`with_file`] after fields of text.
pub fn with_fields(
    fields: &[(&str, &str)],
    field: &str,
    name: &str,
    media_type: &str,
    content: &[u8],
) -> (String, Vec<u8>) {
    let mut boundary = "toolgate-form-boundary".to_owned();
    let within = |part: &[u8], boundary: &str| {
        part.windows(boundary.len())
            .any(|part| part == boundary.as_bytes())
    };
    while within(content, &boundary)
        || fields
            .iter()
            .any(|(_, text)| within(text.as_bytes(), &boundary))
    {
        boundary.push('x');
    }
    let mut head = String::new();
    for (name, text) in fields {
        let _ = write!(
            head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{text}\r\n",
            quoted(name),
        );
    }
    let _ = write!(
        head,
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"{}\r\nContent-Type: {}\r\n\r\n",
        quoted(field),
        file_name(name),
        one_line(media_type),
    );
    let mut form = head.into_bytes();
    form.extend_from_slice(content);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), form)
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
        written.push_str("; filename*=UTF-8''");
        extended(name, &mut written);
    }
    written
}

/// Percent-encodes what is no unreserved character; those are all in `attr-char` (RFC 8187, section 3.2.1).
fn extended(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// A text inside quotes of a part's head: what would end it is percent-encoded, as browsers do (RFC 7578, section 2).
/// Control characters that they would send as they are have no place in a header.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            '"' => out.push_str("%22"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// A header's value without what would end it.
fn one_line(value: &str) -> String {
    value.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::{with_fields, with_file};

    fn form_of(name: &str) -> String {
        let (_, form) = with_file("file", name, "text/plain", b"hello");
        String::from_utf8(form).expect("all of it is text")
    }

    #[test]
    fn a_name_cannot_leave_its_header() {
        let text = form_of("a\"\r\nX: y.txt");
        assert!(
            text.contains(
                "filename=\"a%22%0D%0AX: y.txt\"; filename*=UTF-8''a%22%0D%0AX%3A%20y.txt\r\n\
                 Content-Type: text/plain\r\n\r\nhello\r\n--"
            ),
            "{text}"
        );
        let (_, form) = with_fields(&[("a\"\r\nb", "c")], "f\"", "n", "text/plain\r\nX: y", b"");
        let text = String::from_utf8(form).expect("all of it is text");
        assert!(text.contains("name=\"a%22%0D%0Ab\"\r\n\r\nc\r\n"), "{text}");
        assert!(text.contains("name=\"f%22\"; filename=\"n\"\r\n"), "{text}");
        assert!(
            text.contains("Content-Type: text/plainX: y\r\n\r\n"),
            "{text}"
        );
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
            let text = form_of(name);
            let head = format!("form-data; name=\"file\"{written}\r\nContent-Type: text/plain\r\n");
            assert!(text.contains(&head), "{name}: {text}");
        }
    }

    #[test]
    fn content_cannot_end_the_form() {
        let (media_type, form) =
            with_file("file", "a", "text/plain", b"--toolgate-form-boundary--");
        assert!(media_type.ends_with("boundaryx"), "{media_type}");
        assert!(form.ends_with(b"\r\n--toolgate-form-boundaryx--\r\n"));
    }
}
