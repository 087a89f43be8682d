//! Lending a user's connection to one running tool.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::choose::{ConnectionChoice, choose};
use super::known::CallSecrets;
use super::lend::{audience, injection, is_secret, may_receive, without_secrets};
use super::link::{LinkEnding, LinkRequest};
use super::refresh::UnusableReason;
use super::unusable::{later, reconnected};
use super::{ConnectionManager, Error, Gateway, slot_of};
use crate::Caller;
use crate::access::approvals::question::{ApprovalBinding, BoundConnection};
use crate::plugins::ServingPlugin;
use crate::tools::{Connect, Outcome};
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_catalog::{Tool, stand_ins};
use toolgate_core::ids::UserId;
use toolgate_core::states::ConnectionHealth;
use toolgate_egress::{Credentials, EgressFailure, FailureKind, Injection, SlotShape};
use toolgate_store::Connection;

/// What a call begins with.
pub(crate) struct PreparedConnection {
    /// The connection, or none where the tool does without.
    pub held: Arc<CallConnection>,
    /// The call ends before it begins: the user has to connect.
    pub ends: Option<Outcome>,
}

/// What a call may do, as far as its connection is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallPurpose {
    /// It sends its requests.
    Live,
    /// The caller wants to see its requests, whether the service is connected or not.
    Plan,
    /// Its requests are kept with a question to a person, who is not asked before the user has connected.
    Question,
}

/// The one connection of a call, or none.
pub(crate) struct CallConnection {
    manager: Arc<ConnectionManager>,
    manifest: Arc<Manifest>,
    settings: Arc<BTreeMap<String, String>>,
    row: Option<Connection>,
    /// Without a connection, the slot that a dry run plans its requests with; it opens nothing.
    planned_slot: Option<String>,
    /// Of the row, but for values that hold a secret; stand-ins where a slot is only planned.
    parameters: BTreeMap<String, String>,
    secrets: CallSecrets,
    told: Mutex<CallFindings>,
}

/// What the provider and the manager said during the call.
#[derive(Default)]
struct CallFindings {
    /// The generation that the provider refused and that could not be renewed.
    refused: Option<i64>,
    unusable: Option<UnusableReason>,
}

impl Gateway {
    /// The connection a call runs with. `needed`: whether the call can do without one.
    pub(crate) async fn connection_for_call(
        &self,
        caller: &Caller,
        user: &UserId,
        tool: &Tool,
        serving: &ServingPlugin,
        wanted: Option<&str>,
        purpose: CallPurpose,
    ) -> Result<PreparedConnection, Error> {
        let spec = tool.spec();
        let connection = |row: Option<Connection>, secrets: CallSecrets| CallConnection {
            manager: self.connections.clone(),
            manifest: serving.manifest.clone(),
            settings: self.services.get(&caller.workspace_id, tool.service()),
            parameters: row
                .as_ref()
                .map(|row| without_secrets(&row.parameters, &secrets.scrubber()))
                .unwrap_or_default(),
            planned_slot: None,
            row,
            secrets,
            told: Mutex::default(),
        };
        let with = |row: Option<Connection>, secrets, ends| PreparedConnection {
            held: Arc::new(connection(row, secrets)),
            ends,
        };
        // A tool without a slot of a plugin that has one still meets what the provider knows.
        if serving.manifest.auth.is_empty() && wanted.is_none() {
            return Ok(with(None, CallSecrets::default(), None));
        }
        let rows = self
            .store
            .list_connections(
                &caller.workspace_id,
                Some(user.as_str()),
                Some(tool.service()),
            )
            .await?;
        let secrets = self
            .connections
            .known_for(&caller.workspace_id, &serving.manifest, &rows)
            .await?;
        if let Some(id) = secrets.exposed() {
            // What a call answers would go on saying which guesses are right, whether it sends anything or not.
            let row = rows.iter().find(|row| row.id == id);
            let ends = self
                .connect_outcome(caller, user, tool, serving, Reason::Exposed, row)
                .await?;
            return Ok(with(row.cloned(), secrets, Some(ends)));
        }
        if spec.auth.is_empty() && wanted.is_none() {
            return Ok(with(None, secrets, None));
        }
        let (reason, of) = match choose(&rows, &spec.auth, tool.scopes(), wanted) {
            ConnectionChoice::Use(row) => return Ok(with(Some(row.clone()), secrets, None)),
            ConnectionChoice::Unknown => {
                return Err(Error::NotFound(format!(
                    "a connection of {user} for {} with this id",
                    tool.service()
                )));
            }
            ConnectionChoice::Nothing if spec.auth_optional => {
                return Ok(with(None, secrets, None));
            }
            ConnectionChoice::Nothing if purpose == CallPurpose::Plan => {
                let held = Arc::new(CallConnection {
                    // The first slot is the one that a connect link leads to.
                    planned_slot: spec.auth.first().cloned(),
                    parameters: stand_ins::parameters(&serving.manifest),
                    ..connection(None, secrets)
                });
                return Ok(PreparedConnection { held, ends: None });
            }
            ConnectionChoice::MoreScopes(row) | ConnectionChoice::Broken(row)
                if purpose == CallPurpose::Plan =>
            {
                return Ok(with(Some(row.clone()), secrets, None));
            }
            ConnectionChoice::Nothing => (Reason::Required, None),
            ConnectionChoice::MoreScopes(row) => (Reason::MoreScopes, Some(row)),
            ConnectionChoice::Broken(row) => (Reason::Expired, Some(row)),
        };
        let ends = self
            .connect_outcome(caller, user, tool, serving, reason, of)
            .await?;
        Ok(with(of.cloned(), secrets, Some(ends)))
    }

