//! Signing in and out: the only routes that need no cookie.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, Method};
use serde::{Deserialize, Serialize};

use super::Site;
use super::access::Access;
use super::client::RequestBrowser;
use super::cookies::{self, REFRESH_COOKIE, SESSION_COOKIE};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::members::links::LinkInfo;
use toolgate_gateway::identity::members::sign_in::{SetUpRequest, SignInRequest, SignedIn};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_vault::Secret;

pub(super) fn routes(routes: &mut Routes) {
    let open = Access::Open;
    routes.add(Method::GET, "/internal/welcome", open, welcome);
    routes.add(Method::POST, "/internal/link", open, link);
    routes.add(Method::POST, "/internal/setup", open, set_up);
    routes.add(Method::POST, "/internal/sign-in", open, sign_in);
    routes.add(Method::POST, "/internal/refresh", open, refresh);
    routes.add(Method::POST, "/internal/sign-out", open, sign_out);
}

#[derive(Debug, Serialize)]
struct Welcome {
    version: &'static str,
    /// Whether anybody can sign in.
    set_up: bool,
    sign_in: SignInMethods,
}

#[derive(Debug, Serialize)]
struct SignInMethods {
    password: bool,
    oidc: Option<Oidc>,
}

#[derive(Debug, Serialize)]
struct Oidc {
    name: String,
    start_url: &'static str,
}

async fn welcome(
    State(gateway): State<Arc<Gateway>>,
    RequestBrowser(client): RequestBrowser,
) -> Result<Success<Welcome>, ApiFailure> {
    let set_up = gateway.identity().is_set_up().await?;
    let welcome = Welcome {
        version: env!("CARGO_PKG_VERSION"),
        set_up,
        sign_in: SignInMethods {
            password: true,
            oidc: gateway.identity().oidc().map(|config| Oidc {
                name: config.name.clone(),
                start_url: super::oidc::START_PATH,
            }),
        },
    };
    Ok(Success::for_request(client.request_id, welcome))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkTokenBody {
    token: String,
}

async fn link(
    State(gateway): State<Arc<Gateway>>,
    RequestBrowser(client): RequestBrowser,
    JsonBody(body): JsonBody<LinkTokenBody>,
) -> Result<Success<LinkInfo>, ApiFailure> {
    let info = gateway.identity().link_info(&body.token).await?;
    Ok(Success::for_request(client.request_id, info))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetUpBody {
    token: String,
    email: Option<String>,
    name: Option<String>,
    password: String,
}

async fn set_up(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    JsonBody(body): JsonBody<SetUpBody>,
) -> Result<Response, ApiFailure> {
    let request = SetUpRequest {
        token: Secret::new(body.token),
        email: body.email,
        name: body.name,
        password: Secret::new(body.password),
    };
    let signed_in = gateway.identity().set_up(request, &client).await?;
    Ok(answered(client.request_id, signed_in, &site))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignInBody {
    email: String,
    password: String,
    workspace: Option<String>,
}

async fn sign_in(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    JsonBody(body): JsonBody<SignInBody>,
) -> Result<Response, ApiFailure> {
    let request = SignInRequest {
        email: body.email,
        password: Secret::new(body.password),
        workspace: body.workspace,
    };
    let signed_in = gateway.identity().sign_in(request, &client).await?;
    Ok(answered(client.request_id, signed_in, &site))
}

async fn refresh(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    headers: HeaderMap,
) -> Result<Response, ApiFailure> {
    let token = cookies::read(&headers, REFRESH_COOKIE, site.secure);
    let signed_in = gateway
        .identity()
        .refresh_sign_in(token.as_deref(), &client)
        .await?;
    Ok(answered(client.request_id, signed_in, &site))
}

#[derive(Debug, Serialize)]
struct SignedOut {
    signed_out: bool,
}

async fn sign_out(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    headers: HeaderMap,
) -> Result<Response, ApiFailure> {
    let jwt = cookies::read(&headers, SESSION_COOKIE, site.secure);
    let token = cookies::read(&headers, REFRESH_COOKIE, site.secure);
    gateway
        .identity()
        .sign_out(jwt.as_deref(), token.as_deref(), &client)
        .await?;
    let done = SignedOut { signed_out: true };
    let mut answer = Success::for_request(client.request_id, done).into_response();
    cookies::clear(answer.headers_mut(), site.secure);
    Ok(answer)
}

/// Who is signed in now, and the cookies that say so.
pub(super) fn answered(request_id: String, signed_in: SignedIn, site: &Site) -> Response {
    let mut answer = Success::for_request(request_id, &signed_in.me).into_response();
    cookies::set(answer.headers_mut(), &signed_in, site.secure);
    answer
}
