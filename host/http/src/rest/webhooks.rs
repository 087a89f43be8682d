//! `/v1/webhooks`: where a workspace has its events sent.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::{Keyed, KeyedBody};
use super::{RestState, openapi};
use toolgate_core::states::DeliveryStatus;
use toolgate_gateway::tools::idempotency::IdempotentAnswer;
use toolgate_gateway::webhooks::deliveries::{
    Delivery, DeliveryPage, LIST_LIMIT_MAX, ListDeliveries,
};
use toolgate_gateway::webhooks::{
    CreateWebhook, DeletedWebhook, Filters, OVERLAP_HOURS, SecretWebhook, UpdateWebhook, Webhook,
    WebhookList,
};
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{Id, NoQuery, PageLimit, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Webhooks",
        "Addresses that are sent the workspace's events, signed after Standard Webhooks.",
    )
    .routes(routes!(create, list))
    .routes(routes!(read, update, delete))
    .routes(routes!(rotate))
    .routes(routes!(test))
    .routes(routes!(deliveries))
    .routes(routes!(resend))
}

/// A new webhook.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct CreateWebhookBody {
    /// A public https address, or one for which the operator allows an upstream.
    #[schema(
        min_length = 1,
        max_length = 2000,
        example = "https://app.example.com/toolgate"
    )]
    url: String,
    /// Event types, groups (`tool.*`) or `*`.
    #[schema(min_items = 1, max_items = 100)]
    events: Vec<String>,
    #[serde(default)]
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    description: String,
    #[serde(default)]
    filters: Filters,
}

/// What to change; absent fields stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdateWebhookBody {
    #[schema(min_length = 1, max_length = 2000)]
    url: Option<String>,
    #[schema(min_items = 1, max_items = 100)]
    events: Option<Vec<String>>,
    #[schema(max_length = 500, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    description: Option<String>,
    /// In place of all filters; `{}` lets everything pass.
    filters: Option<Filters>,
    /// `true` also forgets earlier failures and sends what waits.
    enabled: Option<bool>,
}

/// How to rotate.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct RotateBody {
    /// How long the secret before signs too, in hours; 24 if absent, 0 ends it at once.
    #[schema(maximum = 168)]
    overlap_hours: Option<u32>,
}

/// A webhook with its secret, which no later answer holds.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct WebhookWithSecret {
    #[serde(flatten)]
    webhook: Webhook,
    /// `whsec_` and the key in base64, as Standard Webhooks writes it. Shown this once.
    secret: String,
}

impl From<SecretWebhook> for WebhookWithSecret {
    fn from(made: SecretWebhook) -> Self {
        Self {
            secret: made.secret.expose().to_owned(),
            webhook: made.webhook,
        }
    }
}

