//! `toolgate toolset`: named choices of tools that MCP clients are listed by themselves.

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::Caller;
use toolgate_gateway::identity::apps::MCP_PATH;
use toolgate_gateway::toolsets::{CreateToolset, Toolset, ToolsetAdmin, UpdateToolset};

#[derive(Debug, Subcommand)]
pub(super) enum ToolsetCommand {
    /// Make a toolset; an MCP client is given its address and lists exactly its tools
    #[command(after_help = "\
A toolset grants nothing: each user is listed what their permissions allow. For example:

  toolgate toolset create support --tool github_create_issue --service slack")]
    Create(CreateCommand),
    /// Change a toolset; connected clients are told
    Update(UpdateCommand),
    /// List toolsets by name
    List(ToolsetWorkspace),
    /// Show one toolset: its address, what it names and what of that is missing
    Show(OneToolset),
    /// Delete a toolset; its address answers 404 from the next request on
    Delete(OneToolset),
}

#[derive(Debug, Args)]
pub(super) struct ToolsetWorkspace {
    /// Name of the workspace [default: the first one]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct OneToolset {
    /// Name of the toolset
    name: String,
    #[command(flatten)]
    of: ToolsetWorkspace,
}

#[derive(Debug, Args)]
pub(super) struct CreateCommand {
    /// Last segment of its address: a-z, 0-9, - and _
    name: String,
    #[command(flatten)]
    entries: Entries,
    /// List the tools of the main address too, which also run tools outside of the toolset
    #[arg(long)]
    with_generic_tools: bool,
    #[command(flatten)]
    of: ToolsetWorkspace,
}

#[derive(Debug, Args)]
pub(super) struct Entries {
    /// Name of a tool (repeatable)
    #[arg(long = "tool", value_name = "TOOL")]
    tools: Vec<String>,
    /// Name of a service, all of whose tools are meant (repeatable)
    #[arg(long = "service", value_name = "SERVICE")]
    services: Vec<String>,
    /// Id of a Skill (repeatable)
    #[arg(long = "skill", value_name = "ID")]
    skills: Vec<String>,
    /// What clients show [default: the name]
    #[arg(long)]
    title: Option<String>,
    /// What it is for; clients show it to the model
    #[arg(long)]
    description: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Options that are given replace the stored values: --tool replaces all tools, --service all services.")]
pub(super) struct UpdateCommand {
    /// Name of the toolset
    name: String,
    #[command(flatten)]
    entries: Entries,
    /// Name no tools any more
    #[arg(long, conflicts_with = "tools")]
    no_tools: bool,
    /// Name no services any more
    #[arg(long, conflicts_with = "services")]
    no_services: bool,
    /// Name no Skills any more
    #[arg(long, conflicts_with = "skills")]
    no_skills: bool,
    /// Whether the tools of the main address are listed too
    #[arg(long, value_name = "true|false")]
    generic_tools: Option<bool>,
    #[command(flatten)]
    of: ToolsetWorkspace,
}

impl ToolsetCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        let named = match &self {
            Self::Create(command) => &command.of,
            Self::Update(command) => &command.of,
            Self::List(of) => of,
            Self::Show(one) | Self::Delete(one) => &one.of,
        };
        let workspace = super::workspace(&store, named.workspace.as_deref(), now_ms).await?;
        let caller = Caller::operator(&workspace);
        let endpoint = format!("{}{MCP_PATH}", config.gateway.public_url);
        let admin = ToolsetAdmin::at_rest(store, endpoint).await?;
        match self {
            Self::Create(command) => {
                let request = CreateToolset {
                    name: command.name,
                    title: command.entries.title,
                    description: command.entries.description,
                    tools: command.entries.tools,
                    services: command.entries.services,
                    skills: command.entries.skills,
                    generic_tools: command.with_generic_tools,
                };
                let made = admin.create(&caller, request, now_ms).await;
                let made = made.map_err(with_hint)?;
                output.print(&made, described)
            }
            Self::Update(command) => {
                let given =
                    |names: Vec<String>, none: bool| (none || !names.is_empty()).then_some(names);
                let request = UpdateToolset {
                    title: command.entries.title,
                    description: command.entries.description,
                    tools: given(command.entries.tools, command.no_tools),
                    services: given(command.entries.services, command.no_services),
                    skills: given(command.entries.skills, command.no_skills),
                    generic_tools: command.generic_tools,
                };
                let changed = admin.update(&caller, &command.name, request, now_ms).await;
                let changed = changed.map_err(with_hint)?;
                output.print(&changed, described)
            }
            Self::List(_) => {
                let list = admin.list(&caller).await?;
                output.print(
                    &json!({ "workspace": workspace.name, "toolsets": list.toolsets }),
                    |_| {
                        let rows: Vec<_> = list.toolsets.iter().map(toolset_row).collect();
                        table(
                            &["NAME", "TITLE", "LISTED", "LEFT OUT", "MISSING", "ADDRESS"],
                            &rows,
                        )
                    },
                )
            }
            Self::Show(one) => {
                let toolset = admin.read(&caller, &one.name).await?;
                output.print(&toolset, described)
            }
            Self::Delete(one) => {
                let deleted = admin.delete(&caller, &one.name, now_ms).await?;
                output.print(&deleted, |deleted| {
                    format!("The toolset {} is deleted", deleted.name)
                })
            }
        }
    }
}

fn toolset_row(one: &Toolset) -> Vec<String> {
    vec![
        one.name.clone(),
        one.title.clone(),
        one.listed.to_string(),
        one.left_out.to_string(),
        one.missing.len().to_string(),
        one.mcp_url.clone(),
    ]
}

/// The next step is in the error's hint.
fn with_hint(error: toolgate_gateway::Error) -> anyhow::Error {
    match error.hint() {
        Some(hint) => anyhow::anyhow!("{error}. {hint}"),
        None => error.into(),
    }
}

fn described(toolset: &Toolset) -> String {
    let mut text = format!(
        "{}: {}\n  address   {}\n  lists     {} tools",
        toolset.name, toolset.title, toolset.mcp_url, toolset.listed
    );
    if toolset.left_out > 0 {
        text.push_str(&format!(
            ", and leaves {} out: a list holds at most 128",
            toolset.left_out
        ));
    }
    for (word, names) in [
        ("tools", &toolset.tools),
        ("services", &toolset.services),
        ("skills", &toolset.skills),
        ("missing", &toolset.missing),
    ] {
        if !names.is_empty() {
            text.push_str(&format!("\n  {word:<9} {}", names.join(", ")));
        }
    }
    if toolset.generic_tools {
        text.push_str("\n  and the tools of the main address");
    }
    text
}
