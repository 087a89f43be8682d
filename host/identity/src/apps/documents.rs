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

use super::AppPeer;
use super::client_keys::without_mark;
use super::clients::{ClientMetadata, ClientProof};
use super::refusal::{AppProblem, RefusalCode, refused};
use crate::Identity;
use toolgate_core::visible::visible_line;
use toolgate_egress::{DestinationClass, HostRequest, HostResponse};
use toolgate_store::{AppClient, AppClientKind};

/// Largest document.
const DOCUMENT_BYTES_MAX: usize = 16 * 1024;
/// What a refusal shows of a text of the client's.
const SHOWN_CHARS_MAX: usize = 200;
/// How long its host may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long a document is believed, whatever its host says.
const FRESH_MS_MIN: i64 = 60 * 1_000;
const FRESH_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// And where its host says nothing.
const FRESH_MS: i64 = 60 * 60 * 1_000;

impl Identity {
    /// Reads the document of a client and keeps what it says.
    pub(super) async fn read_document(
        &self,
        client_id: &str,
        peer: &AppPeer,
    ) -> Result<AppClient, AppProblem> {
        let host = host_of(client_id)
            .ok_or_else(|| bad("client_id is not the https address of a metadata document"))?;
        let answer = self.read_for_client(client_id, DOCUMENT_BYTES_MAX, peer);
        let answer = answer.await?;
        let metadata = read(client_id, &answer.headers, &answer.body)?;
        let ClientProof { method, jwks_uri } = metadata.proof_of_document()?;
        let now_ms = self.clock.now_ms();
        let client = AppClient {
            id: client_id.to_owned(),
            kind: AppClientKind::Document,
            name: metadata.name(&host),
            redirect_uris: metadata.redirect_uris,
            auth_method: method,
            secret_hash: None,
            created_at_ms: now_ms,
            fresh_until_ms: Some(now_ms + fresh_ms(&answer.headers)),
            used_at_ms: None,
            workspace_id: None,
            acts_for: None,
            scopes: Vec::new(),
            jwks_uri,
        };
        self.store.put_app_document(&client).await?;
        Ok(client)
    }

    /// Reads what a client has at an address of its own.
    ///
    /// # Errors
    /// `temporarily_unavailable` where too many are read at this moment; `invalid_client`, which says what its host
    /// answers.
    pub(super) async fn read_for_client(
        &self,
        address: &str,
        bytes_max: usize,
        peer: &AppPeer,
    ) -> Result<HostResponse, AppProblem> {
        let url = Url::parse(address).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let _place = self.apps.reading.take(host, peer.address).ok_or_else(|| {
            let sentence = "too many clients are looked up at this moment: try again";
            refused(RefusalCode::TemporarilyUnavailable, sentence)
        })?;
        let request = HostRequest {
            method: Method::GET,
            class: DestinationClass::Identity,
            url: address.to_owned(),
            headers: vec![("accept".to_owned(), "application/json".to_owned())],
            body: Bytes::new(),
            origins: Vec::new(),
            response_bytes_max: bytes_max,
            timeout: TIMEOUT,
        };
        let answer = self.egress.send_for_host(request).await.map_err(|cause| {
            tracing::warn!(client.host = host, error = %cause, "apps.document_unreachable");
            bad(&format!("{} cannot be read", shown(address)))
        })?;
        match answer.status {
            200 => Ok(answer),
            status @ 300..=399 => Err(bad(&format!(
                "{} is a redirect (status {status}), which is not followed",
                shown(address)
            ))),
            status => Err(bad(&format!(
                "{} answers with status {status}",
                shown(address)
            ))),
        }
    }
}

/// The host of a document's address. `None`: it cannot name a client: another scheme, no path,
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

/// The content type and a byte order mark are not looked at: what a document says is what it holds.
fn read(client_id: &str, headers: &HeaderMap, body: &[u8]) -> Result<ClientMetadata, AppProblem> {
    let body = without_mark(body);
    if let Err(problem) = toolgate_core::json::check(body) {
        let served_as = headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let served_as = served_as.map(|kind| format!(" and is served as {}", shown(kind)));
        return Err(bad(&format!(
            "the metadata document of the client is not JSON ({problem}){}",
            served_as.unwrap_or_default()
        )));
    }
    let metadata: ClientMetadata = serde_json::from_slice(body).map_err(|problem| {
        bad(&format!(
            "the metadata document of the client has a field of another type: {}",
            shown(&problem.to_string())
        ))
    })?;
    match metadata.client_id.as_deref() {
        Some(named) if named == client_id => {}
        Some(named) => {
            return Err(bad(&format!(
                "client_id in the metadata document is {}, which is not the address of the document",
                shown(named)
            )));
        }
        None => return Err(bad("the metadata document has no client_id")),
    }
    metadata.check()?;
    Ok(metadata)
}

