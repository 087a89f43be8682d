mod auth;

use serde_json::{Value, json};

use super::{FINDINGS_MAX, Lint, lint};
use crate::fixture::MANIFESTS;
use crate::manifest::Manifest;

/// A manifest without a fault, changed by `change`.
fn found(change: impl FnOnce(&mut Value)) -> Lint {
    let mut json: Value = serde_json::from_str(MANIFESTS[0]).expect("a fixture is JSON");
    change(&mut json);
    lint(&Manifest::parse(&json.to_string()).expect("the changed manifest has its shape"))
}

fn check(change: impl FnOnce(&mut Value), path: &str, reason: &str) {
    let found = found(change);
    let hit = found
        .errors
        .iter()
        .any(|e| e.path == path && e.message.contains(reason));
    assert!(hit, "{path} {reason}: {:?}", found.errors);
    assert!(found.reason().is_some());
}

fn check_warning(change: impl FnOnce(&mut Value), path: &str, reason: &str) {
    let found = found(change);
    assert!(found.accepted(), "{reason}: {:?}", found.errors);
    let hit = found
        .warnings
        .iter()
        .any(|w| w.path == path && w.message.contains(reason));
    assert!(hit, "{path} {reason}: {:?}", found.warnings);
}

#[test]
fn the_fixtures_are_accepted() {
    for json in MANIFESTS {
        let found = lint(&Manifest::parse(json).expect("a fixture is a manifest"));
        assert_eq!(found.errors, []);
        assert_eq!(found.reason(), None);
    }
}

#[test]
fn names_versions_and_texts_are_checked() {
    for service in [
        "",
        "GitHub",
        "git-hub",
        "1git",
        "git__hub",
        "git_",
        "toolgate",
        "toolgate_more",
        "svc",
        "svc_more",
        "../etc",
        &"g".repeat(41),
    ] {
        check(
            |m| m["service"] = json!(service),
            "/service",
            "service name",
        );
    }
    for version in ["", "1", "1.0", "v1.0.0", "1.0.0.0", "latest"] {
        check(
            |m| m["version"] = json!(version),
            "/version",
            "semantic version",
        );
    }
    check(|m| m["title"] = json!(" "), "/title", "missing");
    check(
        |m| m["title"] = json!("x".repeat(101)),
        "/title",
        "at most 100",
    );
    check(|m| m["description"] = json!(""), "/description", "missing");
    check(
        |m| m["description"] = json!("Mail\u{202e}liaM of a company"),
        "/description",
        "U+202E",
    );
    check(
        |m| m["homepage"] = json!("javascript:alert(1)"),
        "/homepage",
        "http",
    );
    check(
        |m| m["categories"] = json!(["Code Hosting"]),
        "/categories/0",
        "category",
    );
    check(
        |m| m["limits"] = json!({"timeout_ms": 0}),
        "/limits/timeout_ms",
        "at least 1",
    );
    check_warning(
        |m| m["limits"] = json!({"memory_mib": 4096}),
        "/limits/memory_mib",
        "at most 256",
    );
    check_warning(
        |m| m["description"] = json!("Code."),
        "/description",
        "sentence",
    );
    check_warning(
        |m| {
            m.as_object_mut().expect("an object").remove("homepage");
        },
        "",
        "homepage",
    );
}

