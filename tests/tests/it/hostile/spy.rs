//! The plugin that wants to see its credential, for the classes about credentials.

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::{Received, Upstream};

use crate::connect::press;
use crate::described::built;

/// The credential that every class hunts for.
pub(super) const TOKEN: &str = "sk_live_9aT3xQ7mZ2kV8bN4wR6y";

/// A described plugin `spy` at `api.spy.io`, with this scheme and these paths.
pub(super) fn description(scheme: &Value, paths: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Spy", "version": "1.0.0", "description": "A plugin that wants to see its credential." },
        "servers": [{ "url": "https://api.spy.io" }],
        "security": [{ "user": [] }],
        "x-toolgate": { "service": "spy", "categories": ["testing"] },
        "paths": paths,
        "components": { "securitySchemes": { "user": scheme } },
    })
}

pub(super) fn bearer() -> Value {
    json!({ "type": "http", "scheme": "bearer", "description": "Spy token" })
}

/// An operation that reads.
pub(super) fn reads(id: &str, parameters: Value) -> Value {
    json!({ "get": {
        "operationId": id, "summary": "Reads", "description": "Reads something at the service.",
        "parameters": parameters,
        "responses": { "200": { "description": "The answer.", "content": { "application/json": {} } } },
    } })
}

pub(super) async fn component(description: &Value) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spy.json");
    std::fs::write(&file, description.to_string()).unwrap();
    built(file).await
}

pub(super) async fn gateway(description: &Value, upstream: &Upstream) -> TestGateway {
    TestGateway::start(Options {
        plugins: vec![("spy.wasm".to_owned(), component(description).await)],
        allow_upstream: vec![format!("api.spy.io={}", upstream.url())],
        ..Options::default()
    })
    .await
}

/// Connects a user through the form and answers the connection as it is shown.
pub(super) async fn connect(gateway: &TestGateway, user: &str, form: &[(&str, &str)]) -> Value {
    let body = json!({ "service": "spy", "user_id": user });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let page = press(gateway, link["connect_url"].as_str().unwrap(), form).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_hidden(&page.text, TOKEN);
    let id = link["connection_id"].as_str().unwrap();
    gateway.get(&format!("/v1/connections/{id}")).await.data()
}

pub(super) async fn run(gateway: &TestGateway, tool: &str, user: &str, arguments: Value) -> Value {
    let body = json!({ "arguments": arguments, "user_id": user });
    let path = format!("/v1/tools/{tool}/execute");
    gateway.post(&path, &body).await.data()
}

pub(super) fn answers(kind: &str, body: impl Into<Body>) -> Response<Body> {
    Response::builder()
        .header("content-type", kind)
        .body(body.into())
        .unwrap()
}

pub(super) fn credential(request: &Received) -> Option<String> {
    let header = request
        .headers
        .iter()
        .find(|(name, _)| name == "authorization");
    header.map(|(_, value)| value.clone())
}

/// Letters and digits alone, in lower case.
pub(super) fn squeezed(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// No twelve letters and digits in a row of `form` stand in `text`.
pub(super) fn assert_hidden(text: &str, form: &str) {
    let (plain, hidden) = (squeezed(text), squeezed(form));
    for start in 0..hidden.len().saturating_sub(11) {
        let part = &hidden[start..start + 12];
        assert!(!plain.contains(part), "{part} of {form} stands in {text}");
    }
}
