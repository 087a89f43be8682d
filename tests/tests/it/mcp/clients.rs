//! The whole flow with the official clients of both generations.

use serde_json::json;
use toolgate_tests::mcp::{Call, Client, Job, Said, converse};

use super::gateway;

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

fn call(name: &'static str, arguments: serde_json::Value) -> Call {
    Call { name, arguments }
}

fn execute(tool_name: &str, arguments: &str) -> Call {
    call(
        "svc_execute_tool",
        json!({ "tool_name": tool_name, "arguments": arguments }),
    )
}

/// Search, describe, execute and everything that can be wrong with it, over one client.
async fn goes_through_the_whole_flow(client: Client, revision: &str) {
    let gateway = gateway().await;
    let url = gateway.url("/mcp");
    let job = Job {
        url: &url,
        key: &gateway.key,
        command: None,
        skills: false,
        opens_urls: false,
        calls: vec![
            call("svc_health_check", json!({})),
            call(
                "svc_search_tools",
                json!({ "query": "test wants done", "service": "demo", "limit": "20" }),
            ),
            call("svc_get_tool_schema", json!({ "tool_name": "demo_run" })),
            execute("demo_run", r#"{"text":"grüß dich"}"#),
            execute("locked_run", "{}"),
            execute("demo_run", "{"),
            execute("demo_run", r#"{"text":7}"#),
            execute("demo_nope", "{}"),
            call("svc_get_tool_schema", json!({ "tool_name": "demo_nope" })),
            call("svc_search_tools", json!({ "query": "test", "limit": 101 })),
            call("svc_search_tools", json!({ "limit": 5 })),
            call("svc_nope", json!({})),
        ],
    };
    let transcript = converse(client, &job)
        .await
        .expect("the client gets through");

    assert_eq!(transcript.protocol, revision);
    for name in [
        "svc_health_check",
        "svc_search_tools",
        "svc_get_tool_schema",
        "svc_execute_tool",
    ] {
        assert!(transcript.tools.iter().any(|tool| tool == name), "{name}");
    }
    let said = &transcript.results;
    let health = said[0].text();
    assert!(
        health.contains("healthy") && health.lines().count() == 1,
        "{health}"
    );

    let found = said[1].text();
    assert!(
        found.starts_with("Found 1 tool for \"test wants done\" (service: demo)"),
        "{found}"
    );
    assert!(
        found.contains("\n- **demo_run** (demo)\n  Does what the test wants"),
        "{found}"
    );
    assert!(
        found.contains("svc_get_tool_schema") && found.contains("svc_execute_tool"),
        "{found}"
    );

    let schema = said[2].text();
    assert!(schema.starts_with("**demo_run**\n"), "{schema}");
    assert!(schema.contains("Input Schema:\n```json\n{\n"), "{schema}");
    assert!(schema.contains("Required arguments:\n- none\n"), "{schema}");

    let (head, result) = said[3].text().split_once("\nResult:\n").expect("a result");
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[0], "Tool: demo_run");
    assert!(
        lines[1].starts_with("Duration: ") && lines[1].ends_with("ms"),
        "{head}"
    );
    assert!(lines[2].starts_with("Session: tool_"), "{head}");
    let result: serde_json::Value = serde_json::from_str(result).expect("JSON and nothing else");
    assert_eq!(result, json!({ "text": "grüß dich" }));

    let auth = said[4].text();
    assert!(auth.starts_with("## Authentication Required\n"), "{auth}");
    assert!(
        auth.contains(
            "\nTool: locked_run\nService: locked\nReason: auth_required\nAuth Type: oauth2\n"
        ),
        "{auth}"
    );

    for (n, start, code) in [
        (5, "Invalid JSON in arguments: ", "invalid_json"),
        (
            6,
            "Invalid arguments for demo_run:\n- /text: ",
            "invalid_arguments",
        ),
        (
            7,
            "Tool not found: demo_nope\n\nUse `svc_search_tools`",
            "tool_not_found",
        ),
        (
            8,
            "Tool not found: demo_nope\n\nUse `svc_search_tools`",
            "tool_not_found",
        ),
        (9, "", "invalid_request"),
        (
            10,
            "Invalid parameters for svc_search_tools: missing field `query`",
            "invalid_request",
        ),
    ] {
        let text = said[n].error_text();
        assert!(text.starts_with(start), "{n}: {text}");
        assert!(
            text.ends_with(&format!("Error Code: {code}")),
            "{n}: {text}"
        );
    }
    match &said[11] {
        Said::ProtocolError { code, message } => {
            assert_eq!(*code, -32602);
            assert!(message.contains("svc_nope"), "{message}");
        }
        other => panic!("an unknown tool is a protocol error, not {other:?}"),
    }
    assert!(transcript.opened.is_empty());
}

macro_rules! over {
    ($($name:ident: $client:expr => $revision:expr),+ $(,)?) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            goes_through_the_whole_flow($client, $revision).await;
        })+
    };
}

over! {
    python_finds_the_newest_revision: Client::Python("auto") => NEW,
    python_of_the_session_era: Client::Python("legacy") => OLD,
    python_pinned_to_the_newest_revision: Client::Python("2026-07-28") => NEW,
    javascript_finds_the_newest_revision: Client::JavaScript("auto") => NEW,
    javascript_of_the_session_era: Client::JavaScript("legacy") => OLD,
    javascript_pinned_to_the_newest_revision: Client::JavaScript("2026-07-28") => NEW,
    javascript_with_the_first_sdk: Client::JavaScriptSdk1 => OLD,
}
