//! Results that do not fit the answer: fields picked out of them, and the rest kept for an hour.
//!
//! A result is never cut silently. Beyond `max_result_bytes` the answer holds its first bytes as
//! text, its size and a `result_id`, and [`Gateway::stored_result`] reads on from there.

mod picked;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use picked::picked;
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::{self, UserId};

/// How long a result is kept.
pub const KEPT_MS: i64 = 60 * 60 * 1_000;
pub const FIELDS_MAX: usize = 100;
pub const POINTER_CHARS_MAX: usize = 500;
/// Least `max_result_bytes` and `max_result_chars`.
pub const BUDGET_BYTES_MIN: usize = 256;
/// Bytes of one piece.
pub const PIECE_BYTES_MAX: usize = 1 << 20;
/// The longest UTF-8 character, and so the least piece that is sure to hold one.
pub const PIECE_BYTES_MIN: usize = 4;

/// How much of a result the caller wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub bytes_max: Option<usize>,
    /// Characters of the result's text that the answer may hold.
    pub chars_max: Option<usize>,
    /// JSON Pointers (RFC 6901) of the parts to answer; all if empty.
    pub fields: Vec<String>,
}

impl Budget {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.bytes_max.is_some_and(|bytes| bytes < BUDGET_BYTES_MIN) {
            return Err(Error::InvalidRequest(format!(
                "max_result_bytes must be at least {BUDGET_BYTES_MIN}"
            )));
        }
        if self.chars_max.is_some_and(|chars| chars < BUDGET_BYTES_MIN) {
            return Err(Error::InvalidRequest(format!(
                "max_result_chars must be at least {BUDGET_BYTES_MIN}"
            )));
        }
        if self.fields.len() > FIELDS_MAX {
            return Err(Error::InvalidRequest(format!(
                "fields holds at most {FIELDS_MAX} JSON Pointers"
            )));
        }
        for pointer in &self.fields {
            let sound = pointer.starts_with('/') && pointer.chars().count() <= POINTER_CHARS_MAX;
            if !sound {
                return Err(Error::InvalidRequest(format!(
                    "fields holds JSON Pointers that begin with / and have at most \
                     {POINTER_CHARS_MAX} characters"
                )));
            }
        }
        Ok(())
    }
}

/// Where the rest of a result is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Truncated {
    /// Of `GET /v1/results/{result_id}`.
    #[schema(example = "res_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub result_id: String,
    /// Size of the whole result as compact JSON.
    pub bytes_total: usize,
    /// How many of them `result` holds, as text: read on from here.
    pub bytes_shown: usize,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// One piece of a kept result. `GET /v1/results/{result_id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StoredResult {
    pub result_id: String,
    pub execution_id: String,
    /// A piece of the result's JSON text.
    pub content: String,
    pub offset: usize,
    pub bytes_total: usize,
    /// Where the next piece begins; `null` after the last one.
    pub next_offset: Option<usize>,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// The longest beginning of `text` within both bounds.
fn head<'a>(text: &'a str, budget: &Budget) -> &'a str {
    let bytes_max = budget.bytes_max.unwrap_or(usize::MAX).min(text.len());
    let head = &text[..text.floor_char_boundary(bytes_max)];
    match budget.chars_max {
        // No text has more characters than bytes.
        Some(chars_max) if head.len() > chars_max => {
            let cut = head.char_indices().nth(chars_max);
            cut.map_or(head, |(end, _)| &head[..end])
        }
        _ => head,
    }
}

impl Gateway {
    /// Fits a result into its budget; what does not fit is kept.
    pub(crate) async fn fit_result(
        &self,
        caller: &Caller,
        user: &UserId,
        execution_id: &str,
        result: Arc<RawValue>,
        budget: &Budget,
    ) -> Result<(Arc<RawValue>, Option<Truncated>), Error> {
        let result: Arc<RawValue> = if budget.fields.is_empty() {
            result
        } else {
            picked(&result, &budget.fields)?.into()
        };
        let text = result.get();
        let shown = head(text, budget);
        if shown.len() == text.len() {
            return Ok((result, None));
        }
        let result_id = ids::ulid("res");
        let expires_at_ms = self.clock.now_ms() + KEPT_MS;
        let ids = (&*result_id, execution_id);
        self.put_result(caller, ids, user, text, expires_at_ms)
            .await?;
        self.kept_result(caller, text.len()).await?;
        let truncated = Truncated {
            result_id,
            bytes_total: text.len(),
            bytes_shown: shown.len(),
            expires_at: rfc3339(expires_at_ms),
        };
        let shown = serde_json::value::to_raw_value(shown)
            .map_err(|cause| Error::Internal(cause.into()))?;
        Ok((shown.into(), Some(truncated)))
    }

