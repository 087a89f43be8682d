//! Sessions: what ties the steps of one task together, until they have been idle for a day.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::batch::Statement;
use super::page::one_more;
use super::shared_text::read_rows;
use super::{Cursor, Event, EventType, Page, Store, StoreError, portable};
use crate::columns::select;
use toolgate_core::ids;
use toolgate_core::text::Text;

/// A session that nobody used for this long is gone.
pub const SESSION_IDLE_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct SessionRow {
    pub workspace_id: Text,
    /// `tool_<32 hex>` or `ses_<32 hex>`.
    pub id: Text,
    pub user_id: Text,
    /// What it was created with, for `ses_` sessions.
    pub prompt: Option<String>,
    pub created_at_ms: i64,
    pub last_active_at_ms: i64,
}

read_rows!(SessionRow {
    texts: workspace_id, id, user_id;
    optional: ;
    others: prompt, created_at_ms, last_active_at_ms;
    absent:
});

pub(super) const INSERT_SESSIONS: &str =
    "INSERT INTO sessions (workspace_id, id, user_id, prompt, created_at_ms, last_active_at_ms) ";

pub(super) static UPSERT_SESSIONS: Statement = Statement::new(
    "INSERT INTO sessions (workspace_id, id, user_id, prompt, created_at_ms, last_active_at_ms) VALUES ",
    6,
    " ON CONFLICT (workspace_id, id) DO UPDATE SET last_active_at_ms = \
     CASE WHEN excluded.last_active_at_ms > sessions.last_active_at_ms \
     THEN excluded.last_active_at_ms ELSE sessions.last_active_at_ms END",
);

/// A page of live sessions behind `$2` and `$3`.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            select!(
                sessions,
                "WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND last_active_at_ms > $4"
            ),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $5"
        )
    };
}

/// Inserts sessions, or marks those that are there as used. No session may be named twice; as many
/// as [`super::batch::statements`] puts into one statement.
macro_rules! upsert_sessions {
    ($tx:ident, $sessions:expr) => {{
        let sessions = $sessions;
        let sql = $crate::sessions::UPSERT_SESSIONS.text_for(&$tx, sessions.len());
        let mut upsert = sqlx::query(sql);
        for session in sessions {
            upsert = upsert
                .bind($crate::shared_text::SqlText::from(&session.workspace_id))
                .bind($crate::shared_text::SqlText::from(&session.id))
                .bind($crate::shared_text::SqlText::from(&session.user_id))
                .bind(&session.prompt)
                .bind(session.created_at_ms)
                .bind(session.last_active_at_ms);
        }
        upsert.execute(&mut *$tx).await?;
    }};
}
pub(super) use upsert_sessions;

/// Inserts those sessions that are not there yet and tells of them, inside the open transaction.
/// Answers how many that were. Exact for several processes too: of two that insert the same one, one does.
macro_rules! tell_new_sessions {
    ($tx:ident, $store:expr, $sessions:expr) => {{
        let mut insert = sqlx::QueryBuilder::new($crate::sessions::INSERT_SESSIONS);
        insert.push_values($sessions, |mut values, session| {
            values
                .push_bind($crate::shared_text::SqlText::from(&session.workspace_id))
                .push_bind($crate::shared_text::SqlText::from(&session.id))
                .push_bind($crate::shared_text::SqlText::from(&session.user_id))
                .push_bind(&session.prompt)
                .push_bind(session.created_at_ms)
                .push_bind(session.last_active_at_ms);
        });
        insert.push(concat!(
            " ON CONFLICT (workspace_id, id) DO NOTHING RETURNING ",
            $crate::columns::columns!(sessions)
        ));
        let made: Vec<$crate::SessionRow> = insert.build_query_as().fetch_all(&mut *$tx).await?;
        let mut events: Vec<$crate::Event> = Vec::new();
        for session in &made {
            if !$crate::sessions::announced_by_call!($tx, session) {
                events.push($crate::sessions::session_event(session));
            }
        }
        if !events.is_empty() {
            $crate::events::emit!($tx, $store, &events);
        }
        made.len()
    }};
}
pub(super) use tell_new_sessions;

/// Whether the call that began the session has announced it to subscribers.
macro_rules! announced_by_call {
    ($tx:ident, $session:expr) => {
        match toolgate_core::ids::execution_of_session(&$session.id) {
            None => false,
            Some(execution_id) => {
                let call: Option<i64> = sqlx::query_scalar(
                    "SELECT CAST(1 AS BIGINT) FROM executions WHERE workspace_id = $1 AND id = $2 \
                     AND session_id IS NULL AND status NOT IN ('running', 'interrupted')",
                )
                .bind($session.workspace_id.as_str())
                .bind(&execution_id)
                .fetch_optional(&mut *$tx)
                .await?;
                call.is_some()
            }
        }
    };
}
pub(super) use announced_by_call;

