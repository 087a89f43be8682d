//! Connections: what a user has connected, how a call uses it, and how it is kept alive.
//!
//! Shapes and the operations that list, read and delete are here; [`link`] makes connect links,
//! [`flow`] is what the browser behind one does, [`call`] lends a connection to a running tool as
//! [`lend`] says, [`unusable`] is what a call answers that cannot use one, [`ask`] where its user has to connect,
//! [`refusal`] where the provider refused a request ([`account_check`], [`doubt`]), [`granted`] compares scopes, [`key_check`] tries a key
//! before it is stored, [`known`] is what no answer hands back, [`refresh`] renews it and [`unsaved`] keeps what that
//! brought, [`ahead`] also
//! while nobody calls, [`revoke`] ends it at the provider; [`wait`] holds a reader until a user has
//! connected. [`choose`] and [`backoff`] are the pure rules, [`apps`] the operator's side,
//! [`callback`] says which answer of a provider may arrive where, [`client_document`] who the gateway is to a provider, [`registration`] asks
//! to be known again, [`origins`] where a link may lead, [`guesses`] how
//! many keys a form tries. A credential
//! is sealed in the store and open only while it is written into a request.

pub mod integrations;
pub mod service_test;
pub mod services;

mod account;
mod account_check;
pub(crate) mod ahead;
pub mod apps;
mod ask;
mod backoff;
mod call;
pub mod callback;
mod choose;
pub mod client_document;
mod credential;
mod doubt;
pub mod flow;
mod granted;
mod guesses;
mod issued;
mod key_check;
mod known;
pub(super) mod labels;
mod lend;
pub mod link;
pub mod origins;
mod refresh;
mod refusal;
mod registration;
pub(crate) mod requests;
mod revoke;
pub mod setup;
mod states;
mod token_parameters;
mod tried;
mod unsaved;
mod unusable;
pub(crate) mod wait;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use arc_swap::ArcSwap;
use serde::Serialize;
use serde_json::json;
use tokio_util::task::TaskTracker;

pub(crate) use ask::ConnectRequest;
pub(crate) use call::{CallConnection, CallPurpose, PreparedConnection};
pub use wait::{WAIT_S_MAX, WaitFor};

use crate::audit::AuditAction;
use crate::detached::detach;
use crate::executions::writer::Receipts;
use crate::metrics::Metrics;
use crate::plugins::{ServingPlugin, Snapshot};
use crate::{Caller, Error, Gateway, Scope};
use credential::OpenCredential;
use requests::ConnectionRef;
use states::UserConnections;
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_core::clock::{Clock, rfc3339};
use toolgate_core::ids::UserId;
use toolgate_core::states::ConnectionHealth;
use toolgate_egress::Egress;
use toolgate_store::{Connection, Cursor, Store};
use toolgate_vault::{SealContext, Secret, Vault};

/// A connection as public answers show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ConnectionInfo {
    /// `con_<ULID>`; kept when the user connects again.
    #[schema(example = "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub connection_id: String,
    #[schema(example = "ada@example.com")]
    pub user_id: String,
    #[schema(example = "github")]
    pub service: String,
    #[schema(example = "oauth2")]
    pub auth_type: String,
    /// The account's name at the provider, where it could be read.
    pub account: Option<String>,
    /// Scopes that were asked for or granted.
    pub scopes: Vec<String>,
    pub state: ConnectionHealth,
    #[schema(format = DateTime)]
    pub state_since: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub next_retry_at: Option<String>,
    /// Why the last refresh failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the refresh token ends, where the provider says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub refresh_token_expires_at: Option<String>,
}

/// `GET /v1/connections`. Every filter that is present must hold.
#[derive(Clone, Debug, Default)]
pub struct ListConnections {
    pub user_id: Option<UserId>,
    pub service: Option<String>,
    /// Until one of the page works.
    pub wait: WaitFor,
    /// Connections in the page.
    pub limit: usize,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ConnectionPage {
    pub connections: Vec<ConnectionInfo>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

/// What a deletion did.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct DeletedConnection {
    pub connection_id: String,
    /// Always `true`.
    pub deleted: bool,
    /// Whether the provider was told to revoke the credential and agreed.
    pub revoked_at_provider: bool,
}

/// Its holder refreshes the connection.
type RefreshLock = tokio::sync::Mutex<()>;

/// What connections are kept with; shared by running calls.
pub(crate) struct ConnectionManager {
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) egress: Egress,
    pub(crate) clock: Clock,
    /// Without a trailing slash.
    pub(crate) public_url: String,
    snapshot: Arc<ArcSwap<Snapshot>>,
    /// Refreshes outlive the call that asked for them.
    running: TaskTracker,
    receipts: Receipts,
    metrics: Arc<Metrics>,
    /// One turn for each connection that is being refreshed here.
    refreshing: Mutex<HashMap<String, Weak<RefreshLock>>>,
    known: known::KnownSecrets,
    guesses: guesses::GuessLimits,
    doubts: doubt::Doubts,
    unsaved: unsaved::UnsavedRenewals,
}

