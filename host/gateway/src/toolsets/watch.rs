//! When the list that a caller has of a toolset is no longer what it was, in whatever process it was
//! changed.
//!
//! One task of the process compares what lists are made of twice a second while anybody watches
//! ([`run`]); a watcher then compares its own list, and looks by itself now and then, because rules end by
//! time too.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::{Semaphore, watch};

use crate::plugins::Snapshot;
use crate::{Caller, Error, Gateway};
use toolgate_store::{Changes, Topic};

/// How often what lists are made of is compared. Streams of a key that is revoked end within a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often a watcher looks where nothing seems to have changed.
const LOOK_ANYWAY: Duration = Duration::from_secs(60);
/// A stream that is still open after this long is ended with its key.
const FIRST_LOOK: Duration = Duration::from_millis(250);
/// Watchers of all callers that look at one time: a change lets all of them look, and calls go on meanwhile.
const LOOKS_AT_ONCE: usize = 4;
/// What lists are made of, beside the plugins that serve. Workspaces, of which code mode is a setting, count with keys.
const TOPICS: [Topic; 4] = [
    Topic::Keys,
    Topic::Members,
    Topic::Permissions,
    Topic::Toolsets,
];

/// Counts the moments at which lists may have changed.
pub(crate) struct ListSignal {
    count: watch::Sender<u64>,
    looks: Semaphore,
}

impl Default for ListSignal {
    fn default() -> Self {
        Self {
            count: watch::Sender::new(0),
            looks: Semaphore::new(LOOKS_AT_ONCE),
        }
    }
}

/// What a watcher learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange {
    /// The list is another one now.
    Changed,
    /// There is nothing more to see: the gateway stops, the caller may not call any more, or the toolset
    /// is gone.
    Over,
}

/// One caller's list of one toolset.
pub struct ListWatcher {
    gateway: Arc<Gateway>,
    caller: Caller,
    toolset: String,
    digest: [u8; 32],
    signal: watch::Receiver<u64>,
}

impl Gateway {
    /// Begins to watch the list that the caller has of a toolset now; of the main address if `toolset` is empty.
    pub async fn watch_toolset(
        self: &Arc<Self>,
        caller: &Caller,
        toolset: &str,
    ) -> Result<ListWatcher, Error> {
        let signal = self.list_signal.count.subscribe();
        Ok(ListWatcher {
            digest: self.list_digest(caller, toolset).await?,
            gateway: self.clone(),
            caller: caller.clone(),
            toolset: toolset.to_owned(),
            signal,
        })
    }

    /// Waits until the caller may not call any more: its key or app was revoked, or has expired. What goes on for it
    /// ends with this.
    pub async fn revoked(self: Arc<Self>, mut caller: Caller) {
        // The caller was looked up just now. Most answers have ended by then, and cost no second look.
        tokio::time::sleep(FIRST_LOOK).await;
        let mut signal = self.list_signal.count.subscribe();
        loop {
            // Of what was changed before the subscription nobody tells.
            if self.is_over(&mut caller).await {
                return;
            }
            tokio::select! {
                () = self.stop.cancelled() => return std::future::pending().await,
                told = signal.changed() => if told.is_err() {
                    return std::future::pending().await;
                },
                () = tokio::time::sleep(LOOK_ANYWAY) => {}
            }
        }
    }

    /// Looks a caller up again, if something about keys or members was changed since it was looked up, or a minute is
    /// over. Where the database does not answer, it may go on.
    async fn is_over(&self, caller: &mut Caller) -> bool {
        if !caller.is_renewable() {
            return false;
        }
        let _turn = self.list_signal.looks.acquire().await.ok();
        match self.identity.renewed(caller).await {
            Ok(Some(renewed)) => {
                *caller = renewed;
                false
            }
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Of a toolset's list, or of the main address if `toolset` is empty. There, and where a toolset has the generic
    /// tools, code mode says whether one of them is listed.
    async fn list_digest(&self, caller: &Caller, toolset: &str) -> Result<[u8; 32], Error> {
        let list = match toolset.is_empty() {
            true => None,
            false => Some(self.toolset_tools(caller, toolset).await?),
        };
        let runs_scripts = self.store.code_mode(&caller.workspace_id).await?;
        let text = serde_json::to_vec(&(list, runs_scripts)).map_err(anyhow::Error::from)?;
        Ok(Sha256::digest(&text).into())
    }
}

impl ListWatcher {
    /// Waits until the list is another one, or until it is over: also when nobody is there to be told, of
    /// which `is_watched` is asked at least once a minute.
    pub async fn next(&mut self, is_watched: impl Fn() -> bool) -> ListChange {
        loop {
            let gateway = self.gateway.clone();
            tokio::select! {
                () = gateway.stop.cancelled() => return ListChange::Over,
                ended = self.signal.changed() => {
                    if ended.is_err() {
                        return ListChange::Over;
                    }
                }
                () = tokio::time::sleep(LOOK_ANYWAY) => {}
            }
            if !is_watched() {
                return ListChange::Over;
            }
            match self.look().await {
                Ok(Some(change)) => return change,
                Ok(None) => {}
                // It is looked again.
                Err(Error::DatabaseUnavailable(_) | Error::Overloaded { .. }) => {}
                Err(error) => {
                    tracing::debug!(error = %error, "toolsets.watch_ended");
                    return ListChange::Over;
                }
            }
        }
    }

    async fn look(&mut self) -> Result<Option<ListChange>, Error> {
        let gateway = self.gateway.clone();
        let _turn = gateway.list_signal.looks.acquire().await.ok();
        let Some(caller) = self.gateway.identity.renewed(&self.caller).await? else {
            return Ok(Some(ListChange::Over));
        };
        let digest = self.gateway.list_digest(&caller, &self.toolset).await?;
        self.caller = caller;
        if digest == self.digest {
            return Ok(None);
        }
        self.digest = digest;
        Ok(Some(ListChange::Changed))
    }
}

/// Tells watchers that lists may have changed, until the gateway stops.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let mut known: Option<([i64; TOPICS.len()], Weak<Snapshot>)> = None;
    loop {
        let stopped = tokio::time::timeout(LOOK_EVERY, gateway.stop.cancelled()).await;
        if stopped.is_ok() {
            return;
        }
        if gateway.list_signal.count.receiver_count() == 0 {
            // The next watcher reads the list itself first.
            known = None;
            continue;
        }
        let serving = Arc::downgrade(&gateway.snapshot());
        let Ok(changes) = gateway.store.changes().await else {
            continue;
        };
        let now = counts(changes);
        let same = known
            .as_ref()
            .is_some_and(|(before, snapshot)| *before == now && snapshot.ptr_eq(&serving));
        if !same {
            gateway.list_signal.count.send_modify(|count| *count += 1);
        }
        known = Some((now, serving));
    }
}

fn counts(changes: Changes) -> [i64; TOPICS.len()] {
    TOPICS.map(|topic| changes.get(topic))
}
