//! Sessions that converse, with a model that a test has written and without one.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate::clock::Clock;
use toolgate::gateway::{Scope, keys};
use toolgate::ids::UserId;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, new_key};
use toolgate_tests::model::{Line, Model, call, text};
use toolgate_tests::postgres;

/// A gateway with one tool, `echo_run`, and this model.
async fn with(model: &Model, options: Options) -> TestGateway {
    TestGateway::start(Options {
        plugins: vec![("echo.wasm".to_owned(), Fixture::new("echo").build())],
        model_url: Some(model.url()),
        ..options
    })
    .await
}

async fn scripted(script: impl IntoIterator<Item = Line>) -> (TestGateway, Model) {
    let model = Model::start(script).await;
    (with(&model, Options::default()).await, model)
}

async fn begin(gateway: &TestGateway, prompt: &str) -> (String, Value) {
    let made = gateway
        .post("/v1/sessions", &json!({"prompt": prompt}))
        .await;
    assert_eq!(made.status, 201, "{}", made.text);
    let session = made.data();
    let reply = session["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    (session["session_id"].as_str().unwrap().to_owned(), reply)
}

async fn steps(gateway: &TestGateway, session: &str) -> Vec<Value> {
    let path = format!("/v1/sessions/{session}/messages?limit=100");
    let page = gateway.get(&path).await.data();
    page["messages"].as_array().unwrap().clone()
}

fn run() -> Line {
    call(
        "execute_tool",
        json!({"tool_name": "echo_run", "arguments": {"text": "hi"}}),
    )
}

fn reason(reply: &Value) -> (&str, &str) {
    let word = |key: &str| {
        reply[key]
            .as_str()
            .unwrap_or_else(|| panic!("no {key}: {reply}"))
    };
    (word("status"), word("reason"))
}

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
async fn a_call_that_asks_waits_for_its_approval() {
    let (gateway, model) = scripted([run(), text("It ran.")]).await;
    let rule = Some(json!({"permission": "ask"}).to_string());
    let path = "/v1/permissions/users/default/tools/echo_run";
    gateway
        .send(Method::PATCH, path, Some(&gateway.key), rule)
        .await
        .data();
    let (session, paused) = begin(&gateway, "Run it").await;
    assert_eq!(reason(&paused), ("paused", "approval_required"));
    let approval = paused["pending"]["approval_id"].as_str().unwrap();
    let resume = format!("/v1/sessions/{session}/resume");
    let early = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(early["pending"]["approval_id"], approval);
    let path = format!("/v1/approvals/{approval}");
    gateway
        .post(&path, &json!({"decision": "approve"}))
        .await
        .data();
    let done = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(
        (reason(&done), &done["content"]),
        (("completed", "answered"), &json!("It ran."))
    );
    let ran = gateway.get("/v1/executions?status=success").await.data();
    assert_eq!(ran["executions"].as_array().unwrap().len(), 1);
    assert_eq!(model.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loop_has_the_rights_of_its_caller_at_each_moment() {
    let (gateway, _model) = scripted([run(), text("I may not.")]).await;
    let scopes = [Scope::Sessions, Scope::ToolsRead];
    let key = new_key(&gateway.gateway, "reader", &scopes).await.unwrap();
    let body = Some(json!({"prompt": "Run it"}).to_string());
    let made = gateway
        .send(Method::POST, "/v1/sessions", Some(&key), body)
        .await
        .data();
    let session = made["session_id"].as_str().unwrap();
    let tool = &steps(&gateway, session).await[2];
    assert!(
        tool["content"].as_str().unwrap().contains("scope_denied"),
        "{tool}"
    );

    let (gateway_two, model) = scripted([Line::Gated(Box::new(run())), text("never")]).await;
    let gateway_two = std::sync::Arc::new(gateway_two);
    let key = new_key(&gateway_two.gateway, "short-lived", &Scope::ALL)
        .await
        .unwrap();
    let asking = {
        let (gateway, key) = (gateway_two.clone(), key.clone());
        tokio::spawn(async move {
            let body = Some(json!({"prompt": "Run it"}).to_string());
            gateway
                .send(Method::POST, "/v1/sessions", Some(&key), body)
                .await
        })
    };
    gateway_two
        .wait("the model to be asked", async || !model.asked().is_empty())
        .await;
    let store = gateway_two.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let now_ms = gateway_two.gateway.clock().now_ms();
    keys::revoke(store, &workspace.id, "short-lived", now_ms)
        .await
        .unwrap();
    model.open_gate();
    let made = asking.await.unwrap().data();
    let reply = made["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(reason(reply), ("stopped", "key_revoked"));
    let ran = gateway_two.get("/v1/executions").await.data();
    assert_eq!(ran["executions"], json!([]));
}

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

/// The events of a stream: name and data.
fn events(text: &str) -> Vec<(String, Value)> {
    text.split("\n\n")
        .filter(|event| event.contains("data:"))
        .map(|event| {
            let field = |name: &str| {
                let line = event.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_else(|| panic!("no {name} in {event}"))
                    .trim()
                    .to_owned()
            };
            (
                field("event:"),
                serde_json::from_str(&field("data:")).unwrap(),
            )
        })
        .collect()
}

async fn watch(gateway: &TestGateway, path: &str, body: Value) -> reqwest::Response {
    let request = gateway
        .client
        .post(gateway.url(path))
        .header("authorization", format!("Bearer {}", gateway.key))
        .header("content-type", "application/json")
        .header("accept", "text/event-stream");
    request.body(body.to_string()).send().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_streamed_as_they_are_taken() {
    let (gateway, model) = scripted([run(), text("It said hi, \u{1f980}.")]).await;
    let answer = watch(&gateway, "/v1/sessions", json!({"prompt": "Say hi"})).await;
    assert_eq!(answer.status(), 201);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let events = events(&answer.text().await.unwrap());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(&names[..4], ["session", "step", "step", "step"]);
    assert!(names[4..names.len() - 2].iter().all(|name| *name == "text"));
    assert_eq!(&names[names.len() - 2..], ["step", "reply"]);
    let heard: String = events
        .iter()
        .filter(|(name, _)| name == "text")
        .map(|(_, data)| data["text"].as_str().unwrap())
        .collect();
    assert_eq!(heard, "It said hi, \u{1f980}.");
    let (_, reply) = events.last().unwrap();
    assert_eq!(reply["success"], true);
    assert_eq!(
        reply["data"]["messages"][1]["tool_calls"][0]["operation"],
        "execute_tool"
    );
    assert_eq!(events[0].1["session_id"], reply["data"]["session_id"]);
    assert!(model.asked().iter().all(|asked| asked["stream"] == true));

    let unknown = format!("/v1/sessions/ses_{}/messages", "0".repeat(32));
    let refused = watch(&gateway, &unknown, json!({"content": "a"})).await;
    assert_eq!(refused.status(), 404);
    assert!(refused.text().await.unwrap().contains("session_not_found"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_ends_the_stream_and_not_the_turn() {
    let (gateway, model) = scripted([Line::Gated(Box::new(run())), text("Finished alone.")]).await;
    let mut answer = watch(&gateway, "/v1/sessions", json!({"prompt": "Say hi"})).await;
    let first = answer.chunk().await.unwrap().unwrap();
    let first = events(&String::from_utf8_lossy(&first));
    let session = first[0].1["session_id"].as_str().unwrap().to_owned();
    gateway
        .wait("the model to be asked", async || !model.asked().is_empty())
        .await;
    let path = format!("/v1/sessions/{session}/messages");
    let busy = gateway
        .post(&path, &json!({"content": "Are you there?"}))
        .await;
    assert_eq!((busy.status, &*busy.code()), (409, "in_progress"));
    assert!(busy.headers.contains_key("retry-after"));
    drop(answer);
    model.open_gate();
    let last = async || steps(&gateway, &session).await.last().cloned().unwrap();
    gateway
        .wait("the turn to end", async || {
            last().await["status"] == "completed"
        })
        .await;
    assert_eq!(last().await["content"], "Finished alone.");
}

/// What holds for every server that speaks this API. See [`toolgate_tests::model`] for how another
/// one is put in the place of the scripted one.
#[tokio::test(flavor = "multi_thread")]
async fn any_openai_compatible_server_can_be_put_in_its_place() {
    let scripted = Model::start([text("Hello.")]).await;
    let own = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let options = Options {
        model_url: Some(own("TOOLGATE_TEST_MODEL_URL").unwrap_or_else(|| scripted.url())),
        model: own("TOOLGATE_TEST_MODEL"),
        model_key_file: own("TOOLGATE_TEST_MODEL_KEY_FILE").map(Into::into),
        ..Options::default()
    };
    let gateway = TestGateway::start(options).await;
    let (session, reply) =
        begin(&gateway, "Greet me in one short sentence. Use no function.").await;
    assert_eq!(reason(&reply), ("completed", "answered"), "{reply}");
    let path = format!("/v1/sessions/{session}/messages");
    let answer = watch(&gateway, &path, json!({"content": "Once more."})).await;
    let events = events(&answer.text().await.unwrap());
    assert!(events.iter().any(|(name, _)| name == "text"));
    assert_eq!(
        reason(&events.last().unwrap().1["data"]),
        ("completed", "answered")
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
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let new = keys::NewKey {
        name: "limited".to_owned(),
        user: UserId::parse("default").unwrap(),
        scopes: Scope::ALL.to_vec(),
        rpm: Some(3),
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let made = keys::create(store, &workspace.id, new, clock.now_ms()).await;
    let key = made.unwrap().key.expose().to_owned();
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
