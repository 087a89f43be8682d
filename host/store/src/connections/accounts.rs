//! Names of connected accounts that were stored before they were cleaned.

use super::{Connection, bump};
use crate::columns::select;
use crate::{Store, StoreError, Topic, portable};

impl Store {
    /// Connections of all workspaces whose name nobody has cleaned, after this one.
    pub async fn list_unclean_accounts(
        &self,
        after: Option<&Connection>,
        limit: u32,
    ) -> Result<Vec<Connection>, StoreError> {
        let (workspace_id, id) =
            after.map_or(("", ""), |row| (row.workspace_id.as_str(), row.id.as_str()));
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    connections,
                    "WHERE account IS NOT NULL AND NOT account_clean \
                     AND (workspace_id > $1 OR (workspace_id = $1 AND id > $2)) \
                     ORDER BY workspace_id, id LIMIT $3"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(i64::from(limit))
            .fetch_all(db)
            .await?
        }))
    }

    /// Replaces the name in the connection and in the questions that were asked about it, unless
    /// somebody has connected it anew meanwhile.
    pub async fn clean_account(
        &self,
        row: &Connection,
        clean: Option<&str>,
    ) -> Result<(), StoreError> {
        portable!(write self, tx => {
            sqlx::query(
                "UPDATE connections SET account = $4, account_clean = TRUE \
                 WHERE workspace_id = $1 AND id = $2 AND account = $3",
            )
            .bind(&row.workspace_id)
            .bind(&row.id)
            .bind(&row.account)
            .bind(clean)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "UPDATE approvals SET account = $4 \
                 WHERE workspace_id = $1 AND connection_id = $2 AND account = $3",
            )
            .bind(&row.workspace_id)
            .bind(&row.id)
            .bind(&row.account)
            .bind(clean)
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Connections);
        });
        Ok(())
    }
}