/// A text of a stranger in a sentence for a person.
fn shown(text: &str) -> String {
    let start: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    visible_line(&start).into_owned()
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
    use serde_json::{Value, json};
    use toolgate_store::AppClientAuth;

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

    fn proof(document: &Value) -> Result<ClientProof, String> {
        let read = read(ID, &json_headers(), document.to_string().as_bytes());
        let proof = read.and_then(|metadata| metadata.proof_of_document());
        proof.map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_document_describes_the_client_that_asked_for_it_and_holds_no_secret() {
        let good = json!({ "client_id": ID, "redirect_uris": ["http://127.0.0.1/cb"], "client_name": "App" });
        assert!(proof(&good).is_ok());
        for (field, value, named) in [
            (
                "client_id",
                json!("https://app.example/other.json"),
                "other.json",
            ),
            ("client_id", json!(null), "no client_id"),
            ("redirect_uris", json!([]), "redirect_uris"),
            (
                "redirect_uris",
                json!(["http://evil.test/cb"]),
                "http://evil.test/cb",
            ),
            (
                "redirect_uris",
                json!("http://127.0.0.1/cb"),
                "expected a sequence",
            ),
            (
                "token_endpoint_auth_method",
                json!("client_secret_basic"),
                "client_secret_basic",
            ),
            (
                "token_endpoint_auth_method",
                json!("tls_client_auth"),
                "tls_client_auth",
            ),
            (
                "token_endpoint_auth_method",
                json!("private_key_jwt"),
                "jwks_uri",
            ),
            ("client_secret", json!("s"), "secret"),
            ("grant_types", json!(["client_credentials"]), "grant_types"),
            ("response_types", json!(["token"]), "response_types"),
        ] {
            let mut bad = good.clone();
            bad[field] = value;
            let refused = proof(&bad).unwrap_err();
            assert!(refused.contains(named), "{bad}: {refused}");
        }
        for text in ["", "[]", "{", "null", "<html>"] {
            assert!(
                read(ID, &json_headers(), text.as_bytes()).is_err(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_document_is_what_it_holds_whatever_it_is_served_as() {
        let good = json!({ "client_id": ID, "redirect_uris": ["http://127.0.0.1/cb"] }).to_string();
        let marked = format!("\u{feff}{good}");
        for kind in [
            None,
            Some("text/plain"),
            Some("text/plain; charset=utf-8"),
            Some("application/octet-stream"),
            Some("text/html"),
            Some("application/json; charset=none"),
            Some("garbage"),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(kind) = kind {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            for body in [&good, &marked] {
                assert!(
                    read(ID, &headers, body.as_bytes()).is_ok(),
                    "{kind:?} {body}"
                );
            }
            let refused = read(ID, &headers, b"<!doctype html>")
                .unwrap_err()
                .to_string();
            assert!(refused.contains("not JSON"), "{refused}");
            assert_eq!(refused.contains("served as"), kind.is_some(), "{refused}");
        }
    }

    #[test]
    fn a_client_that_publishes_its_keys_proves_itself_with_them() {
        let keys = "https://app.example/keys.json";
        let with = |method: Value, methods: Value, jwks_uri: Value| {
            proof(&json!({
                "client_id": ID, "redirect_uris": ["https://app.example/cb"], "token_endpoint_auth_method": method,
                "token_endpoint_auth_methods_supported": methods, "jwks_uri": jwks_uri,
            }))
        };
        let both = json!(["none", "private_key_jwt"]);
        for (method, methods, jwks_uri, expected) in [
            (
                json!("private_key_jwt"),
                json!(null),
                json!(keys),
                (AppClientAuth::PrivateKeyJwt, true),
            ),
            (
                json!("private_key_jwt"),
                both.clone(),
                json!(keys),
                (AppClientAuth::None, true),
            ),
            (
                json!("private_key_jwt"),
                both.clone(),
                json!(null),
                (AppClientAuth::None, false),
            ),
            (
                json!("client_secret_post"),
                json!(["none"]),
                json!(null),
                (AppClientAuth::None, false),
            ),
            (
                json!(null),
                json!(null),
                json!(keys),
                (AppClientAuth::None, false),
            ),
            (
                json!("none"),
                json!(null),
                json!(null),
                (AppClientAuth::None, false),
            ),
        ] {
            let ClientProof {
                method: asked,
                jwks_uri: found,
            } = with(method.clone(), methods, jwks_uri).unwrap();
            assert_eq!((asked, found.is_some()), expected, "{method}");
        }
        for jwks_uri in [
            "http://app.example/keys",
            "https://u@app.example/keys",
            "file:///keys",
            "",
        ] {
            let refused = with(json!("private_key_jwt"), json!(null), json!(jwks_uri));
            assert!(refused.unwrap_err().contains("jwks_uri"), "{jwks_uri}");
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
