use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{Manifest, fixture};

/// The tools of one service, whose manifest nobody has checked.
fn tools(service: &str, tools: &Value) -> Vec<Tool> {
    let manifest = json!({
        "manifest": 1, "service": service, "title": service, "version": "1.0.0", "description": "d", "tools": tools,
    });
    let manifest = Manifest::parse(&manifest.to_string()).expect("it has its shape");
    Tool::from_manifest(&Arc::new(manifest), &Arc::from("ab"))
}

/// A tool that reads, with this input.
fn tool(name: &str, input: &Value) -> Value {
    json!({ "name": name, "description": "Does it", "effect": "read", "input": input })
}

/// The declarations behind those of the gateway.
fn services(all: &[Tool]) -> String {
    let whole = declarations(all);
    let rest = whole.strip_prefix(OWN).expect("the gateway's own go first");
    rest.to_owned()
}

fn written(schema: &Value) -> String {
    let written = type_text(schema, DECLARATION_BYTES_MAX, 0).expect("it fits");
    written.text
}

#[test]
fn a_service_is_an_object_of_its_tools() {
    let of_github = tools(
        "github",
        &json!([
            {
                "name": "create_issue", "title": "Create", "description": "Creates an issue.\n\nIn one repository",
                "effect": "write",
                "input": {
                    "type": "object", "required": ["owner", "title"], "additionalProperties": false,
                    "properties": {
                        "owner": { "type": "string", "description": "Login" },
                        "title": { "type": "string" },
                        "labels": { "type": "array", "items": { "type": "string" } },
                        "state": { "enum": ["open", "closed", null] }
                    }
                },
                "output": {
                    "type": "object", "required": ["number"],
                    "properties": { "number": { "type": "integer" }, "url": { "type": ["string", "null"] } }
                }
            },
            { "name": "whoami", "description": "Who calls", "effect": "read", "input": { "type": "object" } },
            {
                "name": "list_issues", "description": "Lists", "effect": "read", "paginated": true,
                "input": { "type": "object", "properties": {} }, "deprecated": "use search_issues"
            },
            {
                "name": "delete_repo", "description": "Deletes!", "effect": "destructive",
                "input": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] }
            }
        ]),
    );
    let expected = r#"declare const github: {
  /** Creates an issue. In one repository. Effect: write. */
  createIssue(args: {
    /** Login */
    owner: string;
    title: string;
    labels?: string[];
    state?: "open" | "closed" | null;
  }): Promise<{ number: number; url?: string | null }>;
  /** Deletes! Effect: destructive. */
  deleteRepo(args: { name: string }): Promise<unknown>;
  /** Lists. Paginated: pass `next_cursor` as `cursor` until it is null. Deprecated: use search_issues */
  listIssues(args?: {
    /** Page to continue from: `next_cursor` of the page before. Omit it for the first page. */
    cursor?: string;
  }): Promise<{ result: unknown; next_cursor: string | null }>;
  /** Who calls. */
  whoami(): Promise<unknown>;
};
declare const tools: {
  github: typeof github;
};
"#;
    assert_eq!(services(&of_github), expected);
}

#[test]
fn the_cursor_of_the_next_page_is_a_member_of_an_object() {
    let mut paginated = tool("list", &json!({}));
    paginated["paginated"] = json!(true);
    paginated["output"] = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let declared = services(&tools("x", &json!([paginated])));
    assert!(
        declared.contains("Promise<({ n?: number }) & { next_cursor: string | null }>;"),
        "{declared}"
    );
}

#[test]
fn services_and_tools_are_sorted_and_each_is_written_once() {
    let mut all = tools(
        "b",
        &json!([
            tool("z", &json!({})),
            tool("a", &json!({})),
            tool("z", &json!({}))
        ]),
    );
    all.extend(tools("a", &json!([tool("x", &json!({}))])));
    let expected = "declare const a: {\n  /** Does it. */\n  x(): Promise<unknown>;\n};\n\
        declare const b: {\n  /** Does it. */\n  a(): Promise<unknown>;\n  /** Does it. */\n  z(): Promise<unknown>;\n};\n\
        declare const tools: {\n  a: typeof a;\n  b: typeof b;\n};\n";
    assert_eq!(services(&all), expected);
    assert_eq!(services(&[]), "declare const tools: {};\n");
}

