//! What resuming makes of calls that the last turn left open.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::model::{Line, Model, text};

use super::{begin, database, limited_key, reason, steps, with};

/// Two calls in one answer.
fn twice() -> Line {
    let run = json!({"tool_name": "echo_run", "arguments": {"text": "hi"}});
    let run = ("execute_tool".to_owned(), run);
    Line::Calls(vec![run.clone(), run])
}

async fn ran(gateway: &TestGateway) -> usize {
    let page = gateway.get("/v1/executions?status=success").await.data();
    page["executions"].as_array().unwrap().len()
}

async fn post(gateway: &TestGateway, key: &str, path: &str, body: Value) -> Answer {
    let body = Some(body.to_string());
    gateway.send(Method::POST, path, Some(key), body).await
}

/// The turn is stopped between two calls; the resumed one dies when the second has run and nothing
/// of it was kept.
async fn interrupted(go_on: &str, body: Value) {
    // The beginning of a minute.
    let clock = Clock::manual(1_800_000_000_000);
    let model = Model::start([twice(), text("I shall look.")]).await;
    let options = Options {
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = with(&model, options).await;
    let key = limited_key(&gateway, 2).await;
    let made = post(&gateway, &key, "/v1/sessions", json!({"prompt": "Twice"})).await;
    let made = made.data();
    let stopped = made["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(reason(stopped), ("stopped", "rate_limited"));
    assert_eq!(ran(&gateway).await, 1);
    let session = made["session_id"].as_str().unwrap();
    let path = |what: &str| format!("/v1/sessions/{session}/{what}");

    let database = database(&gateway).await;
    sqlx::raw_sql(
        "CREATE TRIGGER broken BEFORE INSERT ON session_messages WHEN NEW.role = 'tool' \
         BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    .execute(&database)
    .await
    .unwrap();
    clock.advance_ms(60_000);
    let died = post(&gateway, &key, &path("resume"), json!({})).await;
    assert_eq!(died.status, 500, "{}", died.text);
    sqlx::raw_sql("DROP TRIGGER broken")
        .execute(&database)
        .await
        .unwrap();
    assert_eq!(ran(&gateway).await, 2);

    clock.advance_ms(60_000);
    let done = post(&gateway, &key, &path(go_on), body).await.data();
    assert_eq!(done["content"], "I shall look.", "{done}");
    assert_eq!(ran(&gateway).await, 2);
    let steps = steps(&gateway, session).await;
    let answers = steps.iter().filter(|step| step["role"] == "tool");
    let answers: Vec<&str> = answers
        .map(|step| step["content"].as_str().unwrap())
        .collect();
    assert_eq!(answers.len(), 2);
    assert!(answers[0].contains("success"), "{}", answers[0]);
    assert!(answers[1].contains("outcome_unknown"), "{}", answers[1]);
    let left = steps.iter().find(|step| step["status"] == "stopped");
    assert_eq!(left.unwrap()["call_begun"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_a_resumed_turn_has_begun_is_not_begun_by_the_next_one() {
    interrupted("resume", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_after_an_interrupted_turn_does_not_say_that_nothing_ran() {
    interrupted("messages", json!({"content": "And now?"})).await;
}

/// Leaves no room for the answer of a call in the sessions that are there.
const FULL: [&str; 2] = [
    "UPDATE session_messages SET content = replace(hex(zeroblob(1999500)), '0', 'x') WHERE seq = 1",
    "UPDATE session_messages SET seq = seq + 997; \
     WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 997) \
     INSERT INTO session_messages (workspace_id, session_id, seq, id, role, content, details, created_at_ms) \
     SELECT workspace_id, session_id, n, 'msg_' || n, 'user', 'x', '{}', created_at_ms \
     FROM numbers, (SELECT * FROM session_messages WHERE seq = 998)",
];

#[tokio::test(flavor = "multi_thread")]
async fn in_a_session_that_has_no_room_for_the_answer_nothing_is_run() {
    for full in FULL {
        let model = Model::start([super::run(), text("never")]).await;
        let gateway = with(&model, Options::default()).await;
        let rule = Some(json!({"permission": "ask"}).to_string());
        let path = "/v1/permissions/users/default/tools/echo_run";
        gateway
            .send(Method::PATCH, path, Some(&gateway.key), rule)
            .await
            .data();
        let (session, paused) = begin(&gateway, "Run it").await;
        assert_eq!(reason(&paused), ("paused", "approval_required"));
        let approval = &paused["pending"]["approval_id"];
        gateway.decide(approval, "approve").await.data();
        let database = database(&gateway).await;
        sqlx::raw_sql(full).execute(&database).await.unwrap();

        for (what, body) in [
            ("resume", json!({})),
            ("resume", json!({})),
            ("messages", json!({"content": "And now?"})),
        ] {
            let path = format!("/v1/sessions/{session}/{what}");
            let refused = gateway.post(&path, &body).await;
            assert_eq!((refused.status, &*refused.code()), (409, "conflict"));
            assert!(refused.text.contains("full"), "{}", refused.text);
        }
        assert_eq!(ran(&gateway).await, 0, "{full}");
        assert_eq!(model.asked().len(), 1);
    }
}
