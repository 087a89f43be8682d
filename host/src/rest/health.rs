//! `/v1/health` and `/v1/status`: how the gateway is, and what the key is.

use std::sync::Arc;

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::App;
use super::auth::Authenticated;
use super::envelope::{Failure, Success};
use super::query::Query;
use crate::gateway::{Gateway, Health, Status};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
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
    tag = "Gateway",
    security(("api_key" = [])),
    responses((status = 200, description = "The gateway answers and the key is valid.", body = inline(Success<Health>))),
)]
async fn health(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    query: Query,
) -> Result<Success<Health>, Failure> {
    query.finish()?;
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
    tag = "Gateway",
    security(("api_key" = [])),
    responses((status = 200, description = "The key is valid.", body = inline(Success<Status>))),
)]
async fn status(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    query: Query,
) -> Result<Success<Status>, Failure> {
    query.finish()?;
    let status = gateway.status(&caller).await?;
    Ok(Success::new(&caller, status))
}
