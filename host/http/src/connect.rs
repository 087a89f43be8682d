//! The pages behind connect links, for people: rendered here, complete without JavaScript. The one
//! script closes a popup.
//!
//! An edge like the others: it decodes, calls one operation of [`toolgate_gateway::connections::flow`],
//! renders. No page loads anything from elsewhere, may be framed, cached, or named as a referrer;
//! no token is in a log or in an address that leaves. [`pages`] writes the HTML, [`mark`] the service's
//! logo, [`form`] reads what a browser sends. [`hooks`] takes what providers send on their own.

mod form;
mod hooks;
mod mark;
mod pages;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::Extensions;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use maud::Markup;

use toolgate_gateway::Gateway;
use toolgate_gateway::connections::callback::{ArrivedAt, SHARED_CALLBACK_PATH};
use toolgate_gateway::connections::client_document::CLIENT_DOCUMENTS_PATH;
use toolgate_gateway::connections::flow::{
    ConnectProblem, Cookie, SentForm, ShownPage, Step, WayBack,
};
use toolgate_http_kit::client::address_of;
use toolgate_http_kit::cookies::{self, NewCookie};

/// How long an authorization server may keep a client's document.
const CLIENT_DOCUMENT_KEPT: &str = "public, max-age=300";

/// The routes, ready to be merged; they need no key: the link is the key.
pub fn router(gateway: Arc<Gateway>) -> Router {
    Router::new()
        .route("/connect/{token}", get(show).post(submit))
        .route(SHARED_CALLBACK_PATH, get(shared_callback))
        .route(
            &format!("{SHARED_CALLBACK_PATH}/{{service}}"),
            get(callback),
        )
        .route(
            &format!("{CLIENT_DOCUMENTS_PATH}/{{file}}"),
            get(client_document),
        )
        .route("/hooks/{connection_id}", post(hooks::take))
        .with_state(gateway)
}

async fn show(
    State(gateway): State<Arc<Gateway>>,
    Path(token): Path<String>,
    headers: HeaderMap,
) -> Response {
    let cookie = |name: &str| cookies::get(&headers, name);
    match Box::pin(gateway.connect_page(&token, cookie)).await {
        Ok(shown) => form_page(StatusCode::OK, &shown),
        Err(problem) => refused(&problem, None),
    }
}

fn form_page(status: StatusCode, shown: &ShownPage) -> Response {
    let nonce = pages::nonce();
    let mut response = html(status, &nonce, pages::connect(&shown.page, &nonce));
    set_cookie(response.headers_mut(), &shown.cookie);
    response
}

async fn submit(
    State(gateway): State<Arc<Gateway>>,
    Path(token): Path<String>,
    headers: HeaderMap,
    extensions: Extensions,
    body: Body,
) -> Response {
    if !form::comes_from_here(&headers) {
        return plain_refusal(
            StatusCode::FORBIDDEN,
            "This form was sent from another site.",
        );
    }
    let form = match form::read(&headers, body).await {
        Ok(form) => form,
        Err(bad) => return plain_refusal(bad.status(), &bad.to_string()),
    };
    let sent = SentForm {
        inputs: form,
        address: address_of(&extensions),
    };
    let cookie = |name: &str| cookies::get(&headers, name);
    let step = Box::pin(gateway.connect_submit(&token, sent, cookie)).await;
    rendered(step)
}

async fn callback(
    State(gateway): State<Arc<Gateway>>,
    Path(service): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    arrived(&gateway, ArrivedAt::Service(&service), query, &headers).await
}

async fn shared_callback(
    State(gateway): State<Arc<Gateway>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    arrived(&gateway, ArrivedAt::Shared, query, &headers).await
}

/// What an authorization server reads of a client that is known by this address.
async fn client_document(
    State(gateway): State<Arc<Gateway>>,
    Path(file): Path<String>,
) -> Response {
    let service = file.strip_suffix(".json").unwrap_or_default();
    match gateway.client_document(service).await {
        Ok(Some(document)) => {
            let kept = (header::CACHE_CONTROL, CLIENT_DOCUMENT_KEPT);
            ([kept], Json(document)).into_response()
        }
        Ok(None) => plain_refusal(StatusCode::NOT_FOUND, "There is no such client."),
        Err(cause) => {
            tracing::error!(error = %cause, "connect.client_document_failed");
            let sentence = "The gateway cannot say this now. Try again in a moment.";
            plain_refusal(StatusCode::SERVICE_UNAVAILABLE, sentence)
        }
    }
}

