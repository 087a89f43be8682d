//! What a provider has issued is kept or revoked, also where nobody waits for it any more: the client has left, the
//! connection was deleted, the flow has ended.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolgate_core::clock::Clock;
use toolgate_gateway::audit::ListEntries;
use toolgate_gateway::connections::link::LINK_LIFE_MS;
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, operator};
use toolgate_tests::provider::{Provider, query_of, return_url};

use super::{follow, press, register_for, state};
use crate::described::{built, plugin};
use crate::receipts::sql;

const TOKEN: &str = "/oauth2/token";
const REVOKE: &str = "/oauth2/revoke";
/// What the provider issues first: the number before is the code's.
const FIRST_TOKEN: &str = "refresh-token-000002";

/// A client that asks and leaves before it is answered.
pub(super) struct LeavingClient(TcpStream);

impl LeavingClient {
    /// `headers`: lines without the last line break.
    pub(super) async fn ask(
        gateway: &TestGateway,
        method: &str,
        path: &str,
        headers: &str,
    ) -> Self {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        let host = gateway.address;
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        Self(stream)
    }

    /// Returns once the gateway has noticed and has closed the connection: what ends with it has ended.
    pub(super) async fn leave(mut self) {
        self.0.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let closed = tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut answer)).await;
        // A connection that was reset is closed, too.
        let _ = closed.expect("the gateway closes the connection");
        assert_eq!(String::from_utf8_lossy(&answer), "", "an early answer");
    }
}

/// Twitch, which replaces its refresh tokens and has an endpoint that revokes them, behind a gate.
async fn twitch() -> (TestGateway, Provider, Gate) {
    twitch_at(Clock::system()).await
}

async fn twitch_at(clock: Clock) -> (TestGateway, Provider, Gate) {
    let provider = Provider::start().await;
    let gate = Gate::before(&provider.upstream.url()).await;
    let hosts = ["id.twitch.tv", "api.twitch.tv"];
    let gateway = TestGateway::start(Options {
        plugins: vec![("twitch.wasm".to_owned(), built(plugin("twitch")).await)],
        allow_upstream: hosts.map(|host| format!("{host}={}", gate.url())).into(),
        clock: Some(clock),
        ..Options::default()
    })
    .await;
    register_for(&gateway, "twitch").await;
    super::allow_pages(&gateway).await;
    (gateway, provider, gate)
}

/// A link, and the id of the connection that it makes.
async fn link(gateway: &TestGateway, more: Value) -> (String, String) {
    let mut body = json!({"service": "twitch"});
    body.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let text = |key: &str| link[key].as_str().unwrap().to_owned();
    (text("connect_url"), text("connection_id"))
}

async fn connect(gateway: &TestGateway, provider: &Provider) -> String {
    let (url, id) = link(gateway, json!({})).await;
    let page = follow(gateway, provider, &url).await;
    assert!(page.text.contains("Connected"), "{}", page.text);
    id
}

/// Receipts of what the gateway itself has sent, as their purpose and status.
async fn sent(gateway: &TestGateway, purpose: &str, status: &str) -> usize {
    let page = gateway.get("/v1/executions?kind=connection").await.data();
    let receipts = page["executions"].as_array().unwrap().iter();
    receipts
        .filter(|one| one["tool_name"] == purpose && one["status"] == status)
        .count()
}

