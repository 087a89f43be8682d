//! The dashboard's door: an operator pastes an address, sees what it would become, and uploads that.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway, operator};
use toolgate_tests::upstream::Upstream;

use super::hostile::{answer, one_tool, result, server};
use crate::apps::way::MemberBrowser;

const PUBLIC: &str = "https://mcp.example.net/mcp";
const READ: &str = "/internal/addresses/read";

/// A gateway that finds this server at the address [`PUBLIC`].
async fn gateway(server: &Upstream) -> TestGateway {
    TestGateway::start(Options {
        allow_upstream: vec![format!("mcp.example.net={}", server.url())],
        ..Options::default()
    })
    .await
}

async fn read(person: &MemberBrowser<'_>, url: &str) -> Answer {
    let body = json!({ "url": url, "service": "odd" });
    person.ask(Method::POST, READ, body).await
}

/// The addresses that the audit log says were asked.
async fn asked(gateway: &TestGateway) -> Vec<Value> {
    let caller = operator(&gateway.gateway).await.unwrap();
    let store = gateway.gateway.store();
    let page = store.list_audit_entries(&caller.workspace_id, None, 100);
    let entries = page.await.unwrap().items.into_iter();
    entries
        .filter(|entry| entry.action == "plugins.ask_server")
        .map(|entry| serde_json::from_str::<Value>(&entry.details).unwrap()["url"].take())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_makes_a_plugin_of_an_address_and_reviews_it_before_it_serves() {
    let server = server(
        |_| one_tool(),
        |_, message| {
            let text = json!({"content": [{"type": "text", "text": "done"}]});
            result(message, &text)
        },
    )
    .await;
    let gateway = gateway(&server).await;
    let person = MemberBrowser::new(&gateway, "ada@example.com", Role::Owner).await;
    let found = read(&person, PUBLIC).await.data();
    assert_eq!(found["kind"], "mcp_server", "{found}");
    let about = &found["server"];
    assert_eq!(
        (&about["service"], &about["auth"]),
        (&json!("odd"), &json!("none"))
    );
    assert_eq!(
        about["tools"],
        json!([{"name": "odd_do_it", "upstream": "do_it", "effect": "write"}])
    );
    assert_eq!(asked(&gateway).await, [json!(PUBLIC)]);
    let nothing = gateway.get("/v1/tools/odd_do_it/schema").await;
    assert_eq!(nothing.status, 404, "nothing is installed yet");

    let wasm = BASE64
        .decode(found["wasm_base64"].as_str().unwrap())
        .unwrap();
    gateway.drop_file("odd.wasm", &wasm);
    gateway.wait_for_file("odd.wasm", "active").await;
    let ran = gateway.execute("odd_do_it", json!({})).await;
    assert_eq!(ran["result"], "done", "{ran}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_at_an_address_is_told_apart_from_a_server() {
    let description = json!({
        "openapi": "3.1.0",
        "info": {"title": "Ice", "version": "1.0.0"},
        "paths": {"/cones": {"get": {"operationId": "list_cones", "summary": "Lists all cones.", "responses": {}}}},
    });
    let text = description.to_string();
    let server = Upstream::start(move |request| match request.method.as_str() {
        "GET" if request.target == "/openapi.json" => answer(200, "application/json", text.clone()),
        "GET" if request.target == "/page" => answer(200, "text/html", "<p>Hello</p>"),
        _ => answer(404, "text/plain", "nothing here"),
    })
    .await;
    let gateway = gateway(&server).await;
    let person = MemberBrowser::new(&gateway, "ada@example.com", Role::Owner).await;
    let found = read(&person, "https://mcp.example.net/openapi.json").await;
    let found = found.data();
    assert_eq!(found["kind"], "description", "{found}");
    assert_eq!(found["text"], description.to_string());
    for (url, expected) in [
        ("https://mcp.example.net/page", "nothing can be made"),
        ("https://mcp.example.net/nothing", "no Streamable HTTP"),
    ] {
        let refused = read(&person, url).await;
        assert_eq!(refused.status, 400, "{url}: {}", refused.text);
        assert!(refused.text.contains(expected), "{url}: {}", refused.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_address_is_not_asked_and_a_member_asks_none() {
    let server = server(|_| one_tool(), |_, message| result(message, &json!({}))).await;
    let gateway = gateway(&server).await;
    let person = MemberBrowser::new(&gateway, "ada@example.com", Role::Owner).await;
    let own = format!("{}/mcp", server.url());
    for url in [&*own, "https://10.0.0.5/mcp", "http://mcp.example.net/mcp"] {
        let refused = read(&person, url).await;
        assert_eq!(refused.status, 400, "{url}: {}", refused.text);
        assert!(
            refused.text.contains("toolgate plugin build --mcp"),
            "{url}: {}",
            refused.text
        );
    }
    let member = MemberBrowser::new(&gateway, "bob@example.com", Role::Member).await;
    let denied = read(&member, PUBLIC).await;
    assert_eq!((denied.status, &*denied.code()), (403, "role_denied"));
    assert_eq!(server.received().len(), 0, "{:?}", server.received());
    assert_eq!(asked(&gateway).await, Vec::<Value>::new());
}
