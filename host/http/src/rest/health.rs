//! `/v1/health` and `/v1/status`: how the gateway is, and what the key is.

use std::sync::Arc;

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{RestState, openapi};
use toolgate_gateway::{Gateway, Health, Status};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::NoQuery;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Gateway", "The gateway and the key in use.")
        .routes(routes!(health))
        .routes(routes!(status))
}

/// Read the gateway's health
///
/// The running version, its database and how many plugins and tools serve.
#[utoipa::path(
    get,
    path = "/v1/health",
    operation_id = "health_check",
    responses((status = 200, description = "The gateway answers and the key is valid.", body = inline(Success<Health>), example = json!({
        "status": "ok",
        "version": "0.1.0",
        "database": "sqlite",
        "plugins": {"active": 5, "loading": 0, "quarantined": 0, "pending_approval": 0},
        "tools": 74,
        "runtime": "pooling",
        "search": "hybrid",
        "search_model": "ready"
    }))),
)]
async fn health(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<Health>, ApiFailure> {
    let health = gateway.health().await;
    Ok(Success::new(&caller, health))
}

/// Test the key
///
/// What the gateway knows of the key in use: its name, scopes, default user and limits.
#[utoipa::path(
    get,
    path = "/v1/status",
    operation_id = "get_status",
    responses((status = 200, description = "The key is valid.", body = inline(Success<Status>), example = json!({
        "status": "ok",
        "workspace": "default",
        "key": {"name": "ci", "prefix": "a1B2c3D4", "scopes": ["tools:read", "tools:execute"], "user_id": "ada@example.com"},
        "limits": {"request_bytes_max": 1048576, "execution_timeout_ms": 30000, "result_bytes_max": 8388608, "key_requests_per_minute": 60, "key_requests_per_day": null, "workspace_requests_per_minute": 100}
    }))),
)]
async fn status(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<Status>, ApiFailure> {
    let status = gateway.status(&caller).await?;
    Ok(Success::new(&caller, status))
}
