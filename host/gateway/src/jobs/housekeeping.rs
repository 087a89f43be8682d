//! What has to be done from time to time and for nobody in particular.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Gateway;
use crate::executions::LONGEST_MS;
use toolgate_core::clock::{ClockStep, StepState};
use toolgate_store::StoreError;

/// Last uses of keys are written this often.
const NOTE_USES_EVERY: Duration = Duration::from_secs(10);
/// Rows that are past their time go after this many rounds.
const PURGE_EVERY: u32 = 60;
/// Ends of credentials and of approvals are looked at after this many rounds.
const ENDS_EVERY: u32 = 3;
/// Waiting deliveries are counted after this many rounds.
const COUNT_EVERY: u32 = 6;
/// Told of the end of a credential that nobody can renew, a day ahead.
const EXPIRING_AHEAD_MS: i64 = 24 * 60 * 60 * 1_000;
/// The same of a refresh token whose end no renewal moves.
const REFRESH_ENDING_AHEAD_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// How long a renewal may have been due without success before that.
const REFRESH_TRIED_MS: i64 = 24 * 60 * 60 * 1_000;
/// Contents of plugin files that nothing names stay this long: one that is being put in is named a moment later.
const PLUGIN_BYTES_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
const EXPIRING_AT_ONCE: usize = 200;
/// Runs of scripts that are deleted at once, each with its steps.
const SCRIPT_RUNS_AT_ONCE: usize = 50;
/// Connect flows that one round ends because their confirmation did not come in time.
const UNCONFIRMED_AT_ONCE: i64 = 8;
/// Connect links stay this long after their end, so that their page can say what happened.
const FLOWS_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;

/// Runs until the gateway stops. A failing round is logged and repeated.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let mut round = 0_u32;
    mark_interrupted(&gateway).await;
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(NOTE_USES_EVERY) => {}
        }
        report_clock_steps(&gateway);
        gateway.identity.write_uses().await;
        mark_interrupted(&gateway).await;
        add_up_counts(&gateway).await;
        note_hook_refusals(&gateway).await;
        note_search_uses(&gateway).await;
        note_client_session_uses(&gateway).await;
        end_unconfirmed(&gateway);
        round = round.wrapping_add(1);
        if round.is_multiple_of(ENDS_EVERY)
            && let Err(cause) = emit_end_events(&gateway).await
        {
            tracing::error!(error = %cause, "housekeeping.tell_ends_failed");
        }
        if round.is_multiple_of(COUNT_EVERY) {
            count_deliveries(&gateway).await;
        }
        // What is old by a clock that has just stepped may not be old at all.
        if !gateway.clock.is_settled() {
            continue;
        }
        if round.is_multiple_of(PURGE_EVERY)
            && let Err(cause) = purge(&gateway).await
        {
            tracing::error!(error = %cause, "store.purge_failed");
        }
        let ended_ms = gateway.clock.now_ms() - FLOWS_KEPT_MS;
        if round.is_multiple_of(PURGE_EVERY)
            && let Err(cause) = gateway.store.purge_flows(ended_ms).await
        {
            tracing::error!(error = %cause, "connections.purge_failed");
        }
    }
}

fn report_clock_steps(gateway: &Gateway) {
    for ClockStep { by_ms, state } in gateway.clock.take_steps() {
        let seconds = by_ms / 1_000;
        match state {
            StepState::Held => {
                tracing::warn!(seconds, "clock.stepped: it counts if it lasts for a minute")
            }
            StepState::Taken => tracing::warn!(
                seconds,
                "clock.step_taken: nothing is deleted for its age within the next hour"
            ),
            StepState::Undone => tracing::info!(seconds, "clock.step_undone"),
        }
    }
}

/// Ends connect flows whose confirmation did not come in time. Goes on beside the rounds, because a provider may be
/// slow; a stop waits for it, because what a flow that was taken held is stored no longer.
fn end_unconfirmed(gateway: &Arc<Gateway>) {
    // A service that does not serve yet cannot say where its tokens are revoked.
    if !gateway.scanned.load(Ordering::Relaxed) {
        return;
    }
    let ending = gateway.clone();
    gateway.running.spawn(async move {
        if let Err(cause) = revoke_unconfirmed_flows(&ending).await {
            tracing::error!(error = %cause, "connections.end_unconfirmed_failed");
        }
    });
}

/// Each flow is taken just before its tokens are revoked: a process that dies loses those of one.
async fn revoke_unconfirmed_flows(gateway: &Gateway) -> Result<(), StoreError> {
    let (store, now_ms) = (&gateway.store, gateway.clock.now_ms());
    let expired = store.list_unconfirmed_flows(now_ms, UNCONFIRMED_AT_ONCE);
    for id in expired.await? {
        // Every process finds it, and the one that ends it revokes.
        if let Some(flow) = store.take_unconfirmed_flow(&id, now_ms).await? {
            tracing::info!(connect.flow = flow.id, "connect.not_confirmed_in_time");
            gateway.revoke_unconfirmed(flow).await;
        }
    }
    Ok(())
}

/// Counts what waits for webhooks, for the metrics.
async fn count_deliveries(gateway: &Gateway) {
    match gateway.store.count_pending_deliveries().await {
        Ok(pending) => gateway.metrics.set_deliveries_pending(pending),
        Err(cause) => tracing::error!(error = %cause, "webhooks.count_failed"),
    }
}

