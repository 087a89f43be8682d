//! Hooks: addresses at which providers send the events of a connection.
//!
//! `/hooks/{connection_id}` belongs to one connection. The host verifies each delivery with the
//! secret that the vault holds ([`verify`]); only then its plugin, or the manifest, says what
//! happened, and the workspace's webhooks are told of `trigger.<service>.<event>`. What is forged,
//! too old or too large is refused and counted at the hook ([`refusals`]); what has been taken is not
//! taken again.

mod event;
pub(crate) mod refusals;
pub mod verify;

use std::net::IpAddr;

use http::HeaderMap;
use serde::Serialize;
use serde_json::json;

use crate::audit::AuditAction;
use crate::plugins::ServingPlugin;
use crate::{Caller, Error, Gateway, Scope};
use event::{is_event_name, read, readable};
use toolgate_catalog::manifest::HookSpec;
use toolgate_core::clock::rfc3339;
use toolgate_runtime::{NormalizeError, ProviderEvent, Requester, VerifiedDelivery};
use toolgate_store::{self as store, Event};
use toolgate_vault::{SealContext, Secret};
use verify::ForgedDelivery;

/// Path of hooks below the public address.
pub const PATH: &str = "/hooks/";
/// Body of one delivery.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Longer than any connection's id.
const CONNECTION_ID_BYTES_MAX: usize = 64;
/// Events of one delivery.
const EVENTS_MAX: usize = 100;
pub const SECRET_CHARS_MAX: usize = 500;
/// A delivery is remembered this long.
pub const TAKEN_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// The hook of a connection. `GET /v1/connections/{connection_id}/hook`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Hook {
    pub connection_id: String,
    pub service: String,
    /// The address to register at the provider.
    #[schema(example = "https://toolgate.example.com/hooks/con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub url: String,
    /// Deliveries that were taken.
    pub accepted: i64,
    /// Deliveries that were forged, too old or could not be read.
    pub refused: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_accepted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_refused_at: Option<String>,
    /// Why the last one was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_refusal: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// A hook, and the secret if the gateway has just made it.
