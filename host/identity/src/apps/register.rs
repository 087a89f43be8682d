//! Dynamic client registration (RFC 7591): anybody may register, so what it costs is bounded: by
//! address, in number, and in time where nobody uses it.

use serde::Serialize;

use super::clients::ClientMetadata;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{AppPeer, scopes};
use crate::Identity;
use crate::keys::random_base62;
use toolgate_store::{AppClient, AppClientAuth, AppClientKind};
use toolgate_vault::Secret;
use toolgate_vault::opaque::hash;

/// Registrations a minute from one address.
pub const REGISTRATIONS_PER_MINUTE: u32 = 20;
/// Registrations that nobody has used yet; beyond it the oldest is forgotten.
pub const UNUSED_MAX: i64 = 10_000;
/// How long a registration waits for its first use.
pub const UNUSED_LIFE_MS: i64 = 24 * 60 * 60 * 1_000;
/// How long a client is known after the last member who let it in.
pub const USED_LIFE_MS: i64 = 400 * 24 * 60 * 60 * 1_000;
const ID_CHARS: usize = 22;
const SECRET_CHARS: usize = 43;

/// A registration, at the only time at which its secret can be read.
#[derive(Debug)]
pub struct RegisteredClient {
    pub client_id: String,
    pub issued_at_s: i64,
    pub client_name: String,
    pub redirect_uris: Vec<String>,
    pub auth_method: AppClientAuth,
    pub secret: Option<Secret>,
}

/// The answer of RFC 7591, section 3.2.1.
#[derive(Serialize)]
pub struct RegistrationAnswer<'a> {
    client_id: &'a str,
    client_id_issued_at: i64,
    client_name: &'a str,
    redirect_uris: &'a [String],
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: AppClientAuth,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
    /// 0: it does not expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret_expires_at: Option<i64>,
}

impl RegisteredClient {
    pub fn answer(&self) -> RegistrationAnswer<'_> {
        RegistrationAnswer {
            client_id: &self.client_id,
            client_id_issued_at: self.issued_at_s,
            client_name: &self.client_name,
            redirect_uris: &self.redirect_uris,
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: self.auth_method,
            scope: scopes::all_scopes(),
            client_secret: self.secret.as_ref().map(Secret::expose),
            client_secret_expires_at: self.secret.as_ref().map(|_| 0),
        }
    }
}

impl Identity {
    /// Registers a client as its metadata, a JSON document, describes it.
    ///
    /// # Errors
    /// `invalid_redirect_uri` and `invalid_client_metadata`; too many from one address.
    pub async fn register_app(
        &self,
        document: &[u8],
        peer: &AppPeer,
    ) -> Result<RegisteredClient, AppProblem> {
        if !self.apps.config.registration {
            let sentence =
                "dynamic client registration is disabled; ask an admin to add this client";
            return Err(refused(RefusalCode::AccessDenied, sentence));
        }
        let now_ms = self.clock.now_ms();
        self.apps
            .registrations
            .take(peer.address, REGISTRATIONS_PER_MINUTE, now_ms)?;
        let bad = |sentence: &str| refused(RefusalCode::InvalidClientMetadata, sentence);
        toolgate_core::json::check(document).map_err(|_| bad("the body is not one JSON object"))?;
        let metadata: ClientMetadata = serde_json::from_slice(document)
            .map_err(|_| bad("a field of the client's metadata has another type"))?;
        metadata.check()?;
        // RFC 7591, section 2: a client that names no method uses Basic.
        let auth_method = match metadata.token_endpoint_auth_method.as_deref() {
            Some(method) => method.parse().map_err(|_| {
                bad("token_endpoint_auth_method is none, client_secret_basic, client_secret_post or private_key_jwt")
            })?,
            None => AppClientAuth::Basic,
        };
        let jwks_uri = match auth_method {
            AppClientAuth::PrivateKeyJwt => {
                Some(metadata.checked_jwks_uri(RefusalCode::InvalidClientMetadata)?)
            }
            AppClientAuth::None | AppClientAuth::Basic | AppClientAuth::Post => None,
        };
        let has_secret = matches!(auth_method, AppClientAuth::Basic | AppClientAuth::Post);
        let secret = has_secret.then(|| {
            let random = random_base62(SECRET_CHARS);
            Secret::new(format!("tg_ocs_{}", random.expose()))
        });
        let client = AppClient {
            id: format!("tgc_{}", random_base62(ID_CHARS).expose()),
            kind: AppClientKind::Registered,
            name: metadata.name("An app without a name"),
            redirect_uris: metadata.redirect_uris,
            auth_method,
            secret_hash: secret.as_ref().map(|secret| hash(secret.expose())),
            created_at_ms: now_ms,
            fresh_until_ms: None,
            used_at_ms: None,
            workspace_id: None,
            acts_for: None,
            scopes: Vec::new(),
            jwks_uri,
        };
        self.store.insert_app_client(&client, UNUSED_MAX).await?;
        tracing::info!(
            request_id = peer.request_id,
            client.id = client.id,
            "apps.registered"
        );
        Ok(RegisteredClient {
            issued_at_s: now_ms / 1_000,
            client_id: client.id,
            client_name: client.name,
            redirect_uris: client.redirect_uris,
            auth_method,
            secret,
        })
    }
}
