//! The gateway as the authorization server of its MCP endpoint: what clients speak with. What a member
//! sees of it is a page of the dashboard, behind [`crate::internal`].
//!
//! An edge like the others: it decodes, calls one operation of [`toolgate_gateway::identity::apps`] and
//! encodes what comes back, as the RFCs of OAuth have it and not in the envelope of REST. [`metadata`]
//! says where everything is, [`endpoints`] are the endpoints, [`answers`] writes answers.
//!
//! No cookie counts here, so web pages of any origin may call what clients call; the one address that
//! browsers open ([`endpoints::authorize`]) changes nothing that a member has.

mod answers;
mod endpoints;
mod metadata;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::FutureExt as _;

use toolgate_core::ids;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::apps::refusal::AppProblem;
use toolgate_gateway::identity::apps::{
    ISSUER_METADATA, ISSUER_PATH, OPENID_METADATA, RESOURCE_METADATA, origin_and_path,
};
use toolgate_gateway::toolsets::TOOLSETS_PATH;
use toolgate_http_kit::answer::write_headers;
use toolgate_http_kit::client::address_of;
use toolgate_http_kit::layer::RequestId;

/// The routes, ready to be merged; they need no key.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let (resource, issuer) = (
        gateway.identity().mcp_resource(),
        gateway.identity().app_issuer(),
    );
    let resource_metadata = format!("{RESOURCE_METADATA}{}", origin_and_path(&resource).1);
    let issuer_path = origin_and_path(&issuer).1;
    let toolset_metadata = format!("{resource_metadata}{TOOLSETS_PATH}/{{toolset_name}}");
    let shared = |path: &str| format!("{ISSUER_PATH}/{path}");
    Router::new()
        .route(
            &resource_metadata,
            get(metadata::resource).options(answers::preflight),
        )
        .route(
            &toolset_metadata,
            get(metadata::toolset).options(answers::preflight),
        )
        .route(
            &format!("{ISSUER_METADATA}{issuer_path}"),
            get(metadata::issuer).options(answers::preflight),
        )
        // Below the issuer, where clients look that add the well-known part at the end.
        .route(
            &format!("{ISSUER_PATH}{ISSUER_METADATA}"),
            get(metadata::issuer).options(answers::preflight),
        )
        .route(
            &format!("{OPENID_METADATA}{issuer_path}"),
            get(metadata::openid).options(answers::preflight),
        )
        .route(
            &format!("{ISSUER_PATH}{OPENID_METADATA}"),
            get(metadata::openid).options(answers::preflight),
        )
        .route(
            &shared(metadata::KEYS),
            get(metadata::keys).options(answers::preflight),
        )
        .route(&shared("authorize"), get(endpoints::authorize))
        .route(
            &shared("token"),
            post(endpoints::token).options(answers::preflight),
        )
        .route(
            &shared("revoke"),
            post(endpoints::revoke).options(answers::preflight),
        )
        .route(
            &shared("register"),
            post(endpoints::register).options(answers::preflight),
        )
        .layer(axum::middleware::from_fn_with_state(
            gateway.clone(),
            around,
        ))
        .with_state(gateway)
}

/// Gives each request its id, ends a panic at the request's border, writes one log line and counts.
/// Logs no query, header or body.
async fn around(State(gateway): State<Arc<Gateway>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = ids::ulid("req");
    let method = request.method().clone();
    let client = address_of(request.extensions());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("unmatched", MatchedPath::as_str);
    request
        .extensions_mut()
        .insert(RequestId(request_id.clone()));
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut answer = answer.unwrap_or_else(|_| {
        let cause = anyhow::anyhow!("a handler panicked");
        answers::refused(&AppProblem::Internal(cause), &request_id, false)
    });
    write_headers(answer.headers_mut(), &request_id);
    let (took, status) = (started.elapsed(), answer.status().as_u16());
    gateway.metrics().http_request(&method, route, status, took);
    tracing::info!(
        http.method = method.as_str(),
        http.route = route,
        http.status = status,
        request_id,
        client.address = client.map(tracing::field::display),
        duration_ms = took.as_secs_f64() * 1_000.0,
        "request"
    );
    answer
}
