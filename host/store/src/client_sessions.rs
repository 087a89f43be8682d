//! Sessions of clients that speak a session protocol, as all processes know them. What a session is travels
//! in its sealed id; here is that it is open, and what processes have to tell one another about it.

use super::changes::bump;
use super::{Store, StoreError, Topic, portable};
use crate::columns::select;

/// A message about a session from one process to others.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ClientSessionMessage {
    pub id: String,
    pub session_id: String,
    /// `None`: the session has ended.
    pub message: Option<String>,
    pub from_process: String,
    /// `None`: whichever process.
    pub to_process: Option<String>,
    pub sent_at_ms: i64,
}

/// Writes a message inside the open transaction, and deletes those that nobody waits for any more.
macro_rules! post {
    ($tx:ident, $message:expr, $over_ms:expr) => {{
        let message: &ClientSessionMessage = $message;
        sqlx::query("DELETE FROM client_session_messages WHERE sent_at_ms < $1")
            .bind($over_ms)
            .execute(&mut *$tx)
            .await?;
        sqlx::query(
            "INSERT INTO client_session_messages (id, session_id, message, from_process, to_process, sent_at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(&message.id)
        .bind(&message.session_id)
        .bind(&message.message)
        .bind(&message.from_process)
        .bind(&message.to_process)
        .bind(message.sent_at_ms)
        .execute(&mut *$tx)
        .await?;
        bump!($tx, Topic::ClientSessions);
    }};
}

impl Store {
    /// Opens a session, and answers how many the key has open now.
    pub async fn open_client_session(
        &self,
        id: &str,
        key_id: &str,
        now_ms: i64,
    ) -> Result<i64, StoreError> {
        let mut open = 0;
        portable!(write unnoticed self, tx => {
            sqlx::query("INSERT INTO client_sessions (id, key_id, used_at_ms) VALUES ($1, $2, $3)")
                .bind(id)
                .bind(key_id)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            open = sqlx::query_scalar("SELECT COUNT(*) FROM client_sessions WHERE key_id = $1")
                .bind(key_id)
                .fetch_one(&mut *tx)
                .await?;
        });
        Ok(open)
    }

    /// Whether a session is open and was used since `since_ms`.
    pub async fn is_client_session_open(
        &self,
        id: &str,
        since_ms: i64,
    ) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar("SELECT used_at_ms FROM client_sessions WHERE id = $1 AND used_at_ms >= $2")
                .bind(id)
                .bind(since_ms)
                .fetch_optional(db)
                .await?
        });
        Ok(found.is_some())
    }

    /// The sessions of a key that were used longest ago, beyond the `kept` that were used last.
    pub async fn oldest_client_sessions(
        &self,
        key_id: &str,
        kept: i64,
    ) -> Result<Vec<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT id FROM client_sessions WHERE key_id = $1 ORDER BY used_at_ms DESC, id DESC \
                 LIMIT 1000 OFFSET $2",
            )
            .bind(key_id)
            .bind(kept)
            .fetch_all(db)
            .await?
        }))
    }

    /// Ends the session of a message and tells the other processes. `false`: it was not open.
    pub async fn end_client_session(
        &self,
        told: &ClientSessionMessage,
        over_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let ended = sqlx::query("DELETE FROM client_sessions WHERE id = $1")
                .bind(&told.session_id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1;
            if ended {
                post!(tx, told, over_ms);
            }
            ended
        }))
    }

    /// Notes when sessions were used last; of several times the latest counts.
    pub async fn touch_client_sessions(&self, used: &[(String, i64)]) -> Result<(), StoreError> {
        // In order, so that two processes never wait for one another.
        let mut used: Vec<&(String, i64)> = used.iter().collect();
        used.sort();
        portable!(write unnoticed self, tx => {
            for (id, at_ms) in &used {
                sqlx::query("UPDATE client_sessions SET used_at_ms = $2 WHERE id = $1 AND used_at_ms < $2")
                    .bind(id)
                    .bind(at_ms)
                    .execute(&mut *tx)
                    .await?;
            }
        });
        Ok(())
    }

    /// Ends the sessions that were not used since.
    pub async fn purge_client_sessions(&self, before_ms: i64) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let ended = sqlx::query("DELETE FROM client_sessions WHERE used_at_ms < $1")
                .bind(before_ms)
                .execute(&mut *tx)
                .await?;
            if ended.rows_affected() > 0 {
                bump!(tx, Topic::ClientSessions);
            }
        });
        Ok(())
    }

    /// Hands a message of the client on to the process that waits for it.
    pub async fn post_client_session_message(
        &self,
        message: &ClientSessionMessage,
        over_ms: i64,
    ) -> Result<(), StoreError> {
        portable!(write self, tx => {
            post!(tx, message, over_ms);
        });
        Ok(())
    }

    /// The messages that were sent since, of all sessions.
    pub async fn client_session_messages(
        &self,
        since_ms: i64,
        limit: i64,
    ) -> Result<Vec<ClientSessionMessage>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(client_session_messages, "WHERE sent_at_ms >= $1 ORDER BY sent_at_ms DESC LIMIT $2"),
            )
            .bind(since_ms)
            .bind(limit)
            .fetch_all(db)
            .await?
        }))
    }
}
