//! The specification, row by row: a module for each of its sections 4, 5, 7 and 8, a test for each
//! row, named after it. Rows that other files prove in depth are shown here in one breath.
//!
//! All tests ask one gateway, which a thread of its own keeps.

mod authentication;
mod endpoints;
mod errors;
mod limits;
mod tools;

use std::sync::LazyLock;

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, locked, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway};

/// The gateway that all rows ask, and the runtime that keeps it.
static SHARED: LazyLock<(tokio::runtime::Runtime, TestGateway)> = LazyLock::new(|| {
    let thread = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let gateway = runtime.block_on(start());
        (runtime, gateway)
    });
    thread.join().expect("the gateway starts")
});

async fn start() -> TestGateway {
    let mut echo = tool("run");
    echo["input"] = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "What to say." } },
        "required": ["text"],
    });
    let demo = Fixture::new("demo")
        .with("tools", json!([echo]))
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    // Six tools that one search finds, each with a schema of about 9,000 bytes.
    let wide: Vec<Value> = (0..6)
        .map(|n| {
            let mut wide = tool(&format!("widget_{n}"));
            wide["description"] = "Paints a widget in the colour that was asked for.".into();
            let properties: serde_json::Map<String, Value> = (0..90)
                .map(|field| {
                    let says = format!("Field {field} of the widget, in a sentence of some length, so that it adds up.");
                    (format!("field_{field}"), json!({ "type": "string", "description": says }))
                })
                .collect();
            wide["input"] = json!({ "type": "object", "properties": properties });
            wide
        })
        .collect();
    let wide = Fixture::new("wide").with("tools", wide.into());
    TestGateway::start(Options {
        plugins: vec![
            ("demo.wasm".to_owned(), demo.build()),
            ("locked.wasm".to_owned(), locked().build()),
            ("wide.wasm".to_owned(), wide.build()),
        ],
        ..Options::default()
    })
    .await
}

fn gateway() -> &'static TestGateway {
    &SHARED.1
}

/// Does something with the gateway's own parts where they live.
async fn there<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    SHARED.0.spawn(work).await.expect("the work ends")
}

async fn get(path: &str) -> Answer {
    send("GET", path, Some(&gateway().key), None).await
}

async fn post(path: &str, body: Value) -> Answer {
    send("POST", path, Some(&gateway().key), Some(body)).await
}

/// With a client of the test's own: connections belong to the runtime that made them.
async fn send(method: &str, path: &str, key: Option<&str>, body: Option<Value>) -> Answer {
    let client = toolgate_tests::gateway::client();
    let mut request = client.request(method.parse().unwrap(), gateway().url(path));
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    if let Some(body) = body {
        request = request
            .header("content-type", "application/json")
            .body(body.to_string());
    }
    let response = request.send().await.expect("the gateway answers");
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await.expect("text"),
    }
}
