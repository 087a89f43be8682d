//! File names from outside: one name, without a path and without hidden characters.

use crate::visible::is_hidden;

/// Longest name, in bytes: what common file systems take.
pub const FILE_NAME_BYTES_MAX: usize = 255;

/// The file name in a text from outside; `None` where nothing is left of it. Only the last part of a path counts.
/// Hidden characters, also those that change the direction of text, are left out.
pub fn safe(text: &str) -> Option<String> {
    let last = text
        .rsplit(['/', '\\'])
        .find(|part| !part.trim().is_empty())?;
    let seen: String = last
        .chars()
        .filter(|c| {
            !is_hidden(*c) && !matches!(c, ':' | '\u{2044}' | '\u{2215}' | '\u{ff0f}' | '\u{ff3c}')
        })
        .collect();
    // Windows removes dots and spaces at the end of a name; a name of dots is another folder.
    let name = seen.trim().trim_end_matches(['.', ' ']);
    (!name.is_empty() && name.bytes().any(|byte| byte != b'.')).then(|| shortened(name))
}

/// The name within its bound, with its extension where that is short.
fn shortened(name: &str) -> String {
    if name.len() <= FILE_NAME_BYTES_MAX {
        return name.to_owned();
    }
    let extension = name
        .rfind('.')
        .map(|at| &name[at..])
        .filter(|extension| extension.len() <= 16)
        .unwrap_or_default();
    let end = name.floor_char_boundary(FILE_NAME_BYTES_MAX - extension.len());
    format!("{}{extension}", &name[..end])
}

/// The name in a `Content-Disposition` (RFC 6266, with RFC 8187 for `filename*`), which counts more than `filename`.
pub fn from_disposition(header: &str) -> Option<String> {
    let parameters = parameters(header);
    let value = |wanted: &str| {
        let found = parameters
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    };
    value("filename*")
        .and_then(extended)
        .and_then(|name| safe(&name))
        .or_else(|| value("filename").and_then(|name| safe(&plain(name))))
}

/// The parameters of a `Content-Disposition` that name a file (RFC 6266, section 4.3): `filename*` only where the name
/// needs it.
pub fn disposition_parameters(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| match c {
            '"' | '\\' | '%' => '_',
            c if c.is_ascii_graphic() || c == ' ' => c,
            _ => '_',
        })
        .collect();
    if plain == name {
        return format!("filename=\"{plain}\"");
    }
    // attr-char of RFC 8187, section 3.2.1.
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte);
    let mut encoded = String::new();
    for byte in name.bytes() {
        match kept(byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

/// The parameters of a header behind its first word, quotes and escapes undone.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    while !rest.is_empty() {
        let (name, after) = match rest.split_once('=') {
            Some((name, after)) => (
                name.trim().trim_start_matches(';').trim(),
                after.trim_start(),
            ),
            None => break,
        };
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        found.push((name.to_owned(), value));
        rest = after.find(';').map_or("", |at| &after[at + 1..]);
    }
    found
}

/// A quoted string up to its end, and what comes after it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            // Windows paths are written with single backslashes; only these two are ever escaped.
            '\\' if text[at + 1..].starts_with(['"', '\\']) => {
                value.extend(chars.next().map(|(_, escaped)| escaped));
            }
            c => value.push(c),
        }
    }
    (value, "")
}

/// `UTF-8''r%C3%A9sum%C3%A9.pdf` (RFC 8187, section 3.2).
fn extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let bytes = percent_decoded(encoded);
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "" => String::from_utf8(bytes).ok(),
        "iso-8859-1" | "us-ascii" => Some(bytes.into_iter().map(char::from).collect()),
        _ => None,
    }
}

/// A plain `filename`: many servers percent-encode it (browsers undo that), some write UTF-8.
fn plain(value: &str) -> String {
    match value.contains('%') {
        true => decoded(value),
        false => value.to_owned(),
    }
}

