//! Asking for a registration again, where an authorization server does not know the gateway any more, or cannot read its
//! metadata document.
//!
//! Only for a registration that the gateway has asked for (`toolgate service register`), at the issuer and the endpoints of
//! the approved manifest, and at most once in [`AGAIN_AFTER_MS`]. What a browser brings back is no reason: anybody could
//! make it up, and a new registration ends the connections of the one before. The server's own answers are.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use http::header::LOCATION;
use serde_json::json;
use url::Url;

use super::callback::CallbackAddress;
use super::link::random_token;
use super::{ConnectionManager, apps};
use crate::audit::{self, AuditAction};
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_egress::{DestinationClass, HostRequest, HostResponse};
use toolgate_mcp_upstream::account::{self, ClientDescription};
use toolgate_mcp_upstream::address::RemoteAddress;
use toolgate_mcp_upstream::client::ServerClient;
use toolgate_oauth::{OAuthError, authorize};
use toolgate_store::{ALL_WORKSPACES, Connection, OAuthApp};

/// A server that refuses what it has registered stays refused for so long.
const AGAIN_AFTER_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long one try keeps other processes from theirs, and the next one away after a failure.
const TRY_MS: i64 = 60_000;
/// A user waits for the registration.
const REGISTERED_WITHIN: Duration = Duration::from_secs(20);
/// The same for a look at the authorization endpoint.
const LOOKED_WITHIN: Duration = Duration::from_secs(5);
/// Largest page of the authorization endpoint that is looked at, in bytes.
const PAGE_BYTES_MAX: usize = 256 << 10;
/// What servers say of a client that they do not know (RFC 6749, sections 4.1.2.1 and 5.2).
const UNKNOWN_CLIENT_CODES: [&str; 2] = ["invalid_client", "invalid_client_id"];

impl ConnectionManager {
    /// The registration with which a user is sent to the authorization server, in place of `app`: where that is one that
    /// the gateway has asked for, and the server refuses it.
    pub(super) async fn renewed_client(
        &self,
        manifest: &Manifest,
        slot: &Slot,
        app: &OAuthApp,
        parameters: &BTreeMap<String, String>,
    ) -> Option<OAuthApp> {
        apps::again_from_ms(app)?;
        let (service, looked) = (&app.service, self.refuses(slot, app, parameters).await);
        match looked {
            Ok(true) => self.register_again(manifest, slot, app).await,
            Ok(false) => None,
            Err(cause) => {
                // The user sees what the server says.
                tracing::warn!(
                    service,
                    error = format!("{cause:#}"),
                    "connections.not_looked"
                );
                None
            }
        }
    }

    /// Whether there is a registration in place of `app` now, which the token endpoint has refused with the words `said`.
    pub(super) async fn is_registered_again(
        &self,
        manifest: &Manifest,
        slot: &Slot,
        app: &OAuthApp,
        said: &str,
    ) -> bool {
        if !is_unknown_client(said) || apps::again_from_ms(app).is_none() {
            return false;
        }
        self.register_again(manifest, slot, app).await.is_some()
    }

    /// What the refusal of a renewal means: the refresh token of a client that the server has forgotten is of no use to
    /// the next one, so only the user can repair the connection. One that was connected before the registration says
    /// nothing of the client that is registered now: that one stays.
    pub(super) async fn renewal_refused(
        &self,
        manifest: &Manifest,
        slot: &Slot,
        app: &OAuthApp,
        row: &Connection,
        refused: OAuthError,
    ) -> OAuthError {
        let OAuthError::Client(said) = refused else {
            return refused;
        };
        if is_of_earlier_client(slot.kind, app, row.connected_at_ms, &said) {
            return OAuthError::Refused(format!(
                "{said}; the gateway has registered since, so the user has to connect again"
            ));
        }
        match self.is_registered_again(manifest, slot, app, &said).await {
            true => OAuthError::Refused(format!(
                "{said}; the gateway has registered again, so the user has to connect again"
            )),
            false => OAuthError::Client(said),
        }
    }

    /// The new registration, or the one that another process has made meanwhile.
    async fn register_again(
        &self,
        manifest: &Manifest,
        slot: &Slot,
        app: &OAuthApp,
    ) -> Option<OAuthApp> {
        let service = &app.service;
        let work = Box::pin(self.try_to_register(manifest, slot, app));
        let made = tokio::time::timeout(REGISTERED_WITHIN, work)
            .await
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the server did not answer in time")));
        match made {
            Ok(Some(now)) => {
                tracing::info!(service, "connections.registered_again");
                Some(now)
            }
            Ok(None) => None,
            Err(cause) => {
                tracing::warn!(
                    service,
                    error = format!("{cause:#}"),
                    "connections.not_registered_again"
                );
                None
            }
        }
    }

