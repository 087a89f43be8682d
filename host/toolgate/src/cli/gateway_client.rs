//! The commands of people who use a running gateway: its address, their key, and what it answers.

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use url::Url;

use toolgate_gateway::tools::CallListener;
use toolgate_mcp::remote::{self, Remote};
use toolgate_vault::Secret;

/// The variable that holds the API key.
const KEY_VARIABLE: &str = "TOOLGATE_API_KEY";

pub(super) const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// What the help of each of these commands ends with.
pub(super) const KEY_HELP: &str = "\
The API key is read from the environment variable TOOLGATE_API_KEY, never from the command line.
`toolgate serve --dev` prints a first key, `toolgate key create --name NAME` makes another one.";

#[derive(Debug, Args)]
pub(super) struct GatewayAddress {
    /// Public address of the gateway
    #[arg(long, env = "TOOLGATE_URL", value_name = "URL", default_value = DEFAULT_URL)]
    url: Url,
}

/// How much of a list is printed.
#[derive(Debug, Args)]
pub(super) struct ListLimit {
    /// How many to show, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
}

impl ListLimit {
    pub(super) fn query(&self) -> (&'static str, String) {
        ("limit", self.limit.to_string())
    }
}

impl GatewayAddress {
    pub(super) fn remote(&self) -> anyhow::Result<Remote> {
        let key = std::env::var(KEY_VARIABLE)
            .ok()
            .filter(|key| !key.is_empty())
            .with_context(|| {
                format!("no API key: set {KEY_VARIABLE} to one from `toolgate key create`")
            })?;
        Remote::new(&self.url, Secret::new(key))
    }

    /// One request, answered without its envelope.
    pub(super) async fn call(
        &self,
        method: http::Method,
        path: &[&str],
        query: &[(&str, String)],
        body: Option<Value>,
    ) -> anyhow::Result<Value> {
        let answer = self.remote()?.call(method, path, query, body).await;
        answer.map_err(|refusal| self.explained(refusal))
    }

    /// Executes a tool, answered without its envelope. What the tool tells goes to `listener`.
    pub(super) async fn call_tool(
        &self,
        tool: &str,
        body: Value,
        listener: &CallListener,
    ) -> anyhow::Result<Value> {
        let answer = self.remote()?.call_tool(tool, body, listener).await;
        answer.map_err(|refusal| self.explained(refusal))
    }

    /// Runs a script, answered without its envelope. What the script tells goes to `listener`.
    pub(super) async fn run_script(
        &self,
        body: Value,
        listener: &CallListener,
    ) -> anyhow::Result<Value> {
        let answer = self.remote()?.call_script(body, listener).await;
        answer.map_err(|refusal| self.explained(refusal))
    }

    /// Goes on with a run of a script, answered without its envelope.
    pub(super) async fn resume_script(&self, run_id: &str) -> anyhow::Result<Value> {
        let answer = self.remote()?.call_resume(run_id).await;
        answer.map_err(|refusal| self.explained(refusal))
    }

    fn explained(&self, refusal: toolgate_gateway::Error) -> anyhow::Error {
        match refusal {
            toolgate_gateway::Error::Internal(cause) => remote::explained(cause, self.url.as_str()),
            refusal => refusal.into(),
        }
    }
}

/// The text of a field, empty where there is none.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The items of a list, none where there is no list.
pub(super) fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}
