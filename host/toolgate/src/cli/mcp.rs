//! `toolgate mcp`: MCP on standard input and output, over the REST interface of a running gateway.

use clap::Args;

use super::gateway_client::GatewayAddress;
use crate::config::Config;
use toolgate_mcp::stdio;

#[derive(Debug, Args)]
#[command(after_help = "\
The API key is read from the environment variable TOOLGATE_API_KEY, never from the command line.
A client that only starts programs is configured with this command, for example:

  { \"command\": \"toolgate\", \"args\": [\"mcp\", \"--url\", \"https://tools.example.com\"],
    \"env\": { \"TOOLGATE_API_KEY\": \"tg_live_...\" } }

Clients that speak HTTP reach the gateway itself at <url>/mcp with the same key and need no proxy.")]
pub(super) struct Mcp {
    #[command(flatten)]
    server: GatewayAddress,
    /// Lists the tools of this toolset under their own names, in place of the generic ones
    #[arg(long, value_name = "NAME")]
    toolset: Option<String>,
}

impl Mcp {
    pub(super) async fn run(self, config: &Config) -> anyhow::Result<()> {
        let _last_lines = super::serve::start_log(config.log_format, "info", None)?;
        let remote = self.server.remote()?;
        let remote = match self.toolset {
            Some(toolset) => remote.for_toolset(toolset),
            None => remote,
        };
        remote.check().await?;
        stdio::serve(remote).await
    }
}
