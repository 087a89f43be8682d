//! Remote MCP servers as plugins: real servers of others, accounts of their users, and servers that mean no good.

mod accounts;
mod approved;
mod cancelled;
mod conformance;
mod door;
pub(crate) mod hostile;
mod program;
mod progress;
mod real;
mod rmcp_server;
mod schedule;
mod shapes;

use serde_json::{Value, json};
use toolgate_mcp_upstream::ServerSource;
use toolgate_tests::gateway::{Options, TestGateway, configure};
use toolgate_tests::mcp_upstream::{component, composed};

/// A gateway with the plugin of a server at a private address.
async fn gateway_of(source: &ServerSource) -> TestGateway {
    gateway_with(source, Options::default()).await
}

async fn gateway_with(source: &ServerSource, options: Options) -> TestGateway {
    let made = composed(source, None, &[]).await.unwrap();
    let wasm = component(&made, source).await.unwrap();
    let service = made.manifest.service.clone();
    let gateway = TestGateway::start(Options {
        plugins: vec![(format!("{service}.wasm"), wasm)],
        ..options
    })
    .await;
    gateway
        .wait_for_file(&format!("{service}.wasm"), "active")
        .await;
    let url = [("server_url".to_owned(), source.url.clone())];
    configure(&gateway.gateway, &service, &url).await.unwrap();
    gateway
}

/// Runs a tool in a session of the gateway.
async fn in_session(gateway: &TestGateway, session: &str, tool: &str, arguments: Value) -> Value {
    let body = json!({ "arguments": arguments, "session_id": session });
    let path = format!("/v1/tools/{tool}/execute");
    gateway.post(&path, &body).await.data()
}