#[test]
fn hosts_parameters_and_settings_are_checked() {
    check(
        |m| m["hosts"] = json!(["api.github.com", "10.0.0.1"]),
        "/hosts/1",
        "IP address",
    );
    check(
        |m| m["hosts"] = json!(["api.github.com", "*.com"]),
        "/hosts/1",
        "two fixed labels",
    );
    check(
        |m| m["hosts"] = json!(["api.github.com", "api.github.com"]),
        "/hosts/1",
        "twice",
    );
    check(
        |m| m["hosts"] = json!(vec!["api.github.com"; 101]),
        "/hosts",
        "at most 100",
    );
    check(
        |m| m["hosts"] = json!(["api.github.com", "{site}.example.com"]),
        "/hosts/1",
        "neither in",
    );
    let with_parameter = |parameter: Value| {
        move |m: &mut Value| {
            m["hosts"] = json!(["api.github.com", "{site}.example.com"]);
            m["parameters"] = json!([parameter]);
        }
    };
    for unsafe_one in [
        json!({"key": "site", "title": "Site"}),
        json!({"key": "site", "title": "Site", "pattern": "^.+$"}),
        json!({"key": "site", "title": "Site", "pattern": "^[a-z.]+$"}),
    ] {
        check(with_parameter(unsafe_one), "/hosts/1", "is part of a host");
    }
    check(
        with_parameter(json!({"key": "site", "title": "Site", "enum": ["a.b"]})),
        "/hosts/1",
        "DNS label",
    );
    for safe in [
        json!({"key": "site", "title": "Site", "pattern": "^[a-z0-9-]+$"}),
        json!({"key": "site", "title": "Site", "enum": ["eu", "us"]}),
    ] {
        assert_eq!(found(with_parameter(safe)).errors, []);
    }
    check(
        |m| m["parameters"] = json!([{"key": "a", "title": "A", "pattern": "[a-z]+"}]),
        "/parameters/0/pattern",
        "anchor",
    );
    check(
        |m| m["parameters"] = json!([{"key": "a", "title": "A"}, {"key": "a", "title": "B"}]),
        "/parameters/1",
        "twice",
    );
    check(
        |m| m["parameters"] = json!([{"key": "a", "title": "A", "enum": ["x"], "default": "y"}]),
        "/parameters/0/default",
        "default",
    );
    check(
        |m| m["config"] = json!([{"key": "base", "title": "Base", "schema": {"type": "integer"}, "adds_host": true}]),
        "/config/0/schema",
        "type: string",
    );
    check(
        |m| m["config"] = json!([{"key": "base", "title": "Base", "schema": {"type": "nothing"}}]),
        "/config/0/schema",
        "not a usable",
    );
    check(
        |m| m["capabilities"] = json!(["egress", "egress"]),
        "/capabilities/1",
        "twice",
    );
    check_warning(
        |m| m["capabilities"] = json!([]),
        "/hosts",
        "none of them can be reached",
    );
}