/// List webhooks
///
/// Webhooks of the workspace, newest first.
#[utoipa::path(
    get,
    path = "/v1/webhooks",
    operation_id = "list_webhooks",
    responses((status = 200, description = "The webhooks.", body = inline(Success<WebhookList>), example = json!({"webhooks": [{"webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "url": "https://app.example.com/toolgate", "description": "the application", "events": ["tool.*", "connection.expired"], "filters": {"services": ["github"]}, "enabled": true, "created_at": "2026-11-20T09:30:00.125Z", "updated_at": "2026-11-20T09:30:00.125Z"}]}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<WebhookList>, ApiFailure> {
    let list = gateway.webhooks(&caller).await?;
    Ok(Success::new(&caller, list))
}

/// Create a webhook
///
/// Events are sent as `POST` with `{type, timestamp, data}` and the headers `webhook-id`,
/// `webhook-timestamp` and `webhook-signature` of Standard Webhooks, at least once and in order while
/// they are answered with a status of the 200s within 15 s. Others are tried again for three days;
/// 410 switches the webhook off, and so do five days without a good answer. The answer alone holds
/// the secret, so it is never kept: with an `Idempotency-Key` no two of these run at the same time,
/// and a repetition makes a webhook of its own.
#[utoipa::path(
    post,
    path = "/v1/webhooks",
    operation_id = "create_webhook",
    request_body(content = CreateWebhookBody, description = "Where to send which events.", example = json!({"url": "https://app.example.com/toolgate", "events": ["tool.*", "connection.expired"], "filters": {"services": ["github"]}})),
    responses((status = 201, description = "The webhook and its secret.", body = inline(Success<WebhookWithSecret>), example = json!({"webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "url": "https://app.example.com/toolgate", "description": "the application", "events": ["tool.*", "connection.expired"], "filters": {"services": ["github"]}, "enabled": true, "created_at": "2026-11-20T09:30:00.125Z", "updated_at": "2026-11-20T09:30:00.125Z", "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}))),
)]
async fn create(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<CreateWebhookBody>,
) -> Result<Response, ApiFailure> {
    let request = CreateWebhook {
        url: body.url,
        description: body.description,
        events: body.events,
        filters: body.filters,
    };
    let make = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.create_webhook(&caller, request).await
    };
    let made = gateway.one_at_a_time(&caller, attempt, make).await?;
    let made: WebhookWithSecret = made.into();
    Ok((StatusCode::CREATED, Success::new(&caller, made)).into_response())
}

/// Read a webhook
///
/// Where it sends what, and how it fares; the secret is never part of an answer.
#[utoipa::path(
    get,
    path = "/v1/webhooks/{webhook_id}",
    operation_id = "get_webhook",
    params(("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The webhook.", body = inline(Success<Webhook>), example = json!({"webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "url": "https://app.example.com/toolgate", "description": "the application", "events": ["tool.*", "connection.expired"], "filters": {"services": ["github"]}, "enabled": true, "created_at": "2026-11-20T09:30:00.125Z", "updated_at": "2026-11-20T09:30:00.125Z"}))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<Webhook>, ApiFailure> {
    let webhook = gateway.webhook(&caller, &webhook_id).await?;
    Ok(Success::new(&caller, webhook))
}

/// Change a webhook
///
/// Absent fields stay. With `enabled: true` it forgets earlier failures and what waits is sent at once, also where it
/// was on and paused.
#[utoipa::path(
    patch,
    path = "/v1/webhooks/{webhook_id}",
    operation_id = "update_webhook",
    params(("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    request_body(content = UpdateWebhookBody, description = "What to change.", example = json!({"enabled": true})),
    responses((status = 200, description = "The webhook as it is now.", body = inline(Success<Webhook>), example = json!({"webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "url": "https://app.example.com/toolgate", "description": "the application", "events": ["tool.*", "connection.expired"], "filters": {"services": ["github"]}, "enabled": true, "created_at": "2026-11-20T09:30:00.125Z", "updated_at": "2026-11-20T09:30:00.125Z"}))),
)]
async fn update(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id]): Segments<1>,
    _: NoQuery,
    JsonBody(body): JsonBody<UpdateWebhookBody>,
) -> Result<Success<Webhook>, ApiFailure> {
    let request = UpdateWebhook {
        webhook_id,
        url: body.url,
        description: body.description,
        events: body.events,
        filters: body.filters,
        enabled: body.enabled,
    };
    let webhook = gateway.update_webhook(&caller, request).await?;
    Ok(Success::new(&caller, webhook))
}

/// Delete a webhook
///
/// With its deliveries; what waits is not sent any more.
#[utoipa::path(
    delete,
    path = "/v1/webhooks/{webhook_id}",
    operation_id = "delete_webhook",
    params(("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedWebhook>), example = json!({"webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedWebhook>, ApiFailure> {
    let deleted = gateway.delete_webhook(&caller, &webhook_id).await?;
    Ok(Success::new(&caller, deleted))
}

/// Rotate a webhook's secret
///
/// Deliveries carry a signature with each secret while they overlap. The answer alone holds the new
/// one.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{webhook_id}/rotate",
    operation_id = "rotate_webhook_secret",
    params(("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    request_body(content = RotateBody, description = "How long both secrets sign.", example = json!({"overlap_hours": 24})),
    responses((status = 200, description = "The webhook and its new secret.", body = inline(Success<WebhookWithSecret>), example = json!({"webhook_id": "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "url": "https://app.example.com/toolgate", "description": "the application", "events": ["tool.*", "connection.expired"], "filters": {"services": ["github"]}, "enabled": true, "created_at": "2026-11-20T09:30:00.125Z", "updated_at": "2026-11-20T09:30:00.125Z", "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}))),
)]
async fn rotate(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id]): Segments<1>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<RotateBody>,
) -> Result<Success<WebhookWithSecret>, ApiFailure> {
    let hours = body.overlap_hours.unwrap_or(OVERLAP_HOURS);
    let rotate = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway
            .rotate_webhook_secret(&caller, &webhook_id, hours)
            .await
    };
    let rotated = gateway.one_at_a_time(&caller, attempt, rotate).await?;
    let rotated: WebhookWithSecret = rotated.into();
    Ok(Success::new(&caller, rotated))
}

/// Test a webhook
///
/// Sends it an event `webhook.test` at once, whatever events it wants, and also while it is paused. Its deliveries
/// show its outcome.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{webhook_id}/test",
    operation_id = "test_webhook",
    params(("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The delivery that waits to be sent.", body = inline(Success<Delivery>), example = json!({"delivery_id": "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "type": "webhook.test", "status": "pending", "attempts": 0, "next_attempt_at": "2026-11-20T09:30:00.125Z", "created_at": "2026-11-20T09:30:00.125Z"}))),
)]
async fn test(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id]): Segments<1>,
    _: NoQuery,
    Keyed(attempt): Keyed,
) -> Result<Success<IdempotentAnswer<Delivery>>, ApiFailure> {
    let send = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.test_webhook(&caller, &webhook_id).await
    };
    let sent = gateway
        .once(&caller, Scope::Webhooks, attempt, send)
        .await?;
    Ok(Success::new(&caller, sent))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct DeliveriesQuery {
    /// Only deliveries in this state.
    status: Option<DeliveryStatus>,
    /// How many deliveries a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List deliveries
///
/// Newest first. Settled ones are kept for seven days. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/webhooks/{webhook_id}/deliveries",
    operation_id = "list_webhook_deliveries",
    params(
        ("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        DeliveriesQuery,
    ),
    responses((status = 200, description = "One page of deliveries.", body = inline(Success<DeliveryPage>), example = json!({"deliveries": [{"delivery_id": "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "type": "webhook.test", "status": "pending", "attempts": 0, "next_attempt_at": "2026-11-20T09:30:00.125Z", "created_at": "2026-11-20T09:30:00.125Z"}], "next_cursor": null}))),
)]
async fn deliveries(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id]): Segments<1>,
    QueryString(query): QueryString<DeliveriesQuery>,
) -> Result<Success<DeliveryPage>, ApiFailure> {
    let request = ListDeliveries {
        webhook_id,
        status: query.status,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.webhook_deliveries(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// Send a delivery once more
///
/// The same event under the same `webhook-id`, as a delivery of its own.
#[utoipa::path(
    post,
    path = "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend",
    operation_id = "resend_webhook_delivery",
    params(
        ("webhook_id" = String, Path, description = "The id that create and list return.", example = "whk_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        ("delivery_id" = String, Path, description = "The id in the list of deliveries.", example = "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
    ),
    responses((status = 200, description = "The new delivery, which waits to be sent.", body = inline(Success<Delivery>), example = json!({"delivery_id": "dlv_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "event_id": "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "type": "webhook.test", "status": "pending", "attempts": 0, "next_attempt_at": "2026-11-20T09:30:00.125Z", "created_at": "2026-11-20T09:30:00.125Z"}))),
)]
async fn resend(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([webhook_id, delivery_id]): Segments<2>,
    _: NoQuery,
    Keyed(attempt): Keyed,
) -> Result<Success<IdempotentAnswer<Delivery>>, ApiFailure> {
    let send = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway
            .resend_delivery(&caller, &webhook_id, &delivery_id)
            .await
    };
    let again = gateway
        .once(&caller, Scope::Webhooks, attempt, send)
        .await?;
    Ok(Success::new(&caller, again))
}
