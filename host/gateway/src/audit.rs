//! The audit log: who changed what, when and from where.
//!
//! A change is what decides how the gateway behaves later: keys, members and their sign-ins,
//! workspaces, permissions and the approvals that people decide, connections, services with their
//! OAuth applications, plugins, Skills, toolsets, documents, webhooks and hooks, the master key. Reading kept
//! bodies, and what other users wrote, is written down like a change ([`readings`]). What a call makes as it runs is no change: receipts, usage,
//! counters, results, idempotency keys, sessions with their messages, questions that wait for
//! approval, connect links (the connection is written down when it is there), refreshed credentials.
//! Receipts tell of calls.
//!
//! An operation makes its change through a handle of [`Gateway::audited`] or [`Caller::audited`]:
//! the entry is written in the transaction of the change, so that either both are there or neither.
//! A change outside the database, to a plugin's file or the master key, is made after its entry is committed.

pub(crate) mod readings;

use serde::Serialize;
use serde_json::Value;

use crate::{Caller, Error, Gateway};
use toolgate_core::clock::rfc3339;
pub use toolgate_operation::audit::AuditAction;
pub(crate) use toolgate_operation::audit::{entry, installation};
use toolgate_store::{AuditFilter, AuditedStore, Cursor, Member, Role};

/// Entries a page can hold.
pub const LIST_LIMIT_MAX: usize = 200;
/// Entries of a page where nothing else is said.
pub const LIST_LIMIT_DEFAULT: usize = 50;
/// Connected apps, the newest, that entries are named by.
const APPS_NAMED_MAX: i64 = 500;

/// One change.
#[derive(Clone, Debug, Serialize)]
pub struct AuditRecord {
    pub entry_id: String,
    pub at: String,
    /// `key:<id>`, `member:<id>`, `app:<id>`, `trigger:<id>`, `user:<id>` at the end of a connect link, `operator`, who
    /// is at the command line, or `gateway` by itself.
    pub actor: String,
    /// The member's, key's or connected app's name, while there is one.
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

/// Which entries to list. What is absent does not filter.
#[derive(Clone, Debug)]
pub struct ListEntries {
    /// As [`AuditRecord::actor`].
    pub actor: Option<String>,
    /// As [`AuditRecord::action`].
    pub action: Option<String>,
    /// Written at this moment or later, and before that one.
    pub from_ms: Option<i64>,
    pub before_ms: Option<i64>,
    /// 1 to [`LIST_LIMIT_MAX`].
    pub limit: usize,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Default for ListEntries {
    fn default() -> Self {
        Self {
            actor: None,
            action: None,
            from_ms: None,
            before_ms: None,
            limit: LIST_LIMIT_DEFAULT,
            cursor: None,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct EntryPage {
    pub entries: Vec<AuditRecord>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

impl Gateway {
    /// The store for one change of the caller, which leaves this entry. `details`: an object without
    /// secrets.
    pub(crate) fn audited(
        &self,
        caller: &Caller,
        action: AuditAction,
        subject: &str,
        details: Value,
    ) -> AuditedStore {
        caller.audited(&self.store, self.clock.now_ms(), action, subject, details)
    }

    /// Writes down what the caller does outside of the database.
    pub(crate) async fn record_act(
        &self,
        caller: &Caller,
        action: AuditAction,
        subject: &str,
        details: Value,
    ) -> Result<(), Error> {
        let entry = caller.entry(self.clock.now_ms(), action, subject, details);
        Ok(self.store.add_audit_entry(&entry).await?)
    }

    /// Changes of the workspace that the request selects, newest first.
    pub async fn audit_log(
        &self,
        caller: &Caller,
        request: ListEntries,
    ) -> Result<EntryPage, Error> {
        caller.need_role(Role::Admin)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(
                Cursor::parse(text)
                    .ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))?,
            ),
        };
        let workspace = &caller.workspace_id;
        let filter = AuditFilter {
            actor: request.actor.as_deref(),
            action: request.action.as_deref(),
            from_ms: request.from_ms,
            before_ms: request.before_ms,
        };
        let page = self
            .store
            .filter_audit_entries(workspace, filter, cursor.as_ref(), request.limit)
            .await?;
        let members = self.store.list_members(workspace).await?;
        let keys = self.store.list_keys(workspace).await?;
        let now_ms = self.clock.now_ms();
        let apps = self
            .store
            .list_app_grants(workspace, None, now_ms, APPS_NAMED_MAX)
            .await?;
        let clients = self.store.list_named_clients(workspace).await?;
        let name_of = |actor: &str| match actor.split_once(':') {
            Some(("member", id)) => members
                .iter()
                .find(|member: &&Member| member.id == id)
                .map(|member| member.name.clone()),
            Some(("key", id)) => keys
                .iter()
                .find(|key| key.id == id)
                .map(|key| key.name.clone()),
            Some(("app", id)) => apps
                .iter()
                .find(|app| app.id == id)
                .map(|app| app.client_name.clone())
                .or_else(|| {
                    let client = clients.iter().find(|client| client.id == id);
                    client.map(|client| client.name.clone())
                }),
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
