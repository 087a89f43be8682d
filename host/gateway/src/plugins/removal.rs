//! A plugin that the operator takes away for good: its file, and the names of its tools. A file that
//! only goes from the folder takes its tools away, but their names still belong to its service.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::staged::TakenFile;
use crate::audit::AuditAction;
use crate::{Caller, Error};
use toolgate_store::{PluginSource, PluginState, Store};

/// `toolgate plugin remove`.
#[derive(Clone, Debug, Serialize)]
pub struct Removed {
    pub service: String,
    /// The file that was taken out of the plugins folder, or of the one that machines share.
    pub file: Option<String>,
}

/// Takes the file of `service` out of `folder` and gives the names of its tools free. Connections and
/// the rights that were approved stay, for the case that it comes back.
pub async fn remove(
    store: &Store,
    caller: &Caller,
    folder: &Path,
    service: &str,
    now_ms: i64,
) -> Result<Removed, Error> {
    let file = take_file(store, caller, folder, service, now_ms).await?;
    settle(store, service, now_ms).await?;
    Ok(Removed {
        service: service.to_owned(),
        file,
    })
}

/// Deletes the file of `service` and answers its name; `None` where it was gone already. With it goes
/// the service, of which the audit log is told here.
pub(super) async fn take_file(
    store: &Store,
    caller: &Caller,
    folder: &Path,
    service: &str,
    now_ms: i64,
) -> Result<Option<String>, Error> {
    caller.need_operator()?;
    let row = store.find_plugin(service).await?;
    let row = row.ok_or_else(|| Error::ServiceNotFound(service.to_owned()))?;
    let files = store.list_plugin_files().await?;
    // The file may hold another service by now, which goes on serving from it.
    let own = |name: &String| {
        let file = files.iter().find(|file| file.file_name == *name);
        let holds = file.and_then(|file| file.service.as_deref());
        holds.is_none_or(|holds| holds == service)
    };
    let name = row
        .file_name
        .filter(|name| row.state != PluginState::Removed && own(name));
    let sources = store.list_plugin_sources().await?;
    let of_name = |source: &PluginSource| name.as_ref() == Some(&source.file_name);
    let shared = sources.into_iter().find(of_name);
    let taken = match &name {
        Some(name) => match TakenFile::take(folder, name).await {
            // The shared file is in the database; this machine's folder need not have a copy.
            Err(_) if shared.is_some() => None,
            taken => taken?,
        },
        None => None,
    };
    let file = name.filter(|_| taken.is_some() || shared.is_some());
    let details = json!({ "file": file, "version": row.active_version });
    let entry = caller.entry(now_ms, AuditAction::PluginsRemove, service, details);
    store.add_audit_entry(&entry).await?;
    if let Some(PluginSource {
        file_name, sha256, ..
    }) = shared
    {
        store
            .withdraw_plugin_source(&file_name, &sha256, now_ms)
            .await?;
    }
    if let Some(taken) = taken {
        taken.delete().await?;
    }
    Ok(file)
}

/// Says that the service is removed, and gives the names of its tools free.
pub(super) async fn settle(store: &Store, service: &str, now_ms: i64) -> Result<(), Error> {
    let reason = "removed by the operator";
    store
        .set_plugin_state(service, PluginState::Removed, Some(reason), now_ms)
        .await?;
    store.release_tool_names(service).await?;
    Ok(())
}
