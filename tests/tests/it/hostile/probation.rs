//! Tenants and providers that want an upgrade undone.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{TestGateway, new_tenant};

/// Of the plugin's first fifty calls.
const CALLS: usize = 45;

fn version(version: &str) -> Fixture {
    Fixture::new("moody").with("version", json!(version))
}

async fn run(gateway: &TestGateway, key: &str) -> Value {
    let body = json!({ "arguments": {} }).to_string();
    let path = "/v1/tools/moody_run/execute";
    let answer = gateway.send(Method::POST, path, Some(key), Some(body));
    answer.await.data()
}

async fn serving(gateway: &TestGateway) -> String {
    let row = gateway.gateway.store().find_plugin("moody").await.unwrap();
    row.unwrap().active_version.unwrap()
}

/// Puts a version into service after 1.0.0.
async fn upgraded(upgrade: &Fixture) -> TestGateway {
    let gateway = TestGateway::with_plugin("moody.wasm", version("1.0.0").build()).await;
    gateway.drop_file("moody.wasm", &upgrade.build());
    let tools = async || {
        let list = gateway.get("/v1/tools/list?service=moody").await.data();
        list["tools"][0]["version"] == "1.1.0"
    };
    gateway.wait("the upgrade to serve", tools).await;
    gateway
}

/// Defence: `host/gateway/src/plugins/probation.rs` counts crashes by workspace.
#[tokio::test(flavor = "multi_thread")]
async fn two_tenants_cannot_undo_an_upgrade_and_three_that_it_fails_can() {
    let gateway = upgraded(&version("1.1.0").invoke("(unreachable)")).await;
    let tenants = [
        new_tenant(&gateway.gateway, "mallory").await.unwrap().0,
        new_tenant(&gateway.gateway, "eve").await.unwrap().0,
        new_tenant(&gateway.gateway, "bob").await.unwrap().0,
    ];
    for n in 0..CALLS {
        let ran = run(&gateway, &tenants[n % 2]).await;
        assert_eq!(ran["reason"], "plugin_crashed", "call {n}: {ran}");
    }
    assert_eq!(serving(&gateway).await, "1.1.0");
    let ran = run(&gateway, &tenants[2]).await;
    assert_eq!(ran["reason"], "plugin_crashed");
    let back = async || run(&gateway, &tenants[2]).await["status"] == "success";
    gateway.wait("the version before", back).await;
}

/// Defence: only traps that no bound made count (`host/runtime/src/invoke.rs`); what a provider nests too deep
/// is the provider's error (`host/runtime/src/returned.rs`).
#[tokio::test(flavor = "multi_thread")]
async fn used_up_bounds_and_deep_answers_undo_no_upgrade() {
    let deep = "(memory.fill (i32.const 65536) (i32.const 91) (i32.const 200))
        (memory.fill (i32.const 65736) (i32.const 93) (i32.const 200))
        (call $answer (i32.const 65536) (i32.const 400))";
    let dive =
        "(func $dive (param i32) (result i32) (i32.add (i32.const 1) (call $dive (local.get 0))))";
    let overflows = version("1.1.0")
        .fields(dive)
        .invoke("(call $dive (i32.const 1))");
    for (upgrade, reason) in [
        (version("1.1.0").invoke(deep), "provider_error"),
        (overflows, "plugin_crashed"),
    ] {
        let gateway = upgraded(&upgrade).await;
        let key = gateway.key.clone();
        for n in 0..10 {
            let ran = run(&gateway, &key).await;
            assert_eq!(ran["reason"], reason, "call {n}: {ran}");
        }
        assert_eq!(serving(&gateway).await, "1.1.0");
    }
}

/// Defence: `host/gateway/src/plugins/probation.rs` compares the rights of both versions.
#[tokio::test(flavor = "multi_thread")]
async fn a_version_with_other_rights_comes_back_only_when_a_person_says_so() {
    let before = version("1.0.0").with("hosts", json!(["api.example.com"]));
    let gateway = TestGateway::with_plugin("moody.wasm", before.build()).await;
    let (store, now_ms) = (gateway.gateway.store(), gateway.gateway.clock().now_ms());
    let narrower = version("1.1.0").invoke("(unreachable)");
    gateway.drop_file("moody.wasm", &narrower.build());
    let operator = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    let serves = async || {
        // Should it wait, it is let in.
        let _ = toolgate_gateway::plugins::approve(store, &operator, "moody", None, now_ms).await;
        serving(&gateway).await == "1.1.0"
    };
    gateway.wait("the upgrade to serve", serves).await;
    let key = gateway.key.clone();
    let told = async || {
        run(&gateway, &key).await;
        let row = store.find_plugin("moody").await.unwrap().unwrap();
        row.reason.is_some_and(|why| why.contains("other rights"))
    };
    gateway.wait("the operator to be told", told).await;
    assert_eq!(serving(&gateway).await, "1.1.0");
    assert_eq!(run(&gateway, &key).await["reason"], "plugin_crashed");
    let file = std::fs::read(gateway.plugins_dir().join("moody.wasm")).unwrap();
    assert_eq!(file, narrower.build(), "nothing was put into the folder");
}
