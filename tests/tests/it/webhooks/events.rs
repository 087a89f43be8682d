//! Which changes tell of themselves, on both databases: each in the transaction of the change, and
//! only while somebody wants to know.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use toolgate::store::{
    ActivatePlugin, ApiKey, Approval, ApprovalState, ConnectionHealth, EventFilters, ExecutionRow,
    Lease, NewConnection, ParkPlugin, Plan, PluginFile, PluginState, RefreshFailed, Refreshed,
    Rule, RuleChange, RuleKind, Session, Skill, SkillChange, Store, Webhook,
};
use toolgate_tests::gateway::PATIENCE;

const NOW_MS: i64 = 1_800_000_000_000;

struct At {
    store: Store,
    workspace: String,
    _folder: Option<TempDir>,
}

async fn opened(store: Store, folder: Option<TempDir>) -> At {
    let workspace = store
        .create_workspace("acme", Plan::Free, None, NOW_MS)
        .await
        .unwrap();
    At {
        store,
        workspace: workspace.id,
        _folder: folder,
    }
}

async fn on_sqlite() -> At {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}", folder.path().join("t.db").display());
    opened(Store::open(&url).await.unwrap(), Some(folder)).await
}

async fn on_postgres() -> At {
    let url = tokio::task::spawn_blocking(toolgate_tests::postgres::fresh_url)
        .await
        .unwrap();
    opened(Store::open(&url).await.unwrap(), None).await
}

fn lease(owner: &str, now_ms: i64) -> Lease<'_> {
    Lease {
        owner,
        now_ms,
        until_ms: now_ms + 6_000,
    }
}

impl At {
    async fn webhook(&self, id: &str, events: &[&str]) {
        let row = Webhook {
            id: id.to_owned(),
            workspace_id: self.workspace.clone(),
            url: "https://hooks.example.test/".to_owned(),
            description: String::new(),
            events: events.iter().map(|text| (*text).to_owned()).collect(),
            filters: EventFilters::default(),
            enabled: true,
            disabled_reason: None,
            disabled_at_ms: None,
            sealed: "box".to_owned(),
            sealed_previous: None,
            previous_until_ms: None,
            failures: 0,
            failing_since_ms: None,
            retry_at_ms: None,
            lease_owner: None,
            lease_until_ms: None,
            created_at_ms: NOW_MS,
            updated_at_ms: NOW_MS,
        };
        assert!(self.store.insert_webhook(&row, 100).await.unwrap());
    }

    /// What waits for a webhook: types and data, in order.
    async fn waiting(&self, id: &str) -> Vec<(String, Value)> {
        let due = self.store.due_deliveries(id, i64::MAX, 100).await.unwrap();
        due.iter()
            .map(|one| {
                let payload: Value = serde_json::from_str(&one.payload).unwrap();
                (
                    payload["type"].as_str().unwrap().to_owned(),
                    payload["data"].clone(),
                )
            })
            .collect()
    }

    async fn types(&self, id: &str) -> Vec<String> {
        self.waiting(id)
            .await
            .into_iter()
            .map(|(kind, _)| kind)
            .collect()
    }
}

fn skill(at: &At, id: &str) -> Skill {
    Skill {
        workspace_id: at.workspace.clone(),
        id: id.to_owned(),
        name: "n".to_owned(),
        summary: "s".to_owned(),
        instructions: "i".to_owned(),
        version: 1,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    }
}

fn connection(at: &At, id: &str) -> NewConnection {
    NewConnection {
        workspace_id: at.workspace.clone(),
        id: id.to_owned(),
        user_id: "ada".to_owned(),
        service: "github".to_owned(),
        slot: "user".to_owned(),
        auth_type: "oauth2".to_owned(),
        account: None,
        scopes: Vec::new(),
        parameters: Default::default(),
        sealed: "box".to_owned(),
        token_expires_at_ms: Some(NOW_MS + 60_000),
        refreshable: true,
    }
}

