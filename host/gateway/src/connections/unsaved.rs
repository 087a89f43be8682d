//! What refreshes brought and the database has not taken yet.
//!
//! A provider that rotates refresh tokens has spent the one of before when it answers, so what it answered is the only
//! way to the account. It is sealed at once, in memory and in a file of the data folder, and removed when it is a row.
//! Until then calls use it from memory, and it is written first thing when the database is back: before the connection
//! is used, twice a second while nobody uses it, and at the start after a process was killed.
//!
//! The database takes it only for the generation that was refreshed, whatever its state: another process that has
//! presented the spent token meanwhile was refused, and that says nothing of the new one.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::credential::OpenCredential;
use super::{ConnectionManager, place_of};
use toolgate_core::states::ConnectionHealth;
use toolgate_store::{Connection, RefreshTokenEnd, Refreshed, StoreError};

/// Files that are read at a start.
const FILES_MAX: usize = 10_000;
const FILE_BYTES_MAX: u64 = 512 * 1024;

/// How long to wait before what a refresh brought is sealed once more; shorter than the lease together.
const SEAL_RETRY_DELAYS: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1_500),
    Duration::from_secs(5),
];
/// What a refresh brought.
pub(super) struct RenewedConnection {
    pub(super) credential: OpenCredential,
    /// `None`: as before.
    pub(super) scopes: Option<Vec<String>>,
    pub(super) parameters: Option<BTreeMap<String, String>>,
}

/// One of them, as its file has it. Nothing of it is secret but what is sealed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UnsavedRenewal {
    workspace_id: String,
    id: String,
    /// The generation that was refreshed.
    generation: i64,
    sealed: String,
    token_expires_at_ms: Option<i64>,
    refreshable: bool,
    scopes: Option<Vec<String>>,
    parameters: Option<BTreeMap<String, String>>,
    /// The known end of the refresh token, and when that is to be renewed.
    refresh_expires_at_ms: Option<i64>,
    refresh_due_at_ms: Option<i64>,
}

impl UnsavedRenewal {
    fn new(seen: &Connection, renewed: &RenewedConnection, sealed: String) -> Self {
        let credential = &renewed.credential;
        let made_ms = credential.renewed_at_ms.unwrap_or(seen.updated_at_ms);
        let end = credential.refresh_end(made_ms);
        Self {
            workspace_id: seen.workspace_id.clone(),
            id: seen.id.clone(),
            generation: seen.generation,
            sealed,
            token_expires_at_ms: credential.lifetime_ms.map(|life| made_ms + life),
            refreshable: seen.refreshable,
            scopes: renewed.scopes.clone(),
            parameters: renewed.parameters.clone(),
            refresh_expires_at_ms: end.map(|end| end.expires_at_ms),
            refresh_due_at_ms: end.and_then(|end| end.due_at_ms),
        }
    }

    fn refreshed(&self) -> Refreshed<'_> {
        Refreshed {
            sealed: &self.sealed,
            token_expires_at_ms: self.token_expires_at_ms,
            refreshable: self.refreshable,
            scopes: self.scopes.as_deref(),
            parameters: self.parameters.as_ref(),
            refresh_end: self
                .refresh_expires_at_ms
                .map(|expires_at_ms| RefreshTokenEnd {
                    expires_at_ms,
                    due_at_ms: self.refresh_due_at_ms,
                }),
        }
    }

    /// The row that the database will have.
    fn row(&self, seen: &Connection) -> Connection {
        Connection {
            sealed: self.sealed.clone(),
            generation: self.generation + 1,
            token_expires_at_ms: self.token_expires_at_ms,
            scopes: self.scopes.clone().unwrap_or_else(|| seen.scopes.clone()),
            parameters: self
                .parameters
                .clone()
                .unwrap_or_else(|| seen.parameters.clone()),
            state: ConnectionHealth::Active,
            failures: 0,
            next_retry_at_ms: None,
            last_error: None,
            lease_owner: None,
            lease_since_ms: None,
            lease_until_ms: None,
            ..seen.clone()
        }
    }
}

/// By workspace and connection, with the row where this process has seen it.
type RenewalsById = HashMap<(String, String), (UnsavedRenewal, Option<Connection>)>;

/// Those of this process, and what a killed one has left.
pub(super) struct UnsavedRenewals {
    folder: PathBuf,
    renewals: Mutex<RenewalsById>,
}

impl UnsavedRenewals {
    /// Reads what is left in `folder`; a file that cannot be read stays where it is.
    pub(super) fn open(folder: PathBuf) -> Self {
        let mut renewals = HashMap::new();
        for entry in fs::read_dir(&folder).into_iter().flatten().take(FILES_MAX) {
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(_) => continue,
            };
            match read(&path) {
                Ok(left) => {
                    let key = (left.workspace_id.clone(), left.id.clone());
                    renewals.insert(key, (left, None));
                }
                Err(cause) => {
                    tracing::warn!(path = %path.display(), error = %cause, "connections.renewal_unreadable");
                }
            }
        }
        Self {
            folder,
            renewals: Mutex::new(renewals),
        }
    }

    fn renewals(&self) -> MutexGuard<'_, RenewalsById> {
        self.renewals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.renewals().is_empty()
    }

    fn put(&self, renewal: &UnsavedRenewal, seen: &Connection) {
        let key = (renewal.workspace_id.clone(), renewal.id.clone());
        let row = renewal.row(seen);
        self.renewals().insert(key, (renewal.clone(), Some(row)));
    }

    fn remove(&self, renewal: &UnsavedRenewal) {
        let key = (renewal.workspace_id.clone(), renewal.id.clone());
        let mut renewals = self.renewals();
        if renewals
            .get(&key)
            .is_some_and(|(one, _)| one.generation <= renewal.generation)
        {
            renewals.remove(&key);
            if let Some(path) = file(&self.folder, &renewal.id) {
                let _ = fs::remove_file(path);
            }
        }
    }

    fn get(&self, workspace_id: &str, id: &str) -> Option<(UnsavedRenewal, Option<Connection>)> {
        let renewals = self.renewals();
        if renewals.is_empty() {
            return None;
        }
        renewals
            .get(&(workspace_id.to_owned(), id.to_owned()))
            .cloned()
    }

    fn all(&self) -> Vec<UnsavedRenewal> {
        self.renewals()
            .values()
            .map(|(one, _)| one.clone())
            .collect()
    }
}

