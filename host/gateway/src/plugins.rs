//! Which plugins serve: the watched folder, the outcome of each file, and the snapshot that
//! every call holds.
//!
//! The folder is the operator's word: a file that appears is taken, a file that disappears is
//! dropped. What serves is always a captured copy under its content hash, never the file in the
//! folder. Where machines share a database, their folders are doors to one that it holds
//! ([`shared_folder`]). Catalog and code are one [`Snapshot`], swapped whole; a call keeps the one it began on.
//! Read [`intake`] for the way of a file, [`decide`] for the rules.

pub mod admin;
mod decide;
pub mod dev_log;
mod folder;
pub mod from_address;
mod hastened;
mod intake;
mod listing;
pub mod mcp_servers;
mod names;
mod probation;
mod recall;
mod removal;
mod report;
mod rollback;
mod shared_folder;
mod staged;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::{Catalog, PluginTools};
use toolgate_core::text::Text;
use toolgate_egress::Grant;
use toolgate_runtime::Plugin;
use toolgate_search::SearchIndex;

pub(crate) use admin::PluginAdmin;
pub(crate) use intake::damaged::DamagedCopies;
pub use intake::{Intake, ScanScope};
pub use listing::{
    Approved, ListedFile, ListedPlugin, ListedServer, PendingVersion, PluginList, approve, list,
    manifest, manifests, waiting,
};
pub use names::{NameOwners, TakenName};
use probation::Probation;
pub use recall::change_by;
pub use removal::{Removed, remove};
pub use rollback::{RolledBack, roll_back};
pub use staged::PluginFolders;
pub use watch::watch;

/// Names the rules by which a file was inspected; other rules inspect again.
pub(crate) const INSPECTOR: &str = concat!("toolgate ", env!("CARGO_PKG_VERSION"), ", rules 2");

/// One integration that serves.
#[derive(Debug)]
pub struct ServingPlugin {
    pub code: Plugin,
    pub manifest: Arc<Manifest>,
    /// What receipts say of it: the manifest's names, and what the code is known by.
    pub service: Text,
    pub version: Text,
    pub sha256: Text,
    /// The manifest's hosts, without addresses that an operator named.
    pub grant: Arc<Grant>,
    pub(crate) probation: Probation,
}

/// All integrations that serve, and the catalog built from them. Immutable.
pub struct Snapshot {
    pub catalog: Catalog,
    pub search: SearchIndex,
    pub serving: BTreeMap<String, Arc<ServingPlugin>>,
}

impl Snapshot {
    pub(crate) fn new(catalog: Catalog, serving: BTreeMap<String, Arc<ServingPlugin>>) -> Self {
        Self {
            search: SearchIndex::new(&catalog),
            catalog,
            serving,
        }
    }

    pub(crate) fn from_serving(serving: BTreeMap<String, Arc<ServingPlugin>>) -> Self {
        let tools = serving
            .values()
            .map(|one| PluginTools {
                manifest: one.manifest.clone(),
                sha256: one.code.sha256().to_owned(),
            })
            .collect();
        Self::new(Catalog::build(tools), serving)
    }
}
