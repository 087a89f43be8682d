//! Steps that share state: a plugin that remembers, over REST.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::TestGateway;

/// Answers `{"step":1}` and keeps a value, and answers that value from then on.
fn remembering() -> Vec<u8> {
    Fixture::new("memory")
        .with("capabilities", json!(["kv"]))
        .fields(
            r#"(import "toolgate:plugin/kv@0.1.0" "get" (func $get (param i32 i32 i32)))
            (import "toolgate:plugin/kv@0.1.0" "set"
                (func $set (param i32 i32 i32 i32 i32 i32 i32 i64 i32)))
            (data (i32.const 61000) "step")
            (data (i32.const 61008) "{\"step\":2}")
            (data (i32.const 61024) "{\"step\":1}")"#,
        )
        .invoke(
            r#"(call $get (i32.const 61000) (i32.const 4) (i32.const 60000))
            (if (result i32) (i32.load8_u (i32.const 60008))
                (then (call $answer (i32.load (i32.const 60016)) (i32.load (i32.const 60020))))
                (else
                    (call $set (i32.const 61000) (i32.const 4) (i32.const 61008) (i32.const 10)
                        (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 60000))
                    (if (i32.load8_u (i32.const 60000)) (then (unreachable)))
                    (call $answer (i32.const 61024) (i32.const 10))))"#,
        )
        .build()
}

async fn step(gateway: &TestGateway, session_id: Option<&str>) -> Value {
    let body = json!({"arguments": {}, "session_id": session_id});
    let answer = gateway.post("/v1/tools/memory_run/execute", &body).await;
    answer.data()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_step_of_a_session_sees_what_the_first_one_kept() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering()).await;
    let first = step(&gateway, None).await;
    assert_eq!(first["result"], json!({"step": 1}), "{first}");
    let session = first["session_id"].as_str().unwrap().to_owned();
    assert!(session.starts_with("tool_") && session.len() == 37);
    let second = step(&gateway, Some(&session)).await;
    assert_eq!(second["result"], json!({"step": 2}));
    let elsewhere = step(&gateway, None).await;
    assert_eq!(elsewhere["result"], json!({"step": 1}));

    let path = format!("/v1/sessions/{session}");
    let read = gateway.get(&path).await.data();
    assert_eq!(read["user_id"], "default");
    let gone = gateway.send(Method::DELETE, &path, Some(&gateway.key), None);
    assert_eq!(
        gone.await.data(),
        json!({"session_id": session, "deleted": true})
    );
    assert_eq!(gateway.get(&path).await.code(), "session_not_found");
    let anew = step(&gateway, Some(&session)).await;
    assert_eq!(anew["result"], json!({"step": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_created_session_carries_state_and_an_unknown_one_is_refused() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering()).await;
    let made = gateway
        .post("/v1/sessions", &json!({"prompt": "Two steps"}))
        .await;
    assert_eq!(made.status, 201);
    let id = made.data()["session_id"].as_str().unwrap().to_owned();
    assert_eq!(
        step(&gateway, Some(&id)).await["result"],
        json!({"step": 1})
    );
    assert_eq!(
        step(&gateway, Some(&id)).await["result"],
        json!({"step": 2})
    );
    let listed = gateway.get("/v1/sessions").await.data();
    assert_eq!(listed["sessions"][0]["session_id"], json!(id));

    let unknown = format!("ses_{}", "0".repeat(32));
    let body = json!({"arguments": {}, "session_id": unknown});
    let refused = gateway.post("/v1/tools/memory_run/execute", &body).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (404, "session_not_found")
    );
}
