//! Sections 4.2 and 4.3: the nine MCP tools, their parameters and the texts they answer.

use serde_json::{Value, json};

use super::gateway;
use crate::parity::{Said, say as said};

async fn say(name: &str, arguments: Value) -> Said {
    said(gateway(), name, arguments).await
}

async fn text(name: &str, arguments: Value) -> String {
    let said = say(name, arguments).await;
    assert!(!said.is_error, "{}", said.text);
    said.text
}

async fn new_skill(name: &str) -> String {
    let new = json!({ "name": name, "description": "Rows of tools", "body": "1. Read." });
    let said = text("svc_create_skill", new).await;
    let line = said.lines().nth(1).unwrap();
    line.strip_prefix("skill_id: ").unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_health_check_takes_nothing_and_answers_one_line() {
    let said = text("svc_health_check", json!({})).await;
    assert_eq!(said.lines().count(), 1);
    assert!(
        said.contains("healthy") && said.contains("API key is valid"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_search_tools_takes_query_service_and_limit() {
    let said = text(
        "svc_search_tools",
        json!({ "query": "widget", "service": "wide", "limit": 2 }),
    )
    .await;
    assert_eq!(said.matches("\n- **").count(), 2, "{said}");
    let without = say("svc_search_tools", json!({ "limit": 2 })).await;
    assert_eq!(without.code(), "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_search_tools_answers_header_bullets_and_next_steps() {
    let said = text(
        "svc_search_tools",
        json!({ "query": "test wants done", "service": "demo" }),
    )
    .await;
    assert!(
        said.starts_with("Found 1 tool for \"test wants done\" (service: demo)\n"),
        "{said}"
    );
    assert!(
        said.contains("\n- **demo_run** (demo)\n  Does what the test wants to see done."),
        "{said}"
    );
    let (_, steps) = said.split_once("Next steps:").unwrap();
    assert!(
        steps.contains("`svc_get_tool_schema`") && steps.contains("`svc_execute_tool`"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_get_tool_schema_takes_tool_name_and_answers_name_schema_required_and_hint() {
    let said = text("svc_get_tool_schema", json!({ "tool_name": "demo_run" })).await;
    assert!(
        said.starts_with(
            "**demo_run**\n\nDoes what the test wants to see done.\n\nInput Schema:\n"
        ),
        "{said}"
    );
    assert!(said.contains("\nRequired arguments:\n- text\n"), "{said}");
    assert!(said.contains("`svc_execute_tool`"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_execute_tool_takes_arguments_as_a_json_string_and_a_session() {
    let asked =
        json!({ "tool_name": "demo_run", "arguments": "{\"text\":\"a\"}", "session_id": "row-1" });
    assert!(
        text("svc_execute_tool", asked)
            .await
            .contains("\nSession: row-1\n")
    );
    let asked = json!({ "tool_name": "demo_run", "arguments": 7 });
    assert_eq!(
        say("svc_execute_tool", asked).await.code(),
        "invalid_request"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_execute_tool_success_answers_tool_duration_session_and_result() {
    let said = text(
        "svc_execute_tool",
        json!({ "tool_name": "demo_run", "arguments": "{\"text\":\"a\"}" }),
    )
    .await;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "Tool: demo_run");
    let duration = lines[1]
        .strip_prefix("Duration: ")
        .unwrap()
        .strip_suffix("ms")
        .unwrap();
    assert!(duration.parse::<u64>().is_ok());
    let session = lines[2].strip_prefix("Session: tool_").unwrap();
    assert!(session.len() == 32 && session.bytes().all(|b| b.is_ascii_hexdigit()));
    assert_eq!(&lines[3..], ["", "Result:", "{\"text\":\"a\"}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_execute_tool_authentication_needed_answers_reason_type_and_connect_link() {
    let said = text(
        "svc_execute_tool",
        json!({ "tool_name": "locked_run", "arguments": "{}" }),
    )
    .await;
    assert!(said.contains("Authentication Required\n"), "{said}");
    for line in [
        "Tool: locked_run",
        "Service: locked",
        "Reason: auth_required",
        "Auth Type: api_key",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}: {said}");
    }
    let link = said
        .lines()
        .find_map(|line| line.strip_prefix("Connect Link: "))
        .unwrap();
    assert!(link.starts_with(&gateway().url("/connect/")), "{link}");
    assert!(
        said.contains("visit this link") && said.contains("again with the same arguments"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_list_skills_takes_query_limit_and_offset_and_answers_header_bullets_and_hint() {
    for n in 0..3 {
        new_skill(&format!("listrow {n}")).await;
    }
    let said = text(
        "svc_list_skills",
        json!({ "query": "listrow", "limit": 1, "offset": 1 }),
    )
    .await;
    assert!(
        said.starts_with("Showing 1 of 3 skill(s) (offset=1)\n"),
        "{said}"
    );
    assert!(said.contains("\n- **listrow 1** (skill_id: "), "{said}");
    assert!(
        said.contains(")\n  Rows of tools\n") && said.contains("`svc_get_skill`"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_get_skill_answers_name_summary_and_instructions() {
    let id = new_skill("get row").await;
    let said = text("svc_get_skill", json!({ "skill_id": id })).await;
    assert!(
        said.starts_with("**get row**\n\nRows of tools\n\nInstructions:\n1. Read.\n\nNext step:"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_create_skill_answers_id_and_name() {
    let new = json!({ "name": "made row", "description": "d", "body": "b" });
    let said = text("svc_create_skill", new).await;
    assert!(said.starts_with("Skill created.\nskill_id: "), "{said}");
    assert!(
        said.contains("\nname: made row\n") && said.contains("`svc_get_skill`"),
        "{said}"
    );
    for missing in ["name", "description", "body"] {
        let mut new = json!({ "name": "a", "description": "d", "body": "b" });
        new.as_object_mut().unwrap().remove(missing);
        assert_eq!(
            say("svc_create_skill", new).await.code(),
            "invalid_request",
            "{missing}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_update_skill_changes_only_fields_that_are_not_empty_and_answers_the_version() {
    let id = new_skill("before").await;
    let update = json!({ "skill_id": id, "name": "", "summary": "after", "instructions": "" });
    let said = text("svc_update_skill", update).await;
    assert_eq!(
        said,
        format!("Skill updated.\nskill_id: {id}\nname: before\nversion: 2")
    );
    let read = text("svc_get_skill", json!({ "skill_id": id })).await;
    assert!(
        read.starts_with("**before**\n\nafter\n\nInstructions:\n1. Read.\n"),
        "{read}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn svc_delete_skill_deletes_for_good() {
    let id = new_skill("gone row").await;
    let said = text("svc_delete_skill", json!({ "skill_id": id })).await;
    assert_eq!(said, format!("Skill deleted: {id}"));
    let again = say("svc_delete_skill", json!({ "skill_id": id })).await;
    assert_eq!(again.code(), "skill_not_found");
}

/// The rule under section 4.3; `connect/agent.rs` follows the link and repeats the call.
#[tokio::test(flavor = "multi_thread")]
async fn auth_required_over_rest_carries_the_reason_and_a_connect_link() {
    let answer = super::post("/v1/tools/locked_run/execute", json!({ "arguments": {} }))
        .await
        .data();
    assert_eq!(
        (&answer["status"], &answer["reason"]),
        (&json!("auth_required"), &json!("auth_required"))
    );
    assert!(
        answer["connect_url"]
            .as_str()
            .unwrap()
            .starts_with("http://")
    );
}
