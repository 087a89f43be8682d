//! One restoration of a session at a time.
//!
//! The protocol's library counts a session as present as soon as its memory is allocated, before the handshake is
//! replayed into it. A second request in that moment is taken for the handshake, and ends the session for both.
//! So the request that restores a session holds its turn, and every other request of the session waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

type Locks = Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>;

/// The sessions that are being restored, by the id that the database knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Restoring {
    locks: Arc<Locks>,
}

/// The right to restore a session. The next request of the session goes on when it is dropped.
#[derive(Debug)]
pub(super) struct RestoreTurn {
    id: String,
    locks: Arc<Locks>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Restoring {
    /// Waits until no other request restores the session.
    pub(super) async fn turn(&self, id: &str) -> RestoreTurn {
        let lock = table(&self.locks).entry(id.to_owned()).or_default().clone();
        RestoreTurn {
            id: id.to_owned(),
            locks: self.locks.clone(),
            held: Some(lock.lock_owned().await),
        }
    }
}

fn table(locks: &Locks) -> MutexGuard<'_, HashMap<String, Arc<tokio::sync::Mutex<()>>>> {
    // Every step leaves the table whole, so a panic elsewhere spoils nothing.
    locks.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for RestoreTurn {
    fn drop(&mut self) {
        let mut table = table(&self.locks);
        self.held = None;
        // The table has one reference; each request that waits has another.
        if let Some(lock) = table.get(&self.id)
            && Arc::strong_count(lock) == 1
        {
            table.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn turns_of_one_session_follow_each_other_and_leave_nothing() {
        let restoring = Restoring::default();
        let first = restoring.turn("s0").await;
        let other = restoring.turn("s1").await;
        let next = restoring.turn("s0");
        tokio::pin!(next);
        assert!(futures_util::poll!(&mut next).is_pending());
        drop(first);
        let next = next.await;
        assert_eq!(table(&restoring.locks).len(), 2);
        drop((next, other));
        assert!(table(&restoring.locks).is_empty());
    }

    #[tokio::test]
    async fn a_request_that_goes_away_while_it_waits_leaves_nothing() {
        let restoring = Restoring::default();
        let first = restoring.turn("s0").await;
        {
            let next = restoring.turn("s0");
            tokio::pin!(next);
            assert!(futures_util::poll!(&mut next).is_pending());
        }
        drop(first);
        assert!(table(&restoring.locks).is_empty());
    }
}
