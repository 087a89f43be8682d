//! Registering a client at an authorization server that takes clients by themselves (RFC 7591).

use bytes::Bytes;
use serde_json::{Value, json};

use super::metadata::AuthorizationServer;
use crate::client::{ServerClient, ServerProblem};
use crate::notes::shown;
use toolgate_vault::Secret;

const CLIENT_ID_BYTES_MAX: usize = 1_000;
const CLIENT_SECRET_BYTES_MAX: usize = 8 * 1024;

/// What a client says of itself.
#[derive(Clone, Copy, Debug)]
pub struct ClientDescription<'a> {
    pub redirect_uri: &'a str,
    pub scopes: &'a [String],
    /// `token_auth` of the slot: `basic`, `post` or `none`.
    pub token_auth: &'a str,
}

/// What the server knows the client by.
#[derive(Debug)]
pub struct UpstreamRegistration {
    pub client_id: String,
    /// Absent for a public client.
    pub client_secret: Option<Secret>,
}

impl ClientDescription<'_> {
    fn method(&self) -> &'static str {
        match self.token_auth {
            "post" => "client_secret_post",
            "none" => "none",
            _ => "client_secret_basic",
        }
    }

    fn document(&self) -> Value {
        let mut document = json!({
            "client_name": "toolgate",
            "redirect_uris": [self.redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": self.method(),
        });
        if !self.scopes.is_empty() {
            document["scope"] = self.scopes.join(" ").into();
        }
        document
    }
}

/// Registers a client.
pub async fn register(
    client: &mut ServerClient<'_>,
    server: &AuthorizationServer,
    description: &ClientDescription<'_>,
) -> Result<UpstreamRegistration, ServerProblem> {
    let url = server.registration_url.as_deref().ok_or_else(|| {
        ServerProblem::Answer(format!(
            "the authorization server {} takes no registrations: register the gateway there by hand",
            shown(&server.issuer)
        ))
    })?;
    let body = Bytes::from(description.document().to_string());
    let answer = client.post_document(url, body).await?;
    read(answer.status, &answer.body, description)
}

/// Whether the document of a client is at the address that is its id, as seen from here.
pub async fn serves_document(
    client: &mut ServerClient<'_>,
    id: &str,
) -> Result<bool, ServerProblem> {
    let document = client.document(id).await?;
    let said = document
        .as_ref()
        .and_then(|document| document.get("client_id"));
    Ok(said.and_then(Value::as_str) == Some(id))
}

fn read(
    status: u16,
    body: &[u8],
    asked: &ClientDescription<'_>,
) -> Result<UpstreamRegistration, ServerProblem> {
    let problem = |what: String| Err(ServerProblem::Answer(what));
    let json = toolgate_core::json::check(body).is_ok();
    let answer: Option<Value> = serde_json::from_slice(body).ok().filter(|_| json);
    let Some(answer) = answer else {
        return problem(format!(
            "the authorization server answered the registration with status {status} and no JSON"
        ));
    };
    let text = |key: &str| answer.get(key).and_then(Value::as_str);
    if !(200..300).contains(&status) {
        let said = text("error_description")
            .or_else(|| text("error"))
            .unwrap_or("no reason");
        return problem(format!(
            "the authorization server refused the registration (status {status}): {}",
            shown(said)
        ));
    }
    let plain = |text: &&str, max: usize| {
        (1..=max).contains(&text.len()) && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
    };
    let id = text("client_id").filter(|id| plain(id, CLIENT_ID_BYTES_MAX));
    let Some(id) = id else {
        return problem(
            "the authorization server registered a client without a usable id".to_owned(),
        );
    };
    let secret = text("client_secret").filter(|secret| plain(secret, CLIENT_SECRET_BYTES_MAX));
    let method = text("token_endpoint_auth_method").unwrap_or(asked.method());
    if secret.is_some() && method != asked.method() {
        return problem(format!(
            "the authorization server registered the client for `{}`, which is not what was asked for",
            shown(method)
        ));
    }
    Ok(UpstreamRegistration {
        client_id: id.to_owned(),
        client_secret: secret.filter(|_| method != "none").map(Secret::new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(token_auth: &'a str) -> ClientDescription<'a> {
        ClientDescription {
            redirect_uri: "https://gate.example.com/oauth/callback/notes",
            scopes: &[],
            token_auth,
        }
    }

    #[test]
    fn a_registration_names_the_callback_and_no_secret_of_ours() {
        let document = asked("none").document();
        assert_eq!(
            document["redirect_uris"],
            json!(["https://gate.example.com/oauth/callback/notes"])
        );
        assert_eq!(document["token_endpoint_auth_method"], "none");
        assert_eq!(document.get("scope"), None);
    }

    #[test]
    fn only_a_usable_answer_registers() {
        let read = |status, body: &str, auth| read(status, body.as_bytes(), &asked(auth));
        let secret = r#"{"client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "client_secret_basic"}"#;
        let client = read(201, secret, "basic").expect("a client");
        assert!(client.client_secret.is_some());
        let public = read(200, r#"{"client_id": "c"}"#, "none").expect("a client");
        assert!(public.client_secret.is_none());
        for (status, body, auth) in [
            (201, "<html>", "basic"),
            (201, "{}", "basic"),
            (201, r#"{"client_id": ""}"#, "basic"),
            (201, r#"{"client_id": "a\nb"}"#, "basic"),
            (400, r#"{"error": "invalid_redirect_uri"}"#, "basic"),
            (201, secret, "post"),
        ] {
            assert!(read(status, body, auth).is_err(), "{status} {body}");
        }
    }
}
