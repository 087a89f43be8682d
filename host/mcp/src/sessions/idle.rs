//! Idle sessions leave the memory.
//!
//! What the library keeps of a session is 88 KB, and a client that was closed ends none of its sessions. So a session
//! without a request under way and without an open stream is dropped from memory after a minute; it stays open, and its
//! next request makes it anew from its id. Meanwhile other requests of the session wait, as for a restoration.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::SessionId;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Sessions;

/// A session of which nothing was asked for this long, and whose streams have ended, leaves the memory.
const IDLE_MS: i64 = 60_000;
/// How often idle sessions are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long the end of what served a session is waited for.
const ENDED_WITHIN: Duration = Duration::from_secs(5);

/// Sessions that leave the memory. What served one closes its session once more when it has ended: a session that was
/// made anew before that would be closed with it.
#[derive(Debug, Default)]
pub(super) struct Leaving(Mutex<HashMap<SessionId, oneshot::Sender<()>>>);

impl Leaving {
    fn begin(&self, sealed: &SessionId) -> oneshot::Receiver<()> {
        let (ended, wait) = oneshot::channel();
        self.sessions().insert(sealed.clone(), ended);
        wait
    }

    /// What served the session has ended. `false`: the session does not leave the memory.
    pub(super) fn ended(&self, sealed: &SessionId) -> bool {
        let Some(ended) = self.sessions().remove(sealed) else {
            return false;
        };
        // The wait may have been given up.
        let _ = ended.send(());
        true
    }

    fn give_up(&self, sealed: &SessionId) {
        self.sessions().remove(sealed);
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, oneshot::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets idle sessions leave the memory, until `stop`.
pub(crate) async fn forget_idle(sessions: Weak<Sessions>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        let now_ms = sessions.gateway.clock().now_ms();
        let at_work = sessions.requests.sessions();
        let before_ms = now_ms - IDLE_MS;
        let idle = sessions.memory().idle(&at_work, before_ms, now_ms);
        for id in idle {
            sessions.leave(&id, before_ms).await;
        }
    }
}

impl Sessions {
    /// How many sessions are in memory.
    pub(crate) fn in_memory(&self) -> usize {
        self.memory().count()
    }

    async fn leave(&self, id: &str, before_ms: i64) {
        // A request that comes now waits, and then makes the session anew.
        let _turn = self.restoring.turn(id).await;
        // A request that came before this turn has been noted as a use.
        let Some(sealed) = self.memory().take_out_idle(id, before_ms) else {
            return;
        };
        let ended = self.leaving.begin(&sealed);
        self.drop_from_memory(&sealed).await;
        if tokio::time::timeout(ENDED_WITHIN, ended).await.is_err() {
            self.leaving.give_up(&sealed);
            tracing::warn!(session_id = id, "mcp.session.still_served");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_a_session_that_leaves_is_told_once() {
        let leaving = Leaving::default();
        let (one, other): (SessionId, SessionId) = ("one".into(), "other".into());
        let wait = leaving.begin(&one);
        assert!(!leaving.ended(&other), "it stays");
        assert!(leaving.ended(&one));
        assert_eq!(wait.await, Ok(()));
        assert!(
            !leaving.ended(&one),
            "made anew, it is closed like any other"
        );
        drop(leaving.begin(&one));
        leaving.give_up(&one);
        assert!(!leaving.ended(&one));
    }
}