/// What a [`ConnectionManager`] works with.
pub(crate) struct ConnectionManagerParts {
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) egress: Egress,
    pub(crate) clock: Clock,
    /// Without a trailing slash.
    pub(crate) public_url: String,
    pub(crate) snapshot: Arc<ArcSwap<Snapshot>>,
    pub(crate) running: TaskTracker,
    pub(crate) receipts: Receipts,
    pub(crate) metrics: Arc<Metrics>,
    /// Where refreshed credentials are kept until the database has them.
    pub(crate) renewals_dir: PathBuf,
}

impl ConnectionManager {
    pub(crate) fn new(parts: ConnectionManagerParts) -> Arc<Self> {
        Arc::new(Self {
            store: parts.store,
            vault: parts.vault,
            egress: parts.egress,
            clock: parts.clock,
            public_url: parts.public_url,
            snapshot: parts.snapshot,
            running: parts.running,
            receipts: parts.receipts,
            metrics: parts.metrics,
            refreshing: Mutex::default(),
            known: known::KnownSecrets::default(),
            guesses: guesses::GuessLimits::default(),
            doubts: doubt::Doubts::default(),
            unsaved: unsaved::UnsavedRenewals::open(parts.renewals_dir),
        })
    }

    fn turn_of(&self, row: &Connection) -> Arc<RefreshLock> {
        let key = format!("{} {}", row.workspace_id, row.id);
        let mut locks = self
            .refreshing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(&key).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(RefreshLock::new(()));
        locks.insert(key, Arc::downgrade(&lock));
        lock
    }

    fn open(&self, row: &Connection) -> Result<OpenCredential, Error> {
        let opened = self
            .vault
            .unseal(&place_of(row), &row.sealed)
            .map_err(|cause| Error::Internal(cause.into()))?;
        OpenCredential::parse(&opened).map_err(|cause| Error::Internal(cause.into()))
    }

    fn seal(&self, place: &SealContext<'_>, secret: &Secret) -> Result<String, Error> {
        self.vault
            .seal(place, secret)
            .map_err(|cause| Error::Internal(cause.into()))
    }

    fn serving(&self, service: &str) -> Option<Arc<ServingPlugin>> {
        self.snapshot.load().serving.get(service).cloned()
    }
}

/// The key's own user, for a key that makes first connections alone. `refused`: why it may not do more.
fn own_user(caller: &Caller, named: Option<UserId>, refused: Error) -> Result<UserId, Error> {
    let first = caller.need(Scope::ConnectionsFirst).is_ok();
    match named.filter(|named| *named != caller.default_user) {
        None if first => Ok(caller.default_user.clone()),
        _ => Err(refused),
    }
}

/// Whose connections the caller reads; `None`: all of the workspace.
fn listed_user(caller: &Caller, named: Option<UserId>) -> Result<Option<UserId>, Error> {
    match caller.need(Scope::Connections) {
        Ok(()) => caller.listed_user(named),
        Err(refused) => own_user(caller, named, refused).map(Some),
    }
}

fn about(row: &Connection) -> ConnectionRef<'_> {
    ConnectionRef {
        workspace_id: &row.workspace_id,
        user_id: &row.user_id,
        service: &row.service,
        connection_id: Some(&row.id),
    }
}

impl Gateway {
    /// A page of the workspace's connections, newest first.
    pub async fn connections(
        &self,
        caller: &Caller,
        request: ListConnections,
    ) -> Result<ConnectionPage, Error> {
        let mut user_id = listed_user(caller, request.user_id.clone())?;
        let invalid = || Error::InvalidRequest("invalid cursor".to_owned());
        let after = match &request.cursor {
            None => None,
            Some(text) => Some(Cursor::parse(text).ok_or_else(invalid)?),
        };
        let mut waiting = self.begin_to_wait(caller, request.wait).await?;
        let page = loop {
            let page = self
                .store
                .page_connections(
                    &caller.workspace_id,
                    user_id.as_ref().map(UserId::as_str),
                    request.service.as_deref(),
                    after.as_ref(),
                    request.limit,
                )
                .await?;
            let met = page.items.iter().any(|row| request.wait.met_by(row));
            if met || !waiting.changed().await? {
                break page;
            }
            user_id = listed_user(waiting.caller(), request.user_id.clone())?;
        };
        let now_ms = self.clock.now_ms();
        Ok(ConnectionPage {
            connections: page.items.iter().map(|row| shown(row, now_ms)).collect(),
            next_cursor: page.next.map(|next| next.to_string()),
        })
    }

