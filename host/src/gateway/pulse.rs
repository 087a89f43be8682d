//! Live updates: which of a workspace's lists have changed, in whatever process.
//!
//! A watcher compares counters that the database keeps anyway (`store/changes.rs`, `store/usage.rs`)
//! once a second, so nothing that writes has to know that somebody looks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Caller, Error, Gateway};
use crate::store::{Changes, Pulse, Role, Topic};

/// How often the counters are compared.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Watchers of one process.
const WATCHERS_MAX: usize = 200;

/// What a look finds.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
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
    seen: (Changes, Pulse),
    _place: Place,
}

/// A place among the watchers, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
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
        let place = Place(self.watchers.clone());
        if self.watchers.fetch_add(1, Ordering::SeqCst) >= WATCHERS_MAX {
            return Err(Error::Overloaded { retry_after_s: 5 });
        }
        let workspace_id = caller.workspace_id.clone();
        let seen = (
            self.store.changes().await?,
            self.store.pulse(&workspace_id).await?,
        );
        Ok(Watcher {
            gateway: self.clone(),
            workspace_id,
            sign_in_id: sign_in_id.to_owned(),
            seen,
            _place: place,
        })
    }
}

impl Watcher {
    /// Waits for the next look; a gateway that stops is seen at once.
    pub async fn look(&mut self) -> Result<Seen, Error> {
        let stop = self.gateway.stop.cancelled();
        if tokio::time::timeout(LOOK_EVERY, stop).await.is_ok() {
            return Ok(Seen::Stopping);
        }
        let store = &self.gateway.store;
        let now_ms = self.gateway.clock.now_ms();
        let standing = store.find_sign_in(&self.workspace_id, &self.sign_in_id, now_ms);
        if standing.await?.is_none() {
            return Ok(Seen::SignedOut);
        }
        let now = (
            store.changes().await?,
            store.pulse(&self.workspace_id).await?,
        );
        let topics = changed(&self.seen, &now);
        self.seen = now;
        Ok(Seen::Changed(topics))
    }
}

fn changed(before: &(Changes, Pulse), now: &(Changes, Pulse)) -> Vec<&'static str> {
    let counted = [
        ("keys", Topic::Keys),
        ("services", Topic::Services),
        ("plugins", Topic::Plugins),
        ("permissions", Topic::Permissions),
        ("connections", Topic::Connections),
        ("members", Topic::Members),
        ("knowledge", Topic::Knowledge),
    ];
    let counted = counted
        .into_iter()
        .filter(|(_, topic)| before.0.of(*topic) != now.0.of(*topic))
        .map(|(name, _)| name);
    let (old, new) = (&before.1, &now.1);
    let listed = [
        ("executions", old.executions != new.executions),
        ("approvals", old.approvals != new.approvals),
        ("skills", old.skills != new.skills),
        ("sessions", old.sessions != new.sessions),
        ("webhooks", old.webhooks != new.webhooks),
        ("audit", old.audit != new.audit),
    ];
    let listed = listed
        .into_iter()
        .filter(|(_, changed)| *changed)
        .map(|(name, _)| name);
    counted.chain(listed).collect()
}
