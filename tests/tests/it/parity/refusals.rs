//! Refusals, over both edges.

use super::*;

/// One refusal, asked for over both edges.
struct Refusal {
    code: &'static str,
    method: Method,
    path: &'static str,
    body: Option<Value>,
    tool: &'static str,
    arguments: Value,
}

fn refusal(
    code: &'static str,
    rest: (Method, &'static str, Option<Value>),
    (tool, arguments): (&'static str, Value),
) -> Refusal {
    let (method, path, body) = rest;
    Refusal {
        code,
        method,
        path,
        body,
        tool,
        arguments,
    }
}

const NO_SKILL: &str = "/v1/skills/5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10";
const NO_SKILL_ID: &str = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10";
const RUN: &str = "/v1/tools/demo_run/execute";

async fn refused_alike(gateway: &TestGateway, key: &str, refusals: Vec<Refusal>) {
    for asked in refusals {
        let body = asked.body.map(|body| body.to_string());
        let over_rest = gateway
            .send(asked.method, asked.path, Some(key), body)
            .await;
        assert_eq!(over_rest.code(), asked.code, "{}", asked.path);
        let said = say_as(gateway, key, asked.tool, asked.arguments.clone()).await;
        assert_eq!(
            said.code(),
            asked.code,
            "{} {}",
            asked.tool,
            asked.arguments
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_have_the_same_codes_over_both_edges() {
    let gateway = start().await;
    let (get, post, put, delete) = (Method::GET, Method::POST, Method::PUT, Method::DELETE);
    let run = |arguments: Value| Some(json!({ "arguments": arguments }));
    let execute = |tool: &str, arguments: &str| {
        (
            "svc_execute_tool",
            json!({ "tool_name": tool, "arguments": arguments }),
        )
    };
    let cases = vec![
        refusal(
            "tool_not_found",
            (get.clone(), "/v1/tools/demo_nope/schema", None),
            ("svc_get_tool_schema", json!({ "tool_name": "demo_nope" })),
        ),
        refusal(
            "tool_not_found",
            (post.clone(), "/v1/tools/demo_nope/execute", run(json!({}))),
            execute("demo_nope", "{}"),
        ),
        refusal(
            "invalid_arguments",
            (post.clone(), RUN, run(json!({ "text": 7 }))),
            execute("demo_run", r#"{"text":7}"#),
        ),
        refusal(
            "invalid_arguments",
            (post.clone(), RUN, run(json!({}))),
            execute("demo_run", ""),
        ),
        refusal(
            "invalid_json",
            (post.clone(), RUN, run(json!("{"))),
            execute("demo_run", "{"),
        ),
        refusal(
            "invalid_request",
            (post.clone(), RUN, run(json!("[]"))),
            execute("demo_run", "[]"),
        ),
        refusal(
            "session_not_found",
            (
                post.clone(),
                RUN,
                Some(
                    json!({ "arguments": { "text": "a" }, "session_id": "ses_00000000000000000000000000000000" }),
                ),
            ),
            (
                "svc_execute_tool",
                json!({ "tool_name": "demo_run", "arguments": "{\"text\":\"a\"}", "session_id": "ses_00000000000000000000000000000000" }),
            ),
        ),
        refusal(
            "invalid_request",
            (get.clone(), "/v1/tools/search?query=", None),
            ("svc_search_tools", json!({ "query": "" })),
        ),
        refusal(
            "invalid_request",
            (get.clone(), "/v1/tools/search?query=a&limit=101", None),
            ("svc_search_tools", json!({ "query": "a", "limit": 101 })),
        ),
        refusal(
            "invalid_request",
            (get.clone(), "/v1/tools/search?query=a&limit=0", None),
            ("svc_search_tools", json!({ "query": "a", "limit": 0 })),
        ),
        refusal(
            "invalid_request",
            (get.clone(), "/v1/skills?limit=101", None),
            ("svc_list_skills", json!({ "limit": 101 })),
        ),
        refusal(
            "skill_not_found",
            (get, NO_SKILL, None),
            ("svc_get_skill", json!({ "skill_id": NO_SKILL_ID })),
        ),
        refusal(
            "skill_not_found",
            (put, NO_SKILL, Some(json!({ "name": "A" }))),
            (
                "svc_update_skill",
                json!({ "skill_id": NO_SKILL_ID, "name": "A" }),
            ),
        ),
        refusal(
            "skill_not_found",
            (delete, NO_SKILL, None),
            ("svc_delete_skill", json!({ "skill_id": NO_SKILL_ID })),
        ),
        refusal(
            "permission_denied",
            (
                post.clone(),
                "/v1/scripts/run",
                Some(json!({ "script": "export default 1" })),
            ),
            ("svc_run_script", json!({ "script": "export default 1" })),
        ),
        refusal(
            "invalid_request",
            (
                post.clone(),
                "/v1/skills",
                Some(json!({ "name": "", "summary": "B", "instructions": "C" })),
            ),
            (
                "svc_create_skill",
                json!({ "name": "", "description": "B", "body": "C" }),
            ),
        ),
        refusal(
            "invalid_request",
            (post, "/v1/skills", Some(json!({ "name": "A" }))),
            ("svc_create_skill", json!({ "name": "A" })),
        ),
    ];
    refused_alike(&gateway, &gateway.key, cases).await;
    assert_eq!(gateway.get("/v1/skills").await.data()["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_tool_is_denied_and_hidden_over_both_edges() {
    let gateway = start().await;
    let deny = Some(json!({ "permission": "deny" }).to_string());
    let path = "/v1/permissions/users/default/services/demo";
    let set = gateway
        .send(Method::PATCH, path, Some(&gateway.key), deny)
        .await;
    assert_eq!(set.status, 200);
    let cases = vec![
        refusal(
            "permission_denied",
            (Method::GET, "/v1/tools/demo_run/schema", None),
            ("svc_get_tool_schema", json!({ "tool_name": "demo_run" })),
        ),
        refusal(
            "permission_denied",
            (
                Method::POST,
                RUN,
                Some(json!({ "arguments": { "text": "a" } })),
            ),
            (
                "svc_execute_tool",
                json!({ "tool_name": "demo_run", "arguments": "{\"text\":\"a\"}" }),
            ),
        ),
    ];
    refused_alike(&gateway, &gateway.key, cases).await;
    let path = "/v1/tools/search?query=test&service=demo";
    assert_eq!(gateway.get(path).await.data()["total"], 0);
    let asked = json!({ "query": "test", "service": "demo" });
    let said = say(&gateway, "svc_search_tools", asked).await.text;
    assert!(said.starts_with("Found 0 tools"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_the_scope_is_refused_alike_by_every_operation() {
    let gateway = start().await;
    let useless = new_key(&gateway.gateway, "useless", &[]).await.unwrap();
    let run = json!({ "arguments": { "text": "a" } });
    let new = json!({ "name": "A", "summary": "B", "instructions": "C" });
    let cases = vec![
        refusal(
            "scope_denied",
            (Method::GET, "/v1/tools/search?query=a", None),
            ("svc_search_tools", json!({ "query": "a" })),
        ),
        refusal(
            "scope_denied",
            (Method::GET, "/v1/tools/demo_run/schema", None),
            ("svc_get_tool_schema", json!({ "tool_name": "demo_run" })),
        ),
        refusal(
            "scope_denied",
            (Method::POST, RUN, Some(run)),
            (
                "svc_execute_tool",
                json!({ "tool_name": "demo_run", "arguments": "{}" }),
            ),
        ),
        refusal(
            "scope_denied",
            (Method::GET, "/v1/skills", None),
            ("svc_list_skills", json!({})),
        ),
        refusal(
            "scope_denied",
            (Method::GET, NO_SKILL, None),
            ("svc_get_skill", json!({ "skill_id": NO_SKILL_ID })),
        ),
        refusal(
            "scope_denied",
            (Method::POST, "/v1/skills", Some(new)),
            (
                "svc_create_skill",
                json!({ "name": "A", "description": "B", "body": "C" }),
            ),
        ),
        refusal(
            "scope_denied",
            (Method::PUT, NO_SKILL, Some(json!({ "name": "A" }))),
            (
                "svc_update_skill",
                json!({ "skill_id": NO_SKILL_ID, "name": "A" }),
            ),
        ),
        refusal(
            "scope_denied",
            (Method::DELETE, NO_SKILL, None),
            ("svc_delete_skill", json!({ "skill_id": NO_SKILL_ID })),
        ),
    ];
    refused_alike(&gateway, &useless, cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_refused_with_the_same_answer_before_either_edge_speaks() {
    let gateway = start().await;
    let none = gateway.send(Method::GET, "/v1/skills", None, None).await;
    let request = gateway
        .client
        .post(gateway.url("/mcp"))
        .send()
        .await
        .unwrap();
    assert_eq!((none.status, request.status().as_u16()), (401, 401));
    let said: Value = serde_json::from_str(&request.text().await.unwrap()).unwrap();
    assert_eq!(said["error"], none.json()["error"]);
    for wrong in ["nonsense", &format!("tg_live_{}", "0".repeat(43))] {
        let over_rest = gateway
            .send(Method::GET, "/v1/skills", Some(wrong), None)
            .await;
        let over_mcp = tool_answer(&gateway, wrong, "svc_list_skills", json!({})).await;
        assert_eq!((over_rest.status, over_mcp.status), (401, 401));
        assert_eq!(over_rest.json()["error"], over_mcp.json()["error"]);
    }
}
