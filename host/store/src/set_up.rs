//! What one process at a time may do to a database that others open too: apply migrations, and make what a
//! first start makes.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::time::{Instant, sleep, timeout};

use super::time_limits::{ACQUIRE_WITHIN, NO_SERVER_LIMITS};
use super::{Db, Store, StoreError};

/// How long a process waits for the one that is setting up. A migration of a large database takes minutes.
const TURN_WITHIN: Duration = Duration::from_secs(300);
/// Between two looks at the lock of a file.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The number of the lock among the advisory locks of a PostgreSQL database: `toolgate` as ASCII.
const ADVISORY_LOCK: i64 = 0x746f_6f6c_6761_7465;

/// Held by the one process that sets up; given back when it is dropped.
pub struct SetUpLock(LockKind);

enum LockKind {
    /// A database in memory has one process.
    Alone,
    /// The lock goes when the file is closed.
    File(#[expect(dead_code, reason = "only held")] File),
    /// With an open transaction, whose end is the lock's end.
    Postgres(PgConnection),
}

impl Store {
    /// Waits until no other process sets this database up.
    pub async fn lock_set_up(&self) -> Result<SetUpLock, StoreError> {
        match &self.db {
            Db::Sqlite { .. } if !self.is_file() => Ok(SetUpLock(LockKind::Alone)),
            Db::Sqlite { write, .. } => {
                let options = write.connect_options();
                SetUpLock::lock_file(options.get_filename()).await
            }
            Db::Postgres(pool) => SetUpLock::lock_postgres(&pool.connect_options()).await,
        }
    }
}

impl SetUpLock {
    /// Beside the file of a SQLite database.
    pub(super) async fn lock_file(database: &Path) -> Result<Self, StoreError> {
        let path = with_suffix(database, "-lock");
        let failed = |cause| StoreError::File {
            path: path.display().to_string(),
            cause,
        };
        let file = open_private(path.clone()).await.map_err(failed)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(LockKind::File(file))),
                Err(TryLockError::WouldBlock) if began.elapsed() < TURN_WITHIN => {
                    sleep(LOOK_EVERY).await;
                }
                Err(TryLockError::WouldBlock) => return Err(StoreError::SetUpTakesLong),
                Err(TryLockError::Error(cause)) => return Err(failed(cause)),
            }
        }
    }

    pub(super) async fn lock_postgres(options: &PgConnectOptions) -> Result<Self, StoreError> {
        let mut connection = connect(options).await?;
        let locked = async {
            // Of the transaction, not of the session: with a pooler in between the session is another's.
            connection.execute("BEGIN").await?;
            connection.execute(NO_SERVER_LIMITS).await?;
            sqlx::query("SELECT pg_advisory_xact_lock($1)")
                .bind(ADVISORY_LOCK)
                .execute(&mut connection)
                .await
        };
        match timeout(TURN_WITHIN, locked).await {
            Ok(locked) => locked?,
            Err(_) => return Err(StoreError::SetUpTakesLong),
        };
        Ok(Self(LockKind::Postgres(connection)))
    }

    /// As dropping it, and returns when the next process can go on.
    pub async fn release(self) {
        if let LockKind::Postgres(connection) = self.0 {
            let _ = timeout(LOOK_EVERY * 20, connection.close()).await;
        }
    }
}

/// A connection outside the pool, without the limits of its statements.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    match timeout(ACQUIRE_WITHIN, PgConnection::connect_with(options)).await {
        Ok(connected) => Ok(connected?),
        Err(_) => Err(StoreError::NoAnswer),
    }
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Only its owner may lock it.
async fn open_private(path: PathBuf) -> std::io::Result<File> {
    let open = move || {
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)
    };
    tokio::task::spawn_blocking(open)
        .await
        .map_err(std::io::Error::other)
        .flatten()
}
