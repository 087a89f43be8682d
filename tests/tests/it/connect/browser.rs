//! A certified authorization server, driven by a real browser through login and consent.

use serde_json::json;
use toolgate::gateway::connections::apps;
use toolgate::store::ALL_WORKSPACES;
use toolgate::vault::{Secret, Vault};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::oidc::{Server, visit};

use super::run;

/// Short enough to end within the test.
const ACCESS_TOKEN_S: u64 = 2;

async fn world() -> (TestGateway, Server) {
    let mut server = Server::start().await.unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("github.wasm".to_owned(), built_plugin("github").unwrap())],
        allow_upstream: vec![format!("api.github.com={}", server.url())],
        ..Options::default()
    })
    .await;
    let callback = gateway.url(apps::CALLBACK_PATH);
    server.register(&callback, ACCESS_TOKEN_S).await.unwrap();
    let store = gateway.gateway.store();
    let manifest = toolgate::gateway::plugins::manifest(store, "github")
        .await
        .unwrap();
    let vault = Vault::open(&gateway.config.master_key_file).unwrap();
    let app = apps::NewApp {
        client_id: "the-client".to_owned(),
        client_secret: Some(Secret::new("the-client-secret")),
        scopes: Some(vec![
            "openid".to_owned(),
            "repo".to_owned(),
            "read:user".to_owned(),
        ]),
        base_url: Some(server.url()),
    };
    apps::register(store, &vault, &manifest, ALL_WORKSPACES, app, 1)
        .await
        .unwrap();
    (gateway, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_connects_the_token_is_renewed_and_a_revoked_grant_is_connected_again() {
    let (gateway, server) = world().await;
    let first = run(&gateway, "ada").await;
    assert_eq!(first["status"], "auth_required", "{first}");
    let link = first["connect_url"].as_str().unwrap();
    let read = visit(link, "octo-ada").await.unwrap();
    for said in ["default", "ada", "GitHub", "repo", super::TOOL] {
        assert!(read.offer.contains(said), "{said}: {}", read.offer);
    }
    assert!(read.done.contains("octo-ada"), "{}", read.done);
    assert_eq!(read.url, gateway.url("/oauth/callback"));
    assert!(
        !read.referrers.iter().any(|one| one.contains("/connect/")),
        "{:?}",
        read.referrers
    );

    let second = run(&gateway, "ada").await;
    assert_eq!(second["result"]["login"], "octo-ada", "{second}");
    gateway
        .wait("the token to end and to be renewed", async || {
            let answer = run(&gateway, "ada").await;
            assert_eq!(answer["status"], "success", "{answer}");
            server.refreshes().await.unwrap() >= 2
        })
        .await;

    server.revoke_everything().await.unwrap();
    let fourth = run(&gateway, "ada").await;
    assert_eq!(fourth["status"], "auth_expired", "{fourth}");
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    assert_eq!(listed["connections"][0]["state"], "reauth_needed");
    let link = fourth["connect_url"].as_str().unwrap();
    visit(link, "octo-ada").await.unwrap();
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    let again = gateway.get("/v1/connections?user_id=ada").await.data();
    assert_eq!(
        again["connections"][0]["connection_id"],
        listed["connections"][0]["connection_id"]
    );
    assert_eq!(again["connections"].as_array().map(Vec::len), Some(1));
    assert_eq!(json!(again["connections"][0]["state"]), "active");
}
