//! The memory of all plugins together: a workspace that takes much of it leaves some to the next one, a call that finds
//! none waits and is refused, and what a call has had is given back however it ends.

use reqwest::Method;
use serde_json::json;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_tenant};
use toolgate_tests::holding::Holding;

const URL: &str = "https://hold.example.com/";

/// Tools are told apart by the length of their names: `held` takes 60 MiB and waits for its provider, `burst` takes
/// 60 MiB and traps, `run` takes 20 MiB and answers.
fn hoarder() -> Vec<u8> {
    let held = format!(
        "(drop (memory.grow (i32.const 960)))
        (memory.fill (i32.const 65536) (i32.const 0) (i32.const 76))
        (i32.store (i32.const 65540) (i32.const 128))
        (i32.store (i32.const 65544) (i32.const {}))
        (call $send (i32.const 65536) (i32.const 65640))
        (call $ok)",
        URL.len()
    );
    let burst = "(drop (memory.grow (i32.const 960))) (unreachable)";
    let run = "(drop (memory.grow (i32.const 320))) (call $ok)";
    Fixture::new("hoarder")
        .with("tools", json!([tool("held"), tool("burst"), tool("run")]))
        .with("hosts", json!(["hold.example.com"]))
        .with("capabilities", json!(["egress"]))
        .fields(&format!(
            r#"(import "toolgate:plugin/egress@0.1.0" "send" (func $send (param i32 i32)))
            (data (i32.const 128) "{URL}")"#
        ))
        .invoke(&format!(
            "(if (result i32) (i32.eq (local.get $tool_bytes) (i32.const 4))
                (then {held})
                (else (if (result i32) (i32.eq (local.get $tool_bytes) (i32.const 5))
                    (then {burst})
                    (else {run}))))"
        ))
        .build()
}

async fn call(gateway: &TestGateway, key: &str, tool: &str) -> Answer {
    let path = format!("/v1/tools/hoarder_{tool}/execute");
    let body = json!({ "arguments": {} }).to_string();
    gateway
        .send(Method::POST, &path, Some(key), Some(body))
        .await
}

/// The value of a metric without labels.
fn metric(gateway: &TestGateway, name: &str) -> u64 {
    let text = gateway.gateway.metrics().render();
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in\n{text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn plugins_of_all_workspaces_share_one_budget_of_memory() {
    let holding = Holding::start().await;
    let gateway = TestGateway::start(Options {
        plugins: vec![("hoarder.wasm".to_owned(), hoarder())],
        allow_upstream: vec![format!("hold.example.com=http://{}", holding.address)],
        guest_memory: Some(128),
        ..Options::default()
    })
    .await;
    let (tenant, _) = new_tenant(&gateway.gateway, "second").await.unwrap();
    assert_eq!(
        metric(&gateway, "toolgate_guest_memory_max_bytes "),
        128 << 20
    );
    let first = call(&gateway, &gateway.key, "held");
    let beside = async {
        let arrived = holding.arrived.acquire().await;
        arrived.expect("the server runs").forget();
        let used = metric(&gateway, "toolgate_guest_memory_bytes ");
        assert!(((60 << 20)..(62 << 20)).contains(&used), "{used}");
        let refused = call(&gateway, &gateway.key, "held").await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (503, "overloaded"),
            "{}",
            refused.text
        );
        assert_eq!(refused.headers["retry-after"], "1");
        let other = call(&gateway, &tenant, "run").await.data();
        assert_eq!(other["status"], "success", "{other}");
        holding.open.notify_waiters();
    };
    let (first, ()) = tokio::join!(first, beside);
    let first = first.data();
    assert_eq!(first["status"], "success", "{first}");
    assert_eq!(
        holding.arrived.available_permits(),
        0,
        "the refused call sent nothing"
    );
    assert_eq!(metric(&gateway, "toolgate_guest_memory_refused_total "), 1);
    assert_eq!(
        metric(&gateway, "toolgate_guest_memory_bytes "),
        0,
        "given back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_crashes_gives_its_memory_back() {
    let gateway = TestGateway::start(Options {
        plugins: vec![("hoarder.wasm".to_owned(), hoarder())],
        guest_memory: Some(128),
        ..Options::default()
    })
    .await;
    // Two of them would not fit side by side.
    for round in 0..3 {
        let answer = call(&gateway, &gateway.key, "burst").await.data();
        assert_eq!(answer["reason"], "plugin_crashed", "{round}: {answer}");
    }
    assert_eq!(metric(&gateway, "toolgate_guest_memory_bytes "), 0);
    assert_eq!(metric(&gateway, "toolgate_guest_memory_refused_total "), 0);
}
