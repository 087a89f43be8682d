//! Every public route `/v1/...` as `/internal/...`, answered by the same handler for a signed-in
//! member. What a role may do is decided by the operations, as for a key's scopes.

use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::{Extensions, Method, Uri};
use tower::ServiceExt as _;

use super::InternalState;
use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Error;
use toolgate_http_kit::auth::PreAuthenticated;
use toolgate_http_kit::client::{ClientAddress, address_of};
use toolgate_http_kit::envelope::ApiFailure;
use toolgate_http_kit::layer::RequestId;
use toolgate_http_kit::memory::RequestMemory;
use toolgate_store::Role;

const PUBLIC: &str = "/v1";
const HERE: &str = "/internal";

pub(super) fn routes(routes: &mut Routes, document: &utoipa::openapi::OpenApi) {
    for (path, item) in &document.paths.paths {
        let Some(rest) = path.strip_prefix(PUBLIC) else {
            continue;
        };
        for (method, _) in operations(item) {
            let (path, access) = (format!("{HERE}{rest}"), Access::Least(Role::Member));
            routes.mirror(method, &path, access, forward);
        }
    }
}

/// The operations of one path.
pub(super) fn operations(
    item: &utoipa::openapi::PathItem,
) -> impl Iterator<Item = (Method, &utoipa::openapi::path::Operation)> {
    [
        (Method::GET, &item.get),
        (Method::POST, &item.post),
        (Method::PUT, &item.put),
        (Method::PATCH, &item.patch),
        (Method::DELETE, &item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| Some((method, operation.as_ref()?)))
}

async fn forward(
    State(app): State<InternalState>,
    member: SignedInMember,
    request: Request,
) -> Response {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    let public = format!("{PUBLIC}{}", path.strip_prefix(HERE).unwrap_or(path));
    let Ok(uri) = public.parse::<Uri>() else {
        return ApiFailure::UnknownRoute.into_response();
    };
    parts.uri = uri;
    // What routing has noted of this path does not hold for that one.
    let noted = std::mem::take(&mut parts.extensions);
    parts.extensions = kept(&noted);
    parts.extensions.insert(PreAuthenticated(member.0.caller));
    match app.public.oneshot(Request::from_parts(parts, body)).await {
        Ok(answer) => answer,
        Err(never) => ApiFailure::from(Error::Internal(anyhow::anyhow!("{never}"))).into_response(),
    }
}

fn kept(noted: &Extensions) -> Extensions {
    let mut kept = Extensions::new();
    if let Some(id) = noted.get::<RequestId>() {
        kept.insert(id.clone());
    }
    if let Some(memory) = noted.get::<RequestMemory>() {
        kept.insert(memory.clone());
    }
    if let Some(client) = address_of(noted) {
        kept.insert(ClientAddress(client));
    }
    kept
}
