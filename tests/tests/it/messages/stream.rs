//! A turn as somebody watches it.

use serde_json::{Value, json};
use toolgate_tests::events;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::model::{Line, Model, text};

use super::{begin, reason, run, scripted, steps};

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
    assert_eq!(
        answer.headers()["content-type"],
        "text/event-stream; charset=utf-8"
    );
    let events = events::parse(&answer.text().await.unwrap());
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
    let first = events::parse(&String::from_utf8_lossy(&first));
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
    let events = events::parse(&answer.text().await.unwrap());
    assert!(events.iter().any(|(name, _)| name == "text"));
    assert_eq!(
        reason(&events.last().unwrap().1["data"]),
        ("completed", "answered")
    );
}
