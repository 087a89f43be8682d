//! Client credentials: a connection of the gateway's own registration, without a person's sign-in.

use reqwest::Method;
use serde_json::json;
use toolgate_gateway::connections::apps;
use toolgate_store::ALL_WORKSPACES;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::provider::Provider;
use toolgate_vault::{Secret, Vault};

use super::kept_or_revoked::LeavingClient;
use super::{open, press, state};

async fn world(secret: &str) -> (TestGateway, Provider) {
    let provider = Provider::start().await;
    let gateway = depot(secret, provider.upstream.url()).await;
    (gateway, provider)
}

/// A gateway that reaches the provider at `url`.
async fn depot(secret: &str, url: String) -> TestGateway {
    let mut run = tool("run");
    run["auth"] = json!(["machine"]);
    let plugin = Fixture::new("depot")
        .with("hosts", json!(["api.depot.test"]))
        .with("capabilities", json!(["egress"]))
        .with(
            "auth",
            json!([{
                "slot": "machine", "title": "Depot", "type": "oauth2_client_credentials",
                "token_url": "https://id.depot.test/login/oauth/access_token",
                "revoke_url": "https://id.depot.test/login/oauth/revoke",
                "token_auth": "post", "scopes": ["stock"],
                "placement": {"header": "authorization", "template": "Bearer {secret}"},
                "audience": ["https://api.depot.test"]
            }]),
        )
        .with("tools", json!([run]))
        .build();
    let gateway = TestGateway::with_plugin("depot.wasm", plugin).await;
    let store = gateway.gateway.store();
    let manifest = toolgate_gateway::plugins::manifest(store, "depot")
        .await
        .unwrap();
    let vault = Vault::open(&gateway.config.gateway.master_key_file).unwrap();
    let app = apps::NewApp {
        client_id: "the-client".to_owned(),
        client_secret: Some(Secret::new(secret)),
        scopes: None,
        // The operator's word: the manifest names `stock` alone.
        scopes_max: vec!["orders".to_owned()],
        base_url: Some(url),
        redirect_name: None,
        tenant: None,
        callback: None,
    };
    let operator = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    apps::register(store, &vault, &operator, &manifest, ALL_WORKSPACES, app, 1)
        .await
        .unwrap();
    gateway
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machines_connection_is_made_by_one_button_and_revoked_at_the_provider() {
    let (gateway, provider) = world("the-client-secret").await;
    let body = json!({"service": "depot", "scopes": ["orders", "admin"]});
    let above = gateway.post("/v1/connections/link", &body).await;
    assert_eq!((above.status, &*above.code()), (400, "invalid_request"));
    let body = json!({"service": "depot", "scopes": ["orders"]});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let page = open(&gateway, url).await;
    assert!(page.text.contains("<code>orders</code>") && !page.text.contains("<label"));
    let page = press(&gateway, url, &[]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let id = link["connection_id"].as_str().unwrap();
    assert_eq!(state(&gateway, id).await, "active");
    let asked = provider.upstream.received();
    assert!(
        asked[0]
            .body
            .contains("grant_type=client_credentials&scope=stock+orders")
    );
    assert_eq!(
        gateway.execute("depot_run", json!({})).await["status"],
        "success"
    );

    let path = format!("/v1/connections/{id}");
    let deleted = gateway
        .send(Method::DELETE, &path, Some(&gateway.key), None)
        .await
        .data();
    assert_eq!(deleted["revoked_at_provider"], true, "{deleted}");
    assert_eq!(provider.memory().revoked.len(), 1);
    let again = gateway
        .send(Method::DELETE, &path, Some(&gateway.key), None)
        .await;
    assert_eq!(again.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_client_secret_connects_nothing() {
    let (gateway, _provider) = world("not-the-secret").await;
    let link = gateway
        .post("/v1/connections/link", &json!({"service": "depot"}))
        .await
        .data();
    let page = press(&gateway, link["connect_url"].as_str().unwrap(), &[]).await;
    assert_eq!(page.status, 502, "{}", page.text);
    assert!(page.text.contains("invalid_client") && !page.text.contains("not-the-secret"));
    let path = format!(
        "/v1/connections/{}",
        link["connection_id"].as_str().unwrap()
    );
    assert_eq!(gateway.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_leaves_after_the_button_is_connected_all_the_same() {
    let provider = Provider::start().await;
    let gate = Gate::before(&provider.upstream.url()).await;
    let gateway = depot("the-client-secret", gate.url()).await;
    let body = json!({"service": "depot"});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let path = url.strip_prefix(&gateway.url("")).unwrap();
    let shown = open(&gateway, url).await;
    let (cookie, field) = (shown.cookie().unwrap(), shown.page_field().unwrap());
    // The line breaks that end the head end the body here.
    let body = format!("page={field}&end=");
    let form = format!(
        "cookie: {cookie}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len() + 4
    );
    gate.hold("/login/oauth/access_token", Point::Done);
    let browser = LeavingClient::ask(&gateway, "POST", path, &form).await;
    gate.held().await;
    browser.leave().await;
    gate.release();
    let id = link["connection_id"].as_str().unwrap();
    let path = format!("/v1/connections/{id}");
    gateway
        .wait("the connection", async || {
            gateway.get(&path).await.status == 200
        })
        .await;
    assert_eq!(state(&gateway, id).await, "active");
}
