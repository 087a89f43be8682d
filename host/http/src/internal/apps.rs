//! `/internal/apps`: connected apps, and the decision about one that asks. Only people come here: what
//! an app may do, no key and no app decides.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::{Deserialize, Serialize};

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::apps::ConnectedApps;
use toolgate_gateway::identity::apps::authorize::AppRequestInfo;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let (member, admin) = (Access::Least(Role::Member), Access::Least(Role::Admin));
    let request = "/internal/app-requests/{request_id}";
    routes.add(Method::GET, request, member, show);
    routes.add(Method::POST, request, member, decide);
    routes.add(Method::GET, "/internal/apps", member, list);
    routes.add(Method::DELETE, "/internal/apps/{app_id}", member, revoke);
    routes.add(Method::POST, "/internal/app-blocks", admin, block);
    routes.add(Method::DELETE, "/internal/app-blocks", admin, unblock);
}

async fn show(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([request_id]): Segments<1>,
) -> Result<Success<AppRequestInfo>, ApiFailure> {
    let info = gateway.app_request(member.caller(), &request_id).await?;
    Ok(Success::new(member.caller(), info))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppDecisionBody {
    allow: bool,
}

#[derive(Serialize)]
struct DecidedAnswer {
    /// Where the browser goes with the answer.
    url: String,
}

async fn decide(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([request_id]): Segments<1>,
    JsonBody(body): JsonBody<AppDecisionBody>,
) -> Result<Success<DecidedAnswer>, ApiFailure> {
    let caller = member.caller();
    let url = gateway
        .decide_app_request(caller, &request_id, body.allow)
        .await?;
    Ok(Success::new(caller, DecidedAnswer { url }))
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<ConnectedApps>, ApiFailure> {
    let apps = gateway.connected_apps(member.caller()).await?;
    Ok(Success::new(member.caller(), apps))
}

#[derive(Serialize)]
struct EndedApp {
    app_id: String,
}

async fn revoke(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([app_id]): Segments<1>,
) -> Result<Success<EndedApp>, ApiFailure> {
    gateway.revoke_app(member.caller(), &app_id).await?;
    Ok(Success::new(member.caller(), EndedApp { app_id }))
}

/// A client's id may be an address, so it stands in the body.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientBody {
    client_id: String,
}

async fn block(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<ClientBody>,
) -> Result<Success<ClientBody>, ApiFailure> {
    gateway.block_app(member.caller(), &body.client_id).await?;
    Ok(Success::new(member.caller(), body))
}

async fn unblock(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<ClientBody>,
) -> Result<Success<ClientBody>, ApiFailure> {
    gateway
        .unblock_app(member.caller(), &body.client_id)
        .await?;
    Ok(Success::new(member.caller(), body))
}
