//! The same over MCP: the link in the text for everyone, as an elicitation for clients that open it.

use serde_json::json;
use toolgate_tests::mcp::{Call, Client, Job, converse};

use super::{follow, world};

fn call() -> Call {
    Call {
        name: "svc_execute_tool",
        arguments: json!({ "tool_name": super::TOOL, "arguments": "{}" }),
    }
}

/// Asks for a connection, has it made, is renewed, revoked, and asks again.
async fn lives_on_a_connection(client: Client) {
    let (gateway, provider) = world().await;
    let url = gateway.url("/mcp");
    let say = async |opens_urls: bool| {
        let job = Job {
            url: &url,
            key: &gateway.key,
            command: None,
            skills: false,
            opens_urls,
            calls: vec![call()],
        };
        converse(client, &job)
            .await
            .expect("the client gets through")
    };
    let asked = say(false).await;
    let text = asked.results[0].text().to_owned();
    for line in [
        "## Authentication Required\n",
        "\nReason: auth_required\nAuth Type: oauth2\n",
        &format!("\nConnect Link: {}", gateway.url("/connect/")),
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(asked.opened.is_empty(), "{:?}", asked.opened);
    let opened = say(true).await.opened;
    assert_eq!(opened.len(), 1, "{opened:?}");
    assert!(
        opened[0].starts_with(&gateway.url("/connect/")),
        "{opened:?}"
    );
    follow(&gateway, &provider, &opened[0]).await;
    let text = say(true).await.results[0].text().to_owned();
    assert!(
        text.contains("Result:") && text.contains("octo-ada"),
        "{text}"
    );
    provider.expire_access_tokens();
    let text = say(false).await.results[0].text().to_owned();
    assert!(
        text.contains("octo-ada") && provider.memory().refreshes == 1,
        "{text}"
    );
    provider.revoke_everything();
    let text = say(false).await.results[0].text().to_owned();
    assert!(text.contains("\nReason: auth_expired\n"), "{text}");
    assert!(text.contains(&gateway.url("/connect/")), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_the_stateless_era_lives_on_a_connection() {
    lives_on_a_connection(Client::JavaScript("2026-07-28")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_the_session_era_lives_on_a_connection() {
    lives_on_a_connection(Client::JavaScript("legacy")).await;
}
