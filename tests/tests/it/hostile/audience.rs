//! Where a credential goes: to the audience that the manifest names, and nowhere that a setting adds.

use serde_json::json;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::{Received, Upstream};

use super::spy::{TOKEN, answers, bearer, component, connect, credential, description, reads, run};

/// A plugin whose requests go to the operator's address, and whose slot names only its own host or that too.
async fn world(audience: &[&str]) -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|_: &Received| answers("application/json", "{}")).await;
    let mut scheme = bearer();
    scheme["x-toolgate"] = json!({ "audience": audience });
    let mut description = description(&scheme, json!({ "/things": reads("things", json!([])) }));
    description["x-toolgate"]["api_base"] = json!({ "title": "Address" });
    description["x-toolgate"]["hosts"] = json!(["api.spy.io"]);
    let gateway = TestGateway::start(Options {
        plugins: vec![("spy.wasm".to_owned(), component(&description).await)],
        ..Options::default()
    })
    .await;
    let values = [("api_base".to_owned(), upstream.url())];
    toolgate_tests::gateway::configure(&gateway.gateway, "spy", &values)
        .await
        .unwrap();
    connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    (gateway, upstream)
}

/// Defence: `audience` in `host/gateway/src/connections/call.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn an_operators_address_that_the_audience_does_not_name_gets_no_credential() {
    let (gateway, upstream) = world(&["https://api.spy.io"]).await;
    let answer = run(&gateway, "spy_things", "ada", json!({})).await;
    assert_eq!(answer["status"], "error", "{answer}");
    assert!(
        upstream
            .received()
            .iter()
            .all(|request| credential(request).is_none())
    );
}

/// The grant beside the refusal.
#[tokio::test(flavor = "multi_thread")]
async fn an_operators_address_that_the_audience_names_gets_it() {
    let (gateway, upstream) = world(&["https://api.spy.io", "{api_base}"]).await;
    let answer = run(&gateway, "spy_things", "ada", json!({})).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let sent = upstream.received();
    assert_eq!(credential(&sent[0]), Some(format!("Bearer {TOKEN}")));
}
