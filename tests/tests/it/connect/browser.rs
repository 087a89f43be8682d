//! A certified authorization server, driven by a real browser through login and consent.

use serde_json::json;
use toolgate_gateway::connections::apps;
use toolgate_store::ALL_WORKSPACES;
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::mcp::{Call, Client, Job, converse};
use toolgate_tests::oidc::{Server, visit};
use toolgate_vault::{Secret, Vault};

use super::run;

/// Short enough to expire within the test. The server rounds to whole seconds, so a token may live one
/// second less; the rest must outlast the pauses of a busy machine between a renewal and the next request.
const ACCESS_TOKEN_S: u64 = 6;

async fn world() -> (TestGateway, Server) {
    let mut server = Server::start().await.unwrap();
    let gateway = TestGateway::with_upstream("github", "api.github.com", server.url()).await;
    let callback = gateway.url("/oauth/callback/github");
    server.register(&callback, ACCESS_TOKEN_S).await.unwrap();
    let store = gateway.gateway.store();
    let manifest = toolgate_gateway::plugins::manifest(store, "github")
        .await
        .unwrap();
    let vault = Vault::open(&gateway.config.gateway.master_key_file).unwrap();
    let app = apps::NewApp {
        client_id: "the-client".to_owned(),
        client_secret: Some(Secret::new("the-client-secret")),
        scopes: Some(vec![
            "openid".to_owned(),
            "repo".to_owned(),
            "read:user".to_owned(),
        ]),
        scopes_max: Vec::new(),
        base_url: Some(server.url()),
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
    (gateway, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_connects_the_token_is_renewed_and_a_revoked_grant_is_connected_again() {
    let (gateway, server) = world().await;
    let first = run(&gateway, "ada").await;
    assert_eq!(first["status"], "auth_required", "{first}");
    let link = first["connect_url"].as_str().unwrap();
    let read = visit(link, "octo-ada").await.unwrap();
    for said in ["default", "ada", "GitHub", "repo", "Needed for: "] {
        assert!(read.offer.contains(said), "{said}: {}", read.offer);
    }
    assert!(read.done.contains("octo-ada"), "{}", read.done);
    assert_eq!(read.url, gateway.url("/oauth/callback/github"));
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

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_over_mcp_has_the_same_story() {
    let (gateway, server) = world().await;
    let url = gateway.url("/mcp");
    let say = async || {
        let arguments = json!({ "tool_name": super::TOOL, "arguments": "{}" });
        let job = Job {
            url: &url,
            key: &gateway.key,
            command: None,
            skills: false,
            opens_urls: false,
            calls: vec![Call {
                name: "svc_execute_tool",
                arguments,
            }],
        };
        let said = converse(Client::JavaScript("2026-07-28"), &job).await;
        said.unwrap().results[0].text().to_owned()
    };
    let link_in = |text: &str| -> String {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("Connect Link: "));
        line.unwrap_or_else(|| panic!("no link: {text}")).to_owned()
    };
    let connections = async || {
        let listed = gateway.get("/v1/connections").await.data();
        listed["connections"].as_array().unwrap().clone()
    };
    let first = say().await;
    assert!(first.contains("\nReason: auth_required\n"), "{first}");
    visit(&link_in(&first), "octo-ada").await.unwrap();
    let second = say().await;
    assert!(second.contains("octo-ada"), "{second}");
    gateway
        .wait("the token to end and to be renewed", async || {
            let again = say().await;
            assert!(again.contains("octo-ada"), "{again}");
            server.refreshes().await.unwrap() >= 1
        })
        .await;
    server.revoke_everything().await.unwrap();
    let fourth = say().await;
    assert!(fourth.contains("\nReason: auth_expired\n"), "{fourth}");
    let before = connections().await;
    assert_eq!(before[0]["state"], "reauth_needed");
    visit(&link_in(&fourth), "octo-ada").await.unwrap();
    let fifth = say().await;
    assert!(fifth.contains("octo-ada"), "{fifth}");
    let after = connections().await;
    assert_eq!(after.len(), 1);
    assert_eq!(after[0]["connection_id"], before[0]["connection_id"]);
}
