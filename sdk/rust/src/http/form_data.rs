//! A form with one file in it (`multipart/form-data`, RFC 7578), which some services want for an upload.

/// The media type of the form, with its boundary, and the form itself.
pub fn with_file(field: &str, name: &str, media_type: &str, content: &[u8]) -> (String, Vec<u8>) {
    let mut boundary = "toolgate-form-boundary".to_owned();
    while content
        .windows(boundary.len())
        .any(|part| part == boundary.as_bytes())
    {
        boundary.push('x');
    }
    let head = format!(
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
