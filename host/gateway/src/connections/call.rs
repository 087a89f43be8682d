//! Lending a user's connection to one running tool.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::account_check::RefusedRequest;
use super::ask::{ConnectRequest, Reason};
use super::choose::{ConnectionChoice, choose};
use super::known::CallSecrets;
use super::lend::{audience, injection, is_secret, may_receive, with_defaults, without_secrets};
use super::refresh::UnusableReason;
use super::{ConnectionManager, Error, Gateway, setup, slot_of};
use crate::Caller;
use crate::access::approvals::question::{ApprovalBinding, BoundConnection};
use crate::plugins::ServingPlugin;
use crate::tools::Outcome;
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_catalog::{Tool, stand_ins};
use toolgate_core::ids::UserId;
use toolgate_egress::{
    CredentialVerdict, Credentials, EgressFailure, FailureKind, Injection, MissingScopes, SlotShape,
};
use toolgate_store::Connection;

/// What a call begins with.
pub(crate) struct PreparedConnection {
    /// The connection, or none where the tool does without.
    pub connection: Arc<CallConnection>,
    /// The call ends before it begins: the user has to connect.
    pub decided: Option<Outcome>,
}

impl PreparedConnection {
    fn new(connection: CallConnection, decided: Option<Outcome>) -> Self {
        Self {
            connection: Arc::new(connection),
            decided,
        }
    }
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
    pub(super) row: Option<Connection>,
    /// Without a connection, the slot that a dry run plans its requests with; it opens nothing.
    planned_slot: Option<String>,
    /// Of the row, but for values that hold a secret; stand-ins where a slot is only planned.
    parameters: BTreeMap<String, String>,
    secrets: CallSecrets,
    pub(super) findings: Mutex<CallFindings>,
}

/// What the provider and the manager said during the call.
#[derive(Default)]
pub(super) struct CallFindings {
    /// The generation that was sent last.
    pub(super) used: Option<i64>,
    /// The request that was refused last, unless a later one was accepted.
    pub(super) refused: Option<RefusedRequest>,
    pub(super) missing: Option<MissingScopes>,
    pub(super) unusable: Option<UnusableReason>,
    /// Parameters that a renewed token has changed.
    moved: Option<Arc<BTreeMap<String, String>>>,
}