async fn arrived(
    gateway: &Arc<Gateway>,
    at: ArrivedAt<'_>,
    query: Option<String>,
    headers: &HeaderMap,
) -> Response {
    let query = query.unwrap_or_default();
    let step = gateway.connect_callback(at, &query, |name| cookies::get(headers, name));
    let step = Box::pin(step).await;
    rendered(step)
}

fn rendered(step: Result<Step, ConnectProblem>) -> Response {
    let nonce = pages::nonce();
    match step {
        Ok(Step::Leave { url, cookie }) => {
            // A page of our own sends the browser on: a redirect of the form itself would be held
            // to `form-action`, at every hop that the provider adds.
            let page = pages::leave(url.expose(), &nonce);
            let mut response = html(StatusCode::OK, &nonce, page);
            if let Some(cookie) = &cookie {
                set_cookie(response.headers_mut(), cookie);
            }
            response
        }
        Ok(Step::Done(done)) => html(StatusCode::OK, &nonce, pages::done(&done, &nonce)),
        Ok(Step::Again(shown)) if shown.unbound => form_page(StatusCode::FORBIDDEN, &shown),
        Ok(Step::Again(shown)) => form_page(StatusCode::UNPROCESSABLE_ENTITY, &shown),
        Ok(Step::Asked(asked)) => html(StatusCode::OK, &nonce, pages::asked(&asked, &nonce)),
        Ok(Step::Cancelled(way_back)) => {
            html(StatusCode::OK, &nonce, pages::cancelled(&way_back, &nonce))
        }
        Ok(Step::Ended { problem, way_back }) => refused(&problem, Some(&way_back)),
        Err(problem) => refused(&problem, None),
    }
}

/// It comes back with the provider's redirect, or a link to the page, and with nothing else from elsewhere (RFC 6265bis,
/// section 5.6.7.1).
fn set_cookie(headers: &mut HeaderMap, cookie: &Cookie) {
    let flow = NewCookie {
        name: &cookie.name,
        value: cookie.value.expose(),
        path: "/",
        life_s: cookie.max_age_s,
        comes_with_redirects: true,
        secure: cookie.name.starts_with("__Host-"),
    };
    cookies::set(headers, flow);
}

fn refused(problem: &ConnectProblem, way_back: Option<&WayBack>) -> Response {
    let status = match problem {
        ConnectProblem::UnknownLink => StatusCode::NOT_FOUND,
        ConnectProblem::Used
        | ConnectProblem::Expired
        | ConnectProblem::Failed(_)
        | ConnectProblem::LinkRefused => StatusCode::GONE,
        ConnectProblem::TooManyRefused { .. } => StatusCode::TOO_MANY_REQUESTS,
        ConnectProblem::UnknownState
        | ConnectProblem::OtherBrowser
        | ConnectProblem::BadAnswer(_)
        | ConnectProblem::OtherProvider
        | ConnectProblem::Denied(_) => StatusCode::BAD_REQUEST,
        ConnectProblem::Refused(_) | ConnectProblem::RegisteredAgain | ConnectProblem::Away => {
            StatusCode::BAD_GATEWAY
        }
        ConnectProblem::NotServing | ConnectProblem::NotSetUp => StatusCode::SERVICE_UNAVAILABLE,
        ConnectProblem::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    if let ConnectProblem::Internal(cause) = problem {
        tracing::error!(error = %chain(cause), "connect.failed");
    } else {
        tracing::warn!(connect.problem = problem.code(), "connect.refused");
    }
    let nonce = pages::nonce();
    let page = pages::refusal(&problem.to_string(), way_back, &nonce);
    let mut response = html(status, &nonce, page);
    if let ConnectProblem::TooManyRefused { retry_after_s } = problem {
        let seconds = HeaderValue::from(*retry_after_s);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

fn chain(cause: &dyn std::error::Error) -> String {
    std::iter::successors(cause.source(), |cause| cause.source())
        .fold(cause.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// A page that says why there is no other.
pub(crate) fn plain_refusal(status: StatusCode, sentence: &str) -> Response {
    let nonce = pages::nonce();
    html(status, &nonce, pages::refusal(sentence, None, &nonce))
}

fn html(status: StatusCode, nonce: &str, page: Markup) -> Response {
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    let mut response = Response::new(Body::from(page.into_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
