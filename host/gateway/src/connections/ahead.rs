//! Renewing tokens ahead of their end, while nobody calls.
//!
//! A call then seldom waits for a token endpoint, and a refresh token that the provider lets go
//! when it is not used stays alive. Every process looks; the lease of [`super::refresh`] sees to it
//! that one acts. What the provider says is judged and stored there as for a call.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

use super::ConnectionManager;
use super::refresh::{AHEAD_MS, UnusableReason, ends_soon};
use toolgate_catalog::manifest::Manifest;
use toolgate_store::{Connection, StoreError};

/// How often is looked.
const EVERY: Duration = Duration::from_secs(5);
/// How often the database is offered what it has not taken.
const UNSAVED_EVERY: Duration = Duration::from_millis(500);
/// Refreshes at the same time, over all providers.
const AT_ONCE_MAX: usize = 8;
/// Connections that one look at the database takes.
const PAGE: usize = 200;
/// A token that lives shorter is renewed when it is used: it would keep the provider busy for nobody.
const LIFETIME_MS_MIN: i64 = 5 * 60 * 1_000;

/// Runs until the gateway stops. A failing round is logged and repeated.
pub(crate) async fn run(manager: Arc<ConnectionManager>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
            () = save_soon(&manager) => {}
        }
        if let Err(cause) = round(&manager, &stop).await {
            tracing::error!(error = %cause, "connections.renewal_failed");
        }
    }
}

/// Offers the database what refreshes brought, until it is cancelled.
async fn save_soon(manager: &ConnectionManager) {
    loop {
        tokio::time::sleep(UNSAVED_EVERY).await;
        if !manager.unsaved.is_empty() {
            manager.save_all().await;
        }
    }
}

async fn round(
    manager: &Arc<ConnectionManager>,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    let now_ms = manager.clock.now_ms();
    let mut last: Option<(i64, String)> = None;
    while !stop.is_cancelled() {
        let after = last.as_ref().map(|(end_ms, id)| (*end_ms, id.as_str()));
        let due = manager
            .store
            .connections_due(now_ms + AHEAD_MS, now_ms, after, PAGE)
            .await?;
        last = due
            .last()
            .and_then(|row| Some((row.token_expires_at_ms?, row.id.clone())));
        let whole = due.len() == PAGE;
        stream::iter(due)
            .for_each_concurrent(AT_ONCE_MAX, |row| renew(manager, row))
            .await;
        if !whole {
            break;
        }
    }
    let ending = manager.store.refresh_tokens_due(now_ms, PAGE).await?;
    stream::iter(ending)
        .for_each_concurrent(AT_ONCE_MAX, |row| renew_refresh_token(manager, row))
        .await;
    Ok(())
}

/// Renews a connection whose refresh token ends, however long its access token lives.
async fn renew_refresh_token(manager: &Arc<ConnectionManager>, row: Connection) {
    if let Some(serving) = manager.serving(&row.service) {
        fresh(manager, &serving.manifest, &row, Some(row.generation)).await;
    }
}

/// Renews one connection, unless its service is gone or its token still has time.
async fn renew(manager: &Arc<ConnectionManager>, row: Connection) {
    let Some(serving) = manager.serving(&row.service) else {
        return;
    };
    // A box that does not open is reported by the call that needs it.
    let Ok(credential) = manager.open(&row) else {
        return;
    };
    let short = credential
        .lifetime_ms
        .is_some_and(|life_ms| life_ms < LIFETIME_MS_MIN);
    if short || !ends_soon(&row, &credential, manager.clock.now_ms()) {
        return;
    }
    fresh(manager, &serving.manifest, &row, None).await;
}

async fn fresh(
    manager: &Arc<ConnectionManager>,
    manifest: &Arc<Manifest>,
    row: &Connection,
    rejected: Option<i64>,
) {
    let fresh = manager
        .fresh(manifest, &row.workspace_id, &row.id, rejected)
        .await;
    // A refusal and a provider that is away are logged where they are noted.
    if let Err(UnusableReason::Broken(cause)) = fresh {
        tracing::debug!(connection.id = row.id, error = %cause, "connections.not_renewed");
    }
}
