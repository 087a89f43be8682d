//! The audit log: who changed what in a workspace. Rows are only ever added, and
//! go by their age where the operator has set one.

use super::page::one_more;
use super::{Cursor, Page, Store, StoreError, portable};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct AuditEntry {
    pub workspace_id: String,
    /// `aud_<ULID>`.
    pub id: String,
    pub at_ms: i64,
    /// `key:<id>`, `member:<id>` or `operator`.
    pub actor: String,
    /// Dotted, for example `keys.revoke`.
    pub action: String,
    /// Id of what was changed.
    pub subject: String,
    /// JSON object without secrets.
    pub details: String,
    /// Address of the client, where there was one.
    pub address: Option<String>,
    pub request_id: Option<String>,
}

impl Store {
    pub async fn add_audit_entry(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        portable!(write self, tx => {
            sqlx::query(
                "INSERT INTO audit_log (workspace_id, id, at_ms, actor, action, subject, details, address, request_id) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            )
            .bind(&entry.workspace_id)
            .bind(&entry.id)
            .bind(entry.at_ms)
            .bind(&entry.actor)
            .bind(&entry.action)
            .bind(&entry.subject)
            .bind(&entry.details)
            .bind(&entry.address)
            .bind(&entry.request_id)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Newest first.
    pub async fn list_audit_entries(
        &self,
        workspace_id: &str,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AuditEntry>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let rows = portable!(read self, db => {
            sqlx::query_as(
                "SELECT * FROM audit_log WHERE workspace_id = $1 \
                 AND (at_ms < $2 OR (at_ms = $2 AND id < $3)) ORDER BY at_ms DESC, id DESC LIMIT $4",
            )
            .bind(workspace_id)
            .bind(at_ms)
            .bind(&id)
            .bind(one_more(limit))
            .fetch_all(db)
            .await?
        });
        Ok(Page::cut(rows, limit, |row: &AuditEntry| {
            (row.at_ms, &row.id)
        }))
    }

    /// Forgets a workspace's entries from before `before_ms`, at most `limit`; call again while it
    /// answers `limit`.
    pub async fn prune_audit_entries(
        &self,
        workspace_id: &str,
        before_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM audit_log WHERE workspace_id = $1 AND id IN (SELECT id FROM audit_log \
                 WHERE workspace_id = $1 AND at_ms < $2 ORDER BY at_ms, id LIMIT $3)",
            )
            .bind(workspace_id)
            .bind(before_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}
