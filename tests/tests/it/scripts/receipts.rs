//! A run has a receipt, and so has each of its calls.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolgate_tests::gateway::TestGateway;

use super::{Shop, run_with};

async fn receipt(gateway: &TestGateway, id: &Value) -> Value {
    let id = id.as_str().unwrap_or_else(|| panic!("no id: {id}"));
    gateway.get(&format!("/v1/executions/{id}")).await.data()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_has_a_receipt_that_names_the_run() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = "const listed = await shop.listItems({});\n\
        await shop.createNote({ text: String(listed.items.length) });\n\
        await shop.getItem({ id: 'missing' }).catch(() => null);\nexport default 'kept';";
    let body = json!({"script": script});
    let ran = run_with(&gateway, body).await;
    assert_eq!(super::result_of(&ran), "kept");

    let parent = receipt(&gateway, &ran["execution_id"]).await;
    assert_eq!(parent["status"], "success", "{parent}");
    assert_eq!(parent["parent_execution_id"], Value::Null, "{parent}");
    let sha256 = hex::encode(Sha256::digest(script.as_bytes()));
    assert_eq!(parent["plugin"]["sha256"], json!(sha256), "{parent}");
    assert_eq!(parent["tool_name"], "run_script", "{parent}");
    let calls = ran["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 3, "{ran}");
    for (call, (tool, status, request)) in calls.iter().zip([
        ("shop_list_items", "success", ("GET", "/items")),
        ("shop_create_note", "success", ("POST", "/notes")),
        ("shop_get_item", "error", ("GET", "/items/missing")),
    ]) {
        let one = receipt(&gateway, &call["execution_id"]).await;
        assert_eq!(
            (&one["tool_name"], &one["status"]),
            (&json!(tool), &json!(status)),
            "{one}"
        );
        assert_eq!(one["parent_execution_id"], ran["execution_id"], "{one}");
        let left = &one["requests"][0];
        assert_eq!(
            (&left["method"], &left["path"]),
            (&json!(request.0), &json!(request.1)),
            "{one}"
        );
    }
    // A call that no script made has no parent.
    let single = gateway.execute("shop_list_items", json!({})).await;
    let single = receipt(&gateway, &single["execution_id"]).await;
    assert_eq!(single["parent_execution_id"], Value::Null, "{single}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_fails_has_a_receipt_that_says_so() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let script = "await shop.listItems({});\nthrow new RangeError('too many');";
    let ran = run_with(&gateway, json!({"script": script})).await;
    assert_eq!(ran["status"], "failed", "{ran}");
    assert_eq!(
        (
            &ran["error"]["name"],
            &ran["error"]["message"],
            &ran["error"]["line"]
        ),
        (&json!("RangeError"), &json!("too many"), &json!(2)),
        "{ran}"
    );
    let parent = receipt(&gateway, &ran["execution_id"]).await;
    assert_eq!(parent["status"], "error", "{parent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_with_an_idempotency_key_is_done_once() {
    let shop = Shop::start().await;
    let gateway = shop.gateway().await;
    let body = json!({"script": "export default await shop.createNote({ text: 'once' });"});
    let mut ids = Vec::new();
    for _ in 0..2 {
        let request = gateway
            .client
            .post(gateway.url(super::RUN))
            .bearer_auth(&gateway.key)
            .header("content-type", "application/json")
            .header("idempotency-key", "the-run")
            .body(body.to_string());
        let answer = toolgate_tests::gateway::Answer::read(request.send().await.unwrap()).await;
        let ran = answer.data();
        assert_eq!(super::result_of(&ran), &json!({"id": 1}));
        ids.push(ran["run_id"].clone());
    }
    assert_eq!(ids[0], ids[1]);
    assert_eq!(shop.written(), super::counts([("once", 1)]));
}
