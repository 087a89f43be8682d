//! Ends connections that are too slow for too long.

use std::sync::Weak;

use super::activity::now_ms;
use super::admission::Admission;
use super::limits::Times;

/// Looks at every connection again and again, as long as there is a table.
pub(super) async fn run(admission: Weak<Admission>, times: Times) {
    loop {
        tokio::time::sleep(times.sweep).await;
        let Some(admission) = admission.upgrade() else {
            return;
        };
        let now_ms = now_ms();
        admission.each(|activity| {
            if let Some(overdue) = activity.overdue(now_ms, &times) {
                tracing::debug!(reason = overdue.as_str(), "inbound.connection_ended");
                activity.end(overdue.order());
            }
        });
    }
}
