//! `svc_get_tool_schema`.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Effect, Row, decode, schema_of};
use crate::render;
use crate::render::READ_RESULT;

pub(super) const ROW: Row = Row {
    name: "svc_get_tool_schema",
    title: "Read a tool's arguments",
    description: "Describes one integration tool: what it does, the JSON Schema of its arguments \
        and which of them are required. Use it before svc_execute_tool unless you already know the \
        arguments.",
    effect: Effect::Reads,
    parameters: schema_of::<Parameters>,
    call: |call| {
        Box::pin(async move {
            let asked: Parameters = decode(&ROW, call.arguments)?;
            if asked.tool_name == READ_RESULT {
                return Ok(Answer::Text(render::read_result_schema()));
            }
            let schema = call.operations.tool_schema(&asked.tool_name).await?;
            Ok(Answer::Text(render::tool_schema(&schema)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Parameters {
    /// Exact name from svc_search_tools: "github_create_issue".
    tool_name: String,
}