    /// The connection that a call would run with, whether it works or not.
    pub(crate) async fn connection_to_use(
        &self,
        caller: &Caller,
        user: &UserId,
        tool: &Tool,
        wanted: Option<&str>,
    ) -> Result<Option<Connection>, Error> {
        let spec = tool.spec();
        if spec.auth.is_empty() && wanted.is_none() {
            return Ok(None);
        }
        let (workspace_id, service) = (&caller.workspace_id, tool.service());
        let rows = self
            .store
            .list_connections(workspace_id, Some(user.as_str()), Some(service))
            .await?;
        match choose(&rows, &spec.auth, tool.scopes(), wanted) {
            ConnectionChoice::Use(row)
            | ConnectionChoice::MoreScopes(row)
            | ConnectionChoice::Broken(row) => Ok(Some(row.clone())),
            ConnectionChoice::Nothing => Ok(None),
            ConnectionChoice::Unknown => Err(Error::NotFound(format!(
                "a connection of {user} for {service} with this id"
            ))),
        }
    }

    /// What becomes of a call whose plugin had no credential, or one that was refused; `None` where
    /// the plugin's own word stands. `says`: what the plugin made of it.
    pub(crate) async fn after_refusal(
        &self,
        caller: &Caller,
        user: &UserId,
        tool: &Tool,
        serving: &ServingPlugin,
        held: &CallConnection,
        says: Option<AuthClaim>,
    ) -> Result<Option<Outcome>, Error> {
        if tool.spec().auth.is_empty() {
            return Ok(None);
        }
        let (refused, unusable) = {
            let mut told = held.told.lock().unwrap_or_else(PoisonError::into_inner);
            (told.refused.take(), told.unusable.take())
        };
        let reason = match (unusable, says) {
            (Some(UnusableReason::Later { retry_after_ms }), _) => {
                return Ok(Some(later(retry_after_ms)));
            }
            (Some(UnusableReason::Reconnected), _) => return Ok(Some(reconnected())),
            (Some(UnusableReason::Expired(_)), _) | (None, Some(AuthClaim::Expired)) => {
                Reason::Expired
            }
            (Some(UnusableReason::Gone), _) | (None, Some(AuthClaim::Required)) => Reason::Required,
            (Some(UnusableReason::Broken(cause)), _) => return Err(cause),
            (None, None) => return Ok(None),
        };
        // A credential that can only be replaced by the user: the next call need not try it.
        if let (Some(row), Some(generation), Some(AuthClaim::Expired)) = (&held.row, refused, says)
        {
            self.store
                .set_connection_state(
                    &row.workspace_id,
                    &row.id,
                    generation,
                    ConnectionHealth::ReauthNeeded,
                    Some("the provider refused the credential"),
                    self.clock.now_ms(),
                )
                .await?;
        }
        let reason = match (reason, &held.row) {
            (Reason::Expired, None) => Reason::Required,
            (reason, _) => reason,
        };
        let of = held.row.as_ref();
        self.connect_outcome(caller, user, tool, serving, reason, of)
            .await
            .map(Some)
    }

