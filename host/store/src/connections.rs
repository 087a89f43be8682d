//! Connections: a user's credential for one service, as a sealed box, and its health.
//!
//! Who may refresh one, and what becomes of it, is in [`leases`].

mod accounts;
mod ends;
mod leases;
mod listing;

use std::collections::BTreeMap;

use serde_json::json;

pub use leases::{RefreshFailed, Refreshed};
pub use listing::ConnectionCount;

use super::changes::bump;
use super::error::inserted;
use super::events::emit;
use super::text::Json;
use super::{Event, EventType, Store, StoreError, Topic, Writer, portable};
use crate::columns::{columns, returning, select};
use toolgate_core::clock::rfc3339;
use toolgate_core::states::ConnectionHealth;

/// A refresh is tried again within this time; a later time was written by a clock that was ahead.
pub const RETRY_MS_MAX: i64 = 60 * 60 * 1_000;
/// No lease of a refresh is longer; one that is was written by a clock that was ahead.
pub const LEASE_MS_MAX: i64 = 60_000;

#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Connection {
    pub workspace_id: String,
    /// `con_<ULID>`; kept when the user connects again.
    pub id: String,
    pub user_id: String,
    pub service: String,
    /// Credential slot of the manifest.
    pub slot: String,
    pub auth_type: String,
    /// The account's name at the provider.
    pub account: Option<String>,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    /// Connection parameters, which are not secret.
    #[sqlx(try_from = "Json<BTreeMap<String, String>>")]
    pub parameters: BTreeMap<String, String>,
    /// The credential in the vault's box.
    pub sealed: String,
    /// Grows with every new credential, by refresh or by connecting again.
    pub generation: i64,
    /// Grows with every write, for compare-and-set.
    pub version: i64,
    #[sqlx(try_from = "&'a str")]
    pub state: ConnectionHealth,
    pub state_since_ms: i64,
    pub token_expires_at_ms: Option<i64>,
    /// Whether the box holds something to refresh with.
    pub refreshable: bool,
    /// Refreshes that failed since the last good one.
    pub failures: i64,
    pub next_retry_at_ms: Option<i64>,
    pub last_error: Option<String>,
    pub lease_owner: Option<String>,
    pub lease_since_ms: Option<i64>,
    pub lease_until_ms: Option<i64>,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
    /// When the user connected it last: a renewal may bring another account. 0: before this was kept.
    pub connected_at_ms: i64,
    /// When the refresh token ends, where the provider says it.
    pub refresh_expires_at_ms: Option<i64>,
}

impl Connection {
    /// The public state and since when.
    pub fn state_at(&self, now_ms: i64) -> (ConnectionHealth, i64) {
        match (self.lease_since_ms, self.lease_until_ms) {
            (Some(since_ms), Some(until_ms))
                if until_ms > now_ms && until_ms - now_ms <= LEASE_MS_MAX =>
            {
                (ConnectionHealth::Refreshing, since_ms)
            }
            _ => (self.state, self.state_since_ms),
        }
    }
}

impl From<Json<BTreeMap<String, String>>> for BTreeMap<String, String> {
    fn from(json: Json<Self>) -> Self {
        json.0
    }
}

/// A credential that has just been made: by a user who connected, or by connecting again.
#[derive(Clone, Debug)]
pub struct NewConnection {
    pub workspace_id: String,
    pub id: String,
    pub user_id: String,
    pub service: String,
    pub slot: String,
    pub auth_type: String,
    pub account: Option<String>,
    pub scopes: Vec<String>,
    pub parameters: BTreeMap<String, String>,
    pub sealed: String,
    pub token_expires_at_ms: Option<i64>,
    pub refreshable: bool,
    pub refresh_end: Option<RefreshTokenEnd>,
}

/// The known end of a refresh token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshTokenEnd {
    pub expires_at_ms: i64,
    /// When it is to be renewed, if that is not tried yet.
    pub due_at_ms: Option<i64>,
}

/// The event that subscribers get about a connection.
pub(super) fn connection_event(kind: EventType, connection: &Connection, at_ms: i64) -> Event {
    let data = json!({
        "connection_id": connection.id,
        "user_id": connection.user_id,
        "service": connection.service,
        "account": connection.account,
        "scopes": connection.scopes,
        "state": connection.state.into_str(),
        "last_error": connection.last_error,
        "expires_at": connection.token_expires_at_ms.map(rfc3339),
        "refresh_token_expires_at": connection.refresh_expires_at_ms.map(rfc3339),
    });
    Event::new(kind, &connection.workspace_id, at_ms, data)
}

/// What a change of health is called, if it is one that users have to know.
pub(super) fn change(before: Option<&str>, now: ConnectionHealth) -> Option<EventType> {
    use ConnectionHealth::{Active, ReauthNeeded, Revoked};
    match (before, now) {
        (None, _) => Some(EventType::ConnectionCreated),
        (Some(before), now) if before == now.into_str() => None,
        (Some(_), Active) => Some(EventType::ConnectionRecovered),
        (Some(_), ReauthNeeded) => Some(EventType::ConnectionExpired),
        (Some(_), Revoked) => Some(EventType::ConnectionRevoked),
        _ => None,
    }
}

