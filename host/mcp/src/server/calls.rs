//! Which tools the server lists to a client, and a call of one of them.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::RoleServer;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult,
};
use rmcp::service::RequestContext;

use super::{McpServer, answers};
use crate::render::ToolNaming;
use crate::tools::{self, ToolEntry, ToolFailure, ToolRequest};
use crate::toolset;
use toolgate_core::visible::shown_name;
use toolgate_gateway::Error;
use toolgate_gateway::toolsets::listing::{ToolSource, ToolsetTool, ToolsetTools};

impl McpServer {
    pub(super) async fn listed_tools(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let client = self.client(context, None);
        let has_cards = client.renders_cards();
        let toolset = self.toolset(context).await?;
        let has_generic_tools = toolset.as_ref().is_none_or(|listed| listed.generic_tools);
        let mut all = match has_generic_tools {
            true => tools::listed(has_cards, self.runs_scripts(context).await?),
            false => Vec::new(),
        };
        let Some(listed) = toolset else {
            // Workspaces differ in whether they run scripts, and clients in whether they show cards.
            return Ok(ListToolsResult::with_all_items(all)
                .with_ttl_ms(toolset::FRESH_MS)
                .with_cache_scope(CacheScope::Private));
        };
        let (icons, objects_alone) = (self.icons.as_deref(), client.requires_object_content());
        let own = listed.tools.iter();
        all.extend(own.map(|tool| toolset::describe(tool, icons, objects_alone, has_cards)));
        let mut result = ListToolsResult::with_all_items(all)
            .with_ttl_ms(toolset::FRESH_MS)
            .with_cache_scope(CacheScope::Private);
        result.meta = toolset::list_meta(&listed);
        Ok(result)
    }

    /// Whether the caller's workspace has code mode on. Where that cannot be read, the other tools are listed.
    async fn runs_scripts(&self, context: &RequestContext<RoleServer>) -> Result<bool, ErrorData> {
        let operations = self.operations(context)?;
        Ok(operations.code_mode().await.unwrap_or_default())
    }

    pub(super) async fn call(
        &self,
        tool: &NamedTool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let operations = self.operations(context)?;
        let client = self.client(context, request.request_state);
        let arguments = request.arguments.unwrap_or_default();
        let (call, called) = match tool {
            NamedTool::OfToolset(tool, called) => {
                let call = toolset::call(&*operations, client, tool, arguments, *called);
                (call.boxed(), *called)
            }
            NamedTool::Generic(row) => {
                let call = row.call(ToolRequest {
                    operations: &*operations,
                    arguments,
                    client,
                });
                (call, ToolNaming::Generic)
            }
        };
        // A panic that nobody answers for would leave the client waiting.
        let call = AssertUnwindSafe(call).catch_unwind();
        let answer = tokio::select! {
            answer = call => answer.unwrap_or_else(|_| {
                let cause = anyhow::anyhow!("a handler panicked");
                Err(ToolFailure::Gateway(Error::Internal(cause)))
            }),
            // The client hung up or took the call back: nobody waits for the answer.
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        answers::rendered(answer, called, tool.name(), operations.request_id())
    }
}

/// The tool that a call names.
pub(super) enum NamedTool {
    /// One of the toolset's list.
    OfToolset(ToolsetTool, ToolNaming),
    Generic(&'static ToolEntry),
}

impl NamedTool {
    /// `listed`: the toolset's list, where the server is of one. What is not listed is not there.
    pub(super) fn find(listed: Option<&ToolsetTools>, name: &str) -> Result<Self, ErrorData> {
        if let Some(listed) = listed
            && let Some(tool) = listed.tools.iter().find(|tool| tool.name == name)
        {
            let generic_tools = listed.generic_tools;
            let called = ToolNaming::Itself { generic_tools };
            return Ok(Self::OfToolset(tool.clone(), called));
        }
        let has_generic_tools = listed.is_none_or(|listed| listed.generic_tools);
        match tools::find(name).filter(|_| has_generic_tools) {
            Some(row) => Ok(Self::Generic(row)),
            None => Err(ErrorData::invalid_params(unknown(name, listed), None)),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::OfToolset(tool, _) => &tool.name,
            Self::Generic(row) => row.name,
        }
    }

    /// As it is traced: the name of a Skill is what a person wrote.
    pub(super) fn traced(&self) -> Option<&str> {
        match self {
            Self::OfToolset(tool, _) if matches!(tool.source, ToolSource::Skill { .. }) => None,
            Self::OfToolset(..) | Self::Generic(_) => Some(self.name()),
        }
    }
}

/// Says that a tool is not in the list, and what a client or its user does then: lists are read once and kept.
fn unknown(name: &str, listed: Option<&ToolsetTools>) -> String {
    let name = shown_name(name);
    match listed {
        None => format!("Unknown tool: {name}. Read the list of tools with tools/list."),
        Some(listed) => format!(
            "Unknown tool: {name}. The toolset {} does not list it now: its list has changed, or you may not use the \
             tool any more. Read the list anew with tools/list. ChatGPT keeps the list that it has read: there, the user \
             opens Settings, Apps, this app, and chooses Refresh; in a company's workspace an admin does.",
            listed.name
        ),
    }
}
