//! `toolgate workspace`: the tenants of an installation.

use clap::{ArgGroup, Subcommand};
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::identity::workspaces::{self, ChangeLimits, WorkspaceInfo, WorkspaceRate};
use toolgate_gateway::tools::search_uses;
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
    /// Change a workspace's plan or its requests a minute; running gateways follow at once
    #[command(group = ArgGroup::new("change").required(true).multiple(true))]
    Set {
        /// Name of the workspace
        name: String,
        /// free (10 requests a minute), pro (100) or enterprise (no limit of its own)
        #[arg(long, group = "change", value_parser = parse_plan)]
        plan: Option<Plan>,
        /// Requests a minute in place of the plan's, or `plan` for those of the plan
        #[arg(long, group = "change", value_name = "N", value_parser = parse_rate)]
        rpm: Option<WorkspaceRate>,
    },
    /// List workspaces, oldest first
    List,
    /// Show what a workspace executed after its searches, which moves tools up in them, the latest first
    Uses {
        /// Name of the workspace
        name: String,
        /// Forget all of it; running gateways follow within a minute
        #[arg(long)]
        forget: bool,
    },
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
            Self::Set { name, plan, rpm } => {
                let now_ms = Clock::system().now_ms();
                let change = ChangeLimits { plan, rpm };
                let changed = workspaces::set_limits(&store, &name, change, now_ms).await?;
                output.print(&changed, |changed| {
                    let (name, plan) = (&changed.name, changed.plan.into_str());
                    match changed.rpm {
                        Some(rpm) => format!("{name}: plan {plan}, {rpm} requests a minute"),
                        None => format!("{name}: plan {plan}, requests a minute as the plan says"),
                    }
                })
            }
            Self::Uses { name, forget: true } => {
                let now_ms = Clock::system().now_ms();
                let workspace = search_uses::forget(&store, &name, now_ms).await?;
                output.print(
                    &json!({ "workspace": workspace, "forgotten": true }),
                    |_| format!("{name}: what was executed after searches is forgotten"),
                )
            }
            Self::Uses { name, .. } => {
                let uses = search_uses::list(&store, &name).await?;
                output.print(&json!({ "uses": uses }), |_| {
                    let rows: Vec<Vec<String>> = uses
                        .iter()
                        .map(|one| {
                            vec![
                                one.word.clone(),
                                one.tool_name.clone(),
                                one.times.to_string(),
                                one.used_at.clone(),
                            ]
                        })
                        .collect();
                    table(&["WORD", "TOOL", "TIMES", "LAST"], &rows)
                })
            }
            Self::List => {
                let all = workspaces::list(&store).await?;
                output.print(&json!({ "workspaces": all }), |_| list(&all))
            }
        }
    }
}

/// The table of workspaces. Where no operator has set a plan or a limit, every workspace has the plan without limits, and
/// the columns would say nothing.
fn list(all: &[WorkspaceInfo]) -> String {
    let limited = all
        .iter()
        .any(|one| one.plan != Plan::Enterprise || one.rpm.is_some());
    let mut head = vec!["NAME", "CREATED", "ID"];
    if limited {
        head.splice(1..1, ["PLAN", "RPM"]);
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|one| {
            let mut row = vec![
                one.name.clone(),
                one.created_at.clone(),
                one.workspace_id.clone(),
            ];
            if limited {
                let rpm = one.rpm.map_or_else(String::new, |rpm| rpm.to_string());
                row.splice(1..1, [one.plan.to_string(), rpm]);
            }
            row
        })
        .collect();
    table(&head, &rows)
}

fn parse_plan(text: &str) -> Result<Plan, String> {
    text.parse()
        .map_err(|_| "the plans are free, pro and enterprise".to_owned())
}

fn parse_rate(text: &str) -> Result<WorkspaceRate, String> {
    if text == "plan" {
        return Ok(WorkspaceRate::OfPlan);
    }
    match text.parse::<u32>() {
        Ok(rpm) if rpm > 0 => Ok(WorkspaceRate::Own(rpm)),
        _ => Err("use a number from 1, or plan".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, WorkspaceInfo, list};
    use toolgate_store::DefaultPermission;

    fn workspace(plan: Plan, rpm: Option<i64>) -> WorkspaceInfo {
        WorkspaceInfo {
            workspace_id: "wsp_1".to_owned(),
            name: "default".to_owned(),
            plan,
            rpm,
            default_permission: DefaultPermission::Allow,
            keep_payloads: false,
            review_skills: false,
            created_at: "2026-07-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn plans_have_columns_where_an_operator_has_set_one() {
        let plain = list(&[workspace(Plan::Enterprise, None)]);
        assert!(
            !plain.contains("PLAN") && !plain.contains("enterprise"),
            "{plain}"
        );
        assert!(
            plain.contains("default") && plain.contains("wsp_1"),
            "{plain}"
        );
        for limited in [
            workspace(Plan::Pro, None),
            workspace(Plan::Enterprise, Some(5)),
        ] {
            let text = list(&[workspace(Plan::Enterprise, None), limited]);
            assert!(text.contains("PLAN") && text.contains("RPM"), "{text}");
        }
    }
}