#[test]
fn a_service_whose_name_is_taken_is_a_member_of_tools_alone() {
    for service in ["delete", "search"] {
        let all = tools(service, &json!([tool("new", &json!({}))]));
        let expected = format!(
            "declare const tools: {{\n  {service}: {{\n    /** Does it. */\n    \"new\"(): Promise<unknown>;\n  }};\n}};\n"
        );
        assert_eq!(services(&all), expected);
    }
}

#[test]
fn names_of_the_language_and_of_every_object_are_only_names() {
    let all = tools(
        "x",
        &json!([
            tool("constructor", &json!({})),
            tool("delete", &json!({})),
            tool("to_string", &json!({})),
        ]),
    );
    let said = services(&all);
    for line in ["  constructor(): P", "  delete(): P", "  toString(): P"] {
        assert!(said.contains(line), "{said}");
    }
    let input = json!({
        "type": "object", "required": ["__proto__", "then"],
        "properties": { "__proto__": { "type": "string" }, "constructor": {}, "new": { "type": "number" } }
    });
    assert_eq!(
        written(&input),
        "{ __proto__: string; constructor?: unknown; new?: number; then: unknown }"
    );
}

#[test]
fn a_tool_that_repeats_its_service_is_not_shortened_twice() {
    let all = tools("n8n", &json!([tool("n8n_status", &json!({}))]));
    let said = services(&all);
    assert!(said.contains("  n8nStatus(): P"), "{said}");
}

#[test]
fn two_tools_of_one_camel_case_keep_their_own_names() {
    let all = tools(
        "o",
        &json!([
            tool("get2fa", &json!({})),
            tool("get_2fa", &json!({})),
            tool("get_it", &json!({}))
        ]),
    );
    let said = services(&all);
    for line in ["  get2fa(): P", "  get_2fa(): P", "  getIt(): P"] {
        assert!(said.contains(line), "{said}");
    }
}

#[test]
fn the_arguments_are_optional_where_each_of_them_is() {
    for (input, parameter) in [
        (json!({"type": "object"}), ""),
        (json!({"type": "object", "additionalProperties": false}), ""),
        (
            json!({"type": "object", "properties": {"a": {}}}),
            "args?: { a?: unknown }",
        ),
        (
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"]}),
            "args: { a: unknown }",
        ),
        (
            json!({"type": "object", "additionalProperties": true}),
            "args?: Record<string, unknown>",
        ),
        (
            json!({"type": "object", "minProperties": 1}),
            "args: Record<string, unknown>",
        ),
        (
            json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            "args: { a: unknown } | { b: unknown }",
        ),
    ] {
        let all = tools("x", &json!([tool("t", &input)]));
        let said = services(&all);
        assert!(
            said.contains(&format!("t({parameter}): P")),
            "{input}: {said}"
        );
    }
}

