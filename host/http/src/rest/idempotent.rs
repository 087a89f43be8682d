//! Bodies of requests that may carry an `Idempotency-Key`
//! (draft-ietf-httpapi-idempotency-key-header).

use axum::extract::{FromRequest, Request};
use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use toolgate_core::exact::ExactNumbers;
use toolgate_gateway::tools::idempotency::KeyedRequest;
use toolgate_http_kit::BODY_BYTES_MAX;
use toolgate_http_kit::body::{self, BODY_TIMEOUT};
use toolgate_http_kit::envelope::ApiFailure;

/// The header's name.
pub(super) const HEADER: &str = "idempotency-key";
/// With a key: does the request again although the outcome of the first one is unknown.
const RETRY_UNKNOWN: &str = "retry_unknown";

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
        let bytes = body::read_request(request, BYTES_MAX, BODY_TIMEOUT).await?;
        let Some(key) = key else {
            let (body, attempt) = (body::decode(&bytes)?, None);
            return Ok(Self { body, attempt });
        };
        let mut question = body::decode(&bytes)?;
        let numbers = ExactNumbers::read(std::str::from_utf8(&bytes).unwrap_or_default());
        let body = match without_retry(&question, &numbers) {
            None => body::decode(&bytes)?,
            Some(rest) => body::decode(rest.as_bytes())?,
        };
        // Two numbers that a parser rounds to one make two requests.
        numbers.spell_out(&mut question);
        let attempt = KeyedRequest::new(&key, &operation, question)?;
        Ok(Self {
            body,
            attempt: Some(attempt),
        })
    }
}

/// The body without its `retry_unknown`, which belongs to the key and not to what `T` is; `None` where it has
/// none that is `true` or `false`.
fn without_retry(question: &Value, numbers: &ExactNumbers) -> Option<String> {
    question.get(RETRY_UNKNOWN)?.as_bool()?;
    let mut rest = question.clone();
    rest.as_object_mut()?.remove(RETRY_UNKNOWN);
    Some(numbers.write(&rest))
}

/// The attempt that a request without a body belongs to, if it names a key. Where it has a body all the
/// same, only `retry_unknown` is read in it.
pub(super) struct Keyed(pub Option<KeyedRequest>);

impl<S: Send + Sync> FromRequest<S> for Keyed {
    type Rejection = ApiFailure;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiFailure> {
        let Some(key) = key(request.headers())? else {
            return Ok(Self(None));
        };
        let operation = format!("{} {}", request.method(), request.uri().path());
        let attempt = KeyedRequest::new(&key, &operation, Value::Null)?;
        if !body::is_json(request.headers()) {
            return Ok(Self(Some(attempt)));
        }
        let bytes = body::read_request(request, BODY_BYTES_MAX, BODY_TIMEOUT).await?;
        let retry =
            serde_json::from_slice::<Value>(&bytes).is_ok_and(|body| body[RETRY_UNKNOWN] == true);
        Ok(Self(Some(attempt.retrying(retry))))
    }
}

pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, ApiFailure> {
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

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Method;
    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct KeyedNote {
        text: String,
    }

    fn request(key: Option<&str>, body: &Value) -> Request {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri("/v1/notes")
            .header(http::header::CONTENT_TYPE, "application/json");
        if let Some(key) = key {
            request = request.header(HEADER, key);
        }
        request.body(Body::from(body.to_string())).unwrap()
    }

    async fn read(key: Option<&str>, body: Value) -> Result<KeyedBody<KeyedNote>, ApiFailure> {
        KeyedBody::from_request(request(key, &body), &()).await
    }

    fn attempt(body: Value) -> KeyedRequest {
        KeyedRequest::new("k", "POST /v1/notes", body).unwrap()
    }

    #[tokio::test]
    async fn with_a_key_every_body_may_ask_to_be_tried_again() {
        let plain = json!({"text": "a"});
        let knowing = json!({"text": "a", "retry_unknown": true});
        let taken = read(Some("k"), knowing.clone()).await.unwrap();
        assert_eq!(taken.body.text, "a");
        assert_eq!(taken.attempt, Some(attempt(plain.clone()).retrying(true)));
        let taken = read(Some("k"), plain.clone()).await.unwrap();
        assert_eq!(taken.attempt, Some(attempt(plain)));
        let not_bool = json!({"text": "a", "retry_unknown": 1});
        for (key, refused) in [(None, knowing), (Some("k"), not_bool)] {
            let failure = read(key, refused).await.err().unwrap();
            let body = serde_json::to_value(failure.body("req_1")).unwrap();
            assert_eq!(body["error"]["details"]["field"], "retry_unknown");
        }
    }

    #[tokio::test]
    async fn numbers_that_round_to_one_make_two_requests_and_keep_their_digits() {
        #[derive(serde::Deserialize)]
        struct KeyedId {
            id: Box<serde_json::value::RawValue>,
        }
        let read = async |body: &str| {
            let request = Request::builder()
                .method(Method::POST)
                .uri("/v1/notes")
                .header(http::header::CONTENT_TYPE, "application/json")
                .header(HEADER, "k")
                .body(Body::from(body.to_owned()))
                .unwrap();
            KeyedBody::<KeyedId>::from_request(request, &())
                .await
                .unwrap()
        };
        let first = read(r#"{"id":36893488147419103232,"retry_unknown":true}"#).await;
        assert_eq!(first.body.id.get(), "36893488147419103232");
        let second = read(r#"{"id":36893488147419103233,"retry_unknown":true}"#).await;
        assert_ne!(first.attempt, second.attempt);
        let again = read(r#"{"retry_unknown":true,"id":36893488147419103232}"#).await;
        assert_eq!(first.attempt, again.attempt);
    }

    #[tokio::test]
    async fn a_request_without_a_body_of_its_own_may_ask_for_it_too() {
        let plain = attempt(Value::Null);
        for (body, expected) in [
            (Value::Null, plain.clone()),
            (json!({}), plain.clone()),
            (json!({"retry_unknown": true}), plain.retrying(true)),
        ] {
            let Keyed(taken) = Keyed::from_request(request(Some("k"), &body), &())
                .await
                .unwrap();
            assert_eq!(taken, Some(expected), "{body}");
        }
    }
}
