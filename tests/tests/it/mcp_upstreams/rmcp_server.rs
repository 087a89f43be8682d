//! A server by the Rust SDK, in this process: it speaks both generations of the protocol, of which the newer one is
//! chosen.

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_tests::mcp_upstream::{composed, source};

use super::gateway_of;

#[derive(Clone)]
struct Reverser;

fn tools() -> Vec<Tool> {
    let text = json!({"type": "object", "properties": {
        "text": {"type": "string", "description": "What to reverse.", "x-mcp-header": "Text"}}, "required": ["text"]});
    let tool = json!({"name": "text.reverse", "description": "Reverses a text.", "inputSchema": text,
        "annotations": {"readOnlyHint": true}});
    let fails = json!({"name": "fail", "description": "Fails as a protocol error.", "inputSchema": {"type": "object"}});
    [tool, fails]
        .into_iter()
        .map(|tool| serde_json::from_value(tool).unwrap())
        .collect()
}

impl ServerHandler for Reverser {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "text.reverse" {
            return Err(ErrorData::invalid_params("this tool never works", None));
        }
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text: String = arguments["text"]
            .as_str()
            .unwrap_or_default()
            .chars()
            .rev()
            .collect();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Serves until the test ends.
async fn serve() -> SocketAddr {
    let service = StreamableHttpService::new(
        || Ok(Reverser),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = axum::Router::new().nest_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_newest_protocol_is_called_without_a_session() {
    let address = serve().await;
    let source = source(&format!("http://{address}/mcp"), "reverser");
    let made = composed(&source, None, &[]).await.unwrap();
    assert_eq!(made.table.version, "2026-07-28");
    assert_eq!(made.table.tools["text_reverse"].name, "text.reverse");
    let gateway = gateway_of(&source).await;
    let reversed = gateway
        .execute("reverser_text_reverse", json!({"text": "größer"}))
        .await;
    assert_eq!(reversed["result"], "reßörg", "{reversed}");
    let id = reversed["execution_id"].as_str().unwrap();
    let receipt = gateway.get(&format!("/v1/executions/{id}")).await.data();
    assert_eq!(
        receipt["requests"].as_array().unwrap().len(),
        1,
        "{receipt}"
    );
    let failed = gateway.execute("reverser_fail", json!({})).await;
    assert_eq!(failed["error"]["code"], "-32602", "{failed}");
    assert!(
        failed["error"]["message"]
            .as_str()
            .unwrap()
            .contains("never works"),
        "{failed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_no_server_says_so() {
    let address = serve().await;
    let problem = composed(&source(&format!("http://{address}/"), "nothing"), None, &[]).await;
    let problem = problem.unwrap_err();
    let said = problem.downcast_ref::<ServerProblem>();
    assert!(
        matches!(said, Some(ServerProblem::Answer(_))),
        "{problem:#}"
    );
    assert!(
        problem.to_string().contains("no Streamable HTTP"),
        "{problem:#}"
    );
}
