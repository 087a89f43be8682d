//! `toolgate origin`: origins of applications that connect links may lead to.

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::Caller;
use toolgate_gateway::connections::origins::OriginAdmin;

#[derive(Debug, Subcommand)]
pub(super) enum OriginCommand {
    /// Register an origin; keys can name its pages in connect links at once
    #[command(after_help = "\
At the end of a connect link with confirm_url the page receives a code with which the application
vouches for its user, so register only origins of your own applications. For example:

  toolgate origin add https://app.example.com")]
    Add(OneOrigin),
    /// List the registered origins
    List(OriginWorkspace),
    /// Remove an origin; links that were made with it go on
    Remove(OneOrigin),
}

#[derive(Debug, Args)]
pub(super) struct OriginWorkspace {
    /// Name of the workspace [default: the first one]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct OneOrigin {
    /// Scheme, host and port, such as `https://app.example.com`
    origin: String,
    #[command(flatten)]
    of: OriginWorkspace,
}

impl OriginCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let (Self::Add(OneOrigin { of, .. }) | Self::Remove(OneOrigin { of, .. }) | Self::List(of)) =
            &self;
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        let workspace = super::workspace(&store, of.workspace.as_deref(), now_ms).await?;
        let admin = OriginAdmin {
            store: &store,
            caller: &Caller::operator(&workspace),
            now_ms,
        };
        match &self {
            Self::Add(one) => {
                let added = admin.add(&one.origin).await?;
                output.print(&added, |added| format!("{} is registered.", added.origin))
            }
            Self::Remove(one) => {
                let gone = admin.remove(&one.origin).await?;
                output.print(&gone, |_| format!("{} is removed.", one.origin))
            }
            Self::List(_) => {
                let list = admin.list().await?;
                output.print(&json!({ "origins": list.origins }), |_| {
                    let rows: Vec<Vec<String>> = list
                        .origins
                        .iter()
                        .map(|one| vec![one.origin.clone(), one.created_at.clone()])
                        .collect();
                    table(&["ORIGIN", "REGISTERED"], &rows)
                })
            }
        }
    }
}