    async fn connect_outcome(
        &self,
        caller: &Caller,
        user: &UserId,
        tool: &Tool,
        serving: &ServingPlugin,
        reason: Reason,
        of: Option<&Connection>,
    ) -> Result<Outcome, Error> {
        let manifest = &serving.manifest;
        // A tool that needs no connection has no slot of its own to connect.
        let of_connection = of.filter(|_| tool.spec().auth.is_empty());
        let of_connection = of_connection.map(|row| vec![row.slot.clone()]);
        let ask = LinkRequest {
            workspace_id: &caller.workspace_id,
            user,
            manifest,
            slots: of_connection.as_ref().unwrap_or(&tool.spec().auth),
            scopes: tool.scopes(),
            tool_name: Some(&tool.name),
            connection: of,
            first_only: true,
            ending: LinkEnding::default(),
        };
        let link = self.connections.make_link(ask).await?;
        let title = &manifest.title;
        let mut message = match reason {
            Reason::Required => format!("{title} is not connected for the user {user}."),
            Reason::MoreScopes => format!(
                "The {title} connection of the user {user} lacks rights that this tool needs."
            ),
            Reason::Expired => format!(
                "The {title} connection of the user {user} has expired or was revoked and has to be renewed."
            ),
            Reason::Exposed => format!(
                "Pieces of the {title} credential of the user {user} have come back several times, so it is not used \
                 any more. Connect again with a new credential."
            ),
        };
        if link.is_none() {
            message.push_str(" The operator of this gateway has to set the service up first.");
        }
        let expired = matches!(reason, Reason::Expired | Reason::Exposed);
        let connect = Connect {
            reason: if expired {
                "auth_expired"
            } else {
                "auth_required"
            }
            .to_owned(),
            auth_type: link
                .as_ref()
                .map_or(tool.auth_type(), |link| link.auth_type)
                .to_owned(),
            message,
            connect_url: link.map(|link| link.url.expose().to_owned()),
        };
        Ok(if expired {
            Outcome::AuthExpired(connect)
        } else {
            Outcome::AuthRequired(connect)
        })
    }
}

/// What a plugin made of a request without an answer it could use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthClaim {
    Required,
    Expired,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Required,
    MoreScopes,
    Expired,
    /// What came back of the credential could soon complete it.
    Exposed,
}

impl CallConnection {
    /// The connection's id, for the receipt and for what the plugin keeps.
    pub(crate) fn connection_id(&self) -> Option<&str> {
        self.row.as_ref().map(|row| row.id.as_str())
    }

    /// Refuses a connection that is another than the one a question was bound to.
    pub(crate) fn check_bound(&self, bound: &ApprovalBinding) -> Result<(), Error> {
        let now = self.row.clone().map(BoundConnection::from);
        if now == bound.connection {
            return Ok(());
        }
        Err(Error::Conflict(
            "the connection was changed while the call began; call again".to_owned(),
        ))
    }

    /// The connection's parameters, for addresses.
    pub(crate) fn parameters(&self) -> BTreeMap<String, String> {
        self.parameters.clone()
    }

    /// What the call must not hand back, known before it sends anything.
    pub(crate) fn secrets(&self) -> &CallSecrets {
        &self.secrets
    }

