//! Refreshing a connection, by one at a time.
//!
//! A refresh is done by the holder of the connection's lease, across all processes that share the
//! database; what it brought is stored only by that holder. That a refresh is running is not a
//! stored state but an unexpired lease, so a process that dies leaves nothing stuck.

use std::collections::BTreeMap;

use super::{Connection, LEASE_MS_MAX, RefreshTokenEnd, health, tell};
use crate::changes::bump;
use crate::columns::returning;
use crate::text::Json;
use crate::{Store, StoreError, Topic, portable};
use toolgate_core::states::ConnectionHealth;

/// What a refresh brought.
#[derive(Clone, Debug)]
pub struct Refreshed<'a> {
    pub sealed: &'a str,
    pub token_expires_at_ms: Option<i64>,
    pub refreshable: bool,
    /// `None`: as before.
    pub scopes: Option<&'a [String]>,
    pub refresh_end: Option<RefreshTokenEnd>,
    /// `None`: as before.
    pub parameters: Option<&'a BTreeMap<String, String>>,
}

/// Why a refresh brought nothing, and what follows.
#[derive(Clone, Debug)]
pub struct RefreshFailed<'a> {
    /// `CoolingDown`, `ReauthNeeded` or `Revoked`.
    pub state: ConnectionHealth,
    pub next_retry_at_ms: Option<i64>,
    pub last_error: &'a str,
}

