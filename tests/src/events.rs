//! Server-sent events of the gateway: starting a streamed call and parsing its events.

use serde_json::{Value, json};

use crate::gateway::TestGateway;

/// A call whose reply is a stream of events.
pub fn watching(gateway: &TestGateway, tool: &str, arguments: &Value) -> reqwest::RequestBuilder {
    let path = format!("/v1/tools/{tool}/execute");
    let request = gateway.client.post(gateway.url(&path));
    let request = request.bearer_auth(&gateway.key);
    let request = request.header("content-type", "application/json");
    let request = request.header("accept", "text/event-stream");
    request.body(json!({ "arguments": arguments }).to_string())
}

/// Waits until the newest call of `tool` has ended, and returns its receipt.
///
/// # Panics
/// When there is none, or it does not end.
pub async fn receipt(gateway: &TestGateway, tool: &str) -> Value {
    let path = format!("/v1/executions?tool_name={tool}");
    let newest = async || gateway.get(&path).await.data()["executions"][0].clone();
    gateway
        .wait("the call to end", async || {
            let found = newest().await;
            found.is_object() && found["status"] != "running"
        })
        .await;
    let found = newest().await;
    let id = found["execution_id"].as_str().expect("it has an id");
    gateway.get(&format!("/v1/executions/{id}")).await.data()
}

/// Name and data of each event of a stream.
///
/// # Panics
/// Where an event has no name, or data that is not JSON.
pub fn parse(stream: &str) -> Vec<(String, Value)> {
    let events = stream.split("\n\n").filter(|event| event.contains("data:"));
    events
        .map(|event| {
            let field = |name: &str| {
                let line = event.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_else(|| panic!("no {name} in {event}"))
                    .trim()
            };
            let data = serde_json::from_str(field("data:"));
            (field("event:").to_owned(), data.expect("JSON"))
        })
        .collect()
}
