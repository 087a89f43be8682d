//! Deliveries that a person asks for: tests, and events that are sent once more. They do not wait until their webhook
//! has rested, and nothing that waits goes before them.

use super::deliveries::DeliveryRecord;
use super::events::{DeliveryRow, Event, EventRow, write_events};
use super::{Store, StoreError, Writer, portable};
use crate::columns::select;

impl Store {
    /// Whether something waits for a webhook that is to go out before all else.
    pub async fn has_delivery_at_once(&self, webhook_id: &str) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT seq FROM webhook_deliveries WHERE webhook_id = $1 AND at_once AND state = 'pending' LIMIT 1",
            )
            .bind(webhook_id)
            .fetch_optional(db)
            .await?
        });
        Ok(found.is_some())
    }
}

impl Writer {
    /// Writes an event for one webhook, whatever types it wants, and answers its delivery, which goes out at once.
    pub async fn deliver_to(
        &self,
        workspace_id: &str,
        webhook_id: &str,
        event: &Event,
    ) -> Result<DeliveryRecord, StoreError> {
        let row = EventRow::from_event(event, workspace_id);
        let delivery = DeliveryRow {
            at_once: true,
            ..DeliveryRow::for_webhook(&row, webhook_id)
        };
        Ok(portable!(write unnoticed self, tx => {
            write_events!(tx, self, std::slice::from_ref(&row), std::slice::from_ref(&delivery));
            sqlx::query_as(select!(webhook_deliveries, "WHERE id = $1"))
                .bind(&delivery.id)
                .fetch_one(&mut *tx)
                .await?
        }))
    }

    /// Delivers the event of an earlier delivery once more, at once. `None`: there is no such delivery.
    pub async fn redeliver(
        &self,
        workspace_id: &str,
        webhook_id: &str,
        delivery_id: &str,
        now_ms: i64,
    ) -> Result<Option<DeliveryRecord>, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let earlier: Option<(String, String, Option<String>)> = sqlx::query_as(
                "SELECT event_id, type, execution_id FROM webhook_deliveries \
                 WHERE workspace_id = $1 AND webhook_id = $2 AND id = $3",
            )
            .bind(workspace_id)
            .bind(webhook_id)
            .bind(delivery_id)
            .fetch_optional(&mut *tx)
            .await?;
            let Some((event_id, kind, execution_id)) = earlier else { return Ok(None) };
            let row = EventRow {
                id: event_id,
                workspace_id: workspace_id.to_owned(),
                kind,
                user_id: None,
                execution_id,
                payload: String::new(),
                created_at_ms: now_ms,
            };
            let again = DeliveryRow {
                at_once: true,
                ..DeliveryRow::for_webhook(&row, webhook_id)
            };
            let none: &[EventRow] = &[];
            write_events!(tx, self, none, std::slice::from_ref(&again));
            Some(
                sqlx::query_as(select!(webhook_deliveries, "WHERE id = $1"))
                    .bind(&again.id)
                    .fetch_one(&mut *tx)
                    .await?,
            )
        }))
    }
}