fn execution(at: &At, id: &str, status: &str) -> ExecutionRow {
    ExecutionRow {
        workspace_id: at.workspace.clone(),
        id: id.to_owned(),
        tool_name: "github_get_me".to_owned(),
        service: "github".to_owned(),
        user_id: "ada".to_owned(),
        key_id: "key_1".to_owned(),
        key_name: "k".to_owned(),
        key_prefix: "12345678".to_owned(),
        session_id: "tool_1".to_owned(),
        connection_id: None,
        status: status.to_owned(),
        reason: None,
        started_at_ms: NOW_MS,
        duration_ms: 5,
        plugin_version: "1.0.0".to_owned(),
        plugin_sha256: "00".to_owned(),
        requests: "[]".to_owned(),
        arguments: Some("{\"private\":true}".to_owned()),
        result: None,
    }
}

async fn skills_keys_rules_sessions_and_executions_tell(at: At) {
    at.webhook("all", &["*"]).await;
    let (store, ws) = (&at.store, at.workspace.as_str());
    store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let change = SkillChange {
        summary: Some("better"),
        ..SkillChange::default()
    };
    store.update_skill(ws, "s1", &change, NOW_MS).await.unwrap();
    let stale = SkillChange {
        if_version: Some(9),
        ..change
    };
    store.update_skill(ws, "s1", &stale, NOW_MS).await.unwrap();
    assert!(store.delete_skill(ws, "s1", NOW_MS).await.unwrap());
    assert!(!store.delete_skill(ws, "s1", NOW_MS).await.unwrap());

    let key = ApiKey {
        id: "key_1".to_owned(),
        workspace_id: ws.to_owned(),
        name: "agent".to_owned(),
        prefix: "12345678".to_owned(),
        scopes: vec!["tools:read".to_owned()],
        default_user: "ada".to_owned(),
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        ip_allowlist: Vec::new(),
        created_at_ms: NOW_MS,
        revoked_at_ms: None,
        last_used_at_ms: None,
    };
    store.insert_key(&key, "hash").await.unwrap();
    store.revoke_key(ws, "key_1", NOW_MS).await.unwrap();
    store.revoke_key(ws, "key_1", NOW_MS).await.unwrap();

    let rule = RuleChange {
        kind: RuleKind::Service,
        name: "github",
        rule: Some(Rule::Deny),
        expires_at_ms: None,
        max_calls: None,
    };
    store
        .change_rules(ws, "ada", &[rule], NOW_MS)
        .await
        .unwrap();

    let session = |id: &str| Session {
        workspace_id: ws.to_owned(),
        id: id.to_owned(),
        user_id: "ada".to_owned(),
        prompt: None,
        created_at_ms: NOW_MS,
        last_active_at_ms: NOW_MS,
    };
    store.put_session(&session("ses_1")).await.unwrap();
    store.put_session(&session("ses_1")).await.unwrap();

    let rows = ["success", "error", "auth_required", "dry_run", "running"];
    let rows: Vec<_> = rows
        .iter()
        .map(|status| execution(&at, status, status))
        .collect();
    store
        .record_executions(&rows, &[session("tool_1")])
        .await
        .unwrap();

    let waiting = at.waiting("all").await;
    let types: Vec<&str> = waiting.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        types,
        [
            "skill.created",
            "skill.updated",
            "skill.deleted",
            "api_key.created",
            "api_key.revoked",
            "permission.changed",
            "session.created",
            "session.created",
            "tool.executed",
            "tool.failed",
        ]
    );
    assert_eq!(waiting[1].1["version"], 2);
    assert_eq!(waiting[5].1["rules"][0]["rule"], "deny");
    assert_eq!(waiting[7].1["session_id"], "tool_1");
    assert_eq!(waiting[8].1["execution_id"], "success");
    let whole = format!("{waiting:?}");
    assert!(
        !whole.contains("private") && !whole.contains("hash"),
        "{whole}"
    );
}

