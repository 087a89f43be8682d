//! Services without a connection: defaults apply, and what the operator has not set up is said.

use serde_json::json;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin, configure};
use toolgate_tests::upstream::Upstream;

#[tokio::test(flavor = "multi_thread")]
async fn a_parameter_with_a_default_needs_no_connection() {
    let api = Upstream::start(|_| axum::http::Response::new(r#"{"pages": []}"#.into())).await;
    let gateway = TestGateway::start(Options {
        plugins: vec![(
            "wikipedia.wasm".to_owned(),
            built_plugin("wikipedia").unwrap(),
        )],
        allow_upstream: vec![format!("en.wikipedia.org={}", api.url())],
        ..Options::default()
    })
    .await;
    let answer = gateway
        .execute("wikipedia_search_pages", json!({"q": "Ada Lovelace"}))
        .await;
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(api.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_an_address_says_so_before_anybody_is_asked_for_a_key() {
    let gateway = TestGateway::start(Options {
        plugins: vec![("n8n.wasm".to_owned(), built_plugin("n8n").unwrap())],
        ..Options::default()
    })
    .await;
    let run = async || gateway.execute("n8n_list_workflows", json!({})).await;
    let found = async || {
        let path = "/v1/tools/search?query=list+workflows&service=n8n";
        let found = gateway.get(path).await.data();
        found["tools"][0]["connection"].as_str().map(str::to_owned)
    };
    assert_eq!(found().await.as_deref(), Some("needs_setup"));
    let answer = run().await;
    assert_eq!(answer["reason"], "not_configured", "{answer}");
    let error = &answer["error"];
    assert_eq!(
        (&error["code"], &error["can_retry"]),
        (&json!("not_configured"), &json!(false))
    );
    let command = "toolgate service configure n8n --set api_base=";
    assert!(
        error["suggested_fix"].as_str().unwrap().contains(command),
        "{answer}"
    );
    let link = gateway
        .post("/v1/connections/link", &json!({"service": "n8n"}))
        .await;
    assert_eq!(link.status, 409, "{}", link.text);
    assert!(link.text.contains(command), "{}", link.text);

    let set = [(
        "api_base".to_owned(),
        "http://127.0.0.1:5678/api/v1".to_owned(),
    )];
    configure(&gateway.gateway, "n8n", &set).await.unwrap();
    assert_eq!(found().await.as_deref(), Some("not_connected"));
    let asked = run().await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    assert!(asked["connect_url"].is_string(), "{asked}");
}
