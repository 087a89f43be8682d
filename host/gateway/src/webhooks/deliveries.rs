//! The outcome of each delivery; trying a webhook; sending once more by hand.

use serde::Serialize;
use serde_json::json;

use super::schedule::paused_until_ms;
use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::states::DeliveryStatus;
use toolgate_store::{self as store, Cursor, Event, EventType};

pub const LIST_LIMIT_MAX: usize = 100;

/// One event on its way to one webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = WebhookDelivery)]
pub struct Delivery {
    /// `dlv_<ULID>`.
    #[schema(example = "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub delivery_id: String,
    /// The header `webhook-id`: the same for every attempt and every webhook.
    #[schema(example = "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub event_id: String,
    /// The event's type.
    pub r#type: String,
    pub status: DeliveryStatus,
    pub attempts: i64,
    /// Absent once it is settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub next_attempt_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_attempt_at: Option<String>,
    /// HTTP status of the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_status: Option<i64>,
    /// How long the last attempt took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<i64>,
    /// Why the last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The execution that the event tells of, where it tells of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub execution_id: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// `GET /v1/webhooks/{webhook_id}/deliveries`, newest first.
#[derive(Clone, Debug)]
pub struct ListDeliveries {
    pub webhook_id: String,
    pub status: Option<DeliveryStatus>,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
#[schema(as = WebhookDeliveryPage)]
pub struct DeliveryPage {
    pub deliveries: Vec<Delivery>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

impl Gateway {
    /// Deliveries of a webhook, newest first. Settled ones are kept for seven days.
    pub async fn webhook_deliveries(
        &self,
        caller: &Caller,
        request: ListDeliveries,
    ) -> Result<DeliveryPage, Error> {
        caller.need(Scope::Webhooks)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let webhook = self.find_webhook(caller, &request.webhook_id).await?;
        let page = self
            .store
            .list_deliveries(
                &caller.workspace_id,
                &webhook.id,
                request.status,
                cursor.as_ref(),
                request.limit,
            )
            .await?;
        let now_ms = self.clock.now_ms();
        let paused = paused_until_ms(webhook.enabled, webhook.retry_at_ms, now_ms);
        let items = page.items.into_iter();
        Ok(DeliveryPage {
            deliveries: items.map(|row| shown(row, paused)).collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// Sends an event `webhook.test` to this webhook alone, whatever types it wants, at once: also while it rests.
    ///
    /// # Errors
    /// `conflict` when the webhook is switched off.
    pub async fn test_webhook(&self, caller: &Caller, webhook_id: &str) -> Result<Delivery, Error> {
        caller.need(Scope::Webhooks)?;
        let webhook = self.find_webhook(caller, webhook_id).await?;
        needs_enabled(&webhook)?;
        let data = json!({ "webhook_id": webhook.id });
        let now_ms = self.clock.now_ms();
        let event = Event::new(EventType::WebhookTest, &caller.workspace_id, now_ms, data);
        let delivery = self
            .audited(caller, AuditAction::WebhooksTest, &webhook.id, json!({}))
            .deliver_to(&caller.workspace_id, &webhook.id, &event)
            .await?;
        Ok(shown(delivery, None))
    }

    /// Sends the event of an earlier delivery once more, under the same event id, at once: also while the webhook rests.
    ///
    /// # Errors
    /// `conflict` when the webhook is switched off.
    pub async fn resend_delivery(
        &self,
        caller: &Caller,
        webhook_id: &str,
        delivery_id: &str,
    ) -> Result<Delivery, Error> {
        caller.need(Scope::Webhooks)?;
        let webhook = self.find_webhook(caller, webhook_id).await?;
        needs_enabled(&webhook)?;
        let details = json!({ "delivery_id": delivery_id });
        let again = self
            .audited(caller, AuditAction::WebhooksResend, webhook_id, details)
            .redeliver(
                &caller.workspace_id,
                webhook_id,
                delivery_id,
                self.clock.now_ms(),
            )
            .await?;
        let again = again.ok_or_else(|| {
            Error::NotFound(format!(
                "the delivery {}",
                toolgate_core::visible::shown_name(delivery_id)
            ))
        })?;
        Ok(shown(again, None))
    }
}

fn needs_enabled(webhook: &store::WebhookRow) -> Result<(), Error> {
    if webhook.enabled {
        Ok(())
    } else {
        Err(Error::Conflict(
            "the webhook is switched off; switch it on first: PATCH it with {\"enabled\": true}"
                .to_owned(),
        ))
    }
}

/// `paused_until_ms`: until when the webhook rests, and the delivery with it.
fn shown(row: store::DeliveryRecord, paused_until_ms: Option<i64>) -> Delivery {
    let pending = row.state == DeliveryStatus::Pending;
    let rest_ms = paused_until_ms.filter(|_| !row.at_once);
    let next_ms = row.next_attempt_at_ms.max(rest_ms.unwrap_or(i64::MIN));
    Delivery {
        delivery_id: row.id,
        event_id: row.event_id,
        r#type: row.kind,
        status: row.state,
        attempts: row.attempts,
        next_attempt_at: pending.then(|| rfc3339(next_ms)),
        last_attempt_at: row.last_attempt_at_ms.map(rfc3339),
        response_status: row.response_status,
        duration_ms: row.duration_ms,
        last_error: row.last_error,
        execution_id: row.execution_id,
        created_at: rfc3339(row.created_at_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_attempt_is_not_before_the_webhook_has_rested() {
        let row = |at_once| store::DeliveryRecord {
            seq: 1,
            id: "dlv_1".to_owned(),
            workspace_id: "ws_1".to_owned(),
            webhook_id: "whk_1".to_owned(),
            event_id: "evt_1".to_owned(),
            kind: "tool.failed".to_owned(),
            state: DeliveryStatus::Pending,
            attempts: 0,
            next_attempt_at_ms: 1_000,
            last_attempt_at_ms: None,
            response_status: None,
            duration_ms: None,
            last_error: None,
            created_at_ms: 1_000,
            at_once,
            execution_id: Some("exe_1".to_owned()),
        };
        let next = |at_once, paused| shown(row(at_once), paused).next_attempt_at;
        assert_eq!(next(false, Some(9_000)), Some(rfc3339(9_000)));
        assert_eq!(next(false, Some(500)), Some(rfc3339(1_000)));
        assert_eq!(next(false, None), Some(rfc3339(1_000)));
        assert_eq!(next(true, Some(9_000)), Some(rfc3339(1_000)));
        let settled = store::DeliveryRecord {
            state: DeliveryStatus::Delivered,
            ..row(false)
        };
        let settled = shown(settled, Some(9_000));
        assert_eq!(settled.next_attempt_at, None);
        assert_eq!(settled.execution_id.as_deref(), Some("exe_1"));
    }
}