/// Tells subscribers of what ends by itself.
pub(crate) async fn emit_end_events(gateway: &Gateway) -> Result<(), StoreError> {
    let (store, now_ms) = (&gateway.store, gateway.clock.now_ms());
    store
        .emit_expiry_events(EXPIRING_AHEAD_MS, EXPIRING_AT_ONCE, now_ms)
        .await?;
    store
        .emit_refresh_end_events(
            REFRESH_ENDING_AHEAD_MS,
            REFRESH_TRIED_MS,
            EXPIRING_AT_ONCE,
            now_ms,
        )
        .await?;
    store.expire_approvals(None, now_ms).await?;
    Ok(())
}

/// Receipts of calls that no process can be running any more. One that ends all the same, because its
/// process was held up, says the outcome.
async fn mark_interrupted(gateway: &Gateway) {
    let before_ms = gateway.clock.now_ms().saturating_sub(LONGEST_MS);
    match gateway.store.interrupt_executions(before_ms).await {
        Ok(0) => {}
        Ok(marked) => tracing::warn!(receipts = marked, "receipts.interrupted"),
        Err(cause) => tracing::error!(error = %cause, "receipts.mark_interrupted_failed"),
    }
}

/// Deletes what is past its time.
async fn purge(gateway: &Gateway) -> Result<(), StoreError> {
    let now_ms = gateway.clock.now_ms();
    gateway.store.purge_sessions(now_ms).await?;
    gateway.store.purge_rate_counts(now_ms).await?;
    gateway.store.purge_requests(now_ms).await?;
    gateway.store.purge_results(now_ms).await?;
    gateway.store.purge_files(now_ms).await?;
    purge_script_runs(gateway, now_ms).await?;
    gateway.identity.purge().await?;
    crate::webhooks::dispatcher::purge(&gateway.store, now_ms).await?;
    crate::events::purge(&gateway.store, now_ms).await?;
    let taken_ms = now_ms - crate::webhooks::inbound::TAKEN_KEPT_MS;
    gateway.store.purge_hook_deliveries(taken_ms).await?;
    let unused_ms = now_ms - crate::tools::learning::FORGOTTEN_AFTER_MS;
    gateway.store.purge_search_uses(unused_ms).await?;
    gateway
        .store
        .purge_plugin_bytes(now_ms - PLUGIN_BYTES_KEPT_MS)
        .await?;
    gateway
        .store
        .purge_manifests(now_ms - PLUGIN_BYTES_KEPT_MS)
        .await?;
    Ok(())
}

async fn purge_script_runs(gateway: &Gateway, now_ms: i64) -> Result<(), StoreError> {
    while gateway
        .store
        .delete_expired_script_runs(now_ms, SCRIPT_RUNS_AT_ONCE)
        .await?
        == SCRIPT_RUNS_AT_ONCE as u64
        && !gateway.stop.is_cancelled()
    {}
    Ok(())
}

/// Writes how many deliveries to hooks were refused.
pub(crate) async fn note_hook_refusals(gateway: &Gateway) {
    for (connection_id, counted) in gateway.hook_refusals.take() {
        gateway.write_refusals(&connection_id, &counted).await;
    }
}

/// Writes what was executed after searches.
pub(crate) async fn note_search_uses(gateway: &Gateway) {
    if let Err(cause) = gateway.write_search_uses().await {
        tracing::error!(error = %cause, "search.write_uses_failed");
    }
}

/// Writes when sessions of clients were used.
pub(crate) async fn note_client_session_uses(gateway: &Gateway) {
    if let Err(cause) = gateway.identity.write_client_session_uses().await {
        tracing::error!(error = %cause, "client_sessions.write_uses_failed");
    }
}

pub(crate) async fn add_up_counts(gateway: &Gateway) {
    if let Err(cause) = gateway.identity.add_up_counts().await {
        tracing::error!(error = %cause, "limits.add_up_failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;
    use crate::testing::TestWorld;
    use toolgate_store::NewScriptRun;

    #[tokio::test]
    async fn runs_of_scripts_that_have_expired_are_deleted_in_portions_and_others_stay() {
        let world = TestWorld::open().await;
        let caller = world.caller(&[Scope::ToolsExecute]).await;
        let (store, now_ms) = (world.store(), world.clock.now_ms());
        for n in 0..=SCRIPT_RUNS_AT_ONCE + 1 {
            let run = NewScriptRun {
                workspace_id: caller.workspace_id.to_string(),
                id: format!("run_{n:03}"),
                user_id: "ada".to_owned(),
                session_id: None,
                actor: caller.actor(),
                execution_id: "exe_1".to_owned(),
                script_sha256: "aa".to_owned(),
                engine_sha256: "bb".to_owned(),
                start_sealed: "box".to_owned(),
                dry_run: false,
                created_at_ms: now_ms,
                // The first one is kept a moment longer.
                expires_at_ms: now_ms + 1_000 + i64::from(n == 0),
                lease_owner: None,
                lease_until_ms: 0,
            };
            store.insert_script_run(&run).await.unwrap();
        }
        let left = async || {
            let runs = store.list_script_runs(&caller.workspace_id, None, None, 1_000);
            let ids: Vec<String> = runs.await.unwrap().into_iter().map(|run| run.id).collect();
            ids
        };
        world.clock.advance_ms(999);
        purge(&world).await.unwrap();
        assert_eq!(left().await.len(), SCRIPT_RUNS_AT_ONCE + 2);
        world.clock.advance_ms(1);
        purge(&world).await.unwrap();
        assert_eq!(left().await, ["run_000"]);
    }
}
