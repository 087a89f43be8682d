//! `/internal/oidc`: signing in with an OpenID Connect provider. A browser is sent here and back, so
//! these two routes answer with redirects, never with an envelope.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use url::form_urlencoded;

use super::Site;
use super::access::Access;
use super::client::From;
use super::cookies;
use super::routes::Routes;
use crate::gateway::Gateway;
use crate::gateway::members::oidc::{OIDC_CALLBACK_PATH, OidcProblem};

/// Where the browser is sent to begin.
pub(super) const START_PATH: &str = "/internal/oidc/start";

pub(super) fn routes(routes: &mut Routes) {
    routes.add(Method::GET, START_PATH, Access::Open, start);
    routes.add(Method::GET, OIDC_CALLBACK_PATH, Access::Open, callback);
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
    match Box::pin(gateway.start_oidc(&return_to)).await {
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
    From(client): From,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let flow = cookies::read(&headers, cookies::FLOW_COOKIE, site.secure);
    match Box::pin(gateway.finish_oidc(&query, flow.as_deref(), &client)).await {
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
    let mut answer = to(&format!("/sign-in?problem={}", problem.code()));
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
