//! Every route: without a key, with a key that is no good, with what it does not take.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use toolgate_gateway::Scope;

use super::edge::{Edge, operations};

#[tokio::test]
async fn every_route_without_a_key_is_refused() {
    let edge = Edge::open().await;
    for operation in operations() {
        let answer = edge.ask(&operation, &operation.path, None).await;
        let at = format!("{} {}", operation.method, operation.path);
        if operation.keyed {
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{at}");
            assert_eq!(answer.code(), "api_key_required", "{at}");
            assert_eq!(answer.headers["www-authenticate"], "Bearer", "{at}");
        } else {
            assert_eq!(answer.status, StatusCode::OK, "{at}");
        }
    }
}

#[tokio::test]
async fn every_route_refuses_unknown_and_revoked_keys() {
    let edge = Edge::open().await;
    let revoked = edge.key("revoked", Scope::ALL).await;
    edge.revoke("revoked").await;
    let invented = format!("tg_live_{}", "x".repeat(43));
    for operation in operations().iter().filter(|operation| operation.keyed) {
        for key in [revoked.as_str(), &invented, "nonsense", "tg_live_ä"] {
            let answer = edge.ask(operation, &operation.path, Some(key)).await;
            assert_eq!(
                answer.status,
                StatusCode::UNAUTHORIZED,
                "{}",
                operation.path
            );
            assert_eq!(answer.code(), "invalid_api_key", "{}", operation.path);
        }
    }
}

#[tokio::test]
async fn every_route_refuses_a_key_without_its_scope() {
    // These tell a key of itself and of the gateway; any valid key may ask.
    const ANY_KEY: [&str; 2] = ["/v1/health", "/v1/status"];
    let edge = Edge::open().await;
    let key = edge.key("useless", &[]).await;
    for operation in operations().iter().filter(|operation| operation.keyed) {
        let path = format!("{}?{}", operation.path, operation.required);
        let answer = edge.ask(operation, &path, Some(&key)).await;
        if ANY_KEY.contains(&operation.path.as_str()) {
            assert_eq!(answer.status, StatusCode::OK, "{path}");
        } else {
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
            assert_eq!(answer.code(), "scope_denied", "{path}");
        }
    }
}

#[tokio::test]
async fn every_route_takes_the_query_parameters_that_it_documents_and_no_other() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    for operation in operations().iter().filter(|operation| operation.keyed) {
        let path = format!("{}?not_a_parameter_of_any_route=1", operation.path);
        let answer = edge.ask(operation, &path, Some(&key)).await;
        assert_eq!(answer.code(), "invalid_request", "{path}");
        let hint = answer.json()["error"]["hint"].as_str().unwrap().to_owned();
        let taken = if operation.query.is_empty() {
            "no query parameters".to_owned()
        } else {
            operation.query.join(", ")
        };
        assert_eq!(hint, format!("This route takes {taken}."), "{path}");
    }
}

#[tokio::test]
async fn every_route_names_its_methods_when_asked_with_another() {
    let edge = Edge::open().await;
    for operation in operations() {
        let request = Request::builder()
            .method(Method::TRACE)
            .uri(&operation.path);
        let answer = edge.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            answer.status,
            StatusCode::METHOD_NOT_ALLOWED,
            "{}",
            operation.path
        );
        assert_eq!(answer.code(), "method_not_allowed", "{}", operation.path);
        let allow = answer.headers["allow"].to_str().unwrap();
        let named = allow
            .split(',')
            .any(|method| method == operation.method.as_str());
        assert!(named, "{allow} for {} {}", operation.method, operation.path);
    }
}

#[tokio::test]
async fn every_route_answers_with_its_own_request_id() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    let mut seen = std::collections::BTreeSet::new();
    for operation in operations() {
        let request = Request::builder()
            .method(operation.method.clone())
            .uri(&operation.path)
            .header("authorization", format!("Bearer {key}"))
            .header("x-request-id", "req_chosen_by_the_client");
        let answer = edge.send(request.body(Body::empty()).unwrap()).await;
        let id = answer.headers["x-request-id"].to_str().unwrap().to_owned();
        assert!(id.starts_with("req_") && id.len() == 30, "{id}");
        assert!(seen.insert(id), "{}", operation.path);
    }
}
