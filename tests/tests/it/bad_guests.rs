//! Guests that misbehave: the call ends with a reason, and the next call to the same plugin works.

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::TestGateway;

/// A plugin whose tool `bad` misbehaves and whose tool `fine` answers. Tools are told apart by the
/// length of their names.
fn plugin(service: &str, fields: &str, bad: &str) -> Fixture {
    Fixture::new(service)
        .with("tools", json!([tool("bad"), tool("fine")]))
        .fields(fields)
        .invoke(&format!(
            "(if (result i32) (i32.eq (local.get $tool_bytes) (i32.const 3)) (then {bad}) (else (call $ok)))"
        ))
}

async fn check(service: &str, fields: &str, bad: &str, reasons: &[&str]) {
    let component = plugin(service, fields, bad).build();
    let gateway = TestGateway::with_plugin(&format!("{service}.wasm"), component).await;
    let answer = gateway.execute(&format!("{service}_bad"), json!({})).await;
    assert_eq!(answer["status"], "error", "{answer}");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reasons.contains(&reason), "{service}: {answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    let next = gateway.execute(&format!("{service}_fine"), json!({})).await;
    assert_eq!(next["status"], "success", "the next call works: {next}");
    let receipt = gateway
        .get(&format!(
            "/v1/executions/{}",
            answer["execution_id"].as_str().unwrap()
        ))
        .await
        .data();
    assert_eq!(receipt["reason"], reason, "the receipt says the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_at_the_processor_limit() {
    check(
        "looper",
        "",
        "(loop $on (br $on)) (unreachable)",
        &["limit_exceeded"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_bomb_ends_at_the_memory_limit() {
    let bomb = "(loop $on
        (if (i32.eq (memory.grow (i32.const 64)) (i32.const -1)) (then (unreachable)))
        (br $on)) (unreachable)";
    check("bomber", "", bomb, &["limit_exceeded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_bomb_ends_at_the_table_limit() {
    let bomb = "(loop $on
        (if (i32.eq (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1)) (then (unreachable)))
        (br $on)) (unreachable)";
    check("tabler", "(table $t 1 funcref)", bomb, &["limit_exceeded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_recursion_crashes_the_call_alone() {
    let dive =
        "(func $dive (param i32) (result i32) (i32.add (i32.const 1) (call $dive (local.get 0))))";
    check(
        "diver",
        dive,
        "(call $dive (i32.const 1))",
        &["plugin_crashed"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_crashes_the_call_alone() {
    check("panicker", "", "(unreachable)", &["plugin_crashed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_over_8_mib_is_refused() {
    let huge = "(drop (memory.grow (i32.const 160)))
        (memory.fill (i32.const 131072) (i32.const 49) (i32.const 8388609))
        (call $answer (i32.const 131072) (i32.const 8388609))";
    check("talker", "", huge, &["limit_exceeded", "plugin_crashed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_no_json_is_refused() {
    check(
        "mumbler",
        "",
        "(call $answer (i32.const 256) (i32.const 5))",
        &["plugin_crashed"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_log_line_is_cut_or_refused_and_never_kept_whole() {
    let import =
        r#"(import "toolgate:plugin/call@0.1.0" "log" (func $log (param i32 i32 i32 i32 i32)))"#;
    let log = "(drop (memory.grow (i32.const 320)))
        (memory.fill (i32.const 131072) (i32.const 49) (i32.const 16777216))
        (call $log (i32.const 1) (i32.const 131072) (i32.const 16777216) (i32.const 224) (i32.const 2))
        (call $ok)";
    check("logger", import, log, &["limit_exceeded", "plugin_crashed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_log_lines_ends_quietly() {
    let import =
        r#"(import "toolgate:plugin/call@0.1.0" "log" (func $log (param i32 i32 i32 i32 i32)))"#;
    let flood = "(local.set $session (i32.const 100000))
        (loop $on
            (call $log (i32.const 0) (i32.const 224) (i32.const 2) (i32.const 224) (i32.const 2))
            (local.set $session (i32.sub (local.get $session) (i32.const 1)))
            (br_if $on (local.get $session)))
        (call $ok)";
    let component = plugin("flooder", import, flood).build();
    let gateway = TestGateway::with_plugin("flooder.wasm", component).await;
    assert_eq!(
        gateway.execute("flooder_bad", json!({})).await["status"],
        "success"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crashing_plugin_does_not_disturb_its_neighbours() {
    let bad = plugin("crasher", "", "(unreachable)").build();
    let gateway = TestGateway::with_plugin("crasher.wasm", bad).await;
    gateway.drop_file("calm.wasm", &Fixture::new("calm").build());
    gateway.wait_for_file("calm.wasm", "active").await;
    let calls: Vec<_> = (0..40)
        .map(|n| {
            let tool = if n % 2 == 0 {
                "crasher_bad"
            } else {
                "calm_run"
            };
            gateway.execute(tool, json!({}))
        })
        .collect();
    let mut statuses: Vec<Value> = Vec::new();
    for call in calls {
        statuses.push(call.await["status"].clone());
    }
    for (n, status) in statuses.iter().enumerate() {
        assert_eq!(*status, if n % 2 == 0 { "error" } else { "success" });
    }
}