    /// What the plugin may read: the operator's settings over the connection's parameters, as JSON.
    pub(crate) fn config(&self) -> Arc<BTreeMap<String, String>> {
        let parameters = self.parameters();
        if parameters.is_empty() {
            return self.settings.clone();
        }
        let mut config: BTreeMap<String, String> = parameters
            .into_iter()
            .map(|(key, value)| (key, serde_json::Value::String(value).to_string()))
            .collect();
        config.extend(
            self.settings
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        Arc::new(config)
    }

    /// The slot of this name that requests carry, with the parameters of its connection.
    fn shown_slot(&self, name: &str) -> Option<(&Slot, &BTreeMap<String, String>)> {
        let (held, parameters) = match &self.row {
            Some(row) => (row.slot.as_str(), &row.parameters),
            None => (self.planned_slot.as_deref()?, &self.parameters),
        };
        let slot = slot_of(&self.manifest, name).filter(|_| held == name)?;
        Some((slot, parameters))
    }

    fn slot(&self, name: &str) -> Option<(&Slot, &Connection)> {
        let row = self.row.as_ref().filter(|row| row.slot == name)?;
        Some((slot_of(&self.manifest, name)?, row))
    }
}

impl Credentials for CallConnection {
    fn fetch<'a>(
        &'a self,
        name: &'a str,
        rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        async move {
            let Some((slot, row)) = self.slot(name) else {
                return Err(failure(
                    FailureKind::AuthRequired,
                    format!("the slot {name} is not connected"),
                ));
            };
            let rejected = rejected.and_then(|generation| i64::try_from(generation).ok());
            let fresh = self
                .manager
                .fresh(&self.manifest, &row.workspace_id, &row.id, rejected)
                .await;
            // Whoever connects again keeps the id, and may bring another account than the one that the call
            // was checked with. A renewed token keeps `connected_at_ms`.
            let fresh = match fresh {
                Ok(fresh) if fresh.row.connected_at_ms != row.connected_at_ms => {
                    Err(UnusableReason::Reconnected)
                }
                fresh => fresh,
            };
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            match fresh {
                Ok(fresh) => {
                    told.refused =
                        rejected.filter(|generation| *generation == fresh.row.generation);
                    Ok(injection(
                        slot,
                        &fresh.row.parameters,
                        &self.manifest,
                        &self.settings,
                        fresh.credential,
                        u64::try_from(fresh.row.generation).unwrap_or_default(),
                    ))
                }
                Err(unusable) => {
                    let kind = match &unusable {
                        UnusableReason::Gone | UnusableReason::Reconnected => {
                            FailureKind::AuthRequired
                        }
                        UnusableReason::Expired(_) => FailureKind::AuthExpired,
                        UnusableReason::Later { .. } => FailureKind::Connect,
                        UnusableReason::Broken(_) => FailureKind::Protocol,
                    };
                    let failure = failure(kind, unusable.to_string());
                    told.unusable = Some(unusable);
                    Err(failure)
                }
            }
        }
        .boxed()
    }

    fn connected(&self, slot: &str) -> bool {
        self.shown_slot(slot).is_some()
    }

    fn slot_for_origin(&self, origin: &str) -> Option<String> {
        let held = self.row.as_ref().map(|row| row.slot.as_str());
        let (slot, parameters) = self.shown_slot(held.or(self.planned_slot.as_deref())?)?;
        may_receive(origin, slot, parameters, &self.manifest, &self.settings)
            .then(|| slot.slot.clone())
    }

    fn is_secret(&self, slot: &str, field: &str) -> bool {
        is_secret(slot_of(&self.manifest, slot), field)
    }

    fn shape(&self, name: &str) -> Option<SlotShape> {
        let (slot, parameters) = self.shown_slot(name)?;
        Some(SlotShape {
            placements: slot.placement.clone(),
            audience: audience(slot, parameters, &self.manifest, &self.settings),
        })
    }
}

fn failure(kind: FailureKind, message: String) -> EgressFailure {
    EgressFailure {
        kind,
        message,
        sent: false,
    }
}
