//! PyPI `schemathesis` against the served document: examples, the edges of every schema, random data
//! and sequences of calls. No 5xx, and no answer that the document does not describe.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::tools;

/// How long it may look for mistakes, and what it may take with start and report.
const SEARCH_S: u64 = 60;
const RUN_MAX: Duration = Duration::from_secs(SEARCH_S + 240);

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,ignored_auth";

fn installed() -> PathBuf {
    tools::installed("schemathesis/bin/schemathesis", "schemathesis").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_is_answered_by_a_5xx_or_by_what_the_document_does_not_say() {
    let echo = Fixture::new("github")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    let gateway = TestGateway::with_plugin("github.wasm", echo.build()).await;
    // Something to find for those who ask without having made anything.
    let skill = json!({ "name": "Weekly report", "summary": "B", "instructions": "C" });
    assert_eq!(gateway.post("/v1/skills", &skill).await.status, 201);
    let toolset = json!({ "name": "support", "tools": ["github_run"] });
    assert_eq!(gateway.post("/v1/toolsets", &toolset).await.status, 201);
    gateway.execute("github_run", json!({ "text": "a" })).await;

    let folder = tempfile::tempdir().unwrap();
    // Nobody connects here: a request that waits for it would wait to the end.
    let settings = "[parameters]\n\"query.wait\" = 0\n";
    std::fs::write(folder.path().join("schemathesis.toml"), settings).unwrap();
    let run = Command::new(installed())
        .current_dir(folder.path())
        .args(["--no-color", "run"])
        .arg(gateway.url("/openapi.json"))
        .args(["-H", &format!("Authorization: Bearer {}", gateway.key)])
        .args(["--max-time", &SEARCH_S.to_string()])
        .args(["--phases", "examples,coverage,fuzzing,stateful"])
        .args([
            "--max-examples",
            "20",
            "--generation-deterministic",
            "--no-shrink",
        ])
        .args(["--continue-on-failure", "--checks", CHECKS])
        // Pages for people and machines beside the interface.
        .args([
            "--exclude-path-regex",
            "^/(healthz|readyz|metrics|docs|openapi.json)$",
        ])
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(RUN_MAX, run)
        .await
        .expect("in time")
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    // It asked, and more than the examples.
    let counts = said.match_indices(" generated").filter_map(|(at, _)| {
        let before = said[..at].chars().rev();
        let digits = before.take_while(|c| c.is_ascii_digit() || *c == ',');
        let digits: Vec<char> = digits.filter(char::is_ascii_digit).collect();
        digits.iter().rev().collect::<String>().parse::<u32>().ok()
    });
    assert!(counts.max() > Some(100), "{said}");
}
