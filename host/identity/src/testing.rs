//! Keys, members and browsers for tests, and an [`Identity`] of its own for one test: SQLite in a folder that goes
//! with it and a clock that does not move.

#![allow(
    clippy::unwrap_used,
    reason = "what a test world cannot set up ends the test"
)]

use std::collections::HashMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::config::AppClientsConfig;
use crate::keys::{self, CreatedKey, NewKey};
use crate::members::links::{self, NewLink};
use crate::members::sign_in::{Browser, SetUpRequest, SignedIn};
use crate::{Identity, IdentityParts};
use tokio_util::task::TaskTracker;
use toolgate_core::clock::Clock;
use toolgate_core::ids::{self, UserId};
use toolgate_egress::{Egress, EgressConfig};
use toolgate_operation::{Caller, Scope};
use toolgate_store::{LinkKind, Plan, Role, Store, Workspace};
use toolgate_vault::{Secret, Vault};

/// 2026-11-20T09:30:30Z, in the middle of a minute and of a day.
pub const NOW_MS: i64 = 1_795_167_030_000;

/// The password of every member that [`new_member`] makes.
pub const PASSWORD: &str = "correct horse battery";

/// A browser on this machine.
pub fn browser() -> Browser {
    Browser {
        request_id: ids::ulid("req"),
        address: Some([127, 0, 0, 1].into()),
        user_agent: Some("test".to_owned()),
        device: None,
    }
}

/// A key with limits of its own, whose default user is `ada`.
pub async fn new_key(
    store: &Store,
    workspace: &Workspace,
    scopes: &[Scope],
    (rpm, rpd): (Option<u32>, Option<u32>),
    now_ms: i64,
) -> CreatedKey {
    let new = NewKey {
        name: "test".to_owned(),
        user: UserId::parse("ada").unwrap(),
        scopes: scopes.to_vec(),
        rpm,
        rpd,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let made = keys::create(store, &Caller::operator(workspace), new, now_ms).await;
    made.unwrap()
}

/// Makes a member through a link, as people do.
pub async fn new_member(identity: &Identity, workspace: &Workspace, role: Role) -> SignedIn {
    let new = NewLink {
        kind: LinkKind::Join,
        role,
        email: None,
        member_id: None,
        vouched: true,
    };
    let (store, public_url) = (&identity.store, &identity.public_url);
    let caller = Caller::operator(workspace);
    let made = links::make(store, &caller, public_url, new, identity.clock.now_ms()).await;
    let token = made
        .unwrap()
        .url
        .expose()
        .split_once('#')
        .unwrap()
        .1
        .to_owned();
    let request = SetUpRequest {
        token: Secret::new(token),
        email: Some(format!("{}@example.com", ids::uuid())),
        name: Some("Ada".to_owned()),
        password: Secret::new(PASSWORD),
    };
    identity.set_up(request, &browser()).await.unwrap()
}

/// An [`Identity`] with two workspaces.
pub struct IdentityWorld {
    pub identity: Arc<Identity>,
    pub clock: Clock,
    ours: Workspace,
    theirs: Workspace,
    /// Keys by id.
    keys: Mutex<HashMap<String, String>>,
    folder: tempfile::TempDir,
}

impl Deref for IdentityWorld {
    type Target = Arc<Identity>;

    fn deref(&self) -> &Arc<Identity> {
        &self.identity
    }
}

impl IdentityWorld {
    pub async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NOW_MS);
        let identity = open_in(&folder, clock.clone()).await;
        let store = &identity.store;
        let ours = store.create_workspace("ours", Plan::Enterprise, None, NOW_MS);
        let ours = ours.await.unwrap();
        let theirs = store.create_workspace("theirs", Plan::Enterprise, None, NOW_MS + 1);
        let theirs = theirs.await.unwrap();
        Self {
            identity,
            clock,
            ours,
            theirs,
            keys: Mutex::default(),
            folder,
        }
    }

    /// Another process on the same database.
    pub async fn sibling(&self, clock: Clock) -> Arc<Identity> {
        open_in(&self.folder, clock).await
    }

    pub fn store(&self) -> &Store {
        &self.identity.store
    }

    pub fn public_url(&self) -> &str {
        &self.identity.public_url
    }

    /// Length of the database's write-ahead log: longer after every write.
    pub fn log_bytes(&self) -> u64 {
        let log = database(&self.folder).with_extension("db-wal");
        std::fs::metadata(log).unwrap().len()
    }

    /// A key of the first workspace, as text.
    pub async fn key(&self, scopes: &[Scope]) -> String {
        self.key_in(&self.ours, scopes).await
    }

    pub async fn key_in(&self, workspace: &Workspace, scopes: &[Scope]) -> String {
        self.make_key(workspace, scopes, (None, None)).await
    }

    /// A key of the first workspace with limits of its own.
    pub async fn key_with(&self, rpm: Option<u32>, rpd: Option<u32>) -> String {
        self.make_key(&self.ours, &[Scope::ToolsRead], (rpm, rpd))
            .await
    }

    async fn make_key(
        &self,
        workspace: &Workspace,
        scopes: &[Scope],
        limits: (Option<u32>, Option<u32>),
    ) -> String {
        let now_ms = self.clock.now_ms();
        let made = new_key(self.store(), workspace, scopes, limits, now_ms).await;
        let key = made.key.expose().to_owned();
        let mut keys = self.keys.lock().unwrap();
        keys.insert(made.info.key_id, key.clone());
        key
    }

    /// A caller in the first workspace, whose default user is `ada`.
    pub async fn caller(&self, scopes: &[Scope]) -> Caller {
        self.enter(&self.key(scopes).await).await
    }

    /// A member of the first workspace, or of the other one.
    pub async fn member(&self, role: Role, ours: bool) -> SignedIn {
        let workspace = if ours { &self.ours } else { &self.theirs };
        new_member(&self.identity, workspace, role).await
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
        self.enter(&self.key_of(caller)).await
    }

    async fn enter(&self, key: &str) -> Caller {
        let entered = self.authenticate(Some(key), ids::ulid("req"), None).await;
        entered.unwrap()
    }
}

fn database(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("toolgate.db")
}

async fn open_in(folder: &tempfile::TempDir, clock: Clock) -> Arc<Identity> {
    let url = format!("sqlite://{}", database(folder).display());
    Arc::new(Identity::new(IdentityParts {
        store: Store::open(&url).await.unwrap(),
        egress: Egress::new(EgressConfig::default()).unwrap(),
        vault: Vault::open(&folder.path().join("master.key")).unwrap(),
        clock,
        public_url: "http://127.0.0.1:8080".to_owned(),
        oidc: None,
        app_clients: AppClientsConfig::default(),
        running: TaskTracker::new(),
    }))
}
