//! The envelope: how results and errors look on the wire.
//!
//! One of the two files that map [`gateway::Error`](toolgate_gateway::Error) outward (the other is
//! `mcp/render.rs`): status, code, headers and body of every refusal are decided here, by an
//! exhaustive match. A refusal travels inside the response as a [`ApiFailure`] until [`finish`], in
//! the layer around all routes, writes its body; so none can leave in another shape, not even one
//! that the HTTP library made.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};

use super::memory::LargeAnswer;
use toolgate_gateway::{Caller, Error, RateLimited};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Seconds after which a gateway that is starting or draining is worth another try.
const NOT_READY_RETRY_AFTER_S: u64 = 1;

/// The answer to a request that did what it asked.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Success<T> {
    /// Always `true`.
    #[schema(example = true)]
    success: bool,
    data: T,
    meta: Meta,
    /// In whose memory a large answer is.
    #[serde(skip)]
    #[schema(value_type = String)]
    workspace: Arc<str>,
}

/// What every answer carries beside its result.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Meta {
    /// The same value as the header `X-Request-Id`.
    #[schema(pattern = "^req_[0-9A-HJKMNP-TV-Z]{26}$")]
    request_id: String,
}

impl<T> Success<T> {
    pub fn new(caller: &Caller, data: T) -> Self {
        Self {
            workspace: caller.workspace_id.shared(),
            ..Self::for_request(caller.request_id.to_string(), data)
        }
    }

    /// For a route that answers without a caller.
    pub fn for_request(request_id: String, data: T) -> Self {
        Self {
            success: true,
            data,
            meta: Meta { request_id },
            workspace: Arc::default(),
        }
    }
}

impl<T: Serialize> IntoResponse for Success<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self) {
            Ok(body) => {
                let body = Bytes::from(body);
                let mut response = json_response(StatusCode::OK, body.clone());
                LargeAnswer::note(&mut response, self.workspace, body);
                response
            }
            Err(error) => ApiFailure::from(Error::Internal(error.into())).into_response(),
        }
    }
}

/// The answer to a request that was refused or failed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Failure)]
pub struct FailureBody {
    /// Always `false`.
    #[schema(example = false)]
    success: bool,
    error: ErrorBody,
    meta: Meta,
}

/// What went wrong, for a program (`code`), a person (`message`) and an agent (`hint`).
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Error)]
pub struct ErrorBody {
    /// Stable; one of the codes listed with each status.
    #[schema(example = "invalid_request")]
    code: &'static str,
    message: String,
    /// What the code leaves open, for example `violations` or `field`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    details: Option<Value>,
    /// The next step, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Every way in which a REST request ends without its result.
#[derive(Debug)]
pub enum ApiFailure {
    Gateway(Error),
    /// The request is not what the route takes. `field` names the parameter or body field.
    Request {
        field: Option<String>,
        message: String,
        hint: Option<String>,
    },
    /// The body is not JSON document; line and column count from 1.
    Json(toolgate_core::json::JsonProblem),
    UnknownRoute,
    MethodNotAllowed,
    PayloadTooLarge {
        bytes_max: usize,
    },
    UnsupportedMediaType,
    /// A change that another site's page may have sent.
    CrossSite,
    NotReady,
    Panicked,
}

impl ApiFailure {
    /// A refusal that names the parameter or body field at fault.
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Request {
            field: Some(field.into()),
            message: message.into(),
            hint: None,
        }
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Self::Gateway(error) => status_of(error),
            Self::Request { .. } | Self::Json(_) => StatusCode::BAD_REQUEST,
            Self::UnknownRoute => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::PayloadTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::CrossSite => StatusCode::FORBIDDEN,
            Self::NotReady => StatusCode::SERVICE_UNAVAILABLE,
            Self::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::Gateway(error) => error.code(),
            Self::Request { .. } => "invalid_request",
            Self::Json(_) => "invalid_json",
            Self::UnknownRoute => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::PayloadTooLarge { .. } => "payload_too_large",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::CrossSite => "cross_site",
            Self::NotReady => "overloaded",
            Self::Panicked => "internal_error",
        }
    }

    pub fn message(&self) -> String {
        match self {
            Self::Gateway(error) => error.to_string(),
            Self::Request {
                field: Some(field),
                message,
                ..
            } => format!("{field}: {message}"),
            Self::Request { message, .. } => message.clone(),
            Self::Json(problem) => format!("Invalid JSON in the body: {problem}"),
            Self::UnknownRoute => "there is no such route".to_owned(),
            Self::MethodNotAllowed => "the route does not take this method".to_owned(),
            Self::PayloadTooLarge { bytes_max } => {
                format!("the body is larger than {bytes_max} bytes")
            }
            Self::UnsupportedMediaType => "the body must be JSON".to_owned(),
            Self::CrossSite => "the request does not come from the dashboard".to_owned(),
            Self::NotReady => {
                "the gateway is starting or stopping, or its database does not accept writes"
                    .to_owned()
            }
            Self::Panicked => "internal error".to_owned(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Gateway(error) => hint_of(error),
            Self::Request { hint, .. } => hint.clone(),
            Self::Json(_) => Some("Send one JSON object, encoded in UTF-8.".to_owned()),
            Self::UnknownRoute => Some("GET /openapi.json lists every route.".to_owned()),
            Self::MethodNotAllowed => {
                Some("The header Allow names the methods of this route.".to_owned())
            }
            Self::UnsupportedMediaType => {
                Some("Send the header Content-Type: application/json.".to_owned())
            }
            Self::CrossSite => Some(
                "Send the header X-Toolgate-Dashboard: 1 and an Origin that is the dashboard's own."
                    .to_owned(),
            ),
            Self::PayloadTooLarge { .. } | Self::NotReady | Self::Panicked => None,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Gateway(error) => details_of(error),
            Self::Request { field, .. } => field.as_ref().map(|field| json!({ "field": field })),
            Self::Json(problem) => Some(json!({ "line": problem.line, "column": problem.column })),
            Self::PayloadTooLarge { bytes_max } => Some(json!({ "bytes_max": bytes_max })),
            Self::UnknownRoute
            | Self::MethodNotAllowed
            | Self::UnsupportedMediaType
            | Self::CrossSite
            | Self::NotReady
            | Self::Panicked => None,
        }
    }

    fn write_headers(&self, headers: &mut HeaderMap) {
        match self {
            Self::Gateway(error) => write_headers_of(error, headers),
            Self::NotReady => retry_after(headers, NOT_READY_RETRY_AFTER_S),
            Self::Request { .. }
            | Self::Json(_)
            | Self::UnknownRoute
            | Self::MethodNotAllowed
            | Self::PayloadTooLarge { .. }
            | Self::UnsupportedMediaType
            | Self::CrossSite
            | Self::Panicked => {}
        }
    }

    /// The chain of causes, for the log alone.
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::Gateway(Error::Internal(cause) | Error::DatabaseUnavailable(Some(cause))) => {
                Some(format!("{cause:#}"))
            }
            Self::Panicked => Some("a handler panicked".to_owned()),
            _ => None,
        }
    }

    /// The body as it goes out.
    pub fn body(&self, request_id: &str) -> FailureBody {
        FailureBody {
            success: false,
            error: ErrorBody {
                code: self.code(),
                message: self.message(),
                details: self.details(),
                hint: self.hint(),
            },
            meta: Meta {
                request_id: request_id.to_owned(),
            },
        }
    }
}

