//! The MCP edge across a real wire: the official clients, the conformance runner, and by hand what
//! no client sends.

mod batches;
mod clients;
mod conformance;
mod cut;
pub(crate) mod forms;
mod idle;
mod restored;
mod skills;
mod stdio;
mod toolsets;
pub mod wire;

use serde_json::json;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};

/// A gateway with two services: `demo`, whose tool answers its arguments, and `locked`, whose tool
/// needs an account that nobody has connected.
async fn gateway() -> TestGateway {
    let demo = Fixture::new("demo")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    let mut guarded = tool("run");
    guarded["auth"] = json!(["user"]);
    let locked = Fixture::new("locked")
        .with("hosts", json!(["api.locked.example"]))
        .with("tools", json!([guarded]))
        .with(
            "auth",
            json!([{
                "slot": "user",
                "title": "Locked account",
                "type": "oauth2",
                "authorize_url": "https://api.locked.example/authorize",
                "token_url": "https://api.locked.example/token",
                "scopes": ["read"],
                "placement": { "header": "authorization", "template": "Bearer {secret}" },
                "audience": ["https://api.locked.example"],
            }]),
        );
    TestGateway::start(Options {
        plugins: vec![
            ("demo.wasm".to_owned(), demo.build()),
            ("locked.wasm".to_owned(), locked.build()),
        ],
        ..Options::default()
    })
    .await
}
