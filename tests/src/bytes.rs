//! Search for a text in files, dumps and logs of many megabytes.

/// Where `text` first begins. `memchr` is built with optimization, test programs are not: `windows` is slow in them,
/// and dozens of secrets are looked for.
pub fn position(bytes: &[u8], text: &str) -> Option<usize> {
    memchr::memmem::find(bytes, text.as_bytes())
}

pub fn contains(bytes: &[u8], text: &str) -> bool {
    position(bytes, text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_where_it_first_begins() {
        assert_eq!(position(b"a key, a key", "key"), Some(2));
        assert!(contains(b"\xff\x00key", "key"));
        assert!(!contains(b"a ke y", "key"));
        assert!(!contains(b"", "key"));
    }
}
