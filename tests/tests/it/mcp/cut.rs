//! Results of more than about 25,000 tokens at the address of a toolset: cut, and read on as a resource.

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway};

use super::forms::{call, message, open, post};

/// What one answer holds.
const CHARS: usize = 100_000;

/// `plain_run` and `typed_run` answer their arguments; the second one says in a schema what these are.
async fn gateway() -> TestGateway {
    let echo = |service: &str, output: Option<Value>| {
        let mut run = tool("run");
        if let Some(output) = output {
            run["output"] = output;
        }
        Fixture::new(service)
            .with("tools", json!([run]))
            .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))")
            .build()
    };
    let gateway = TestGateway::start(Options {
        plugins: vec![
            ("plain.wasm".to_owned(), echo("plain", None)),
            (
                "typed.wasm".to_owned(),
                echo("typed", Some(json!({ "type": "object" }))),
            ),
        ],
        ..Options::default()
    })
    .await;
    let own = json!({ "name": "own", "tools": ["plain_run", "typed_run"] });
    assert_eq!(gateway.post("/v1/toolsets", &own).await.status, 201);
    gateway
}

async fn ask(gateway: &TestGateway, session: &str, body: &Value) -> Value {
    let answer = post(gateway, "/mcp/t/own", None, Some(session), body).await;
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    message(&kind, &answer.text().await.unwrap())
}

/// Arguments of exactly so many characters as JSON, some of which are longer than a byte.
fn arguments(chars: usize) -> Value {
    let around = json!({ "text": "" }).to_string().len();
    let wide = "\u{1f980}".repeat(1_000);
    json!({ "text": format!("{wide}{}", "x".repeat(chars - around - 1_000)) })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_at_the_bound_is_whole_and_one_beyond_it_is_read_to_its_end() {
    let gateway = &gateway().await;
    let session = open(gateway, "/mcp/t/own").await;
    let run = async |tool: &str, chars: usize| {
        ask(gateway, &session, &call(tool, &arguments(chars))).await["result"].take()
    };
    for tool in ["plain_run", "typed_run"] {
        let whole = run(tool, CHARS).await;
        let text = whole["content"][0]["text"].as_str().unwrap();
        assert!(
            !text.contains("[Cut: ") && whole["isError"] != true,
            "{tool}"
        );
    }
    assert!(run("typed_run", CHARS).await["structuredContent"].is_object());
    // What is structured is whole or is not there.
    let typed = run("typed_run", CHARS + 1).await;
    assert_eq!(
        (&typed["isError"], &typed["structuredContent"]),
        (&json!(true), &Value::Null)
    );

    let expected = arguments(250_000).to_string();
    let cut = run("plain_run", 250_000).await;
    let text = cut["content"][0]["text"].as_str().unwrap();
    let (_, result) = text.split_once("\nResult:\n").unwrap();
    let (head, how) = result.split_once("\n\n[Cut: ").unwrap();
    assert_eq!(head.chars().count(), CHARS);
    assert!(
        how.contains("`plain_run`") && !how.contains("svc_"),
        "{how}"
    );
    let mut read = head.to_owned();
    let mut next = address(how);
    while let Some(uri) = next {
        let body = json!({ "jsonrpc": "2.0", "id": 8, "method": "resources/read", "params": { "uri": uri } });
        let answer = ask(gateway, &session, &body).await;
        let text = answer["result"]["contents"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}"));
        let (_, rest) = text.split_once("\n\nContent:\n").unwrap();
        let (content, how) = rest.rsplit_once("\n\n[").unwrap();
        assert!(content.chars().count() <= CHARS);
        read.push_str(content);
        next = address(how);
    }
    assert!(
        read == expected,
        "the pieces are the whole: {} of {}",
        read.len(),
        expected.len()
    );
    for unknown in [
        "toolgate://results/res_nothing",
        "toolgate://results/res_1?offset=x",
        "toolgate://other",
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 8, "method": "resources/read", "params": { "uri": unknown } });
        let answer = ask(gateway, &session, &body).await;
        assert!(answer["error"].is_object(), "{unknown}: {answer}");
    }
}

/// The resource that a text says to read next.
fn address(how: &str) -> Option<String> {
    let (_, rest) = how.split_once("read the resource ")?;
    rest.split_once(' ').map(|(uri, _)| uri.to_owned())
}