async fn approvals_tell_once_of_each_change(at: At) {
    at.webhook("all", &["approval.*"]).await;
    let (store, ws) = (&at.store, at.workspace.as_str());
    let asked = |id: &str, at_ms: i64| Approval {
        workspace_id: ws.to_owned(),
        id: id.to_owned(),
        user_id: "ada".to_owned(),
        tool_name: "github_get_me".to_owned(),
        arguments_hash: "h".to_owned(),
        requests: "[]".to_owned(),
        session_id: None,
        state: ApprovalState::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: at_ms,
        expires_at_ms: at_ms + 10,
    };
    store.open_approval(&asked("a1", NOW_MS)).await.unwrap();
    store.open_approval(&asked("a2", NOW_MS)).await.unwrap();
    let decided = store
        .decide_approval(ws, "a1", true, "key:k", NOW_MS + 1)
        .await;
    assert!(decided.unwrap().is_some());
    let twice = store
        .decide_approval(ws, "a1", false, "key:k", NOW_MS + 1)
        .await;
    assert!(twice.unwrap().is_none());
    store
        .open_approval(&asked("a3", NOW_MS + 20))
        .await
        .unwrap();
    assert_eq!(store.expire_approvals(None, NOW_MS + 30).await.unwrap(), 1);
    let told: Vec<(String, String)> = at
        .waiting("all")
        .await
        .into_iter()
        .map(|(kind, data)| {
            let status = data["status"].as_str().unwrap();
            (
                kind,
                format!("{} {status}", data["approval_id"].as_str().unwrap()),
            )
        })
        .collect();
    let told: Vec<(&str, &str)> = told.iter().map(|(k, d)| (k.as_str(), d.as_str())).collect();
    assert_eq!(
        told,
        [
            ("approval.requested", "a1 pending"),
            ("approval.resolved", "a1 approved"),
            ("approval.resolved", "a1 expired"),
            ("approval.requested", "a3 pending"),
            ("approval.resolved", "a3 expired"),
        ]
    );
}

async fn connections_tell_of_their_health(at: At) {
    at.webhook("all", &["connection.*"]).await;
    let (store, ws) = (&at.store, at.workspace.as_str());
    store.connect(&connection(&at, "c1"), NOW_MS).await.unwrap();
    // More scopes for a healthy one are no news.
    store.connect(&connection(&at, "c1"), NOW_MS).await.unwrap();
    let fail = async |state| {
        store
            .try_lease_connection(ws, "c1", "me", NOW_MS, 1_000)
            .await
            .unwrap()
            .unwrap();
        let failed = RefreshFailed {
            state,
            next_retry_at_ms: None,
            last_error: "refused",
        };
        assert!(
            store
                .store_refresh_failed(ws, "c1", "me", &failed, NOW_MS)
                .await
                .unwrap()
        );
    };
    fail(ConnectionHealth::CoolingDown).await;
    store
        .try_lease_connection(ws, "c1", "me", NOW_MS, 1_000)
        .await
        .unwrap()
        .unwrap();
    let refreshed = Refreshed {
        sealed: "box 2",
        token_expires_at_ms: None,
        refreshable: true,
        scopes: None,
    };
    store
        .store_refreshed(ws, "c1", "me", &refreshed, NOW_MS)
        .await
        .unwrap()
        .unwrap();
    fail(ConnectionHealth::ReauthNeeded).await;
    fail(ConnectionHealth::ReauthNeeded).await;
    store.connect(&connection(&at, "c1"), NOW_MS).await.unwrap();
    store
        .delete_connection(ws, "c1", NOW_MS)
        .await
        .unwrap()
        .unwrap();

    let once = NewConnection {
        refreshable: false,
        ..connection(&at, "c2")
    };
    store.connect(&once, NOW_MS).await.unwrap();
    let day_ms = 86_400_000;
    assert_eq!(store.tell_expiring(day_ms, 10, NOW_MS).await.unwrap(), 1);
    assert_eq!(
        store.tell_expiring(day_ms, 10, NOW_MS + 1).await.unwrap(),
        0
    );
    assert_eq!(
        store
            .tell_expiring(day_ms, 10, NOW_MS + 60_000)
            .await
            .unwrap(),
        1
    );
    assert_eq!(
        store
            .tell_expiring(day_ms, 10, NOW_MS + 60_001)
            .await
            .unwrap(),
        0
    );
    let row = store.find_connection(ws, "c2").await.unwrap().unwrap();
    assert_eq!(row.state, ConnectionHealth::ReauthNeeded);
    assert_eq!(
        at.types("all").await,
        [
            "connection.created",
            "connection.recovered",
            "connection.expired",
            "connection.recovered",
            "connection.revoked",
            "connection.created",
            "connection.expiring",
            "connection.expired",
        ]
    );
}

