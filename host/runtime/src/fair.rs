//! Fair shares: places for running calls, and time on the processors.
//!
//! Claims are compared by workspace first, then by plugin, then by key:
//!
//! - [`places`] says who may begin. A claimant that is alone gets most places and never all, so that
//!   the next one finds room at once; who waits gets a place before those who have more.
//! - [`ledger`] remembers who has used the processors lately.
//! - [`compute`] runs guests that use more than a slice, those first who have used least.

pub(crate) mod compute;
pub(crate) mod ledger;
pub(crate) mod places;
pub(crate) mod slices;
#[cfg(test)]
mod tests;

use std::sync::Arc;

/// Who asks for a call; nobody where the gateway asks for itself.
#[derive(Clone, Debug, Default)]
pub struct Requester {
    pub workspace: Arc<str>,
    pub key: Arc<str>,
}

/// For whom and with which plugin a call runs.
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
