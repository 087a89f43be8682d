//! `/internal/plugins`: what serves, uploads, approvals, ways back.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use serde::Deserialize;
use serde_json::json;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::plugins::admin::{FileAssessment, PluginInfo, PluginOverview};
use toolgate_http_kit::body::{self, JsonBody};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_runtime::Size;
use toolgate_store::Role;

/// How long an upload may take.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);

pub(super) fn routes(routes: &mut Routes) {
    let (any, operator) = (Access::Least(Role::Member), Access::Operator);
    let one = "/internal/plugins/{service}";
    routes.add(Method::GET, "/internal/plugins", any, list);
    routes.add(Method::POST, "/internal/plugins", operator, upload);
    routes.add(Method::POST, "/internal/plugins/check", operator, check);
    routes.add(Method::GET, one, any, read);
    routes.add(Method::DELETE, one, operator, remove);
    let approve_path = "/internal/plugins/{service}/approve";
    routes.add(Method::POST, approve_path, operator, approve);
    let back = "/internal/plugins/{service}/rollback";
    routes.add(Method::POST, back, operator, roll_back);
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<PluginOverview>, ApiFailure> {
    let overview = gateway.plugin_overview(member.caller()).await?;
    Ok(Success::new(member.caller(), overview))
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
) -> Result<Success<PluginInfo>, ApiFailure> {
    let plugin = gateway.plugin(member.caller(), &service).await?;
    Ok(Success::new(member.caller(), plugin))
}

async fn check(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    request: Request,
) -> Result<Success<FileAssessment>, ApiFailure> {
    let file = component(request).await?;
    let judged = Box::pin(gateway.check_plugin(member.caller(), file)).await?;
    Ok(Success::new(member.caller(), judged))
}

async fn upload(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    request: Request,
) -> Result<Response, ApiFailure> {
    let file = component(request).await?;
    let judged = Box::pin(gateway.add_plugin(member.caller(), file)).await?;
    let accepted = Success::new(member.caller(), judged);
    Ok((StatusCode::ACCEPTED, accepted).into_response())
}

/// The body of an upload: one component file.
async fn component(request: Request) -> Result<Bytes, ApiFailure> {
    if !is_wasm(request.headers()) {
        return Err(ApiFailure::Request {
            field: None,
            message: "the body must be a component file".to_owned(),
            hint: Some("Send the file itself with Content-Type: application/wasm.".to_owned()),
        });
    }
    let bytes_max = usize::try_from(Size::Large.bounds().component_bytes_max).unwrap_or(usize::MAX);
    body::read_request(request, bytes_max, UPLOAD_TIMEOUT).await
}

fn is_wasm(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/wasm" || kind == "application/octet-stream")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionBody {
    sha256: String,
}

async fn approve(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
    JsonBody(body): JsonBody<VersionBody>,
) -> Result<Success<PluginInfo>, ApiFailure> {
    let plugin = gateway.approve_plugin(member.caller(), &service, &body.sha256);
    Ok(Success::new(member.caller(), plugin.await?))
}

async fn roll_back(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
    JsonBody(body): JsonBody<VersionBody>,
) -> Result<Response, ApiFailure> {
    let plugin = gateway.roll_back_plugin(member.caller(), &service, &body.sha256);
    let accepted = Success::new(member.caller(), plugin.await?);
    Ok((StatusCode::ACCEPTED, accepted).into_response())
}

async fn remove(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([service]): Segments<1>,
) -> Result<Response, ApiFailure> {
    gateway.remove_plugin(member.caller(), &service).await?;
    let gone = Success::new(
        member.caller(),
        json!({ "service": service, "removed": true }),
    );
    Ok((StatusCode::ACCEPTED, gone).into_response())
}
