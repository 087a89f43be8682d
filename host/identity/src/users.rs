//! The users that a workspace has heard of: those with a connection, a rule or a call.

use serde::Serialize;

use crate::{Caller, Error, Identity};
use toolgate_core::clock::rfc3339;
use toolgate_store::Role;

/// Users a list can hold.
pub const LIST_LIMIT_MAX: usize = 500;
const RECENT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

#[derive(Clone, Debug, Serialize)]
pub struct UserInfo {
    pub user_id: String,
    pub connections: i64,
    pub rules: i64,
    pub calls_30d: i64,
    pub last_seen_at: Option<String>,
}

impl Identity {
    /// Users whose id begins with `query`, by id.
    pub async fn users(
        &self,
        caller: &Caller,
        query: &str,
        limit: usize,
    ) -> Result<Vec<UserInfo>, Error> {
        caller.need_role(Role::Admin)?;
        let since_ms = self.clock.now_ms() - RECENT_MS;
        let rows = self
            .store
            .list_users(&caller.workspace_id, query, since_ms, limit)
            .await?;
        let shown = rows.into_iter().map(|row| UserInfo {
            user_id: row.user_id,
            connections: row.connections,
            rules: row.rules,
            calls_30d: row.calls,
            last_seen_at: row.last_seen_at_ms.map(rfc3339),
        });
        Ok(shown.collect())
    }
}
