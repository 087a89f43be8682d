//! JSON bodies, read strictly.
//!
//! In this order: content type, size and memory while reading, one JSON document without repeated keys
//! ([`toolgate_core::json`]), the fields of `T`. A type that is decoded here carries
//! `#[serde(deny_unknown_fields)]`, so that a misspelt field is refused by name.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, HttpBody};
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use super::BODY_BYTES_MAX;
use super::envelope::ApiFailure;
use super::memory::RequestMemory;
use toolgate_core::json;
use toolgate_core::memory::buffer::BudgetedBuffer;
use toolgate_core::memory::{HeldMemory, NoFreeMemory};
use toolgate_gateway::body_memory::overloaded;

/// How long a client may take to send a body.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How much of a body that is too large is still taken in, as a multiple of what it may be, and at least.
const REFUSED_TIMES_MAX: usize = 2;
const REFUSED_BYTES_MIN: usize = 8 * BODY_BYTES_MAX;
/// For how long it is taken in.
const REFUSED_TIMEOUT: Duration = Duration::from_secs(5);

/// A request body, decoded.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiFailure;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiFailure> {
        if !is_json(request.headers()) {
            return Err(ApiFailure::UnsupportedMediaType);
        }
        let bytes = read_request(request, BODY_BYTES_MAX, BODY_TIMEOUT).await?;
        decode(&bytes).map(Self)
    }
}

/// `application/json` or `application/...+json` (RFC 6839), in UTF-8 where a charset is named.
pub fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let Ok(value) = value.to_str() else {
        return false;
    };
    let mut parts = value
        .split(';')
        .map(|part| part.trim().to_ascii_lowercase());
    let essence = parts.next().unwrap_or_default();
    let json = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    let utf8 = parts
        .filter_map(|parameter| parameter.strip_prefix("charset=").map(str::to_owned))
        .all(|charset| charset.trim_matches('"') == "utf-8");
    json && utf8
}

/// The whole body of a request, in the memory of its workspace.
pub async fn read_request(
    request: Request,
    bytes_max: usize,
    timeout: Duration,
) -> Result<Bytes, ApiFailure> {
    let (parts, body) = request.into_parts();
    let memory = parts.extensions.get::<RequestMemory>();
    read_counted(memory, body, bytes_max, timeout).await
}

/// A whole body that is small anyway.
pub async fn read(body: Body, bytes_max: usize, timeout: Duration) -> Result<Bytes, ApiFailure> {
    read_counted(None, body, bytes_max, timeout).await
}

/// The whole body, counted while it arrives: a length that the client states is only believed
/// when it is too large.
pub async fn read_counted(
    memory: Option<&RequestMemory>,
    body: Body,
    bytes_max: usize,
    timeout: Duration,
) -> Result<Bytes, ApiFailure> {
    let too_large = || ApiFailure::PayloadTooLarge { bytes_max };
    let hint = HttpBody::size_hint(&body);
    let stated = hint.lower();
    let mut chunks = body.into_data_stream();
    if stated > u64::try_from(bytes_max).unwrap_or(u64::MAX) {
        let_go_by(&mut chunks, bytes_max).await;
        return Err(too_large());
    }
    let account = memory.map(RequestMemory::account);
    let most = hint.upper().and_then(|bytes| usize::try_from(bytes).ok());
    let most = most.map_or(bytes_max, |bytes| bytes.min(bytes_max));
    let collect = async {
        let mut whole = BudgetedBuffer::new(account.as_ref(), most);
        let Some(first) = chunks.next().await else {
            return Ok(Bytes::new());
        };
        let first = first.map_err(|_| cut_short())?;
        if first.len() > bytes_max {
            let_go_by(&mut chunks, bytes_max).await;
            return Err(too_large());
        }
        if let Err(cause) = whole.take(first.len()).await {
            drop(whole);
            return Err(without_memory(&mut chunks, bytes_max, cause).await);
        }
        // Nearly every body is one chunk, which is handed on without a copy.
        let Some(second) = chunks.next().await else {
            let (_, held) = whole.into_parts();
            return Ok(kept(memory, first, held));
        };
        let mut pieces = stream::iter([Ok(first), second]).chain(&mut chunks);
        while let Some(chunk) = pieces.next().await {
            let chunk = chunk.map_err(|_| cut_short())?;
            if whole.len() + chunk.len() > bytes_max {
                drop((whole, pieces));
                let_go_by(&mut chunks, bytes_max).await;
                return Err(too_large());
            }
            if let Err(cause) = whole.extend(&chunk).await {
                drop((whole, pieces));
                return Err(without_memory(&mut chunks, bytes_max, cause).await);
            }
        }
        let (bytes, held) = whole.into_parts();
        Ok(kept(memory, bytes.into(), held))
    };
    let late = |_| {
        unsent(format!(
            "the body did not arrive within {} s",
            timeout.as_secs()
        ))
    };
    tokio::time::timeout(timeout, collect).await.map_err(late)?
}

fn kept(memory: Option<&RequestMemory>, body: Bytes, held: Option<HeldMemory>) -> Bytes {
    match (memory, held) {
        (Some(memory), Some(held)) => memory.keep(body, held),
        _ => body,
    }
}

