//! Origins of applications that a workspace's connect links may lead to.

use super::{Store, StoreError, Writer, portable};
use crate::columns::{returning, select};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PageOrigin {
    pub workspace_id: String,
    /// `ori_<ULID>`.
    pub id: String,
    /// Scheme, host and port, as browsers write them.
    pub origin: String,
    pub created_at_ms: i64,
}

/// The outcome of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertedOrigin {
    Done,
    /// Not kept: the workspace has it.
    Taken,
    /// Not kept: the workspace has as many as it may.
    Full,
}

impl Store {
    /// By origin.
    pub async fn list_page_origins(
        &self,
        workspace_id: &str,
    ) -> Result<Vec<PageOrigin>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(page_origins, "WHERE workspace_id = $1 ORDER BY origin"))
                .bind(workspace_id)
                .fetch_all(db)
                .await?
        }))
    }
}

impl Writer {
    /// Keeps an origin unless the workspace has it, or `most`, already.
    pub async fn insert_page_origin(
        &self,
        origin: &PageOrigin,
        most: i64,
    ) -> Result<InsertedOrigin, StoreError> {
        Ok(portable!(write self, tx => {
            // The workspace's row is locked by this first, so that two writers count in turn.
            sqlx::query("UPDATE workspaces SET plan = plan WHERE id = $1")
                .bind(&origin.workspace_id)
                .execute(&mut *tx)
                .await?;
            let done = sqlx::query(
                "INSERT INTO page_origins (workspace_id, id, origin, created_at_ms) SELECT $1, $2, $3, $4 \
                 WHERE (SELECT COUNT(*) FROM page_origins WHERE workspace_id = $1) < $5 \
                 ON CONFLICT (workspace_id, origin) DO NOTHING",
            )
            .bind(&origin.workspace_id)
            .bind(&origin.id)
            .bind(&origin.origin)
            .bind(origin.created_at_ms)
            .bind(most)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 0 {
                let taken: Option<i64> = sqlx::query_scalar(
                    "SELECT created_at_ms FROM page_origins WHERE workspace_id = $1 AND origin = $2",
                )
                .bind(&origin.workspace_id)
                .bind(&origin.origin)
                .fetch_optional(&mut *tx)
                .await?;
                return Ok(taken.map_or(InsertedOrigin::Full, |_| InsertedOrigin::Taken));
            }
            InsertedOrigin::Done
        }))
    }

    /// `None`: the workspace has no such origin.
    pub async fn delete_page_origin(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<PageOrigin>, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query_as(returning!(
                page_origins,
                "DELETE FROM page_origins WHERE workspace_id = $1 AND id = $2"
            ))
            .bind(workspace_id)
            .bind(id)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }
}
