//! Arguments that the server wants repeated as headers (`x-mcp-header`, MCP 2026-07-28). Pure.
//!
//! The specification obliges a client to leave out a tool whose `x-mcp-header` breaks its rules, and to keep the
//! others.

use serde_json::Value;

use crate::notes::shown;
use toolgate_mcp_wire::table::ArgumentHeader;

/// The keyword.
const KEYWORD: &str = "x-mcp-header";
/// Most arguments of one tool that are repeated as headers.
const HEADERS_MAX: usize = 20;
/// Longest name of such a header, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Types of arguments that may be headers. `number` is absent: its digits are not fixed.
const PRIMITIVES: &[&str] = &["string", "integer", "boolean", "null"];

/// The headers of a tool, at any depth of plain objects, or why the tool cannot be used.
pub(super) fn argument_headers(schema: &Value) -> Result<Vec<ArgumentHeader>, String> {
    let mut found: Vec<ArgumentHeader> = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = open.pop() {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (key, property) in properties.into_iter().flatten() {
            let segment = key.replace('~', "~0").replace('/', "~1");
            let pointer = format!("{pointer}/{segment}");
            if let Some(header) = property.get(KEYWORD) {
                let name = header_name(header, property)
                    .map_err(|why| format!("`{KEYWORD}` of its argument `{}` {why}", shown(key)))?;
                if found.iter().any(|one| one.name.eq_ignore_ascii_case(name)) {
                    return Err(format!("two of its arguments have the same `{KEYWORD}`"));
                }
                found.push(ArgumentHeader {
                    pointer: pointer.clone(),
                    name: name.to_owned(),
                });
            }
            open.push((pointer, property));
        }
    }
    match found.len() > HEADERS_MAX {
        true => Err(format!(
            "more than {HEADERS_MAX} of its arguments have `{KEYWORD}`"
        )),
        false => Ok(found),
    }
}

fn header_name<'a>(header: &'a Value, property: &Value) -> Result<&'a str, String> {
    let name = header.as_str().filter(|name| is_token(name));
    let name = name.ok_or_else(|| {
        format!("is not 1 to {NAME_BYTES_MAX} letters, digits, `-` and `_` of ASCII")
    })?;
    match is_primitive(property.get("type")) {
        true => Ok(name),
        false => Err("is allowed only where the type is string, integer or boolean".to_owned()),
    }
}

/// A schema without a type says nothing against it.
fn is_primitive(kind: Option<&Value>) -> bool {
    let allowed = |kind: &Value| kind.as_str().is_some_and(|kind| PRIMITIVES.contains(&kind));
    match kind {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().all(allowed),
        Some(kind) => allowed(kind) && kind != "null",
    }
}

fn is_token(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_the_server_wants_as_headers_are_found() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": ["integer", "null"], "x-mcp-header": "Count"},
            "deep": {"properties": {"a/b": {"x-mcp-header": "Deep"}}},
            "plain": {"type": "object"},
        }});
        let mut found = argument_headers(&schema).expect("usable");
        found.sort_by(|a, b| a.name.cmp(&b.name));
        let found: Vec<_> = found
            .iter()
            .map(|h| (h.pointer.as_str(), h.name.as_str()))
            .collect();
        let expected = [
            ("/count", "Count"),
            ("/deep/a~1b", "Deep"),
            ("/region", "Region"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_header_against_the_rules_of_the_specification_leaves_the_tool_out() {
        for property in [
            json!({"type": "string", "x-mcp-header": ""}),
            json!({"type": "string", "x-mcp-header": "My Region"}),
            json!({"type": "string", "x-mcp-header": "Region:Primary"}),
            json!({"type": "string", "x-mcp-header": "Région"}),
            json!({"type": "string", "x-mcp-header": "Region\t1"}),
            json!({"type": "string", "x-mcp-header": 1}),
            json!({"type": "number", "x-mcp-header": "Score"}),
            json!({"type": "object", "x-mcp-header": "Data"}),
            json!({"type": "array", "x-mcp-header": "Items"}),
            json!({"type": "null", "x-mcp-header": "Nil"}),
            json!({"type": ["string", "array"], "x-mcp-header": "Either"}),
        ] {
            let schema = json!({"properties": {"a": property}});
            assert!(argument_headers(&schema).is_err(), "{schema}");
        }
        let twice = json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "MyField"},
            "b": {"properties": {"c": {"type": "string", "x-mcp-header": "myfield"}}},
        }});
        assert!(argument_headers(&twice).is_err());
        let header = |n: usize| {
            let property = json!({"type": "string", "x-mcp-header": format!("H{n}")});
            (format!("a{n}"), property)
        };
        for (count, usable) in [(HEADERS_MAX, true), (HEADERS_MAX + 1, false)] {
            let properties: serde_json::Map<String, Value> = (0..count).map(header).collect();
            let schema = json!({ "properties": properties });
            assert_eq!(argument_headers(&schema).is_ok(), usable, "{count}");
        }
    }
}
