//! How much a workspace has stored: rows and bytes, by kind.

use super::{Store, StoreError, portable};

/// What one workspace has stored of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredAmount {
    pub rows: i64,
    pub bytes: i64,
}

impl Store {
    /// Versions of Skills that are kept, and changes of Skills that wait for an admin.
    pub async fn count_skills(&self, workspace_id: &str) -> Result<StoredAmount, StoreError> {
        let (rows, bytes) = portable!(read self, db => {
            sqlx::query_as(
                "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM \
                 (SELECT OCTET_LENGTH(name) + OCTET_LENGTH(summary) + OCTET_LENGTH(instructions) AS bytes \
                 FROM skill_versions WHERE workspace_id = $1 UNION ALL \
                 SELECT OCTET_LENGTH(name) + OCTET_LENGTH(summary) + OCTET_LENGTH(instructions) \
                 FROM skill_proposals WHERE workspace_id = $1) texts",
            )
            .bind(workspace_id)
            .fetch_one(db)
            .await?
        });
        Ok(StoredAmount { rows, bytes })
    }

    /// Files that have not been purged yet.
    pub async fn count_files(&self, workspace_id: &str) -> Result<StoredAmount, StoreError> {
        let (rows, bytes) = portable!(read self, db => {
            sqlx::query_as(
                "SELECT COUNT(*), CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM files WHERE workspace_id = $1",
            )
            .bind(workspace_id)
            .fetch_one(db)
            .await?
        });
        Ok(StoredAmount { rows, bytes })
    }

    /// Runs of scripts with their steps. Their bytes are those of the sealed texts.
    pub async fn count_script_bytes(&self, workspace_id: &str) -> Result<StoredAmount, StoreError> {
        let (rows, bytes) = portable!(read self, db => {
            sqlx::query_as(
                "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM \
                 (SELECT OCTET_LENGTH(start_sealed) + COALESCE(OCTET_LENGTH(pause_sealed), 0) \
                 + COALESCE(OCTET_LENGTH(end_sealed), 0) AS bytes FROM script_runs WHERE workspace_id = $1 UNION ALL \
                 SELECT COALESCE(OCTET_LENGTH(s.outcome_sealed), 0) FROM script_steps AS s \
                 JOIN script_runs AS r ON r.id = s.run_id WHERE r.workspace_id = $1) texts",
            )
            .bind(workspace_id)
            .fetch_one(db)
            .await?
        });
        Ok(StoredAmount { rows, bytes })
    }

    /// Steps of sessions, and what the sessions began with. Their bytes are those of the sealed texts.
    pub async fn count_sessions(&self, workspace_id: &str) -> Result<StoredAmount, StoreError> {
        let (rows, bytes) = portable!(read self, db => {
            sqlx::query_as(
                "SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM \
                 (SELECT OCTET_LENGTH(content) + OCTET_LENGTH(details) AS bytes \
                 FROM session_messages WHERE workspace_id = $1 UNION ALL \
                 SELECT OCTET_LENGTH(prompt) FROM sessions WHERE workspace_id = $1 AND prompt IS NOT NULL) texts",
            )
            .bind(workspace_id)
            .fetch_one(db)
            .await?
        });
        Ok(StoredAmount { rows, bytes })
    }
}
