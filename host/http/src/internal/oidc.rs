//! `/internal/oidc`: signing in with an OpenID Connect provider. A browser is sent here and back, so
//! beginning and end answer with redirects; what the page itself asks is answered in an envelope.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use super::Site;
use super::access::Access;
use super::client::RequestBrowser;
use super::cookies;
use super::routes::Routes;
use toolgate_gateway::identity::members::oidc::{Choices, OIDC_CALLBACK_PATH, OidcProblem};
use toolgate_gateway::{Error, Gateway};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};

/// Where the browser is sent to begin.
pub(super) const START_PATH: &str = "/internal/oidc/start";
/// Where a person says which workspace they sign in to.
const CHOICE_PATH: &str = "/internal/oidc/choice";

pub(super) fn routes(routes: &mut Routes) {
    routes.add(Method::GET, START_PATH, Access::Open, start);
    routes.add(Method::POST, START_PATH, Access::Open, start_invited);
    routes.add(Method::GET, OIDC_CALLBACK_PATH, Access::Open, callback);
    routes.add(Method::GET, CHOICE_PATH, Access::Open, choices);
    routes.add(Method::POST, CHOICE_PATH, Access::Open, choose);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InvitedBody {
    /// Of the invitation that is accepted so.
    token: String,
}

#[derive(Serialize)]
struct StartedAnswer {
    url: String,
}

/// Begins at the page of an invitation, whose token no address may hold.
async fn start_invited(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    JsonBody(body): JsonBody<InvitedBody>,
) -> Result<Response, ApiFailure> {
    gateway.identity().link_info(&body.token).await?;
    let started = Box::pin(gateway.identity().start_oidc("/", Some(&body.token))).await;
    let started = started.map_err(|problem| Error::Internal(problem.into()))?;
    let url = StartedAnswer { url: started.url };
    let mut answer = Success::for_request(client.request_id, url).into_response();
    cookies::set_flow(answer.headers_mut(), &started.flow, site.secure);
    Ok(answer)
}

async fn choices(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    headers: HeaderMap,
) -> Result<Success<Choices>, ApiFailure> {
    let choice = cookies::read(&headers, cookies::CHOICE_COOKIE, site.secure);
    let choices = gateway.identity().oidc_choices(choice.as_deref()).await?;
    Ok(Success::for_request(client.request_id, choices))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChooseBody {
    workspace: String,
}

#[derive(Serialize)]
struct ChosenAnswer {
    return_to: String,
}

async fn choose(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ChooseBody>,
) -> Result<Response, ApiFailure> {
    let choice = cookies::read(&headers, cookies::CHOICE_COOKIE, site.secure);
    let chosen = gateway
        .identity()
        .choose_oidc(choice.as_deref(), &body.workspace, &client);
    let (signed_in, return_to) = chosen.await?;
    let mut answer =
        Success::for_request(client.request_id, ChosenAnswer { return_to }).into_response();
    cookies::set(answer.headers_mut(), &signed_in, site.secure);
    cookies::clear_choice(answer.headers_mut(), site.secure);
    Ok(answer)
}

async fn start(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let return_to = form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "return_to")
        .map_or_else(|| "/".to_owned(), |(_, value)| value.into_owned());
    match Box::pin(gateway.identity().start_oidc(&return_to, None)).await {
        Ok(start) => {
            let mut answer = to(&start.url);
            cookies::set_flow(answer.headers_mut(), &start.flow, site.secure);
            answer
        }
        Err(problem) => refused(&problem, &site),
    }
}

async fn callback(
    State(gateway): State<Arc<Gateway>>,
    State(site): State<Arc<Site>>,
    RequestBrowser(client): RequestBrowser,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let flow = cookies::read(&headers, cookies::FLOW_COOKIE, site.secure);
    match Box::pin(
        gateway
            .identity()
            .finish_oidc(&query, flow.as_deref(), &client),
    )
    .await
    {
        Ok((signed_in, return_to)) => {
            let mut answer = to(&return_to);
            cookies::set(answer.headers_mut(), &signed_in, site.secure);
            cookies::clear_flow(answer.headers_mut(), site.secure);
            answer
        }
        Err(problem) => refused(&problem, &site),
    }
}

fn refused(problem: &OidcProblem, site: &Site) -> Response {
    match problem {
        OidcProblem::Failed(cause) => {
            tracing::error!(error = format!("{cause:#}"), "members.oidc_failed");
        }
        other => tracing::warn!(problem = other.code(), "members.oidc_refused"),
    }
    let mut answer = match problem {
        OidcProblem::Choose(choice) => {
            let mut answer = to("/sign-in?choose=1");
            cookies::set_choice(answer.headers_mut(), choice, site.secure);
            answer
        }
        other => to(&format!("/sign-in?problem={}", other.code())),
    };
    cookies::clear_flow(answer.headers_mut(), site.secure);
    answer
}

fn to(address: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(address) = HeaderValue::from_str(address) {
        answer.headers_mut().insert(header::LOCATION, address);
    }
    answer
}
