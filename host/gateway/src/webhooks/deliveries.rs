//! The outcome of each delivery; trying a webhook; sending once more by hand.

use serde::Serialize;
use serde_json::json;

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
        Ok(DeliveryPage {
            deliveries: page.items.into_iter().map(shown).collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// Writes an event `webhook.test` for this webhook alone, whatever types it wants.
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
        Ok(shown(delivery))
    }

    /// Sends the event of an earlier delivery once more, under the same event id.
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
        Ok(shown(again))
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

fn shown(row: store::DeliveryRecord) -> Delivery {
    let pending = row.state == DeliveryStatus::Pending;
    Delivery {
        delivery_id: row.id,
        event_id: row.event_id,
        r#type: row.kind,
        status: row.state,
        attempts: row.attempts,
        next_attempt_at: pending.then(|| rfc3339(row.next_attempt_at_ms)),
        last_attempt_at: row.last_attempt_at_ms.map(rfc3339),
        response_status: row.response_status,
        duration_ms: row.duration_ms,
        last_error: row.last_error,
        created_at: rfc3339(row.created_at_ms),
    }
}
