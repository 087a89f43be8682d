//! Opening a database: pools, file mode, migrations.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};

use super::changes::Watch;
use super::shared_version::SharedVersion;
use super::{Db, Store, StoreError};

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// Connections that read at the same time, and on PostgreSQL all of them.
const SQLITE_READERS_MAX: u32 = 4;
const POSTGRES_CONNECTIONS_MAX: u32 = 16;
/// How long a statement waits for another process's write, and a caller for a free connection.
const WAIT: Duration = Duration::from_secs(5);

impl Store {
    /// Opens `sqlite://<path>`, `sqlite::memory:` (one process, for tests) or `postgres://...`,
    /// makes a missing SQLite file (mode 0600) and applies what migrations are missing.
    ///
    /// # Errors
    /// [`StoreError::NewerSchema`] when the database knows migrations that this program does not.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("sqlite:") {
            Self::open_sqlite(url).await
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Self::open_postgres(url).await
        } else {
            Err(StoreError::UnknownUrl)
        }
    }

    async fn open_sqlite(url: &str) -> Result<Self, StoreError> {
        let memory = url.contains(":memory:");
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(WAIT)
            .journal_mode(SqliteJournalMode::Wal)
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
            Some(prepare_file(path.clone()).await?)
        };

        let pool = |connections| {
            SqlitePoolOptions::new()
                .max_connections(connections)
                .min_connections(1)
                .idle_timeout(None)
                .max_lifetime(None)
                .acquire_timeout(WAIT)
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
        Ok(Self {
            db: Db::Sqlite { write, read },
            watch,
            entry: None,
        })
    }

    async fn open_postgres(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)?
            .application_name("toolgate")
            .statement_cache_capacity(256);
        let pool = PgPoolOptions::new()
            .max_connections(POSTGRES_CONNECTIONS_MAX)
            .acquire_timeout(WAIT)
            .test_before_acquire(false)
            .connect_with(options)
            .await?;
        migrated(POSTGRES.run(&pool).await, &POSTGRES)?;
        Ok(Self {
            db: Db::Postgres(pool),
            watch: Arc::new(Watch::new(None)),
            entry: None,
        })
    }
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

/// Says what a failed migration means to the operator.
fn migrated(outcome: Result<(), MigrateError>, known: &Migrator) -> Result<(), StoreError> {
    outcome.map_err(|error| match error {
        MigrateError::VersionMissing(found) => StoreError::NewerSchema {
            found,
            known: known
                .iter()
                .map(|migration| migration.version)
                .max()
                .unwrap_or(0),
        },
        MigrateError::VersionMismatch(version) => StoreError::ForeignSchema(version),
        other => StoreError::Migrate(other),
    })
}

/// Makes the file readable by its owner alone before SQLite writes to it (the `-wal` and `-shm`
/// files take over its mode), and holds a lock beside it.
async fn prepare_file(path: PathBuf) -> Result<std::fs::File, StoreError> {
    let shown = path.display().to_string();
    tokio::task::spawn_blocking(move || {
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        if !path.exists() {
            options.open(&path)?;
        }
        let lock = options.open(with_suffix(&path, "-lock"))?;
        lock.lock()?;
        Ok(lock)
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

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_databases_have_the_same_migrations() {
        let names = |migrator: &Migrator| -> Vec<_> {
            migrator
                .iter()
                .map(|migration| (migration.version, migration.description.to_string()))
                .collect()
        };
        assert_eq!(names(&SQLITE), names(&POSTGRES));
        let numbers: Vec<_> = SQLITE.iter().map(|migration| migration.version).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    }

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
