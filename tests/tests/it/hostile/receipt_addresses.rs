//! Credentials that a caller puts into an address, looked for in the receipt of the call.

use serde_json::{Value, json};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::upstream::Upstream;

use super::spy;

/// Of the form of a bot's token, and of a webhook's secret.
const BOT: &str = "bot123456:AAE-0a9b8c7d6e5f4g3h2i1j0k";
const HOOK: &str = "AbCdEfGhIj0123456789KlMn";

/// A description with an address as an argument, with tokens in its paths, and with an id that looks like one.
async fn start() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|_| spy::answers("application/json", "{}")).await;
    let argument = |name: &str, place: &str| json!({ "name": name, "in": place, "required": true, "description": name, "schema": { "type": "string" } });
    let description = spy::description(
        &spy::bearer(),
        json!({
            "/fetch": spy::reads("fetch", json!([argument("url", "query")])),
            "/{bot_token}/get_me": spy::reads("bot", json!([argument("bot_token", "path")])),
            "/hooks/{team}/{secret}": spy::reads("hook", json!([argument("team", "path"), argument("secret", "path")])),
            "/pages/{page_id}": spy::reads("page", json!([argument("page_id", "path")])),
        }),
    );
    let gateway = spy::gateway(&description, &upstream).await;
    spy::connect(&gateway, "ada", &[("f_secret", spy::TOKEN)]).await;
    (gateway, upstream)
}

/// The line of the one request of a call.
async fn line(gateway: &TestGateway, tool: &str, arguments: Value) -> Value {
    let ran = spy::run(gateway, &format!("spy_{tool}"), "ada", arguments).await;
    assert_eq!(ran["status"], "success", "{ran}");
    let id = ran["execution_id"].as_str().unwrap();
    let receipt = gateway.get(&format!("/v1/executions/{id}")).await.data();
    receipt["requests"][0].clone()
}

/// Defence: `host/egress/src/receipt_address.rs` never keeps what stands in front of an `@`.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_as_an_argument_has_no_password_in_the_receipt() {
    let (gateway, upstream) = start().await;
    for (url, kept) in [
        ("https://example.com/feed?page=2", true),
        ("https://ada:hunter2@example.com/feed", false),
        ("https%3A%2F%2Fada%3Ahunter2%40example.com", false),
        ("//hunter2@example.com/", false),
        ("https://example.com/?token=hunter2", false),
        // An address without a scheme, one within the site, and a query or a document as a value.
        ("ada:hunter2@proxy.example:8080", false),
        ("/reset?token=hunter2", false),
        ("user=ada&password=hunter2", false),
        ("{\"password\": \"hunter2\"}", false),
        ("from:ada@example.com", true),
    ] {
        let line = line(&gateway, "fetch", json!({ "url": url })).await;
        let query = line["query"].as_str().unwrap();
        assert!(!query.contains("hunter2"), "{url}: {query}");
        assert_eq!(query == "url=[redacted]", !kept, "{url}: {query}");
    }
    let sent = upstream.received();
    let whole = sent.iter().filter(|one| one.target.contains("hunter2"));
    assert_eq!(whole.count(), 8, "the provider is sent what was asked");
}

/// Defence: of a path, arguments with the name of a secret are left out.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_in_a_path_is_not_in_the_receipt_and_an_id_is() {
    let (gateway, upstream) = start().await;
    let bot = line(&gateway, "bot", json!({ "bot_token": BOT })).await;
    assert_eq!(bot["path"], "/[redacted]/get_me");
    let hook = json!({ "team": "T0123", "secret": HOOK });
    let hook = line(&gateway, "hook", hook).await;
    assert_eq!(hook["path"], "/hooks/T0123/[redacted]");
    let page = json!({ "page_id": "0a9b8c7d6e5f4a3b2c1d0a9b8c7d6e5f" });
    let page = line(&gateway, "page", page).await;
    assert_eq!(page["path"], "/pages/0a9b8c7d6e5f4a3b2c1d0a9b8c7d6e5f");
    let sent = upstream.received();
    assert!(sent.iter().any(|one| one.target.contains(HOOK)), "{sent:?}");
}
