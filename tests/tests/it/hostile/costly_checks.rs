//! A plugin's schema makes the check of arguments expensive, and a caller sends what makes it so.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway, new_tenant};

/// Longer than any of these checks takes, in a build without optimizations too; without the bound each takes many times
/// as long.
const BOUND: Duration = Duration::from_secs(20);

fn with_input(service: &str, input: &Value) -> Fixture {
    let mut run = tool("run");
    run["input"] = input.clone();
    run["input"]["type"] = json!("object");
    Fixture::new(service).with("tools", json!([run]))
}

/// Schemas of a hostile plugin by name, each with arguments within the limit of a body.
fn hostile() -> Vec<(&'static str, Value, Value)> {
    let text = "ab".repeat(450_000);
    let pattern = |n: usize| format!("(a|b|ab){{1,{n}}}$");
    let patterns: Vec<Value> = (200..220).map(|n| json!({"pattern": pattern(n)})).collect();
    let deep = (0..9).fold(
        json!({"type": "string"}),
        |inner, _| json!({"anyOf": [inner.clone(), inner]}),
    );
    vec![
        (
            "patterns",
            json!({"properties": {"a": {"allOf": patterns}}}),
            json!({"a": text.clone()}),
        ),
        (
            "names",
            json!({"patternProperties": {(pattern(400)): {"type": "integer"}}}),
            json!({ (text.clone()): 1 }),
        ),
        (
            "propertynames",
            json!({"propertyNames": {"pattern": pattern(400)}}),
            json!({ (text.clone()): 1 }),
        ),
        (
            "alternatives",
            json!({"properties": {"a": {"type": "array", "items": deep}}}),
            json!({"a": vec!["x"; 90_000]}),
        ),
        (
            "reference",
            json!({"$defs": {"p": {"pattern": pattern(400)}}, "properties": {"a": {"$ref": "#/$defs/p"}}}),
            json!({"a": text.clone()}),
        ),
        (
            "regex",
            json!({"properties": {"a": {"type": "string", "format": "regex"}}}),
            json!({"a": text}),
        ),
    ]
}

/// Defence: `host/catalog/src/cost.rs` measures a check before it is done, and `Tool::validate_bounded` refuses what takes
/// too long.
#[tokio::test(flavor = "multi_thread")]
async fn arguments_whose_check_would_take_seconds_are_refused_and_hold_up_nobody() {
    let all = hostile();
    let plugins = all.iter().map(|(name, input, _)| {
        let service = format!("h{name}");
        (
            format!("{service}.wasm"),
            with_input(&service, input).build(),
        )
    });
    let quick = ("quick.wasm".to_owned(), Fixture::new("quick").build());
    let gateway = TestGateway::start(Options {
        plugins: plugins.chain([quick]).collect(),
        ..Options::default()
    })
    .await;
    let (greedy, _) = new_tenant(&gateway.gateway, "greedy").await.unwrap();
    let began = Instant::now();
    for (name, _, arguments) in &all {
        let path = format!("/v1/tools/h{name}_run/execute");
        let body = json!({ "arguments": arguments }).to_string();
        let refused = gateway.send(reqwest::Method::POST, &path, Some(&greedy), Some(body));
        let other = gateway.execute("quick_run", json!({}));
        let (refused, other) = tokio::join!(refused, other);
        assert_eq!(refused.status, 400, "{name}: {}", refused.text);
        assert!(
            refused.text.contains("too long to check"),
            "{name}: {}",
            refused.text
        );
        assert_eq!(other["status"], "success", "{name}: {other}");
        let small = json!({ "arguments": {} }).to_string();
        let small = gateway.send(reqwest::Method::POST, &path, Some(&greedy), Some(small));
        assert_eq!(
            small.await.status,
            200,
            "{name}: what is small is checked and runs"
        );
    }
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
}

