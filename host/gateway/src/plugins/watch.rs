//! The loop that keeps the snapshot true to the folder: events for speed, a scan as the truth.

use std::path::Path;
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::intake::{Intake, ScanScope};
use toolgate_store::{Store, Topic};

/// The folder is read this often, whatever the events say: moved files, network mounts and full
/// event queues lose events.
const SCAN_EVERY: Duration = Duration::from_secs(2);
/// A shared folder is looked at more often: the events of another machine are not heard here.
const SCAN_SHARED_EVERY: Duration = Duration::from_secs(1);
/// While a file settles, it is looked at this often.
const SETTLING: Duration = Duration::from_millis(125);

/// Runs until `stop`. A failing scan is logged and repeated; what serves keeps serving.
pub async fn watch(mut intake: Intake, folder: &Path, store: Store, stop: CancellationToken) {
    let (events, mut woken) = mpsc::channel(1);
    let _watcher = watcher(folder, events);
    let scan_every = match store.is_file() {
        true => SCAN_EVERY,
        false => SCAN_SHARED_EVERY,
    };
    // How things stood, by the database's count of changes, when all that waits was decided last.
    let mut decided = None;
    loop {
        // Asked before the folder is read: what is approved meanwhile is seen in the next round.
        let changes = store.changes().await;
        let now = changes.ok().map(|changes| changes.get(Topic::Plugins));
        let scanned = if now.is_some() && now != decided {
            intake.approvals_changed().await
        } else {
            intake.scan(ScanScope::Everything).await
        };
        let wait = match scanned {
            Ok(unsettled) => {
                decided = now.or(decided);
                if unsettled { SETTLING } else { scan_every }
            }
            Err(cause) => {
                tracing::error!(error = format!("{cause:#}"), "plugins.scan_failed");
                scan_every
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
            Some(()) = woken.recv() => tokio::time::sleep(SETTLING).await,
        }
    }
}

/// Wakes the loop at file events. Without events (no such folder yet, no watches left) the scan
/// alone finds everything, a little later.
fn watcher(folder: &Path, events: mpsc::Sender<()>) -> Option<notify::RecommendedWatcher> {
    let notified = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // A full channel means that the loop is about to look anyway.
            let _ = events.try_send(());
        }
    });
    let watching = notified.and_then(|mut watcher| {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watching
        .inspect_err(|cause| tracing::warn!(error = %cause, "plugins.no_file_events: the folder is scanned every 2 s"))
        .ok()
}
