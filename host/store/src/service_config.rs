//! Operator settings of services: what a manifest's `config` lets the operator choose.

use std::collections::BTreeMap;

use super::changes::bump;
use super::{Store, StoreError, Topic, Writer, portable};
use crate::columns::select;

/// In place of a workspace id: the setting holds wherever a workspace has none of its own.
pub const ALL_WORKSPACES: &str = "";

/// One setting. `value` is a JSON document.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ServiceSetting {
    /// A workspace id or [`ALL_WORKSPACES`].
    pub workspace_id: String,
    pub service: String,
    pub key: String,
    pub value: String,
    pub updated_at_ms: i64,
}

impl Store {
    /// What holds for a workspace: key to JSON document, its own settings over those for all.
    pub async fn service_config(
        &self,
        workspace_id: &str,
        service: &str,
    ) -> Result<BTreeMap<String, String>, StoreError> {
        let rows: Vec<(String, String)> = portable!(read self, db => {
            sqlx::query_as(
                "SELECT key, value FROM service_config WHERE service = $2 AND workspace_id IN ('', $1) \
                 ORDER BY workspace_id",
            )
            .bind(workspace_id)
            .bind(service)
            .fetch_all(db)
            .await?
        });
        Ok(rows.into_iter().collect())
    }

    /// Every setting of every workspace: what a running gateway caches.
    pub async fn list_service_config(&self) -> Result<Vec<ServiceSetting>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(service_config, "ORDER BY service, workspace_id, key")).fetch_all(db).await?
        }))
    }
}

impl Writer {
    /// Sets all of `values` (key to JSON document) and removes those of `unset`, at once, for one
    /// workspace or [`ALL_WORKSPACES`].
    pub async fn change_service_config(
        &self,
        workspace_id: &str,
        service: &str,
        values: &BTreeMap<String, String>,
        unset: &[String],
        now_ms: i64,
    ) -> Result<(), StoreError> {
        // In order, so that two requests never wait for one another. What is set and unset at once is set.
        let unset = unset.iter().map(|key| (key, None));
        let set = values.iter().map(|(key, value)| (key, Some(value)));
        let changes: BTreeMap<&String, Option<&String>> = unset.chain(set).collect();
        portable!(write self, tx => {
            for (key, value) in &changes {
                let Some(value) = value else {
                    sqlx::query("DELETE FROM service_config WHERE workspace_id = $1 AND service = $2 AND key = $3")
                        .bind(workspace_id)
                        .bind(service)
                        .bind(key)
                        .execute(&mut *tx)
                        .await?;
                    continue;
                };
                sqlx::query(
                    "INSERT INTO service_config (workspace_id, service, key, value, updated_at_ms) \
                     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (workspace_id, service, key) \
                     DO UPDATE SET value = excluded.value, updated_at_ms = excluded.updated_at_ms",
                )
                .bind(workspace_id)
                .bind(service)
                .bind(key)
                .bind(value)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            }
            bump!(tx, Topic::Services);
        });
        Ok(())
    }
}
