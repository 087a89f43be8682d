//! Bodies that a workspace keeps: sealed, for its admins alone, and gone with the receipt.

use reqwest::Method;
use serde_json::json;
use toolgate_gateway::jobs::rotation;
use toolgate_gateway::{Caller, Scope};
use toolgate_store::SettingsChange;
use toolgate_tests::bytes;
use toolgate_tests::gateway::{TestGateway, new_key, new_tenant};
use toolgate_tests::upstream::Upstream;
use toolgate_vault::Vault;

use super::spy::{self, TOKEN};

const SAID: &str = "the body of a letter to nobody";
const ANSWERED: &str = "what the provider thinks of it";

/// A plugin that writes with a body, and a provider that says the credential back.
async fn start() -> TestGateway {
    let upstream = Upstream::start(|request| {
        let said = spy::credential(request).unwrap_or_default();
        let answer = json!({ "answer": ANSWERED, "said": said, "body": request.body });
        spy::answers("application/json", answer.to_string())
    })
    .await;
    let description = spy::description(
        &spy::bearer(),
        json!({ "/letters": { "post": {
            "operationId": "send_letter", "summary": "Sends", "description": "Sends a letter.",
            "requestBody": { "content": { "application/json": { "schema": {
                "type": "object", "properties": { "text": { "type": "string", "description": "Text." } } } } } },
            "responses": { "200": { "description": "Done.", "content": { "application/json": {} } } },
        } } }),
    );
    let gateway = spy::gateway(&description, &upstream).await;
    spy::connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    gateway
}

async fn keep(gateway: &TestGateway, keep_payloads: bool) {
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let change = SettingsChange {
        keep_payloads: Some(keep_payloads),
        ..SettingsChange::default()
    };
    let now_ms = gateway.gateway.clock().now_ms();
    let changed = store.change_workspace(&workspace.id, None, &change, now_ms);
    assert!(changed.await.unwrap().is_some());
}

async fn ran(gateway: &TestGateway, text: &str) -> String {
    let ran = spy::run(gateway, "spy_send_letter", "ada", json!({ "text": text })).await;
    assert_eq!(ran["status"], "success", "{ran}");
    ran["execution_id"].as_str().unwrap().to_owned()
}

fn path(execution: &str) -> String {
    format!("/v1/executions/{execution}/payloads")
}

/// Defence: `host/gateway/src/executions/payloads.rs` needs `admin`, and writes the reading down before it answers.
#[tokio::test(flavor = "multi_thread")]
async fn kept_bodies_are_for_admins_of_the_workspace_and_every_reading_is_audited() {
    let gateway = start().await;
    let before = ran(&gateway, SAID).await;
    keep(&gateway, true).await;
    let during = ran(&gateway, SAID).await;
    keep(&gateway, false).await;
    let after = ran(&gateway, SAID).await;
    for (execution, kept) in [(&before, 0), (&during, 2), (&after, 0)] {
        let answer = gateway.get(&path(execution)).await.data();
        let payloads = answer["payloads"].as_array().unwrap();
        assert_eq!(payloads.len(), kept, "{answer}");
    }

    let told = gateway.get(&path(&during)).await;
    spy::assert_hidden(&told.text, TOKEN);
    let payloads = told.data()["payloads"].clone();
    for (payload, side, content) in [
        (&payloads[0], "request", SAID),
        (&payloads[1], "answer", ANSWERED),
    ] {
        assert_eq!(payload["side"], side);
        assert_eq!(payload["number"], 1);
        assert_eq!(payload["origin"], "https://api.spy.io");
        assert_eq!(payload["media_type"], "application/json");
        assert_eq!(
            (&payload["truncated"], &payload["encoding"]),
            (&json!(false), &json!("text"))
        );
        assert!(
            payload["content"].as_str().unwrap().contains(content),
            "{payload}"
        );
    }
    let receipt = gateway.get(&format!("/v1/executions/{during}")).await;
    assert!(!receipt.text.contains(SAID), "the receipt is as it was");

    // Whoever may do everything else reads none of it.
    let most: Vec<Scope> = Scope::ALL
        .iter()
        .copied()
        .filter(|scope| *scope != Scope::Admin)
        .collect();
    let most = new_key(&gateway.gateway, "most", &most).await.unwrap();
    let refused = gateway
        .send(Method::GET, &path(&during), Some(&most), None)
        .await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "scope_denied"),
        "a key without `admin`"
    );
    let (stranger, _) = new_tenant(&gateway.gateway, "other").await.unwrap();
    let refused = gateway
        .send(Method::GET, &path(&during), Some(&stranger), None)
        .await;
    assert_eq!(refused.code(), "not_found", "another workspace's admin");

    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let audit = store
        .list_audit_entries(&workspace.id, None, 100)
        .await
        .unwrap();
    let read: Vec<_> = audit
        .items
        .iter()
        .filter(|entry| entry.action == "executions.read_payloads")
        .collect();
    let of = |execution: &str| read.iter().filter(|one| one.subject == execution).count();
    assert_eq!((of(&before), of(&during), of(&after)), (1, 2, 1));
    assert!(read.iter().all(|entry| entry.actor.starts_with("key:")));
}

