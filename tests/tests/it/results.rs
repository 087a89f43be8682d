//! Results that do not fit: picked, cut, kept and read on, over both edges.

use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{TestGateway, new_key};

use crate::parity::{say, say_as};

async fn start() -> TestGateway {
    let echo = Fixture::new("echo")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    TestGateway::with_plugin("echo.wasm", echo.build()).await
}

const RUN: &str = "/v1/tools/echo_run/execute";

async fn run(gateway: &TestGateway, body: Value) -> Value {
    gateway.post(RUN, &body).await.data()
}

/// Follows `next_offset` from `offset` to the end.
async fn read_on(gateway: &TestGateway, id: &str, mut offset: u64, limit: usize) -> String {
    let mut text = String::new();
    loop {
        let path = format!("/v1/results/{id}?offset={offset}&limit={limit}");
        let piece = gateway.get(&path).await.data();
        text.push_str(piece["content"].as_str().unwrap());
        match piece["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => return text,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_beyond_its_budget_is_kept_whole_and_read_to_its_end() {
    let gateway = start().await;
    let arguments = json!({ "text": "\u{1f980}ä".repeat(300) });
    let whole = arguments.to_string();
    for (budget, count) in [("max_result_bytes", 600), ("max_result_chars", 300)] {
        let body = json!({ "arguments": arguments, budget: count });
        let ran = run(&gateway, body).await;
        let shown = ran["result"].as_str().unwrap();
        let truncated = &ran["truncated"];
        assert_eq!(truncated["bytes_total"], whole.len());
        assert_eq!(truncated["bytes_shown"], shown.len());
        assert!(shown.len() <= 600 || shown.chars().count() == 300);
        let id = truncated["result_id"].as_str().unwrap();
        let rest = read_on(&gateway, id, shown.len() as u64, 77).await;
        assert_eq!(format!("{shown}{rest}"), whole);

        let reader = new_key(&gateway.gateway, "reader", &[Scope::ToolsRead])
            .await
            .unwrap();
        let path = format!("/v1/results/{id}");
        let refused = gateway
            .send(reqwest::Method::GET, &path, Some(&reader), None)
            .await;
        assert_eq!(refused.code(), "scope_denied");
        for bad in [
            "offset=3&limit=3",
            "offset=16777217",
            "limit=1048577",
            "offset=x",
        ] {
            let refused = gateway.get(&format!("{path}?{bad}")).await;
            assert_eq!(refused.code(), "invalid_request", "{bad}");
        }
        let past = gateway
            .get(&format!("{path}?offset={}", whole.len() + 1))
            .await;
        assert_eq!(past.code(), "invalid_request");
    }
    assert_eq!(
        gateway.get("/v1/results/res_nothing").await.code(),
        "not_found"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_pick_parts_and_the_budget_counts_what_was_picked() {
    let gateway = start().await;
    let arguments = json!({ "a": { "b": [1, { "c": "deep" }] }, "long": "x".repeat(5_000) });
    let body = json!({ "arguments": arguments, "fields": ["/a/b/1/c", "/nowhere"], "max_result_bytes": 256 });
    let ran = run(&gateway, body).await;
    assert_eq!(ran["result"], json!({ "/a/b/1/c": "deep" }));
    assert!(ran.get("truncated").is_none());
    let body = json!({ "arguments": arguments, "fields": ["/long"], "max_result_bytes": 256 });
    let ran = run(&gateway, body).await;
    assert_eq!(
        ran["truncated"]["bytes_total"],
        json!({ "/long": "x".repeat(5_000) }).to_string().len()
    );
    for bad in [
        json!({ "max_result_bytes": 255 }),
        json!({ "max_result_chars": 255 }),
        json!({ "max_result_bytes": -1 }),
        json!({ "fields": "/a" }),
        json!({ "fields": ["a"] }),
        json!({ "fields": vec!["/a"; 101] }),
    ] {
        assert_eq!(
            gateway.post(RUN, &bad).await.code(),
            "invalid_request",
            "{bad}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pure_mcp_client_reads_a_result_of_400_000_characters_to_its_end() {
    let gateway = start().await;
    // Two kinds of characters, so that bytes and characters part; within a body of 1 MiB.
    let text = format!("{}{}", "\u{1f980}".repeat(150_000), "x".repeat(249_989));
    let arguments = json!({ "text": text }).to_string();
    assert_eq!(arguments.chars().count(), 400_000);
    let asked = json!({ "tool_name": "echo_run", "arguments": arguments });
    let said = say(&gateway, "svc_execute_tool", asked).await;
    let (_, result) = said.text.split_once("\nResult:\n").unwrap();
    let (head, how) = result.split_once("\n\n[Cut: ").unwrap();
    assert_eq!(head.chars().count(), 100_000);
    assert!(how.contains("toolgate_read_result"), "{how}");

    let mut text = head.to_owned();
    let mut next = next_call(how);
    let mut pieces = 0;
    while let Some(arguments) = next {
        let asked = json!({ "tool_name": "toolgate_read_result", "arguments": arguments });
        let said = say(&gateway, "svc_execute_tool", asked).await;
        assert!(!said.is_error, "{}", said.text);
        let (_, rest) = said.text.split_once("\n\nContent:\n").unwrap();
        let (content, how) = rest.rsplit_once("\n\n[").unwrap();
        assert!(content.chars().count() <= 100_000);
        text.push_str(content);
        next = next_call(how);
        pieces += 1;
    }
    assert_eq!((text.len(), pieces), (arguments.len(), 3));
    assert!(text == arguments, "the pieces are the whole");

    let described = json!({ "tool_name": "toolgate_read_result" });
    let said = say(&gateway, "svc_get_tool_schema", described).await;
    assert!(said.text.contains("\"result_id\""), "{}", said.text);
    for (arguments, code) in [
        ("{}", "invalid_request"),
        ("{", "invalid_request"),
        (r#"{"result_id":"res_nothing"}"#, "not_found"),
    ] {
        let asked = json!({ "tool_name": "toolgate_read_result", "arguments": arguments });
        assert_eq!(
            say(&gateway, "svc_execute_tool", asked).await.code(),
            code,
            "{arguments}"
        );
    }
    let reader = new_key(&gateway.gateway, "reader", &[Scope::ToolsRead])
        .await
        .unwrap();
    let asked =
        json!({ "tool_name": "toolgate_read_result", "arguments": "{\"result_id\":\"res_1\"}" });
    let refused = say_as(&gateway, &reader, "svc_execute_tool", asked).await;
    assert_eq!(refused.code(), "scope_denied");
}

/// The `arguments` that the text says to call with next.
fn next_call(how: &str) -> Option<String> {
    let (_, rest) = how.split_once("`arguments` '")?;
    Some(rest.split_once("'.")?.0.to_owned())
}