/// The event of a session that begins.
pub(super) fn session_event(session: &SessionRow) -> Event {
    session_created(
        &session.workspace_id,
        &session.id,
        &session.user_id,
        session.created_at_ms,
    )
}

pub(super) fn session_created(
    workspace_id: &str,
    session_id: &str,
    user_id: &str,
    at_ms: i64,
) -> Event {
    let data = json!({ "session_id": session_id, "user_id": user_id });
    Event::new(EventType::SessionCreated, workspace_id, at_ms, data)
}

impl Store {
    /// Keeps a new session; one that is there already only counts as used.
    pub async fn put_session(&self, session: &SessionRow) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            tell_new_sessions!(tx, self, [session]);
            upsert_sessions!(tx, [session]);
        });
        Ok(())
    }

    /// Keeps a session of which subscribers know already.
    pub async fn keep_session(&self, session: &SessionRow) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            upsert_sessions!(tx, [session]);
        });
        Ok(())
    }

    /// Begins a session unless it is there, and answers the one that is. One that was idle for too
    /// long is not; whichever begins has nothing in it.
    pub async fn open_session(&self, session: &SessionRow) -> Result<SessionRow, StoreError> {
        let (workspace_id, id) = (session.workspace_id.as_str(), session.id.as_str());
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM sessions WHERE workspace_id = $1 AND id = $2 AND last_active_at_ms <= $3")
                .bind(workspace_id)
                .bind(id)
                .bind(session.created_at_ms - SESSION_IDLE_MS)
                .execute(&mut *tx)
                .await?;
            if tell_new_sessions!(tx, self, [session]) > 0 {
                sqlx::query("DELETE FROM session_kv WHERE workspace_id = $1 AND session_id = $2")
                    .bind(workspace_id)
                    .bind(id)
                    .execute(&mut *tx)
                    .await?;
            }
            sqlx::query_as(select!(sessions, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_one(&mut *tx)
                .await?
        }))
    }

    /// A session that is not idle for too long.
    pub async fn find_session(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<Option<SessionRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(sessions, "WHERE workspace_id = $1 AND id = $2 AND last_active_at_ms > $3"))
                .bind(workspace_id)
                .bind(id)
                .bind(now_ms - SESSION_IDLE_MS)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first, of one user or of all.
    pub async fn list_sessions(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        after: Option<&Cursor>,
        limit: usize,
        now_ms: i64,
    ) -> Result<Page<SessionRow>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let statement = match user_id {
            None => page_of!(""),
            Some(_) => page_of!(" AND user_id = $6"),
        };
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(at_ms)
                .bind(&id)
                .bind(now_ms - SESSION_IDLE_MS)
                .bind(one_more(limit));
            if let Some(user_id) = user_id {
                query = query.bind(user_id);
            }
            query.fetch_all(db).await?
        });
        Ok(Page::cut(rows, limit, |row: &SessionRow| {
            (row.created_at_ms, &row.id)
        }))
    }

    /// Deletes a session and what plugins kept in it, also one that only its call knows
    /// ([`Store::session_of_execution`]). `false`: it does not exist.
    pub async fn delete_session(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let execution_id = ids::execution_of_session(id);
        Ok(portable!(write unnoticed self, tx => {
            let of_call = match &execution_id {
                None => 0,
                Some(execution_id) => sqlx::query(
                    "UPDATE executions SET session_id = '' WHERE workspace_id = $1 AND id = $2 \
                     AND session_id IS NULL AND kind = 'tool' AND started_at_ms > $3",
                )
                .bind(workspace_id)
                .bind(execution_id)
                .bind(now_ms - SESSION_IDLE_MS)
                .execute(&mut *tx)
                .await?
                .rows_affected(),
            };
            sqlx::query("DELETE FROM session_kv WHERE workspace_id = $1 AND session_id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            let row = sqlx::query("DELETE FROM sessions WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            of_call + row > 0
        }))
    }

    /// Deletes expired sessions, their values and values whose own time is over. Answers how many
    /// sessions went.
    pub async fn purge_sessions(&self, now_ms: i64) -> Result<u64, StoreError> {
        let idle_since_ms = now_ms - SESSION_IDLE_MS;
        Ok(portable!(write unnoticed self, tx => {
            let gone = sqlx::query("DELETE FROM sessions WHERE last_active_at_ms <= $1")
                .bind(idle_since_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected();
            sqlx::query(
                "DELETE FROM session_kv WHERE expires_at_ms <= $1 OR (updated_at_ms <= $2 AND NOT EXISTS \
                 (SELECT 1 FROM sessions s WHERE s.workspace_id = session_kv.workspace_id \
                 AND s.id = session_kv.session_id))",
            )
            .bind(now_ms)
            .bind(idle_since_ms)
            .execute(&mut *tx)
            .await?;
            gone
        }))
    }
}