    async fn try_to_register(
        &self,
        manifest: &Manifest,
        slot: &Slot,
        app: &OAuthApp,
    ) -> anyhow::Result<Option<OAuthApp>> {
        if slot.kind != AuthKind::Oauth2 {
            return Ok(None);
        }
        let (now_ms, service) = (self.clock.now_ms(), &app.service);
        let current = self
            .store
            .find_oauth_app(&app.workspace_id, service)
            .await?;
        let Some(current) = current.filter(|now| now.workspace_id == app.workspace_id) else {
            return Ok(None);
        };
        if current.client_id != app.client_id {
            return Ok(Some(current));
        }
        if apps::again_from_ms(&current).is_none_or(|from_ms| from_ms > now_ms) {
            return Ok(None);
        }
        let claimed = OAuthApp {
            settings: apps::with_again_from(
                &current,
                now_ms + TRY_MS,
                apps::registered_ms(&current),
            ),
            ..current.clone()
        };
        if !self.store.replace_oauth_app(&current, &claimed).await? {
            return Ok(None);
        }
        let issuer = slot
            .issuer
            .as_deref()
            .context("the plugin names no issuer")?;
        let address = RemoteAddress::parse(issuer, false)?;
        let mut client = ServerClient::new(&self.egress, address, None, "authorization");
        let server = account::authorization_server(&mut client, issuer).await?;
        let server = server.context("the authorization server does not describe itself")?;
        anyhow::ensure!(
            server.serves(slot),
            "the authorization server names other addresses than the plugin"
        );
        let callback = CallbackAddress::from_app(&current).url(&self.public_url, &manifest.service);
        let description = ClientDescription {
            redirect_uri: &callback,
            scopes: &slot.scopes,
            token_auth: server.token_auth,
        };
        let made = account::register(&mut client, &server, &description).await?;
        let secret = made.client_secret.as_ref();
        let sealed = secret
            .map(|secret| {
                self.vault
                    .seal(&apps::place(&app.workspace_id, service), secret)
            })
            .transpose()?;
        let new = OAuthApp {
            client_id: made.client_id,
            sealed,
            // Connections with the client before were made until here.
            settings: apps::with_again_from(
                &current,
                now_ms + AGAIN_AFTER_MS,
                Some(self.clock.now_ms()),
            ),
            updated_at_ms: now_ms,
            ..claimed.clone()
        };
        let kept = self.keep_registration(&claimed, &new).await?;
        Ok(kept.then_some(new))
    }

    /// Keeps what was registered, with an entry in the audit log of its workspace, or of the one that runs the gateway.
    async fn keep_registration(&self, before: &OAuthApp, new: &OAuthApp) -> anyhow::Result<bool> {
        let (action, now_ms) = (AuditAction::ServicesRegisterApp, new.updated_at_ms);
        let everywhere = new.workspace_id == ALL_WORKSPACES;
        let details = json!({
            "client_id": new.client_id,
            "client_id_before": before.client_id,
            "everywhere": everywhere,
            "has_secret": new.sealed.is_some(),
            "by_itself": true,
        });
        let store = if everywhere {
            audit::installation(&self.store, now_ms, action, &new.service, details).await?
        } else {
            let (place, actor) = (&new.workspace_id, "gateway".to_owned());
            let entry = audit::entry(place, actor, now_ms, action, &new.service, details);
            self.store.audited(entry)
        };
        Ok(store.replace_oauth_app(before, new).await?)
    }

    /// Whether the authorization endpoint refuses the client before anybody has signed in. It is asked as a browser would
    /// ask, with a state and a challenge that nobody uses.
    async fn refuses(
        &self,
        slot: &Slot,
        app: &OAuthApp,
        parameters: &BTreeMap<String, String>,
    ) -> anyhow::Result<bool> {
        let provider = apps::provider(&self.vault, slot, app, parameters)?;
        let callback = CallbackAddress::from_app(app).url(&self.public_url, &app.service);
        let (state, verifier) = (random_token(), authorize::verifier());
        let ask = authorize::Authorize {
            redirect_uri: provider.redirect_uri(&callback),
            scopes: &slot.scopes,
            state: state.expose(),
            verifier: &verifier,
        };
        let request = HostRequest {
            method: http::Method::GET,
            class: DestinationClass::Token,
            url: authorize::url(&provider, &ask)?,
            headers: vec![(
                "accept".to_owned(),
                "text/html, application/json".to_owned(),
            )],
            body: Bytes::new(),
            origins: provider.origins.clone(),
            response_bytes_max: PAGE_BYTES_MAX,
            timeout: LOOKED_WITHIN,
        };
        let answer = self.egress.send_for_host(request).await;
        let answer = answer.map_err(|failure| anyhow::anyhow!(failure.message))?;
        Ok(says_unknown(&answer, &app.client_id))
    }
}

