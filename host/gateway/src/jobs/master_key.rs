//! Which master key belongs to a database: its name is kept there, so that a process with another one does
//! not start, and a lost one is not replaced in silence.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::audit::AuditAction;
use crate::{Caller, Error};
use toolgate_core::states::ConnectionHealth;
use toolgate_store::{Store, StoreError};
use toolgate_vault::keyfile::KeyFileError;
use toolgate_vault::{Vault, VaultError};

/// What a connection shows whose credential is under a key that was given up.
const GIVEN_UP: &str = "the credential is sealed under a master key that is lost";

/// Why the master key cannot be used with this database.
#[derive(Debug, thiserror::Error)]
pub enum MasterKeyError {
    #[error(
        "the master key in {path} does not belong to this database, which needs the key {needed}; \
         put that file in its place, from a backup or from another machine of this installation, or, if it is lost, \
         run: toolgate vault adopt"
    )]
    Another { path: String, needed: String },
    #[error(
        "the master key file {path} is missing: this database needs the key {needed}; \
         restore the file from a backup or copy it from another machine of this installation, or, if it is lost, \
         run: toolgate vault adopt"
    )]
    Missing { path: String, needed: String },
    #[error("the master key cannot be used")]
    Vault(#[from] VaultError),
    #[error("cannot read from the database which master key it needs")]
    Store(#[from] StoreError),
}

/// Opens the vault with the key that the database was written with. The first process of an installation
/// makes the key and names it there.
pub async fn open_vault(store: &Store, file: &Path) -> Result<Vault, MasterKeyError> {
    let path = || file.display().to_string();
    let Some(needed) = needed(store).await? else {
        let vault = Vault::open(file)?;
        // Of several that start at the same time, one names its key.
        let needed = store.claim_master_key_id(&vault.key_id()?).await?;
        return match vault.has_key(&needed)? {
            true => Ok(vault),
            false => Err(MasterKeyError::Another {
                path: path(),
                needed,
            }),
        };
    };
    match Vault::open_existing(file) {
        Ok(vault) if vault.has_key(&needed)? => {
            store.claim_master_key_id(&needed).await?;
            Ok(vault)
        }
        Ok(_) => Err(MasterKeyError::Another {
            path: path(),
            needed,
        }),
        Err(VaultError::Key(KeyFileError::Missing { .. })) => Err(MasterKeyError::Missing {
            path: path(),
            needed,
        }),
        Err(other) => Err(other.into()),
    }
}

/// The name of the key that boxes of this database are under; `None`: nothing was ever sealed.
async fn needed(store: &Store) -> Result<Option<String>, MasterKeyError> {
    if let Some(named) = store.master_key_id().await? {
        return Ok(Some(named));
    }
    // Written before databases named their key.
    match store.any_sealed().await? {
        Some(sealed) => Ok(Some(Vault::key_id_of(&sealed)?)),
        None => Ok(None),
    }
}

/// The outcome of giving up a lost key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdoptReport {
    /// Name of the key that the database needs from now on, 16 hexadecimal digits.
    pub key_id: String,
    /// Connections that wait for their users to connect again from now on.
    pub connections: usize,
    /// Client secrets of OAuth applications, and secrets of webhooks and hooks, to be set again.
    pub other_secrets: usize,
}

/// Takes the key of the file, made if it is missing, for this database's. What is sealed under keys that are
/// not here stays as it is: with the right file in place, adopting that one opens it again.
pub async fn adopt(
    store: &Store,
    file: &Path,
    caller: &Caller,
    now_ms: i64,
) -> Result<AdoptReport, Error> {
    caller.need_operator()?;
    let internal = |cause: VaultError| Error::Internal(cause.into());
    let vault = Vault::open(file).map_err(internal)?;
    let key_id = vault.key_id().map_err(internal)?;
    let mut report = AdoptReport {
        key_id: key_id.clone(),
        connections: 0,
        other_secrets: 0,
    };
    let mut lost = Vec::new();
    for sealed in store.list_sealed().await? {
        let opens = match Vault::key_id_of(&sealed.sealed) {
            Ok(id) => vault.has_key(&id).map_err(internal)?,
            Err(_) => false,
        };
        match (opens, sealed.kind.as_str()) {
            (true, _) => {}
            (false, "connection") => lost.push(sealed),
            // A link that was opened and not finished: the user opens another one.
            (false, "connect_flow") => {}
            // The person signs in again.
            (false, "oidc_account") => {}
            (false, _) => report.other_secrets += 1,
        }
    }
    for sealed in &lost {
        let found = store.find_connection(&sealed.workspace_id, &sealed.id);
        let Some(connection) = found.await? else {
            continue;
        };
        // A user who connected again may have a new connection beside this one.
        if connection.state == ConnectionHealth::ReauthNeeded {
            continue;
        }
        let told = store.set_connection_state(
            &sealed.workspace_id,
            &sealed.id,
            connection.generation,
            ConnectionHealth::ReauthNeeded,
            Some(GIVEN_UP),
            now_ms,
        );
        report.connections += usize::from(told.await?);
    }
    let details =
        json!({ "connections": report.connections, "other_secrets": report.other_secrets });
    let entry = caller.entry(now_ms, AuditAction::VaultAdopt, &key_id, details);
    store.audited(entry).put_master_key_id(&key_id).await?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn store(folder: &Path) -> Store {
        let url = format!("sqlite://{}", folder.join("t.db").display());
        Store::open(&url).await.unwrap()
    }

    #[tokio::test]
    async fn of_several_first_starts_with_keys_of_their_own_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let files = ["one", "two", "three"].map(|name| folder.path().join(name));
        let opened =
            futures_util::future::join_all(files.iter().map(|file| open_vault(&store, file))).await;
        let (vaults, refused): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        assert_eq!((vaults.len(), refused.len()), (1, 2));
        for refused in refused {
            let said = refused.err().unwrap();
            let expected = matches!(
                said,
                MasterKeyError::Another { .. } | MasterKeyError::Missing { .. }
            );
            assert!(expected, "{said}");
        }
    }

    #[tokio::test]
    async fn a_rotation_that_was_cut_short_does_not_stop_a_start() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let file = folder.path().join("master.key");
        let vault = open_vault(&store, &file).await.unwrap();
        let named = store.master_key_id().await.unwrap();
        // The files are changed, and the process dies before it has told the database.
        vault.rotate_key().unwrap();
        open_vault(&store, &file).await.unwrap();
        assert_eq!(store.master_key_id().await.unwrap(), named);
        // The next rotation lets the key before go, so the database must not need it.
        let made = store.create_workspace("ours", toolgate_store::Plan::Free, None, 1);
        let caller = Caller::operator(&made.await.unwrap());
        for now_ms in 1..3 {
            let rotated = crate::jobs::rotation::rotate(&store, &vault, &caller, now_ms).await;
            let key_id = rotated.unwrap().key_id;
            assert_eq!(store.master_key_id().await.unwrap(), Some(key_id));
            open_vault(&store, &file).await.unwrap();
        }
    }
}
