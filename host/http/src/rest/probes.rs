//! Routes that need no key: liveness, readiness, metrics and the interface's own description.
//!
//! They say nothing of a workspace, a user or a connection.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, header};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Pages, RestOptions, RestState, docs as reference, openapi};
use toolgate_gateway::Gateway;
use toolgate_gateway::metrics::{self, Metrics};
use toolgate_http_kit::envelope::ApiFailure;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Probes", "Routes without a key, for operators.")
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
        .routes(routes!(document))
        .routes(routes!(docs))
}

#[derive(Serialize, utoipa::ToSchema)]
struct Probe {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

const OK: Json<Probe> = Json(Probe { status: "ok" });

/// Probe liveness
///
/// The process answers. Says nothing of the database or the plugins.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "probe_liveness",
    responses((status = 200, description = "The process answers.", body = Probe)),
)]
async fn healthz() -> Json<Probe> {
    OK
}

/// Probe readiness
///
/// The gateway takes requests: the database takes writes, the catalog is loaded and no shutdown is
/// under way. Answers within a few seconds.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "probe_readiness",
    responses((status = 200, description = "The gateway takes requests.", body = Probe)),
)]
async fn readyz(State(gateway): State<Arc<Gateway>>) -> Result<Json<Probe>, ApiFailure> {
    if gateway.ready().await {
        Ok(OK)
    } else {
        Err(ApiFailure::NotReady)
    }
}

/// Read the metrics
///
/// OpenMetrics text for a Prometheus server. Not found unless the operator has the metrics served here
/// (`--metrics-public`) and not at an address of their own (`--metrics-listen`).
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "read_metrics",
    responses((status = 200, description = "All metrics.", body = String, content_type = "application/openmetrics-text")),
)]
async fn metrics(State(options): State<Arc<RestOptions>>) -> Result<Response, ApiFailure> {
    if options.metrics_here {
        Ok(exposition(&options.metrics))
    } else {
        Err(ApiFailure::UnknownRoute)
    }
}

/// The metrics as an answer.
pub(super) fn exposition(metrics: &Metrics) -> Response {
    typed(metrics::CONTENT_TYPE, metrics.render().into())
}

/// Read this document
///
/// The interface's description in the OpenAPI format, version 3.1.
#[utoipa::path(
    get,
    path = "/openapi.json",
    operation_id = "read_openapi",
    responses((status = 200, description = "The document.", body = Object)),
)]
async fn document(State(pages): State<Arc<Pages>>) -> Response {
    typed("application/json", pages.openapi.clone())
}

/// Read this document as a page
///
/// The same description for people, with samples in several languages and a form that sends requests to this gateway.
#[utoipa::path(
    get,
    path = "/docs",
    operation_id = "read_docs",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
async fn docs() -> Response {
    reference::page()
}

fn typed(content_type: &'static str, body: Bytes) -> Response {
    let content_type = HeaderValue::from_static(content_type);
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}
