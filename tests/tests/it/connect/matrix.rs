//! A real chat server: connect with an access token, create a room, write, read it back.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::mcp::{Call, Client, Job, converse};
use toolgate_tests::synapse::Synapse;

use super::press;

async fn world(homeserver: &Synapse) -> TestGateway {
    let gateway = TestGateway::start(Options {
        plugins: vec![("matrix.wasm".to_owned(), built_plugin("matrix").unwrap())],
        ..Options::default()
    })
    .await;
    let set = [("homeserver".to_owned(), homeserver.url.clone())];
    toolgate_tests::gateway::configure(&gateway.gateway, "matrix", &set)
        .await
        .unwrap();
    gateway
}

async fn connect(gateway: &TestGateway, token: &str) {
    let body = json!({"service": "matrix"});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let page = press(gateway, url, &[("f_secret", token)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
}

/// Calls tools through `svc_execute_tool`, in order, and answers each result.
async fn execute(gateway: &TestGateway, calls: &[(&str, Value)]) -> Vec<Value> {
    let calls = calls.iter().map(|(tool, arguments)| Call {
        name: "svc_execute_tool",
        arguments: json!({"tool_name": tool, "arguments": arguments.to_string()}),
    });
    let job = Job {
        url: &gateway.url("/mcp"),
        key: &gateway.key,
        command: None,
        skills: false,
        opens_urls: false,
        calls: calls.collect(),
    };
    let said = converse(Client::JavaScript("2026-07-28"), &job)
        .await
        .unwrap();
    let results = said.results.iter().map(|one| {
        let text = one.text();
        let (_, result) = text.split_once("Result:").expect(text);
        let json = result
            .trim()
            .trim_start_matches("```json")
            .trim_end_matches("```");
        serde_json::from_str(json).unwrap_or_else(|_| panic!("{result}"))
    });
    results.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_sent_to_a_room_of_a_real_homeserver_and_read_back() {
    let homeserver = Synapse::start().await.unwrap();
    let gateway = world(&homeserver).await;
    let asked = gateway.execute("matrix_whoami", json!({})).await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    let token = homeserver.register("ada").await.unwrap();
    connect(&gateway, &token).await;

    let room = json!({"name": "Release 1.2", "topic": "What is left"});
    let made = execute(
        &gateway,
        &[("matrix_whoami", json!({})), ("matrix_create_room", room)],
    )
    .await;
    assert_eq!(made[0]["user_id"], "@ada:home.test");
    let room_id = made[1]["room_id"].as_str().unwrap();
    let text = "The deploy is done: it took 4 minutes.";
    let said = execute(
        &gateway,
        &[
            (
                "matrix_send_message",
                json!({"room_id": room_id, "text": text}),
            ),
            ("matrix_list_messages", json!({"room_id": room_id})),
            ("matrix_list_room_members", json!({"room_id": room_id})),
            ("matrix_search_messages", json!({"text": "deploy"})),
        ],
    )
    .await;
    let event = said[0]["event_id"].as_str().unwrap();
    assert_eq!(
        (&said[1][0]["text"], &said[1][0]["event_id"]),
        (&json!(text), &json!(event))
    );
    assert_eq!(said[2][0]["user_id"], "@ada:home.test", "{}", said[2]);
    assert!(said[3].to_string().contains(event), "{}", said[3]);

    // The server itself says the same, to a client without a gateway.
    let path = format!(
        "/_matrix/client/v3/rooms/{}/event/{}",
        percent(room_id),
        percent(event)
    );
    let kept = homeserver
        .ask(Method::GET, &path, Some(&token), None)
        .await
        .unwrap();
    assert_eq!(kept["content"]["body"], text, "{kept}");

    // The server ends the session; the next call asks for a new token.
    let logout = "/_matrix/client/v3/logout";
    homeserver
        .ask(Method::POST, logout, Some(&token), Some(&json!({})))
        .await
        .unwrap();
    let refused = gateway.execute("matrix_whoami", json!({})).await;
    assert_eq!(refused["status"], "auth_expired", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_the_homeserver_that_the_operator_named_and_no_other() {
    let (named, other) = (echo().await, echo().await);
    let homeserver = |url: String| ("homeserver".to_owned(), url);
    let gateway = TestGateway::start(Options {
        plugins: vec![("matrix.wasm".to_owned(), built_plugin("matrix").unwrap())],
        allow_upstream: vec![format!("matrix-client.matrix.org={}", other.url())],
        ..Options::default()
    })
    .await;
    let set = [homeserver(named.url())];
    toolgate_tests::gateway::configure(&gateway.gateway, "matrix", &set)
        .await
        .unwrap();
    connect(&gateway, "syt_planted_token_of_ada").await;
    let answer = gateway.execute("matrix_whoami", json!({})).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let seen = named.received();
    let bearer = "Bearer syt_planted_token_of_ada";
    assert!(
        seen[0].headers.iter().any(|(_, value)| value == bearer),
        "{seen:?}"
    );
    assert!(other.received().is_empty());
    assert!(!answer.to_string().contains("syt_planted"), "{answer}");
    let bad = [homeserver("file:///etc/passwd".to_owned())];
    let refused = toolgate_tests::gateway::configure(&gateway.gateway, "matrix", &bad).await;
    assert!(refused.is_err());
}

async fn echo() -> toolgate_tests::upstream::Upstream {
    toolgate_tests::upstream::Upstream::start(|request| {
        let said = json!({"user_id": format!("{:?}", request.headers)});
        axum::http::Response::new(said.to_string().into())
    })
    .await
}

fn percent(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
