//! MCP on standard input and output.

use std::sync::Arc;

use anyhow::Context as _;
use rand::RngExt as _;
use rmcp::ServiceExt as _;
use rmcp::model::RequestStateCodec;
use rmcp::service::ServerInitializeError;

use crate::remote::Remote;
use crate::server::{McpServer, ToolOffer};

/// Answers one client until it leaves. Standard output belongs to the protocol; whatever else is
/// written goes to standard error.
pub async fn serve(remote: Remote) -> anyhow::Result<()> {
    let codec = RequestStateCodec::try_new(rand::rng().random::<[u8; 32]>())
        .context("32 bytes are enough for a key")?;
    let offer = match remote.has_toolset() {
        true => ToolOffer::Toolset,
        false => ToolOffer::Generic,
    };
    let server = McpServer::over(Arc::new(remote), Arc::new(codec), offer);
    let running = match server
        .serve((tokio::io::stdin(), tokio::io::stdout()))
        .await
    {
        Ok(running) => running,
        // The client has left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(cause) => return Err(cause).context("the client does not speak MCP"),
    };
    running.waiting().await?;
    Ok(())
}
