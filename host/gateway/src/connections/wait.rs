//! Waiting for a user to connect: a list or a connection that is answered once there is one that
//! works, or when the time is over.
//!
//! A waiting request compares the counter that grows with every change of a connection, in whatever
//! process (`store/changes.rs`), and reads rows only when it has grown.

use std::time::Duration;

use tokio::time::Instant;

use crate::waiters::WaiterPermit;
use crate::{Caller, Error, Gateway};
use toolgate_core::states::ConnectionHealth;
use toolgate_store::{Connection, Topic};

/// Longest wait of one request.
pub const WAIT_S_MAX: usize = 30;
/// How often the counter is compared.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long to wait, and for what.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitFor {
    /// 0: not at all.
    pub seconds: usize,
    /// A connection that became active at this moment or before is known already.
    pub active_after_ms: Option<i64>,
}

impl WaitFor {
    /// Whether a connection is what is waited for.
    pub(super) fn met_by(&self, row: &Connection) -> bool {
        row.state == ConnectionHealth::Active
            && self
                .active_after_ms
                .is_none_or(|known_ms| row.state_since_ms > known_ms)
    }
}

/// A wait under way: read, and read again each time that it says so.
pub(super) struct ConnectionWait<'a> {
    gateway: &'a Gateway,
    /// As its key is since the wait was last interrupted.
    caller: Caller,
    /// The counter when the last reading began: a change in between is not missed.
    seen: i64,
    ends: Instant,
    place: Option<WaiterPermit>,
}

impl Gateway {
    pub(super) async fn begin_to_wait(
        &self,
        caller: &Caller,
        wait: WaitFor,
    ) -> Result<ConnectionWait<'_>, Error> {
        let seconds = wait.seconds.min(WAIT_S_MAX) as u64;
        Ok(ConnectionWait {
            gateway: self,
            caller: caller.clone(),
            seen: self.store.changes().await?.get(Topic::Connections),
            ends: Instant::now() + Duration::from_secs(seconds),
            place: None,
        })
    }
}

impl ConnectionWait<'_> {
    /// Who reads next: what this caller may not read is not answered, whatever it could when the wait began.
    pub(super) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns when some connection has changed, and once more when the time is over or the gateway stops: `true`, read
    /// again, as [`ConnectionWait::caller`]. `false`: what was read last is the answer.
    ///
    /// # Errors
    /// `overloaded` where too many requests wait ([`crate::waiters`]); `invalid_api_key` where the caller may not call
    /// any more since the wait began.
    pub(super) async fn changed(&mut self) -> Result<bool, Error> {
        let gateway = self.gateway;
        while Instant::now() < self.ends {
            if self.place.is_none() {
                self.place = Some(gateway.waiters.enter(&self.caller.workspace_id)?);
            }
            let next = (Instant::now() + LOOK_EVERY).min(self.ends);
            tokio::select! {
                () = gateway.stop.cancelled() => {
                    self.ends = Instant::now();
                    break;
                }
                () = tokio::time::sleep_until(next) => {}
            }
            let now = gateway.store.changes().await?.get(Topic::Connections);
            if now != self.seen {
                self.seen = now;
                self.caller = gateway.caller_after_wait(&self.caller).await?;
                return Ok(true);
            }
        }
        // The last reading was before the wait, by a caller who may read less by now.
        if self.place.take().is_none() {
            return Ok(false);
        }
        self.caller = gateway.caller_after_wait(&self.caller).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_store::KeyChange;

    use super::*;
    use crate::Scope;
    use crate::connections::ListConnections;
    use crate::testing::TestWorld;

    #[tokio::test]
    async fn a_wait_is_answered_with_the_scopes_that_its_key_has_at_the_end() {
        let world = TestWorld::open().await;
        let reader = world.caller(&[Scope::Connections, Scope::UsersAny]).await;
        let wait = WaitFor {
            seconds: 1,
            active_after_ms: None,
        };
        let list = ListConnections {
            wait,
            limit: 10,
            ..ListConnections::default()
        };
        let unchanged = world.connections(&reader, list.clone()).await.unwrap();
        assert!(unchanged.connections.is_empty());

        let scopes = [Scope::ToolsRead.into_str().to_owned()];
        let fewer = KeyChange {
            scopes: Some(&scopes),
            ..KeyChange::default()
        };
        let (workspace_id, key_id) = (&reader.workspace_id, &reader.key_id);
        let (listed, read, narrowed) = tokio::join!(
            world.connections(&reader, list),
            world.connection(&reader, "con_1", wait),
            world.store().update_key(workspace_id, key_id, &fewer),
        );
        assert!(narrowed.unwrap().is_some());
        assert_eq!(listed.unwrap_err().code(), "scope_denied");
        assert_eq!(read.unwrap_err().code(), "scope_denied");
    }

    #[tokio::test]
    async fn a_wait_of_a_revoked_key_is_not_answered() {
        let world = TestWorld::open().await;
        let reader = world.caller(&[Scope::Connections]).await;
        let wait = WaitFor {
            seconds: 1,
            active_after_ms: None,
        };
        let now_ms = world.clock.now_ms();
        let (workspace_id, key_id) = (&reader.workspace_id, &reader.key_id);
        let (read, revoked) = tokio::join!(
            world.connection(&reader, "con_1", wait),
            world.store().revoke_key(workspace_id, key_id, now_ms),
        );
        revoked.unwrap();
        assert_eq!(read.unwrap_err().code(), "invalid_api_key");
    }
}
