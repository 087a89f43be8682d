//! `svc_run_script`: one script in place of many calls.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    CalledTool, ToolEntry, ToolFailure, ToolHints, ToolOutcome, decode, parameters, schema_of,
};
use crate::{progress, render};
use toolgate_gateway::scripts::{RunScript, ScriptRun, ScriptStatus};
use toolgate_gateway::{Error, Scope};

/// A run as structured content is no longer, as JSON text; beyond that the text alone is answered.
const STRUCTURED_BYTES_MAX: usize = 50_000;

pub(super) const ROW: ToolEntry = ToolEntry {
    name: "svc_run_script",
    title: "Run a script",
    description: "Runs one JavaScript or TypeScript module that calls several integration tools, and answers what \
        it exports as default. Use it in place of many svc_execute_tool calls: loops, filters and joins happen there, \
        and only the result comes back. Each service is an object with a function for each tool in camel case, so \
        github_create_issue is github.createIssue; each takes one object of arguments and returns a promise of the \
        result. svc_get_tool_schema with format \"typescript\" shows the types. Also there: args (your arguments), \
        search(query), describe(tool), skills.get(name), log(...), sleep(ms), progress(done, total). There is no \
        import, no fetch and no file. A failed call throws a ToolError with code and canRetry. Example: \
        `const { result: issues } = await github.listIssues({ owner: args.owner, repo: args.repo }); \
        const bugs = issues.filter(issue => issue.labels.includes('bug')); \
        await Promise.all(bugs.map(issue => slack.postMessage({ channel: args.channel, text: issue.title }))); \
        export default bugs.length;` \
        If the answer holds a link, show it to the user, and once they have followed it call again with the run_id \
        alone: calls that were made are not made again.",
    effect: ToolHints::RunsTools,
    scope: Some(Scope::ToolsExecute),
    parameters: schema_of::<RunScriptParameters>,
    call: |call| {
        Box::pin(async move {
            let asked: RunScriptParameters = decode(&ROW, call.arguments)?;
            let (operations, context) = (call.operations, call.client.context);
            let run = match (asked.script, asked.run_id) {
                (Some(script), None) => {
                    let arguments = script_arguments(asked.arguments)?;
                    let start = |listener| {
                        operations.run_script(RunScript {
                            script,
                            arguments,
                            user_id: None,
                            session_id: asked.session_id,
                            dry_run: asked.dry_run.unwrap_or_default(),
                            listener,
                        })
                    };
                    progress::listened(context, start).await?
                }
                (None, Some(run_id)) => {
                    let start = |_| operations.resume_script(&run_id);
                    progress::listened(context, start).await?
                }
                (Some(_), Some(_)) | (None, None) => {
                    let sentence = "give either `script`, or `run_id` of a run that was paused";
                    return Err(Error::InvalidRequest(sentence.to_owned()).into());
                }
            };
            Ok(ToolOutcome::Called(answer(&run)))
        })
    },
};

fn answer(run: &ScriptRun) -> CalledTool {
    let whole = serde_json::to_string(run).ok();
    let whole = whole.filter(|text| text.len() <= STRUCTURED_BYTES_MAX);
    CalledTool {
        text: render::script_run(run),
        is_error: match run.status {
            ScriptStatus::Failed => true,
            ScriptStatus::Done
            | ScriptStatus::Paused
            | ScriptStatus::Planned
            | ScriptStatus::Cancelled
            | ScriptStatus::Running => false,
        },
        structured: whole.and_then(|text| serde_json::from_str(&text).ok()),
        links: Vec::new(),
        card: None,
    }
}

/// A text is JSON; many models send the value itself, which can only mean one thing.
fn script_arguments(sent: Option<Value>) -> Result<Value, ToolFailure> {
    match sent {
        None | Some(Value::Null) => Ok(Value::Object(Map::new())),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Value::Object(Map::new())),
        Some(Value::String(text)) => serde_json::from_str(&text).map_err(|problem| {
            let problem = problem.to_string();
            let place = "arguments";
            ToolFailure::Gateway(Error::InvalidJson { place, problem })
        }),
        Some(value) => Ok(value),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct RunScriptParameters {
    /// The module's text, at most 256 KiB. Left out when a run is resumed.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    script: Option<String>,
    /// Of a run that was paused, to go on with it; then no other parameter counts.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    run_id: Option<String>,
    /// What the script finds in `args`, as a JSON-encoded string; '{}' if left out.
    #[serde(default)]
    #[schemars(with = "String")]
    arguments: Option<Value>,
    /// Session of an earlier answer, so that all calls share its state. Each call has its own if left out.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    session_id: Option<String>,
    /// Makes the calls that read, and only lists those that would write. False if left out.
    #[serde(default)]
    #[schemars(with = "bool")]
    dry_run: Option<bool>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_come_as_json_text_or_as_they_are() {
        let read = |sent| script_arguments(sent).ok();
        assert_eq!(read(None), Some(json!({})));
        assert_eq!(read(Some(json!(" "))), Some(json!({})));
        assert_eq!(read(Some(json!("{\"a\":[1]}"))), Some(json!({"a": [1]})));
        assert_eq!(read(Some(json!({"a": 1}))), Some(json!({"a": 1})));
        assert_eq!(read(Some(json!("{a: 1}"))), None);
    }
}
