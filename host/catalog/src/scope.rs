//! OAuth scopes as a manifest, an operator, a link and a token answer name them.

/// The longest scope that is accepted anywhere.
pub const SCOPE_BYTES_MAX: usize = 300;

/// Whether `text` is one scope token (RFC 6749, section 3.3): printable ASCII without spaces, `"` and `\`.
pub fn is_scope(text: &str) -> bool {
    (1..=SCOPE_BYTES_MAX).contains(&text.len())
        && text
            .bytes()
            .all(|byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_one_token_of_the_standard() {
        let longest = "x".repeat(SCOPE_BYTES_MAX);
        for good in [
            "repo",
            "https://www.example.com/auth/files:read",
            "a!#[]~",
            &longest,
        ] {
            assert!(is_scope(good), "{good}");
        }
        let longer = "x".repeat(SCOPE_BYTES_MAX + 1);
        for bad in ["", "a b", "a\"b", "a\\b", "\u{e9}", "a\n", &longer] {
            assert!(!is_scope(bad), "{bad}");
        }
    }
}
