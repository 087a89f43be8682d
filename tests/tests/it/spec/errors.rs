//! Section 7: the error envelope, the statuses and the conditions.

use serde_json::json;
use toolgate_gateway::Scope;
use toolgate_tests::gateway::new_key;

use super::{gateway, get, post, send, there};
use crate::parity::say;

#[tokio::test(flavor = "multi_thread")]
async fn the_envelope_has_success_false_a_code_and_a_message() {
    let body = get("/v1/tools/nothing_here/schema").await.json();
    assert_eq!(body["success"], false);
    assert_eq!(body["error"]["code"], "tool_not_found");
    assert!(
        body["error"]["message"]
            .as_str()
            .unwrap()
            .contains("nothing_here")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn status_400_is_a_bad_request() {
    let answer = get("/v1/tools/search?query=").await;
    assert_eq!((answer.status, &*answer.code()), (400, "invalid_request"));
}

#[tokio::test(flavor = "multi_thread")]
async fn status_401_is_unauthorized() {
    let answer = send("GET", "/v1/skills", None, None).await;
    assert_eq!((answer.status, &*answer.code()), (401, "api_key_required"));
}

#[tokio::test(flavor = "multi_thread")]
async fn status_403_is_forbidden() {
    let key = there(async {
        new_key(&gateway().gateway, "403", &[Scope::Webhooks])
            .await
            .unwrap()
    })
    .await;
    let answer = send("GET", "/v1/skills", Some(&key), None).await;
    assert_eq!((answer.status, &*answer.code()), (403, "scope_denied"));
}

#[tokio::test(flavor = "multi_thread")]
async fn status_404_is_not_found() {
    for (path, code) in [
        (
            "/v1/skills/5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10",
            "skill_not_found",
        ),
        ("/v1/nowhere", "not_found"),
    ] {
        let answer = get(path).await;
        assert_eq!((answer.status, &*answer.code()), (404, code));
    }
}

/// The headers are in `limits.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn status_429_is_rate_limited() {
    let error = toolgate_gateway::Error::RateLimited(toolgate_gateway::RateLimited {
        window: toolgate_gateway::RateWindow::Minute,
        limit: 1,
        retry_after_s: 30,
    });
    let failure = toolgate_http_kit::envelope::ApiFailure::from(error);
    assert_eq!(
        (failure.status().as_u16(), failure.code()),
        (429, "rate_limit_exceeded")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn status_500_is_an_internal_error_and_names_no_cause() {
    let cause = anyhow::anyhow!("/var/lib/secret.db is gone");
    let failure =
        toolgate_http_kit::envelope::ApiFailure::from(toolgate_gateway::Error::Internal(cause));
    assert_eq!(
        (failure.status().as_u16(), failure.code()),
        (500, "internal_error")
    );
    let body = serde_json::to_string(&failure.body("req_1")).unwrap();
    assert!(!body.contains("secret"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tool_name_is_named_with_a_hint_to_search() {
    for (tool, arguments) in [
        (
            "svc_get_tool_schema",
            json!({ "tool_name": "nothing_here" }),
        ),
        (
            "svc_execute_tool",
            json!({ "tool_name": "nothing_here", "arguments": "{}" }),
        ),
    ] {
        let said = say(gateway(), tool, arguments).await;
        assert!(
            said.is_error && said.text.starts_with("Tool not found: nothing_here\n"),
            "{}",
            said.text
        );
        assert!(said.text.contains("`svc_search_tools`"), "{}", said.text);
    }
    let answer = post("/v1/tools/nothing_here/execute", json!({})).await;
    assert_eq!(answer.code(), "tool_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_skill_id_is_named_with_a_hint_to_list() {
    let id = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10";
    for (tool, arguments) in [
        ("svc_get_skill", json!({ "skill_id": id })),
        ("svc_update_skill", json!({ "skill_id": id, "name": "A" })),
        ("svc_delete_skill", json!({ "skill_id": id })),
    ] {
        let said = say(gateway(), tool, arguments).await;
        assert!(
            said.is_error && said.text.starts_with(&format!("Skill not found: {id}\n")),
            "{}",
            said.text
        );
        assert!(said.text.contains("`svc_list_skills`"), "{}", said.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_are_no_json_are_said_so_with_the_expected_format() {
    let asked = json!({ "tool_name": "demo_run", "arguments": "{'text': 1}" });
    let said = say(gateway(), "svc_execute_tool", asked).await;
    assert!(
        said.is_error && said.text.starts_with("Invalid JSON in arguments: "),
        "{}",
        said.text
    );
    assert!(said.text.contains("JSON-encoded string"), "{}", said.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_integration_that_is_not_connected_answers_auth_required_and_a_connect_link() {
    let answer = post("/v1/tools/locked_run/execute", json!({})).await;
    assert_eq!(
        (answer.status, &answer.data()["reason"]),
        (200, &json!("auth_required"))
    );
    assert!(answer.data()["connect_url"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_or_missing_key_is_401() {
    for (key, code) in [(None, "api_key_required"), (Some("bad"), "invalid_api_key")] {
        let answer = send("POST", "/v1/tools/demo_run/execute", key, Some(json!({}))).await;
        assert_eq!((answer.status, &*answer.code()), (401, code));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exceeding_a_rate_limit_is_429_with_retry_after() {
    let key = super::limits::key(Some(1), None).await;
    assert_eq!(
        send("GET", "/v1/status", Some(&key), None).await.status,
        200
    );
    let answer = super::limits::second_of_a_window(&key).await;
    assert_eq!(
        (answer.status, &*answer.code()),
        (429, "rate_limit_exceeded")
    );
    let after: u64 = answer.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=60).contains(&after));
}