impl ConnectionManager {
    /// Seals and stores what a refresh brought, also after a key file that was away for a moment: the token of before
    /// is spent, so there is no other way to the new one. What a database that is away does not take is used from
    /// memory.
    pub(super) async fn keep(
        &self,
        row: &Connection,
        owner: &str,
        renewed: &RenewedConnection,
    ) -> anyhow::Result<Option<Connection>> {
        let mut waits = SEAL_RETRY_DELAYS.iter();
        let renewal = loop {
            match (self.sealed_renewal(row, renewed).await, waits.next()) {
                (Ok(renewal), _) => break renewal,
                (Err(cause), None) => return Err(cause),
                (Err(cause), Some(wait)) => {
                    let error = format!("{cause:#}");
                    tracing::warn!(connection.id = row.id, error, "connections.not_sealed_yet");
                    tokio::time::sleep(*wait).await;
                }
            }
        };
        let (workspace_id, id) = (&row.workspace_id, &row.id);
        let refreshed = renewal.refreshed();
        let now_ms = self.clock.now_ms();
        let stored = self
            .store
            .store_refreshed(workspace_id, id, owner, &refreshed, now_ms);
        match stored.await {
            Ok(Some(stored)) => {
                self.unsaved.remove(&renewal);
                Ok(Some(stored))
            }
            // Another process has the lease: what the provider answers to it about the spent token does not count.
            Ok(None) => Ok(self.save(&renewal).await?),
            Err(cause) => {
                tracing::warn!(connection.id = id, error = %cause, "connections.not_stored_yet");
                Ok(Some(renewal.row(row)))
            }
        }
    }

    /// What a refresh brought, sealed, in memory and on disk.
    pub(super) async fn sealed_renewal(
        &self,
        row: &Connection,
        renewed: &RenewedConnection,
    ) -> anyhow::Result<UnsavedRenewal> {
        let secret = renewed.credential.to_secret();
        let sealed = self.vault.seal(&place_of(row), &secret)?;
        let renewal = UnsavedRenewal::new(row, renewed, sealed);
        self.keep_unsaved(&renewal, row).await;
        Ok(renewal)
    }

    async fn keep_unsaved(&self, renewal: &UnsavedRenewal, seen: &Connection) {
        self.unsaved.put(renewal, seen);
        let (folder, written) = (self.unsaved.folder.clone(), renewal.clone());
        let written = tokio::task::spawn_blocking(move || write(&folder, &written)).await;
        let failed = match written {
            Ok(Ok(())) => return,
            Ok(Err(cause)) => cause.to_string(),
            Err(cause) => cause.to_string(),
        };
        tracing::warn!(
            connection.id = renewal.id,
            error = failed,
            "connections.renewal_not_on_disk"
        );
    }

    /// Writes it. `None`: the connection is gone, or has another credential by now.
    async fn save(&self, renewal: &UnsavedRenewal) -> Result<Option<Connection>, StoreError> {
        let saved = self
            .store
            .store_late_refresh(
                &renewal.workspace_id,
                &renewal.id,
                renewal.generation,
                &renewal.refreshed(),
                self.clock.now_ms(),
            )
            .await?;
        self.unsaved.remove(renewal);
        tracing::info!(
            connection.id = renewal.id,
            stored = saved.is_some(),
            "connections.renewal_saved"
        );
        Ok(saved)
    }

    /// Writes what this connection has, first; else answers it from memory.
    pub(super) async fn unsaved_of(&self, workspace_id: &str, id: &str) -> Option<Connection> {
        let (renewal, row) = self.unsaved.get(workspace_id, id)?;
        match self.save(&renewal).await {
            Ok(_) => None,
            Err(cause) => {
                tracing::warn!(connection.id = id, error = %cause, "connections.not_stored_yet");
                row
            }
        }
    }

    /// Writes all of them, as far as the database takes them.
    pub(super) async fn save_all(&self) {
        for renewal in self.unsaved.all() {
            if self.save(&renewal).await.is_err() {
                return;
            }
        }
    }
}

/// The file of a connection. Ids are made by the gateway, so another form is refused.
fn file(folder: &Path, id: &str) -> Option<PathBuf> {
    let plain = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (plain && !id.is_empty() && id.len() <= 100).then(|| folder.join(format!("{id}.json")))
}

fn read(path: &Path) -> io::Result<UnsavedRenewal> {
    let mut text = String::new();
    fs::File::open(path)?
        .take(FILE_BYTES_MAX)
        .read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text)?)
}

/// Whole or not at all, also after a loss of power.
fn write(folder: &Path, renewal: &UnsavedRenewal) -> io::Result<()> {
    let path = file(folder, &renewal.id).ok_or(io::ErrorKind::InvalidInput)?;
    let mut private = fs::DirBuilder::new();
    private.recursive(true).mode(0o700).create(folder)?;
    let beside = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&beside)?;
    file.write_all(&serde_json::to_vec(renewal)?)?;
    file.sync_all()?;
    fs::rename(&beside, &path)
}
