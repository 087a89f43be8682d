//! Search learns from use: what a workspace executes after its searches moves up in them.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::Store;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway, new_tenant};

const SEARCH: &str = "/v1/tools/search?query=send+report";

fn plugin(service: &str) -> (String, Vec<u8>) {
    let mut send = tool("send_report");
    send["description"] = "Sends a report.".into();
    let built = Fixture::new(service).with("tools", json!([send])).build();
    (format!("{service}.wasm"), built)
}

async fn start(no_search_learning: bool) -> TestGateway {
    TestGateway::start(Options {
        plugins: vec![plugin("alpha"), plugin("beta")],
        no_search_learning,
        ..Options::default()
    })
    .await
}

/// Names of the tools that a search found.
fn found(answer: &Value) -> Vec<&str> {
    let tools = answer["tools"].as_array().unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_executed_after_a_search_comes_first_in_its_workspace_alone() {
    let gateway = start(false).await;
    let (theirs, _) = new_tenant(&gateway.gateway, "theirs").await.unwrap();
    gateway.execute("alpha_send_report", json!({})).await;
    let before = gateway.get(SEARCH).await.data();
    assert_eq!(found(&before), ["alpha_send_report", "beta_send_report"]);
    gateway.execute("beta_send_report", json!({})).await;

    gateway
        .wait("the use to count", async || {
            let now = gateway.get(SEARCH).await.data();
            found(&now)[0] == "beta_send_report"
        })
        .await;
    // Another user of the workspace is not told that anybody searched for that.
    let own = gateway.get(SEARCH).await.data();
    let others = format!("{SEARCH}&user_id=bob");
    let others = gateway.get(&others).await.data();
    for answer in [&own, &others] {
        let said = answer.to_string();
        assert!(!said.contains("used"), "{said}");
    }
    for field in ["match_reasons", "score"] {
        let (then, now) = (&before["tools"][1][field], &others["tools"][0][field]);
        assert_eq!(then, now, "{field}");
    }
    // The same search in another workspace is as it was.
    let apart = gateway.send(Method::GET, SEARCH, Some(&theirs), None).await;
    assert_eq!(found(&apart.data())[0], "alpha_send_report");

    // What was executed without a search did not count.
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let uses = store.list_search_uses(&workspace.id, 10).await.unwrap();
    assert!(
        uses.iter().all(|one| one.tool_name == "beta_send_report"),
        "{uses:?}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_counted_where_learning_is_off() {
    let gateway = start(true).await;
    gateway.get(SEARCH).await.data();
    gateway.execute("beta_send_report", json!({})).await;
    let workspace = gateway.gateway.store().first_workspace().await;
    let workspace = workspace.unwrap().unwrap();
    let database = gateway.config.gateway.database_url.clone();
    // What is counted is written when the gateway closes, at the latest.
    gateway.gateway.close(Duration::from_secs(5)).await;
    let store = Store::open(&database).await.unwrap();
    let uses = store.list_search_uses(&workspace.id, 10).await.unwrap();
    assert_eq!(uses, []);
}
