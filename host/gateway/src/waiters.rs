//! Places of requests that take long: those that wait for a connection or a decision, and uploads. They are bounded for
//! the process and for each workspace, so that one workspace leaves places for the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Caller, Error, Gateway};

/// Requests of one process that wait.
const WAITERS_MAX: usize = 1_000;
/// Requests of one workspace that wait in one process.
const WAITERS_PER_WORKSPACE_MAX: usize = 250;
/// When a request that found no place may come again.
const RETRY_AFTER_S: u64 = 5;

/// How many are at it at the moment, by workspace.
#[derive(Clone)]
pub(crate) struct Waiters {
    counts: Arc<Mutex<HashMap<String, usize>>>,
    all_max: usize,
    workspace_max: usize,
}

/// A place among them, given back when dropped.
pub struct WaiterPermit {
    waiters: Waiters,
    workspace_id: String,
}

impl Default for Waiters {
    fn default() -> Self {
        Self::new(WAITERS_MAX, WAITERS_PER_WORKSPACE_MAX)
    }
}

impl Waiters {
    /// Places of the process, and of one workspace.
    pub(crate) fn new(all_max: usize, workspace_max: usize) -> Self {
        Self {
            counts: Arc::default(),
            all_max,
            workspace_max,
        }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        // Every step leaves the table whole, so a panic elsewhere spoils nothing.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Places that a workspace has at the moment.
    pub(crate) fn entered(&self, workspace_id: &str) -> usize {
        self.counts().get(workspace_id).copied().unwrap_or(0)
    }

    /// # Errors
    /// `overloaded` where the process or the workspace has no place left.
    pub(crate) fn enter(&self, workspace_id: &str) -> Result<WaiterPermit, Error> {
        let mut counts = self.counts();
        let all: usize = counts.values().sum();
        let own = counts.get(workspace_id).copied().unwrap_or(0);
        if all >= self.all_max || own >= self.workspace_max {
            return Err(Error::Overloaded {
                retry_after_s: RETRY_AFTER_S,
            });
        }
        counts.insert(workspace_id.to_owned(), own + 1);
        Ok(WaiterPermit {
            waiters: self.clone(),
            workspace_id: workspace_id.to_owned(),
        })
    }
}

impl Gateway {
    /// Who a request that waited is answered as: its key may have been revoked meanwhile, or may do less than before.
    ///
    /// # Errors
    /// `invalid_api_key` where the caller may not call any more.
    pub(crate) async fn caller_after_wait(&self, caller: &Caller) -> Result<Caller, Error> {
        if !caller.is_renewable() {
            return Ok(caller.clone());
        }
        let renewed = self.identity.renewed(caller).await?;
        renewed.ok_or(Error::InvalidApiKey)
    }
}

impl Drop for WaiterPermit {
    fn drop(&mut self) {
        let mut counts = self.waiters.counts();
        if let Some(own) = counts.get_mut(&self.workspace_id) {
            *own -= 1;
            if *own == 0 {
                counts.remove(&self.workspace_id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_that_waits_much_leaves_places_for_others() {
        let waiters = Waiters::default();
        let greedy: Vec<_> = (0..WAITERS_PER_WORKSPACE_MAX)
            .map(|_| waiters.enter("greedy").expect("a place"))
            .collect();
        assert!(waiters.enter("greedy").is_err());
        assert!(waiters.enter("other").is_ok());
        drop(greedy);
        assert!(waiters.enter("greedy").is_ok());
        assert!(waiters.counts().is_empty());
    }

    #[test]
    fn the_places_of_the_process_are_bounded() {
        let waiters = Waiters::default();
        let all: Vec<_> = (0..WAITERS_MAX)
            .map(|n| waiters.enter(&(n / 100).to_string()).expect("a place"))
            .collect();
        assert!(waiters.enter("late").is_err());
        drop(all);
        assert!(waiters.enter("late").is_ok());
    }
}