async fn plugins_tell_every_workspace_of_what_is_new(at: At) {
    let theirs = at
        .store
        .create_workspace("other", Plan::Free, None, NOW_MS)
        .await
        .unwrap();
    at.webhook("ours", &["plugin.*"]).await;
    let ours = at
        .store
        .find_webhook(&at.workspace, "ours")
        .await
        .unwrap()
        .unwrap();
    let other = Webhook {
        id: "theirs".to_owned(),
        workspace_id: theirs.id,
        ..ours
    };
    at.store.insert_webhook(&other, 10).await.unwrap();
    let activate = |sha256| ActivatePlugin {
        service: "github",
        file_name: "github.wasm",
        sha256,
        version: "1.0.0",
        approved: "{}",
        now_ms: NOW_MS,
    };
    at.store.activate_plugin(&activate("a")).await.unwrap();
    // A restart says the same again.
    at.store.activate_plugin(&activate("a")).await.unwrap();
    at.store.activate_plugin(&activate("b")).await.unwrap();
    let park = ParkPlugin {
        service: "github",
        file_name: "github.wasm",
        sha256: "c",
        version: "2.0.0",
        difference: r#"{"hosts":["evil.test"]}"#,
        now_ms: NOW_MS,
    };
    at.store.park_plugin(&park).await.unwrap();
    at.store.park_plugin(&park).await.unwrap();
    let bad = PluginFile {
        file_name: "bad.wasm".to_owned(),
        sha256: Some("d".to_owned()),
        service: None,
        state: PluginState::Quarantined,
        reason: Some("not WebAssembly".to_owned()),
        updated_at_ms: NOW_MS,
    };
    at.store
        .put_plugin_files(std::slice::from_ref(&bad))
        .await
        .unwrap();
    at.store
        .put_plugin_files(std::slice::from_ref(&bad))
        .await
        .unwrap();
    // Somebody puts the version before back, then the gateway does.
    at.store.activate_plugin(&activate("a")).await.unwrap();
    at.store.activate_plugin(&activate("b")).await.unwrap();
    assert!(at.store.forget_plugin_version("github", "b").await.unwrap());
    at.store.activate_plugin(&activate("a")).await.unwrap();
    let expected = [
        "plugin.activated",
        "plugin.activated",
        "plugin.pending_approval",
        "plugin.quarantined",
        "plugin.activated",
        "plugin.rolled_back",
        "plugin.activated",
        "plugin.rolled_back",
        "plugin.activated",
        "plugin.rolled_back",
    ];
    assert_eq!(at.types("ours").await, expected);
    assert_eq!(at.types("theirs").await, expected);
    let told = at.waiting("ours").await;
    assert_eq!(told[2].1["difference"]["hosts"][0], "evil.test");
    for (index, to, from, automatic) in [(5, "a", "b", false), (9, "a", "b", true)] {
        let data = &told[index].1;
        assert_eq!(
            (&data["sha256"], &data["from"]["sha256"]),
            (&to.into(), &from.into())
        );
        assert_eq!(data["automatic"], automatic);
    }
}

async fn nothing_is_written_for_nobody(at: At) {
    at.webhook("tools", &["tool.*"]).await;
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let lease = lease("me", i64::MAX - 10_000);
    assert!(at.store.lease_webhooks(lease, 10).await.unwrap().is_empty());
    let off = toolgate::store::WebhookChange {
        enabled: Some(false),
        ..Default::default()
    };
    at.store
        .update_webhook(&at.workspace, "tools", &off, NOW_MS)
        .await
        .unwrap()
        .unwrap();
    let rows = [execution(&at, "e1", "success")];
    at.store.record_executions(&rows, &[]).await.unwrap();
    assert!(at.waiting("tools").await.is_empty());
}

