//! How a cache in this process learns that the database has moved on, in whatever process.
//!
//! Each [`Topic`] has a counter that grows in the same transaction as what it stands for.
//! [`Store::changes`] answers counters at least as new as every commit that ended before the
//! call, so a key revoked by another process is refused on the next request. What it costs:
//!
//! - SQLite: while nobody writes, one `stat` of the write-ahead log, about a microsecond. Every
//!   commit of any process writes to that file; a file that changed within [`SETTLED_AFTER`] (the
//!   grain of file times) or was last compared over [`TRUSTED_FOR`] ago is not trusted.
//! - otherwise, and on PostgreSQL always: one tiny query, shared by all callers that wait for it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;

use super::text::words;
use super::{Store, StoreError, portable};

/// Kernels stamp files with their last timer tick, at most 10 ms old.
const SETTLED_AFTER: Duration = Duration::from_millis(25);
const TRUSTED_FOR: Duration = Duration::from_secs(1);

words! {
    /// A kind of thing that processes cache.
    pub enum Topic {
        /// API keys and workspaces.
        Keys = "keys",
        /// Operator settings and OAuth applications of services.
        Services = "services",
        /// Which plugin versions serve, and approvals of pending ones.
        Plugins = "plugins",
        Permissions = "permissions",
        Connections = "connections",
        Members = "members",
    }
}

/// All counters at one moment. Two equal values of a topic mean: nothing changed between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes([i64; 6]);

impl Changes {
    pub fn of(&self, topic: Topic) -> i64 {
        self.0[topic as usize]
    }
}

/// What is known about the counters without asking.
#[derive(Debug)]
pub(super) struct Watch {
    wal: Option<PathBuf>,
    writes: AtomicU64,
    seen: ArcSwapOption<Seen>,
    begun: AtomicU64,
    /// Holds the counters of the last query and its number.
    asking: tokio::sync::Mutex<(u64, Changes)>,
}

#[derive(Debug)]
struct Seen {
    mark: Mark,
    asked: Instant,
    changes: Changes,
}

/// Differs after every commit, of this process (`writes`) or another one (the file).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    writes: u64,
    length: u64,
    modified: SystemTime,
}

impl Watch {
    pub(super) fn new(wal: Option<PathBuf>) -> Self {
        Self {
            wal,
            writes: AtomicU64::new(0),
            seen: ArcSwapOption::empty(),
            begun: AtomicU64::new(0),
            asking: tokio::sync::Mutex::new((0, Changes::default())),
        }
    }

    /// This process has committed something.
    pub(super) fn wrote(&self) {
        self.writes.fetch_add(1, Ordering::SeqCst);
    }

    fn mark(&self) -> Option<Mark> {
        let writes = self.writes.load(Ordering::SeqCst);
        let file = std::fs::metadata(self.wal.as_ref()?).ok()?;
        Some(Mark {
            writes,
            length: file.len(),
            modified: file.modified().ok()?,
        })
    }
}

impl Store {
    /// The counters now. Compare [`Changes::of`] a topic with what a cache was filled at; ask
    /// before filling the cache, not after.
    pub async fn changes(&self) -> Result<Changes, StoreError> {
        let watch = &*self.watch;
        if let Some(mark) = watch.mark()
            && let Some(seen) = &*watch.seen.load()
            && seen.mark == mark
            && seen.asked.elapsed() < TRUSTED_FOR
        {
            return Ok(seen.changes);
        }

        // A query that begins after this line is as good as our own.
        let before = watch.begun.load(Ordering::SeqCst);
        let mut last = watch.asking.lock().await;
        if last.0 > before {
            return Ok(last.1);
        }
        let number = watch.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let mark = watch.mark();
        let asked = Instant::now();
        let settled =
            mark.is_some_and(|mark| mark.modified.elapsed().is_ok_and(|age| age > SETTLED_AFTER));
        let changes = self.ask_changes().await?;
        *last = (number, changes);
        watch.seen.store(mark.filter(|_| settled).map(|mark| {
            Seen {
                mark,
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
            if let Some(topic) = Topic::parse(&topic) {
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
            .bind($topic.as_str())
            .execute(&mut *$tx)
            .await?
    };
}
pub(super) use bump;
