//! The tenants' wall, by walking the document: every route that names something by its id is tried
//! with what another workspace owns, and every list is searched for it.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::Request;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::*;
use toolgate_core::states::{ApprovalStatus, TriggerState};
use toolgate_gateway::testing::{NOW_MS, TestWorld};
use toolgate_gateway::{Caller, Scope};
use toolgate_store::{self as store, ExecutionRow, NewConnection};

/// Something in every list of one workspace: the name of a path's parameter to the id.
pub(crate) async fn belongings(world: &TestWorld) -> BTreeMap<&'static str, String> {
    let caller = world.caller(Scope::ALL).await;
    let user_id = "ada-of-ours".to_owned();
    let key = world.key(Scope::ALL).await;
    let skill = json!({"name": "of-ours", "summary": "s", "instructions": "i"});
    let skill = ask(world, &key, "POST", "/v1/skills", &skill).await;
    let session = json!({"prompt": "of-ours", "user_id": user_id});
    let session = ask(world, &key, "POST", "/v1/sessions", &session).await;
    let document = json!({"media_type": "text/plain", "content": "of-ours"});
    let document = ask(world, &key, "POST", "/v1/knowledge/documents", &document).await;
    let path = format!("/v1/files?user_id={user_id}");
    let file = ask(world, &key, "POST", &path, &json!("of-ours")).await;
    let rule = json!({"tools": {"github_create_issue": "deny"}});
    let path = format!("/v1/permissions/users/{user_id}/batch");
    let ruled = ask(world, &key, "PATCH", &path, &rule).await;
    assert_eq!((skill.0, session.0, ruled.0), (201, 201, 200), "{ruled:?}");
    store_belongings(world, &caller, &user_id).await;
    // So that a run is missed because it is another's.
    for either in [&caller, &world.stranger(Scope::ALL).await] {
        world.gateway.set_code_mode(either, true).await.unwrap();
    }
    let id =
        |answer: &(u16, Value), name: &str| answer.1["data"][name].as_str().unwrap().to_owned();
    let wanted = json!({"url": "https://of-ours.example.test/", "events": ["*"]});
    let webhook = ask(world, &key, "POST", "/v1/webhooks", &wanted).await;
    let toolset = json!({"name": "of-ours", "tools": ["github_create_issue"]});
    let toolset = ask(world, &key, "POST", "/v1/toolsets", &toolset).await;
    let path = format!("/v1/webhooks/{}/test", id(&webhook, "webhook_id"));
    let delivery = ask(world, &key, "POST", &path, &json!({})).await;
    BTreeMap::from([
        ("webhook_id", id(&webhook, "webhook_id")),
        ("delivery_id", id(&delivery, "delivery_id")),
        ("toolset_name", id(&toolset, "name")),
        ("skill_id", id(&skill, "skill_id")),
        ("session_id", id(&session, "session_id")),
        ("document_id", id(&document, "document_id")),
        ("file_id", id(&file, "file_id")),
        ("connection_id", of_ours("con")),
        ("execution_id", of_ours("exe")),
        ("approval_id", of_ours("apr")),
        ("result_id", of_ours("res")),
        ("trigger_id", of_ours("trg")),
        ("run_id", RUN_ID.to_owned()),
        // Chosen by callers, so not another's: the same id is another user in each workspace.
        ("user_id", user_id),
        ("tool_name", "github_create_issue".to_owned()),
        ("service_name", "github".to_owned()),
    ])
}

/// A run of a script, whose ids are looked at.
const RUN_ID: &str = "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD";

fn of_ours(name: &str) -> String {
    format!("{name}-of-ours")
}

async fn store_approval(world: &TestWorld, workspace_id: &str, user_id: &str) {
    let approval = store::ApprovalRow {
        workspace_id: workspace_id.to_string(),
        id: of_ours("apr"),
        user_id: user_id.to_owned(),
        tool_name: "github_create_issue".to_owned(),
        arguments_hash: "0".to_owned(),
        requests: "[]".to_owned(),
        arguments: "{}".to_owned(),
        session_id: None,
        state: ApprovalStatus::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: NOW_MS,
        expires_at_ms: NOW_MS + 60_000,
        ..store::ApprovalRow::default()
    };
    let store = world.store();
    store
        .open_approval(&approval, "https://gateway.example.com/approvals/one")
        .await
        .unwrap();
}

/// What no route makes by itself: a connection, a call, an approval, a kept result, a trigger of no plugin.
async fn store_belongings(world: &TestWorld, caller: &Caller, user_id: &str) {
    let (store, workspace_id) = (world.store(), caller.workspace_id.clone());
    store
        .connect(
            &NewConnection {
                workspace_id: workspace_id.to_string(),
                id: of_ours("con"),
                user_id: user_id.to_owned(),
                service: "github".to_owned(),
                slot: "user".to_owned(),
                auth_type: "oauth2".to_owned(),
                account: None,
                scopes: Vec::new(),
                parameters: BTreeMap::new(),
                sealed: "box".to_owned(),
                token_expires_at_ms: None,
                refresh_end: None,
                refreshable: false,
            },
            NOW_MS,
        )
        .await
        .unwrap();
    let execution = ExecutionRow {
        workspace_id: workspace_id.clone(),
        id: of_ours("exe").into(),
        kind: "tool".into(),
        tool_name: "github_create_issue".into(),
        service: "github".into(),
        user_id: user_id.to_owned().into(),
        key_id: caller.key_id.clone(),
        key_name: "test".into(),
        key_prefix: "abcdefgh".into(),
        session_id: Some("tool_1".into()),
        connection_id: None,
        parent_execution_id: None,
        status: "success".into(),
        reason: None,
        started_at_ms: NOW_MS,
        duration_ms: 1,
        plugin_version: "1.0.0".into(),
        plugin_sha256: "0".into(),
        requests: "[]".into(),
        arguments: None,
        result: None,
        payloads: Vec::new(),
    };
    store.record_executions(&[execution], &[]).await.unwrap();
    store_trigger(world, &workspace_id, user_id).await;
    store_script_run(world, &workspace_id, user_id).await;
    store_approval(world, &workspace_id, user_id).await;
    store
        .put_result(
            &workspace_id,
            &of_ours("res"),
            &of_ours("exe"),
            user_id,
            (None, b"x"),
            NOW_MS + 60_000,
        )
        .await
        .unwrap();
}

