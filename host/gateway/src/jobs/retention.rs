//! What nobody asks for any more goes: approvals and permission rules whose time is long over, and
//! receipts and audit entries where the operator has said how long to keep them.
//!
//! In portions, so that no writer waits long. What lives for minutes or days goes in
//! [`crate::jobs::housekeeping`].

use std::sync::Arc;
use std::time::Duration;

use crate::Gateway;
use crate::config::Retention;
use toolgate_store::StoreError;

const PRUNE_EVERY: Duration = Duration::from_secs(10 * 60);
/// Rows that go at once.
const PORTION: usize = 1_000;
/// Approvals stay this long after their end, decided or not, with what the call would have sent.
const APPROVALS_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Rules that have ended or are used up stay this long. They decide nothing.
const RULES_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Runs until the gateway stops. A failing round is logged and repeated.
pub(crate) async fn run(gateway: Arc<Gateway>, keep: Retention) {
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(PRUNE_EVERY) => {}
        }
        // What is old by a clock that has just stepped may not be old at all.
        if gateway.clock.is_settled()
            && let Err(cause) = prune(&gateway, keep).await
        {
            tracing::error!(error = %cause, "retention.prune_failed");
        }
    }
}

/// Repeats what deletes a portion until less than one goes or the gateway stops. Answers how many
/// went.
macro_rules! all_of {
    ($gateway:expr, $portion:expr) => {{
        let mut gone = 0;
        loop {
            let now: u64 = $portion.await?;
            gone += now;
            if now < PORTION as u64 || $gateway.stop.is_cancelled() {
                break gone;
            }
        }
    }};
}

async fn prune(gateway: &Gateway, keep: Retention) -> Result<(), StoreError> {
    let (store, now_ms) = (&gateway.store, gateway.clock.now_ms());
    for workspace in store.list_workspaces().await? {
        let id = &*workspace.id;
        let before_ms = now_ms - APPROVALS_KEPT_MS;
        let approvals = all_of!(gateway, store.prune_approvals(id, before_ms, PORTION));
        let before_ms = now_ms - RULES_KEPT_MS;
        let rules = all_of!(gateway, store.prune_rules(id, before_ms, PORTION));
        let receipts = match keep.receipts_ms.map(|kept_ms| now_ms - kept_ms) {
            Some(before_ms) => all_of!(gateway, store.prune_executions(id, before_ms, PORTION)),
            None => 0,
        };
        let audit = match keep.audit_ms.map(|kept_ms| now_ms - kept_ms) {
            Some(before_ms) => all_of!(gateway, store.prune_audit_entries(id, before_ms, PORTION)),
            None => 0,
        };
        if approvals + rules + receipts + audit > 0 {
            tracing::info!(
                workspace.id = id,
                approvals,
                rules,
                receipts,
                audit,
                "retention.pruned"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
