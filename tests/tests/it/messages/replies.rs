//! What a message is answered with.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, new_key};
use toolgate_tests::model::{Line, Model, call, text};
use toolgate_tests::postgres;

use super::{begin, reason, run, scripted, steps, with};

async fn converses(database_url: Option<String>) {
    let model = Model::start([
        call("search_tools", json!({"query": "echo"})),
        call("describe_tool", json!({"tool_name": "echo_run"})),
        run(),
        Line::Tokens(1_000, Box::new(text("It said hi."))),
        text("Again."),
    ])
    .await;
    let options = Options {
        database_url,
        ..Options::default()
    };
    let gateway = with(&model, options).await;
    let (session, reply) = begin(&gateway, "Say hi").await;
    assert_eq!(reason(&reply), ("completed", "answered"));
    assert_eq!(reply["content"], "It said hi.");
    assert_eq!(reply["model_configured"], true);
    assert!(reply["tokens"].as_u64().unwrap() > 1_000);

    let steps = steps(&gateway, &session).await;
    let roles: Vec<&str> = steps
        .iter()
        .map(|step| step["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "assistant"
        ]
    );
    assert_eq!(steps[1]["tool_calls"][0]["operation"], "search_tools");
    assert_eq!(steps[6]["operation"], "execute_tool");
    let receipt = format!(
        "/v1/executions/{}",
        steps[6]["execution_id"].as_str().unwrap()
    );
    assert_eq!(gateway.get(&receipt).await.data()["status"], "success");

    let asked = model.asked();
    let names: Vec<&Value> = asked[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(
        names,
        [
            "search_tools",
            "describe_tool",
            "execute_tool",
            "list_skills",
            "read_skill",
            "search_knowledge"
        ]
    );
    let path = format!("/v1/sessions/{session}/messages");
    let next = gateway
        .post(&path, &json!({"content": "And again"}))
        .await
        .data();
    assert_eq!(next["content"], "Again.");
    // The model sees the whole conversation.
    let shown = model.asked()[4]["messages"].as_array().unwrap().len();
    assert_eq!(shown, 1 + 8 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_becomes_steps_and_an_answer_on_sqlite() {
    converses(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_becomes_steps_and_an_answer_on_postgres() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    converses(Some(url)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_and_knowledge_are_within_the_models_reach() {
    let model = Model::start([
        Line::Calls(vec![
            ("list_skills".to_owned(), json!({"query": "report"})),
            ("search_knowledge".to_owned(), json!({"query": "harbour"})),
            ("rm_rf".to_owned(), json!({})),
        ]),
        text("Done."),
    ])
    .await;
    let gateway = with(&model, Options::default()).await;
    let skill =
        json!({"name": "Weekly report", "summary": "On Fridays.", "instructions": "Write."});
    gateway.post("/v1/skills", &skill).await.data();
    let document = json!({"media_type": "text/plain", "content": "The harbour opens at six."});
    gateway
        .post("/v1/knowledge/documents", &document)
        .await
        .data();
    let (session, reply) = begin(&gateway, "Report").await;
    assert_eq!(reply["content"], "Done.");
    let steps = steps(&gateway, &session).await;
    let answers: Vec<&str> = steps[2..5]
        .iter()
        .map(|step| step["content"].as_str().unwrap())
        .collect();
    assert!(answers[0].contains("Weekly report"), "{}", answers[0]);
    assert!(answers[1].contains("opens at six"), "{}", answers[1]);
    assert!(answers[2].contains("no such function"), "{}", answers[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_reply_names_what_matches() {
    let gateway = TestGateway::with_plugin("echo.wasm", Fixture::new("echo").build()).await;
    let skill = json!({"name": "Harbour report", "summary": "Reports on the harbour.", "instructions": "Write."});
    gateway.post("/v1/skills", &skill).await.data();
    let document = json!({"title": "Harbour", "media_type": "text/plain", "content": "The harbour opens at six."});
    gateway
        .post("/v1/knowledge/documents", &document)
        .await
        .data();
    let (session, reply) = begin(&gateway, "Run the echo tool for the harbour").await;
    assert_eq!(reason(&reply), ("completed", "no_model"));
    assert_eq!(reply["model_configured"], false);
    assert_eq!(reply["matches"]["skills"][0]["name"], "Harbour report");
    assert_eq!(
        reply["matches"]["passages"][0]["text"],
        "The harbour opens at six."
    );
    assert_eq!(reply["matches"]["tools"][0]["name"], "echo_run");
    assert!(reply["matches"]["tools"][0]["inputSchema"].is_object());
    for name in [
        "Harbour report",
        "opens at six",
        "echo_run",
        "No model is configured",
    ] {
        assert!(reply["content"].as_str().unwrap().contains(name), "{reply}");
    }
    let path = format!("/v1/sessions/{session}/messages");
    let next = gateway
        .post(&path, &json!({"content": "xyzzy"}))
        .await
        .data();
    assert_eq!(next["model_configured"], false);
    assert_eq!(steps(&gateway, &session).await.len(), 4);
    let resume = gateway
        .post(&format!("/v1/sessions/{session}/resume"), &json!({}))
        .await;
    assert_eq!((resume.status, &*resume.code()), (409, "conflict"));

    // What the key may not look into is not looked into.
    let key = new_key(&gateway.gateway, "narrow", &[Scope::Sessions])
        .await
        .unwrap();
    let body = Some(json!({"prompt": "Run the echo tool"}).to_string());
    let made = gateway
        .send(Method::POST, "/v1/sessions", Some(&key), body)
        .await
        .data();
    let matches = &made["messages"][1]["matches"];
    assert_eq!(matches["tools"], json!([]));
    assert_eq!(
        matches["not_searched"],
        json!(["tools", "skills", "knowledge"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_can_mean_is_refused() {
    let (gateway, model) = scripted([text("hi")]).await;
    let (session, _) = begin(&gateway, "Hello").await;
    let path = format!("/v1/sessions/{session}/messages");
    for content in ["", " ", "a\u{0}b", "a\u{1b}[31m", &"x".repeat(100_001)] {
        let refused = gateway.post(&path, &json!({"content": content})).await;
        assert_eq!((refused.status, &*refused.code()), (400, "invalid_request"));
    }
    let unknown = format!("/v1/sessions/ses_{}/messages", "0".repeat(32));
    let refused = gateway.post(&unknown, &json!({"content": "a"})).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (404, "session_not_found")
    );
    assert_eq!(gateway.get(&unknown).await.code(), "session_not_found");
    let odd = gateway.get(&format!("{path}?cursor=x")).await;
    assert_eq!(odd.code(), "invalid_request");
    assert_eq!(model.asked().len(), 1);
    let said = steps(&gateway, &session).await;
    let first = gateway.get(&format!("{path}?limit=1")).await.data();
    assert_eq!(first["messages"][0], said[0]);
    let next = first["next_cursor"].as_str().unwrap();
    let second = gateway
        .get(&format!("{path}?limit=1&cursor={next}"))
        .await
        .data();
    assert_eq!(
        (&second["messages"][0], &second["next_cursor"]),
        (&said[1], &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_says_it_once() {
    let (gateway, model) = scripted([text("one"), text("two")]).await;
    let mut replies = Vec::new();
    for _ in 0..2 {
        let answer = gateway
            .client
            .post(gateway.url("/v1/sessions"))
            .header("authorization", format!("Bearer {}", gateway.key))
            .header("content-type", "application/json")
            .header("idempotency-key", "k-1")
            .body(json!({"prompt": "Hello"}).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status(), 201);
        let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        replies.push(body["data"].clone());
    }
    assert_eq!(replies[0], replies[1]);
    assert_eq!(model.asked().len(), 1);
}
