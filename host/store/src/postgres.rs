//! Opening PostgreSQL: the pool and its time limits, and migrations on a connection of their own.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection as _, Executor as _};
use tokio::time::timeout;

use super::StoreError;
use super::migrations::{POSTGRES, migrated};
use super::set_up::{SetUpLock, connect};
use super::time_limits::{ACQUIRE_WITHIN, LateAnswers, NO_SERVER_LIMITS};

const CONNECTIONS_MAX: u32 = 16;
/// With the time to connect twice.
const CHECK_WITHIN: Duration = Duration::from_secs(10);
/// Set by each connection of the pool, for what the server goes on with after this process has given it
/// up, or has stopped: a statement, and a transaction whose locks other processes wait for.
const SERVER_LIMITS: &str =
    "SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '30s'";

/// How every connection of this program introduces itself. Not with `extra_float_digits`, as the library would:
/// PgBouncer refuses it unless it is told to ignore it, and PostgreSQL 12 and later print every digit without it.
pub(super) fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = PgConnectOptions::from_str(url)?.application_name("toolgate");
    Ok(options.extra_float_digits(None))
}

/// A pool on a database whose migrations are applied.
pub(super) async fn open(url: &str, late: Arc<LateAnswers>) -> Result<PgPool, StoreError> {
    let options = options(url)?.statement_cache_capacity(256);
    migrate(&options).await?;
    check_statements_are_kept(&options).await?;
    let (on_release, on_acquire) = (late.clone(), late);
    let pool = PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_WITHIN)
        .test_before_acquire(false)
        .after_connect(|connection, _| {
            Box::pin(async move { connection.execute(SERVER_LIMITS).await.map(drop) })
        })
        .after_release(move |connection, _| {
            let late = on_release.clone();
            Box::pin(async move { late.check(connection).await })
        })
        .before_acquire(move |connection, _| {
            let late = on_acquire.clone();
            Box::pin(async move { late.check(connection).await })
        })
        .connect_with(options)
        .await?;
    Ok(pool)
}

/// Under a lock, since a process that starts beside this one finds half of the tables otherwise. Not
/// under that of the migrator: it belongs to a session, which a pooler may hand on.
async fn migrate(options: &PgConnectOptions) -> Result<(), StoreError> {
    let lock = SetUpLock::lock_postgres(options).await?;
    let mut connection = connect(options).await?;
    let mut transaction = connection.begin().await?;
    transaction.execute(NO_SERVER_LIMITS).await?;
    let applied = POSTGRES.run(&mut *transaction).await;
    migrated(applied, &POSTGRES)?;
    transaction.commit().await?;
    let _ = connection.close().await;
    lock.release().await;
    Ok(())
}

/// A pooler may run the next transaction of a session on another connection of the server. Calls would fail now and then
/// if that connection did not know the prepared statements, so the start fails instead.
async fn check_statements_are_kept(options: &PgConnectOptions) -> Result<(), StoreError> {
    let check = async {
        let mut connection = connect(options).await?;
        let prepared = "SELECT 1";
        sqlx::query(prepared).execute(&mut connection).await?;
        let mut other = connect(options).await?;
        // Takes the connection of the server that has prepared it, if a pooler hands it on.
        let transaction = other.begin().await?;
        sqlx::query(prepared).execute(&mut connection).await?;
        transaction.rollback().await?;
        let _ = other.close().await;
        let _ = connection.close().await;
        Ok(())
    };
    timeout(CHECK_WITHIN, check)
        .await
        .unwrap_or(Err(StoreError::NoAnswer))
}
