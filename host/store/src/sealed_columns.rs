//! Columns whose texts are sealed, for moving all of them under a new master key.
//!
//! What users and providers wrote can be large and there is much of it. A new master key changes only the beginning of
//! a box, so this is all that is read and written here. What an earlier version wrote in clear is left as it is.

use strum::{IntoStaticStr, VariantArray};

use super::{Store, StoreError, portable};

/// Characters of a box that depend on the master key.
pub const HEAD_CHARS: usize = 101;

/// A column of sealed texts. Its name is part of what each box is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum SealedColumn {
    /// What a failed call was answered.
    Receipt,
    /// What answers a repeated request.
    Answer,
    /// A kept result.
    Result,
    /// The content of a file.
    File,
    ApprovalArguments,
    ApprovalRequests,
    ApprovalPlan,
    SessionPrompt,
    MessageContent,
    MessageDetails,
    /// What a plugin keeps in a session.
    SessionValue,
    TriggerConfig,
    /// The page of a provider's list at which a poll goes on.
    TriggerCursor,
    /// A script and what it was started with.
    ScriptStart,
    /// What a paused script waits for.
    ScriptPause,
    /// The outcome of a script.
    ScriptEnd,
    /// What a script was answered for a step.
    ScriptOutcome,
}

impl SealedColumn {
    pub const ALL: &[Self] = Self::VARIANTS;
}

/// The beginning of one box.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SealedHead {
    pub workspace_id: String,
    /// Of a message and of a value; the run of a step; else empty.
    pub session_id: String,
    /// Of a value, else empty.
    pub service: String,
    /// Of a value that has one, else empty.
    pub connection_id: String,
    /// The id of the row, the key of an answer or a value, or the number of a step.
    pub id: String,
    pub head: String,
}

impl SealedHead {
    /// The values of the row's key.
    fn key(&self, column: SealedColumn) -> Vec<&str> {
        match column {
            SealedColumn::SessionValue => {
                vec![
                    &self.workspace_id,
                    &self.session_id,
                    &self.service,
                    &self.connection_id,
                    &self.id,
                ]
            }
            SealedColumn::MessageContent | SealedColumn::MessageDetails => {
                vec![&self.workspace_id, &self.session_id, &self.id]
            }
            SealedColumn::ScriptOutcome => vec![&self.session_id, &self.id],
            _ => vec![&self.workspace_id, &self.id],
        }
    }
}

/// The statements for a table whose rows are found by workspace and id.
macro_rules! by_id {
    ($table:literal, $id:literal, $column:literal) => {
        (
            concat!(
                "SELECT workspace_id, '' AS session_id, '' AS service, '' AS connection_id, ",
                $id,
                " AS id, substr(",
                $column,
                ", 1, 101) AS head FROM ",
                $table,
                " WHERE substr(",
                $column,
                ", 1, 4) = 'tg1.' AND (workspace_id, ",
                $id,
                ") > ($1, $2) ORDER BY workspace_id, ",
                $id,
                " LIMIT $3"
            ),
            concat!(
                "UPDATE ",
                $table,
                " SET ",
                $column,
                " = $4 || substr(",
                $column,
                ", 102) WHERE workspace_id = $1 AND ",
                $id,
                " = $2 AND substr(",
                $column,
                ", 1, 101) = $3"
            ),
        )
    };
}

/// The statements for a column of messages.
macro_rules! of_message {
    ($column:literal) => {
        (
            concat!(
                "SELECT workspace_id, session_id, '' AS service, '' AS connection_id, id, substr(",
                $column,
                ", 1, 101) AS head FROM session_messages WHERE substr(",
                $column,
                ", 1, 4) = 'tg1.' AND (workspace_id, session_id, id) > ($1, $2, $3) \
                 ORDER BY workspace_id, session_id, id LIMIT $4"
            ),
            concat!(
                "UPDATE session_messages SET ",
                $column,
                " = $5 || substr(",
                $column,
                ", 102) WHERE workspace_id = $1 AND session_id = $2 AND id = $3 AND substr(",
                $column,
                ", 1, 101) = $4"
            ),
        )
    };
}

