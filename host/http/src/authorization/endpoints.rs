//! The endpoints of the authorization server.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::response::Response;
use http::{Extensions, HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;

use super::answers;
use crate::connect;
use toolgate_core::ids;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::apps::AppPeer;
use toolgate_gateway::identity::apps::authorize::AuthorizeOutcome;
use toolgate_gateway::identity::apps::params::PARAMS_BYTES_MAX;
use toolgate_gateway::identity::apps::refusal::{AppProblem, RefusalCode};
use toolgate_http_kit::body::{self, BODY_TIMEOUT};
use toolgate_http_kit::client::{address_of, host_of};
use toolgate_http_kit::envelope::ApiFailure;
use toolgate_http_kit::layer::RequestId;

/// Largest metadata of a client.
const METADATA_BYTES_MAX: usize = 32 * 1024;
/// The page on which a member decides; the request's id is in its query.
const DECISION_PAGE: &str = "/authorize";

/// Opened by the browser of a member whom a client wants to be let in by. A request that is refused is told to the
/// person, on a page; no browser is sent to an address that no client has registered.
pub(super) async fn authorize(
    State(gateway): State<Arc<Gateway>>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Response {
    let peer = peer_of(request.extensions());
    let query = query.unwrap_or_default();
    let host = host_of(request.uri(), request.headers());
    match Box::pin(
        gateway
            .identity()
            .authorize_app(&query, host.as_deref(), &peer),
    )
    .await
    {
        Ok(AuthorizeOutcome::Ask { request_id }) => {
            let page = format!(
                "{}{DECISION_PAGE}?request={request_id}",
                gateway.public_url()
            );
            to(&page)
        }
        Ok(AuthorizeOutcome::Back { url }) => to(&url),
        Err(problem) => on_page(&problem, &peer.request_id),
    }
}

/// Exchanges what a client presents for tokens.
pub(super) async fn token(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = peer_of(&parts.extensions);
    let basic = parts.headers.contains_key(header::AUTHORIZATION);
    let issued = async {
        let form = form(&parts.headers, body).await?;
        let authorization = authorization(&parts.headers)?;
        gateway
            .identity()
            .app_tokens(authorization, &form, &peer)
            .await
    };
    match Box::pin(issued).await {
        Ok(issued) => {
            let mut body = json!({
                "access_token": issued.access.expose(),
                "token_type": "Bearer",
                "expires_in": issued.expires_in_s,
                "scope": issued.scopes,
            });
            if let Some(refresh) = &issued.refresh {
                body["refresh_token"] = json!(refresh.expose());
            }
            answers::json_of(StatusCode::OK, &body)
        }
        Err(problem) => refused(&problem, &peer, basic),
    }
}

/// Ends a token.
pub(super) async fn revoke(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = peer_of(&parts.extensions);
    let basic = parts.headers.contains_key(header::AUTHORIZATION);
    let ended = async {
        let form = form(&parts.headers, body).await?;
        let authorization = authorization(&parts.headers)?;
        gateway
            .identity()
            .revoke_app_token(authorization, &form, &peer)
            .await
    };
    match Box::pin(ended).await {
        Ok(()) => answers::json_of(StatusCode::OK, &json!({})),
        Err(problem) => refused(&problem, &peer, basic),
    }
}

/// Registers a client.
pub(super) async fn register(State(gateway): State<Arc<Gateway>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let peer = peer_of(&parts.extensions);
    let registered = async {
        if !body::is_json(&parts.headers) {
            return Err(malformed("the body must be JSON"));
        }
        let document = body::read(body, METADATA_BYTES_MAX, BODY_TIMEOUT).await;
        let document = document.map_err(|failure| malformed(&failure.message()))?;
        gateway.identity().register_app(&document, &peer).await
    };
    match Box::pin(registered).await {
        Ok(client) => answers::json_of(StatusCode::CREATED, &client.answer()),
        Err(problem) => refused(&problem, &peer, false),
    }
}

fn refused(problem: &AppProblem, peer: &AppPeer, basic: bool) -> Response {
    if let AppProblem::Refused { code, .. } = problem {
        let request_id = &peer.request_id;
        tracing::warn!(request_id, refusal = code.into_str(), "apps.refused");
    }
    answers::refused(problem, &peer.request_id, basic)
}

/// A refusal for the person in front of the browser.
fn on_page(problem: &AppProblem, request_id: &str) -> Response {
    let (status, sentence) = match problem {
        AppProblem::Refused { code, sentence } => {
            tracing::warn!(
                request_id,
                refusal = code.into_str(),
                "apps.authorize_refused"
            );
            (StatusCode::BAD_REQUEST, sentence.as_str())
        }
        AppProblem::Limited(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            "too many requests came from your network: try again in a minute",
        ),
        AppProblem::Internal(cause) => {
            tracing::error!(
                request_id,
                error.chain = format!("{cause:#}"),
                "request failed"
            );
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            (status, "the gateway failed on its side: try again")
        }
    };
    connect::plain_refusal(status, &format!("The app cannot connect: {sentence}"))
}

fn peer_of(extensions: &Extensions) -> AppPeer {
    AppPeer {
        request_id: match extensions.get::<RequestId>() {
            Some(RequestId(id)) => id.clone(),
            None => ids::ulid("req"),
        },
        address: address_of(extensions),
    }
}

/// The header `Authorization`, which no request has twice.
fn authorization(headers: &HeaderMap) -> Result<Option<&str>, AppProblem> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (first, None) = (values.next(), values.next()) else {
        return Err(malformed("the header Authorization is given twice"));
    };
    let Some(value) = first else { return Ok(None) };
    let text = value.to_str();
    text.map(Some)
        .map_err(|_| malformed("the header Authorization is not ASCII"))
}

async fn form(headers: &HeaderMap, body: Body) -> Result<String, AppProblem> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(malformed(
            "the body must be application/x-www-form-urlencoded",
        ));
    }
    let bytes = body::read(body, PARAMS_BYTES_MAX, BODY_TIMEOUT).await;
    let bytes = bytes.map_err(|failure: ApiFailure| malformed(&failure.message()))?;
    String::from_utf8(bytes.to_vec()).map_err(|_| malformed("the body is not UTF-8"))
}

fn malformed(sentence: &str) -> AppProblem {
    AppProblem::Refused {
        code: RefusalCode::InvalidRequest,
        sentence: sentence.to_owned(),
    }
}

/// Sends the browser on. The address that it comes from holds what the client asked for.
fn to(address: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    let headers = answer.headers_mut();
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(address) = HeaderValue::from_str(address) {
        headers.insert(header::LOCATION, address);
    }
    answer
}
