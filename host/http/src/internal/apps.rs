//! `/internal/apps`: connected apps, the decision about one that asks, and the clients that admins name. Only
//! people come here: what an app may do, no key and no app decides.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::apps::authorize::AppRequestInfo;
use toolgate_gateway::identity::apps::named::{NamedClientInfo, NewClient};
use toolgate_gateway::identity::apps::scopes::all_scopes;
use toolgate_gateway::identity::apps::{APP_SCOPES, ConnectedApps};
use toolgate_gateway::{Error, Gateway, Scope};
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
    let clients = "/internal/app-clients";
    routes.add(Method::GET, clients, admin, clients_list);
    routes.add(Method::POST, clients, admin, client_create);
    routes.add(
        Method::DELETE,
        "/internal/app-clients/{client_id}",
        admin,
        client_remove,
    );
}

async fn show(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([request_id]): Segments<1>,
) -> Result<Success<AppRequestInfo>, ApiFailure> {
    let info = gateway
        .identity()
        .app_request(member.caller(), &request_id)
        .await?;
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
        .identity()
        .decide_app_request(caller, &request_id, body.allow)
        .await?;
    Ok(Success::new(caller, DecidedAnswer { url }))
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<ConnectedApps>, ApiFailure> {
    let apps = gateway.identity().connected_apps(member.caller()).await?;
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
    gateway
        .identity()
        .revoke_app(member.caller(), &app_id)
        .await?;
    Ok(Success::new(member.caller(), EndedApp { app_id }))
}

/// A client's id may be an address, so it is in the body.
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
    gateway
        .identity()
        .block_app(member.caller(), &body.client_id)
        .await?;
    Ok(Success::new(member.caller(), body))
}

async fn unblock(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<ClientBody>,
) -> Result<Success<ClientBody>, ApiFailure> {
    gateway
        .identity()
        .unblock_app(member.caller(), &body.client_id)
        .await?;
    Ok(Success::new(member.caller(), body))
}

#[derive(Serialize)]
struct ClientsAnswer {
    clients: Vec<NamedClientInfo>,
    /// What a client may have.
    scopes: Vec<&'static str>,
}

async fn clients_list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<ClientsAnswer>, ApiFailure> {
    let list = ClientsAnswer {
        clients: gateway.identity().named_clients(member.caller()).await?,
        scopes: APP_SCOPES.map(<&str>::from).to_vec(),
    };
    Ok(Success::new(member.caller(), list))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewClientBody {
    name: String,
    #[serde(default)]
    redirect_uris: Vec<String>,
    #[serde(default)]
    acts_for: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    public: bool,
}

#[derive(Serialize)]
struct NewClientAnswer {
    #[serde(flatten)]
    client: NamedClientInfo,
    /// In this answer alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
}

async fn client_create(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<NewClientBody>,
) -> Result<Response, ApiFailure> {
    let acts_for = body.acts_for.map(|user| UserId::parse(&user)).transpose();
    let scopes = body.scopes.iter().map(|scope| scope.parse::<Scope>());
    let unknown = |_| Error::InvalidRequest(format!("scopes: must be of {}", all_scopes()));
    let new = NewClient {
        name: body.name,
        redirect_uris: body.redirect_uris,
        acts_for: acts_for.map_err(|cause| Error::InvalidRequest(format!("acts_for: {cause}")))?,
        scopes: scopes.collect::<Result<_, _>>().map_err(unknown)?,
        public: body.public,
    };
    let made = gateway.identity().name_client(member.caller(), new).await?;
    let answer = NewClientAnswer {
        client: made.info,
        client_secret: made.secret.map(|secret| secret.expose().to_owned()),
    };
    let mut answer = Success::new(member.caller(), answer).into_response();
    *answer.status_mut() = StatusCode::CREATED;
    Ok(answer)
}

#[derive(Serialize)]
struct RemovedClient {
    client_id: String,
}

async fn client_remove(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([client_id]): Segments<1>,
) -> Result<Success<RemovedClient>, ApiFailure> {
    gateway
        .identity()
        .remove_client(member.caller(), &client_id)
        .await?;
    Ok(Success::new(member.caller(), RemovedClient { client_id }))
}