/// What lists the beginnings of a column's boxes behind a row, and what replaces one.
fn statements(column: SealedColumn) -> (&'static str, &'static str) {
    match column {
        SealedColumn::Receipt => by_id!("executions", "id", "result"),
        SealedColumn::Answer => by_id!("idempotency", "key", "answer"),
        SealedColumn::Result => by_id!("results", "id", "sealed_key"),
        SealedColumn::File => by_id!("files", "id", "sealed_key"),
        SealedColumn::ApprovalArguments => by_id!("approvals", "id", "arguments"),
        SealedColumn::ApprovalRequests => by_id!("approvals", "id", "requests"),
        SealedColumn::ApprovalPlan => by_id!("approvals", "id", "plan"),
        SealedColumn::SessionPrompt => by_id!("sessions", "id", "prompt"),
        SealedColumn::TriggerConfig => by_id!("triggers", "id", "config"),
        SealedColumn::TriggerCursor => by_id!("triggers", "id", "cursor"),
        SealedColumn::ScriptStart => by_id!("script_runs", "id", "start_sealed"),
        SealedColumn::ScriptPause => by_id!("script_runs", "id", "pause_sealed"),
        SealedColumn::ScriptEnd => by_id!("script_runs", "id", "end_sealed"),
        SealedColumn::ScriptOutcome => (
            "SELECT workspace_id, run_id AS session_id, '' AS service, '' AS connection_id, CAST(step AS TEXT) AS id, \
             substr(outcome_sealed, 1, 101) AS head FROM script_steps WHERE substr(outcome_sealed, 1, 4) = 'tg1.' \
             AND (run_id, step) > ($1, CAST($2 AS BIGINT)) ORDER BY run_id, step LIMIT $3",
            "UPDATE script_steps SET outcome_sealed = $4 || substr(outcome_sealed, 102) \
             WHERE run_id = $1 AND step = CAST($2 AS BIGINT) AND substr(outcome_sealed, 1, 101) = $3",
        ),
        SealedColumn::MessageContent => of_message!("content"),
        SealedColumn::MessageDetails => of_message!("details"),
        SealedColumn::SessionValue => (
            "SELECT workspace_id, session_id, service, connection_id, key AS id, sealed_key AS head FROM session_kv \
             WHERE sealed_key IS NOT NULL \
             AND (workspace_id, session_id, service, connection_id, key) > ($1, $2, $3, $4, $5) \
             ORDER BY workspace_id, session_id, service, connection_id, key LIMIT $6",
            "UPDATE session_kv SET sealed_key = $7 WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
             AND connection_id = $4 AND key = $5 AND sealed_key = $6",
        ),
    }
}

impl Store {
    /// The beginnings of a column's boxes of all workspaces, after this one.
    pub async fn list_sealed_heads(
        &self,
        column: SealedColumn,
        after: Option<&SealedHead>,
        limit: u32,
    ) -> Result<Vec<SealedHead>, StoreError> {
        let (list, _) = statements(column);
        let first = SealedHead {
            workspace_id: String::new(),
            session_id: String::new(),
            service: String::new(),
            connection_id: String::new(),
            // PostgreSQL reads no number from an empty text.
            id: match column {
                SealedColumn::ScriptOutcome => "0".to_owned(),
                _ => String::new(),
            },
            head: String::new(),
        };
        let after = after.unwrap_or(&first).key(column);
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(list);
            for value in &after {
                query = query.bind(*value);
            }
            query.bind(i64::from(limit)).fetch_all(db).await?
        }))
    }

    /// Replaces the beginning of a box. `false`: the text has changed since it was read.
    pub async fn reseal_head(
        &self,
        column: SealedColumn,
        old: &SealedHead,
        head: &str,
    ) -> Result<bool, StoreError> {
        let (_, replace) = statements(column);
        let key = old.key(column);
        Ok(portable!(write unnoticed self, tx => {
            let mut query = sqlx::query(replace);
            for value in &key {
                query = query.bind(*value);
            }
            query.bind(&old.head).bind(head).execute(&mut *tx).await?.rows_affected() == 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_statements_of_every_column_run_and_find_nothing_where_nothing_is_sealed() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        for column in SealedColumn::ALL {
            let listed = store.list_sealed_heads(*column, None, 10).await.unwrap();
            assert!(listed.is_empty(), "{column:?}");
            let none = SealedHead {
                workspace_id: "ws".to_owned(),
                session_id: "ses".to_owned(),
                service: "echo".to_owned(),
                connection_id: String::new(),
                id: "one".to_owned(),
                head: "tg1.".to_owned(),
            };
            assert!(!store.reseal_head(*column, &none, "tg1.").await.unwrap());
            assert!(
                store
                    .list_sealed_heads(*column, Some(&none), 10)
                    .await
                    .is_ok(),
                "{column:?}"
            );
        }
    }
}