impl Gateway {
    /// The connection a call runs with, or what the call comes to without one.
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
        let asking = ConnectRequest {
            caller,
            user,
            tool,
            serving,
            of: None,
        };
        let settings = self.services.get(&caller.workspace_id, tool.service());
        if let Some(unset) = setup::unset(&serving.manifest, &settings) {
            // Nobody is asked for a key of a server that has no address.
            let nothing = self.call_connection(&asking, None, CallSecrets::default());
            return Ok(PreparedConnection::new(nothing, Some(unset)));
        }
        // A tool without a slot of a plugin that has one still meets what the provider knows.
        if serving.manifest.auth.is_empty() && wanted.is_none() {
            let nothing = self.call_connection(&asking, None, CallSecrets::default());
            return Ok(PreparedConnection::new(nothing, None));
        }
        let workspace_id = &caller.workspace_id;
        let rows = self
            .store
            .list_connections(workspace_id, Some(user.as_str()), Some(tool.service()))
            .await?;
        let secrets = self
            .connections
            .known_for(workspace_id, &serving.manifest, &rows)
            .await?;
        if let Some(id) = secrets.exposed() {
            // What a call answers would go on saying which guesses are right, whether it sends anything or not.
            let of = rows.iter().find(|row| row.id == id);
            return self.ended_call(asking, of, secrets, Reason::Exposed).await;
        }
        if spec.auth.is_empty() && wanted.is_none() {
            let nothing = self.call_connection(&asking, None, secrets);
            return Ok(PreparedConnection::new(nothing, None));
        }
        let choice = choose(&rows, &spec.auth, tool.scopes(), wanted);
        self.chosen_connection(asking, choice, secrets, purpose)
            .await
    }

    async fn chosen_connection(
        &self,
        asking: ConnectRequest<'_>,
        choice: ConnectionChoice<'_>,
        secrets: CallSecrets,
        purpose: CallPurpose,
    ) -> Result<PreparedConnection, Error> {
        let is_plan = purpose == CallPurpose::Plan;
        let (row, reason) = match choice {
            ConnectionChoice::Use(row) => {
                let connection = self.call_connection(&asking, Some(row), secrets);
                return Ok(PreparedConnection::new(connection, None));
            }
            ConnectionChoice::Unknown => {
                return Err(Error::NotFound(format!(
                    "a connection of {} for {} with this id",
                    asking.user,
                    asking.tool.service()
                )));
            }
            ConnectionChoice::Nothing if asking.tool.spec().auth_optional => {
                let nothing = self.call_connection(&asking, None, secrets);
                return Ok(PreparedConnection::new(nothing, None));
            }
            ConnectionChoice::Nothing if is_plan => {
                let planned = self.planned_connection(&asking, secrets);
                return Ok(PreparedConnection::new(planned, None));
            }
            ConnectionChoice::MoreScopes(row) | ConnectionChoice::Broken(row) if is_plan => {
                let connection = self.call_connection(&asking, Some(row), secrets);
                return Ok(PreparedConnection::new(connection, None));
            }
            ConnectionChoice::Nothing => (None, Reason::Required),
            ConnectionChoice::MoreScopes(row) => (Some(row), Reason::MoreScopes),
            ConnectionChoice::Broken(row) => (Some(row), Reason::Expired),
        };
        self.ended_call(asking, row, secrets, reason).await
    }

    fn call_connection(
        &self,
        asking: &ConnectRequest<'_>,
        row: Option<&Connection>,
        secrets: CallSecrets,
    ) -> CallConnection {
        let manifest = &asking.serving.manifest;
        let parameters = row
            .map(|row| without_secrets(&row.parameters, &secrets.scrubber()))
            .unwrap_or_default();
        let workspace_id = &asking.caller.workspace_id;
        CallConnection {
            manager: self.connections.clone(),
            manifest: manifest.clone(),
            settings: self.services.get(workspace_id, asking.tool.service()),
            parameters: with_defaults(manifest, parameters),
            planned_slot: None,
            row: row.cloned(),
            secrets,
            findings: Mutex::default(),
        }
    }

    /// What a plan is made with where the user has no connection.
    fn planned_connection(
        &self,
        asking: &ConnectRequest<'_>,
        secrets: CallSecrets,
    ) -> CallConnection {
        CallConnection {
            // The first slot is the one that a connect link leads to.
            planned_slot: asking.tool.spec().auth.first().cloned(),
            parameters: stand_ins::parameters(&asking.serving.manifest),
            ..self.call_connection(asking, None, secrets)
        }
    }

    /// A call that ends with a link for its user.
    async fn ended_call(
        &self,
        asking: ConnectRequest<'_>,
        of: Option<&Connection>,
        secrets: CallSecrets,
        reason: Reason,
    ) -> Result<PreparedConnection, Error> {
        let connection = self.call_connection(&asking, of, secrets);
        let scopes = asking.tool.scopes();
        let asking = ConnectRequest { of, ..asking };
        let outcome = self.connect_outcome(asking, reason, scopes).await?;
        Ok(PreparedConnection::new(connection, Some(outcome)))
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
        let (connected, parameters) = match &self.row {
            Some(row) => (row.slot.as_str(), &row.parameters),
            None => (self.planned_slot.as_deref()?, &self.parameters),
        };
        let slot = slot_of(&self.manifest, name).filter(|_| connected == name)?;
        Some((slot, parameters))
    }

    fn findings(&self) -> MutexGuard<'_, CallFindings> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
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
            // A user who connects again keeps the id, and may bring another account than the one that the call
            // was checked with. A renewed token keeps `connected_at_ms`.
            let fresh = match fresh {
                Ok(fresh) if fresh.row.connected_at_ms != row.connected_at_ms => {
                    Err(UnusableReason::Reconnected)
                }
                fresh => fresh,
            };
            let mut findings = self.findings();
            match fresh {
                Ok(fresh) => {
                    findings.used = Some(fresh.row.generation);
                    if fresh.row.parameters != row.parameters {
                        let scrubber = self.secrets.scrubber();
                        let moved = without_secrets(&fresh.row.parameters, &scrubber);
                        findings.moved = Some(Arc::new(with_defaults(&self.manifest, moved)));
                    }
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
                    findings.unusable = Some(unusable);
                    Err(failure)
                }
            }
        }
        .boxed()
    }

    fn judged(&self, slot: &str, generation: u64, resource: &str, verdict: &CredentialVerdict) {
        let Some((_, row)) = self.slot(slot) else {
            return;
        };
        let mut findings = self.findings();
        match verdict {
            CredentialVerdict::Accepted => {
                findings.refused = None;
                self.manager.doubts.accepted(row);
            }
            CredentialVerdict::Refused { .. } => {
                findings.refused = Some(RefusedRequest {
                    generation: i64::try_from(generation).unwrap_or_default(),
                    resource: resource.to_owned(),
                });
            }
            CredentialVerdict::ScopeMissing(missing) => findings.missing = Some(missing.clone()),
            CredentialVerdict::Unclear => {}
        }
    }

    fn moved(&self) -> Option<Arc<BTreeMap<String, String>>> {
        self.findings().moved.clone()
    }

    fn connected(&self, slot: &str) -> bool {
        self.shown_slot(slot).is_some()
    }

    fn slot_for_origin(&self, origin: &str) -> Option<String> {
        let connected = self.row.as_ref().map(|row| row.slot.as_str());
        let (slot, parameters) = self.shown_slot(connected.or(self.planned_slot.as_deref())?)?;
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