/// Defence: bodies are sealed, bound to their row (`host/vault/src/sealed.rs`), and go with their receipt.
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_body_is_in_no_file_and_goes_with_its_receipt() {
    let gateway = start().await;
    keep(&gateway, true).await;
    let (one, other) = (ran(&gateway, SAID).await, ran(&gateway, "another").await);
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let rows = store.list_payloads(&workspace.id, &one).await.unwrap();
    assert_eq!(rows.len(), 2);
    for entry in std::fs::read_dir(&gateway.config.gateway.data_dir).unwrap() {
        let path = entry.unwrap().path();
        let kept = match path.is_file() {
            true => std::fs::read(&path).unwrap(),
            false => continue,
        };
        for hidden in [SAID, ANSWERED, TOKEN] {
            assert!(
                !bytes::contains(&kept, hidden),
                "{hidden} stands in {}",
                path.display()
            );
        }
    }

    // Copied to the row of another execution it does not open.
    let foreign = store.list_payloads(&workspace.id, &other).await.unwrap();
    let old = toolgate_store::SealedBox {
        kind: "payload".to_owned(),
        workspace_id: workspace.id.clone(),
        user_id: String::new(),
        service: String::new(),
        id: foreign[0].id.clone(),
        sealed: foreign[0].sealed.clone(),
    };
    assert!(store.reseal(&old, &rows[0].sealed).await.unwrap());
    assert_eq!(gateway.get(&path(&other)).await.status, 500);
    assert_eq!(gateway.get(&path(&one)).await.status, 200);
    let moved = toolgate_store::SealedBox {
        sealed: rows[0].sealed.clone(),
        ..old.clone()
    };
    assert!(store.reseal(&moved, &old.sealed).await.unwrap());

    // Another master key: the boxes are moved under it, and still open.
    let vault = Vault::open(&gateway.config.gateway.master_key_file).unwrap();
    let rotated = rotation::rotate(store, &vault, &Caller::operator(&workspace), 1)
        .await
        .unwrap();
    assert_eq!(rotated.boxes, 5, "the connection and four bodies");
    for row in store.list_payloads(&workspace.id, &one).await.unwrap() {
        assert!(row.sealed.contains(&rotated.key_id), "{}", row.id);
    }
    assert_eq!(gateway.get(&path(&one)).await.status, 200);

    let gone = store
        .prune_executions(&workspace.id, i64::MAX, 100)
        .await
        .unwrap();
    assert_eq!(gone, 2);
    for execution in [&one, &other] {
        assert!(
            store
                .list_payloads(&workspace.id, execution)
                .await
                .unwrap()
                .is_empty()
        );
        assert_eq!(gateway.get(&path(execution)).await.code(), "not_found");
    }
}

/// Defence: `host/egress/src/payload.rs` bounds a body and all bodies of a call.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_large_body_the_beginning_is_kept() {
    let gateway = start().await;
    keep(&gateway, true).await;
    let execution = ran(&gateway, &"x".repeat(200_000)).await;
    let told = gateway.get(&path(&execution)).await.data();
    for payload in told["payloads"].as_array().unwrap() {
        assert_eq!(payload["truncated"], true);
        assert_eq!(payload["content"].as_str().unwrap().len(), 64 << 10);
        assert!(payload["bytes_total"].as_u64().unwrap() > 200_000);
    }
    assert_eq!(told["payloads"].as_array().map(Vec::len), Some(2), "{told}");
}
