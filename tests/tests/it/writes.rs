//! What a write leaves behind when something goes wrong around it: its receipt, and honest advice.

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, Options, TestGateway, client};
use toolgate_tests::upstream::Upstream;

use crate::crash::plugin;
use crate::receipts::sql;

/// The gateway with the plugin `notes`, whose provider answers `status` and `body`.
async fn start(status: u16, body: String) -> (TestGateway, Upstream) {
    let upstream = Upstream::start(move |_| {
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(body.clone()))
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("notes.wasm".to_owned(), plugin(folder.path()).await)],
        allow_upstream: vec![format!("api.notes.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    gateway.wait_for_file("notes.wasm", "active").await;
    (gateway, upstream)
}

async fn with_key(gateway: &TestGateway, tool: &str, body: &Value) -> Answer {
    let request = client()
        .post(gateway.url(&format!("/v1/tools/{tool}/execute")))
        .bearer_auth(&gateway.key)
        .header("content-type", "application/json")
        .header("idempotency-key", "once")
        .body(body.to_string());
    Answer::read(request.send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_result_cannot_be_kept_has_its_receipt_and_is_not_sent_again() {
    let (gateway, upstream) = start(200, json!({ "text": "a".repeat(4_000) }).to_string()).await;
    sql(&gateway, "ALTER TABLE results RENAME TO results_away").await;
    let call = json!({ "arguments": {}, "max_result_bytes": 256 });

    let failed = gateway
        .post("/v1/tools/notes_create_note/execute", &call)
        .await;
    assert_eq!((failed.status, &*failed.code()), (409, "outcome_unknown"));
    let failed = with_key(&gateway, "notes_create_note", &call).await;
    assert_eq!((failed.status, &*failed.code()), (409, "outcome_unknown"));
    let unknown = with_key(&gateway, "notes_create_note", &call).await;
    assert_eq!(
        (unknown.status, &*unknown.code()),
        (409, "outcome_unknown"),
        "{}",
        unknown.text
    );
    let receipt = &unknown.json()["error"]["details"]["receipt"];
    assert_eq!(receipt["status"], "success");
    assert_eq!(receipt["requests"][0]["status"], 200);
    assert_eq!(upstream.received().len(), 2, "one for each call that ran");

    let receipts = gateway.get("/v1/executions").await.data();
    let receipts = receipts["executions"].as_array().unwrap().clone();
    assert_eq!(receipts.len(), 2);
    assert!(
        receipts.iter().all(|one| one["status"] == "success"),
        "{receipts:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_without_a_clear_answer_is_not_offered_for_a_retry() {
    for (status, repeatable) in [(504, false), (502, false), (503, true), (429, true)] {
        let (gateway, upstream) = start(status, "{}".to_owned()).await;
        let ran = gateway.execute("notes_create_note", json!({})).await;
        assert_eq!(ran["status"], "error", "{ran}");
        assert_eq!(ran["error"]["can_retry"], repeatable, "{status}: {ran}");
        if !repeatable {
            let advice = ran["error"]["suggested_fix"].as_str().unwrap();
            assert!(advice.contains("look first"), "{advice}");
        }
        for tool in ["notes_replace_board", "notes_list_notes"] {
            let ran = gateway.execute(tool, json!({})).await;
            assert_eq!(ran["error"]["can_retry"], true, "{status} {tool}: {ran}");
        }
        let writes = upstream.received();
        let writes = writes.iter().filter(|one| one.method == "POST");
        assert!(writes.count() >= 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_and_a_counted_call_survive_a_gateway_that_cannot_run_them() {
    let (gateway, upstream) = start(200, "{}".to_owned()).await;
    let path = "/v1/permissions/users/default/tools/notes_create_note";
    let rule = json!({ "permission": "ask" }).to_string();
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    let rule = json!({ "permission": "allow", "max_calls": 1 }).to_string();
    let path = "/v1/permissions/users/default/tools/notes_replace_board";
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    let asked = gateway.execute("notes_create_note", json!({})).await;
    let approved = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(approved.status, 200, "{}", approved.text);

    // No receipt can be written, so nothing may leave.
    sql(&gateway, "ALTER TABLE executions RENAME TO executions_away").await;
    gateway.execute("notes_list_notes", json!({})).await;
    let call = json!({ "arguments": {} });
    let refused = async |tool: &str| {
        let path = format!("/v1/tools/{tool}/execute");
        gateway.post(&path, &call).await.status == 503
    };
    gateway
        .wait("calls to be refused", async || {
            refused("notes_list_notes").await
        })
        .await;
    for tool in ["notes_create_note", "notes_replace_board"] {
        assert!(refused(tool).await, "{tool}");
    }
    let id = asked["approval_id"].as_str().unwrap();
    let approval = gateway.get(&format!("/v1/approvals/{id}")).await.data();
    assert_eq!(approval["status"], "approved");

    sql(&gateway, "ALTER TABLE executions_away RENAME TO executions").await;
    gateway
        .wait("calls to run again", async || {
            !refused("notes_list_notes").await
        })
        .await;
    for tool in ["notes_create_note", "notes_replace_board"] {
        let ran = gateway.execute(tool, json!({})).await;
        assert_eq!(ran["status"], "success", "{ran}");
    }
    let sent = upstream.received();
    let writes = sent.iter().filter(|one| one.method != "GET");
    assert_eq!(writes.count(), 2);
}