impl Store {
    /// Takes the right to refresh for `lease_ms`, unless somebody holds it, and answers the
    /// connection as it is now: an earlier holder may have refreshed it already.
    pub async fn try_lease_connection(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
        now_ms: i64,
        lease_ms: i64,
    ) -> Result<Option<Connection>, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query_as(
                returning!(
                    connections,
                    "UPDATE connections SET lease_owner = $3, lease_since_ms = $4, lease_until_ms = $5, \
                     version = version + 1, updated_at_ms = $4 WHERE workspace_id = $1 AND id = $2 \
                     AND (lease_until_ms IS NULL OR lease_until_ms <= $4 OR lease_until_ms - $6 > $4)"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(owner)
            .bind(now_ms)
            .bind(now_ms.saturating_add(lease_ms))
            .bind(LEASE_MS_MAX)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Holds a lease for longer. `false`: it is not `owner`'s any more.
    pub async fn extend_lease(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
        until_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE connections SET lease_until_ms = $4, version = version + 1 \
                 WHERE workspace_id = $1 AND id = $2 AND lease_owner = $3",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(owner)
            .bind(until_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Gives a lease back without a result. `false`: it was not `owner`'s any more.
    pub async fn release_connection(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE connections SET lease_owner = NULL, lease_since_ms = NULL, lease_until_ms = NULL, \
                 version = version + 1 WHERE workspace_id = $1 AND id = $2 AND lease_owner = $3",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(owner)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Stores what a refresh brought and ends the lease; to be awaited before the new token is
    /// used. On the disk before it answers: a provider that rotates refresh tokens has ended the one before.
    /// A lease that ran out but went to nobody else still counts: the old token may be spent.
    /// `None`: somebody else holds the connection now, or it is gone, and nothing was stored.
    pub async fn store_refreshed(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
        refreshed: &Refreshed<'_>,
        now_ms: i64,
    ) -> Result<Option<Connection>, StoreError> {
        let scopes = refreshed.scopes.map(Json);
        let parameters = refreshed.parameters.map(Json);
        Ok(portable!(write synced self, tx => {
            let before = health!(tx, workspace_id, id);
            let stored: Option<Connection> = sqlx::query_as(
                returning!(
                    connections,
                    "UPDATE connections SET sealed = $4, token_expires_at_ms = $5, refreshable = $6, \
                     scopes = COALESCE($7, scopes), parameters = COALESCE($11, parameters), \
                     generation = generation + 1, version = version + 1, \
                     state_since_ms = CASE WHEN state = 'active' THEN state_since_ms ELSE $8 END, state = 'active', \
                     failures = 0, next_retry_at_ms = NULL, last_error = NULL, lease_owner = NULL, \
                     lease_since_ms = NULL, lease_until_ms = NULL, updated_at_ms = $8, \
                     refresh_expires_at_ms = $9, refresh_due_at_ms = $10 \
                     WHERE workspace_id = $1 AND id = $2 AND lease_owner = $3"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(owner)
            .bind(refreshed.sealed)
            .bind(refreshed.token_expires_at_ms)
            .bind(refreshed.refreshable)
            .bind(&scopes)
            .bind(now_ms)
            .bind(refreshed.refresh_end.map(|end| end.expires_at_ms))
            .bind(refreshed.refresh_end.and_then(|end| end.due_at_ms))
            .bind(&parameters)
            .fetch_optional(&mut *tx)
            .await?;
            bump!(tx, Topic::Connections);
            tell!(tx, self, before, &stored, now_ms);
            stored
        }))
    }

    /// Stores what a refresh of `generation` brought while the database was away, whichever process has the lease and
    /// whatever the state: only the credential of before can have been refused since. `None`: the connection is gone,
    /// or has another credential.
    pub async fn store_late_refresh(
        &self,
        workspace_id: &str,
        id: &str,
        generation: i64,
        refreshed: &Refreshed<'_>,
        now_ms: i64,
    ) -> Result<Option<Connection>, StoreError> {
        let scopes = refreshed.scopes.map(Json);
        let parameters = refreshed.parameters.map(Json);
        Ok(portable!(write synced self, tx => {
            let before = health!(tx, workspace_id, id);
            let stored: Option<Connection> = sqlx::query_as(
                returning!(
                    connections,
                    "UPDATE connections SET sealed = $4, token_expires_at_ms = $5, refreshable = $6, \
                     scopes = COALESCE($7, scopes), parameters = COALESCE($11, parameters), \
                     generation = generation + 1, version = version + 1, \
                     state_since_ms = CASE WHEN state = 'active' THEN state_since_ms ELSE $8 END, state = 'active', \
                     failures = 0, next_retry_at_ms = NULL, last_error = NULL, lease_owner = NULL, \
                     lease_since_ms = NULL, lease_until_ms = NULL, updated_at_ms = $8, \
                     refresh_expires_at_ms = $9, refresh_due_at_ms = $10 \
                     WHERE workspace_id = $1 AND id = $2 AND generation = $3"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(generation)
            .bind(refreshed.sealed)
            .bind(refreshed.token_expires_at_ms)
            .bind(refreshed.refreshable)
            .bind(&scopes)
            .bind(now_ms)
            .bind(refreshed.refresh_end.map(|end| end.expires_at_ms))
            .bind(refreshed.refresh_end.and_then(|end| end.due_at_ms))
            .bind(&parameters)
            .fetch_optional(&mut *tx)
            .await?;
            bump!(tx, Topic::Connections);
            tell!(tx, self, before, &stored, now_ms);
            stored
        }))
    }

    /// Notes that a refresh brought nothing and ends the lease. `false`: it was not `owner`'s.
    pub async fn store_refresh_failed(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
        failed: &RefreshFailed<'_>,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let before = health!(tx, workspace_id, id);
            let noted: Option<Connection> = sqlx::query_as(
                returning!(
                    connections,
                    "UPDATE connections SET state_since_ms = CASE WHEN state = $4 THEN state_since_ms ELSE $7 END, \
                     state = $4, next_retry_at_ms = $5, last_error = $6, failures = failures + 1, \
                     version = version + 1, lease_owner = NULL, lease_since_ms = NULL, lease_until_ms = NULL, \
                     updated_at_ms = $7 WHERE workspace_id = $1 AND id = $2 AND lease_owner = $3"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(owner)
            .bind(failed.state.into_str())
            .bind(failed.next_retry_at_ms)
            .bind(failed.last_error)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            bump!(tx, Topic::Connections);
            tell!(tx, self, before, &noted, now_ms);
            noted.is_some()
        }))
    }
}
