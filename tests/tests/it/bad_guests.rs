//! Guests that misbehave: the call ends with a reason, and the next call to the same plugin works.

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::Upstream;

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
    check("talker", "", huge, &["limit_exceeded"]).await;
    // Far beyond it too, where the runtime stops copying.
    let vast = huge.replace("8388609", "25165824").replace("160", "400");
    check("orator", "", &vast, &["limit_exceeded"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_nested_too_deep_for_its_readers_is_refused() {
    let nested = |levels: usize| {
        format!(
            "(memory.fill (i32.const 65536) (i32.const 91) (i32.const {levels}))
            (memory.fill (i32.const {}) (i32.const 93) (i32.const {levels}))
            (call $answer (i32.const 65536) (i32.const {}))",
            65536 + levels,
            levels * 2,
        )
    };
    check("digger", "", &nested(200), &["provider_error"]).await;
    let component = plugin("nester", "", &nested(100)).build();
    let gateway = TestGateway::with_plugin("nester.wasm", component).await;
    let answer = gateway.execute("nester_bad", json!({})).await;
    assert_eq!(answer["status"], "success", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_other_parsers_refuse_is_refused() {
    // A number beyond every number, and half of a pair of escapes.
    for (service, text) in [("counter", "1e999"), ("halver", r"\22\5cud800\22")] {
        let bytes = if service == "counter" { 5 } else { 8 };
        let field = format!(r#"(data (i32.const 232) "{text}")"#);
        let code = format!("(call $answer (i32.const 232) (i32.const {bytes}))");
        check(service, &field, &code, &["provider_error"]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_over_its_bound_is_refused() {
    let cursor = |bytes: usize| {
        format!(
            "(drop (memory.grow (i32.const 4)))
            (memory.fill (i32.const 65536) (i32.const 97) (i32.const {bytes}))
            (drop (call $ok))
            (i32.store (i32.const 88) (i32.const 1))
            (i32.store (i32.const 92) (i32.const 65536))
            (i32.store (i32.const 96) (i32.const {bytes}))
            (i32.const 64)"
        )
    };
    check("pager", "", &cursor(65537), &["limit_exceeded"]).await;
    let component = plugin("turner", "", &cursor(65536)).build();
    let gateway = TestGateway::with_plugin("turner.wasm", component).await;
    let answer = gateway.execute("turner_bad", json!({})).await;
    assert_eq!(answer["status"], "success", "{}", answer["error"]);
    let length = answer["next_cursor"].as_str().map(str::len);
    assert_eq!(length, Some(65536), "whole");
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
    check("logger", import, log, &["limit_exceeded"]).await;
}

const BLOBS: &str = r#"(import "toolgate:plugin/blobs@0.1.0" "create"
        (func $create (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "toolgate:plugin/blobs@0.1.0" "[resource-drop]blob" (func $drop (param i32)))"#;

/// A plugin whose tool `bad` makes blobs, with `a` from 131072 on.
fn clerk(service: &str, bad: &str) -> Fixture {
    let bad = format!(
        "(drop (memory.grow (i32.const 8)))
        (memory.fill (i32.const 131072) (i32.const 97) (i32.const 131072)) {bad}"
    );
    plugin(service, BLOBS, &bad).with("capabilities", json!(["blobs"]))
}

/// Makes one blob: bytes of its media type, of its name and of its content.
fn create(media_type: usize, name: usize, content: usize) -> String {
    format!(
        "(call $create (i32.const 131072) (i32.const {media_type})
            (i32.const 1) (i32.const 131072) (i32.const {name})
            (i32.const 131072) (i32.const {content}) (i32.const 16))"
    )
}

/// Repeats code.
fn times(count: usize, code: &str) -> String {
    format!(
        "(local.set $session (i32.const {count}))
        (loop $on {code}
            (local.set $session (i32.sub (local.get $session) (i32.const 1)))
            (br_if $on (local.get $session)))"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_about_a_file_are_bounded() {
    for (n, (media_type, name, fits)) in [
        (1024, 1024, true),
        (1025, 1, false),
        (1, 1025, false),
        (131_072, 131_072, false),
    ]
    .into_iter()
    .enumerate()
    {
        let service = format!("clerk{n}");
        let made = create(media_type, name, 1);
        // The guest is told of a refusal and crashes here if it is told the other thing.
        let code = format!(
            "{made} (if (i32.ne (i32.load8_u (i32.const 16)) (i32.const {})) (then (unreachable))) (call $ok)",
            i32::from(!fits)
        );
        let component = clerk(&service, &code).build();
        let gateway = TestGateway::with_plugin(&format!("{service}.wasm"), component).await;
        let answer = gateway.execute(&format!("{service}_bad"), json!({})).await;
        assert_eq!(answer["status"], "success", "{media_type} {name}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_about_a_file_count_like_its_content() {
    // 253 contents are below 32 MiB; with what is said about each they are above.
    let held = times(253, &create(1024, 1024, 131_072));
    let component = clerk("holder", &format!("{held} (call $ok)")).build();
    let gateway = TestGateway::with_plugin("holder.wasm", component).await;
    let answer = gateway.execute("holder_bad", json!({})).await;
    assert_eq!(answer["reason"], "limit_exceeded", "{answer}");

    // What is given back counts no longer.
    let dropped = times(
        40_000,
        &format!(
            "{} (call $drop (i32.load (i32.const 24)))",
            create(1024, 1024, 1)
        ),
    );
    let component = clerk("giver", &format!("{dropped} (call $ok)")).build();
    let gateway = TestGateway::with_plugin("giver.wasm", component).await;
    let answer = gateway.execute("giver_bad", json!({})).await;
    assert_eq!(answer["status"], "success", "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_out_ends_where_the_guest_cannot_hold_the_answers() {
    // 40 requests of 76 bytes each from 131072 on, all for the same address.
    let url = "https://big.example.com/";
    let import = format!(
        r#"(import "toolgate:plugin/egress@0.1.0" "send-all" (func $send_all (param i32 i32 i32)))
        (data (i32.const 16) "{url}")"#
    );
    let code = format!(
        "(drop (memory.grow (i32.const 8)))
        (local.set $cursor (i32.const 131072))
        {}
        (call $send_all (i32.const 131072) (i32.const 40) (i32.const 200)) (call $ok)",
        times(
            40,
            &format!(
                "(i32.store (i32.add (local.get $cursor) (i32.const 4)) (i32.const 16))
                (i32.store (i32.add (local.get $cursor) (i32.const 8)) (i32.const {}))
                (local.set $cursor (i32.add (local.get $cursor) (i32.const 76)))",
                url.len()
            )
        )
    );
    let component = plugin("fanner", &import, &code)
        .with("capabilities", json!(["egress"]))
        .with("hosts", json!(["big.example.com"]))
        .build();
    let upstream = Upstream::start(|_| axum::http::Response::new(vec![b'a'; 8 << 20].into())).await;
    let gateway = TestGateway::start(Options {
        plugins: vec![("fanner.wasm".to_owned(), component)],
        allow_upstream: vec![format!("big.example.com={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let answer = gateway.execute("fanner_bad", json!({})).await;
    assert_eq!(answer["reason"], "limit_exceeded", "{answer}");
    // Nine answers of 8 MiB are beyond the guest's 64, and seven more may be under way.
    let asked = upstream.received().len();
    assert!((9..=16).contains(&asked), "{asked} requests");
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
