//! Bodies of requests that may carry an `Idempotency-Key`
//! (draft-ietf-httpapi-idempotency-key-header).

use axum::extract::{FromRequest, FromRequestParts, Request};
use http::HeaderMap;
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::Value;

use toolgate_gateway::tools::idempotency::KeyedRequest;
use toolgate_http_kit::BODY_BYTES_MAX;
use toolgate_http_kit::body::{self, BODY_TIMEOUT};
use toolgate_http_kit::envelope::ApiFailure;

/// The header's name.
pub(super) const HEADER: &str = "idempotency-key";

/// A body, decoded as [`toolgate_http_kit::body::JsonBody`] does, and the attempt it belongs to if the request
/// names a key. No larger than `BYTES_MAX`.
pub(super) struct KeyedBody<T, const BYTES_MAX: usize = BODY_BYTES_MAX> {
    pub body: T,
    pub attempt: Option<KeyedRequest>,
}

impl<S: Send + Sync, T: DeserializeOwned, const BYTES_MAX: usize> FromRequest<S>
    for KeyedBody<T, BYTES_MAX>
{
    type Rejection = ApiFailure;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiFailure> {
        if !body::is_json(request.headers()) {
            return Err(ApiFailure::UnsupportedMediaType);
        }
        let key = key(request.headers())?;
        let operation = format!("{} {}", request.method(), request.uri().path());
        let bytes = body::read(request.into_body(), BYTES_MAX, BODY_TIMEOUT).await?;
        let decoded = body::decode(&bytes)?;
        let attempt = match key {
            None => None,
            Some(key) => {
                let question = body::decode(&bytes)?;
                Some(KeyedRequest::new(&key, &operation, question)?)
            }
        };
        Ok(Self {
            body: decoded,
            attempt,
        })
    }
}

/// The attempt that a request without a body belongs to, if it names a key.
pub(super) struct Keyed(pub Option<KeyedRequest>);

impl<S: Send + Sync> FromRequestParts<S> for Keyed {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiFailure> {
        let Some(key) = key(&parts.headers)? else {
            return Ok(Self(None));
        };
        let operation = format!("{} {}", parts.method, parts.uri.path());
        Ok(Self(Some(KeyedRequest::new(
            &key,
            &operation,
            Value::Null,
        )?)))
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, ApiFailure> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.to_owned())),
        _ => Err(ApiFailure::field(
            "Idempotency-Key",
            "must be one text of visible ASCII characters",
        )),
    }
}