impl From<Error> for ApiFailure {
    fn from(error: Error) -> Self {
        Self::Gateway(error)
    }
}

fn status_of(error: &Error) -> StatusCode {
    match error {
        Error::InvalidRequest(_) | Error::InvalidJson { .. } | Error::InvalidArguments { .. } => {
            StatusCode::BAD_REQUEST
        }
        Error::ApiKeyRequired
        | Error::InvalidApiKey
        | Error::AccessTokenRequired
        | Error::InvalidAccessToken
        | Error::SignInRequired
        | Error::InvalidCredentials => StatusCode::UNAUTHORIZED,
        Error::PermissionDenied { .. }
        | Error::OwnQuestion
        | Error::ScopeDenied(_)
        | Error::IpNotAllowed
        | Error::RoleDenied(_) => StatusCode::FORBIDDEN,
        Error::NotFound(_)
        | Error::ToolNotFound { .. }
        | Error::ToolNotLoaded { .. }
        | Error::ToolWithdrawn { .. }
        | Error::SkillNotFound(_)
        | Error::SessionNotFound(_)
        | Error::UserNotFound(_)
        | Error::ServiceNotFound(_) => StatusCode::NOT_FOUND,
        Error::Conflict(_)
        | Error::ChooseWorkspace(_)
        | Error::IdempotencyConflict
        | Error::InProgress { .. }
        | Error::TurnInProgress { .. }
        | Error::OutcomeUnknown { .. }
        | Error::RepeatedWrite { .. } => StatusCode::CONFLICT,
        Error::RateLimited(_) => StatusCode::TOO_MANY_REQUESTS,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        Error::Overloaded { .. }
        | Error::Stopping
        | Error::ProviderUnavailable
        | Error::DatabaseUnavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The next step after a refusal of the gateway, over HTTP.
pub fn hint_of(error: &Error) -> Option<String> {
    match error {
        Error::ApiKeyRequired => {
            Some("Send the header Authorization: Bearer <API_KEY>.".to_owned())
        }
        Error::AccessTokenRequired => Some(
            "Sign in: the header WWW-Authenticate names the metadata that a client needs for it."
                .to_owned(),
        ),
        _ => error.hint(),
    }
}

fn details_of(error: &Error) -> Option<Value> {
    match error {
        Error::InvalidArguments {
            tool_name,
            violations,
        } => Some(json!({ "tool_name": tool_name, "violations": violations })),
        Error::ToolNotFound { tool_name, nearest } => {
            Some(json!({ "tool_name": tool_name, "nearest": nearest }))
        }
        Error::ToolNotLoaded {
            tool_name,
            plugins_loading,
        } => Some(json!({ "tool_name": tool_name, "plugins_loading": plugins_loading })),
        Error::ToolWithdrawn { tool_name, service } => {
            Some(json!({ "tool_name": tool_name, "service": service }))
        }
        Error::ScopeDenied(scope) => Some(json!({ "scope": scope.into_str() })),
        Error::RoleDenied(role) => Some(json!({ "role": role.into_str() })),
        Error::ChooseWorkspace(names) => Some(json!({ "workspaces": names })),
        Error::PermissionDenied { user_id, subject } => {
            Some(json!({ "user_id": user_id, "subject": subject }))
        }
        Error::OutcomeUnknown {
            execution_id,
            receipt,
        } => Some(json!({ "execution_id": execution_id, "receipt": receipt })),
        Error::RepeatedWrite { execution_id } => Some(json!({ "execution_id": execution_id })),
        Error::RateLimited(limited) => Some(json!({
            "window": limited.window.into_str(),
            "limit": limited.limit,
            "retry_after_s": limited.retry_after_s,
        })),
        Error::Stopping => Some(json!({ "reason": "stopping" })),
        Error::ProviderUnavailable => Some(json!({ "reason": "identity_provider" })),
        Error::DatabaseUnavailable(_) => Some(json!({ "reason": "database" })),
        _ => None,
    }
}

fn write_headers_of(error: &Error, headers: &mut HeaderMap) {
    match error {
        // RFC 9110, section 11.6.1: a 401 names the scheme to use.
        Error::ApiKeyRequired
        | Error::InvalidApiKey
        | Error::AccessTokenRequired
        | Error::InvalidAccessToken => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Error::RateLimited(limited) => rate_limit(headers, limited),
        _ => {
            if let Some(seconds) = error.retry_after_s() {
                retry_after(headers, seconds);
            }
        }
    }
}

/// RFC 9110, section 10.2.3, in seconds.
fn retry_after(headers: &mut HeaderMap, seconds: u64) {
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
}

/// `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers: policy name, quota
/// and window in seconds; nothing remaining, seconds until there is.
fn rate_limit(headers: &mut HeaderMap, limited: &RateLimited) {
    let RateLimited {
        window,
        limit,
        retry_after_s,
    } = limited;
    let window_s = window.seconds();
    retry_after(headers, *retry_after_s);
    for (name, value) in [
        (
            "ratelimit-policy",
            format!("\"{window}\";q={limit};w={window_s}"),
        ),
        ("ratelimit", format!("\"{window}\";r=0;t={retry_after_s}")),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

impl IntoResponse for ApiFailure {
    /// Status and the failure itself; [`finish`] writes the rest.
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

/// Gives an answer its last form: a refusal of whatever origin becomes an envelope.
///
/// `head`: the request's method is HEAD, so the length is stated and the body stays away.
pub fn finish(
    answer: Response,
    request_id: &str,
    head: bool,
) -> (Response, Option<Arc<ApiFailure>>) {
    let status = answer.status();
    if !(status.is_client_error() || status.is_server_error()) {
        return (answer, None);
    }
    let (mut parts, _) = answer.into_parts();
    let failure = parts.extensions.remove::<Arc<ApiFailure>>();
    let failure = failure.unwrap_or_else(|| Arc::new(foreign(status)));
    let mut finished = failure_response(&failure, request_id);
    if let Some(allow) = parts.headers.remove(header::ALLOW) {
        finished.headers_mut().insert(header::ALLOW, allow);
    }
    if head {
        let length = finished.body().size_hint().exact().unwrap_or_default();
        let headers = finished.headers_mut();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        *finished.body_mut() = Body::empty();
    }
    (finished, Some(failure))
}

/// A refusal as a whole response, for an edge outside this router.
pub fn failure_response(failure: &ApiFailure, request_id: &str) -> Response {
    let body = serde_json::to_vec(&failure.body(request_id))
        .expect("strings and JSON values always serialise");
    let mut response = json_response(failure.status(), body.into());
    failure.write_headers(response.headers_mut());
    response
}

/// What a status means that the HTTP library chose by itself.
fn foreign(status: StatusCode) -> ApiFailure {
    match status {
        StatusCode::NOT_FOUND => ApiFailure::UnknownRoute,
        StatusCode::METHOD_NOT_ALLOWED => ApiFailure::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => ApiFailure::PayloadTooLarge {
            bytes_max: super::BODY_BYTES_MAX,
        },
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ApiFailure::UnsupportedMediaType,
        status if status.is_client_error() => ApiFailure::Request {
            field: None,
            message: "the request is malformed".to_owned(),
            hint: None,
        },
        _ => ApiFailure::Gateway(Error::Internal(anyhow::anyhow!(
            "unexplained status {status}"
        ))),
    }
}

fn json_response(status: StatusCode, body: Bytes) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
}

/// The fallback of all routes.
pub async fn unknown_route() -> ApiFailure {
    ApiFailure::UnknownRoute
}

/// The fallback of a route's methods.
pub async fn wrong_method() -> ApiFailure {
    ApiFailure::MethodNotAllowed
}
