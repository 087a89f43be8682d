//! Where a turn ends that does not end by itself.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_tests::gateway::Options;
use toolgate_tests::model::{Line, Model, call, text};

use super::{begin, limited_key, reason, run, scripted, steps, with};

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_bounded_in_steps_tokens_and_time() {
    let search = || call("search_tools", json!({"query": "echo"}));
    let (gateway, model) = scripted([search()]).await;
    let (session, reply) = begin(&gateway, "Go on for ever").await;
    assert_eq!(reason(&reply), ("stopped", "steps_exhausted"));
    assert_eq!(model.asked().len(), 16);
    let resume = format!("/v1/sessions/{session}/resume");
    let more = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(reason(&more), ("stopped", "steps_exhausted"));
    assert_eq!(model.asked().len(), 32);

    let (gateway, model) = scripted([Line::Tokens(300_000, Box::new(search()))]).await;
    let (_, reply) = begin(&gateway, "Spend").await;
    assert_eq!(reason(&reply), ("stopped", "tokens_exhausted"));
    assert_eq!(model.asked().len(), 2);

    let model = Model::start([Line::Hang]).await;
    let options = Options {
        model_seconds: Some(1),
        ..Options::default()
    };
    let gateway = with(&model, options).await;
    let (_, reply) = begin(&gateway, "Hurry").await;
    assert_eq!(reason(&reply), ("stopped", "time_exhausted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_stops_the_turn_and_nothing_else() {
    for (what, line) in [
        ("garbage", Line::Body("<html>".to_owned())),
        (
            "nothing said",
            Line::Body(r#"{"choices":[{"message":{"content":""}}]}"#.to_owned()),
        ),
        ("500", Line::Status(500, None)),
        ("401", Line::Status(401, None)),
        ("a redirect", Line::Status(307, None)),
        ("always busy", Line::Status(429, Some(0))),
        ("oversized", Line::Body("x".repeat(5 << 20))),
    ] {
        let (gateway, model) = scripted([line, text("Recovered.")]).await;
        let asked = if what == "always busy" { 1 } else { 0 };
        let (session, reply) = begin(&gateway, "Hello").await;
        if asked == 1 {
            // Once busy is repeated, and then answered.
            assert_eq!(
                (reason(&reply), model.asked().len()),
                (("completed", "answered"), 2)
            );
            continue;
        }
        assert_eq!(reason(&reply), ("stopped", "model_failed"), "{what}");
        assert!(
            !reply.to_string().contains("a-secret-of-the-server"),
            "{reply}"
        );
        let resume = format!("/v1/sessions/{session}/resume");
        let done = gateway.post(&resume, &json!({})).await.data();
        assert_eq!(done["content"], "Recovered.", "{what}");
    }
    let (gateway, model) = scripted([Line::Status(503, Some(0))]).await;
    let (_, reply) = begin(&gateway, "Hello").await;
    assert_eq!(reason(&reply), ("stopped", "model_failed"));
    assert_eq!(model.asked().len(), 3);
    let bad = [
        Line::Body(r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"execute_tool","arguments":"{not json"}}]}}]}"#.to_owned()),
        text("Sorry\u{0}\u{1b}[2J."),
    ];
    let (gateway, _model) = scripted(bad).await;
    let (session, reply) = begin(&gateway, "Hello").await;
    assert_eq!(reply["content"], "Sorry[2J.");
    let tool = &steps(&gateway, &session).await[2];
    assert!(
        tool["content"].as_str().unwrap().contains("invalid_json"),
        "{tool}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_counts_as_a_request_of_its_key() {
    // The beginning of a minute.
    let clock = Clock::manual(1_800_000_000_000);
    let model = Model::start([run(), run(), run(), text("Done.")]).await;
    let options = Options {
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = with(&model, options).await;
    let key = limited_key(&gateway, 3).await;
    let post = async |path: &str, body: Value| {
        let body = Some(body.to_string());
        gateway.send(Method::POST, path, Some(&key), body).await
    };
    let ran = async || {
        let page = gateway.get("/v1/executions?status=success").await.data();
        page["executions"].as_array().unwrap().len()
    };

    // The message itself, and two calls.
    let made = post("/v1/sessions", json!({"prompt": "Run it"}))
        .await
        .data();
    let stopped = made["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(reason(&stopped), ("stopped", "rate_limited"));
    let said = stopped["content"].as_str().unwrap();
    assert!(said.contains("3 requests a minute"), "{said}");
    assert_eq!(ran().await, 2);
    let resume = format!(
        "/v1/sessions/{}/resume",
        made["session_id"].as_str().unwrap()
    );
    assert_eq!(post(&resume, json!({})).await.code(), "rate_limit_exceeded");

    // What was left is made in the next minute, once.
    clock.advance_ms(60_000);
    let done = post(&resume, json!({})).await.data();
    assert_eq!(reason(&done), ("completed", "answered"));
    assert_eq!(ran().await, 3);
}