/// Whether the log says that the provider revoked the connection.
async fn is_in_the_audit_log(gateway: &TestGateway, id: &str) -> bool {
    let operator = operator(&gateway.gateway).await.unwrap();
    let page = gateway
        .gateway
        .audit_log(&operator, ListEntries::default())
        .await;
    let mut entries = page.unwrap().entries.into_iter();
    entries.any(|entry| entry.action == "connections.revoke" && entry.subject == id)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_refresh_brings_after_its_connection_was_deleted_is_revoked() {
    for (replaces, brought) in [
        (true, "refresh-token-000003"),
        // The old refresh token was revoked with the deletion.
        (false, "access-token-000003"),
    ] {
        let (gateway, provider, gate) = twitch().await;
        let id = connect(&gateway, &provider).await;
        provider.memory().no_refresh = !replaces;
        provider.expire_access_tokens();
        gate.hold(TOKEN, Point::Done);
        let deletes = async {
            gate.held().await;
            let path = format!("/v1/connections/{id}");
            let key = Some(gateway.key.as_str());
            let deleted = gateway.send(Method::DELETE, &path, key, None).await.data();
            assert_eq!(deleted["revoked_at_provider"], true, "{deleted}");
            gate.release();
        };
        let call = gateway.execute("twitch_get_users", json!({}));
        let (answer, ()) = tokio::join!(call, deletes);
        assert_eq!(answer["status"], "auth_required", "{answer}");
        assert_eq!(provider.memory().revoked, [FIRST_TOKEN, brought]);
        gateway
            .wait("a receipt of each revocation", async || {
                sent(&gateway, "host:revocation", "success").await == 2
            })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_leaves_during_the_callback_is_connected_all_the_same() {
    let (gateway, provider, gate) = twitch().await;
    let (url, id) = link(&gateway, json!({})).await;
    let left = press(&gateway, &url, &[]).await;
    let back = provider.consent(&left.leads_to());
    let url = return_url(&gateway.url("/oauth/callback/twitch"), &back);
    let path = url.strip_prefix(&gateway.url("")).unwrap();
    let cookie = format!("cookie: {}", left.cookie().unwrap());
    gate.hold(TOKEN, Point::Done);
    let browser = LeavingClient::ask(&gateway, "GET", path, &cookie).await;
    gate.held().await;
    browser.leave().await;
    gate.release();
    let path = format!("/v1/connections/{id}");
    gateway
        .wait("the connection", async || {
            gateway.get(&path).await.status == 200
        })
        .await;
    assert_eq!(state(&gateway, &id).await, "active");
    let ran = gateway.execute("twitch_get_users", json!({})).await;
    assert_eq!(ran["status"], "success", "{ran}");
    assert_eq!(sent(&gateway, "host:token_request", "success").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_during_a_deletion_has_the_token_revoked_all_the_same() {
    let (gateway, provider, gate) = twitch().await;
    let id = connect(&gateway, &provider).await;
    gate.hold(REVOKE, Point::Asked);
    let path = format!("/v1/connections/{id}");
    let key = format!("authorization: Bearer {}", gateway.key);
    let client = LeavingClient::ask(&gateway, "DELETE", &path, &key).await;
    gate.held().await;
    client.leave().await;
    assert!(!is_in_the_audit_log(&gateway, &id).await, "it is held");
    gate.release();
    gateway
        .wait("the revocation in the audit log", async || {
            is_in_the_audit_log(&gateway, &id).await
        })
        .await;
    assert_eq!(provider.memory().revoked, [FIRST_TOKEN]);
    assert_eq!(gateway.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_cannot_be_stored_are_revoked() {
    let (gateway, provider, _gate) = twitch().await;
    sql(
        &gateway,
        "CREATE TRIGGER broken BEFORE UPDATE ON connect_flows WHEN NEW.state = 'consumed' \
         BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    .await;
    let (url, _) = link(&gateway, json!({})).await;
    let page = follow(&gateway, &provider, &url).await;
    assert_eq!(page.status, 500, "{}", page.text);
    assert_eq!(provider.memory().revoked, [FIRST_TOKEN]);
    sql(&gateway, "DROP TRIGGER broken").await;
    connect(&gateway, &provider).await;
    assert_eq!(provider.memory().revoked, [FIRST_TOKEN], "it is kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_a_link_that_is_confirmed_for_another_user_are_revoked() {
    for (user, status, revocations) in [("ada", 200, 0), ("eve", 403, 1)] {
        let (gateway, provider, _gate) = twitch().await;
        let more = json!({"user_id": "ada", "confirm_url": "https://app.test/done"});
        let (url, _) = link(&gateway, more).await;
        let page = follow(&gateway, &provider, &url).await;
        let code = query_of(&page.leads_to())["connect_code"].clone();
        let confirm = json!({"code": code, "user_id": user});
        let answer = gateway.post("/v1/connections/confirm", &confirm).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        assert_eq!(provider.memory().revoked.len(), revocations, "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_a_link_that_is_not_confirmed_in_time_are_revoked() {
    let clock = Clock::manual(1_795_167_030_000);
    let (gateway, provider, _gate) = twitch_at(clock.clone()).await;
    let code = async |user: &str| {
        let more = json!({"user_id": user, "confirm_url": "https://app.test/done"});
        let (url, _) = link(&gateway, more).await;
        let page = follow(&gateway, &provider, &url).await;
        query_of(&page.leads_to())["connect_code"].clone()
    };
    let late = code("ada").await;
    clock.advance_ms(LINK_LIFE_MS - 1);
    let in_time = code("bob").await;
    clock.advance_ms(1);
    gateway
        .wait("the revocation", async || {
            !provider.memory().revoked.is_empty()
        })
        .await;
    for (code, user, status) in [(late, "ada", 404), (in_time, "bob", 200)] {
        let confirm = json!({"code": code, "user_id": user});
        let answer = gateway.post("/v1/connections/confirm", &confirm).await;
        assert_eq!(answer.status, status, "{user}: {}", answer.text);
    }
    assert_eq!(provider.memory().revoked, [FIRST_TOKEN]);
}
