//! How long a server may take. PostgreSQL is on the other side of a network: it may accept a statement and
//! never answer, and nothing but a clock on this side ends that. SQLite answers or fails by itself.

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use super::StoreError;

/// How long a statement of SQLite waits for another process's write, and a caller for a connection to it; of PostgreSQL,
/// how long a connection outside of the pool may take.
pub(super) const ACQUIRE_WITHIN: Duration = Duration::from_secs(5);
/// How long an operation waits for a connection to PostgreSQL. One call has several operations.
pub(super) const CONNECTION_WITHIN: Duration = Duration::from_secs(2);
/// One operation, a whole transaction where it is one; acquiring a connection is part of it.
pub(super) const OPERATION_WITHIN: Duration = Duration::from_secs(15);
/// Lifts the server's limits for a transaction that may take minutes: behind a pooler, another session may have set them on
/// its connection.
pub(super) const NO_SERVER_LIMITS: &str =
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
/// A connection shows within this time that its server still answers.
const PING_WITHIN: Duration = Duration::from_secs(1);
/// A connection that was idle for longer is asked first: a network in between may have forgotten it.
const ASKED_AFTER_IDLE: Duration = Duration::from_secs(60);
/// After an operation without an answer, connections are asked before they are used, for this long.
const DISTRUSTED_FOR: Duration = Duration::from_secs(60);

/// Remembers operations that had no answer. The connection of such an operation may never answer again, and
/// a pool that waited for it would run out of connections.
#[derive(Debug, Default)]
pub(super) struct LateAnswers(Mutex<Option<Instant>>);

impl LateAnswers {
    /// Runs one operation for at most this long.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        operation: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        // Dropped at the end, so that its connection comes back to a pool that knows.
        let mut operation = pin!(operation);
        match timeout(limit, operation.as_mut()).await {
            Ok(done) => done,
            Err(_) => {
                if let Ok(mut last) = self.0.lock() {
                    *last = Some(Instant::now());
                }
                Err(StoreError::NoAnswer)
            }
        }
    }

    fn distrusts(&self) -> bool {
        let last = self.0.lock().ok().and_then(|last| *last);
        last.is_some_and(|last| last.elapsed() < DISTRUSTED_FOR)
    }

    /// For the hooks of a pool. An error closes the connection without waiting for its server.
    pub(super) async fn check(
        &self,
        connection: &mut PgConnection,
        idle_for: Duration,
    ) -> Result<bool, sqlx::Error> {
        if !self.distrusts() && idle_for < ASKED_AFTER_IDLE {
            return Ok(true);
        }
        match timeout(PING_WITHIN, connection.ping()).await {
            Ok(answered) => answered.map(|()| true),
            Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_operation_without_an_answer_ends_and_is_remembered() {
        let (late, limit) = (LateAnswers::default(), Duration::from_millis(10));
        let done = late.within(limit, async { Ok(7) }).await;
        assert!(matches!(done, Ok(7)) && !late.distrusts());
        let never = std::future::pending::<Result<(), _>>();
        let never = late.within(limit, never).await;
        assert!(matches!(never, Err(StoreError::NoAnswer)));
        assert!(late.distrusts());
    }
}
