//! Bodies that a workspace keeps beside its receipts, as sealed boxes.

use super::{SealedBox, Store, StoreError, portable};

/// One body.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PayloadRow {
    pub workspace_id: String,
    pub execution_id: String,
    /// The execution's id, the number of the request in it, and which half it is.
    pub id: String,
    pub sealed: String,
}

/// Writes what a receipt brings along, in the transaction of the receipt.
macro_rules! insert_payloads {
    ($tx:ident, $rows:expr) => {
        for row in $rows {
            sqlx::query(
                "INSERT INTO execution_payloads (workspace_id, id, execution_id, sealed) \
                 VALUES ($1, $2, $3, $4) ON CONFLICT (workspace_id, id) DO NOTHING",
            )
            .bind(&row.workspace_id)
            .bind(&row.id)
            .bind(&row.execution_id)
            .bind(&row.sealed)
            .execute(&mut *$tx)
            .await?;
        }
    };
}
pub(super) use insert_payloads;

impl Store {
    pub async fn list_payloads(
        &self,
        workspace_id: &str,
        execution_id: &str,
    ) -> Result<Vec<PayloadRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT workspace_id, execution_id, id, sealed FROM execution_payloads \
                 WHERE workspace_id = $1 AND execution_id = $2",
            )
            .bind(workspace_id)
            .bind(execution_id)
            .fetch_all(db)
            .await?
        }))
    }

    /// Boxes of all workspaces after this one, in the order of workspace and id.
    pub async fn list_sealed_payloads(
        &self,
        after: Option<&SealedBox>,
        limit: u32,
    ) -> Result<Vec<SealedBox>, StoreError> {
        let (workspace_id, id) =
            after.map_or(("", ""), |one| (one.workspace_id.as_str(), one.id.as_str()));
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT 'payload' AS kind, workspace_id, '' AS user_id, '' AS service, id, sealed \
                 FROM execution_payloads WHERE workspace_id > $1 OR (workspace_id = $1 AND id > $2) \
                 ORDER BY workspace_id, id LIMIT $3",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await?
        }))
    }
}
