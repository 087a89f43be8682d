//! Requests to the token and revocation endpoints, and the answers (RFC 6749, section 5; RFC 7009).
//!
//! Pure. Answers are read as JSON and, for the servers that still send it, as a form. An answer
//! with an `error` and no token is a refusal whatever its status says. What is kept in clear of an
//! answer, scopes and connection parameters, holds nothing of its credentials, in any form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use url::form_urlencoded;
use zeroize::Zeroizing;

use super::callback::error_code;
use super::clear::CredentialTexts;
use super::{OAuthError, Provider};
use toolgate_catalog::is_scope;
use toolgate_catalog::manifest::TokenAuth;
use toolgate_vault::Secret;

/// A longer token is not one.
const TOKEN_BYTES_MAX: usize = 32 * 1024;
/// No token is believed to live longer: ten years, in seconds.
const LIFETIME_S_MAX: u64 = 10 * 365 * 24 * 3600;
const SCOPES_MAX: usize = 500;
/// Types of token that are used as bearer tokens (RFC 6750); the words are compared without regard to
/// case. Slack calls its own `bot` and `user`. Any other type is proven by something that is not
/// written here, and a server that names none is one that has always sent bearer tokens.
const TYPES: [&str; 3] = ["bearer", "bot", "user"];

/// What is asked of the token endpoint.
#[derive(Debug)]
pub enum TokenGrant<'a> {
    Code {
        code: &'a Secret,
        redirect_uri: &'a str,
        verifier: &'a Secret,
    },
    Refresh {
        token: &'a Secret,
    },
    ClientCredentials {
        scopes: &'a [String],
    },
}

/// A request's header and body; the body is zeroed on drop.
pub struct TokenRequest {
    pub authorization: Option<Zeroizing<String>>,
    pub body: Zeroizing<String>,
}

/// What a token endpoint gave.
#[derive(Debug)]
pub struct Tokens {
    pub access: Secret,
    /// Absent: keep the one there is.
    pub refresh: Option<Secret>,
    pub lifetime_s: Option<u64>,
    /// Absent: as asked for.
    pub scopes: Option<Vec<String>>,
    /// Of a sign-in with OpenID Connect.
    pub id_token: Option<Secret>,
    /// Values of the answer at the asked JSON Pointers, in their order; texts and numbers only, and none
    /// that shares text with a credential.
    pub read: Vec<Option<String>>,
}

/// The request to the token endpoint.
pub fn request(provider: &Provider, grant: &TokenGrant<'_>) -> TokenRequest {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let scope;
    match grant {
        TokenGrant::Code {
            code,
            redirect_uri,
            verifier,
        } => {
            pairs.push(("grant_type", "authorization_code"));
            pairs.push(("code", code.expose()));
            pairs.push(("redirect_uri", redirect_uri));
            if provider.pkce {
                pairs.push(("code_verifier", verifier.expose()));
            }
        }
        TokenGrant::Refresh { token } => {
            pairs.push(("grant_type", "refresh_token"));
            pairs.push(("refresh_token", token.expose()));
        }
        TokenGrant::ClientCredentials { scopes } => {
            pairs.push(("grant_type", "client_credentials"));
            if !scopes.is_empty() {
                scope = scopes.join(&provider.scope_separator);
                pairs.push(("scope", &scope));
            }
        }
    }
    form(provider, pairs)
}

/// The request to the revocation endpoint (RFC 7009, section 2.1).
pub fn revocation(provider: &Provider, token: &Secret, refresh: bool) -> TokenRequest {
    let hint = if refresh {
        "refresh_token"
    } else {
        "access_token"
    };
    form(
        provider,
        vec![("token", token.expose()), ("token_type_hint", hint)],
    )
}

