//! Finds a text in files, dumps and logs of many megabytes.

/// The offset of the first `text` in `bytes`. Test builds optimize the crate `memchr`, but not `windows`, which is
/// slow there.
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
