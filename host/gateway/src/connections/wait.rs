//! Waiting for a user to connect: a list or a connection that is answered once there is one that
//! works, or when the time is over.
//!
//! Whoever waits compares the counter that grows with every change of a connection, in whatever
//! process (`store/changes.rs`), and reads rows only when it has grown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::{Error, Gateway};
use toolgate_core::states::ConnectionHealth;
use toolgate_store::{Connection, Topic};

/// Longest wait of one request.
pub const WAIT_S_MAX: usize = 30;
/// How often the counter is compared.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Requests of one process that wait.
const WAITERS_MAX: usize = 1_000;

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitFor {
    /// 0: not at all.
    pub seconds: usize,
    /// A connection that became active at this moment or before is known already.
    pub active_after_ms: Option<i64>,
}

impl WaitFor {
    /// Whether a connection is what is waited for.
    pub(super) fn met_by(&self, row: &Connection) -> bool {
        row.state == ConnectionHealth::Active
            && self
                .active_after_ms
                .is_none_or(|known_ms| row.state_since_ms > known_ms)
    }
}

/// How many wait at the moment.
#[derive(Default)]
pub(crate) struct Waiters(Arc<AtomicUsize>);

/// A place among them, given back when dropped.
struct WaiterPermit(Arc<AtomicUsize>);

impl Drop for WaiterPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Waiters {
    fn enter(&self) -> Result<WaiterPermit, Error> {
        let place = WaiterPermit(self.0.clone());
        if self.0.fetch_add(1, Ordering::SeqCst) >= WAITERS_MAX {
            return Err(Error::Overloaded { retry_after_s: 5 });
        }
        Ok(place)
    }
}

/// A wait under way: read, and read again each time that it says so.
pub(super) struct ConnectionWait<'a> {
    gateway: &'a Gateway,
    /// The counter when the last reading began: a change in between is not missed.
    seen: i64,
    ends: Instant,
    place: Option<WaiterPermit>,
}

impl Gateway {
    pub(super) async fn begin_to_wait(&self, wait: WaitFor) -> Result<ConnectionWait<'_>, Error> {
        let seconds = wait.seconds.min(WAIT_S_MAX) as u64;
        Ok(ConnectionWait {
            gateway: self,
            seen: self.store.changes().await?.get(Topic::Connections),
            ends: Instant::now() + Duration::from_secs(seconds),
            place: None,
        })
    }
}

impl ConnectionWait<'_> {
    /// Returns when some connection has changed: `true`, read again. `false`: the time is over, or
    /// the gateway stops.
    ///
    /// # Errors
    /// `overloaded` beyond the requests that one process lets wait.
    pub(super) async fn changed(&mut self) -> Result<bool, Error> {
        let gateway = self.gateway;
        while Instant::now() < self.ends {
            if self.place.is_none() {
                self.place = Some(gateway.waiters.enter()?);
            }
            let next = (Instant::now() + LOOK_EVERY).min(self.ends);
            tokio::select! {
                () = gateway.stop.cancelled() => return Ok(false),
                () = tokio::time::sleep_until(next) => {}
            }
            let now = gateway.store.changes().await?.get(Topic::Connections);
            if now != self.seen {
                self.seen = now;
                return Ok(true);
            }
        }
        Ok(false)
    }
}
