//! Names in addresses, written the one way that signatures are made of: everything but unreserved
//! characters is percent-encoded, and a space is `%20`.

use toolgate_sdk::prelude::*;

/// Percent-encodes; `slashes` stay where they part a key.
pub fn encode(text: &str, slashes: bool, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte as char);
            }
            b'/' if slashes => out.push('/'),
            _ => {
                out.push('%');
                out.push(HEX[usize::from(byte >> 4)] as char);
                out.push(HEX[usize::from(byte & 15)] as char);
            }
        }
    }
}

/// The path of a bucket. Names are those of DNS labels (docs: bucket naming rules).
pub fn bucket(name: &str) -> Result<String, ToolError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let fits = (3..=63).contains(&name.len())
        && name.chars().all(plain)
        && ends(name.chars().next())
        && ends(name.chars().last());
    if !fits || name.contains("..") {
        let text = "a bucket's name has 3 to 63 lower case letters, digits, `-` and `.`";
        return Err(ToolError::invalid("/bucket", text));
    }
    Ok(format!("/{name}"))
}

/// The path of an object. A segment that an address would fold is refused.
pub fn object(bucket_name: &str, key: &str, field: &str) -> Result<String, ToolError> {
    let mut out = bucket(bucket_name)?;
    let folded = key.split('/').any(|part| part == "." || part == "..");
    if key.is_empty() || key.len() > 1024 || folded {
        let text = "a key has 1 to 1024 bytes and no segment `.` or `..`";
        return Err(ToolError::invalid(format!("/{field}"), text));
    }
    out.push('/');
    encode(key, true, &mut out);
    Ok(out)
}

/// A path with a query; a value that is absent is left out.
pub fn with_query(mut path: String, query: &[(&str, Option<&str>)]) -> String {
    let mut mark = '?';
    for (key, value) in query {
        if let Some(value) = value {
            path.push(mark);
            path.push_str(key);
            path.push('=');
            encode(value, false, &mut path);
            mark = '&';
        }
    }
    path
}

/// Undoes the encoding of keys in listings (`encoding-type=url`).
pub fn decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let pair = (byte == b'%').then(|| bytes.clone().take(2).collect::<Vec<u8>>());
        let value = pair.and_then(|pair| {
            let digit = |at: usize| (*pair.get(at)? as char).to_digit(16);
            Some((digit(0)? * 16 + digit(1)?) as u8)
        });
        match value {
            Some(value) => {
                out.push(value);
                bytes.next();
                bytes.next();
            }
            None if byte == b'+' => out.push(b' '),
            None => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_signatures_need_them() {
        for (key, path) in [
            ("a/b.txt", "/pictures/a/b.txt"),
            (
                "a b+c@d:e,f$g!.txt",
                "/pictures/a%20b%2Bc%40d%3Ae%2Cf%24g%21.txt",
            ),
            ("grün/", "/pictures/gr%C3%BCn/"),
            ("100%", "/pictures/100%25"),
            ("...", "/pictures/..."),
        ] {
            assert_eq!(object("pictures", key, "key").as_deref(), Ok(path), "{key}");
        }
        for key in ["", "..", "a/../b", "./a"] {
            assert!(object("pictures", key, "key").is_err(), "{key}");
        }
        for name in ["ab", "Pictures", "a_b", "-ab", "a..b", "a/b", "192.168"] {
            assert_eq!(bucket(name).is_ok(), name == "192.168", "{name}");
        }
    }

    #[test]
    fn queries_are_encoded_and_keys_decoded() {
        let query = [
            ("list-type", Some("2")),
            ("prefix", Some("a b/")),
            ("delimiter", None),
        ];
        assert_eq!(
            with_query("/b".to_owned(), &query),
            "/b?list-type=2&prefix=a%20b%2F"
        );
        assert_eq!(decode("a+b%2Fgr%C3%BCn%"), "a b/grün%");
    }
}
