//! Fair shares: places for running calls, and time on the processors.
//!
//! Claims are compared by workspace first, then by plugin, then by key:
//!
//! - [`places`] decides which calls may begin. A claimant that is alone gets most places and never
//!   all, so that the next one has a place at once; a waiter gets a place before claimants with more.
//! - [`ledger`] counts the processor time that each claimant has used lately.
//! - [`compute`] runs guests that use more than a slice, in the order of the time that they have used.
//!
//! The memory of all guests together is a budget too, of which each workspace has a share ([`toolgate_core::memory`]).

pub(crate) mod compute;
pub(crate) mod ledger;
pub(crate) mod places;
pub(crate) mod slices;
#[cfg(test)]
mod tests;

use std::sync::Arc;

/// The workspace and key of a call; empty for a call of the gateway itself.
#[derive(Clone, Debug, Default)]
pub struct Requester {
    pub workspace: Arc<str>,
    pub key: Arc<str>,
}

/// The requester and the plugin of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallClaim {
    pub workspace: Arc<str>,
    pub plugin: Arc<str>,
    pub key: Arc<str>,
}

impl CallClaim {
    pub(crate) fn new(requester: Requester, plugin: &Arc<str>) -> Self {
        Self {
            workspace: requester.workspace,
            plugin: plugin.clone(),
            key: requester.key,
        }
    }

    /// From the widest to the narrowest.
    fn names(&self) -> [&Arc<str>; 3] {
        [&self.workspace, &self.plugin, &self.key]
    }

    /// What is counted together at each level: the workspace, its plugin, its key with that plugin.
    fn levels(&self) -> [Level; 3] {
        let Self {
            workspace,
            plugin,
            key,
        } = self;
        [
            (workspace.clone(), None, None),
            (workspace.clone(), Some(plugin.clone()), None),
            (workspace.clone(), Some(plugin.clone()), Some(key.clone())),
        ]
    }
}

type Level = (Arc<str>, Option<Arc<str>>, Option<Arc<str>>);
