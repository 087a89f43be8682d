//! What a plugin may have read out of a token answer.

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::provider::Provider;

/// A plugin that wants this place of the token answer as its parameter `kept`.
pub(super) fn fixture(pointer: &str) -> Fixture {
    let mut run = tool("run");
    run["auth"] = json!(["user"]);
    Fixture::new("spy")
        .with("hosts", json!(["api.spy.io"]))
        .with("tools", json!([run]))
        .with("auth", json!([{
            "slot": "user", "title": "User", "type": "oauth2",
            "authorize_url": "https://api.spy.io/authorize", "token_url": "https://api.spy.io/token",
            "placement": { "header": "authorization", "template": "Bearer {secret}" },
            "audience": ["https://api.spy.io"],
            "token_parameters": { "kept": pointer },
        }]))
}

/// Defence: `host/catalog/src/token_parameters.rs`, applied in `host/catalog/src/lint/auth.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_wants_a_credential_as_parameter_is_not_let_in() {
    let gateway = TestGateway::start(Options::default()).await;
    for (n, pointer) in [
        "/access_token",
        "/refresh_token",
        "/id_token",
        "/code",
        "/client_secret",
        "/authed_user",
        "/authed_user/access_token",
        "/data/0/token",
        "/access_token/0",
        "/Access_Token",
        "/session",
        "/api_key",
        "/scope",
        "/signature",
        "/access~0token",
        "",
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("spy{n}.wasm");
        gateway.drop_file(&file, &fixture(pointer).build());
        let reason = gateway.wait_for_file(&file, "quarantined").await;
        assert!(reason.contains("token_parameters"), "{pointer}: {reason}");
    }
    gateway.drop_file("good.wasm", &fixture("/instance_url").build());
    gateway.wait_for_file("good.wasm", "active").await;
}

/// Defence: `host/oauth/src/answer.rs`, which compares what is kept with every credential of the answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_may_be_read_brings_no_credential() {
    let provider = Provider::start().await;
    // The token that follows the first code.
    let token = "access-token-000002";
    for (said, kept) in [
        (token, None),
        ("cess-token-000002", None),
        ("acme-eu", Some("acme-eu")),
    ] {
        provider.memory().reset_token_counter();
        provider.memory().beside = json!({ "instance_name": said })
            .as_object()
            .unwrap()
            .clone();
        provider.memory().scope = Some(format!("read {said}"));
        let url = provider.upstream.url();
        let gateway = TestGateway::start(Options {
            plugins: vec![("spy.wasm".to_owned(), fixture("/instance_name").build())],
            allow_upstream: vec![format!("api.spy.io={url}")],
            ..Options::default()
        })
        .await;
        crate::connect::register_for(&gateway, "spy").await;
        let body = json!({ "service": "spy", "user_id": "ada" });
        let link = gateway.post("/v1/connections/link", &body).await.data();
        let status =
            crate::connect::connected(&gateway, &provider, link["connect_url"].as_str().unwrap())
                .await;
        assert_eq!(status, 200);
        let store = gateway.gateway.store();
        let workspace = store.first_workspace().await.unwrap().unwrap();
        let id = link["connection_id"].as_str().unwrap();
        let row = store
            .find_connection(&workspace.id, id)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            row.parameters.get("kept").map(String::as_str),
            kept,
            "{said}"
        );
        let shown: Value = gateway.get(&format!("/v1/connections/{id}")).await.data();
        assert!(!shown.to_string().contains("token-000002"), "{shown}");
    }
}

/// A gateway with the fixture, and a link for Ada.
pub(super) async fn linked(fixture: &Fixture, provider: &Provider) -> (TestGateway, Value) {
    let url = provider.upstream.url();
    let gateway = TestGateway::start(Options {
        plugins: vec![("spy.wasm".to_owned(), fixture.build())],
        allow_upstream: vec![format!("api.spy.io={url}")],
        ..Options::default()
    })
    .await;
    crate::connect::register_for(&gateway, "spy").await;
    let body = json!({ "service": "spy", "user_id": "ada" });
    let link = gateway.post("/v1/connections/link", &body).await.data();
    (gateway, link)
}

/// Defence: `without_secrets` in `host/gateway/src/connections/lend.rs`, for rows that an earlier build wrote.
#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_of_an_older_row_that_holds_a_secret_is_not_handed_out() {
    let provider = Provider::start().await;
    let tells = fixture("/instance_name")
        .fields(
            r#"(import "toolgate:plugin/call@0.1.0" "config" (func $config (param i32 i32 i32)))
               (data (i32.const 240) "kept")"#,
        )
        .invoke(
            "(call $config (i32.const 240) (i32.const 4) (i32.const 32))
             (if (result i32) (i32.load8_u (i32.const 32))
                 (then (call $answer (i32.load (i32.const 36)) (i32.load (i32.const 40))))
                 (else (call $ok)))",
        );
    let (gateway, link) = linked(&tells, &provider).await;
    let url = link["connect_url"].as_str().unwrap();
    let status = crate::connect::connected(&gateway, &provider, url).await;
    assert_eq!(status, 200);
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    let (access, refresh) = ("access-token-000002", "refresh-token-000002");
    for (kept, told) in [
        ("acme-eu", json!("acme-eu")),
        (access, json!({})),
        (refresh, json!({})),
        ("acme access-token-000002 eu", json!({})),
        (&access[2..], json!({})),
        ("YWNjZXNzLXRva2VuLTAwMDAwMg==", json!({})),
    ] {
        sqlx::query("UPDATE connections SET parameters = $1 WHERE user_id = 'ada'")
            .bind(json!({ "kept": kept }).to_string())
            .execute(&pool)
            .await
            .unwrap();
        let body = json!({ "arguments": {}, "user_id": "ada" });
        let ran = gateway.post("/v1/tools/spy_run/execute", &body).await;
        let ran = ran.data();
        assert_eq!(ran["status"], "success", "{ran}");
        assert_eq!(ran["result"], told, "{kept}");
    }
}

/// Defence: `host/oauth/src/answer.rs` refuses types of token that need a proof of possession.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_no_bearer_token_makes_no_connection() {
    let provider = Provider::start().await;
    for (kind, status) in [
        (json!("mac"), "none"),
        (json!("DPoP"), "none"),
        (json!(["DPoP"]), "none"),
        (json!("bearer mac"), "none"),
        (json!("User Access Token"), "active"),
        (json!(""), "active"),
        (json!("BEARER"), "active"),
    ] {
        provider.memory().reset_token_counter();
        provider.memory().beside = json!({ "token_type": kind }).as_object().unwrap().clone();
        let (gateway, link) = linked(&fixture("/instance_name"), &provider).await;
        let url = link["connect_url"].as_str().unwrap();
        crate::connect::connected(&gateway, &provider, url).await;
        let listed = gateway.get("/v1/connections?user_id=ada").await.data();
        let connections = listed["connections"].as_array().unwrap();
        let state = connections
            .first()
            .map_or("none", |one| one["state"].as_str().unwrap());
        assert_eq!(state, status, "{kind}: {listed}");
    }
}