#[derive(Debug)]
pub struct SecretHook {
    pub hook: Hook,
    pub secret: Option<Secret>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedHook {
    pub connection_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

/// What a provider is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// Its events are written, or were before.
    Accepted,
    /// The answer to the provider's question.
    Challenge(String),
}

/// Why a delivery is not taken.
#[derive(Debug, thiserror::Error)]
pub enum HookRefused {
    #[error("there is no hook at this address")]
    Unknown,
    #[error(transparent)]
    Forged(#[from] ForgedDelivery),
    #[error("the delivery cannot be read")]
    Unreadable,
    #[error("too many deliveries from here were refused")]
    TooMany { retry_after_s: u64 },
    #[error("the delivery cannot be taken now")]
    Later,
    #[error("internal error")]
    Internal(#[source] Error),
}

/// A hook to which something was sent, and who sent it.
#[derive(Debug)]
pub struct Address {
    hook: store::HookRow,
    client: Option<IpAddr>,
}

impl Address {
    /// The workspace that the hook belongs to. Who has sent something there is not known yet.
    pub fn workspace_id(&self) -> &str {
        &self.hook.workspace_id
    }
}

impl Gateway {
    /// Gives a connection a hook, or its hook another secret: the provider's, or a fresh one.
    ///
    /// # Errors
    /// `invalid_request` for a service whose plugin takes no events.
    pub async fn put_hook(
        &self,
        caller: &Caller,
        connection_id: &str,
        secret: Option<Secret>,
    ) -> Result<SecretHook, Error> {
        caller.need(Scope::Webhooks)?;
        let found = self
            .store
            .find_connection(&caller.workspace_id, connection_id)
            .await?;
        let connection = found
            .filter(|row| caller.acts_for(&row.user_id))
            .ok_or_else(no_connection)?;
        let snapshot = self.snapshot();
        let takes = snapshot
            .serving
            .get(&connection.service)
            .is_some_and(|serving| serving.manifest.webhook.is_some());
        if !takes {
            return Err(Error::InvalidRequest(format!(
                "{} sends no events that its plugin could read",
                connection.service
            )));
        }
        let (secret, made) = match secret {
            Some(secret) => (checked(secret)?, false),
            None => (Secret::new(toolgate_core::ids::hex128("hook")), true),
        };
        let now_ms = self.clock.now_ms();
        let mut row = store::HookRow {
            connection_id: connection.id,
            workspace_id: connection.workspace_id,
            user_id: connection.user_id,
            service: connection.service,
            sealed: String::new(),
            accepted: 0,
            refused: 0,
            last_accepted_at_ms: None,
            last_refused_at_ms: None,
            last_refusal: None,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
        };
        row.sealed = self.seal_secret(place(&row), &secret)?;
        let details = json!({ "service": row.service, "user_id": row.user_id });
        let audited = self.audited(caller, AuditAction::HooksPut, &row.connection_id, details);
        let row = audited.put_hook(&row).await?;
        Ok(SecretHook {
            hook: self.shown_hook(row),
            secret: made.then_some(secret),
        })
    }

    pub async fn hook(&self, caller: &Caller, connection_id: &str) -> Result<Hook, Error> {
        caller.need(Scope::Webhooks)?;
        if let Some(unwritten) = self.hook_refusals.take_of(connection_id) {
            self.write_refusals(connection_id, &unwritten).await;
        }
        let found = self.store.find_hook(connection_id).await?;
        let ours = found
            .filter(|row| row.workspace_id == caller.workspace_id && caller.acts_for(&row.user_id));
        ours.map(|row| self.shown_hook(row)).ok_or_else(no_hook)
    }

    /// Closes the address; what the provider sends there is refused from now on.
    pub async fn delete_hook(
        &self,
        caller: &Caller,
        connection_id: &str,
    ) -> Result<DeletedHook, Error> {
        caller.need(Scope::Webhooks)?;
        if caller.confined {
            self.hook(caller, connection_id).await?;
        }
        let workspace_id = &caller.workspace_id;
        let audited = self.audited(caller, AuditAction::HooksDelete, connection_id, json!({}));
        if !audited.delete_hook(workspace_id, connection_id).await? {
            return Err(no_hook());
        }
        Ok(DeletedHook {
            connection_id: connection_id.to_owned(),
            deleted: true,
        })
    }

    /// The hook behind an address, before anything is read of what was sent there.
    ///
    /// # Errors
    /// `Unknown`, and `TooMany` for a client or a hook of which too much was refused.
    pub async fn hook_at(
        &self,
        connection_id: &str,
        client: Option<IpAddr>,
    ) -> Result<Address, HookRefused> {
        let now_ms = self.clock.now_ms();
        let wait_s = self.hook_refusals.wait_s(connection_id, client, now_ms);
        if let Some(retry_after_s) = wait_s {
            return Err(HookRefused::TooMany { retry_after_s });
        }
        // What cannot be an id is not looked for.
        let found = if is_connection_id(connection_id) {
            self.store.find_hook(connection_id).await
        } else {
            Ok(None)
        };
        let found = found.map_err(|cause| HookRefused::Internal(cause.into()))?;
        let Some(hook) = found else {
            self.hook_refusals.unknown(client, now_ms);
            return Err(HookRefused::Unknown);
        };
        Ok(Address { hook, client })
    }

    /// Takes one delivery of a provider. It has no key: its signature says who sent it.
    pub async fn take_delivery(
        &self,
        address: &Address,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<HookAnswer, HookRefused> {
        let Address { hook, client } = address;
        let taken = self.take_verified(hook, headers, body).await;
        match &taken {
            Ok(_) => self.hook_refusals.taken(&hook.connection_id, *client),
            Err(refused) => {
                tracing::debug!(
                    connection.id = hook.connection_id,
                    connection.service = hook.service,
                    error = %refused,
                    "hooks.refused"
                );
                let (id, why) = (&hook.connection_id, refused.to_string());
                let now_ms = self.clock.now_ms();
                // What the provider has signed counts against nobody.
                let forged = matches!(refused, HookRefused::Forged(_));
                self.hook_refusals.refused(id, &why, now_ms);
                if forged {
                    self.hook_refusals.forged(id, *client, now_ms);
                }
            }
        }
        taken
    }

    /// Writes what was counted of one hook.
    pub(crate) async fn write_refusals(
        &self,
        connection_id: &str,
        counted: &refusals::UnwrittenRefusals,
    ) {
        tracing::warn!(
            connection.id = connection_id,
            deliveries = counted.count,
            error = counted.last_refusal,
            "hooks.refused"
        );
        let noted = self.store.note_hook_refused(
            connection_id,
            counted.count,
            &counted.last_refusal,
            counted.last_at_ms,
        );
        if let Err(cause) = noted.await {
            tracing::error!(error = %cause, "hooks.note_failed");
        }
    }

    async fn take_verified(
        &self,
        hook: &store::HookRow,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<HookAnswer, HookRefused> {
        let internal = |cause: Error| HookRefused::Internal(cause);
        let snapshot = self.snapshot();
        let serving = snapshot
            .serving
            .get(&hook.service)
            .ok_or(HookRefused::Later)?;
        let spec = serving
            .manifest
            .webhook
            .as_ref()
            .ok_or(HookRefused::Later)?;
        let secret = self
            .open_secret(place(hook), &hook.sealed)
            .map_err(internal)?;
        let now_ms = self.clock.now_ms();
        let delivery = verify::verify(spec, &secret, headers, body, now_ms)?;
        if let Some(answer) = challenge(spec, body) {
            return Ok(HookAnswer::Challenge(answer));
        }
        let known = self
            .store
            .hook_delivery_taken(&hook.connection_id, &delivery);
        if known.await.map_err(|cause| internal(cause.into()))? {
            return Ok(HookAnswer::Accepted);
        }
        let read = match &spec.event {
            Some(event) => {
                read(event, spec.delivery.as_deref(), headers, body).map(|event| vec![event])
            }
            None => self.normalized(serving, hook, headers, body).await?,
        };
        let read = read.ok_or(HookRefused::Unreadable)?;
        if read.len() > EVENTS_MAX || !read.iter().all(|event| is_event_name(&event.name)) {
            return Err(HookRefused::Unreadable);
        }
        let events: Vec<Event> = read
            .into_iter()
            .map(|read| {
                let data = json!({
                    "connection_id": hook.connection_id,
                    "user_id": hook.user_id,
                    "service": hook.service,
                    "event_id": read.id,
                    "event": read.data,
                });
                Event::trigger(&hook.service, &read.name, &hook.workspace_id, now_ms, data)
            })
            .collect();
        let taken = self
            .store
            .take_hook_delivery(&hook.connection_id, &delivery, &events, now_ms);
        taken.await.map_err(|cause| internal(cause.into()))?;
        Ok(HookAnswer::Accepted)
    }

    /// The events that the plugin reads in a delivery. `None`: it cannot read it.
    async fn normalized(
        &self,
        serving: &ServingPlugin,
        hook: &store::HookRow,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Option<Vec<ProviderEvent>>, HookRefused> {
        let delivered = VerifiedDelivery {
            headers: readable(headers),
            body: body.to_vec(),
        };
        let requester = Requester {
            workspace: hook.workspace_id.as_str().into(),
            key: hook.connection_id.as_str().into(),
        };
        let events = self
            .runtime
            .normalize(&serving.code, requester, delivered, self.clock.now_ms())
            .await;
        match events {
            Ok(events) => Ok(Some(events)),
            Err(NormalizeError::Overloaded(_)) => Err(HookRefused::Later),
            Err(cause) => {
                tracing::warn!(connection.service = hook.service, error = %cause, "hooks.unreadable");
                Ok(None)
            }
        }
    }

    fn shown_hook(&self, row: store::HookRow) -> Hook {
        Hook {
            url: format!("{}{PATH}{}", self.public_url, row.connection_id),
            connection_id: row.connection_id,
            service: row.service,
            accepted: row.accepted,
            refused: row.refused,
            last_accepted_at: row.last_accepted_at_ms.map(rfc3339),
            last_refused_at: row.last_refused_at_ms.map(rfc3339),
            last_refusal: row.last_refusal,
            created_at: rfc3339(row.created_at_ms),
        }
    }
}

fn is_connection_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=CONNECTION_ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(plain)
}

fn place(hook: &store::HookRow) -> SealContext<'_> {
    SealContext {
        kind: "hook",
        workspace_id: &hook.workspace_id,
        user_id: &hook.user_id,
        service: &hook.service,
        id: &hook.connection_id,
    }
}

fn no_connection() -> Error {
    Error::NotFound("the connection".to_owned())
}

fn no_hook() -> Error {
    Error::NotFound("the connection's hook".to_owned())
}

fn checked(secret: Secret) -> Result<Secret, Error> {
    let text = secret.expose();
    let fits = (8..=SECRET_CHARS_MAX).contains(&text.chars().count());
    if fits && !text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Ok(secret);
    }
    Err(Error::InvalidRequest(format!(
        "secret must be the provider's signing secret: 8 to {SECRET_CHARS_MAX} characters without spaces; \
         leave it out to have one made"
    )))
}

fn challenge(spec: &HookSpec, body: &[u8]) -> Option<String> {
    let challenge = spec.challenge.as_ref()?;
    let asks = verify::text_at(&challenge.at, body)? == challenge.is;
    asks.then(|| verify::text_at(&challenge.answer, body))?
}
