//! The audit log: who changed what, when and from where.

use serde::Serialize;
use serde_json::Value;

use crate::{Caller, Error, Gateway};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;
use toolgate_store::{AuditEntry, Cursor, Member, Role, Store};

/// Entries a page can hold.
pub const LIST_LIMIT_MAX: usize = 200;

/// One change.
#[derive(Clone, Debug, Serialize)]
pub struct AuditRecord {
    pub entry_id: String,
    pub at: String,
    /// `key:<id>`, `member:<id>` or `operator`, who is at the command line.
    pub actor: String,
    /// The member's or key's name, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Dotted, for example `keys.revoke`.
    pub action: String,
    /// Id of what was changed.
    pub subject: String,
    pub details: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct EntryPage {
    pub entries: Vec<AuditRecord>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

impl Gateway {
    /// Adds to the audit log what the caller has changed. `details`: an object without secrets.
    pub(crate) async fn record_change(
        &self,
        caller: &Caller,
        action: &str,
        subject: &str,
        details: Value,
    ) -> Result<(), Error> {
        let entry = AuditEntry {
            workspace_id: caller.workspace_id.to_string(),
            id: ids::ulid("aud"),
            at_ms: self.clock.now_ms(),
            actor: caller.actor(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            details: details.to_string(),
            address: caller.address.map(|address| address.to_string()),
            request_id: Some(caller.request_id.to_string()),
        };
        Ok(self.store.add_audit_entry(&entry).await?)
    }

    /// Changes of the workspace, newest first.
    pub async fn audit_log(
        &self,
        caller: &Caller,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<EntryPage, Error> {
        caller.need_role(Role::Admin)?;
        let cursor = match &cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let workspace = &caller.workspace_id;
        let page = self
            .store
            .list_audit_entries(workspace, cursor.as_ref(), limit)
            .await?;
        let members = self.store.list_members(workspace).await?;
        let keys = self.store.list_keys(workspace).await?;
        let name_of = |actor: &str| match actor.split_once(':') {
            Some(("member", id)) => members
                .iter()
                .find(|member: &&Member| member.id == id)
                .map(|member| member.name.clone()),
            Some(("key", id)) => keys
                .iter()
                .find(|key| key.id == id)
                .map(|key| key.name.clone()),
            _ => None,
        };
        let entries = page.items.into_iter().map(|row| AuditRecord {
            entry_id: row.id,
            at: rfc3339(row.at_ms),
            actor_name: name_of(&row.actor),
            actor: row.actor,
            action: row.action,
            subject: row.subject,
            details: serde_json::from_str(&row.details).unwrap_or_default(),
            address: row.address,
            request_id: row.request_id,
        });
        Ok(EntryPage {
            entries: entries.collect(),
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }
}

/// What somebody at the command line has changed.
pub async fn record_operator(
    store: &Store,
    workspace_id: &str,
    action: &str,
    subject: &str,
    details: Value,
    now_ms: i64,
) -> Result<(), Error> {
    let entry = AuditEntry {
        workspace_id: workspace_id.to_owned(),
        id: ids::ulid("aud"),
        at_ms: now_ms,
        actor: "operator".to_owned(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        details: details.to_string(),
        address: None,
        request_id: None,
    };
    Ok(store.add_audit_entry(&entry).await?)
}
