//! A toolset as MCP clients see it: a server whose tools are those of the toolset, under their own names,
//! with their own schemas.
//!
//! A call runs as through `svc_execute_tool`, with one difference: whatever is not the tool's own result
//! has `isError`, because a client that has listed `github_create_issue` takes a result for an issue that
//! was created. Read [`notify`] for how clients learn that the list has changed.

pub(crate) mod notify;

use std::fmt;
use std::sync::Arc;

use rmcp::model::{Icon, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cards;
use crate::connect::McpClient;
use crate::digits::{ARGUMENTS, WrittenNumbers};
use crate::operations::Operations;
use crate::render::{self, ToolNaming};
use crate::tools::execute::{self, ToolRun};
use crate::tools::{CalledTool, ToolFailure, ToolOutcome};
use toolgate_gateway::Error;
use toolgate_gateway::tools::{Execution, Outcome};
use toolgate_gateway::toolsets::TOOLS_LISTED_MAX;
use toolgate_gateway::toolsets::listing::{ToolSource, ToolsetTool, ToolsetTools, fits};

/// How long a client may keep the list. Permissions change at any moment.
pub(crate) const FRESH_MS: u64 = 60_000;
/// In `_meta` of a list: how many tools of the toolset it does not hold.
const LEFT_OUT: &str = "toolgate/leftOut";
/// Names the header that a client should send an argument in (SEP-2243). No plugin has a say in headers.
const HEADER_KEYWORD: &str = "x-mcp-header";

/// Where clients find the icons of services.
#[derive(Clone)]
pub struct ServiceIcons {
    /// Without a trailing slash.
    pub base_url: String,
    /// The path of a service's icon, an SVG image; none for a service without one.
    pub path_of: fn(&str) -> Option<String>,
}

impl fmt::Debug for ServiceIcons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceIcons")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

impl ServiceIcons {
    fn icon(&self, service: &str) -> Option<Icon> {
        let path = (self.path_of)(service)?;
        let icon = Icon::new(format!("{}{path}", self.base_url));
        let scalable = vec!["any".to_owned()];
        Some(icon.with_mime_type("image/svg+xml").with_sizes(scalable))
    }
}

/// A tool as `tools/list` has it. `objects_alone`: the protocol wants output schemas to be those of
/// objects, as until 2025-11-25. `has_card`: the client renders what becomes of its calls.
pub(crate) fn describe(
    tool: &ToolsetTool,
    icons: Option<&ServiceIcons>,
    objects_alone: bool,
    has_card: bool,
) -> Tool {
    let hints = &tool.annotations;
    let hints = ToolAnnotations::with_title(&tool.title)
        .read_only(hints.read_only_hint)
        .destructive(hints.destructive_hint)
        .idempotent(hints.idempotent_hint)
        .open_world(hints.open_world_hint);
    let mut described = Tool::new(
        tool.name.clone(),
        tool.description.clone(),
        object(&tool.input_schema),
    )
    .with_title(&tool.title)
    .with_annotations(hints);
    if let Some(output_schema) = output_schema(tool, objects_alone) {
        described = described.with_raw_output_schema(object(output_schema));
    }
    if let ToolSource::Tool { service } = &tool.source
        && let Some(icon) = icons.and_then(|icons| icons.icon(service))
    {
        described = described.with_icons(vec![icon]);
    }
    if has_card && matches!(tool.source, ToolSource::Tool { .. }) {
        described = described.with_meta(cards::tool_meta());
    }
    described
}

/// What a client is told of the results of a tool.
fn output_schema(tool: &ToolsetTool, objects_alone: bool) -> Option<&RawValue> {
    let schema = tool.output_schema.as_deref()?;
    let is_object = || object(schema).get("type") == Some(&json!("object"));
    (!objects_alone || is_object()).then_some(schema)
}

/// A schema in its own order, without the keyword that would put arguments into headers.
fn object(schema: &RawValue) -> Arc<JsonObject> {
    let mut schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    strip(&mut schema);
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.shift_remove(HEADER_KEYWORD);
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// What a list says of itself.
pub(crate) fn list_meta(listed: &ToolsetTools) -> Option<MetaObject> {
    let mut meta = MetaObject::default();
    meta.0.insert(LEFT_OUT.to_owned(), json!(listed.left_out));
    (listed.left_out > 0).then_some(meta)
}

/// What a client reads of the server before it reads the list.
pub(crate) fn instructions(listed: &ToolsetTools, of_generic_tools: &str) -> String {
    let mut text = listed.title.clone();
    if !listed.description.trim().is_empty() {
        text.push_str(": ");
        text.push_str(listed.description.trim());
    }
    text.push_str(
        "\n\nThe tools run with your user's own accounts. When an answer is headed Authentication \
         Required or Approval Required, show its link to the user and repeat the same call once they \
         have followed it.",
    );
    if listed.left_out > 0 {
        text.push_str(&format!(
            " {} more tools of this toolset are not listed, because a list holds at most \
             {TOOLS_LISTED_MAX}.",
            listed.left_out
        ));
    }
    if listed.generic_tools {
        text.push_str("\n\n");
        text.push_str(of_generic_tools);
    }
    text
}

/// Runs one tool of the list.
pub(crate) async fn call(
    operations: &dyn Operations,
    client: McpClient<'_>,
    tool: &ToolsetTool,
    arguments: JsonObject,
    called: ToolNaming,
) -> Result<ToolOutcome, ToolFailure> {
    if let ToolSource::Skill { skill_id } = &tool.source {
        if !arguments.is_empty() {
            let sent: Vec<String> = arguments.keys().cloned().collect();
            let problem = "it takes no arguments";
            let sentence = render::bad_parameters(&tool.name, problem, &sent, &[]);
            return Err(Error::InvalidRequest(sentence).into());
        }
        let skill = operations.skill(skill_id).await?;
        return Ok(ToolOutcome::Text(render::skill_alone(&skill)));
    }
    let schema = output_schema(tool, client.requires_object_content());
    let written = WrittenNumbers::of(client.context);
    let arguments = written.arguments(ARGUMENTS, arguments.into());
    let request = execute::request(tool.name.clone(), arguments, None);
    match execute::run(operations, &client, request).await? {
        ToolRun::Ended(execution) => {
            let card = execute::card(operations, &client, &execution);
            let links = client.links(&execution);
            let answer = answer(&execution, schema, called);
            let answer = CalledTool {
                card,
                links,
                ..answer
            };
            Ok(ToolOutcome::Called(answer))
        }
        ToolRun::Asks(input) => Ok(ToolOutcome::Input(input)),
    }
}

/// The answer to a call that has ended, without its card and its links.
fn answer(execution: &Execution, schema: Option<&RawValue>, called: ToolNaming) -> CalledTool {
    let plain = |text, is_error| CalledTool {
        text,
        is_error,
        structured: None,
        links: Vec::new(),
        card: None,
    };
    let text = || render::execution(execution, called);
    let Outcome::Success {
        result, truncated, ..
    } = &execution.outcome
    else {
        return plain(text(), true);
    };
    let Some(schema) = schema else {
        return plain(text(), false);
    };
    let why = if truncated.is_some() {
        "it is too long to be given whole"
    } else {
        match serde_json::from_str::<Value>(result.get()) {
            Ok(result) if fits(schema, &result) => {
                return CalledTool {
                    structured: Some(result),
                    ..plain(text(), false)
                };
            }
            _ => "it is not what the tool's output schema describes",
        }
    };
    plain(render::unfit_result(execution, called, why), true)
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;
    use toolgate_gateway::tools::Annotations;

    fn raw(schema: &Value) -> Arc<RawValue> {
        to_raw_value(schema).unwrap().into()
    }

    fn tool(output_schema: Option<Value>) -> ToolsetTool {
        let input = json!({
            "type": "object",
            "properties": { "b": { "type": "string", "x-mcp-header": "Authorization" }, "a": {} },
        });
        ToolsetTool {
            name: "demo_run".to_owned(),
            title: "Demo: run".to_owned(),
            description: "Runs.".to_owned(),
            input_schema: raw(&input),
            output_schema: output_schema.as_ref().map(raw),
            annotations: Annotations {
                read_only_hint: false,
                destructive_hint: true,
                idempotent_hint: false,
                open_world_hint: true,
            },
            source: ToolSource::Tool {
                service: "demo".to_owned(),
            },
        }
    }

    fn ran(result: &Value, is_cut: bool) -> Execution {
        let truncated = is_cut.then(|| toolgate_gateway::tools::results::Truncated {
            result_id: "res_1".to_owned(),
            bytes_total: 9_000_000,
            bytes_shown: 10,
            expires_at: "2026-11-20T10:30:00Z".to_owned(),
        });
        Execution {
            execution_id: "exe_1".into(),
            tool_name: "demo_run".into(),
            service: "demo".into(),
            session_id: "tool_1".into(),
            duration_ms: 1,
            coerced: Vec::new(),
            outcome: Outcome::Success {
                result: raw(result),
                truncated,
                files: Vec::new(),
                summary: None,
                next_cursor: None,
            },
        }
    }

    #[test]
    fn a_tool_is_described_by_its_manifest_and_puts_nothing_into_headers() {
        let icons = ServiceIcons {
            base_url: "https://tools.example.com".to_owned(),
            path_of: |service| Some(format!("/assets/{service}.svg")),
        };
        let object = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let described = describe(&tool(Some(object.clone())), Some(&icons), true, true);
        insta::assert_json_snapshot!("toolset_tool", described);
        let list = json!({ "type": "array" });
        assert!(
            describe(&tool(Some(list.clone())), None, true, false)
                .output_schema
                .is_none()
        );
        assert!(
            describe(&tool(Some(list)), None, false, false)
                .output_schema
                .is_some()
        );
        assert!(describe(&tool(None), None, false, false).icons.is_none());
    }

    #[test]
    fn structured_content_is_what_the_schema_says_or_none() {
        let called = ToolNaming::Itself {
            generic_tools: false,
        };
        let schema = raw(&json!({
            "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"],
        }));
        let good = answer(&ran(&json!({ "n": 7 }), false), Some(&schema), called);
        assert_eq!(good.structured, Some(json!({ "n": 7 })));
        assert!(
            !good.is_error && good.text.ends_with(r#"{"n":7}"#),
            "{good:?}"
        );
        for (result, is_cut) in [(json!({ "n": "7" }), false), (json!("{\"n\":"), true)] {
            let bad = answer(&ran(&result, is_cut), Some(&schema), called);
            assert!(bad.is_error && bad.structured.is_none(), "{bad:?}");
            let text = bad.text;
            assert!(
                text.contains("has run") && text.contains("Do not repeat"),
                "{text}"
            );
        }
        let plain = answer(&ran(&json!({ "n": 7 }), false), None, called);
        assert!(!plain.is_error && plain.structured.is_none(), "{plain:?}");
    }

    #[test]
    fn the_number_of_generic_tools_is_what_the_gateway_leaves_room_for() {
        assert_eq!(
            crate::tools::list().len(),
            toolgate_gateway::toolsets::GENERIC_TOOLS
        );
        assert!(
            crate::tools::list()
                .iter()
                .all(|tool| tool.name.starts_with("svc_"))
        );
    }
}
