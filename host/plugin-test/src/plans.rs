//! The requests that every tool of a plugin would send: for generated arguments, for each value of an enumeration, for
//! its own examples.
//!
//! Nothing is judged here. A checker that knows the service's own description reads the result.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::generate::{Fill, value};
use super::verdict::{arguments, violations};
use super::{TestCache, TestCall, TestPlugin, replay};
use toolgate_catalog::Tool;
use toolgate_egress::PlannedRequest;
use toolgate_runtime::{CallEnd, RefusalKind};

/// Most values of one enumeration that are tried.
const VALUES_MAX: usize = 64;

/// The planned calls of one plugin.
#[derive(Debug, Serialize)]
pub struct Plans {
    pub service: String,
    pub version: String,
    pub tools: Vec<TestedTool>,
}

/// One tool and its calls.
#[derive(Debug, Serialize)]
pub struct TestedTool {
    pub tool: String,
    pub input_schema: Value,
    pub calls: Vec<PlannedCall>,
}

/// One call: what it was made with and what it would have sent up to the first answer that it needs.
#[derive(Debug, Serialize)]
pub struct PlannedCall {
    /// `required`, `all`, `generated`, `NAME=VALUE` or `example N`.
    pub called: String,
    pub arguments: Value,
    pub requests: Vec<PlannedRequest>,
    /// Why nothing was sent, where the plugin refused the arguments by a rule that is not in its schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// Plans every tool of the plugin file.
pub async fn plan_file(plugin: &Path, cache: &TestCache) -> anyhow::Result<Plans> {
    let rig = TestPlugin::open(plugin, &[], cache).await?;
    let mut tools = Vec::new();
    for tool in Tool::from_manifest(&rig.manifest, &"".into()) {
        let mut calls = Vec::new();
        for (called, arguments) in calls_of(&tool) {
            calls.push(plan(&rig, &tool, called, arguments).await);
        }
        tools.push(TestedTool {
            tool: tool.action().to_owned(),
            input_schema: tool.spec().input.value(),
            calls,
        });
    }
    Ok(Plans {
        service: rig.manifest.service.clone(),
        version: rig.manifest.version.clone(),
        tools,
    })
}

fn calls_of(tool: &Tool) -> Vec<(String, Value)> {
    let all = arguments(tool, Fill::All);
    let mut calls = vec![
        ("required".to_owned(), arguments(tool, Fill::Required)),
        ("all".to_owned(), all.clone()),
    ];
    let schema = tool.spec().input.value();
    // The tool's own example covers what is generated below an argument that it has.
    let generated = value(&schema, Fill::All);
    if generated != all && violations(tool, &generated).is_empty() {
        calls.push(("generated".to_owned(), generated));
    }
    calls.extend(choices(&schema, &all));
    let own = tool.spec().examples.iter().enumerate();
    calls.extend(own.map(|(n, example)| (format!("example {}", n + 1), example.clone())));
    calls
}

/// All arguments again, once for each further value of an argument that is an enumeration.
fn choices(schema: &Value, all: &Value) -> Vec<(String, Value)> {
    let mut calls = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let values = property.get("enum").and_then(Value::as_array);
        for value in values.into_iter().flatten().take(VALUES_MAX) {
            if all.get(name).is_some_and(|chosen| chosen != value) {
                let mut arguments = all.clone();
                arguments[name] = value.clone();
                calls.push((format!("{name}={value}"), arguments));
            }
        }
    }
    calls
}

async fn plan(rig: &TestPlugin, tool: &Tool, called: String, arguments: Value) -> PlannedCall {
    let mut planned = PlannedCall {
        called,
        arguments: arguments.clone(),
        requests: Vec::new(),
        refused: None,
        failed: None,
    };
    let violations = violations(tool, &arguments);
    if !violations.is_empty() {
        planned.failed = Some(violations.join("; "));
        return planned;
    }
    let test_call = TestCall {
        tool: tool.action().to_owned(),
        arguments,
        ..TestCall::default()
    };
    match rig.plan(&test_call).await {
        Ok((CallEnd::DryRun | CallEnd::Returned(_), requests)) => planned.requests = requests,
        Ok((CallEnd::Refused(refusal), _)) if refusal.kind == RefusalKind::InvalidArguments => {
            planned.refused = Some(refusal.message);
        }
        Ok((ended, _)) => planned.failed = Some(replay::shown(&ended)),
        Err(cause) => planned.failed = Some(format!("{cause:#}")),
    }
    planned
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::choices;

    #[test]
    fn each_further_value_of_an_enumeration_is_a_call() {
        let schema = json!({"properties": {
            "state": {"enum": ["open", "closed", "all"]}, "name": {"type": "string"}, "left_out": {"enum": [1, 2]}}});
        let all = json!({"state": "open", "name": "a"});
        let made = choices(&schema, &all);
        let called: Vec<&str> = made.iter().map(|(called, _)| called.as_str()).collect();
        assert_eq!(called, ["state=\"closed\"", "state=\"all\""]);
        assert_eq!(made[1].1, json!({"state": "all", "name": "a"}));
    }
}