    /// One connection; with `wait` also one that is not there yet, as a link names it.
    pub async fn connection(
        &self,
        caller: &Caller,
        id: &str,
        wait: WaitFor,
    ) -> Result<ConnectionInfo, Error> {
        let mut user_id = listed_user(caller, None)?;
        let mut waiting = self.begin_to_wait(caller, wait).await?;
        let row = loop {
            let found = self.store.find_connection(&caller.workspace_id, id).await?;
            let is_of = |row: &Connection| {
                let user_id = user_id.as_ref();
                user_id.is_none_or(|user_id| row.user_id == user_id.as_str())
            };
            let row = found.filter(is_of);
            let met = row.as_ref().is_some_and(|row| wait.met_by(row));
            if met || !waiting.changed().await? {
                break row;
            }
            user_id = listed_user(waiting.caller(), None)?;
        };
        let row = row.ok_or_else(not_found)?;
        Ok(shown(&row, self.clock.now_ms()))
    }

    /// Deletes a connection and has the provider revoke it where it can. Goes on when the caller hangs
    /// up: nobody could revoke later what is no longer stored.
    pub async fn delete_connection(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
    ) -> Result<DeletedConnection, Error> {
        caller.need(Scope::Connections)?;
        let workspace_id = &caller.workspace_id;
        let found = self.store.find_connection(workspace_id, id).await?;
        let row = found
            .filter(|row| caller.acts_for(&row.user_id))
            .ok_or_else(not_found)?;
        let deletion = Box::pin(self.clone().delete_and_revoke(caller.clone(), row));
        detach(&self.running, &self.workers, deletion)
            .await
            .map_err(|cause| Error::Internal(anyhow::Error::from(cause).context("the deletion")))?
    }

    async fn delete_and_revoke(
        self: Arc<Self>,
        caller: Caller,
        row: Connection,
    ) -> Result<DeletedConnection, Error> {
        let details = json!({ "user_id": row.user_id, "service": row.service });
        let action = AuditAction::ConnectionsDelete;
        let row = self
            .audited(&caller, action, &row.id, details.clone())
            .delete_connection(&caller.workspace_id, &row.id, self.clock.now_ms())
            .await?
            .ok_or_else(not_found)?;
        let revoked_at_provider = self.connections.revoke_deleted(&row).await;
        if revoked_at_provider {
            self.record_act(&caller, AuditAction::ConnectionsRevoke, &row.id, details)
                .await?;
        }
        Ok(DeletedConnection {
            connection_id: row.id,
            deleted: true,
            revoked_at_provider,
        })
    }

    /// What the user is connected to, as far as tools of the catalog need a connection.
    pub(crate) async fn connections_of(
        &self,
        caller: &Caller,
        user: &UserId,
    ) -> Result<UserConnections, Error> {
        let rows = self
            .store
            .list_connections(&caller.workspace_id, Some(user.as_str()), None)
            .await?;
        Ok(UserConnections::new(rows, self.unset_services(caller)))
    }
}

impl Gateway {
    /// The services without an address, because the operator has not set it.
    fn unset_services(&self, caller: &Caller) -> HashSet<String> {
        let snapshot = self.snapshot();
        let serving = snapshot.serving.iter();
        let unset = serving.filter(|(service, plugin)| {
            plugin.manifest.hosts.is_empty() && {
                let settings = self.services.get(&caller.workspace_id, service);
                setup::needed_first(&plugin.manifest, |key| settings.contains_key(key)).is_some()
            }
        });
        unset.map(|(service, _)| service.clone()).collect()
    }
}

fn not_found() -> Error {
    Error::NotFound("the connection".to_owned())
}

fn slot_of<'a>(manifest: &'a Manifest, name: &str) -> Option<&'a Slot> {
    manifest.auth.iter().find(|slot| slot.slot == name)
}

fn place_of(row: &Connection) -> SealContext<'_> {
    SealContext {
        kind: "connection",
        workspace_id: &row.workspace_id,
        user_id: &row.user_id,
        service: &row.service,
        id: &row.id,
    }
}

fn shown(row: &Connection, now_ms: i64) -> ConnectionInfo {
    let (state, since_ms) = row.state_at(now_ms);
    ConnectionInfo {
        connection_id: row.id.clone(),
        user_id: row.user_id.clone(),
        service: row.service.clone(),
        auth_type: row.auth_type.clone(),
        account: row.account.clone(),
        scopes: row.scopes.clone(),
        state,
        state_since: rfc3339(since_ms),
        next_retry_at: row.next_retry_at_ms.map(rfc3339),
        last_error: row.last_error.clone(),
        created_at: rfc3339(row.created_at_ms),
        refresh_token_expires_at: row.refresh_expires_at_ms.map(rfc3339),
    }
}
