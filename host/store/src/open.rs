//! Opening a database: pools, file mode, migrations.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};
use tokio::time::{Instant, sleep};

use super::changes::Watch;
use super::migrations::{SQLITE, migrated};
use super::operation::Observers;
use super::postgres::PoolSize;
use super::set_up::{SetUpLock, with_suffix};
use super::shared_version::SharedVersion;
use super::time_limits::{ACQUIRE_WITHIN, LateAnswers};
use super::{Db, Store, StoreError, Writer, postgres};

/// Connections that read at the same time.
const SQLITE_READERS_MAX: u32 = 4;
/// Between two tries to open a database that is not there yet.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// What happens to an acknowledged transaction on SQLite when the machine loses its power. PostgreSQL syncs each commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PowerLoss {
    /// One sync of the write-ahead log before the commit is acknowledged, which also keeps every earlier commit.
    Survives,
    /// The log is synced at the next checkpoint, or by the next transaction that [`Self::Survives`].
    MayBeLost,
}

impl PowerLoss {
    /// Begins a transaction on the connection that writes. Immediate: a transaction that reads first must not lose its
    /// turn to another process. The setting cannot be changed within a transaction, and both statements are one
    /// message to the connection's thread.
    pub(crate) fn begin_statements(self) -> &'static str {
        match self {
            Self::Survives => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
            Self::MayBeLost => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
        }
    }
}

/// Whether a transaction that [`PowerLoss::Survives`] has left its setting at the connection that writes. A statement
/// without a transaction has no message of its own in which it could say what it wants.
#[derive(Clone, Debug, Default)]
pub(crate) struct SyncSetting(Arc<AtomicBool>);

impl SyncSetting {
    pub(crate) fn began(&self, power_loss: PowerLoss) {
        if power_loss == PowerLoss::Survives {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Lets the next statement without a transaction wait for no sync. Another transaction may come in between: then it
    /// waits for one that it does not need.
    pub(crate) async fn relax(&self, write: &SqlitePool) -> Result<(), sqlx::Error> {
        if self.0.swap(false, Ordering::Relaxed) {
            sqlx::query("PRAGMA synchronous = NORMAL")
                .execute(write)
                .await?;
        }
        Ok(())
    }
}

impl Store {
    /// Opens `sqlite://<path>`, `sqlite::memory:` (one process, for tests) or `postgres://...`,
    /// makes a missing SQLite file (mode 0600) and applies what migrations are missing.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] when the database knows migrations that this program does not.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("sqlite:") {
            Self::open_sqlite(url).await
        } else if is_postgres(url) {
            Self::open_postgres(url, PoolSize::Command).await
        } else {
            Err(StoreError::UnknownUrl)
        }
    }

    async fn open_sqlite(url: &str) -> Result<Self, StoreError> {
        let memory = url.contains(":memory:");
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(ACQUIRE_WITHIN)
            .journal_mode(SqliteJournalMode::Wal)
            // What has to be on the disk before it is acknowledged asks for it (`PowerLoss`).
            .synchronous(SqliteSynchronous::Normal)
            // 16 MiB of write-ahead log between checkpoints: receipts touch the same pages again
            // and again, and each page is carried over once.
            .pragma("wal_autocheckpoint", "4096")
            .pragma("cache_size", "-16384")
            .statement_cache_capacity(256);
        let path = options.get_filename().to_owned();
        // The lock goes with this function; two processes never migrate one file at once.
        let _alone = if memory {
            None
        } else {
            prepare_file(path.clone()).await?;
            Some(SetUpLock::lock_file(&path).await?)
        };

        let pool = |connections| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .min_connections(1)
                .idle_timeout(None)
                .max_lifetime(None)
                .acquire_timeout(ACQUIRE_WITHIN)
                .test_before_acquire(false)
                .before_acquire(|connection, _| Box::pin(outside_transaction(connection)))
        };
        let write = pool(1).connect_with(options.clone()).await?;
        migrated(SQLITE.run(&write).await, &SQLITE)?;
        let read = if memory {
            write.clone()
        } else {
            pool(SQLITE_READERS_MAX)
                .connect_with(options.pragma("query_only", "ON"))
                .await?
        };
        let version = if memory {
            None
        } else {
            Some(version(path).await?)
        };
        let watch = Arc::new(Watch::new(version));
        watch.touch();
        Ok(Self(Writer {
            db: Db::Sqlite { write, read },
            watch,
            late: Arc::default(),
            observers: Observers::default(),
            sync_setting: SyncSetting::default(),
            entry: None,
        }))
    }

    async fn open_postgres(url: &str, size: PoolSize) -> Result<Self, StoreError> {
        let late = Arc::new(LateAnswers::default());
        Ok(Self(Writer {
            db: Db::Postgres(postgres::open(url, late.clone(), size).await?),
            watch: Arc::new(Watch::new(None)),
            late,
            observers: Observers::default(),
            sync_setting: SyncSetting::default(),
            entry: None,
        }))
    }

    /// As [`Store::open`], for a process that serves: with at most `connections` to PostgreSQL, which it keeps. Waits for
    /// a PostgreSQL that is not there yet, for at most `patience`. `waits` is told why, before each further try.
    pub async fn open_when_there(
        url: &str,
        connections: u32,
        patience: Duration,
        waits: impl Fn(&StoreError),
    ) -> Result<Self, StoreError> {
        let began = Instant::now();
        loop {
            let opening = async {
                match is_postgres(url) {
                    true => Self::open_postgres(url, PoolSize::Serving(connections)).await,
                    false => Self::open(url).await,
                }
            };
            match opening.await {
                Err(cause)
                    if cause.is_unavailable()
                        && !url.starts_with("sqlite:")
                        && began.elapsed() < patience =>
                {
                    waits(&cause);
                    sleep(TRY_EVERY).await;
                }
                opened => return opened,
            }
        }
    }
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

