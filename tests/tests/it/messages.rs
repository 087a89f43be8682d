//! Sessions that converse, with a model that a test has written and without one.

mod bounds;
mod replies;
mod resume;
mod rights;
mod stream;

use serde_json::{Value, json};
use toolgate_core::ids::UserId;
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::model::{Line, Model, call};

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

pub(crate) async fn begin(gateway: &TestGateway, prompt: &str) -> (String, Value) {
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

pub(crate) async fn steps(gateway: &TestGateway, session: &str) -> Vec<Value> {
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

pub(crate) fn reason(reply: &Value) -> (&str, &str) {
    let word = |key: &str| {
        reply[key]
            .as_str()
            .unwrap_or_else(|| panic!("no {key}: {reply}"))
    };
    (word("status"), word("reason"))
}

/// The gateway's own database, for what no client can do.
pub(crate) async fn database(gateway: &TestGateway) -> sqlx::SqlitePool {
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let url = format!("sqlite://{}", path.display());
    sqlx::SqlitePool::connect(&url).await.unwrap()
}

/// A key with so many requests a minute.
async fn limited_key(gateway: &TestGateway, rpm: u32) -> String {
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let new = keys::NewKey {
        name: "limited".to_owned(),
        user: UserId::parse("default").unwrap(),
        scopes: Scope::ALL.to_vec(),
        rpm: Some(rpm),
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let now_ms = gateway.gateway.clock().now_ms();
    let made = keys::create(
        store,
        &toolgate_gateway::Caller::operator(&workspace),
        new,
        now_ms,
    )
    .await;
    made.unwrap().key.expose().to_owned()
}
