//! `toolgate workspace`: the tenants of an installation.

use clap::Subcommand;
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::identity::workspaces::{self, WorkspaceInfo};
use toolgate_store::Plan;

#[derive(Debug, Subcommand)]
pub(super) enum WorkspaceCommand {
    /// Make a workspace: a tenant with its own keys, members, Skills, connections and logs
    #[command(after_help = "\
The first workspace runs the installation: its owners and admins approve plugins and set what holds
for all. Then let a person in: toolgate member create --workspace NAME --email ... --role owner")]
    Create {
        /// What it is called; commands name it with --workspace
        name: String,
        /// free (10 requests a minute), pro (100) or enterprise (no limit of its own)
        #[arg(long, default_value = "free", value_parser = parse_plan)]
        plan: Plan,
    },
    /// List workspaces, oldest first
    List,
}

impl WorkspaceCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        match self {
            Self::Create { name, plan } => {
                let now_ms = Clock::system().now_ms();
                let made = workspaces::create(&store, &name, plan, now_ms).await?;
                let made = WorkspaceInfo::from(made);
                output.print(&made, |made| {
                    format!("The workspace {} is made: {}", made.name, made.workspace_id)
                })
            }
            Self::List => {
                let all = workspaces::list(&store).await?;
                output.print(&json!({ "workspaces": all }), |_| {
                    let rows: Vec<Vec<String>> = all
                        .iter()
                        .map(|one| {
                            vec![
                                one.name.clone(),
                                one.plan.as_str().to_owned(),
                                one.created_at.clone(),
                                one.workspace_id.clone(),
                            ]
                        })
                        .collect();
                    table(&["NAME", "PLAN", "CREATED", "ID"], &rows)
                })
            }
        }
    }
}

fn parse_plan(text: &str) -> Result<Plan, String> {
    Plan::parse(text).ok_or_else(|| "the plans are free, pro and enterprise".to_owned())
}
