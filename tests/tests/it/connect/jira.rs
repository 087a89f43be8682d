//! A service whose address is part of the connection.

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::upstream::Upstream;

use super::{open, press};

const SECRET: &str = "ATATT3x-planted-token";

/// A site that knows one account.
async fn site(name: &'static str) -> Upstream {
    Upstream::start(move |request| {
        let basic = format!("Basic {}", STANDARD.encode(format!("ada@acme.test:{SECRET}")));
        let known = request.headers.iter().any(|(_, value)| *value == basic);
        let path = request.target.split('?').next().unwrap_or_default();
        let (status, body) = match path {
            _ if !known => (401, json!({"errorMessages": ["Client must be authenticated"]})),
            "/rest/api/3/myself" => (200, json!({"displayName": "Ada L.", "accountId": "a1"})),
            "/rest/api/3/search/jql" => (
                200,
                json!({"issues": [{"key": "ABC-1", "fields": {"summary": format!("A bug on {name}")}}]}),
            ),
            _ => (404, json!({"errorMessages": ["No such thing"]})),
        };
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap()
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jira_site_is_named_in_the_form_and_every_call_goes_there() {
    let (acme, other) = (site("acme").await, site("other").await);
    let gateway = TestGateway::start(Options {
        plugins: vec![("jira.wasm".to_owned(), built_plugin("jira").unwrap())],
        allow_upstream: vec![
            format!("acme.atlassian.net={}", acme.url()),
            format!("other.atlassian.net={}", other.url()),
        ],
        ..Options::default()
    })
    .await;
    let search = json!({"jql": "project = ABC"});
    let asked = gateway.execute("jira_search_issues", search.clone()).await;
    assert_eq!(
        (&asked["status"], &asked["auth_type"]),
        (&json!("auth_required"), &json!("basic"))
    );
    let url = asked["connect_url"].as_str().unwrap();
    let page = open(&gateway, url).await;
    for input in [
        "name=\"p_site\"",
        "name=\"f_username\"",
        "name=\"f_password\"",
    ] {
        assert!(page.text.contains(input), "{input}: {}", page.text);
    }
    for bad in ["acme.evil.test/", "ACME", "", "-acme"] {
        let form = [
            ("p_site", bad),
            ("f_username", "ada@acme.test"),
            ("f_password", SECRET),
        ];
        let page = press(&gateway, url, &form).await;
        assert_eq!(page.status, 422, "{bad}");
    }
    let form = [
        ("p_site", "acme"),
        ("f_username", "ada@acme.test"),
        ("f_password", SECRET),
    ];
    let page = press(&gateway, url, &form).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(
        page.text.contains("Ada L.") && !page.text.contains(SECRET),
        "{}",
        page.text
    );

    let found = gateway.execute("jira_search_issues", search.clone()).await;
    assert_eq!(found["result"][0]["summary"], "A bug on acme", "{found}");
    assert!(other.received().is_empty());
    let path = format!("/v1/executions/{}", found["execution_id"].as_str().unwrap());
    let receipt = gateway.get(&path).await.data();
    assert_eq!(
        receipt["requests"][0]["host"], "acme.atlassian.net",
        "{receipt}"
    );

    // A second connection of the same user, on another site, and the caller's choice between them.
    let link = gateway
        .post("/v1/connections/link", &json!({"service": "jira"}))
        .await
        .data();
    let form = [
        ("p_site", "other"),
        ("f_username", "ada@acme.test"),
        ("f_password", SECRET),
    ];
    press(&gateway, link["connect_url"].as_str().unwrap(), &form).await;
    let body = json!({"arguments": search, "connection_id": link["connection_id"]});
    let chosen = gateway
        .post("/v1/tools/jira_search_issues/execute", &body)
        .await
        .data();
    assert_eq!(chosen["result"][0]["summary"], "A bug on other", "{chosen}");
}
