//! An earlier version of a plugin put back into the folder, by the operator.

use serde::Serialize;
use serde_json::json;

use super::staged::PluginFolders;
use crate::audit::AuditAction;
use crate::{Caller, Error};
use toolgate_store::Store;

/// `toolgate plugin rollback`.
#[derive(Clone, Debug, Serialize)]
pub struct RolledBack {
    pub service: String,
    pub version: String,
    pub sha256: String,
    /// The version that served until now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_version: Option<String>,
    /// The file in the plugins folder that has its content now.
    pub file: String,
}

/// Puts a version that served before back into the folder and approves it. `wanted`: its SHA-256 or
/// version; the newest one before the serving version without.
///
/// # Errors
/// `not_found` where no such version served, `conflict` where its file is not kept any more.
pub async fn roll_back(
    store: &Store,
    caller: &Caller,
    folders: PluginFolders<'_>,
    service: &str,
    wanted: Option<&str>,
    now_ms: i64,
) -> Result<RolledBack, Error> {
    caller.need_operator()?;
    let row = store.find_plugin(service).await?;
    let row =
        row.ok_or_else(|| Error::ServiceNotFound(toolgate_core::visible::shown_name(service)))?;
    let versions = store.plugin_versions(service).await?;
    let served = row.active_sha256.as_deref();
    let version = versions
        .into_iter()
        .find(|version| match wanted {
            Some(wanted) => version.sha256 == wanted || version.version == wanted,
            None => served != Some(version.sha256.as_str()),
        })
        .ok_or_else(|| match wanted {
            Some(_) => Error::NotFound(format!("this version of {service}")),
            None => Error::NotFound(format!("an earlier version of {service}")),
        })?;
    let file = row
        .file_name
        .clone()
        .ok_or_else(|| Error::Conflict(format!("{service} has no file in the folder")))?;
    let bytes = folders.kept(store, &version.sha256).await.map_err(|_| {
        Error::Conflict(format!(
            "the file of this version of {service} is no longer kept"
        ))
    })?;
    let staged = folders.stage(store, &file, bytes, now_ms).await?;
    let details = json!({
        "to": { "version": version.version, "sha256": version.sha256 },
        "from": { "version": row.active_version, "sha256": row.active_sha256 },
    });
    // The operator means exactly this file, whatever it asks for beside the one that serves.
    let approved = caller
        .audited(
            store,
            now_ms,
            AuditAction::PluginsRollBack,
            service,
            details,
        )
        .approve_plugin_version(service, &version.sha256, now_ms)
        .await?;
    if !approved {
        return Err(Error::NotFound(format!("this version of {service}")));
    }
    staged.put(now_ms).await?;
    Ok(RolledBack {
        service: service.to_owned(),
        version: version.version,
        sha256: version.sha256,
        from_version: row.active_version,
        file,
    })
}
