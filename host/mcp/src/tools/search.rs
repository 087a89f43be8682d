//! `svc_search_tools`.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolEntry, ToolHints, ToolOutcome, decode, parameters, schema_of};
use crate::render;
use toolgate_gateway::Scope;
use toolgate_gateway::tools::SearchTools;

/// Tools named in one answer when the client gives no `limit`.
const LIMIT_DEFAULT: usize = 20;

pub(super) const ROW: ToolEntry = ToolEntry {
    name: "svc_search_tools",
    title: "Search tools",
    description: "Finds integration tools (issues, chat, mail, notes, metrics and many more) by \
        keywords or by a sentence about the task. Answers with exact tool names. Start here, then \
        read the arguments with svc_get_tool_schema and run the tool with svc_execute_tool.",
    effect: ToolHints::Reads,
    scope: Some(Scope::ToolsRead),
    parameters: schema_of::<SearchParameters>,
    call: |call| {
        Box::pin(async move {
            let asked: SearchParameters = decode(&ROW, call.arguments)?;
            let search = SearchTools {
                query: asked.query,
                service: asked.service,
                limit: asked.limit.unwrap_or(LIMIT_DEFAULT),
                schema_limit: 0,
                schema_address: str::to_owned,
                user_id: None,
            };
            let found = call.operations.search_tools(search).await?;
            Ok(ToolOutcome::Text(render::found_tools(&found)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct SearchParameters {
    /// What the tool should do, in keywords or plain language: "create github issue".
    query: String,
    /// Only tools of this service, by its lowercase name: "github".
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    service: Option<String>,
    /// How many tools to name, 1 to 100. 20 if left out.
    #[serde(default, deserialize_with = "parameters::whole_number")]
    #[schemars(with = "u32", range(min = 1, max = 100))]
    limit: Option<usize>,
}