/// Whether a refusal of a token endpoint says that it does not know the client.
fn is_unknown_client(said: &str) -> bool {
    let code = said.split(':').next().unwrap_or_default();
    UNKNOWN_CLIENT_CODES.contains(&code)
}

/// Whether a token endpoint that does not know the client has been asked with a token of an earlier one: of a connection
/// that was made before the registration `app`. One without a user has no such token.
fn is_of_earlier_client(kind: AuthKind, app: &OAuthApp, connected_at_ms: i64, said: &str) -> bool {
    kind == AuthKind::Oauth2
        && is_unknown_client(said)
        && apps::registered_ms(app).is_some_and(|made_ms| connected_at_ms < made_ms)
}

/// Whether an answer of an authorization endpoint says that it does not know the client.
fn says_unknown(answer: &HostResponse, client_id: &str) -> bool {
    let is_code = |text: &str| UNKNOWN_CLIENT_CODES.contains(&text);
    match answer.status {
        300..=399 => {
            let location = answer.headers.get(LOCATION);
            let url = location
                .and_then(|value| value.to_str().ok())
                .and_then(|text| Url::parse(text).ok());
            url.is_some_and(|url| {
                let mut query = url.query_pairs();
                query.any(|(name, value)| name == "error" && is_code(&value))
            })
        }
        400 | 401 => {
            let page = String::from_utf8_lossy(&answer.body);
            // The SDK of MCP for Python says `invalid_request`, and this sentence.
            let sentence = format!("Client ID '{client_id}' not found");
            UNKNOWN_CLIENT_CODES.iter().any(|code| page.contains(code)) || page.contains(&sentence)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn said(status: u16, location: Option<&'static str>, body: &'static str) -> bool {
        let location = location.map(|url| (LOCATION, HeaderValue::from_static(url)));
        let answer = HostResponse {
            status,
            headers: HeaderMap::from_iter(location),
            body: Bytes::from_static(body.as_bytes()),
        };
        says_unknown(&answer, "c-1")
    }

    #[test]
    fn a_server_that_does_not_know_the_client_says_so_in_several_ways() {
        let json = r#"{"error":"invalid_client","error_description":"Invalid client_id"}"#;
        assert!(said(400, None, json));
        assert!(said(401, None, json));
        assert!(said(400, None, "<pre>error: invalid_client</pre>"));
        let python =
            r#"{"error":"invalid_request","error_description":"Client ID 'c-1' not found"}"#;
        assert!(said(400, None, python));
        let back = "https://gate.test/oauth/callback/notes?error=invalid_client&state=s";
        assert!(said(302, Some(back), ""));
    }

    #[test]
    fn a_token_of_an_earlier_client_says_nothing_of_the_one_that_is_registered() {
        const UNKNOWN: &str = "invalid_client: no such client";
        let app = |registered_ms| {
            let mut app = OAuthApp {
                workspace_id: "w".to_owned(),
                service: "notes".to_owned(),
                client_id: "c-2".to_owned(),
                sealed: None,
                scopes: None,
                settings: "{}".to_owned(),
                updated_at_ms: 0,
            };
            app.settings = apps::with_again_from(&app, 0, registered_ms);
            app
        };
        let earlier = |kind, registered_ms, connected_at_ms, said| {
            is_of_earlier_client(kind, &app(registered_ms), connected_at_ms, said)
        };
        assert!(earlier(AuthKind::Oauth2, Some(100), 99, UNKNOWN));
        assert!(earlier(AuthKind::Oauth2, Some(100), 0, UNKNOWN));
        // The server has forgotten the client that is registered.
        assert!(!earlier(AuthKind::Oauth2, Some(100), 100, UNKNOWN));
        // Registered before this was kept.
        assert!(!earlier(AuthKind::Oauth2, None, 99, UNKNOWN));
        assert!(!earlier(
            AuthKind::Oauth2,
            Some(100),
            99,
            "unauthorized_client"
        ));
        assert!(!earlier(
            AuthKind::Oauth2ClientCredentials,
            Some(100),
            99,
            UNKNOWN
        ));
    }

    #[test]
    fn what_any_server_may_answer_says_nothing_of_the_client() {
        for (status, location, body) in [
            (200, None, "invalid_client"),
            (200, None, "<form>Sign in</form>"),
            (302, Some("https://id.test/login?from=invalid_client"), ""),
            (302, Some("/login"), ""),
            (302, Some("https://gate.test/cb?error=invalid_scope"), ""),
            (302, None, ""),
            (400, None, r#"{"error":"invalid_request"}"#),
            (400, None, "Client ID 'c-2' not found"),
            (404, None, "invalid_client"),
            (500, None, "invalid_client"),
        ] {
            assert!(
                !said(status, location, body),
                "{status} {location:?} {body}"
            );
        }
    }
}