/// The refusal of a body for which there is no memory. What it had is given back before.
async fn without_memory(
    chunks: &mut BodyDataStream,
    bytes_max: usize,
    cause: NoFreeMemory,
) -> ApiFailure {
    let_go_by(chunks, bytes_max).await;
    overloaded(cause).into()
}

/// Reads and forgets the rest of a body that is refused, within bounds: a connection that closes
/// with bytes unread is reset, and the client would never see why.
async fn let_go_by(chunks: &mut BodyDataStream, bytes_max: usize) {
    let read_on = async {
        let mut left = REFUSED_BYTES_MIN.max(bytes_max.saturating_mul(REFUSED_TIMES_MAX));
        while let Some(Ok(chunk)) = chunks.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(REFUSED_TIMEOUT, read_on).await;
}

fn cut_short() -> ApiFailure {
    unsent("the body ended before it was complete".to_owned())
}

fn unsent(message: String) -> ApiFailure {
    ApiFailure::Request {
        field: None,
        message,
        hint: None,
    }
}

/// One JSON document as a `T`.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiFailure> {
    json::check(bytes).map_err(ApiFailure::Json)?;
    // A struct would also be read from an array, its fields by position.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(ApiFailure::field("body", "must be one JSON object"));
    }
    if let Ok(decoded) = serde_json::from_slice(bytes) {
        return Ok(decoded);
    }
    // Only a refusal pays for knowing where.
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let what = json::JsonProblem::from_error(error.inner()).what;
        match path.as_str() {
            "." => ApiFailure::field("body", what),
            _ => ApiFailure::field(path, what),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::collections::BTreeMap;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Purchase {
        item: String,
        #[serde(default)]
        counts: BTreeMap<String, u8>,
    }

    #[test]
    fn only_json_in_utf8_is_read() {
        for (value, json) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/merge-patch+json", true),
            ("application/json; charset=latin1", false),
            ("text/json", false),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(value));
            assert_eq!(is_json(&headers), json, "{value}");
            headers.append(header::CONTENT_TYPE, HeaderValue::from_static(value));
            assert!(!is_json(&headers), "{value} twice");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn a_refused_body_names_its_field_or_position() {
        for (text, code, message) in [
            (
                "",
                "invalid_json",
                "Invalid JSON in the body: EOF while parsing a value at line 1 column 0",
            ),
            (
                "{\"item\":\n nul}",
                "invalid_json",
                "Invalid JSON in the body: expected ident at line 2 column 5",
            ),
            (
                r#"{"item":"a","item":"b"}"#,
                "invalid_json",
                r#"Invalid JSON in the body: the key "item" appears twice at line 1 column 18"#,
            ),
            (
                r#"{"item":"a","counts":{"x":1,"x":2}}"#,
                "invalid_json",
                r#"Invalid JSON in the body: the key "x" appears twice at line 1 column 31"#,
            ),
            ("[]", "invalid_request", "body: must be one JSON object"),
            (
                r#"["a",{}]"#,
                "invalid_request",
                "body: must be one JSON object",
            ),
            ("{}", "invalid_request", "body: missing field `item`"),
            (
                r#"{"item":1}"#,
                "invalid_request",
                "item: invalid type: integer `1`, expected a string",
            ),
            (
                r#"{"item":"a","counts":{"x":256}}"#,
                "invalid_request",
                "counts.x: invalid value: integer `256`, expected u8",
            ),
            (
                r#"{"item":"a","itme":"b"}"#,
                "invalid_request",
                "itme: unknown field `itme`, expected `item` or `counts`",
            ),
        ] {
            let failure = decode::<Purchase>(text.as_bytes()).unwrap_err();
            let body = serde_json::to_value(failure.body("req_1")).unwrap();
            assert_eq!(body["error"]["code"], code, "{text}");
            assert_eq!(body["error"]["message"], message, "{text}");
        }
        let order: Purchase = decode(br#"{"item":"a","counts":{"x":255}}"#).unwrap();
        assert_eq!((order.item.as_str(), order.counts["x"]), ("a", 255));
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit_and_no_further() {
        for (chunks, fits) in [
            (vec![4], true),
            (vec![2, 2], true),
            (vec![], true),
            (vec![5], false),
            (vec![2, 2, 1], false),
        ] {
            let total: usize = chunks.iter().sum();
            let stream = chunks
                .into_iter()
                .map(|n| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; n])));
            let body = Body::from_stream(futures_util::stream::iter(stream));
            match read(body, 4, BODY_TIMEOUT).await {
                Ok(bytes) => assert!(fits && bytes.len() == total),
                Err(failure) => assert!(!fits && failure.code() == "payload_too_large"),
            }
        }
        let stated = Body::from(vec![b' '; 5]);
        assert_eq!(
            read(stated, 4, BODY_TIMEOUT).await.unwrap_err().code(),
            "payload_too_large"
        );
    }

    #[tokio::test]
    async fn a_body_that_never_arrives_is_given_up() {
        let endless = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let failure = read(Body::from_stream(endless), 4, Duration::ZERO)
            .await
            .unwrap_err();
        assert_eq!(failure.code(), "invalid_request");
    }
}
