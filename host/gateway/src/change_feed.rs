//! Live updates: which of a workspace's lists have changed, in whatever process.
//!
//! A watcher compares counters that the database keeps anyway (`store/changes.rs`, `store/usage.rs`)
//! once a second, so nothing that writes has to know that somebody looks. What serves here follows
//! the database a moment later, and counts as a change of its own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::plugins::Snapshot;
use crate::{Caller, Error, Gateway};
use toolgate_store::{Changes, Role, Topic, UsageVersion};

/// How often the counters are compared.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Watchers of one process.
const WATCHERS_MAX: usize = 200;

/// What a look finds.
#[derive(Debug, PartialEq, Eq)]
pub enum FeedChange {
    /// What has changed since the last look; often nothing.
    Changed(Vec<&'static str>),
    /// The sign-in has ended: there is nothing more to see.
    SignedOut,
    /// The gateway stops, which says nothing of the sign-in.
    Stopping,
}

/// What is known to have been there at the last look.
pub struct Watcher {
    gateway: Arc<Gateway>,
    workspace_id: String,
    sign_in_id: String,
    known: FeedState,
    _place: WatcherPermit,
}

/// What is there at one moment.
struct FeedState {
    changes: Changes,
    usage_mark: UsageVersion,
    /// Told apart by its place in memory, which nothing else takes while this is held.
    serving: Weak<Snapshot>,
}

impl FeedState {
    async fn now(gateway: &Gateway, workspace_id: &str) -> Result<Self, Error> {
        Ok(Self {
            serving: Arc::downgrade(&gateway.snapshot()),
            changes: gateway.store.changes().await?,
            usage_mark: gateway.store.usage_mark(workspace_id).await?,
        })
    }
}

/// A place among the watchers, given back when dropped.
struct WatcherPermit(Arc<AtomicUsize>);

impl Drop for WatcherPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Gateway {
    /// Begins to watch for the signed-in person.
    ///
    /// # Errors
    /// `overloaded` beyond the watchers that one process has.
    pub async fn watch(
        self: &Arc<Self>,
        caller: &Caller,
        sign_in_id: &str,
    ) -> Result<Watcher, Error> {
        caller.need_role(Role::Member)?;
        let place = WatcherPermit(self.watchers.clone());
        if self.watchers.fetch_add(1, Ordering::SeqCst) >= WATCHERS_MAX {
            return Err(Error::Overloaded { retry_after_s: 5 });
        }
        let workspace_id = caller.workspace_id.to_string();
        let known = FeedState::now(self, &workspace_id).await?;
        Ok(Watcher {
            gateway: self.clone(),
            workspace_id,
            sign_in_id: sign_in_id.to_owned(),
            known,
            _place: place,
        })
    }
}

impl Watcher {
    /// Waits for the next look; a gateway that stops is seen at once.
    pub async fn look(&mut self) -> Result<FeedChange, Error> {
        let stop = self.gateway.stop.cancelled();
        if tokio::time::timeout(LOOK_EVERY, stop).await.is_ok() {
            return Ok(FeedChange::Stopping);
        }
        let store = &self.gateway.store;
        let now_ms = self.gateway.clock.now_ms();
        let standing = store.find_sign_in(&self.workspace_id, &self.sign_in_id, now_ms);
        if standing.await?.is_none() {
            return Ok(FeedChange::SignedOut);
        }
        let now = FeedState::now(&self.gateway, &self.workspace_id).await?;
        let topics = changed(&self.known, &now);
        self.known = now;
        Ok(FeedChange::Changed(topics))
    }
}

fn changed(before: &FeedState, now: &FeedState) -> Vec<&'static str> {
    let serves_else = !before.serving.ptr_eq(&now.serving);
    let counted = [
        ("keys", Topic::Keys),
        ("services", Topic::Services),
        ("plugins", Topic::Plugins),
        ("permissions", Topic::Permissions),
        ("connections", Topic::Connections),
        ("members", Topic::Members),
        ("knowledge", Topic::Knowledge),
        ("toolsets", Topic::Toolsets),
    ];
    let counted = counted
        .into_iter()
        .filter(|&(_, topic)| {
            before.changes.get(topic) != now.changes.get(topic)
                || (topic == Topic::Plugins && serves_else)
        })
        .map(|(name, _)| name);
    let (old, new) = (&before.usage_mark, &now.usage_mark);
    let listed = [
        ("executions", old.executions != new.executions),
        ("approvals", old.approvals != new.approvals),
        ("skills", old.skills != new.skills),
        ("sessions", old.sessions != new.sessions),
        ("webhooks", old.webhooks != new.webhooks),
        ("triggers", old.triggers != new.triggers),
        ("audit", old.audit != new.audit),
    ];
    let listed = listed
        .into_iter()
        .filter(|(_, changed)| *changed)
        .map(|(name, _)| name);
    counted.chain(listed).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::testing::TestWorld;

    #[tokio::test]
    async fn plugins_that_serve_are_a_change_though_the_database_has_long_said_so() {
        let world = TestWorld::open().await;
        let member = world.member(Role::Member, true).await;
        let entered = world
            .authenticate_member(Some(member.jwt.expose()), "req_1".to_owned(), None)
            .await
            .unwrap();
        let watching = world.gateway.watch(&entered.caller, &entered.sign_in_id);
        let mut watcher = watching.await.unwrap();
        assert_eq!(
            watcher.look().await.unwrap(),
            FeedChange::Changed(Vec::new())
        );
        let none = Arc::new(Snapshot::from_serving(BTreeMap::new()));
        world.gateway.snapshot.store(none);
        let seen = watcher.look().await.unwrap();
        assert_eq!(seen, FeedChange::Changed(vec!["plugins"]));
        assert_eq!(
            watcher.look().await.unwrap(),
            FeedChange::Changed(Vec::new())
        );
    }
}
