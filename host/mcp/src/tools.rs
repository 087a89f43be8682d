//! The tools a client sees, one file each.
//!
//! A tool is a `Parameters` struct (its JSON Schema is derived), one call of an operation and a
//! renderer in [`super::render`]. Adding one is its file and its row in [`TABLE`].

pub(crate) mod execute;
mod health;
mod parameters;
mod run_script;
mod schema;
mod search;
mod skills;

use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{
    ErrorData, InputRequiredResult, JsonObject, MetaObject, Resource, Tool, ToolAnnotations,
};
use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cards;
use crate::connect::McpClient;
use crate::operations::Operations;
use crate::render;
use toolgate_gateway::{Error, Scope};

/// All tools, in the order `tools/list` names them.
const TABLE: [&ToolEntry; 10] = [
    &health::ROW,
    &search::ROW,
    &schema::ROW,
    &execute::ROW,
    &run_script::ROW,
    &skills::LIST,
    &skills::GET,
    &skills::CREATE,
    &skills::UPDATE,
    &skills::DELETE,
];

/// One tool: what `tools/list` says of it and what a call does.
pub struct ToolEntry {
    pub name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: ToolHints,
    /// What its operation asks of the caller.
    pub(crate) scope: Option<Scope>,
    parameters: fn() -> Arc<JsonObject>,
    call: for<'a> fn(ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutcome, ToolFailure>>,
}

/// What a tool does, as the hints of `tools/list` state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolHints {
    /// Reads what the gateway itself holds.
    Reads,
    /// Runs whatever integration tool it is told to.
    RunsTools,
    /// Adds to what the gateway holds.
    Creates,
    /// Replaces what the gateway holds; earlier versions stay readable.
    Overwrites,
    /// Removes what the gateway holds.
    Deletes,
}

/// One `tools/call`, authenticated, its parameters not decoded yet.
pub struct ToolRequest<'a> {
    pub operations: &'a dyn Operations,
    pub arguments: JsonObject,
    /// Who is at the other end and what they can do beyond reading text.
    pub client: McpClient<'a>,
}

/// What a call comes to.
#[derive(Debug)]
pub enum ToolOutcome {
    Text(String),
    /// A text with `isError: true`.
    Failure(String),
    /// The outcome of a call of an integration tool.
    Called(CalledTool),
    /// The client has to do something and call again (2026-07-28 only).
    Input(InputRequiredResult),
}

/// The answer to a call of an integration tool.
#[derive(Debug)]
pub struct CalledTool {
    pub text: String,
    pub is_error: bool,
    /// The result, where the tool's output schema describes it.
    pub structured: Option<Value>,
    /// Files of the result, for a client that knows links.
    pub links: Vec<Resource>,
    /// What a card shows, for a client that renders one.
    pub card: Option<MetaObject>,
}

/// Why a call has no answer.
#[derive(Debug)]
pub enum ToolFailure {
    /// The operation refused; rendered as a text with `isError: true`, so that the model can correct
    /// itself.
    Gateway(Error),
    /// The request breaks the protocol; a JSON-RPC error.
    Protocol(ErrorData),
}

impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        Self::Gateway(error)
    }
}

impl From<ErrorData> for ToolFailure {
    fn from(error: ErrorData) -> Self {
        Self::Protocol(error)
    }
}

/// The row of `name`.
pub fn find(name: &str) -> Option<&'static ToolEntry> {
    TABLE.iter().find(|row| row.name == name).copied()
}

/// All that `tools/list` may answer; built once.
pub fn list() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> =
        LazyLock::new(|| TABLE.iter().map(|row| row.describe()).collect());
    &TOOLS
}

/// The same for a client, which may render what becomes of a call, and whose workspace may run scripts.
pub(crate) fn listed(has_cards: bool, runs_scripts: bool) -> Vec<Tool> {
    let mut tools = list().to_vec();
    tools.retain(|tool| runs_scripts || tool.name != run_script::ROW.name);
    let calls = tools.iter_mut().find(|tool| tool.name == execute::ROW.name);
    if let Some(calls) = calls.filter(|_| has_cards) {
        calls.meta = Some(cards::tool_meta());
    }
    tools
}

impl ToolEntry {
    /// Decodes, calls, renders.
    pub fn call<'a>(
        &self,
        call: ToolRequest<'a>,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolFailure>> {
        (self.call)(call)
    }

    fn describe(&self) -> Tool {
        let hints = ToolAnnotations::with_title(self.title);
        let hints = match self.effect {
            ToolHints::Reads => hints
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false),
            ToolHints::RunsTools => hints
                .read_only(false)
                .destructive(true)
                .idempotent(false)
                .open_world(true),
            ToolHints::Creates => hints
                .read_only(false)
                .destructive(false)
                .idempotent(false)
                .open_world(false),
            ToolHints::Overwrites => hints
                .read_only(false)
                .destructive(true)
                .idempotent(false)
                .open_world(false),
            ToolHints::Deletes => hints
                .read_only(false)
                .destructive(true)
                .idempotent(true)
                .open_world(false),
        };
        Tool::new(self.name, self.description, (self.parameters)())
            .with_title(self.title)
            .with_annotations(hints)
    }
}