/// SQLite ends a transaction by itself when the disk is full or fails (sqlite.org/lang_transaction.html).
/// sqlx still counts it as open, since its own ROLLBACK fails, and would refuse every later transaction
/// of the connection: one that is not outside of all transactions is closed and another one opened.
async fn outside_transaction(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let outside = !connection.is_in_transaction();
    if !outside {
        tracing::warn!("store.connection_replaced: its transaction could not be ended");
    }
    Ok(outside)
}

/// Makes the file readable by its owner alone before SQLite writes to it: the `-wal` and `-shm` files take
/// over its mode.
async fn prepare_file(path: PathBuf) -> Result<(), StoreError> {
    let shown = path.display().to_string();
    tokio::task::spawn_blocking(move || {
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        if !path.exists() {
            options.open(&path)?;
        }
        Ok(())
    })
    .await
    .map_err(std::io::Error::other)
    .flatten()
    .map_err(|cause| StoreError::File { path: shown, cause })
}

/// The file through which processes learn of each other's changes, made if it is missing.
async fn version(database: PathBuf) -> Result<SharedVersion, StoreError> {
    let opened = tokio::task::spawn_blocking(move || {
        SharedVersion::open(&with_suffix(&database, "-changes"))
    })
    .await;
    opened
        .map_err(std::io::Error::other)
        .flatten()
        .map_err(StoreError::SharedVersion)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_database_in_memory_serves_one_process() {
        let store = Store::open("sqlite::memory:").await.unwrap();
        store.prove_write(1).await.unwrap();
        let before = store.changes().await.unwrap();
        store
            .create_workspace("acme", crate::Plan::Free, None, 1)
            .await
            .unwrap();
        assert_ne!(store.changes().await.unwrap(), before);
        assert_eq!(store.clone().list_workspaces().await.unwrap().len(), 1);
        store.close().await;
        assert!(store.prove_write(1).await.is_err());
    }

    fn audit_entry(workspace_id: &str) -> crate::AuditEntry {
        crate::AuditEntry {
            workspace_id: workspace_id.to_owned(),
            id: "aud_1".to_owned(),
            at_ms: 1,
            actor: "operator".to_owned(),
            action: "keys.create".to_owned(),
            subject: "key_1".to_owned(),
            details: "{}".to_owned(),
            address: None,
            request_id: None,
        }
    }

    #[tokio::test]
    async fn only_what_somebody_made_waits_for_the_disk() {
        /// `PRAGMA synchronous`: the log is synced at checkpoints, or at each commit.
        const NORMAL: i64 = 1;
        const FULL: i64 = 2;
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("t.db").display());
        let store = Store::open(&url).await.unwrap();
        let Db::Sqlite { write, .. } = &store.db else {
            panic!("the URL is SQLite's");
        };
        // There is one connection that writes, and it keeps the setting of its last transaction.
        let setting = async || -> i64 {
            sqlx::query_scalar("PRAGMA synchronous")
                .fetch_one(write)
                .await
                .unwrap()
        };

        assert_eq!(setting().await, NORMAL, "as opened");
        let made = store.create_workspace("acme", crate::Plan::Free, None, 1);
        let id = made.await.unwrap().id;
        assert_eq!(setting().await, NORMAL, "a change without an audit entry");
        store.add_audit_entry(&audit_entry(&id)).await.unwrap();
        assert_eq!(setting().await, FULL, "a change with an audit entry");
        store.prune_audit_entries(&id, 0, 1).await.unwrap();
        assert_eq!(setting().await, NORMAL, "what happens all the time");

        let refreshed = crate::Refreshed {
            sealed: "box",
            token_expires_at_ms: None,
            refreshable: true,
            scopes: None,
            parameters: None,
            refresh_end: None,
        };
        let kept = store.store_refreshed(&id, "con_1", "p", &refreshed, 1);
        assert!(kept.await.unwrap().is_none(), "no such connection");
        assert_eq!(setting().await, FULL, "the only copy of a refreshed token");

        // A statement without a transaction sets nothing itself, each time.
        for n in 0..2 {
            store.prove_write(n).await.unwrap();
            assert_eq!(setting().await, NORMAL, "without a transaction, {n}");
            let entry = crate::AuditEntry {
                id: format!("aud_again_{n}"),
                ..audit_entry(&id)
            };
            store.add_audit_entry(&entry).await.unwrap();
            assert_eq!(setting().await, FULL, "a change with an audit entry, {n}");
        }
    }

    #[tokio::test]
    async fn a_full_database_takes_writes_again_once_there_is_space() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("t.db").display());
        let store = Store::open(&url).await.unwrap();
        let Db::Sqlite { write, .. } = &store.db else {
            panic!("the URL is SQLite's");
        };
        // Of this connection alone: the one that replaces it has space again.
        let limit: i64 = sqlx::query_scalar("PRAGMA max_page_count = 1")
            .fetch_one(write)
            .await
            .unwrap();
        let create = async |n: i64| {
            let name = format!("{n}{}", "x".repeat(2_000));
            let made = store.create_workspace(&name, crate::Plan::Free, None, n);
            made.await.map(drop)
        };
        let mut made = 0;
        let refused = loop {
            match create(made).await {
                Ok(()) => made += 1,
                Err(refused) => break refused,
            }
            assert!(made < 10_000, "{limit} pages are never full");
        };
        assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
        create(made).await.expect("the next write is taken");
        let kept = store.list_workspaces().await.unwrap().len();
        assert_eq!(kept as i64, made + 1, "nothing acknowledged is lost");
    }
}
