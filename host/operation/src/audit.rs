//! The entry that a change leaves in the audit log, and the store that writes both in one transaction.

mod action;

use serde_json::Value;

pub use action::AuditAction;

use crate::Caller;
use toolgate_core::ids;
use toolgate_store::{AuditEntry, AuditedStore, Store};

impl Caller {
    /// The store for one change of the caller, which leaves this entry.
    pub fn audited(
        &self,
        store: &Store,
        at_ms: i64,
        action: AuditAction,
        subject: &str,
        details: Value,
    ) -> AuditedStore {
        store.audited(self.entry(at_ms, action, subject, details))
    }

    pub fn entry(
        &self,
        at_ms: i64,
        action: AuditAction,
        subject: &str,
        details: Value,
    ) -> AuditEntry {
        AuditEntry {
            address: self.address.map(|address| address.to_string()),
            request_id: Some(self.request_id.to_string()).filter(|id| !id.is_empty()),
            ..entry(
                &self.workspace_id,
                self.actor(),
                at_ms,
                action,
                subject,
                details,
            )
        }
    }
}

/// An entry of somebody who is not a caller.
pub fn entry(
    workspace_id: &str,
    actor: String,
    at_ms: i64,
    action: AuditAction,
    subject: &str,
    details: Value,
) -> AuditEntry {
    AuditEntry {
        workspace_id: workspace_id.to_owned(),
        id: ids::ulid("aud"),
        at_ms,
        actor,
        action: action.into_str().to_owned(),
        subject: subject.to_owned(),
        details: details.to_string(),
        address: None,
        request_id: None,
    }
}

/// The store for a change that the gateway makes by itself and that concerns the whole installation:
/// the log of the workspace that runs it has the entry. Before there is one, nobody reads a log.
pub async fn installation(
    store: &Store,
    at_ms: i64,
    action: AuditAction,
    subject: &str,
    details: Value,
) -> Result<AuditedStore, toolgate_store::StoreError> {
    let first = store.first_workspace().await?;
    let entry = first.map(|first| {
        let actor = "gateway".to_owned();
        entry(&first.id, actor, at_ms, action, subject, details)
    });
    Ok(store.audited_where(entry))
}
