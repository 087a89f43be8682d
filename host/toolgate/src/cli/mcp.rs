//! `toolgate mcp`: MCP on standard input and output, over the REST interface of a running gateway.

use anyhow::Context as _;
use clap::Args;
use url::Url;

use crate::config::Config;
use toolgate_mcp::remote::Remote;
use toolgate_mcp::stdio;
use toolgate_vault::Secret;

/// The variable that holds the API key.
const KEY_VARIABLE: &str = "TOOLGATE_API_KEY";

#[derive(Debug, Args)]
#[command(after_help = "\
The API key is read from the environment variable TOOLGATE_API_KEY, never from the command line.
A client that only starts programs is configured with this command, for example:

  { \"command\": \"toolgate\", \"args\": [\"mcp\", \"--url\", \"https://tools.example.com\"],
    \"env\": { \"TOOLGATE_API_KEY\": \"tg_live_...\" } }

Clients that speak HTTP reach the gateway itself at <url>/mcp with the same key and need no proxy.")]
pub(super) struct Mcp {
    /// Public address of the gateway
    #[arg(
        long,
        env = "TOOLGATE_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:8080"
    )]
    url: Url,
}

impl Mcp {
    pub(super) async fn run(self, config: &Config) -> anyhow::Result<()> {
        super::serve::start_log(config.log_format, None);
        let key = std::env::var(KEY_VARIABLE)
            .ok()
            .filter(|key| !key.is_empty())
            .with_context(|| {
                format!("no API key: set {KEY_VARIABLE} to one from `toolgate key create`")
            })?;
        let remote = Remote::new(&self.url, Secret::new(key))?;
        remote.check().await?;
        stdio::serve(remote).await
    }
}
