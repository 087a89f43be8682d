//! Copies of files and what is remembered of them, for many files at once: on a start with known
//! plugins this is nearly all there is to do, so it uses every core and one query.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::INSPECTOR;
use super::folder::{self, Fingerprint, NotCaptured};
use crate::catalog::manifest::Manifest;
use crate::store::Store;

/// The hash under which a file was copied, and its manifest if its inspection is remembered.
pub(super) type Captured = Result<(String, Option<Arc<Manifest>>), NotCaptured>;

/// Copies `files` (name, path, what was seen of it) into `to` by their hashes; none of more
/// than `bytes_max`.
pub(super) async fn capture(
    store: &Store,
    to: &Path,
    bytes_max: u64,
    files: Vec<(String, PathBuf, Fingerprint)>,
) -> anyhow::Result<Vec<(String, Captured)>> {
    let to = to.to_owned();
    let copies: Vec<(String, Result<String, NotCaptured>)> =
        tokio::task::spawn_blocking(move || {
            let copies = files.into_par_iter();
            copies
                .map(|(name, path, seen)| (name, folder::capture(&path, seen, &to, bytes_max)))
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