/// A trigger that is paused, so that nothing polls it.
async fn store_trigger(world: &TestWorld, workspace_id: &str, user_id: &str) {
    let trigger = store::TriggerRow {
        workspace_id: workspace_id.to_owned(),
        id: of_ours("trg"),
        user_id: user_id.to_owned(),
        service: "github".to_owned(),
        event: "of-ours".to_owned(),
        connection_id: None,
        config: "{}".to_owned(),
        interval_ms: 60_000,
        since_ms: None,
        state: TriggerState::Paused,
        failures: 0,
        last_error: None,
        last_poll_at_ms: None,
        last_item_at_ms: None,
        items_found: 0,
        watching_since_ms: None,
        floor_ms: None,
        cursor: None,
        pages_read: 0,
        reads_all: false,
        next_poll_at_ms: NOW_MS,
        lease_owner: None,
        lease_until_ms: None,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    };
    let most = store::TriggersMax {
        of_workspace: 10,
        of_user: 10,
    };
    let kept = world.store().insert_trigger(&trigger, most).await.unwrap();
    assert_eq!(kept, store::InsertedTrigger::Done);
}

async fn store_script_run(world: &TestWorld, workspace_id: &str, user_id: &str) {
    let run = store::NewScriptRun {
        workspace_id: workspace_id.to_owned(),
        id: RUN_ID.to_owned(),
        user_id: user_id.to_owned(),
        session_id: Some("of-ours".to_owned()),
        actor: "key:of-ours".to_owned(),
        execution_id: of_ours("exe"),
        script_sha256: "of-ours".to_owned(),
        engine_sha256: "0".to_owned(),
        start_sealed: "box".to_owned(),
        dry_run: false,
        created_at_ms: NOW_MS,
        expires_at_ms: NOW_MS + 60_000,
        lease_owner: None,
        lease_until_ms: 0,
    };
    world.store().insert_script_run(&run).await.unwrap();
}

async fn ask(world: &TestWorld, key: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let options = RestOptions {
        metrics: world.metrics().clone(),
        metrics_here: false,
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    let router = router(world.gateway.clone(), options);
    let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
    let body = axum::body::to_bytes(body, 1 << 22).await.unwrap();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    (parts.status.as_u16(), body)
}

/// A body that the route would take.
pub(crate) fn body_of(path: &str) -> Value {
    match path {
        "/v1/approvals/{approval_id}" => json!({"decision": "approve"}),
        "/v1/sessions/{session_id}/messages" => json!({"content": "hello"}),
        "/v1/skills/{skill_id}" => json!({"name": "taken over"}),
        _ => json!({}),
    }
}

#[tokio::test]
async fn what_another_workspace_owns_is_not_there_on_any_route() {
    let world = TestWorld::open().await;
    let ours = belongings(&world).await;
    let theirs = world.stranger(Scope::ALL).await;
    let key = world.key_of(&theirs);
    let chosen = ["user_id", "tool_name", "service_name"];
    let (mut by_id, mut lists) = (0, 0);
    for (path, item) in document().paths.paths {
        let Some(_) = path.strip_prefix("/v1/") else {
            continue;
        };
        let mut filled = path.clone();
        let mut owned = false;
        for part in path.split('/').filter(|part| part.starts_with('{')) {
            let name = part.trim_matches(['{', '}']);
            let id = ours.get(name).unwrap_or_else(|| {
                panic!("{path}: say in `belongings` what a {name} of another workspace is")
            });
            owned |= !chosen.contains(&name);
            filled = filled.replace(part, id);
        }
        for (method, there) in [
            ("GET", item.get.is_some()),
            ("POST", item.post.is_some()),
            ("PUT", item.put.is_some()),
            ("PATCH", item.patch.is_some()),
            ("DELETE", item.delete.is_some()),
        ] {
            if !there {
                continue;
            }
            let (status, answer) = ask(&world, &key, method, &filled, &body_of(&path)).await;
            if owned {
                by_id += 1;
                assert_eq!(status, 404, "{method} {path}: {answer}");
            } else if method == "GET" {
                lists += 1;
                let text = answer.to_string();
                let user = format!("\"user_id\":\"{}\"", ours["user_id"]);
                let text = text.replace(&user, "");
                assert!(!text.contains("of-ours"), "{method} {path}: {text}");
                assert!(!text.contains(":\"deny\""), "{method} {path}: {text}");
            }
        }
    }
    assert!(by_id >= 10 && lists >= 10, "{by_id} {lists}");
    // All of it is still there for those who own it.
    let key = world.key(Scope::ALL).await;
    for name in [
        "skill",
        "session",
        "connection",
        "execution",
        "approval",
        "file",
        "trigger",
    ] {
        let path = format!("/v1/{name}s/{}", ours[format!("{name}_id").as_str()]);
        let (status, answer) = ask(&world, &key, "GET", &path, &json!({})).await;
        assert_eq!(status, 200, "{path}: {answer}");
    }
}
