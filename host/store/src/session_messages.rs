//! What is said in sessions, step by step, and who is taking the next step.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use super::events::emit;
use super::{Event, EventType, Store, StoreError, portable};
use crate::columns::select;

/// Whose step of a session it is. A step of `tool` is what an operation answered to the assistant.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = MessageRole)]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Speaker {
    User,
    Assistant,
    Tool,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SessionMessage {
    pub workspace_id: String,
    pub session_id: String,
    /// 1 for the first step; set by [`Store::add_message`].
    pub seq: i64,
    /// `msg_<ULID>`.
    pub id: String,
    #[sqlx(try_from = "&'a str")]
    pub role: Speaker,
    pub content: String,
    /// A JSON object.
    pub details: String,
    pub created_at_ms: i64,
}

/// A step that is to be added. Its texts may be sealed, so what is told and counted of them is said beside.
#[derive(Clone, Copy, Debug)]
pub struct NewStep<'a> {
    pub message: &'a SessionMessage,
    /// Of the text.
    pub chars: usize,
    /// For the subscribers of `message.created`.
    pub status: Option<&'a str>,
    pub reason: Option<&'a str>,
}

/// The right to take steps in a session until a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnClaim<'a> {
    pub workspace_id: &'a str,
    pub session_id: &'a str,
    pub turn_id: &'a str,
    pub deadline_ms: i64,
}

/// The event of a step: who took it and how it ended, not what was said.
fn message_event(step: &NewStep<'_>, user_id: &str) -> Event {
    let message = step.message;
    let data = json!({
        "session_id": message.session_id,
        "message_id": message.id,
        "user_id": user_id,
        "role": message.role.into_str(),
        "status": step.status,
        "reason": step.reason,
    });
    let at_ms = message.created_at_ms;
    Event::new(
        EventType::MessageCreated,
        &message.workspace_id,
        at_ms,
        data,
    )
}

impl Store {
    /// Begins a turn. `false`: somebody else is in the middle of one.
    pub async fn begin_turn(&self, claim: &TurnClaim<'_>, now_ms: i64) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO session_turns (workspace_id, session_id, turn_id, deadline_ms) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (workspace_id, session_id) DO UPDATE SET turn_id = excluded.turn_id, \
                 deadline_ms = excluded.deadline_ms WHERE session_turns.deadline_ms <= $5",
            )
            .bind(claim.workspace_id)
            .bind(claim.session_id)
            .bind(claim.turn_id)
            .bind(claim.deadline_ms)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Ends a turn, if it is still this one.
    pub async fn end_turn(&self, claim: &TurnClaim<'_>) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM session_turns WHERE workspace_id = $1 AND session_id = $2 AND turn_id = $3",
            )
            .bind(claim.workspace_id)
            .bind(claim.session_id)
            .bind(claim.turn_id)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Appends a step taken under `turn_id` and answers its number; the session counts as used.
    /// `None`: the turn is not this one's any more, the session is gone, or it would
    /// hold more than `most` steps or characters.
    pub async fn add_message(
        &self,
        step: NewStep<'_>,
        turn_id: &str,
        most: (i64, i64),
    ) -> Result<Option<i64>, StoreError> {
        let message = step.message;
        let chars = i64::try_from(step.chars).unwrap_or(i64::MAX);
        Ok(portable!(write unnoticed self, tx => {
            let added: Option<i64> = sqlx::query_scalar(
                "INSERT INTO session_messages (workspace_id, session_id, seq, id, role, content, details, created_at_ms, \
                 chars) SELECT $1, $2, (SELECT COALESCE(MAX(seq), 0) + 1 FROM session_messages \
                 WHERE workspace_id = $1 AND session_id = $2), $3, $4, $5, $6, $7, $11 \
                 WHERE EXISTS (SELECT 1 FROM session_turns WHERE workspace_id = $1 AND session_id = $2 AND turn_id = $8) \
                 AND (SELECT COUNT(*) FROM session_messages WHERE workspace_id = $1 AND session_id = $2) < $9 \
                 AND (SELECT COALESCE(SUM(COALESCE(chars, LENGTH(content))), 0) FROM session_messages \
                 WHERE workspace_id = $1 AND session_id = $2) + $11 <= $10 \
                 RETURNING seq",
            )
            .bind(&message.workspace_id)
            .bind(&message.session_id)
            .bind(&message.id)
            .bind(message.role.into_str())
            .bind(&message.content)
            .bind(&message.details)
            .bind(message.created_at_ms)
            .bind(turn_id)
            .bind(most.0)
            .bind(most.1)
            .bind(chars)
            .fetch_optional(&mut *tx)
            .await?;
            sqlx::query(
                "UPDATE sessions SET last_active_at_ms = $3 \
                 WHERE workspace_id = $1 AND id = $2 AND last_active_at_ms < $3",
            )
            .bind(&message.workspace_id)
            .bind(&message.session_id)
            .bind(message.created_at_ms)
            .execute(&mut *tx)
            .await?;
            if added.is_some() {
                let user_id: Option<String> =
                    sqlx::query_scalar("SELECT user_id FROM sessions WHERE workspace_id = $1 AND id = $2")
                        .bind(&message.workspace_id)
                        .bind(&message.session_id)
                        .fetch_optional(&mut *tx)
                        .await?;
                emit!(tx, self, &[message_event(&step, &user_id.unwrap_or_default())]);
            }
            added
        }))
    }

    /// Replaces what a step is beside its text, under `turn_id`. `false`: the turn is not this
    /// one's any more, or the step is gone.
    pub async fn change_details(
        &self,
        workspace_id: &str,
        session_id: &str,
        message_id: &str,
        turn_id: &str,
        details: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE session_messages SET details = $4 WHERE workspace_id = $1 AND session_id = $2 AND id = $3 \
                 AND EXISTS (SELECT 1 FROM session_turns WHERE workspace_id = $1 AND session_id = $2 AND turn_id = $5)",
            )
            .bind(workspace_id)
            .bind(session_id)
            .bind(message_id)
            .bind(details)
            .bind(turn_id)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// At most `limit` steps after step `after`, oldest first.
    pub async fn list_messages(
        &self,
        workspace_id: &str,
        session_id: &str,
        after: i64,
        limit: usize,
    ) -> Result<Vec<SessionMessage>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    session_messages,
                    "WHERE workspace_id = $1 AND session_id = $2 AND seq > $3 ORDER BY seq LIMIT $4"
                ),
            )
            .bind(workspace_id)
            .bind(session_id)
            .bind(after)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(db)
            .await?
        }))
    }
}
