//! Results that were too large for one answer, kept for an hour and read in pieces.

use super::{Store, StoreError, portable};

/// A piece of a kept result, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ResultPiece {
    /// For whom the tool ran.
    pub user_id: Option<String>,
    pub execution_id: String,
    /// The key of sealed content; `None` for one that an earlier version wrote in clear.
    pub sealed_key: Option<String>,
    pub bytes_total: i64,
    pub piece: Vec<u8>,
    pub expires_at_ms: i64,
}

impl Store {
    /// `sealed_key`: of content that is sealed.
    pub async fn put_result(
        &self,
        workspace_id: &str,
        id: &str,
        execution_id: &str,
        user_id: &str,
        (sealed_key, content): (Option<&str>, &[u8]),
        expires_at_ms: i64,
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "INSERT INTO results (workspace_id, id, execution_id, user_id, content, expires_at_ms, sealed_key) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(execution_id)
            .bind(user_id)
            .bind(content)
            .bind(expires_at_ms)
            .bind(sealed_key)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// At most `limit` bytes of the content as it is stored from `offset`; empty past the end. `None`: unknown or expired.
    pub async fn read_result(
        &self,
        workspace_id: &str,
        id: &str,
        offset: u32,
        limit: u32,
        now_ms: i64,
    ) -> Result<Option<ResultPiece>, StoreError> {
        // PostgreSQL counts bytes as int4.
        let from = i32::try_from(offset).unwrap_or(i32::MAX - 1) + 1;
        let count = i32::try_from(limit)
            .unwrap_or(i32::MAX)
            .min(i32::MAX - from);
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT user_id, execution_id, sealed_key, CAST(octet_length(content) AS BIGINT) AS bytes_total, \
                 substr(content, $3, $4) AS piece, expires_at_ms FROM results \
                 WHERE workspace_id = $1 AND id = $2 AND expires_at_ms > $5",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(from)
            .bind(count)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        }))
    }

    /// Deletes a workspace's oldest results until the rest is at most `bytes_max` and `rows_max`. The newest one stays.
    pub async fn trim_results(
        &self,
        workspace_id: &str,
        bytes_max: i64,
        rows_max: i64,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM results WHERE workspace_id = $1 AND id IN (SELECT id FROM \
                 (SELECT id, SUM(octet_length(content)) OVER newest AS bytes, ROW_NUMBER() OVER newest AS place \
                 FROM results WHERE workspace_id = $1 WINDOW newest AS (ORDER BY expires_at_ms DESC, id DESC)) ranked \
                 WHERE place > 1 AND (bytes > $2 OR place > $3))",
            )
            .bind(workspace_id)
            .bind(bytes_max)
            .bind(rows_max)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }

    /// Deletes what is past its time.
    pub async fn purge_results(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM results WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}
