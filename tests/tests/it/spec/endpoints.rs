//! Section 4.1: the REST endpoints and their rules.

use serde_json::{Value, json};

use super::{gateway, get, post, send};

async fn change(path: &str, body: Value) -> Value {
    send("PATCH", path, Some(&gateway().key), Some(body))
        .await
        .data()
}

async fn new_skill(name: &str) -> String {
    let body = json!({ "name": name, "summary": "Rows", "instructions": "1. Read." });
    let made = post("/v1/skills", body).await;
    assert_eq!(made.status, 201);
    made.data()["skill_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn get_tools_search_takes_schema_limit_from_0_to_5_and_3_by_default() {
    for (given, schemas) in [
        ("", 2),
        ("&schema_limit=0", 0),
        ("&schema_limit=1", 1),
        ("&schema_limit=5", 2),
    ] {
        let path = format!("/v1/tools/search?query=paint+widget+colour&service=wide{given}");
        let found = get(&path).await.data();
        let inline = found["tools"].as_array().unwrap().iter();
        let inline = inline
            .filter(|tool| tool.get("inputSchema").is_some())
            .count();
        assert_eq!(inline, schemas, "{given}");
    }
    for bad in ["-1", "6", "x", ""] {
        let path = format!("/v1/tools/search?query=a&schema_limit={bad}");
        assert_eq!(get(&path).await.code(), "invalid_request", "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn get_tools_list_lists_tools() {
    let listed = get("/v1/tools/list").await.data();
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"demo_run") && names.contains(&"locked_run") && names.is_sorted());
}

#[tokio::test(flavor = "multi_thread")]
async fn get_tool_schema_returns_the_input_schema_of_one_tool() {
    let schema = get("/v1/tools/demo_run/schema").await.data();
    assert_eq!(schema["inputSchema"]["required"], json!(["text"]));
    assert_eq!(
        schema["inputSchema"]["properties"]["text"]["type"],
        "string"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn post_tool_execute_executes_a_tool() {
    let ran = post(
        "/v1/tools/demo_run/execute",
        json!({ "arguments": { "text": "a" } }),
    )
    .await
    .data();
    assert_eq!(
        (&ran["status"], &ran["result"]),
        (&json!("success"), &json!({ "text": "a" }))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn get_skills_lists_skills_newest_first() {
    let (first, second) = (
        new_skill("rowlist one").await,
        new_skill("rowlist two").await,
    );
    let listed = get("/v1/skills?query=rowlist").await.data();
    let ids: Vec<&str> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["skill_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [second, first]);
}

#[tokio::test(flavor = "multi_thread")]
async fn get_skill_reads_one_skill() {
    let id = new_skill("read row").await;
    let read = get(&format!("/v1/skills/{id}")).await.data();
    assert_eq!(
        (&read["name"], &read["instructions"]),
        (&json!("read row"), &json!("1. Read."))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn post_skills_creates_a_skill() {
    assert_eq!(new_skill("create row").await.len(), 36);
}

#[tokio::test(flavor = "multi_thread")]
async fn put_skill_updates_a_skill_to_version_2() {
    let path = format!("/v1/skills/{}", new_skill("update row").await);
    let body = json!({ "name": "", "summary": "Changed" });
    let put = send("PUT", &path, Some(&gateway().key), Some(body))
        .await
        .data();
    assert_eq!(
        (&put["version"], &put["name"], &put["summary"]),
        (&json!(2), &json!("update row"), &json!("Changed"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_skill_deletes_a_skill() {
    let path = format!("/v1/skills/{}", new_skill("delete row").await);
    let gone = send("DELETE", &path, Some(&gateway().key), None)
        .await
        .data();
    assert_eq!(gone["deleted"], true);
    assert_eq!(get(&path).await.code(), "skill_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn get_permissions_services_lists_services() {
    let listed = get("/v1/permissions/services").await.data();
    let names: Vec<&Value> = listed["services"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["service"])
        .collect();
    assert_eq!(names, ["demo", "locked", "wide"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn get_permissions_user_reads_a_users_permissions() {
    let read = get("/v1/permissions/users/row-reader").await.data();
    assert_eq!(
        read,
        json!({ "user_id": "row-reader", "default": "allow", "services": {}, "tools": {} })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_permissions_user_tool_changes_one_tools_permission() {
    let path = "/v1/permissions/users/row-tool/tools/demo_run";
    let changed = change(path, json!({ "permission": "deny" })).await;
    assert_eq!(changed["tools"], json!({ "demo_run": "deny" }));
    let refused = get("/v1/tools/demo_run/schema?user_id=row-tool").await;
    assert_eq!(refused.code(), "permission_denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_permissions_user_service_changes_one_services_permission() {
    let path = "/v1/permissions/users/row-service/services/demo";
    let changed = change(path, json!({ "permission": "deny" })).await;
    assert_eq!(changed["services"], json!({ "demo": "deny" }));
    let listed = get("/v1/tools/list?service=demo&user_id=row-service")
        .await
        .data();
    assert_eq!(listed["tools"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn get_permissions_user_summary_counts_what_holds() {
    change(
        "/v1/permissions/users/row-sum/services/wide",
        json!({ "permission": "deny" }),
    )
    .await;
    change(
        "/v1/permissions/users/row-sum/tools/demo_run",
        json!({ "permission": "ask" }),
    )
    .await;
    let summary = get("/v1/permissions/users/row-sum/summary").await.data();
    assert_eq!(summary["total"], json!({ "allow": 1, "deny": 6, "ask": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn patch_permissions_user_batch_changes_all_or_nothing() {
    let path = "/v1/permissions/users/row-batch/batch";
    let bad = json!({ "services": { "demo": "deny" }, "tools": { "nothing_here": "deny" } });
    let refused = send("PATCH", path, Some(&gateway().key), Some(bad)).await;
    assert_eq!(refused.code(), "tool_not_found");
    assert_eq!(
        get("/v1/permissions/users/row-batch").await.data()["services"],
        json!({})
    );
    let good = json!({ "services": { "demo": "deny" }, "tools": { "locked_run": "ask" } });
    let changed = change(path, good).await;
    assert_eq!(
        (
            &changed["services"]["demo"],
            &changed["tools"]["locked_run"]
        ),
        (&json!("deny"), &json!("ask"))
    );
    assert!(changed.get("approvers").is_none(), "admins decide");
    let named = json!({ "services": { "demo": "deny" }, "tools": { "locked_run": "ask" }, "approvers": "members" });
    let changed = change(path, named).await;
    assert_eq!(
        changed["approvers"],
        json!({ "tools": { "locked_run": "members" } })
    );
    for bad in [
        json!({ "services": { "demo": "deny" }, "approvers": "self" }),
        json!({ "tools": { "locked_run": "ask" }, "approvers": "nobody" }),
    ] {
        let refused = send("PATCH", path, Some(&gateway().key), Some(bad)).await;
        assert_eq!((refused.status, &*refused.code()), (400, "invalid_request"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn get_health_says_ok() {
    assert_eq!(get("/v1/health").await.data()["status"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn get_status_tests_connectivity_with_a_valid_key() {
    let status = get("/v1/status").await.data();
    assert_eq!(
        (&status["status"], &status["key"]["name"]),
        (&json!("ok"), &json!("test"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn post_sessions_creates_a_session_from_a_prompt() {
    let made = post("/v1/sessions", json!({ "prompt": "Plan the week" })).await;
    assert_eq!(made.status, 201);
    let session = made.data();
    assert_eq!(session["messages"][0]["content"], "Plan the week");
    assert!(session["session_id"].as_str().unwrap().starts_with("ses_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_1_tool_and_skill_endpoints_return_json_objects() {
    for path in [
        "/v1/tools/list",
        "/v1/tools/search?query=a",
        "/v1/tools/demo_run/schema",
        "/v1/skills",
    ] {
        let answer = get(path).await;
        assert_eq!(answer.headers["content-type"], "application/json", "{path}");
        assert!(answer.data().is_object(), "{path}");
        let id = answer.json()["meta"]["request_id"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(id.starts_with("req_"), "{path}");
    }
}

/// In depth in `parity.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn rule_2_a_rest_tool_endpoint_is_the_operation_of_its_mcp_tool() {
    let found = get("/v1/tools/search?query=test+wants+done&service=demo")
        .await
        .data();
    let asked = json!({ "query": "test wants done", "service": "demo" });
    let said = crate::parity::say(gateway(), "svc_search_tools", asked)
        .await
        .text;
    let start = format!("Found {} tool", found["total"]);
    assert!(
        said.starts_with(&start) && said.contains("**demo_run**"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_3_schemas_are_inlined_within_24_000_bytes_and_referred_to_beyond() {
    let found = get("/v1/tools/search?query=paint+widget+colour&service=wide&schema_limit=5")
        .await
        .data();
    let tools = found["tools"].as_array().unwrap();
    let mut bytes = 0;
    for (n, tool) in tools.iter().enumerate() {
        let whole = get(tool["schemaRef"]
            .as_str()
            .map_or_else(
                || format!("/v1/tools/{}/schema", tool["name"].as_str().unwrap()),
                str::to_owned,
            )
            .as_str())
        .await
        .data()["inputSchema"]
            .clone();
        match tool.get("inputSchema") {
            Some(inline) => {
                assert_eq!(*inline, whole);
                bytes += whole.to_string().len();
            }
            None => assert!(n >= 5 || bytes + whole.to_string().len() > 24_000, "{n}"),
        }
        assert!(tool.get("inputSchema").is_some() != tool.get("schemaRef").is_some());
    }
    assert!(bytes > 12_000 && bytes <= 24_000, "{bytes}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rule_4_an_execute_body_is_json_by_its_content_type() {
    let client = toolgate_tests::gateway::client();
    for (kind, status) in [("application/json", 200), ("text/plain", 415)] {
        let request = client
            .post(gateway().url("/v1/tools/demo_run/execute"))
            .bearer_auth(&gateway().key)
            .header("content-type", kind)
            .body(r#"{"arguments":{"text":"a"}}"#);
        assert_eq!(request.send().await.unwrap().status(), status, "{kind}");
    }
}
