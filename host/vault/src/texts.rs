//! Texts at rest that are longer than a secret: what users and providers wrote, as boxes.
//!
//! The same format as [`super::sealed`], in a column that may also hold texts that an earlier version wrote in clear.
//! Only the first [`HEAD_CHARS`] of a box depend on the master key, so that a rotation reads and writes no content.

use super::Secret;
use super::master::{Vault, VaultError, named};
use super::sealed::{self, HEAD_CHARS, NONCE_BYTES, Parts, SealContext, SealError, TAG_BYTES};

/// Longest text.
pub const TEXT_BYTES_MAX: usize = 64 << 20;
/// A third more in base64, and the head.
const BOX_BYTES_MAX: usize = TEXT_BYTES_MAX / 3 * 4 + 1_024;

impl Vault {
    /// Seals a text of at most [`TEXT_BYTES_MAX`].
    pub fn seal_text(&self, place: &SealContext<'_>, text: &str) -> Result<String, VaultError> {
        let keys = self.current()?;
        let sealed = sealed::seal_within(&keys.current, place, text, TEXT_BYTES_MAX);
        Ok(sealed?)
    }

    /// The text of a box that was sealed for this place. `None`: the text is no box.
    pub fn unseal_text(
        &self,
        place: &SealContext<'_>,
        text: &str,
    ) -> Result<Option<Secret>, VaultError> {
        let Ok(parts) = Parts::parse_within(text, BOX_BYTES_MAX, NONCE_BYTES + TAG_BYTES) else {
            return Ok(None);
        };
        let keys = self.keys_with(&parts.key_id)?;
        let key = named(&keys, &parts)?;
        Ok(Some(parts.open(key, place)?))
    }

    /// The same beginning of a box under the current key; `None` when it is already, or is not of a box.
    pub fn rewrap_head(
        &self,
        place: &SealContext<'_>,
        head: &str,
    ) -> Result<Option<String>, VaultError> {
        let Ok(parts) = Parts::parse_head(head) else {
            return Ok(None);
        };
        let current = self.current()?;
        if parts.key_id == current.current.id() {
            return Ok(None);
        }
        let keys = self.keys_with(&parts.key_id)?;
        let from = named(&keys, &parts)?;
        let moved = parts.rewrap(from, &current.current, place)?;
        if moved.len() != HEAD_CHARS {
            return Err(VaultError::Sealed(SealError::Format));
        }
        Ok(Some(moved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: SealContext<'static> = SealContext {
        kind: "answer",
        workspace_id: "ws_1",
        user_id: "",
        service: "",
        id: "one",
    };

    fn vault() -> (tempfile::TempDir, Vault) {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(&dir.path().join("master.key")).unwrap();
        (dir, vault)
    }

    #[test]
    fn a_long_text_opens_in_its_own_place_only() {
        let (_dir, vault) = vault();
        let long = "ä\u{1f980}".repeat(200_000);
        for text in ["", "{}", &long] {
            let sealed = vault.seal_text(&HOME, text).unwrap();
            let opened = vault.unseal_text(&HOME, &sealed).unwrap().unwrap();
            assert_eq!(opened.expose(), text);
            for other in [
                SealContext { id: "two", ..HOME },
                SealContext {
                    kind: "receipt",
                    ..HOME
                },
                SealContext {
                    workspace_id: "ws_2",
                    ..HOME
                },
            ] {
                assert!(vault.unseal_text(&other, &sealed).is_err(), "{other:?}");
            }
        }
    }

    #[test]
    fn a_text_that_is_no_box_is_told_from_a_box_that_was_altered() {
        let (_dir, vault) = vault();
        for clear in [
            "",
            "{}",
            "tg1.",
            "tg1.a.b",
            "tg1. is what a box begins with",
        ] {
            assert_eq!(vault.unseal_text(&HOME, clear).unwrap(), None, "{clear}");
            assert_eq!(vault.rewrap_head(&HOME, clear).unwrap(), None, "{clear}");
        }
        let mut sealed = vault.seal_text(&HOME, "words").unwrap();
        let last = if sealed.ends_with('A') { 'B' } else { 'A' };
        sealed.replace_range(sealed.len() - 4..sealed.len() - 3, &last.to_string());
        assert!(vault.unseal_text(&HOME, &sealed).is_err());
    }

    #[test]
    fn a_new_head_before_the_old_content_opens_under_the_new_key() {
        let (_dir, vault) = vault();
        let sealed = vault.seal_text(&HOME, "words").unwrap();
        let (head, content) = sealed.split_at(HEAD_CHARS);
        assert_eq!(vault.rewrap_head(&HOME, head).unwrap(), None);
        let key_id = vault.rotate_key().unwrap();
        let moved = vault.rewrap_head(&HOME, head).unwrap().unwrap();
        assert!(moved.contains(&key_id), "{moved}");
        let whole = format!("{moved}{content}");
        let opened = vault.unseal_text(&HOME, &whole).unwrap().unwrap();
        assert_eq!(opened.expose(), "words");
        let elsewhere = SealContext { id: "two", ..HOME };
        assert!(vault.rewrap_head(&elsewhere, head).is_err());
    }
}