async fn one_process_serves_a_webhook_at_a_time(at: At) {
    for id in ["a", "b"] {
        at.webhook(id, &["skill.created"]).await;
    }
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let store = &at.store;
    let ids = |mut rows: Vec<Webhook>| {
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let mine = store.lease_webhooks(lease("me", NOW_MS), 1).await.unwrap();
    let yours = store
        .lease_webhooks(lease("you", NOW_MS), 10)
        .await
        .unwrap();
    assert_eq!((mine.len(), yours.len()), (1, 1));
    assert_ne!(mine[0].id, yours[0].id);
    assert!(
        store
            .lease_webhooks(lease("she", NOW_MS), 10)
            .await
            .unwrap()
            .is_empty()
    );
    // Whoever dies loses it.
    let later = NOW_MS + 6_000;
    let all = store.lease_webhooks(lease("she", later), 10).await.unwrap();
    assert_eq!(ids(all), ["a", "b"]);
    let lost = store
        .renew_webhook_lease(&mine[0].id, lease("me", later))
        .await
        .unwrap();
    assert_eq!(lost, None);
    let due = store.due_deliveries(&mine[0].id, later, 10).await.unwrap();
    let attempt = toolgate::store::Attempt {
        at_ms: later,
        duration_ms: 1,
        response_status: Some(204),
        error: None,
    };
    // What arrived has arrived, but there is no going on.
    let held = store
        .delivery_arrived(&mine[0].id, due[0].seq, &attempt, lease("me", later))
        .await
        .unwrap();
    assert!(!held);
    assert!(
        store
            .due_deliveries(&mine[0].id, later, 10)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn many_processes_never_share_a_webhook(at: At) {
    const WEBHOOKS: usize = 20;
    const AT_ONCE: usize = 3;
    for id in 0..WEBHOOKS {
        at.webhook(&format!("w{id:02}"), &["skill.created"]).await;
    }
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let leased = Arc::new(Mutex::new(Vec::new()));
    let mut leasing = tokio::task::JoinSet::new();
    for process in 0..8 {
        let (store, leased) = (at.store.clone(), leased.clone());
        leasing.spawn(async move {
            let owner = format!("p{process}");
            // Under contention a round may come away with nothing; what is left is there for the next.
            while leased.lock().unwrap().len() < WEBHOOKS {
                let rows = store.lease_webhooks(lease(&owner, NOW_MS), AT_ONCE);
                let rows = rows.await.unwrap();
                assert!(rows.len() <= AT_ONCE, "{}", rows.len());
                assert!(
                    rows.iter()
                        .all(|row| row.lease_owner.as_ref() == Some(&owner))
                );
                leased
                    .lock()
                    .unwrap()
                    .extend(rows.into_iter().map(|row| row.id));
                tokio::task::yield_now().await;
            }
        });
    }
    let all = tokio::time::timeout(PATIENCE, leasing.join_all()).await;
    let mut ids = leased.lock().unwrap().clone();
    assert!(all.is_ok(), "only {} were leased", ids.len());
    ids.sort();
    ids.dedup();
    assert_eq!(
        (ids.len(), leased.lock().unwrap().len()),
        (WEBHOOKS, WEBHOOKS)
    );
    let rest = at.store.lease_webhooks(lease("last", NOW_MS), WEBHOOKS);
    assert!(rest.await.unwrap().is_empty());
}

macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(super::on_sqlite().await).await })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() { super::$name(super::on_postgres().await).await })+
        }
    };
}

on_both!(
    skills_keys_rules_sessions_and_executions_tell,
    approvals_tell_once_of_each_change,
    connections_tell_of_their_health,
    plugins_tell_every_workspace_of_what_is_new,
    nothing_is_written_for_nobody,
    one_process_serves_a_webhook_at_a_time,
    many_processes_never_share_a_webhook,
);