/// The JSON Schema of a tool's parameters, without the keywords that some providers refuse and that
/// say nothing: `default` (always null) and `format` (an integer's width).
fn schema_of<T: JsonSchema + 'static>() -> Arc<JsonObject> {
    let schema =
        schema_for_input::<T>().expect("parameters are structs, whose schema is an object");
    let mut schema = Arc::unwrap_or_clone(schema);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    for property in properties.as_object_mut().into_iter().flatten() {
        if let Some(keywords) = property.1.as_object_mut() {
            keywords.remove("default");
            keywords.remove("format");
        }
    }
    Arc::new(schema)
}

/// Reads a tool's parameters. What does not fit is told to the model, which can correct it.
fn decode<T: DeserializeOwned>(row: &ToolEntry, arguments: JsonObject) -> Result<T, ToolFailure> {
    let sent: Vec<String> = arguments.keys().cloned().collect();
    serde_json::from_value(arguments.into()).map_err(|problem| {
        let schema = (row.parameters)();
        let known = schema.get("properties").and_then(|all| all.as_object());
        let known: Vec<&str> =
            known.map_or_else(Vec::new, |all| all.keys().map(String::as_str).collect());
        let sentence = render::bad_parameters(row.name, &problem.to_string(), &sent, &known);
        ToolFailure::Gateway(Error::InvalidRequest(sentence))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_catalog::reserved::is_reserved;

    #[test]
    fn tools_list_is_what_clients_were_promised() {
        insta::assert_json_snapshot!("tools_list", list());
    }

    /// Else the server would have to show the transport its schemas before each call (`get_tool`).
    #[test]
    fn no_parameter_travels_in_a_header() {
        let schemas = serde_json::to_string(list()).unwrap();
        assert!(schemas.contains("inputSchema"), "{schemas}");
        assert!(!schemas.contains("x-mcp-header"), "{schemas}");
    }

    #[test]
    fn names_are_unique_and_short_enough_for_every_model() {
        for (n, row) in TABLE.iter().enumerate() {
            assert!(row.name.len() <= 64, "{}", row.name);
            let first = TABLE.iter().position(|other| other.name == row.name);
            assert_eq!(first, Some(n), "{}", row.name);
            assert!(is_reserved(row.name), "a plugin could have {}", row.name);
        }
        assert!(is_reserved(render::READ_RESULT));
        assert!(is_reserved(render::READ_FILE));
        assert!(find("svc_nope").is_none());
    }

    #[test]
    fn schemas_hold_nothing_that_models_stumble_over() {
        for tool in list() {
            let schema = &tool.input_schema;
            assert_eq!(schema["type"], "object", "{}", tool.name);
            let properties = schema.get("properties").and_then(|all| all.as_object());
            for (name, property) in properties.into_iter().flatten() {
                assert!(property["type"].is_string(), "{} {name}", tool.name);
                assert!(property["description"].is_string(), "{} {name}", tool.name);
                assert!(property.get("default").is_none(), "{} {name}", tool.name);
            }
        }
    }

    #[test]
    fn scripts_are_listed_where_they_run_and_nowhere_else() {
        let names = |runs_scripts| -> Vec<String> {
            let tools = listed(false, runs_scripts).into_iter();
            tools.map(|tool| tool.name.into_owned()).collect()
        };
        let (without, with) = (names(false), names(true));
        assert_eq!((without.len(), with.len()), (9, 10), "{with:?}");
        assert!(with.contains(&"svc_run_script".to_owned()), "{with:?}");
        assert!(!without.contains(&"svc_run_script".to_owned()));
    }

    #[test]
    fn only_what_a_tool_cannot_do_without_is_required() {
        for (name, required) in [
            ("svc_health_check", json!(null)),
            ("svc_search_tools", json!(["query"])),
            ("svc_get_tool_schema", json!(["tool_name"])),
            ("svc_execute_tool", json!(["tool_name", "arguments"])),
            ("svc_run_script", json!(null)),
            ("svc_list_skills", json!(null)),
            ("svc_get_skill", json!(["skill_id"])),
            ("svc_create_skill", json!(["name", "description", "body"])),
            ("svc_update_skill", json!(["skill_id"])),
            ("svc_delete_skill", json!(["skill_id"])),
        ] {
            let tool = list().iter().find(|tool| tool.name == name).unwrap();
            let stated = tool.input_schema.get("required").cloned();
            assert_eq!(stated.unwrap_or_default(), required, "{name}");
        }
    }
}
