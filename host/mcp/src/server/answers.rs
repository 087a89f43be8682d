//! What a call comes to, as the protocol's result.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData};

use crate::render::{self, ToolNaming};
use crate::tools::{CalledTool, ToolFailure, ToolOutcome};
use toolgate_gateway::Error;

/// `tool`: the name that was called.
pub(super) fn rendered(
    answer: Result<ToolOutcome, ToolFailure>,
    called: ToolNaming,
    tool: &str,
    request_id: &str,
) -> Result<CallToolResponse, ErrorData> {
    match answer {
        Ok(ToolOutcome::Text(text)) => Ok(CallToolResult::success(block(text)).into()),
        Ok(ToolOutcome::Failure(text)) => Ok(CallToolResult::error(block(text)).into()),
        Ok(ToolOutcome::Called(answer)) => Ok(call_result(answer).into()),
        Ok(ToolOutcome::Input(required)) => Ok(required.into()),
        Err(ToolFailure::Gateway(error)) => {
            if let Error::Internal(cause) = &error {
                tracing::error!(
                    request_id,
                    tool,
                    error = format!("{cause:#}"),
                    "mcp.call.failed"
                );
            }
            let text = render::error_as(&error, called);
            Ok(CallToolResult::error(block(text)).into())
        }
        Err(ToolFailure::Protocol(error)) => Err(error),
    }
}

fn call_result(answer: CalledTool) -> CallToolResult {
    let mut content = block(answer.text);
    content.extend(answer.links.into_iter().map(ContentBlock::resource_link));
    let mut result = match answer.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = answer.structured;
    result.meta = answer.card;
    result
}

fn block(text: String) -> Vec<ContentBlock> {
    vec![ContentBlock::text(text)]
}
