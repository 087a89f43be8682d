//! The lease of a run, held on for as long as a process works on it.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::limits::{LEASE_MS, LEASE_RENEWED_EVERY};
use crate::Gateway;

/// A lease that is renewed until this is dropped.
pub(super) struct HeldLease {
    lost: CancellationToken,
    renewing: JoinHandle<()>,
}

impl HeldLease {
    pub(super) fn hold(gateway: &Arc<Gateway>, run_id: &str, owner: &str) -> Self {
        let lost = CancellationToken::new();
        let renewal = renew(
            gateway.clone(),
            run_id.to_owned(),
            owner.to_owned(),
            lost.clone(),
        );
        Self {
            renewing: gateway.workers.spawn(renewal),
            lost,
        }
    }

    /// Returns when the run was cancelled or is another process's.
    pub(super) async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

async fn renew(gateway: Arc<Gateway>, run_id: String, owner: String, lost: CancellationToken) {
    let mut until_ms = gateway.clock.now_ms() + LEASE_MS;
    loop {
        tokio::time::sleep(LEASE_RENEWED_EVERY).await;
        let next_ms = gateway.clock.now_ms() + LEASE_MS;
        let renewed = gateway.store.renew_script_lease(&run_id, &owner, next_ms);
        match renewed.await {
            Ok(true) => until_ms = next_ms,
            Ok(false) => break,
            Err(cause) => {
                tracing::error!(script.run = run_id, error = %cause, "scripts.lease_not_renewed");
                // Another process may have it from now on.
                if gateway.clock.now_ms() >= until_ms {
                    break;
                }
            }
        }
    }
    lost.cancel();
}