#[test]
fn tools_are_checked() {
    let tool = |key: &'static str, value: Value| move |m: &mut Value| m["tools"][0][key] = value;
    check(|m| m["tools"] = json!([]), "/tools", "no tool");
    check(
        tool("name", json!("createIssue")),
        "/tools/0/name",
        "tool name",
    );
    check(tool("name", json!("list_issues")), "/tools/1/name", "twice");
    check(
        tool("name", json!("x".repeat(58))),
        "/tools/0/name",
        "65 characters",
    );
    assert!(found(tool("name", json!("x".repeat(57)))).accepted());
    check(
        tool("description", json!("")),
        "/tools/0/description",
        "missing",
    );
    check(
        tool("description", json!("x".repeat(4_001))),
        "/tools/0/description",
        "at most",
    );
    check(
        tool("auth", json!(["bot"])),
        "/tools/0/auth/0",
        "not a slot",
    );
    check(
        tool("scopes", json!(["a b"])),
        "/tools/0/scopes/0",
        "not one scope",
    );
    check(tool("auth", json!([])), "/tools/0/scopes", "without a slot");
    check(
        tool("input", json!({})),
        "/tools/0/input",
        "\"type\": \"object\"",
    );
    check(
        tool("input", json!({"type": "array"})),
        "/tools/0/input",
        "\"type\": \"object\"",
    );
    check(tool("input", json!([])), "/tools/0/input", "not a schema");
    check(
        tool(
            "input",
            json!({"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}}),
        ),
        "/tools/0/input",
        "leads out",
    );
    check(
        tool(
            "input",
            json!({"type": "object", "description": "a\u{e0041}"}),
        ),
        "/tools/0/input/description",
        "U+E0041",
    );
    check(
        tool("output", json!({"type": 1})),
        "/tools/0/output",
        "not a usable",
    );
    check(
        tool("keywords", json!(vec!["k"; 33])),
        "/tools/0/keywords",
        "at most 32",
    );
    check(
        tool("requests", json!(vec!["find it"; 9])),
        "/tools/0/requests",
        "at most 8",
    );
    check(
        tool("requests", json!(["find it", "x".repeat(121)])),
        "/tools/0/requests/1",
        "120",
    );
    let at_the_bounds = tool("requests", json!(vec!["x".repeat(120); 8]));
    assert_eq!(found(at_the_bounds).errors, []);
    check(
        tool("examples", json!(vec![json!({}); 11])),
        "/tools/0/examples",
        "at most 10",
    );

    check_warning(
        tool("examples", json!([{"owner": 1}])),
        "/tools/0/examples/0",
        "does not fit",
    );
    check_warning(tool("examples", json!([])), "/tools/0", "example");
    check_warning(
        tool("name", json!("delete_issue")),
        "/tools/0/effect",
        "destructive",
    );
    check_warning(
        tool("name", json!("github_issue")),
        "/tools/0/name",
        "repeats the service",
    );
    check_warning(
        tool("description", json!("Creates.")),
        "/tools/0/description",
        "sentence",
    );
    check_warning(
        tool(
            "input",
            json!({"type": "object", "properties": {"a": {"properties": {}}}}),
        ),
        "/tools/0/input/properties/a",
        "nested `properties`",
    );
    check_warning(
        tool(
            "input",
            json!({"type": "object", "properties": {"a": {"type": "string", "description": "x".repeat(30_000)}}}),
        ),
        "/tools/0/input",
        "inline",
    );
}

#[test]
fn two_thousand_tools_are_accepted_and_ten_thousand_refused() {
    let many = |count: usize| {
        found(move |m| {
            let tools: Vec<Value> = (0..count)
                .map(|i| json!({"name": format!("t{i}"), "description": format!("Tool number {i} of many."), "input": {"type": "object"}, "effect": "read", "auth": ["user"]}))
                .collect();
            m["tools"] = tools.into();
        })
    };
    assert_eq!(many(super::TOOLS_MAX).errors, []);
    for count in [super::TOOLS_MAX + 1, 10_000] {
        let found = many(count);
        assert_eq!(found.errors.len(), 1);
        assert!(
            found.errors[0].message.contains("at most 2000"),
            "{:?}",
            found.errors
        );
    }
}

#[test]
fn findings_are_bounded_and_counted() {
    let found = found(|m| {
        let tools: Vec<Value> = (0..500)
            .map(|_| json!({"name": "Bad Name", "description": "", "input": 1, "effect": "read"}))
            .collect();
        m["tools"] = tools.into();
    });
    assert_eq!(found.errors.len(), FINDINGS_MAX);
    assert!(found.omitted > 0);
    assert!(found.reason().is_some_and(|reason| reason.contains("more")));
}

#[test]
fn a_reading_tool_whose_words_or_arguments_change_something_gets_a_warning() {
    let named = |name: &'static str, title: Option<&'static str>| {
        move |m: &mut Value| {
            m["tools"][0]["effect"] = json!("read");
            m["tools"][0]["name"] = json!(name);
            m["tools"][0]["title"] = title.into();
        }
    };
    let reason = "changes something; a tool declared `read` runs without asking anyone";
    for name in [
        "get_and_lock",
        "users_delete",
        "send_mail",
        "reset_password",
    ] {
        check_warning(named(name, None), "/tools/0/effect", reason);
    }
    check_warning(
        named("status", Some("Stop a scan")),
        "/tools/0/effect",
        reason,
    );
    let found = found(named("list_deleted_items", Some("List deleted items")));
    let about = |found: &Lint| found.warnings.iter().any(|w| w.path == "/tools/0/effect");
    assert!(!about(&found), "{:?}", found.warnings);

    let argument = |schema: Value| {
        move |m: &mut Value| {
            m["tools"][0]["effect"] = json!("read");
            m["tools"][0]["name"] = json!("query");
            m["tools"][0]["title"] = Value::Null;
            m["tools"][0]["input"] = json!({"type": "object", "properties": {"sql": schema}});
        }
    };
    let free = argument(json!({"type": "string", "description": "The statement."}));
    check_warning(free, "/tools/0/effect", "`sql` looks like a statement");
    let bounded =
        json!({"type": "string", "enum": ["SHOW TABLES"], "description": "The statement."});
    let found = super::tests::found(argument(bounded));
    assert!(!about(&found), "{:?}", found.warnings);
}
