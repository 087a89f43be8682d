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
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\n\
         Content-Type: {}\r\n\r\n",
        quoted(field),
        quoted(name),
        quoted(media_type),
    );
    let mut form = head.into_bytes();
    form.extend_from_slice(content);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), form)
}

/// Without what would end the quoted text or the header.
fn quoted(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() && *c != '"' && *c != '\\')
        .collect()
}

#[cfg(test)]
mod tests {
    use super::with_file;

    #[test]
    fn a_name_cannot_leave_its_header() {
        let (_, form) = with_file("file", "a\"\r\nX: y.txt", "text/plain", b"hello");
        let text = String::from_utf8(form).expect("all of it is text");
        assert!(text.contains("filename=\"aX: y.txt\"\r\n"), "{text}");
        assert!(text.contains("\r\n\r\nhello\r\n--"), "{text}");
    }

    #[test]
    fn content_cannot_end_the_form() {
        let (media_type, form) =
            with_file("file", "a", "text/plain", b"--toolgate-form-boundary--");
        assert!(media_type.ends_with("boundaryx"), "{media_type}");
        assert!(form.ends_with(b"\r\n--toolgate-form-boundaryx--\r\n"));
    }
}