/// The stored health of a connection inside the open transaction.
macro_rules! health {
    ($tx:ident, $workspace_id:expr, $id:expr) => {{
        let health: Option<String> =
            sqlx::query_scalar("SELECT state FROM connections WHERE workspace_id = $1 AND id = $2")
                .bind($workspace_id)
                .bind($id)
                .fetch_optional(&mut *$tx)
                .await?;
        health
    }};
}
pub(super) use health;

/// Tells subscribers of a change of health inside the open transaction.
macro_rules! tell {
    ($tx:ident, $store:expr, $before:expr, $now:expr, $at_ms:expr) => {
        if let Some(now) = $now
            && let Some(kind) = $crate::connections::change($before.as_deref(), now.state)
        {
            let event = $crate::connections::connection_event(kind, now, $at_ms);
            $crate::events::emit!($tx, $store, &[event]);
        }
    };
}
pub(super) use tell;

/// Inserts a connection or gives the one with this id, user and service a new credential.
macro_rules! connect {
    ($tx:ident, $store:expr, $new:expr, $now_ms:expr) => {{
        let before = $crate::connections::health!($tx, &$new.workspace_id, &$new.id);
        let made: Option<$crate::Connection> = sqlx::query_as(
            returning!(
                connections,
                "INSERT INTO connections (workspace_id, id, user_id, service, slot, auth_type, account, scopes, \
                 parameters, sealed, generation, version, state, state_since_ms, token_expires_at_ms, refreshable, \
                 failures, created_at_ms, updated_at_ms, connected_at_ms, account_clean, refresh_expires_at_ms, \
                 refresh_due_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, 1, 'active', $13, $11, $12, 0, $13, $13, $13, \
                 TRUE, $14, $15) ON CONFLICT (workspace_id, id) DO UPDATE SET auth_type = excluded.auth_type, \
                 account = excluded.account, scopes = excluded.scopes, parameters = excluded.parameters, \
                 sealed = excluded.sealed, generation = connections.generation + 1, \
                 version = connections.version + 1, state = 'active', state_since_ms = excluded.state_since_ms, \
                 token_expires_at_ms = excluded.token_expires_at_ms, refreshable = excluded.refreshable, failures = 0, \
                 next_retry_at_ms = NULL, last_error = NULL, lease_owner = NULL, lease_since_ms = NULL, \
                 lease_until_ms = NULL, updated_at_ms = excluded.updated_at_ms, \
                 connected_at_ms = excluded.connected_at_ms, account_clean = TRUE, \
                 refresh_expires_at_ms = excluded.refresh_expires_at_ms, \
                 refresh_due_at_ms = excluded.refresh_due_at_ms \
                 WHERE connections.user_id = excluded.user_id AND connections.service = excluded.service \
                 AND connections.slot = excluded.slot"
            ),
        )
        .bind(&$new.workspace_id)
        .bind(&$new.id)
        .bind(&$new.user_id)
        .bind(&$new.service)
        .bind(&$new.slot)
        .bind(&$new.auth_type)
        .bind(&$new.account)
        .bind(Json(&$new.scopes))
        .bind(Json(&$new.parameters))
        .bind(&$new.sealed)
        .bind($new.token_expires_at_ms)
        .bind($new.refreshable)
        .bind($now_ms)
        .bind($new.refresh_end.map(|end| end.expires_at_ms))
        .bind($new.refresh_end.and_then(|end| end.due_at_ms))
        .fetch_optional(&mut *$tx)
        .await?;
        inserted(u64::from(made.is_some()), "connection id")?;
        bump!($tx, Topic::Connections);
        $crate::connections::tell!($tx, $store, before, &made, $now_ms);
    }};
}
pub(super) use connect;

// What is told of. Said of the row that is changed too, not only of the one that was found:
// PostgreSQL, having waited for another writer of the row, asks again what the statement itself
// says of it, and not what a query within it found.

/// A credential that nobody can renew, that ends between `$1` and `$2` and was not told of.
macro_rules! expiring {
    () => {
        "NOT refreshable AND state = 'active' AND token_expires_at_ms > $1 AND token_expires_at_ms <= $2 \
         AND (expiry_told_ms IS NULL OR expiry_told_ms <> token_expires_at_ms)"
    };
}

/// A credential that nobody can renew and that has ended by `$1`.
macro_rules! expired {
    () => {
        "NOT refreshable AND state = 'active' AND token_expires_at_ms <= $1"
    };
}

impl Store {
    /// Keeps a new credential, active. With an id that is there already the user has connected
    /// again: the box is replaced, a running refresh loses its lease.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when the id belongs to another user, service or slot.
    pub async fn connect(&self, new: &NewConnection, now_ms: i64) -> Result<(), StoreError> {
        portable!(write self, tx => { connect!(tx, self, new, now_ms); });
        Ok(())
    }

