//! The scripts of `docs/code-mode.md`: each is taken by the engine, calls tools that the shipped plugins have, and goes as far
//! as it can for a user who has connected nothing.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};

use super::{run_with, switch};
use crate::recipes::hacker_news;

const SERVICES: [&str; 7] = [
    "hackernews",
    "github",
    "slack",
    "google_forms",
    "google_sheets",
    "pagerduty",
    "stripe",
];
/// What an error of a script that is wrong has as name or code.
const FAULTS: [&str; 6] = [
    "SyntaxError",
    "TypeError",
    "ReferenceError",
    "tool_not_found",
    "invalid_arguments",
    "unsupported_syntax",
];

/// The blocks of JavaScript of the page.
fn scripts() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/code-mode.md");
    let text = std::fs::read_to_string(page).unwrap();
    let blocks = text.split("\n```js\n").skip(1);
    let scripts = blocks.map(|rest| rest.split_once("\n```").unwrap().0.to_owned());
    scripts.collect()
}

/// The functions of services that a script calls: service and name.
fn called(script: &str) -> BTreeSet<(&'static str, String)> {
    let mut called = BTreeSet::new();
    for service in SERVICES {
        for rest in script.split(&format!("{service}.")).skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            if rest[name.len()..].starts_with('(') {
                called.insert((service, name));
            }
        }
    }
    called
}

/// Which functions the declarations of a service have.
async fn assert_declared(gateway: &TestGateway, script: &str) {
    let called = called(script);
    assert!(!called.is_empty(), "{script}");
    for (service, name) in called {
        let path = format!("/v1/tools/types?services={service}");
        let types = gateway.get(&path).await;
        assert_eq!(types.status, 200, "{}", types.text);
        assert!(
            types.text.contains(&format!(" {name}(")),
            "{service}.{name} is not declared"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scripts_of_the_page_are_taken() {
    let news = hacker_news().await;
    let plugins = SERVICES.map(|service| {
        let file = format!("{service}.wasm");
        (file, built_plugin(service).unwrap())
    });
    let gateway = TestGateway::start(Options {
        plugins: plugins.into(),
        allow_upstream: vec![format!("hacker-news.firebaseio.com={}", news.url())],
        ..Options::default()
    })
    .await;
    switch(&gateway, true).await;
    let scripts = scripts();
    assert_eq!(scripts.len(), 5);
    let arguments = json!({
        "owner": "acme", "repo": "website", "channel": "C0123", "form": "1fOrM", "spreadsheet": "1sSheetId",
    });
    for script in &scripts {
        assert_declared(&gateway, script).await;
        let body = json!({"script": script, "arguments": arguments});
        let ran = run_with(&gateway, body).await;
        if script.contains("hackernews.") {
            assert_eq!(super::result_of(&ran), &json!([]), "no story has votes");
            assert_eq!(news.received().len(), 3);
            continue;
        }
        // The first call asks for an account.
        let error = &ran["error"];
        let waits = ran["pause"]["reason"] == "connection";
        assert!(waits || error["name"] == "ToolError", "{script}\n{ran}");
        for fault in FAULTS.map(Value::from) {
            assert!(
                error["name"] != fault && error["code"] != fault,
                "{script}\n{ran}"
            );
        }
    }
}
