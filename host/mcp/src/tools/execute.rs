//! `svc_execute_tool`, and under a reserved name the rest of a result that was too long.

use rmcp::model::{InputRequiredResult, MetaObject};
use rmcp::schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    CalledTool, ToolEntry, ToolFailure, ToolHints, ToolOutcome, decode, parameters, schema_of,
};
use crate::connect::McpClient;
use crate::digits::{TOOL_ARGUMENTS, WrittenNumbers};
use crate::operations::Operations;
use crate::render::{READ_FILE, READ_RESULT, ReadingOn, ToolNaming};
use crate::{cards, connect, progress, render};
use toolgate_gateway::tools::results::Budget;
use toolgate_gateway::tools::{Arguments, CallListener, Execute, Execution, Outcome};
use toolgate_gateway::{Error, Scope};

pub(super) const ROW: ToolEntry = ToolEntry {
    name: "svc_execute_tool",
    title: "Run a tool",
    description: "Runs one integration tool with your user's own account and answers with its JSON \
        result. If the account is not connected yet, the answer holds a link: show it to the user \
        and repeat the same call once they have followed it.",
    effect: ToolHints::RunsTools,
    scope: Some(Scope::ToolsExecute),
    parameters: schema_of::<ExecuteParameters>,
    call: |call| {
        Box::pin(async move {
            let mut asked: ExecuteParameters = decode(&ROW, call.arguments)?;
            if let Arguments::Object(object) = asked.arguments {
                let written = WrittenNumbers::of(call.client.context);
                asked.arguments = written.arguments(TOOL_ARGUMENTS, object);
            }
            if asked.tool_name == READ_RESULT {
                return read_on(call.operations, asked.arguments).await;
            }
            if asked.tool_name == READ_FILE {
                return read_file(call.operations, asked.arguments).await;
            }
            let execute = request(asked.tool_name, asked.arguments, asked.session_id);
            match run(call.operations, &call.client, execute).await? {
                ToolRun::Ended(execution) => Ok(ToolOutcome::Called(CalledTool {
                    text: render::execution(&execution, ToolNaming::Generic),
                    is_error: match execution.outcome {
                        Outcome::Error { .. } => true,
                        Outcome::Success { .. }
                        | Outcome::AuthRequired(_)
                        | Outcome::AuthExpired(_)
                        | Outcome::ApprovalRequired(_)
                        | Outcome::DryRun { .. } => false,
                    },
                    structured: None,
                    links: call.client.links(&execution),
                    card: card(call.operations, &call.client, &execution),
                })),
                ToolRun::Asks(input) => Ok(ToolOutcome::Input(input)),
            }
        })
    },
};

/// What a call of this edge asks of the operation.
pub(crate) fn request(
    tool_name: String,
    arguments: Arguments,
    session_id: Option<String>,
) -> Execute {
    Execute {
        tool_name,
        arguments,
        session_id,
        user_id: None,
        connection_id: None,
        dry_run: false,
        budget: Budget {
            chars_max: Some(render::RESULT_CHARS_MAX),
            ..Budget::default()
        },
        claim: None,
        parent_execution_id: None,
        listener: CallListener::default(),
    }
}

/// What a call comes to.
pub(crate) enum ToolRun {
    Ended(Execution),
    /// The client puts a question to the user and calls again.
    Asks(InputRequiredResult),
}

/// Runs one tool, by whatever name it was called.
pub(crate) async fn run(
    operations: &dyn Operations,
    client: &McpClient<'_>,
    execute: Execute,
) -> Result<ToolRun, ToolFailure> {
    let identity = || operations.identity();
    let asked_before = client.resumes(identity, &execute.tool_name)?;
    let start = |execute| operations.execute(execute);
    let execution = progress::running(client.context, execute, start).await?;
    if let Some(link) = connect::link(&execution)
        && !asked_before
    {
        let identity = identity();
        let asking = client.ask(&identity, &execution.tool_name, link);
        if let Some(input) = asking.await {
            return Ok(ToolRun::Asks(input));
        }
    }
    Ok(ToolRun::Ended(execution))
}

/// What a card shows of a call, for a client that renders one.
pub(crate) fn card(
    operations: &dyn Operations,
    client: &McpClient<'_>,
    execution: &Execution,
) -> Option<MetaObject> {
    let renders = client.renders_cards();
    renders.then(|| cards::card(execution, operations.public_url()))
}

/// The arguments of a reserved name. `takes`: the parameters that a refusal names.
fn read_parameters<T: DeserializeOwned>(
    name: &str,
    takes: &str,
    arguments: Arguments,
) -> Result<T, ToolFailure> {
    let read = match arguments {
        Arguments::Object(object) => serde_json::from_value(object),
        Arguments::Text(text) => serde_json::from_str(&text),
    };
    read.map_err(|problem| {
        let sentence = format!("{name} takes {takes}: {problem}");
        ToolFailure::Gateway(Error::InvalidRequest(sentence))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContinueResult {
    result_id: String,
    #[serde(default, deserialize_with = "parameters::whole_number")]
    offset: Option<usize>,
}

async fn read_on(
    operations: &dyn Operations,
    arguments: Arguments,
) -> Result<ToolOutcome, ToolFailure> {
    let asked: ContinueResult = read_parameters(READ_RESULT, "result_id and offset", arguments)?;
    let offset = asked.offset.unwrap_or_default();
    let piece = operations
        .stored_result(&asked.result_id, offset, render::PIECE_BYTES)
        .await?;
    let text = render::result_piece(&piece, ReadingOn::Tool);
    Ok(ToolOutcome::Text(text))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    file_id: String,
    #[serde(default, deserialize_with = "parameters::whole_number")]
    offset: Option<usize>,
}

async fn read_file(
    operations: &dyn Operations,
    arguments: Arguments,
) -> Result<ToolOutcome, ToolFailure> {
    let asked: ReadFile = read_parameters(READ_FILE, "file_id and offset", arguments)?;
    let offset = asked.offset.unwrap_or_default();
    let piece = operations
        .file_text(&asked.file_id, offset, render::PIECE_BYTES)
        .await?;
    let text = render::file_piece(&piece, ReadingOn::Tool);
    Ok(ToolOutcome::Text(text))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ExecuteParameters {
    /// Exact name from svc_search_tools: "github_create_issue".
    tool_name: String,
    /// The tool's arguments as a JSON-encoded string that holds one object; '{}' for none.
    #[serde(deserialize_with = "json_text")]
    #[schemars(with = "String")]
    arguments: Arguments,
    /// Session of an earlier answer, so that several calls share state. A new one is made if left out.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    session_id: Option<String>,
}

/// The text as it is; the operation parses it. Many models send the object itself, which can only
/// mean one thing.
fn json_text<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Arguments, D::Error> {
    match Value::deserialize(input)? {
        Value::String(text) => Ok(Arguments::Text(text)),
        object @ Value::Object(_) => Ok(Arguments::Object(object)),
        _ => Err(serde::de::Error::custom(
            "arguments must be a JSON-encoded string, '{}' for none",
        )),
    }
}
