//! How many requests a key and a workspace may make, in every process together.
//!
//! Windows are whole UTC minutes and days. A process counts in memory and adds up in the database
//! after every tenth of a limit ([`share`]), not after every request; what others have counted it
//! learns with the same statement. So one process alone is exact, and `n` processes together let
//! through at most `limit + (n - 1) * share`. Refused requests do not count.
//!
//! Strangers are counted by address, in memory alone: an unknown key costs no write.

mod per_address;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

pub use per_address::PerAddress;

use crate::{Error, RateLimited, RateWindow};
use toolgate_store::{ApiKey, Plan, RateCount, Store, Workspace};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;

/// Requests a minute of a workspace by its plan, unless it has a number of its own.
pub const FREE_RPM: i64 = 10;
pub const PRO_RPM: i64 = 100;

/// A process adds up at the latest after this many requests.
const SHARE_MAX: i64 = 100;
/// Unknown keys that one address may try in a minute.
pub const UNKNOWN_KEYS_PER_MINUTE: u32 = 300;
/// Counted subjects and addresses at one time; beyond that the oldest windows go.
const COUNTED_MAX: usize = 100_000;

/// Requests that a process may let through between two looks at what the others did.
pub fn share(limit: i64) -> i64 {
    (limit / 10).clamp(1, SHARE_MAX)
}

/// Requests a minute of a workspace; `None`: as many as it likes.
pub fn workspace_rpm(workspace: &Workspace) -> Option<i64> {
    workspace.rpm.or(match workspace.plan {
        Plan::Free => Some(FREE_RPM),
        Plan::Pro => Some(PRO_RPM),
        Plan::Enterprise => None,
    })
}

/// One limit that a request has to pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    subject: String,
    span_ms: i64,
    requests_max: i64,
}

/// What every request of a connected app is counted against.
pub fn limits_of_app(grant_id: &str, rpm: i64, workspace: &Workspace) -> Box<[Limit]> {
    let own = Limit {
        subject: format!("app:{grant_id}"),
        span_ms: MINUTE_MS,
        requests_max: rpm,
    };
    let shared = limits_of_workspace(workspace);
    std::iter::once(own).chain(shared).collect()
}

/// What every call is counted against that the gateway makes for a workspace by itself.
pub fn limits_of_workspace(workspace: &Workspace) -> Box<[Limit]> {
    let shared = workspace_rpm(workspace).map(|requests_max| Limit {
        subject: format!("workspace:{}", workspace.id),
        span_ms: MINUTE_MS,
        requests_max,
    });
    shared.into_iter().collect()
}

