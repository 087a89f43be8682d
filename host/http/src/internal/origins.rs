//! `/internal/origins`: origins of applications that connect links may lead to. Only people come here: a key chooses
//! among them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{Method, StatusCode};
use serde::Deserialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::connections::origins::{DeletedOrigin, OriginList};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/origins", admin, list);
    routes.add(Method::POST, "/internal/origins", admin, add);
    let one = "/internal/origins/{origin_id}";
    routes.add(Method::DELETE, one, admin, remove);
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<OriginList>, ApiFailure> {
    let list = gateway.list_origins(member.caller()).await?;
    Ok(Success::new(member.caller(), list))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddOriginBody {
    origin: String,
}

async fn add(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<AddOriginBody>,
) -> Result<Response, ApiFailure> {
    let caller = member.caller();
    let origin = gateway.add_origin(caller, &body.origin).await?;
    Ok((StatusCode::CREATED, Success::new(caller, origin)).into_response())
}

async fn remove(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([origin_id]): Segments<1>,
) -> Result<Success<DeletedOrigin>, ApiFailure> {
    let deleted = gateway.remove_origin(member.caller(), &origin_id).await?;
    Ok(Success::new(member.caller(), deleted))
}
