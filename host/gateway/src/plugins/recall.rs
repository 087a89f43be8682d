//! Copies of files and what is remembered of them, for many files at once: on a start with known
//! plugins this is nearly all there is to do, so it uses every core and one query.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Map, Value};

use super::INSPECTOR;
use super::decide::{EarlierManifests, seen_sha256};
use super::folder::{self, CaptureError, Fingerprint};
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::rights::{self, Difference, Upgrades};
use toolgate_store::{PluginRow, Store};

/// The hash under which a file was copied, and its manifest if its inspection is remembered.
pub(super) type CapturedFile = Result<(String, Option<Arc<Manifest>>), CaptureError>;

/// Files by name: what was seen of each when its content had which hash.
pub(super) type KnownFiles = HashMap<String, (String, String)>;

/// What is known of files that were captured before. Files of which nothing is known are read: so it
/// is while the database does not answer.
pub(super) async fn known(store: &Store) -> KnownFiles {
    let files = store.list_plugin_files().await.unwrap_or_default();
    files
        .into_iter()
        .filter_map(|file| Some((file.file_name, (file.fingerprint?, file.sha256?))))
        .collect()
}

/// Copies `files` (name, path, what was seen of it) into `to` by their hashes; none of more
/// than `bytes_max`. One that is as it was when it was copied is not read again.
pub(super) async fn capture(
    store: &Store,
    to: &Path,
    bytes_max: u64,
    files: Vec<(String, PathBuf, Fingerprint)>,
    known: &KnownFiles,
) -> anyhow::Result<Vec<(String, CapturedFile)>> {
    let to = to.to_owned();
    let files: Vec<_> = files
        .into_iter()
        .map(|(name, path, seen)| {
            let before = known.get(&name).filter(|(mark, _)| *mark == seen.mark());
            let before = before.map(|(_, sha256)| sha256.clone());
            (name, path, seen, before)
        })
        .collect();
    let copies: Vec<(String, Result<String, CaptureError>)> =
        tokio::task::spawn_blocking(move || {
            let copies = files.into_par_iter();
            copies
                .map(|(name, path, seen, before)| {
                    let before = before.filter(|sha256| folder::is_captured(&to, sha256, seen));
                    let copy = match before {
                        Some(sha256) => Ok(sha256),
                        None => folder::capture(&path, seen, &to, bytes_max),
                    };
                    (name, copy)
                })
                .collect()
        })
        .await?;
    let hashes: Vec<&str> = copies
        .iter()
        .filter_map(|(_, copy)| copy.as_deref().ok())
        .collect();
    let rows = store.find_manifests(&hashes, INSPECTOR).await?;
    let manifests: HashMap<String, Arc<Manifest>> = tokio::task::spawn_blocking(move || {
        rows.into_par_iter()
            .filter_map(|row| Some((row.sha256, Manifest::recall(&row.manifest).ok()?.into())))
            .collect()
    })
    .await?;
    let captured = copies.into_iter().map(|(name, copy)| {
        let captured = copy.map(|sha256| {
            let manifest = manifests.get(&sha256).cloned();
            (sha256, manifest)
        });
        (name, captured)
    });
    Ok(captured.collect())
}

/// What is remembered of one copy.
pub(super) async fn manifest(store: &Store, sha256: &str) -> anyhow::Result<Option<Manifest>> {
    let rows = store.find_manifests(&[sha256], INSPECTOR).await?;
    let mut manifests = rows
        .iter()
        .filter_map(|row| Manifest::recall(&row.manifest).ok());
    Ok(manifests.next())
}

/// What earlier versions of a service asked for, in the form in which manifests are compared.
#[derive(Default)]
pub(super) struct Earlier {
    seen: Option<Value>,
    served: Option<Value>,
}

impl Earlier {
    pub(super) fn manifests(&self) -> EarlierManifests<'_> {
        EarlierManifests {
            seen: self.seen.as_ref(),
            served: self.served.as_ref(),
        }
    }

    /// What `asked` changes. Of a version that is not known everything is new.
    pub(super) fn difference(&self, asked: &Value, upgrades: Upgrades) -> Difference {
        let (nothing, known) = (Value::Object(Map::new()), self.manifests());
        let (seen, served) = (
            known.seen.unwrap_or(&nothing),
            known.served.unwrap_or(&nothing),
        );
        Difference::since_approved(seen, served, asked, upgrades)
    }
}

/// The manifests of the version that serves, and of the one that a person saw last.
pub(super) async fn earlier(store: &Store, row: Option<&PluginRow>) -> anyhow::Result<Earlier> {
    let Some(row) = row else {
        return Ok(Earlier::default());
    };
    let manifest = async |sha256: Option<&str>| -> anyhow::Result<Option<Value>> {
        let Some(sha256) = sha256 else {
            return Ok(None);
        };
        let text = store.manifest_text(sha256).await?;
        Ok(text.map(|text| rights::normal_text(&text)))
    };
    let served = manifest(row.active_sha256.as_deref()).await?;
    let seen = seen_sha256(row);
    let seen = match seen.as_deref() == row.active_sha256.as_deref() {
        true => served.clone(),
        false => manifest(seen.as_deref()).await?,
    };
    Ok(Earlier { seen, served })
}

/// What a file would change about the service that it provides; for the command line.
///
/// # Errors
/// When the database does not answer.
pub async fn change_by(
    store: &Store,
    row: &PluginRow,
    asked: &Value,
    upgrades: Upgrades,
) -> anyhow::Result<Difference> {
    let earlier = earlier(store, Some(row)).await?;
    Ok(earlier.difference(asked, upgrades))
}
