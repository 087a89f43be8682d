//! How a cache in this process learns that the database has moved on, in whatever process.
//!
//! Each [`Topic`] has a counter that grows in the same transaction as what it counts.
//! [`Store::changes`] answers counters at least as new as every commit that was acknowledged
//! before the call, so a key revoked by another process is refused on the next request. What it
//! costs:
//!
//! - SQLite: while nobody changes a topic, a look at a number that all processes share
//!   ([`SharedVersion`]). Every transaction that may change one puts a new number there twice, before and
//!   after its commit: a reader in between finds another value the next time and reads again.
//!   A process that dies between commit and second write has acknowledged nothing; others see its
//!   change within [`TRUSTED_FOR`].
//! - otherwise, and on PostgreSQL always: one tiny query, shared by all callers that wait for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::shared_version::SharedVersion;
use super::{DatabaseKind, Store, StoreError, portable};

/// However little has happened, the counters are asked for again after this long.
const TRUSTED_FOR: Duration = Duration::from_secs(1);
/// Every request waits for the counters: a PostgreSQL that takes longer for them serves none.
const ASKED_WITHIN: Duration = Duration::from_secs(3);

/// A kind of thing that processes cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Topic {
    /// API keys and workspaces.
    Keys,
    /// Operator settings and OAuth applications of services.
    Services,
    /// Which plugin versions serve, and approvals of pending ones.
    Plugins,
    Permissions,
    Connections,
    Members,
    /// Documents of the knowledge.
    Knowledge,
    /// Sessions of the session protocols that have ended, and messages about others.
    ClientSessions,
    /// Toolsets, and the Skills that they may name.
    Toolsets,
}

/// All counters at one moment. Two equal values of a topic mean: nothing changed between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes([i64; Topic::VARIANTS.len()]);

impl Changes {
    pub fn get(&self, topic: Topic) -> i64 {
        self.0[topic as usize]
    }
}

/// What is known about the counters without asking.
#[derive(Debug)]
pub(super) struct Watch {
    version: Option<SharedVersion>,
    seen: ArcSwapOption<SeenChanges>,
    begun: AtomicU64,
    /// Something to deliver was written by a transaction that is not committed yet.
    outbox_pending: AtomicBool,
    /// Told of each commit that wrote something to deliver.
    pub(super) outbox: tokio::sync::Notify,
    /// An event was logged by a transaction that is not committed yet.
    log_pending: AtomicBool,
    /// Counts the commits that logged events.
    pub(super) logged: tokio::sync::watch::Sender<u64>,
    /// Holds what came of the last query, `None` if it failed, and its number.
    asking: tokio::sync::Mutex<(u64, Option<Changes>)>,
}

#[derive(Debug)]
struct SeenChanges {
    version: u64,
    asked: Instant,
    changes: Changes,
}

impl Watch {
    /// Processes of this machine share it beside the database's file.
    pub(super) fn has_shared_version(&self) -> bool {
        self.version.is_some()
    }

    /// `version`: what all processes of this database share.
    pub(super) fn new(version: Option<SharedVersion>) -> Self {
        Self {
            version,
            seen: ArcSwapOption::empty(),
            begun: AtomicU64::new(0),
            outbox_pending: AtomicBool::new(false),
            outbox: tokio::sync::Notify::new(),
            log_pending: AtomicBool::new(false),
            logged: tokio::sync::watch::Sender::new(0),
            asking: tokio::sync::Mutex::new((0, None)),
        }
    }

    /// Makes every process ask again. To be called on both sides of a commit.
    pub(super) fn touch(&self) {
        if let Some(version) = &self.version {
            version.renew();
        }
    }

    /// A transaction of this process was committed.
    pub(super) fn committed(&self) {
        if self.outbox_pending.load(Ordering::Relaxed)
            && self.outbox_pending.swap(false, Ordering::SeqCst)
        {
            self.outbox.notify_one();
        }
        if self.log_pending.load(Ordering::Relaxed)
            && self.log_pending.swap(false, Ordering::SeqCst)
        {
            self.logged.send_modify(|count| *count += 1);
        }
    }

    /// The open transaction writes something to deliver: the dispatcher hears of it after the
    /// commit.
    pub(super) fn outbox_grew(&self) {
        self.outbox_pending.store(true, Ordering::SeqCst);
    }

    /// The open transaction logs an event: readers hear of it after the commit.
    pub(super) fn log_grew(&self) {
        self.log_pending.store(true, Ordering::SeqCst);
    }

    fn version(&self) -> Option<u64> {
        self.version.as_ref().map(SharedVersion::get)
    }
}

impl Store {
    /// The counters now. Compare [`Changes::get`] a topic with what a cache was filled at; ask
    /// before filling the cache, not after.
    pub async fn changes(&self) -> Result<Changes, StoreError> {
        let watch = &*self.watch;
        if let Some(version) = watch.version()
            && let Some(seen) = &*watch.seen.load()
            && seen.version == version
            && seen.asked.elapsed() < TRUSTED_FOR
        {
            return Ok(seen.changes);
        }

        // A query that begins after this line is as good as our own.
        let before = watch.begun.load(Ordering::SeqCst);
        let mut last = watch.asking.lock().await;
        if last.0 > before {
            // Those who waited for a query that failed do not ask one after the other.
            return last.1.ok_or(StoreError::NoAnswer);
        }
        let number = watch.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let version = watch.version();
        let asked = Instant::now();
        let answer = match self.kind() {
            DatabaseKind::Sqlite => self.ask_changes().await,
            DatabaseKind::Postgres => self.late.within(ASKED_WITHIN, self.ask_changes()).await,
        };
        *last = (number, answer.as_ref().ok().copied());
        let changes = answer?;
        watch.seen.store(version.map(|version| {
            SeenChanges {
                version,
                asked,
                changes,
            }
            .into()
        }));
        Ok(changes)
    }

    async fn ask_changes(&self) -> Result<Changes, StoreError> {
        let rows: Vec<(String, i64)> = portable!(read self, db => {
            sqlx::query_as("SELECT topic, version FROM changes").fetch_all(db).await?
        });
        let mut changes = Changes::default();
        for (topic, version) in rows {
            if let Ok(topic) = topic.parse::<Topic>() {
                changes.0[topic as usize] = version;
            }
        }
        Ok(changes)
    }
}

/// Bumps a topic inside the open transaction.
macro_rules! bump {
    ($tx:ident, $topic:expr) => {
        sqlx::query("UPDATE changes SET version = version + 1 WHERE topic = $1")
            .bind($topic.into_str())
            .execute(&mut *$tx)
            .await?
    };
}
pub(super) use bump;