    /// A piece of a kept result: at most `limit` bytes of its text from `offset`.
    ///
    /// # Errors
    /// `not_found` for an unknown or expired one, and for one of a user whom the caller may not act
    /// for; `permission_denied` and `tool_not_found` where the user could not run the tool now with
    /// that connection; `invalid_request` for an offset inside a character or past the end.
    pub async fn stored_result(
        &self,
        caller: &Caller,
        result_id: &str,
        offset: usize,
        limit: usize,
    ) -> Result<StoredResult, Error> {
        caller.need(Scope::ToolsExecute)?;
        let (piece, user) = self.piece(caller, result_id, offset, limit).await?;
        self.check_result_access(caller, &user, &piece.execution_id, None)
            .await?;
        let read = [(result_id, user.as_str())];
        self.record_reading(caller, AuditAction::ResultsRead, &read)
            .await?;
        Ok(piece)
    }

    /// The piece, and for whom the tool ran.
    async fn piece(
        &self,
        caller: &Caller,
        result_id: &str,
        offset: usize,
        limit: usize,
    ) -> Result<(StoredResult, UserId), Error> {
        let bad_offset =
            || Error::InvalidRequest("offset must be 0 or the next_offset of a piece".to_owned());
        let limit = limit.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX);
        u32::try_from(offset).map_err(|_| bad_offset())?;
        let unknown = || {
            Error::NotFound(format!(
                "the result {}",
                toolgate_core::visible::shown_name(result_id)
            ))
        };
        let found = self
            .read_result(caller, result_id, (offset, limit))
            .await?
            .filter(|found| caller.acts_for(found.user_id.as_deref().unwrap_or_default()))
            .ok_or_else(unknown)?;
        let user =
            UserId::parse(found.user_id.as_deref().unwrap_or_default()).map_err(|_| unknown())?;
        let bytes_total = usize::try_from(found.bytes_total).unwrap_or_default();
        if offset > bytes_total {
            return Err(bad_offset());
        }
        // A character that the end cuts belongs to the next piece.
        let sound = match std::str::from_utf8(&found.piece) {
            Ok(_) => found.piece.len(),
            Err(cut) => cut.valid_up_to(),
        };
        if sound == 0 && offset < bytes_total {
            return Err(bad_offset());
        }
        let mut piece = found.piece;
        piece.truncate(sound);
        let content = String::from_utf8(piece).map_err(|cause| Error::Internal(cause.into()))?;
        let end = offset + content.len();
        let piece = StoredResult {
            result_id: result_id.to_owned(),
            execution_id: found.execution_id,
            content,
            offset,
            bytes_total,
            next_offset: (end < bytes_total).then_some(end),
            expires_at: rfc3339(found.expires_at_ms),
        };
        Ok((piece, user))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::TestWorld;

    fn raw(value: &Value) -> Arc<RawValue> {
        serde_json::value::to_raw_value(value).unwrap().into()
    }

    fn within(bytes_max: usize) -> Budget {
        Budget {
            bytes_max: Some(bytes_max),
            ..Budget::default()
        }
    }

    fn characters(chars_max: usize) -> Budget {
        Budget {
            chars_max: Some(chars_max),
            ..Budget::default()
        }
    }

