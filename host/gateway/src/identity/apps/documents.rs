//! Client ID metadata documents: the id of a client is the address at which it describes itself, so
//! the host of that address vouches for it
//! (draft-ietf-oauth-client-id-metadata-document; MCP 2026-07-28, Authorization).
//!
//! The address comes from a stranger. It is asked for through egress, under the policy of every other
//! request: public addresses alone, no redirect followed.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, header};
use url::Url;

use super::clients::ClientMetadata;
use super::refusal::{AppProblem, RefusalCode, refused};
use crate::Gateway;
use toolgate_egress::{DestinationClass, HostRequest};
use toolgate_store::{AppClient, AppClientAuth, AppClientKind};

/// Largest document.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024;
/// How long its host may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a document is believed, whatever its host says.
const FRESH_MS_MIN: i64 = 60 * 1_000;
const FRESH_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// And where its host says nothing.
const FRESH_MS: i64 = 60 * 60 * 1_000;

impl Gateway {
    /// Reads the document of a client and keeps what it says.
    pub(super) async fn read_document(&self, client_id: &str) -> Result<AppClient, AppProblem> {
        let host = host_of(client_id)
            .ok_or_else(|| bad("client_id is not the https address of a metadata document"))?;
        let _turn = self.apps.reading.try_acquire().map_err(|_| {
            let sentence = "too many clients are looked up at this moment: try again";
            refused(RefusalCode::TemporarilyUnavailable, sentence)
        })?;
        let request = HostRequest {
            method: Method::GET,
            class: DestinationClass::Identity,
            url: client_id.to_owned(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            body: Bytes::new(),
            origins: Vec::new(),
            response_bytes_max: DOCUMENT_BYTES_MAX,
            timeout: TIMEOUT,
        };
        let answer = self.egress.send_for_host(request).await.map_err(|cause| {
            tracing::warn!(client.host = host, error = %cause, "apps.document_unreachable");
            bad("the metadata document of the client cannot be read")
        })?;
        if answer.status != 200 {
            return Err(bad("the metadata document of the client is not there"));
        }
        let metadata = read(client_id, &answer.headers, &answer.body)?;
        let now_ms = self.clock.now_ms();
        let client = AppClient {
            id: client_id.to_owned(),
            kind: AppClientKind::Document,
            name: metadata.name(&host),
            redirect_uris: metadata.redirect_uris,
            auth_method: AppClientAuth::None,
            secret_hash: None,
            created_at_ms: now_ms,
            fresh_until_ms: Some(now_ms + fresh_ms(&answer.headers)),
            used_at_ms: None,
            workspace_id: None,
            acts_for: None,
            scopes: Vec::new(),
        };
        self.store.put_app_document(&client).await?;
        Ok(client)
    }
}

/// The host of a document's address. `None`: it is none that names a client: another scheme, no path,
/// or a text that a parser would rewrite.
pub(super) fn host_of(client_id: &str) -> Option<String> {
    let url = Url::parse(client_id).ok()?;
    let plain = url.scheme() == "https"
        && url.as_str() == client_id
        && url.path() != "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let host = url.host_str().filter(|_| plain)?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

fn read(client_id: &str, headers: &HeaderMap, body: &[u8]) -> Result<ClientMetadata, AppProblem> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_json = kind.eq_ignore_ascii_case("application/json")
        || (kind.starts_with("application/") && kind.ends_with("+json"));
    if !is_json {
        return Err(bad("the metadata document of the client is not JSON"));
    }
    toolgate_core::json::check(body)
        .map_err(|_| bad("the metadata document of the client is not JSON"))?;
    let metadata: ClientMetadata = serde_json::from_slice(body)
        .map_err(|_| bad("the metadata document of the client is not understood"))?;
    if metadata.client_id.as_deref() != Some(client_id) {
        return Err(bad(
            "client_id in the metadata document is not the address of the document",
        ));
    }
    // What is public proves nothing.
    let is_public = metadata
        .token_endpoint_auth_method
        .as_deref()
        .is_none_or(|method| method == "none");
    if !is_public || metadata.client_secret.is_some() {
        return Err(bad(
            "a client with a metadata document has the token_endpoint_auth_method none and no secret",
        ));
    }
    metadata.check()?;
    Ok(metadata)
}

/// How long a document may be believed without asking again (RFC 9111, section 5.2.2).
fn fresh_ms(headers: &HeaderMap) -> i64 {
    let mut fresh_ms = FRESH_MS;
    let values = headers.get_all(header::CACHE_CONTROL).iter();
    for directive in values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
    {
        let directive = directive.trim().to_ascii_lowercase();
        if matches!(directive.as_str(), "no-store" | "no-cache") {
            return FRESH_MS_MIN;
        }
        if let Some(seconds) = directive.strip_prefix("max-age=") {
            fresh_ms = seconds
                .parse::<i64>()
                .map_or(FRESH_MS_MIN, |seconds| seconds.saturating_mul(1_000));
        }
    }
    fresh_ms.clamp(FRESH_MS_MIN, FRESH_MS_MAX)
}

fn bad(sentence: &str) -> AppProblem {
    refused(RefusalCode::InvalidClient, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use serde_json::json;

    const ID: &str = "https://app.example/client.json";

    #[test]
    fn an_id_is_an_address_that_no_parser_rewrites() {
        assert_eq!(host_of(ID).as_deref(), Some("app.example"));
        let port = host_of("https://app.example:8443/c");
        assert_eq!(port.as_deref(), Some("app.example:8443"));
        for bad in [
            "http://app.example/client.json",
            "https://app.example",
            "https://app.example/",
            "https://app.example/a/../client.json",
            "https://app.example/./client.json",
            "https://app.example/client.json?x=y",
            "https://app.example/client.json#x",
            "https://user@app.example/client.json",
            "https://app.example:443/client.json",
            "https://APP.example/client.json",
            "https://app.example/client json",
            "https:app.example/client.json",
            "",
        ] {
            assert_eq!(host_of(bad), None, "{bad}");
        }
    }

    fn json_headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        let kind = HeaderValue::from_static("application/json; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, kind);
        headers
    }

    #[test]
    fn a_document_describes_the_client_that_asked_for_it_and_holds_no_secret() {
        let good = json!({ "client_id": ID, "redirect_uris": ["http://127.0.0.1/cb"], "client_name": "App" });
        let body = good.to_string();
        assert!(read(ID, &json_headers(), body.as_bytes()).is_ok());
        assert!(read(ID, &HeaderMap::new(), body.as_bytes()).is_err());
        for (field, value) in [
            ("client_id", json!("https://app.example/other.json")),
            ("client_id", json!(null)),
            ("redirect_uris", json!([])),
            ("redirect_uris", json!(["http://evil.test/cb"])),
            ("redirect_uris", json!("http://127.0.0.1/cb")),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
            ("token_endpoint_auth_method", json!("private_key_jwt")),
            ("client_secret", json!("s")),
            ("grant_types", json!(["client_credentials"])),
            ("response_types", json!(["token"])),
        ] {
            let mut bad = good.clone();
            bad[field] = value;
            let read = read(ID, &json_headers(), bad.to_string().as_bytes());
            assert!(read.is_err(), "{bad}");
        }
        for text in ["", "[]", "{", "null"] {
            assert!(
                read(ID, &json_headers(), text.as_bytes()).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_document_is_believed_as_long_as_its_host_says_within_bounds() {
        for (value, expected) in [
            (None, FRESH_MS),
            (Some("max-age=600"), 600_000),
            (Some("public, Max-Age=600"), 600_000),
            (Some("max-age=1"), FRESH_MS_MIN),
            (Some("max-age=99999999999999999999"), FRESH_MS_MIN),
            (Some("max-age=9223372036854775807"), FRESH_MS_MAX),
            (Some("max-age=600, no-store"), FRESH_MS_MIN),
            (Some("no-cache"), FRESH_MS_MIN),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(value) = value {
                headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
            }
            assert_eq!(fresh_ms(&headers), expected, "{value:?}");
        }
    }
}