/// Percent-encoding undone where that gives UTF-8; else the text as it is.
pub fn decoded(text: &str) -> String {
    String::from_utf8(percent_decoded(text)).unwrap_or_else(|_| text.to_owned())
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let digit = |byte: u8| char::from(byte).to_digit(16);
        match pair.and_then(|pair| Some(digit(pair[0])? * 16 + digit(pair[1])?)) {
            Some(byte) => {
                out.push(byte as u8);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_written_is_read_again() {
        for name in [
            "report 1.pdf",
            "r\u{e9}sum\u{e9} \"q\" 100%.pdf",
            "a;b'c.txt",
            "\u{30ec}\u{30dd}\u{30fc}\u{30c8}.txt",
        ] {
            let header = format!("attachment; {}", disposition_parameters(name));
            assert!(
                header.bytes().all(|byte| (0x20..0x7f).contains(&byte)),
                "{header}"
            );
            assert_eq!(from_disposition(&header).as_deref(), Some(name), "{header}");
        }
    }

    #[test]
    fn a_name_from_outside_is_one_visible_name() {
        for (text, expected) in [
            ("résumé \"q\".pdf", Some("résumé \"q\".pdf")),
            ("/etc/passwd", Some("passwd")),
            ("C:\\Users\\a\\report.doc", Some("report.doc")),
            ("../../x.txt", Some("x.txt")),
            ("dir/", Some("dir")),
            ("invoice\u{202e}fdp.exe", Some("invoicefdp.exe")),
            ("a\u{200b}\r\nb.txt\0", Some("ab.txt")),
            ("name.txt. . ", Some("name.txt")),
            ("レポート.txt", Some("レポート.txt")),
            (".gitignore", Some(".gitignore")),
            ("..", None),
            ("", None),
            (" / ", None),
            ("\u{202e}", None),
        ] {
            assert_eq!(safe(text).as_deref(), expected, "{text:?}");
        }
        let long = safe(&format!("{}.pdf", "ä".repeat(300))).expect("a name");
        assert!(
            long.len() <= FILE_NAME_BYTES_MAX && long.ends_with("ä.pdf"),
            "{long}"
        );
    }

    #[test]
    fn the_name_in_a_disposition_is_read_in_each_form() {
        for (header, expected) in [
            (
                "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf",
                Some("résumé.pdf"),
            ),
            // The examples of RFC 6266, section 5.
            ("Attachment; filename=example.html", Some("example.html")),
            (
                "INLINE; FILENAME= \"an example.html\"",
                Some("an example.html"),
            ),
            (
                "attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates",
                Some("€ rates"),
            ),
            (
                "attachment; filename*=utf-8'en'%e2%82%ac%20rates; filename=\"EURO rates\"",
                Some("€ rates"),
            ),
            (
                "attachment; filename*=iso-8859-1''caf%e9.txt",
                Some("café.txt"),
            ),
            // An extended value that cannot be read leaves the plain one.
            (
                "attachment; filename*=koi8-r''%f2; filename=\"plain.txt\"",
                Some("plain.txt"),
            ),
            ("attachment; filename=\"a;b=c.txt\"", Some("a;b=c.txt")),
            (
                "attachment; filename=\"q\\\"uote\\\".txt\"",
                Some("q\"uote\".txt"),
            ),
            ("attachment; filename=\"r%C3%A9.pdf\"", Some("ré.pdf")),
            ("attachment; filename=\"100%.pdf\"", Some("100%.pdf")),
            (
                "attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd",
                Some("passwd"),
            ),
            (
                "form-data; name=\"x\"; filename=\"C:\\temp\\a.txt\"",
                Some("a.txt"),
            ),
            ("attachment", None),
            ("attachment; filename=\"\"", None),
            ("attachment; filename*=UTF-8''%ff", None),
        ] {
            assert_eq!(from_disposition(header).as_deref(), expected, "{header}");
        }
    }
}