fn form<'a>(provider: &'a Provider, mut pairs: Vec<(&'a str, &'a str)>) -> TokenRequest {
    let secret = provider.client_secret.as_ref().map(Secret::expose);
    let mut authorization = None;
    match (provider.token_auth, secret) {
        (TokenAuth::Basic, Some(secret)) => {
            // Both halves are form-encoded first (RFC 6749, section 2.3.1).
            let encode = |text: &str| {
                Zeroizing::new(form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>())
            };
            let pair = Zeroizing::new(format!(
                "{}:{}",
                *encode(&provider.client_id),
                *encode(secret)
            ));
            authorization = Some(Zeroizing::new(format!(
                "Basic {}",
                STANDARD.encode(pair.as_bytes())
            )));
        }
        (TokenAuth::Post, Some(secret)) => {
            pairs.push(("client_id", &provider.client_id));
            pairs.push(("client_secret", secret));
        }
        (TokenAuth::None, _) | (_, None) => pairs.push(("client_id", &provider.client_id)),
    }
    let mut body = form_urlencoded::Serializer::new(String::with_capacity(2 * 1024));
    body.extend_pairs(pairs);
    TokenRequest {
        authorization,
        body: Zeroizing::new(body.finish()),
    }
}

/// Reads an answer of the token endpoint. `sent`: secrets of the request, which no error may repeat.
pub fn answer(
    status: u16,
    content_type: &str,
    body: &[u8],
    separator: &str,
    pointers: &[&str],
    sent: &[&str],
) -> Result<Tokens, OAuthError> {
    let fields = fields(content_type, body);
    let text = |fields: &Map<String, Value>, key: &str| {
        fields
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let token = fields
        .as_ref()
        .and_then(|fields| text(fields, "access_token"));
    if let Some(fields) = &fields
        && token.is_none()
        && let Some(error) = text(fields, "error")
    {
        return Err(match (error.as_str(), status) {
            ("invalid_client" | "unauthorized_client" | "incorrect_client_credentials", _) => {
                OAuthError::Client(error_code(&error, sent))
            }
            ("temporarily_unavailable" | "server_error" | "slow_down" | "ratelimited", _)
            | (_, 429 | 500..) => OAuthError::Busy(status),
            _ => OAuthError::Refused(error_code(&error, sent)),
        });
    }
    match status {
        200..=299 => {}
        408 | 425 | 429 | 500.. => return Err(OAuthError::Busy(status)),
        _ => return Err(OAuthError::Answer("neither a token nor an error code")),
    }
    let fields = fields.ok_or(OAuthError::Answer("neither JSON nor a form"))?;
    let access = token
        .filter(|token| fits(token))
        .ok_or(OAuthError::Answer("no access token"))?;
    if fields
        .get("token_type")
        .is_some_and(|kind| !is_bearer(kind))
    {
        return Err(OAuthError::Answer("the token is not a bearer token"));
    }
    let refresh = text(&fields, "refresh_token").filter(|token| fits(token));
    let id_token = text(&fields, "id_token").map(Secret::new);
    // Some servers send a number as text.
    let lifetime_s = fields.get("expires_in").and_then(|value| match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    });
    let credentials = CredentialTexts::collect(&fields, sent);
    let scopes = text(&fields, "scope").map(|scope| {
        scope
            // Some servers are asked with spaces and answer with commas.
            .split(|c: char| c == ' ' || c == ',' || separator.contains(c))
            .filter(|scope| is_scope(scope) && !credentials.stand_in(scope))
            .take(SCOPES_MAX)
            .map(str::to_owned)
            .collect()
    });
    let whole = Value::Object(fields);
    let read = pointers
        .iter()
        .map(|pointer| match whole.pointer(pointer)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .map(|read| read.filter(|text| !credentials.stand_in(text)))
        .collect();
    Ok(Tokens {
        access: Secret::new(access),
        refresh: refresh.map(Secret::new),
        lifetime_s: lifetime_s.map(|s| s.min(LIFETIME_S_MAX)),
        scopes,
        id_token,
        read,
    })
}

fn is_bearer(kind: &Value) -> bool {
    match kind {
        Value::Null => true,
        Value::String(word) => TYPES.iter().any(|known| word.eq_ignore_ascii_case(known)),
        _ => false,
    }
}

/// What a header can carry.
fn fits(token: &str) -> bool {
    token.len() <= TOKEN_BYTES_MAX && token.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

fn fields(content_type: &str, body: &[u8]) -> Option<Map<String, Value>> {
    if let Ok(Value::Object(fields)) = serde_json::from_slice(body) {
        return Some(fields);
    }
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let form = kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
        || kind.eq_ignore_ascii_case("text/plain");
    if !form || body.first() == Some(&b'<') {
        return None;
    }
    Some(
        form_urlencoded::parse(body)
            .map(|(key, value)| (key.into_owned(), Value::String(value.into_owned())))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn provider(token_auth: TokenAuth, secret: Option<&str>) -> Provider {
        Provider {
            authorize_url: None,
            token_url: "https://id.test/token".to_owned(),
            revoke_url: None,
            issuer: None,
            client_id: "a b".to_owned(),
            client_secret: secret.map(Secret::new),
            token_auth,
            pkce: true,
            scope_separator: ",".to_owned(),
            authorize_params: BTreeMap::new(),
            origins: Vec::new(),
        }
    }

    #[test]
    fn the_gateway_names_itself_as_the_manifest_says() {
        let token = Secret::new("r/1");
        for (auth, secret, header, body) in [
            (
                TokenAuth::Basic,
                Some("s:1"),
                Some("Basic YStiOnMlM0Ex"),
                "grant_type=refresh_token&refresh_token=r%2F1",
            ),
            (
                TokenAuth::Post,
                Some("s:1"),
                None,
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=a+b&client_secret=s%3A1",
            ),
            (
                TokenAuth::None,
                Some("s:1"),
                None,
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=a+b",
            ),
            (
                TokenAuth::Basic,
                None,
                None,
                "grant_type=refresh_token&refresh_token=r%2F1&client_id=a+b",
            ),
        ] {
            let form = request(
                &provider(auth, secret),
                &TokenGrant::Refresh { token: &token },
            );
            assert_eq!(
                form.authorization.as_ref().map(|text| text.as_str()),
                header
            );
            assert_eq!(form.body.as_str(), body);
        }
    }

    #[test]
    fn each_grant_sends_its_own_fields() {
        let provider = provider(TokenAuth::None, None);
        let (code, verifier) = (Secret::new("c"), Secret::new("v"));
        let exchange = TokenGrant::Code {
            code: &code,
            redirect_uri: "https://g.test/cb",
            verifier: &verifier,
        };
        assert_eq!(
            request(&provider, &exchange).body.as_str(),
            "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fg.test%2Fcb&code_verifier=v&client_id=a+b"
        );
        let scopes = ["x".to_owned(), "y".to_owned()];
        assert_eq!(
            request(
                &provider,
                &TokenGrant::ClientCredentials { scopes: &scopes }
            )
            .body
            .as_str(),
            "grant_type=client_credentials&scope=x%2Cy&client_id=a+b"
        );
        assert_eq!(
            revocation(&provider, &code, true).body.as_str(),
            "token=c&token_type_hint=refresh_token&client_id=a+b"
        );
    }

    fn read(status: u16, kind: &str, body: &str) -> Result<Tokens, OAuthError> {
        answer(
            status,
            kind,
            body.as_bytes(),
            ",",
            &["/instance_url", "/team/id"],
            &["hunter2"],
        )
    }

    #[test]
    fn tokens_are_read_from_json_and_from_forms() {
        let tokens = read(200, "application/json", r#"{"access_token":"a","refresh_token":"r","expires_in":"3600","scope":"x y,z","instance_url":"https://i.test","team":{"id":7}}"#).unwrap();
        assert_eq!(
            (tokens.access.expose(), tokens.refresh.unwrap().expose()),
            ("a", "r")
        );
        assert_eq!(tokens.lifetime_s, Some(3600));
        assert_eq!(tokens.scopes.unwrap(), ["x", "y", "z"]);
        assert_eq!(
            tokens.read,
            [Some("https://i.test".to_owned()), Some("7".to_owned())]
        );
        let tokens = answer(
            200,
            "application/json",
            br#"{"access_token":"a","scope":"x,y z"}"#,
            " ",
            &[],
            &[],
        );
        assert_eq!(tokens.unwrap().scopes.unwrap(), ["x", "y", "z"]);
        let tokens = read(
            200,
            "application/x-www-form-urlencoded; charset=utf-8",
            "access_token=a%2Fb&expires_in=5&scope=x",
        )
        .unwrap();
        assert_eq!(tokens.access.expose(), "a/b");
        assert_eq!(
            (tokens.lifetime_s, tokens.scopes.unwrap().len()),
            (Some(5), 1)
        );
        assert!(tokens.refresh.is_none());
    }

    #[test]
    fn refused_busy_and_broken_are_three_different_things() {
        let kind = |status, content, body| match read(status, content, body).unwrap_err() {
            OAuthError::Refused(code) => format!("refused {code}"),
            OAuthError::Client(code) => format!("client {code}"),
            OAuthError::Busy(status) => format!("busy {status}"),
            OAuthError::Answer(_) => "answer".to_owned(),
            other => panic!("{other}"),
        };
        for (status, body, expected) in [
            (400, r#"{"error":"invalid_grant"}"#, "refused invalid_grant"),
            (
                200,
                r#"{"ok":false,"error":"invalid_code"}"#,
                "refused invalid_code",
            ),
            (400, r#"{"error":"hunter2"}"#, "refused provider_error"),
            (
                401,
                r#"{"error":"invalid_client"}"#,
                "client invalid_client",
            ),
            (503, r#"{"error":"invalid_grant"}"#, "busy 503"),
            (400, r#"{"error":"temporarily_unavailable"}"#, "busy 400"),
            (429, "", "busy 429"),
            (502, "<html>", "busy 502"),
            (400, "<html>", "answer"),
            (302, "", "answer"),
            (200, "<html>", "answer"),
            (200, "{}", "answer"),
            (200, r#"{"access_token":7}"#, "answer"),
            (200, "{\"access_token\":\"a\\nb\"}", "answer"),
        ] {
            assert_eq!(
                kind(status, "application/json", body),
                expected,
                "{status} {body}"
            );
        }
        assert_eq!(
            kind(200, "application/x-www-form-urlencoded", "error=bad_code"),
            "refused bad_code"
        );
    }

    #[test]
    fn nothing_of_a_credential_is_kept_in_clear() {
        let access = "ya29.A0tok7f3a9c1e5b2d8064xyz";
        let reversed: String = access.chars().rev().collect();
        for value in [
            access.to_owned(),
            format!("a-{access}"),
            access[4..].to_owned(),
            access[..12].to_owned(),
            STANDARD.encode(access),
            reversed,
            "second-9f8e7d6c5b4a".to_owned(),
            "nested-1a2b3c4d5e6f".to_owned(),
        ] {
            let body = serde_json::json!({
                "access_token": access, "instance_url": value, "scope": format!("read {value}"),
                "session_key": "second-9f8e7d6c5b4a", "secrets": {"list": ["nested-1a2b3c4d5e6f"]},
            });
            let tokens = read(200, "application/json", &body.to_string()).unwrap();
            assert_eq!(tokens.read[0], None, "{value}");
            assert_eq!(tokens.scopes.unwrap(), ["read"], "{value}");
        }
    }

    #[test]
    fn a_token_has_a_largest_size() {
        let body = |bytes: usize| format!(r#"{{"access_token":"{}"}}"#, "a".repeat(bytes));
        assert!(read(200, "application/json", &body(TOKEN_BYTES_MAX)).is_ok());
        assert!(read(200, "application/json", &body(TOKEN_BYTES_MAX + 1)).is_err());
    }
}
