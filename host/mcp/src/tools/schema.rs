//! `svc_get_tool_schema`.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolEntry, ToolHints, ToolOutcome, decode, parameters, schema_of};
use crate::render;
use crate::render::{READ_FILE, READ_RESULT};
use toolgate_gateway::{Error, Scope};

pub(super) const ROW: ToolEntry = ToolEntry {
    name: "svc_get_tool_schema",
    title: "Read a tool's arguments",
    description: "Describes one integration tool: what it does, the JSON Schema of its arguments \
        and which of them are required. Use it before svc_execute_tool unless you already know the \
        arguments.",
    effect: ToolHints::Reads,
    scope: Some(Scope::ToolsRead),
    parameters: schema_of::<SchemaParameters>,
    call: |call| {
        Box::pin(async move {
            let asked: SchemaParameters = decode(&ROW, call.arguments)?;
            if asked.tool_name == READ_RESULT {
                return Ok(ToolOutcome::Text(render::read_result_schema()));
            }
            if asked.tool_name == READ_FILE {
                return Ok(ToolOutcome::Text(render::read_file_schema()));
            }
            match asked.format.as_deref() {
                None | Some("json") => {}
                Some("typescript") => {
                    let types = call.operations.tool_types(&asked.tool_name).await?;
                    return Ok(ToolOutcome::Text(render::tool_types(&types)));
                }
                Some(_) => {
                    let sentence = "`format` is json or typescript".to_owned();
                    return Err(Error::InvalidRequest(sentence).into());
                }
            }
            let schema = call.operations.tool_schema(&asked.tool_name).await?;
            Ok(ToolOutcome::Text(render::tool_schema(&schema)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SchemaParameters {
    /// Exact name from svc_search_tools: "github_create_issue".
    tool_name: String,
    /// "json" for the JSON Schema, "typescript" for the function that a script calls. "json" if left out.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    format: Option<String>,
}
