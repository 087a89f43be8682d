//! `toolgate connect`: a link at which a user connects an account, for a person at a terminal.

use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use http::Method;
use serde_json::{Value, json};

use super::gateway_client::{GatewayAddress, KEY_HELP, text};
use super::output::{OutputFormat, note};
use toolgate_gateway::Error;

/// Longest wait of one request, in seconds, as the REST interface allows it.
const WAIT_S: u64 = 30;
/// How long a link is good.
const LINK_LIFE: Duration = Duration::from_secs(15 * 60);
/// Pause after an answer that came at once.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(super) struct ConnectCommand {
    /// Name of the service, for example github
    service: String,
    /// User who connects [default: the key's]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Renew this connection, which keeps its id
    #[arg(long, value_name = "ID")]
    connection: Option<String>,
    /// Wait until the account is connected, at most 15 minutes
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    server: GatewayAddress,
}

impl ConnectCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let mut body = json!({ "service": self.service });
        for (field, value) in [("user_id", &self.user), ("connection_id", &self.connection)] {
            if let Some(value) = value {
                body[field] = value.as_str().into();
            }
        }
        // A connection that is renewed is active already: only a later state counts.
        let before = match &self.connection {
            Some(id) => Some(self.read(id, 0, None).await?),
            None => None,
        };
        let path = ["connections", "link"];
        let link = self
            .server
            .call(Method::POST, &path, &[], Some(body))
            .await?;
        if !self.wait {
            return output.print(&link, |link| {
                format!(
                    "{}\n\nOpen this link to connect {}. It works once, until {}.",
                    text(link, "connect_url"),
                    self.service,
                    text(link, "expires_at")
                )
            });
        }
        note(&format!(
            "Open this link to connect {}:\n  {}\nWaiting...",
            self.service,
            text(&link, "connect_url")
        ));
        let since = before.as_ref().map(|known| text(known, "state_since"));
        let connected = self.wait_for(text(&link, "connection_id"), since).await?;
        output.print(&connected, |connected| {
            let account = match text(connected, "account") {
                "" => String::new(),
                account => format!(" as {account}"),
            };
            format!("{} is connected{account}.", self.service)
        })
    }

    async fn wait_for(&self, id: &str, since: Option<&str>) -> anyhow::Result<Value> {
        let end = Instant::now() + LINK_LIFE;
        while Instant::now() < end {
            let asked = Instant::now();
            match self.read(id, WAIT_S, since).await {
                Ok(found) => {
                    let newer = since.is_none_or(|since| text(&found, "state_since") != since);
                    if newer && text(&found, "state") == "active" {
                        return Ok(found);
                    }
                }
                // It is not there before its user has connected.
                Err(cause) if matches!(cause.downcast_ref(), Some(Error::NotFound(_))) => {}
                Err(cause) => return Err(cause),
            }
            if asked.elapsed() < PAUSE {
                tokio::time::sleep(PAUSE).await;
            }
        }
        bail!("nobody connected {} within 15 minutes", self.service)
    }

    async fn read(&self, id: &str, wait_s: u64, since: Option<&str>) -> anyhow::Result<Value> {
        let mut query = vec![("wait", wait_s.to_string())];
        query.extend(since.map(|since| ("active_after", since.to_owned())));
        self.server
            .call(Method::GET, &["connections", id], &query, None)
            .await
    }
}