/// Defence: `host/catalog/src/arguments/places.rs` counts each look at the schema against the call's budget while it
/// interprets the arguments.
#[tokio::test(flavor = "multi_thread")]
async fn arguments_whose_meaning_would_take_seconds_to_find_hold_up_nobody() {
    let required: Vec<String> = (0..6_000).map(|n| format!("r{n:05}")).collect();
    let absent: serde_json::Map<String, Value> = (0..60_000)
        .map(|n| (format!("m{n}"), Value::Null))
        .collect();
    let number = |n: usize| json!({"type": "integer", "minimum": n});
    let many: Vec<Value> = (0..190)
        .map(|n| json!({"properties": {"x": number(n)}}))
        .collect();
    let listed: Vec<usize> = (0..9_000).collect();
    let all = [
        (
            "nulls",
            json!({"required": required, "additionalProperties": {"type": "integer"}}),
            json!(absent),
        ),
        (
            "alternatives",
            json!({"properties": {"a": {"type": "array", "items": {"allOf": many}}}}),
            json!({"a": vec![json!({"x": "1"}); 45_000]}),
        ),
        (
            "options",
            json!({"properties": {"a": {"type": "array", "items": {"enum": listed}}}}),
            json!({"a": vec!["no"; 90_000]}),
        ),
    ];
    let plugins = all.iter().map(|(name, input, _)| {
        let service = format!("m{name}");
        (
            format!("{service}.wasm"),
            with_input(&service, input).build(),
        )
    });
    let gateway = TestGateway::start(Options {
        plugins: plugins.collect(),
        ..Options::default()
    })
    .await;
    let began = Instant::now();
    for (name, _, arguments) in &all {
        let path = format!("/v1/tools/m{name}_run/execute");
        let body = json!({ "arguments": arguments });
        let refused = gateway.post(&path, &body).await;
        assert_eq!(refused.status, 400, "{name}: {}", refused.text);
    }
    // Without the budget the first of them alone compares 360,000,000 copies of names.
    assert!(began.elapsed() < 3 * BOUND, "{:?}", began.elapsed());
}

/// Defence: `REPORTED_BYTES_MAX` of `host/catalog/src/arguments.rs`: an alternative that does not fit copies what it is
/// about.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_text_that_fits_none_of_many_alternatives_is_refused_without_copies() {
    let constants: Vec<Value> = (0..1_000).map(|n| json!({ "const": n })).collect();
    let input =
        json!({"properties": {"a": {"anyOf": constants.clone()}, "b": {"oneOf": constants}}});
    let gateway = TestGateway::with_plugin("many.wasm", with_input("many", &input).build()).await;
    let text = "x".repeat(900_000);
    for arguments in [
        json!({"a": text}),
        json!({"b": text}),
        json!({"a": {"c": text}}),
    ] {
        let body = json!({ "arguments": arguments });
        let refused = gateway.post("/v1/tools/many_run/execute", &body).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(
            refused.text.contains("too many to say where"),
            "{}",
            refused.text
        );
    }
    let body = json!({ "arguments": {"a": "short"} });
    let refused = gateway.post("/v1/tools/many_run/execute", &body).await;
    assert!(
        refused.text.contains("/a"),
        "a short one is told where: {}",
        refused.text
    );
}

/// Defence: `PATTERN_STATES_MAX` of `host/catalog/src/cost.rs`, asked by `host/catalog/src/lint/schema.rs`.
#[test]
fn a_schema_whose_patterns_are_too_large_together_is_not_accepted() {
    let patterns = |repeats: usize, count: usize| {
        let all: Vec<Value> = (0..count)
            .map(|n| json!({"pattern": format!("^{n}(a|b|ab){{1,{repeats}}}$")}))
            .collect();
        let manifest = with_input("large", &json!({"properties": {"a": {"allOf": all}}})).manifest;
        let manifest = toolgate_catalog::Manifest::parse(&manifest.to_string()).unwrap();
        toolgate_catalog::lint(&manifest).errors
    };
    let errors = patterns(20, 20);
    assert!(errors.is_empty(), "{errors:?}");
    for (repeats, count) in [(1_000, 12), (400, 31), (900, 20)] {
        let errors = patterns(repeats, count);
        let said = errors
            .iter()
            .any(|error| error.message.contains("states together"));
        assert!(said, "{repeats} x {count}: {errors:?}");
    }
}