#[test]
fn a_schema_is_a_type() {
    for (schema, expected) in [
        (json!({}), "unknown"),
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({"type": "string", "pattern": "^a"}), "string"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": "number"}), "number"),
        (json!({"type": "boolean"}), "boolean"),
        (json!({"type": "null"}), "null"),
        (
            json!({"type": ["integer", "number", "null"]}),
            "number | null",
        ),
        (json!({"type": ["string", "odd"]}), "unknown"),
        (json!({"type": 7}), "unknown"),
        (json!({"type": "string", "nullable": true}), "string | null"),
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (
            json!({"enum": [1, -2.5, true, null, "x"]}),
            r#"1 | -2.5 | true | null | "x""#,
        ),
        (json!({"enum": [["a"], "x"]}), "unknown"),
        (json!({"type": "array"}), "unknown[]"),
        (
            json!({"items": {"type": ["string", "null"]}}),
            "(string | null)[]",
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}),
            "(string | number)[]",
        ),
        (
            json!({"type": "array", "items": {"allOf": [{"type": "string"}, {"const": "a"}]}}),
            "(string & \"a\")[]",
        ),
        (json!({"type": "object"}), "Record<string, unknown>"),
        (
            json!({"type": "object", "additionalProperties": false}),
            "{}",
        ),
        (
            json!({"additionalProperties": {"type": "number"}}),
            "Record<string, number>",
        ),
        (
            json!({"type": "object", "patternProperties": {"^x-": {}}}),
            "Record<string, unknown>",
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}}),
            "{ a?: string; [key: string]: unknown }",
        ),
        (
            json!({"required": ["a", "a", "b-c"]}),
            r#"{ a: unknown; "b-c": unknown }"#,
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            "string | string[]",
        ),
        (
            json!({"type": "object", "oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}),
            "{ a?: unknown } | { b?: unknown }",
        ),
        (
            json!({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            "{ a?: unknown } & ({ a: unknown } | { b: unknown })",
        ),
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}, {"properties": {"a": {}}}]}),
            "{ a?: unknown } & { b?: unknown }",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"pattern": "x"}]}),
            "unknown",
        ),
        (
            json!({"type": "string", "anyOf": [{"pattern": "x"}, {"pattern": "y"}]}),
            "string",
        ),
        (json!({"not": {"type": "string"}}), "unknown"),
    ] {
        assert_eq!(written(&schema), expected, "{schema}");
    }
}

