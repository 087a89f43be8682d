//! Webhooks: where a workspace wants its events sent. The sender holds the row's lease.

use super::events::EventFilters;
use super::text::Json;
use super::{Store, StoreError, Writer, portable};
use crate::columns::{returning, select};

/// One endpoint.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct WebhookRow {
    /// `whk_<ULID>`.
    pub id: String,
    pub workspace_id: String,
    pub url: String,
    pub description: String,
    /// Types, `group.*` or `*`.
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub events: Vec<String>,
    #[sqlx(try_from = "Json<EventFilters>")]
    pub filters: EventFilters,
    pub enabled: bool,
    /// Why the gateway has switched it off; absent where a person has.
    pub disabled_reason: Option<String>,
    pub disabled_at_ms: Option<i64>,
    /// The signing secret in the vault's box.
    pub sealed: String,
    /// The one before, which signs too until `previous_until_ms`.
    pub sealed_previous: Option<String>,
    pub previous_until_ms: Option<i64>,
    /// Attempts that failed since the last good one.
    pub failures: i64,
    pub failing_since_ms: Option<i64>,
    /// Nothing is sent before.
    pub retry_at_ms: Option<i64>,
    pub lease_owner: Option<String>,
    pub lease_until_ms: Option<i64>,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
}

/// What to change; `None` keeps.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange<'a> {
    pub url: Option<&'a str>,
    pub description: Option<&'a str>,
    pub events: Option<&'a [String]>,
    pub filters: Option<&'a EventFilters>,
    pub enabled: Option<bool>,
}

impl Store {
    pub async fn find_webhook(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<WebhookRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(webhooks, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first.
    pub async fn list_webhooks(&self, workspace_id: &str) -> Result<Vec<WebhookRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(webhooks, "WHERE workspace_id = $1 ORDER BY created_at_ms DESC, id DESC"))
                .bind(workspace_id)
                .fetch_all(db)
                .await?
        }))
    }
}

impl Writer {
    /// Keeps a new webhook unless the workspace has `most` already. `false`: it has.
    pub async fn insert_webhook(
        &self,
        webhook: &WebhookRow,
        most: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // The workspace's row is locked by this first, so that two writers count in turn.
            sqlx::query("UPDATE workspaces SET plan = plan WHERE id = $1")
                .bind(&webhook.workspace_id)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "INSERT INTO webhooks (id, workspace_id, url, description, events, filters, enabled, sealed, failures, \
                 created_at_ms, updated_at_ms) SELECT $1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $9 \
                 WHERE (SELECT COUNT(*) FROM webhooks WHERE workspace_id = $2) < $10",
            )
            .bind(&webhook.id)
            .bind(&webhook.workspace_id)
            .bind(&webhook.url)
            .bind(&webhook.description)
            .bind(Json(&webhook.events))
            .bind(Json(&webhook.filters))
            .bind(webhook.enabled)
            .bind(&webhook.sealed)
            .bind(webhook.created_at_ms)
            .bind(most)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Changes what is given. Switched on or sent elsewhere it starts anew: what failed before is
    /// forgotten and what waits is sent at once.
    pub async fn update_webhook(
        &self,
        workspace_id: &str,
        id: &str,
        change: &WebhookChange<'_>,
        now_ms: i64,
    ) -> Result<Option<WebhookRow>, StoreError> {
        let anew = change.enabled == Some(true) || change.url.is_some();
        Ok(portable!(write unnoticed self, tx => {
            let updated: Option<WebhookRow> = sqlx::query_as(
                returning!(
                    webhooks,
                    "UPDATE webhooks SET url = COALESCE($3, url), description = COALESCE($4, description), \
                     events = COALESCE($5, events), filters = COALESCE($6, filters), enabled = COALESCE($7, enabled), \
                     disabled_reason = CASE WHEN $7 IS NULL THEN disabled_reason ELSE NULL END, \
                     disabled_at_ms = CASE WHEN $7 IS NULL THEN disabled_at_ms WHEN $7 THEN NULL \
                     WHEN enabled THEN $9 ELSE disabled_at_ms END, \
                     failures = CASE WHEN $8 THEN 0 ELSE failures END, \
                     failing_since_ms = CASE WHEN $8 THEN NULL ELSE failing_since_ms END, \
                     retry_at_ms = CASE WHEN $8 THEN NULL ELSE retry_at_ms END, updated_at_ms = $9 \
                     WHERE workspace_id = $1 AND id = $2"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(change.url)
            .bind(change.description)
            .bind(change.events.map(Json))
            .bind(change.filters.map(Json))
            .bind(change.enabled)
            .bind(anew)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            if anew && updated.is_some() {
                sqlx::query(
                    "UPDATE webhook_deliveries SET next_attempt_at_ms = $3 WHERE workspace_id = $1 \
                     AND webhook_id = $2 AND state = 'pending' AND next_attempt_at_ms > $3",
                )
                .bind(workspace_id)
                .bind(id)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
                self.watch.outbox_grew();
            }
            updated
        }))
    }

    /// Puts a new secret over the one whose box is `over`; that one signs on until
    /// `previous_until_ms`. `None`: there is no such webhook, or somebody else was faster.
    pub async fn rotate_webhook_secret(
        &self,
        workspace_id: &str,
        id: &str,
        over: &str,
        sealed: &str,
        previous: Option<(&str, i64)>,
        now_ms: i64,
    ) -> Result<Option<WebhookRow>, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(
                returning!(
                    webhooks,
                    "UPDATE webhooks SET sealed = $4, sealed_previous = $5, previous_until_ms = $6, updated_at_ms = $7 \
                     WHERE workspace_id = $1 AND id = $2 AND sealed = $3"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(over)
            .bind(sealed)
            .bind(previous.map(|(sealed, _)| sealed))
            .bind(previous.map(|(_, until_ms)| until_ms))
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Deletes a webhook with its deliveries. `false`: it does not exist.
    pub async fn delete_webhook(&self, workspace_id: &str, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM webhook_deliveries WHERE workspace_id = $1 AND webhook_id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            sqlx::query("DELETE FROM webhooks WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
