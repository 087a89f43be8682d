//! Which texts may stand for an identifier at this edge.
//!
//! Whether anything goes by the name is the gateway's to say; here only what could never be one
//! is refused: empty, endless, or with a control character that would end up in logs and queries.

use super::envelope::ApiFailure;

/// No identifier of the contract is longer.
pub const ID_CHARS_MAX: usize = 256;

/// What [`check`] takes, as the pattern of a JSON Schema; the length apart.
pub const PATTERN: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";

pub(super) const CONTROL_CHARACTERS: &str = "control characters are not allowed";

/// Refuses `text` as the value of `field`.
pub fn check(field: &str, text: &str) -> Result<(), ApiFailure> {
    fault(text).map_or(Ok(()), |fault| Err(ApiFailure::field(field, fault)))
}

/// Why `text` can be no identifier.
pub(super) fn fault(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if text.chars().count() > ID_CHARS_MAX {
        return Some(format!("is longer than {ID_CHARS_MAX} characters"));
    }
    let control = text.chars().any(char::is_control);
    control.then(|| CONTROL_CHARACTERS.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_never_be_an_id_is_refused() {
        for good in [
            "github_get_me",
            "exe_01",
            "ada@example.com",
            &"ä".repeat(ID_CHARS_MAX),
        ] {
            assert!(check("id", good).is_ok(), "{good:?}");
        }
        for bad in [
            "",
            "a\0b",
            "a\nb",
            "\u{7f}",
            "\u{85}",
            &"x".repeat(ID_CHARS_MAX + 1),
        ] {
            assert_eq!(
                check("id", bad).unwrap_err().code(),
                "invalid_request",
                "{bad:?}"
            );
        }
    }
}
