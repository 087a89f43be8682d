//! A write that waited for an account is made once, whatever becomes of the session.

use serde_json::json;
use toolgate_tests::gateway::Options;
use toolgate_tests::model::{Model, call, text};
use toolgate_tests::provider::Provider;

use super::{follow, gateway};
use crate::messages::{begin, database, reason, steps};

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_answer_was_lost_is_not_made_again() {
    let issue = json!({"owner": "octo", "repo": "hello", "title": "Bug"});
    let model = Model::start([
        call(
            "execute_tool",
            json!({"tool_name": "github_create_issue", "arguments": issue}),
        ),
        text("I shall look whether it is there."),
    ])
    .await;
    let provider = Provider::start().await;
    let options = Options {
        model_url: Some(model.url()),
        ..Options::default()
    };
    let gateway = gateway(&provider, options).await;
    let written = || {
        let received = provider.upstream.received();
        let issues = received.iter().filter(|one| one.target.contains("/issues"));
        issues.filter(|one| one.method == "POST").count()
    };
    let (session, paused) = begin(&gateway, "Report the bug").await;
    assert_eq!(reason(&paused), ("paused", "auth_required"));
    let link = paused["pending"]["connect_url"].as_str().unwrap();
    let page = follow(&gateway, &provider, link).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    assert_eq!(written(), 0);

    // As if the process had died between the write and its answer.
    let database = database(&gateway).await;
    sqlx::raw_sql(
        "CREATE TRIGGER broken BEFORE INSERT ON session_messages BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    .execute(&database)
    .await
    .unwrap();
    let resume = format!("/v1/sessions/{session}/resume");
    let died = gateway.post(&resume, &json!({})).await;
    assert_eq!(died.status, 500, "{}", died.text);
    assert_eq!(written(), 1);
    sqlx::raw_sql("DROP TRIGGER broken")
        .execute(&database)
        .await
        .unwrap();

    let done = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(reason(&done), ("completed", "answered"));
    assert_eq!(written(), 1);
    let steps = steps(&gateway, &session).await;
    let answer = steps.iter().find(|step| step["role"] == "tool").unwrap();
    let answer = answer["content"].as_str().unwrap();
    assert!(answer.contains("outcome_unknown"), "{answer}");
}
