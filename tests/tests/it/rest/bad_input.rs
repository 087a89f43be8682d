//! What strangers send: a clear refusal, never a 5xx.

use axum::body::Body;
use http::{Request, StatusCode};
use toolgate_gateway::Scope;
use toolgate_gateway::tools::QUERY_CHARS_MAX;
use toolgate_http_kit::BODY_BYTES_MAX;

use super::edge::{Answer, Edge, operations};

const EXECUTE: &str = "/v1/tools/nothing_here/execute";

async fn execute(edge: &Edge, key: &str, content_type: &str, body: impl Into<Body>) -> Answer {
    let request = Request::post(EXECUTE)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", content_type);
    edge.send(request.body(body.into()).unwrap()).await
}

#[tokio::test]
async fn a_bad_body_is_refused_with_the_code_that_names_its_fault() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    let json = "application/json";
    let deep = format!("{{\"arguments\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    for (content_type, body, status, code) in [
        (json, "{}", 404, "tool_not_found"),
        (
            json,
            r#"{"arguments":{"text":"𝄞\u0000"}}"#,
            404,
            "tool_not_found",
        ),
        ("text/plain", "{}", 415, "unsupported_media_type"),
        (json, "", 400, "invalid_json"),
        (json, "{", 400, "invalid_json"),
        (json, "{} {}", 400, "invalid_json"),
        (
            json,
            r#"{"arguments":{},"arguments":{}}"#,
            400,
            "invalid_json",
        ),
        (json, r#"{"arguments":{"a":1,"a":2}}"#, 400, "invalid_json"),
        (json, r#"{"arguments":1e999}"#, 400, "invalid_json"),
        (json, r#"{"arguments":"\ud800"}"#, 400, "invalid_json"),
        (json, &deep, 400, "invalid_json"),
        (json, "[]", 400, "invalid_request"),
        (json, "null", 400, "invalid_request"),
        (json, r#"{"arguments":[]}"#, 400, "invalid_request"),
        (json, r#"{"argument":{}}"#, 400, "invalid_request"),
        (json, r#"{"dry_run":"yes"}"#, 400, "invalid_request"),
        (json, r#"{"session_id":7}"#, 400, "invalid_request"),
        (json, r#"{"session_id":""}"#, 400, "invalid_request"),
        (json, r#"{"session_id":"a\u0000"}"#, 400, "invalid_request"),
        (json, r#"{"user_id":"a b"}"#, 400, "invalid_request"),
        (json, r#"{"connection_id":"\n"}"#, 400, "invalid_request"),
    ] {
        let answer = execute(&edge, &key, content_type, body.to_owned()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (status, code),
            "{body}"
        );
    }
    let broken = execute(&edge, &key, json, &b"{\"arguments\":\"\xff\"}"[..]).await;
    assert_eq!(broken.code(), "invalid_json");
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit_and_no_larger() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    let of_size = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
    let largest = execute(&edge, &key, "application/json", of_size(BODY_BYTES_MAX)).await;
    assert_eq!(largest.code(), "tool_not_found");
    let larger = execute(&edge, &key, "application/json", of_size(BODY_BYTES_MAX + 1)).await;
    assert_eq!(larger.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(larger.code(), "payload_too_large");
}

#[tokio::test]
async fn a_body_is_not_read_before_the_key_is_known() {
    let edge = Edge::open().await;
    let answer = execute(
        &edge,
        "nonsense",
        "application/json",
        vec![b' '; BODY_BYTES_MAX + 1],
    )
    .await;
    assert_eq!(answer.code(), "invalid_api_key");
}

#[tokio::test]
async fn a_strange_path_or_query_is_never_a_server_error() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    let long = "x".repeat(300);
    for operation in operations().iter().filter(|operation| operation.keyed) {
        for strange in ["%00", "a%0Ab", "%7f", "%ff", "%C2%85", &long] {
            let path = operation.path.replace("nothing", strange);
            let answer = edge.ask(operation, &path, Some(&key)).await;
            if path != operation.path {
                assert_eq!(answer.code(), "invalid_request", "{path}");
            }
            for parameter in &operation.query {
                let path = format!("{}?{parameter}={strange}", operation.path);
                let answer = edge.ask(operation, &path, Some(&key)).await;
                assert!(
                    answer.status.is_success() || answer.status.is_client_error(),
                    "{path}"
                );
            }
        }
    }
}

#[tokio::test]
async fn numbers_outside_their_range_are_refused_by_name() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    // Characters count, not their bytes: three, or nine as they are written in an address.
    let query = |chars| format!("/v1/tools/search?query={}", "%E6%9F%A5".repeat(chars));
    let (longest, too_long) = (query(QUERY_CHARS_MAX), query(QUERY_CHARS_MAX + 1));
    for (path, taken) in [
        ("/v1/tools/search?query=x&limit=1", true),
        ("/v1/tools/search?query=x&limit=100", true),
        ("/v1/tools/search?query=x&limit=0", false),
        ("/v1/tools/search?query=x&limit=101", false),
        ("/v1/tools/search?query=x&schema_limit=0", true),
        ("/v1/tools/search?query=x&schema_limit=5", true),
        ("/v1/tools/search?query=x&schema_limit=6", false),
        ("/v1/tools/search?query=x&schema_limit=-1", false),
        ("/v1/tools/search", false),
        ("/v1/tools/search?query=", false),
        ("/v1/tools/search?query=+", false),
        (&longest, true),
        (&too_long, false),
        ("/v1/tools/list?limit=500", true),
        ("/v1/tools/list?limit=501", false),
        ("/v1/executions?limit=100", true),
        ("/v1/executions?limit=101", false),
        ("/v1/executions?status=success", true),
        ("/v1/executions?status=fine", false),
    ] {
        let request = Request::get(path).header("authorization", format!("Bearer {key}"));
        let answer = edge.send(request.body(Body::empty()).unwrap()).await;
        if taken {
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert_eq!(answer.json()["success"], true, "{path}");
        } else {
            assert_eq!(answer.code(), "invalid_request", "{path}");
            assert!(
                answer.json()["error"]["details"]["field"].is_string(),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn unknown_names_have_the_codes_of_their_kind() {
    let edge = Edge::open().await;
    let key = edge.key("all", Scope::ALL).await;
    for (path, code) in [
        ("/v1/tools/nothing_here/schema", "tool_not_found"),
        ("/v1/executions/exe_nothing", "not_found"),
        ("/v1/nowhere", "not_found"),
        ("/v1/tools/search/", "not_found"),
        ("/", "not_found"),
    ] {
        let request = Request::get(path).header("authorization", format!("Bearer {key}"));
        let answer = edge.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.code(), code, "{path}");
    }
}