    #[tokio::test]
    async fn characters_are_counted_as_characters() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::ToolsExecute]).await;
        let result = raw(&json!("\u{1f980}".repeat(998)));
        let budget = characters(1_000);
        let fitted = world.fit_result(
            &caller,
            &caller.default_user,
            "exe_1",
            result.clone(),
            &budget,
        );
        assert_eq!(fitted.await.unwrap().1, None);
        let budget = characters(999);
        let fitted = world.fit_result(
            &caller,
            &caller.default_user,
            "exe_1",
            result.clone(),
            &budget,
        );
        let truncated = fitted.await.unwrap().1.unwrap();
        assert_eq!(truncated.bytes_shown, 1 + 998 * 4);
    }

    #[tokio::test]
    async fn a_large_result_is_read_to_its_end_in_pieces() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::ToolsExecute]).await;
        let result = raw(&json!({"text": "\u{1f980}ä".repeat(500)}));
        let budget = within(301);
        let fitted = world.fit_result(
            &caller,
            &caller.default_user,
            "exe_1",
            result.clone(),
            &budget,
        );
        let (shown, truncated) = fitted.await.unwrap();
        let truncated = truncated.unwrap();
        assert_eq!(truncated.bytes_total, result.get().len());
        let mut text: String = serde_json::from_str(shown.get()).unwrap();
        assert!(text.len() <= 301 && text.len() == truncated.bytes_shown);
        let mut offset = Some(truncated.bytes_shown);
        while let Some(from) = offset {
            let piece = world.piece(&caller, &truncated.result_id, from, 1_001);
            let (piece, _) = piece.await.unwrap();
            assert!(piece.content.len() <= 1_001);
            text.push_str(&piece.content);
            offset = piece.next_offset;
        }
        assert_eq!(text, result.get());

        let id = &truncated.result_id;
        let stranger = world.stranger(&[Scope::Admin]).await;
        let refused = world
            .stored_result(&stranger, id, 0, 100)
            .await
            .unwrap_err();
        assert_eq!(refused.code(), "not_found");
        for offset in [truncated.bytes_total + 1, 11] {
            let refused = world.piece(&caller, id, offset, 100).await;
            assert_eq!(refused.unwrap_err().code(), "invalid_request", "{offset}");
        }
        world.clock.advance_ms(KEPT_MS);
        let gone = world.stored_result(&caller, id, 0, 100).await.unwrap_err();
        assert_eq!(gone.code(), "not_found");
    }

    #[tokio::test]
    async fn who_acts_for_one_user_alone_reads_that_users_results_alone() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::ToolsExecute, Scope::UsersAny]).await;
        let confined = caller.confined_to(UserId::parse("bob").unwrap());
        let result = raw(&json!("x".repeat(998)));
        let budget = within(301);
        let keep = async |user: &str| {
            let user = UserId::parse(user).unwrap();
            let fitted = world.fit_result(&caller, &user, "exe_1", result.clone(), &budget);
            fitted.await.unwrap().1.unwrap().result_id
        };
        let (theirs, own) = (keep("ada").await, keep("bob").await);
        let read = |caller, id| world.piece(caller, id, 0, 100);
        assert_eq!(read(&confined, &own).await.unwrap().0.result_id, own);
        let refused = read(&confined, &theirs).await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        for id in [&theirs, &own] {
            assert!(read(&caller, id).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_result_within_its_budget_is_whole() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::ToolsExecute]).await;
        let result = raw(&json!("x".repeat(998)));
        for (budget, cut) in [
            (Budget::default(), false),
            (within(1_000), false),
            (within(999), true),
            (characters(1_000), false),
            (characters(999), true),
        ] {
            let fitted = world
                .fit_result(
                    &caller,
                    &caller.default_user,
                    "exe_1",
                    result.clone(),
                    &budget,
                )
                .await;
            assert_eq!(fitted.unwrap().1.is_some(), cut, "{budget:?}");
        }
    }

    #[tokio::test]
    async fn fields_pick_parts_by_pointer() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::ToolsExecute]).await;
        let result = raw(&json!({"a": {"b": [1, 2]}, "c~/d": 3, "e": null}));
        let budget = Budget {
            fields: ["/a/b/1", "/c~0~1d", "/e", "/nowhere"]
                .map(str::to_owned)
                .to_vec(),
            ..Budget::default()
        };
        let (picked, cut) = world
            .fit_result(&caller, &caller.default_user, "exe_1", result, &budget)
            .await
            .unwrap();
        assert_eq!(
            (picked.get(), cut),
            (r#"{"/a/b/1":2,"/c~0~1d":3,"/e":null}"#, None)
        );
    }

    #[test]
    fn budgets_are_checked() {
        let pointers = |fields: Vec<String>| Budget {
            fields,
            ..Budget::default()
        };
        assert!(within(BUDGET_BYTES_MIN).check().is_ok());
        assert!(pointers(vec!["/a".to_owned(); FIELDS_MAX]).check().is_ok());
        for bad in [
            within(BUDGET_BYTES_MIN - 1),
            characters(BUDGET_BYTES_MIN - 1),
            pointers(vec!["/a".to_owned(); FIELDS_MAX + 1]),
            pointers(vec!["a".to_owned()]),
            pointers(vec![String::new()]),
            pointers(vec![format!("/{}", "a".repeat(POINTER_CHARS_MAX))]),
        ] {
            assert_eq!(
                bad.check().unwrap_err().code(),
                "invalid_request",
                "{bad:?}"
            );
        }
    }
}
