//! Who is refused: no key, a wrong key, a revoked key, a key without the scope.

use reqwest::Method;
use serde_json::Value;
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{TestGateway, new_key};

/// Every route of the served document, with path parameters filled by harmless text.
async fn routes(gateway: &TestGateway) -> Vec<(Method, String)> {
    let document: Value = serde_json::from_str(
        &gateway
            .send(Method::GET, "/openapi.json", None, None)
            .await
            .text,
    )
    .unwrap();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let Ok(method) = method.to_uppercase().parse::<Method>() else {
                continue;
            };
            let filled: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { "x" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            routes.push((method, filled));
        }
    }
    routes.retain(|(_, path)| path.starts_with("/v1/"));
    routes
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_refuses_a_missing_an_unknown_and_a_revoked_key() {
    let gateway = TestGateway::with_plugin("one.wasm", Fixture::new("one").build()).await;
    let routes = routes(&gateway).await;
    assert!(routes.len() >= 7, "{routes:?}");
    let revoked = new_key(&gateway.gateway, "short lived", Scope::ALL)
        .await
        .unwrap();
    assert_eq!(
        gateway
            .send(Method::GET, "/v1/status", Some(&revoked), None)
            .await
            .status,
        200
    );
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    keys::revoke(
        store,
        &toolgate_gateway::Caller::operator(&workspace),
        "short lived",
        gateway.gateway.clock().now_ms(),
    )
    .await
    .unwrap();
    let unknown = format!("tg_live_{}", "x".repeat(43));
    for (method, path) in routes {
        for (key, code) in [
            (None, "api_key_required"),
            (Some("nonsense"), "invalid_api_key"),
            (Some(unknown.as_str()), "invalid_api_key"),
            (Some(revoked.as_str()), "invalid_api_key"),
        ] {
            let body = (method != Method::GET).then(|| "{}".to_owned());
            let answer = gateway.send(method.clone(), &path, key, body).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (401, code),
                "{method} {path}"
            );
            assert_eq!(
                answer.headers["www-authenticate"], "Bearer",
                "{method} {path}"
            );
            assert!(answer.headers.contains_key("x-request-id"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_the_scope_is_refused() {
    let gateway = TestGateway::with_plugin("one.wasm", Fixture::new("one").build()).await;
    let reader = new_key(&gateway.gateway, "reader", &[Scope::ToolsRead])
        .await
        .unwrap();
    let run = "/v1/tools/one_run/execute";
    let body = Some(r#"{"arguments": {}}"#.to_owned());
    let refused = gateway
        .send(Method::POST, run, Some(&reader), body.clone())
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "scope_denied")
    );
    assert_eq!(
        gateway
            .send(Method::GET, "/v1/tools/list", Some(&reader), None)
            .await
            .status,
        200
    );
    let runner = new_key(&gateway.gateway, "runner", &[Scope::ToolsExecute])
        .await
        .unwrap();
    assert_eq!(
        gateway
            .send(Method::POST, run, Some(&runner), body)
            .await
            .status,
        200
    );
    let refused = gateway
        .send(Method::GET, "/v1/tools/list", Some(&runner), None)
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "scope_denied")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn probes_need_no_key_and_tell_no_secret() {
    let gateway = TestGateway::with_plugin("one.wasm", Fixture::new("one").build()).await;
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"] {
        let answer = gateway.send(Method::GET, path, None, None).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text.contains(&gateway.key), "{path}");
    }
    let metrics = gateway.send(Method::GET, "/metrics", None, None).await.text;
    assert!(metrics.contains("toolgate_catalog_tools 1"), "{metrics}");
}
