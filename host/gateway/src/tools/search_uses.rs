//! What a workspace executed after its searches, for the operator to see and to forget.

use serde::Serialize;
use serde_json::json;

use crate::audit::AuditAction;
use crate::tools::learning::PAIRS_MAX;
use crate::{Caller, Error};
use toolgate_core::clock::rfc3339;
use toolgate_store::{Store, Workspace};

/// How often a tool was executed after searches with a word.
#[derive(Clone, Debug, Serialize)]
pub struct SearchUseInfo {
    pub word: String,
    pub tool_name: String,
    pub times: i64,
    pub used_at: String,
}

/// The latest first.
pub async fn list(store: &Store, workspace: &str) -> Result<Vec<SearchUseInfo>, Error> {
    let workspace = find(store, workspace).await?;
    let rows = store.list_search_uses(&workspace.id, PAIRS_MAX).await?;
    let uses = rows.into_iter().map(|row| SearchUseInfo {
        word: row.word,
        tool_name: row.tool_name,
        times: row.times,
        used_at: rfc3339(row.used_at_ms),
    });
    Ok(uses.collect())
}

/// Forgets all of it. Answers the id of the workspace.
pub async fn forget(store: &Store, workspace: &str, now_ms: i64) -> Result<String, Error> {
    let workspace = find(store, workspace).await?;
    let details = json!({ "search_uses": "forgotten" });
    Caller::operator(&workspace)
        .audited(
            store,
            now_ms,
            AuditAction::WorkspaceChange,
            &workspace.id,
            details,
        )
        .forget_search_uses(&workspace.id)
        .await?;
    Ok(workspace.id)
}

async fn find(store: &Store, name: &str) -> Result<Workspace, Error> {
    let found = store.find_workspace_by_name(name).await?;
    found.ok_or_else(|| Error::NotFound(format!("the workspace {name}")))
}
