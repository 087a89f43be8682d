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
use super::time_limits::{CONNECTION_WITHIN, LateAnswers, NO_SERVER_LIMITS};

/// Connections of one process where the operator names no number.
pub const CONNECTIONS_MAX: u32 = 16;
/// The least that a process works with: a transaction, and what is read beside it.
const CONNECTIONS_MIN: u32 = 2;
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

/// How many connections a pool has.
#[derive(Clone, Copy, Debug)]
pub(super) enum PoolSize {
    /// For a command: as many as it needs, at most [`CONNECTIONS_MAX`].
    Command,
    /// For a process that serves: at most this many, and no more than the server has free when it starts.
    Serving(u32),
}

/// A pool on a database whose migrations are applied.
pub(super) async fn open(
    url: &str,
    late: Arc<LateAnswers>,
    size: PoolSize,
) -> Result<PgPool, StoreError> {
    let options = options(url)?.statement_cache_capacity(256);
    migrate(&options).await?;
    check_statements_are_kept(&options).await?;
    let wanted = match size {
        PoolSize::Command => return pool(options, late, CONNECTIONS_MAX).await,
        PoolSize::Serving(wanted) => wanted.max(CONNECTIONS_MIN),
    };
    let free = free_connections(&options).await?;
    let connections = pool_size(wanted, free);
    let pool = pool(options, late, connections).await?;
    if connections < wanted {
        tracing::warn!(
            connections,
            wanted,
            "database.few_connections: the server has no more free; raise max_connections or lower --database-connections, \
             and start again"
        );
        hold(&pool, connections).await;
    }
    Ok(pool)
}

/// What the server has free, but one, which the next command needs.
fn pool_size(wanted: u32, free: i64) -> u32 {
    let free = u32::try_from(free.saturating_sub(1)).unwrap_or(0);
    wanted.min(free.max(CONNECTIONS_MIN))
}

/// How many more connections the server would take from a role that is no superuser.
async fn free_connections(options: &PgConnectOptions) -> Result<i64, StoreError> {
    let mut connection = connect(options).await?;
    // `reserved_connections` is there since version 16. The numbers of all databases are open to every role. Limits of
    // the role and of the database are negative where there are none; `least` leaves out what is null.
    let asked = sqlx::query_scalar(
        "SELECT least(current_setting('max_connections')::int8
             - current_setting('superuser_reserved_connections')::int8
             - coalesce(nullif(current_setting('reserved_connections', true), ''), '0')::int8
             - (SELECT coalesce(sum(numbackends), 0)::int8 FROM pg_stat_database) + 1,
             (SELECT rolconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE usename = session_user) + 1
              FROM pg_roles WHERE rolname = session_user AND rolconnlimit >= 0 AND NOT rolsuper),
             (SELECT datconnlimit - (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) + 1
              FROM pg_database WHERE datname = current_database() AND datconnlimit >= 0))",
    );
    let asked = timeout(CONNECTION_WITHIN, asked.fetch_one(&mut connection)).await;
    let free: Result<i64, sqlx::Error> = asked.unwrap_or(Err(sqlx::Error::PoolTimedOut));
    let _ = connection.close().await;
    Ok(free?)
}

/// Opens connections ahead, which the pool keeps: an operation that had to open one when the server has none free would
/// wait for nothing.
async fn hold(pool: &PgPool, connections: u32) {
    let mut held = Vec::new();
    for _ in 0..connections {
        match pool.acquire().await {
            Ok(connection) => held.push(connection),
            Err(cause) => {
                tracing::warn!(error = %cause, "database.connection_not_opened");
                return;
            }
        }
    }
}

/// Connections stay open: one that is closed for its age or because it is idle may not be there when it is needed.
async fn pool(
    options: PgConnectOptions,
    late: Arc<LateAnswers>,
    connections: u32,
) -> Result<PgPool, StoreError> {
    let (on_release, on_acquire) = (late.clone(), late);
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(CONNECTION_WITHIN)
        .test_before_acquire(false)
        .after_connect(|connection, _| {
            Box::pin(async move { connection.execute(SERVER_LIMITS).await.map(drop) })
        })
        .after_release(move |connection, _| {
            let late = on_release.clone();
            Box::pin(async move { late.check(connection, Duration::ZERO).await })
        })
        .before_acquire(move |connection, about| {
            let late = on_acquire.clone();
            Box::pin(async move { late.check(connection, about.idle_for).await })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_takes_what_is_free_and_leaves_one() {
        assert_eq!(pool_size(16, 97), 16);
        assert_eq!(pool_size(16, 17), 16);
        assert_eq!(pool_size(16, 16), 15);
        assert_eq!(pool_size(16, 5), 4);
        for none in [2, 1, 0, -3, i64::MIN] {
            assert_eq!(pool_size(16, none), CONNECTIONS_MIN, "{none}");
        }
        assert_eq!(pool_size(2, 97), 2);
    }
}