/// What every request of a key is counted against.
pub fn limits_of(key: &ApiKey, workspace: &Workspace) -> Box<[Limit]> {
    let of = |requests_max: Option<i64>, kind: &str, id: &str, span_ms| {
        requests_max.map(|requests_max| Limit {
            subject: format!("{kind}:{id}"),
            span_ms,
            requests_max,
        })
    };
    [
        of(key.rpm, "key", &key.id, MINUTE_MS),
        of(key.rpd, "key", &key.id, DAY_MS),
        of(
            workspace_rpm(workspace),
            "workspace",
            &workspace.id,
            MINUTE_MS,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What this process knows of one subject's window.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    starts_at_ms: i64,
    /// The sum of all processes when it was last asked for.
    known: i64,
    /// Counted here and not added up yet.
    pending: i64,
}

impl Window {
    fn at(&mut self, starts_at_ms: i64) -> &mut Self {
        if self.starts_at_ms != starts_at_ms {
            *self = Self {
                starts_at_ms,
                ..Self::default()
            };
        }
        self
    }
}

/// The counts of this process.
#[derive(Default)]
pub struct RequestCounts {
    windows: Mutex<HashMap<(String, i64), Window>>,
    /// Held while counts are added up, so that none is added twice.
    adding: tokio::sync::Mutex<()>,
    strangers: PerAddress,
}

/// What a look at the windows comes to.
enum WindowState {
    Counted,
    /// Some window has reached its share: add up first.
    AddUp,
    Refused(RateLimited),
}

impl RequestCounts {
    /// Counts one request against every limit of its key, or none when one of them is met.
    pub async fn count(&self, store: &Store, limits: &[Limit], now_ms: i64) -> Result<(), Error> {
        if limits.is_empty() {
            return Ok(());
        }
        loop {
            match self.look(limits, now_ms) {
                WindowState::Counted => return Ok(()),
                WindowState::Refused(limited) => return Err(Error::RateLimited(limited)),
                WindowState::AddUp => {}
            }
            let _adding = self.adding.lock().await;
            // The earlier holder of the lock may have added up for this request too.
            let due: Vec<RateCount> = {
                let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
                let due = limits.iter().filter_map(|limit| {
                    let key = (limit.subject.clone(), limit.span_ms);
                    Some((key.clone(), windows.get(&key)?))
                });
                let due = due.filter(|(_, window)| window.pending > 0);
                due.map(|(key, window)| row(&key, window)).collect()
            };
            self.add(store, due).await?;
        }
    }

    fn look(&self, limits: &[Limit], now_ms: i64) -> WindowState {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= COUNTED_MAX {
            windows.retain(|(_, span_ms), window| window.starts_at_ms + span_ms > now_ms);
        }
        let mut refused: Option<RateLimited> = None;
        let mut add_up = false;
        for limit in limits {
            let starts_at_ms = now_ms - now_ms.rem_euclid(limit.span_ms);
            let key = (limit.subject.clone(), limit.span_ms);
            let window = windows.entry(key).or_default().at(starts_at_ms);
            if window.known + window.pending >= limit.requests_max {
                let rest_ms = starts_at_ms + limit.span_ms - now_ms;
                let limited = RateLimited {
                    window: if limit.span_ms == DAY_MS {
                        RateWindow::Day
                    } else {
                        RateWindow::Minute
                    },
                    limit: limit.requests_max.unsigned_abs(),
                    retry_after_s: rest_ms.unsigned_abs().div_ceil(1_000),
                };
                if refused
                    .as_ref()
                    .is_none_or(|other| other.retry_after_s < limited.retry_after_s)
                {
                    refused = Some(limited);
                }
            } else if window.pending >= share(limit.requests_max) {
                add_up = true;
            }
        }
        if let Some(limited) = refused {
            return WindowState::Refused(limited);
        }
        if add_up {
            return WindowState::AddUp;
        }
        for limit in limits {
            let key = (limit.subject.clone(), limit.span_ms);
            if let Some(window) = windows.get_mut(&key) {
                window.pending += 1;
            }
        }
        WindowState::Counted
    }

    /// Adds up `due` and learns the sums. The caller holds `adding`.
    async fn add(&self, store: &Store, due: Vec<RateCount>) -> Result<(), Error> {
        if due.is_empty() {
            return Ok(());
        }
        let sums = store.add_rate_counts(&due).await?;
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        for (added, sum) in due.into_iter().zip(sums) {
            if let Some(window) = windows.get_mut(&(added.subject, added.span_ms))
                && window.starts_at_ms == added.starts_at_ms
            {
                window.pending -= added.used;
                window.known = sum.used;
            }
        }
        Ok(())
    }

    /// Adds up everything, so that a process that stops loses no count.
    pub async fn flush(&self, store: &Store) -> Result<(), Error> {
        let _adding = self.adding.lock().await;
        let due: Vec<RateCount> = {
            let windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let due = windows.iter().filter(|(_, window)| window.pending > 0);
            due.map(|(key, window)| row(key, window)).collect()
        };
        self.add(store, due).await
    }

    /// Counts a key that nobody knows against its address, and refuses it there after too many.
    pub fn take_unknown_key(&self, address: Option<IpAddr>, now_ms: i64) -> Result<(), Error> {
        self.strangers
            .take(address, UNKNOWN_KEYS_PER_MINUTE, now_ms)
    }

    /// Counts a key that nobody knows against its address.
    pub fn stranger(&self, address: Option<IpAddr>, now_ms: i64) {
        self.strangers.count(address, now_ms);
    }

    /// Refuses to look up one more key from an address that has tried too many unknown ones.
    pub fn check_unknown_key(&self, address: Option<IpAddr>, now_ms: i64) -> Result<(), Error> {
        self.strangers
            .check(address, UNKNOWN_KEYS_PER_MINUTE, now_ms)
    }
}

fn row((subject, span_ms): &(String, i64), window: &Window) -> RateCount {
    RateCount {
        subject: subject.clone(),
        span_ms: *span_ms,
        starts_at_ms: window.starts_at_ms,
        used: window.pending,
    }
}
