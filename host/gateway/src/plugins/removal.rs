//! A plugin that the operator takes away for good: its file, and the names of its tools. A file that
//! only goes from the folder takes its tools away, but their names still belong to its service.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::Error;
use toolgate_store::{PluginState, Store};

/// `toolgate plugin remove`.
#[derive(Clone, Debug, Serialize)]
pub struct Removed {
    pub service: String,
    /// The file that was taken out of the plugins folder.
    pub file: Option<String>,
}

/// Takes the file of `service` out of `folder` and gives the names of its tools free. Connections and
/// the rights that were approved stay, for the case that it comes back.
pub async fn remove(
    store: &Store,
    folder: &Path,
    service: &str,
    now_ms: i64,
) -> Result<Removed, Error> {
    let file = take_file(store, folder, service).await?;
    settle(store, service, now_ms).await?;
    Ok(Removed {
        service: service.to_owned(),
        file,
    })
}

/// Deletes the file of `service` and answers its name; `None` where it was gone already.
pub(super) async fn take_file(
    store: &Store,
    folder: &Path,
    service: &str,
) -> Result<Option<String>, Error> {
    let row = store.find_plugin(service).await?;
    let row = row.ok_or_else(|| Error::ServiceNotFound(service.to_owned()))?;
    let files = store.list_plugin_files().await?;
    // The file may hold another service by now, which goes on serving from it.
    let own = |name: &String| {
        let file = files.iter().find(|file| file.file_name == *name);
        let holds = file.and_then(|file| file.service.as_deref());
        holds.is_none_or(|holds| holds == service)
    };
    let mut file = row
        .file_name
        .filter(|name| row.state != PluginState::Removed && own(name));
    if let Some(name) = &file {
        let path = folder.join(super::plain(name)?);
        match tokio::fs::remove_file(path).await {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => file = None,
            Err(_) => return Err(super::not_writable()),
        }
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