    pub async fn find_connection(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<Connection>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(connections, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Sets the health of the credential of `generation`, for example `reauth_needed` when the
    /// provider refuses one that cannot be refreshed. `false`: it has been replaced meanwhile.
    pub async fn set_connection_state(
        &self,
        workspace_id: &str,
        id: &str,
        generation: i64,
        state: ConnectionHealth,
        last_error: Option<&str>,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let before = health!(tx, workspace_id, id);
            let set: Option<Connection> = sqlx::query_as(
                returning!(
                    connections,
                    "UPDATE connections SET state_since_ms = CASE WHEN state = $4 THEN state_since_ms ELSE $6 END, \
                     state = $4, last_error = $5, version = version + 1, updated_at_ms = $6 \
                     WHERE workspace_id = $1 AND id = $2 AND generation = $3"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(generation)
            .bind(state.into_str())
            .bind(last_error)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            bump!(tx, Topic::Connections);
            tell!(tx, self, before, &set, now_ms);
            set.is_some()
        }))
    }

    /// Tells of credentials that nobody can renew: once when they end within `ahead_ms`, and when
    /// they have ended, which only connecting again repairs. At most `limit` of each.
    pub async fn emit_expiry_events(
        &self,
        ahead_ms: i64,
        limit: usize,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(portable!(write self, tx => {
            let expiring: Vec<Connection> = sqlx::query_as(
                concat!(
                    "UPDATE connections SET expiry_told_ms = token_expires_at_ms WHERE ",
                    expiring!(),
                    " AND (workspace_id, id) IN (SELECT workspace_id, id FROM connections WHERE ",
                    expiring!(),
                    " ORDER BY token_expires_at_ms LIMIT $3) RETURNING ",
                    columns!(connections)
                ),
            )
            .bind(now_ms)
            .bind(now_ms.saturating_add(ahead_ms))
            .bind(limit)
            .fetch_all(&mut *tx)
            .await?;
            let expired: Vec<Connection> = sqlx::query_as(
                concat!(
                    "UPDATE connections SET state = 'reauth_needed', state_since_ms = $1, updated_at_ms = $1, \
                     version = version + 1, last_error = 'the credential has expired and cannot be renewed' WHERE ",
                    expired!(),
                    " AND (workspace_id, id) IN (SELECT workspace_id, id FROM connections WHERE ",
                    expired!(),
                    " ORDER BY token_expires_at_ms LIMIT $2) RETURNING ",
                    columns!(connections)
                ),
            )
            .bind(now_ms)
            .bind(limit)
            .fetch_all(&mut *tx)
            .await?;
            let ending = expiring.iter().map(|row| connection_event(EventType::ConnectionExpiring, row, now_ms));
            let ended = expired.iter().map(|row| connection_event(EventType::ConnectionExpired, row, now_ms));
            let events: Vec<Event> = ending.chain(ended).collect();
            if !expired.is_empty() {
                bump!(tx, Topic::Connections);
            }
            if !events.is_empty() {
                emit!(tx, self, &events);
            }
            events.len()
        }))
    }

    /// Connections of all workspaces whose token ends before `before_ms` and that may be refreshed
    /// now, the most urgent first. `after`: those behind this end and id.
    pub async fn connections_due(
        &self,
        before_ms: i64,
        now_ms: i64,
        after: Option<(i64, &str)>,
        limit: usize,
    ) -> Result<Vec<Connection>, StoreError> {
        let (end_ms, id) = after.unwrap_or((i64::MIN, ""));
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    connections,
                    "WHERE refreshable AND token_expires_at_ms < $1 \
                     AND state IN ('active', 'cooling_down') \
                     AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= $2 OR next_retry_at_ms - $6 > $2) \
                     AND (lease_until_ms IS NULL OR lease_until_ms <= $2 OR lease_until_ms - $7 > $2) \
                     AND (token_expires_at_ms > $4 OR (token_expires_at_ms = $4 AND id > $5)) \
                     ORDER BY token_expires_at_ms, id LIMIT $3"
                ),
            )
            .bind(before_ms)
            .bind(now_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .bind(end_ms)
            .bind(id)
            .bind(RETRY_MS_MAX)
            .bind(LEASE_MS_MAX)
            .fetch_all(db)
            .await?
        }))
    }
}

impl Writer {
    /// Deletes a connection and answers what it was, so that it can be revoked at the provider.
    pub async fn delete_connection(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<Option<Connection>, StoreError> {
        Ok(portable!(write self, tx => {
            let gone: Option<Connection> = sqlx::query_as(returning!(
                connections,
                "DELETE FROM connections WHERE workspace_id = $1 AND id = $2"
            ))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(&mut *tx)
                .await?;
            bump!(tx, Topic::Connections);
            if let Some(connection) = &gone {
                sqlx::query("DELETE FROM hooks WHERE workspace_id = $1 AND connection_id = $2")
                    .bind(workspace_id)
                    .bind(id)
                    .execute(&mut *tx)
                    .await?;
                emit!(tx, self, &[connection_event(EventType::ConnectionRevoked, connection, now_ms)]);
            }
            gone
        }))
    }
}
