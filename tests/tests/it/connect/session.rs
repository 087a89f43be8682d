//! A conversation that needs an account.

use serde_json::{Value, json};
use toolgate_tests::gateway::Options;
use toolgate_tests::model::{Model, call, text};
use toolgate_tests::provider::Provider;

use super::{TOOL, follow, gateway};
use crate::messages::begin;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_pauses_with_a_link_is_connected_goes_on_and_finishes() {
    let model = Model::start([
        call("search_tools", json!({"query": "who am I on github"})),
        call("execute_tool", json!({"tool_name": TOOL, "arguments": {}})),
        text("You are octo-ada."),
    ])
    .await;
    let provider = Provider::start().await;
    let options = Options {
        model_url: Some(model.url()),
        ..Options::default()
    };
    let gateway = gateway(&provider, options).await;
    let (session, paused) = begin(&gateway, "Who am I on GitHub?").await;
    assert_eq!(
        (&paused["status"], &paused["reason"]),
        (&json!("paused"), &json!("auth_required"))
    );
    assert_eq!(paused["pending"]["service"], "github");
    assert_eq!(paused["pending"]["tool_name"], TOOL);
    let link = paused["pending"]["connect_url"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(link.starts_with(&gateway.url("/connect/")), "{link}");
    assert_eq!(model.asked().len(), 2);

    // The link is for the user: neither what is kept nor the model has it.
    let messages = format!("/v1/sessions/{session}/messages");
    let secret = link.rsplit('/').next().unwrap();
    let kept = gateway.get(&messages).await;
    assert!(
        kept.text.contains("\"paused\"") && !kept.text.contains(secret),
        "{}",
        kept.text
    );
    assert!(
        !gateway
            .get(&format!("/v1/sessions/{session}"))
            .await
            .text
            .contains(secret)
    );

    // Too early: it still waits, with a fresh link.
    let resume = format!("/v1/sessions/{session}/resume");
    let early = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(early["status"], "paused");
    let link = early["pending"]["connect_url"].as_str().unwrap().to_owned();
    assert_eq!(model.asked().len(), 2);

    let page = follow(&gateway, &provider, &link).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    let done = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(
        (&done["status"], &done["reason"]),
        (&json!("completed"), &json!("answered"))
    );
    assert_eq!(done["content"], "You are octo-ada.");
    let asked = model.asked();
    assert_eq!(asked.len(), 3);
    let last = asked[2]["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last["role"], "tool");
    let answer: Value = serde_json::from_str(last["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&answer["untrusted"], &answer["from"]),
        (&json!(true), &json!(TOOL))
    );
    assert_eq!(answer["answer"]["status"], "success", "{answer}");
    for secret in provider.secrets() {
        assert!(!format!("{asked:?}").contains(&secret));
    }
    assert!(!format!("{asked:?}").contains("/connect/"));
    let again = gateway.post(&resume, &json!({})).await;
    assert_eq!((again.status, &*again.code()), (409, "conflict"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_message_leaves_what_waited_undone() {
    let model = Model::start([
        call("execute_tool", json!({"tool_name": TOOL, "arguments": {}})),
        text("As you wish."),
    ])
    .await;
    let provider = Provider::start().await;
    let options = Options {
        model_url: Some(model.url()),
        ..Options::default()
    };
    let gateway = gateway(&provider, options).await;
    let (session, paused) = begin(&gateway, "Who am I?").await;
    let link = paused["pending"]["connect_url"].as_str().unwrap();
    follow(&gateway, &provider, link).await;
    let messages = format!("/v1/sessions/{session}/messages");
    let reply = gateway
        .post(&messages, &json!({"content": "Never mind."}))
        .await
        .data();
    assert_eq!(reply["content"], "As you wish.");
    let asked = model.asked();
    let shown = asked[1]["messages"].as_array().unwrap();
    let [.., tool, said] = &shown[..] else {
        panic!("{shown:?}");
    };
    assert!(
        tool["content"].as_str().unwrap().contains("not_run"),
        "{tool}"
    );
    assert_eq!(said["content"], "Never mind.");
    let ran = gateway.get("/v1/executions?status=success").await.data();
    assert_eq!(ran["executions"], json!([]));
}
