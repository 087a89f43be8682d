//! Hooks: where a provider sends the events of one connection, and what has been taken already.

use super::events::emit;
use super::{Event, Store, StoreError, Writer, portable};
use crate::columns::{returning, select};

/// The address of one connection.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct HookRow {
    /// The part of the address that names it.
    pub connection_id: String,
    pub workspace_id: String,
    pub user_id: String,
    pub service: String,
    /// The provider's signing secret in the vault's box.
    pub sealed: String,
    /// Deliveries so far.
    pub accepted: i64,
    pub refused: i64,
    pub last_accepted_at_ms: Option<i64>,
    pub last_refused_at_ms: Option<i64>,
    pub last_refusal: Option<String>,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
}

impl Store {
    /// The hook behind an address, of whatever workspace: its signature says who may use it.
    pub async fn find_hook(&self, connection_id: &str) -> Result<Option<HookRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(hooks, "WHERE connection_id = $1"))
                .bind(connection_id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Notes deliveries that were not taken, and why the last of them was not.
    pub async fn note_hook_refused(
        &self,
        connection_id: &str,
        count: i64,
        why: &str,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE hooks SET refused = refused + $4, last_refused_at_ms = $2, last_refusal = $3 \
                 WHERE connection_id = $1",
            )
            .bind(connection_id)
            .bind(now_ms)
            .bind(why)
            .bind(count)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// Whether a delivery has been taken already.
    pub async fn hook_delivery_taken(
        &self,
        connection_id: &str,
        delivery: &str,
    ) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT CAST(1 AS BIGINT) FROM hook_deliveries WHERE connection_id = $1 AND delivery = $2",
            )
            .bind(connection_id)
            .bind(delivery)
            .fetch_optional(db)
            .await?
        });
        Ok(found.is_some())
    }

    /// Takes a delivery with its events, once. `false`: it has been taken already.
    pub async fn take_hook_delivery(
        &self,
        connection_id: &str,
        delivery: &str,
        events: &[Event],
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let new = sqlx::query(
                "INSERT INTO hook_deliveries (connection_id, delivery, at_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (connection_id, delivery) DO NOTHING",
            )
            .bind(connection_id)
            .bind(delivery)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            if new {
                sqlx::query(
                    "UPDATE hooks SET accepted = accepted + 1, last_accepted_at_ms = $2 WHERE connection_id = $1",
                )
                .bind(connection_id)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
                if !events.is_empty() {
                    emit!(tx, self, events);
                }
            }
            new
        }))
    }

    /// Forgets deliveries from before `before_ms`.
    pub async fn purge_hook_deliveries(&self, before_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM hook_deliveries WHERE at_ms < $1")
                .bind(before_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}

impl Writer {
    /// Keeps a hook, or gives the one that is there another secret.
    pub async fn put_hook(&self, hook: &HookRow) -> Result<HookRow, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(
                returning!(
                    hooks,
                    "INSERT INTO hooks (connection_id, workspace_id, user_id, service, sealed, accepted, refused, \
                     created_at_ms, updated_at_ms) VALUES ($1, $2, $3, $4, $5, 0, 0, $6, $6) \
                     ON CONFLICT (connection_id) DO UPDATE SET sealed = excluded.sealed, \
                     updated_at_ms = excluded.updated_at_ms WHERE hooks.workspace_id = excluded.workspace_id"
                ),
            )
            .bind(&hook.connection_id)
            .bind(&hook.workspace_id)
            .bind(&hook.user_id)
            .bind(&hook.service)
            .bind(&hook.sealed)
            .bind(hook.updated_at_ms)
            .fetch_optional(&mut *tx)
            .await?
            .ok_or(StoreError::Taken("hook"))?
        }))
    }

    /// `false`: it does not exist.
    pub async fn delete_hook(
        &self,
        workspace_id: &str,
        connection_id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM hooks WHERE workspace_id = $1 AND connection_id = $2")
                .bind(workspace_id)
                .bind(connection_id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