#[test]
fn references_lead_into_the_schema_and_nowhere_else() {
    let schema = |target: &str| {
        json!({
            "$defs": { "a": { "type": "string" }, "b/c": { "type": "number" }, "loop": { "$ref": "#/$defs/loop" } },
            "properties": { "x": { "$ref": target } }
        })
    };
    for (target, expected) in [
        ("#/$defs/a", "string"),
        ("#/$defs/b~1c", "number"),
        ("#/$defs/loop", "unknown"),
        ("#/$defs/missing", "unknown"),
        ("https://a.test/s.json", "unknown"),
        ("other.json#/$defs/a", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(
            written(&schema(target)),
            format!("{{ x?: {expected} }}"),
            "{target}"
        );
    }
    let tree = json!({
        "$ref": "#/$defs/node",
        "$defs": { "node": { "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } }
    });
    assert_eq!(written(&tree), "{ children?: unknown[] }");
    // The whole is a reference too: it is followed once.
    let whole = json!({ "properties": { "child": { "$ref": "#" } } });
    assert_eq!(written(&whole), "{ child?: { child?: unknown } }");
}

#[test]
fn properties_say_what_their_type_does_not() {
    let schema = json!({ "properties": {
        "a": { "type": "integer", "description": "Page size", "minimum": 1, "maximum": 100, "default": 30 },
        "b": { "type": "string", "format": "date-time", "deprecated": true },
        "c": { "type": "number", "description": "More?", "minimum": 0.5 },
        "d": { "type": "string", "default": "x".repeat(60) },
        "e": { "type": "string", "default": "*/", "format": "*/" },
        "f": true
    }});
    let expected = r#"{
  /** Page size. 1 to 100. Default: 30. */
  a?: number;
  /** Format: date-time. Deprecated. */
  b?: string;
  /** More? At least 0.5. */
  c?: number;
  d?: string;
  /** Format: * /. Default: "* /". */
  e?: string;
  f?: unknown;
}"#;
    assert_eq!(written(&schema), expected);
}

#[test]
fn nested_objects_are_indented_and_long_ones_broken() {
    let name = "n".repeat(70);
    let schema = json!({ "properties": {
        "a": { "properties": { "b": { "type": "string", "description": "B" } } },
        "c": { "type": "array", "items": { "properties": { name.as_str(): {}, "d": {} } } }
    }});
    let expected = format!(
        "{{\n  a?: {{\n    /** B */\n    b?: string;\n  }};\n  c?: {{\n    {name}?: unknown;\n    d?: unknown;\n  }}[];\n}}"
    );
    assert_eq!(written(&schema), expected);
}

#[test]
fn a_hostile_text_stays_in_its_comment_and_its_literal() {
    let evil = "*/ }; declare const stolen: string; /*\n// @ts-nocheck";
    let all = tools(
        "x",
        &json!([{
            "name": "t", "description": evil, "effect": "read", "deprecated": evil,
            "input": { "type": "object", "properties": {
                "a; evil(): void": { "description": evil },
                "b": { "enum": ["\"; evil \u{2028}\\"] }
            }}
        }]),
    );
    let expected = r#"declare const x: {
  /** * / }; declare const stolen: string; /* // @ ts-nocheck. Deprecated: * / }; declare const stolen: string; /* // @ ts-nocheck */
  t(args?: {
    /** * / }; declare const stolen: string; /* // @ ts-nocheck */
    "a; evil(): void"?: unknown;
    b?: "\"; evil \u{2028}\\";
  }): Promise<unknown>;
};
declare const tools: {
  x: typeof x;
};
"#;
    assert_eq!(services(&all), expected);
}

/// A schema whose type is `width` times as large at each level, by references.
fn fanning(levels: usize, width: usize) -> Value {
    let level = |n: usize| {
        let next = format!("#/$defs/l{}", n + 1);
        let properties: serde_json::Map<String, Value> = (0..width)
            .map(|p| (format!("p{p}"), json!({ "$ref": next })))
            .collect();
        json!({ "type": "object", "properties": properties })
    };
    let mut defs: serde_json::Map<String, Value> =
        (0..levels).map(|n| (format!("l{n}"), level(n))).collect();
    defs.insert(format!("l{levels}"), json!({ "type": "string" }));
    json!({ "type": "object", "properties": { "top": { "$ref": "#/$defs/l0" } }, "$defs": defs })
}

#[test]
fn a_declaration_is_bounded_whatever_the_schema() {
    let wide: serde_json::Map<String, Value> = (0..3_000)
        .map(|n| (format!("argument_{n}"), json!({ "type": "string" })))
        .collect();
    let wide = json!({ "type": "object", "required": ["argument_1"], "properties": wide });
    let long = json!({ "type": "object", "properties": { "a": { "const": "x".repeat(40_000) } } });
    for (input, parameter) in [
        (wide, "args: Record<string, unknown>"),
        (long, "args?: Record<string, unknown>"),
        (fanning(5, 2), "args?: {\n"),
        (fanning(6, 40), "args?: Record<string, unknown>"),
    ] {
        let spec = json!([{
            "name": "t", "description": "d".repeat(4_000), "effect": "destructive", "deprecated": "e".repeat(500),
            "input": input, "output": input
        }]);
        let said = services(&tools("x", &spec));
        assert!(said.contains(&format!("t({parameter}")), "{said}");
        assert!(said.len() <= DECLARATION_BYTES_MAX + 200, "{}", said.len());
    }
}

#[test]
fn a_type_ends_at_its_depth() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..40 {
        deep = json!({ "type": "array", "items": deep });
    }
    assert_eq!(written(&deep), format!("unknown{}", "[]".repeat(14)));
    // Forty to the power of five: the writer stops at its bound.
    assert_eq!(type_text(&fanning(6, 40), DECLARATION_BYTES_MAX, 0), None);
}

#[test]
fn an_enum_of_many_values_is_the_kind_of_its_values() {
    let values: Vec<String> = (0..65).map(|n| format!("v{n}")).collect();
    assert_eq!(
        written(&json!({ "type": "string", "enum": values })),
        "string"
    );
    assert_eq!(written(&json!({ "enum": values })), "unknown");
    let at_most = written(&json!({ "type": "string", "enum": values[..64] }));
    assert!(at_most.starts_with("\"v0\" | \"v1\" | "), "{at_most}");
    assert!(at_most.ends_with(" | \"v63\""), "{at_most}");
}

#[test]
fn a_whole_catalog_is_declared() {
    let catalog = fixture::catalog();
    let all = catalog.tools().iter().map(|tool| &**tool);
    let said = declarations(all);
    for tool in catalog.tools() {
        let function = script_function(tool.service(), &tool.name);
        assert!(said.contains(&format!("\n  {function}(")), "{}", tool.name);
    }
    for service in catalog.services() {
        assert!(
            said.contains(&format!("\ndeclare const {service}: {{\n")),
            "{service}"
        );
    }
    let opened = said.matches('{').count();
    assert_eq!(opened, said.matches('}').count());
}
