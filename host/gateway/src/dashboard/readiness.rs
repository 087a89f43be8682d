//! Whether this process should be sent requests.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;
use tokio::time::timeout;

use super::data_folder::DataFolder;
use crate::Gateway;
use toolgate_store::Store;

/// How long one write speaks for the database: however many ask, it is one write a second.
const PROVEN_FOR: Duration = Duration::from_secs(1);
/// A database that takes longer for one row is of no use to a request.
const WRITE_WITHIN: Duration = Duration::from_secs(2);

/// What the last write proved.
#[derive(Default)]
pub(crate) struct WriteProbe(Mutex<Option<ProbeResult>>);

#[derive(Clone, Copy)]
struct ProbeResult {
    at: Instant,
    takes_writes: bool,
}

impl WriteProbe {
    /// Whether the database takes writes now; answers within [`WRITE_WITHIN`] and the time of a probe
    /// that is under way.
    pub(crate) async fn takes_writes(
        &self,
        store: &Store,
        folder: &DataFolder,
        now_ms: i64,
    ) -> bool {
        let mut last = self.0.lock().await;
        if let Some(last) = *last
            && last.at.elapsed() < PROVEN_FOR
        {
            return last.takes_writes;
        }
        let written = timeout(WRITE_WITHIN, store.prove_write(now_ms)).await;
        let of_database = match written {
            Ok(Ok(())) => None,
            Ok(Err(cause)) => Some(format!("{:#}", anyhow::Error::from(cause))),
            Err(_) => Some(format!("no answer within {} s", WRITE_WITHIN.as_secs())),
        };
        let before = last.is_none_or(|last| last.takes_writes);
        let of_folder = match timeout(WRITE_WITHIN, folder.prove_write()).await {
            Ok(proved) => proved.err().map(|cause| cause.to_string()),
            Err(_) => Some(format!("no answer within {} s", WRITE_WITHIN.as_secs())),
        };
        match (&of_database, &of_folder) {
            (Some(error), _) if before => tracing::error!(error, "database.takes_no_writes"),
            (None, Some(error)) if before => tracing::error!(error, "data_folder.takes_no_writes"),
            (None, None) if !before => tracing::info!("database.takes_writes_again"),
            _ => {}
        }
        let failure = of_database.or(of_folder);
        let takes_writes = failure.is_none();
        *last = Some(ProbeResult {
            at: Instant::now(),
            takes_writes,
        });
        takes_writes
    }
}

impl Gateway {
    /// Whether requests should be sent here: no shutdown was announced, every plugin file that was there at
    /// the start has been judged, and the database and the data folder take a write.
    pub async fn ready(&self) -> bool {
        let open = !self.stop.is_cancelled() && !self.stop_announced.load(Ordering::Relaxed);
        open && self.scanned.load(Ordering::Relaxed) && self.takes_writes().await
    }

    /// From now on this process is not ready. It goes on answering until [`Gateway::close`].
    pub fn announce_stop(&self) {
        self.stop_announced.store(true, Ordering::Relaxed);
    }

    /// Whether the database and the data folder take writes, as of at most a second ago.
    pub(crate) async fn takes_writes(&self) -> bool {
        let now_ms = self.clock.now_ms();
        let (store, folder) = (&self.store, &self.data_folder);
        self.write_probe.takes_writes(store, folder, now_ms).await
    }
}
