//! What has to be done from time to time and for nobody in particular.

use std::sync::Arc;
use std::time::Duration;

use super::Gateway;

/// Last uses of keys are written this often.
const NOTE_USES_EVERY: Duration = Duration::from_secs(10);
/// Expired sessions and what plugins kept in them go this often.
const PURGE_EVERY: u32 = 60;

/// Runs until the gateway stops. A failing round is logged and repeated.
pub(super) async fn run(gateway: Arc<Gateway>) {
    let mut round = 0_u32;
    loop {
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(NOTE_USES_EVERY) => {}
        }
        note_key_uses(&gateway).await;
        round = round.wrapping_add(1);
        if round.is_multiple_of(PURGE_EVERY)
            && let Err(cause) = gateway.store.purge_sessions(gateway.clock.now_ms()).await
        {
            tracing::error!(error = %cause, "sessions.purge_failed");
        }
    }
}

pub(super) async fn note_key_uses(gateway: &Gateway) {
    let used = gateway.known_keys.take_uses();
    if !used.is_empty()
        && let Err(cause) = gateway.store.touch_keys(&used).await
    {
        tracing::error!(error = %cause, "keys.note_use_failed");
    }
}
