//! A gateway of its own for one test: SQLite in a folder that goes with it, a clock that stands
//! still, and the catalog of the fixtures. Nothing in it runs plugins.

#![allow(
    clippy::unwrap_used,
    reason = "what a test world cannot set up ends the test"
)]

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::config::GatewayConfig;
use crate::identity::members::sign_in::SignedIn;
pub use crate::identity::testing::{NOW_MS, PASSWORD, browser};
use crate::identity::testing::{new_key, new_member};
use crate::plugins::Snapshot;
use crate::{Caller, Gateway, Scope};
use toolgate_catalog::fixture;
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_store::{Plan, Role, Workspace};

pub struct TestWorld {
    pub gateway: Arc<Gateway>,
    pub clock: Clock,
    ours: Workspace,
    theirs: Workspace,
    /// Keys by id.
    keys: Mutex<HashMap<String, String>>,
    folder: tempfile::TempDir,
}

impl Deref for TestWorld {
    type Target = Arc<Gateway>;

    fn deref(&self) -> &Arc<Gateway> {
        &self.gateway
    }
}

impl TestWorld {
    pub async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("plugins")).unwrap();
        let path = |name| folder.path().join(name);
        let config = GatewayConfig::in_folders(path("data"), path("plugins"));
        let clock = Clock::manual(NOW_MS);
        let gateway = Gateway::open(&config, clock.clone()).await.unwrap();
        gateway
            .snapshot
            .store(Arc::new(Snapshot::new(fixture::catalog(), BTreeMap::new())));
        let store = gateway.store();
        let ours = store.create_workspace("ours", Plan::Enterprise, None, NOW_MS);
        let ours = ours.await.unwrap();
        let theirs = store.create_workspace("theirs", Plan::Enterprise, None, NOW_MS + 1);
        let theirs = theirs.await.unwrap();
        Self {
            gateway,
            clock,
            ours,
            theirs,
            keys: Mutex::default(),
            folder,
        }
    }

    /// A key of the first workspace, as text.
    pub async fn key(&self, scopes: &[Scope]) -> String {
        self.key_in(&self.ours, scopes).await
    }

    /// A key of the first workspace with limits of its own.
    pub async fn key_with(&self, rpm: Option<u32>, rpd: Option<u32>) -> String {
        self.make_key(&self.ours, &[Scope::ToolsRead], rpm, rpd)
            .await
    }

    pub async fn key_in(&self, workspace: &Workspace, scopes: &[Scope]) -> String {
        self.make_key(workspace, scopes, None, None).await
    }

    /// Another process on the same database.
    pub async fn sibling(&self, clock: Clock) -> Arc<Gateway> {
        let path = |name| self.folder.path().join(name);
        let config = GatewayConfig {
            database_url: format!("sqlite://{}", self.database().display()),
            master_key_file: path("data/master.key"),
            ..GatewayConfig::in_folders(path("sibling"), path("plugins"))
        };
        Gateway::open(&config, clock).await.unwrap()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn database(&self) -> PathBuf {
        self.data_dir().join("toolgate.db")
    }

    /// Length of the database's write-ahead log: longer after every write.
    pub fn log_bytes(&self) -> u64 {
        let log = self.database().with_extension("db-wal");
        std::fs::metadata(log).unwrap().len()
    }

    async fn make_key(
        &self,
        workspace: &Workspace,
        scopes: &[Scope],
        rpm: Option<u32>,
        rpd: Option<u32>,
    ) -> String {
        let now_ms = self.clock.now_ms();
        let made = new_key(self.store(), workspace, scopes, (rpm, rpd), now_ms).await;
        let key = made.key.expose().to_owned();
        let mut keys = self.keys.lock().unwrap();
        keys.insert(made.info.key_id, key.clone());
        key
    }

    /// A caller in the first workspace, whose default user is `ada`.
    pub async fn caller(&self, scopes: &[Scope]) -> Caller {
        self.enter(&self.key(scopes).await).await
    }

    /// A caller of another workspace.
    pub async fn stranger(&self, scopes: &[Scope]) -> Caller {
        self.enter(&self.key_in(&self.theirs, scopes).await).await
    }

    /// Makes a member of the first workspace, or of the other one, through a link as people do.
    pub async fn member(&self, role: Role, ours: bool) -> SignedIn {
        let workspace = if ours { &self.ours } else { &self.theirs };
        new_member(self.identity(), workspace, role).await
    }

    /// The caller of a new member of the first workspace.
    pub async fn member_caller(&self, role: Role) -> Caller {
        let jwt = self.member(role, true).await.jwt;
        let entered = self.authenticate_member(Some(jwt.expose()), ids::ulid("req"), None);
        entered.await.unwrap().caller
    }

    /// The key of a caller, as text.
    pub fn key_of(&self, caller: &Caller) -> String {
        self.keys.lock().unwrap()[&*caller.key_id].clone()
    }

    /// The same key at a later request.
    pub async fn again(&self, caller: &Caller) -> Caller {
        let key = self.keys.lock().unwrap()[&*caller.key_id].clone();
        self.enter(&key).await
    }

    async fn enter(&self, key: &str) -> Caller {
        let entered = self.authenticate(Some(key), ids::ulid("req"), None).await;
        entered.unwrap()
    }
}
