//! `toolgate plugin`: what serves and what waits for the operator.

use clap::Subcommand;

use super::output::{OutputFormat, table};
use super::plugin_build::Build;
use super::plugin_catalog::CatalogPage;
use super::plugin_check::CheckPlugin;
use super::plugin_dev::DevLoop;
use super::plugin_diff::DiffPlugins;
use super::plugin_new::New;
use super::plugin_refresh::Refresh;
use super::plugin_rights::{Approve, ShowRights};
use super::plugin_rollback::RollBack;
use super::plugin_test::{PlanTools, RunTool, Test};
use crate::config::Config;
use toolgate_catalog::overview::by_category;
use toolgate_core::clock::Clock;
use toolgate_gateway::plugins::{self, ListedServer, PluginList};
use toolgate_store::ServerOutcome;

#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Every plugin and every file of the plugins folder, with state and reason
    List,
    Rights(ShowRights),
    Approve(Approve),
    /// Take a plugin's file out of the folder; other plugins may then have the names of its tools
    Remove {
        /// Name of the service
        service: String,
    },
    Rollback(RollBack),
    Build(Box<Build>),
    Refresh(Refresh),
    New(New),
    Dev(DevLoop),
    Check(CheckPlugin),
    Diff(DiffPlugins),
    Run(RunTool),
    Plan(PlanTools),
    Test(Test),
    /// Print the JSON Schema of the manifest, for editors and generators
    Schema,
    Catalog(CatalogPage),
}

impl PluginCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        match self {
            Self::Build(command) => command.run(output).await,
            Self::Refresh(command) => command.run(config, output).await,
            Self::New(command) => command.run(output).await,
            Self::Check(command) => command.run(output).await,
            Self::Dev(command) => command.run(config, output).await,
            Self::Diff(command) => command.run(config, output).await,
            Self::Rollback(command) => command.run(config, output).await,
            Self::Run(command) => command.run(output).await,
            Self::Plan(command) => command.run(output).await,
            Self::Test(command) => command.run(output).await,
            Self::Schema => super::plugin_schema::run(),
            Self::Catalog(command) => command.run(output),
            Self::Rights(command) => command.run(config, output).await,
            Self::Approve(command) => command.run(config, output).await,
            Self::List => {
                let store = super::open_store(config).await?;
                output.print(&plugins::list(&store).await?, text)
            }
            Self::Remove { service } => {
                let store = super::open_store(config).await?;
                let now_ms = Clock::system().now_ms();
                let folder = &config.gateway.plugins_dir;
                let caller = super::operator(&store, now_ms).await?;
                let removed = plugins::remove(&store, &caller, folder, &service, now_ms).await?;
                output.print(&removed, |removed| match &removed.file {
                    Some(file) => format!("{} is removed, with its file {file}.", removed.service),
                    None => format!("{} is removed.", removed.service),
                })
            }
        }
    }
}

fn text(list: &PluginList) -> String {
    let mut rows: Vec<Vec<String>> = list
        .plugins
        .iter()
        .map(|plugin| {
            let pending = plugin.pending.as_ref().map(|pending| {
                format!(
                    "{} waits for approval; it asks to {}",
                    pending.version.as_deref().unwrap_or("an upgrade"),
                    pending.difference.summary()
                )
            });
            let server = plugin.server.as_ref().map(server_note);
            let notes = [plugin.reason.clone().or(pending), server];
            vec![
                plugin.service.clone(),
                plugin.state.to_string(),
                plugin.version.clone().unwrap_or_default(),
                plugin.tools.to_string(),
                notes.into_iter().flatten().collect::<Vec<_>>().join("; "),
            ]
        })
        .collect();
    for file in list.files.iter().filter(|file| file.reason.is_some()) {
        rows.push(vec![
            file.file.clone(),
            file.state.to_string(),
            String::new(),
            String::new(),
            file.reason.clone().unwrap_or_default(),
        ]);
    }
    let tools: usize = list.plugins.iter().map(|plugin| plugin.tools).sum();
    let counts = by_category(
        list.plugins
            .iter()
            .map(|plugin| (&*plugin.categories, plugin.tools)),
    );
    let categories: Vec<Vec<String>> = counts
        .into_iter()
        .map(|(category, count)| {
            vec![
                category,
                count.services.to_string(),
                count.tools.to_string(),
            ]
        })
        .collect();
    let categories = match categories.len() {
        0 => String::new(),
        _ => table(&["CATEGORY", "SERVICES", "TOOLS"], &categories) + "\n\n",
    };
    format!(
        "{}\n\n{categories}{} services, {tools} tools",
        table(&["PLUGIN", "STATE", "VERSION", "TOOLS", "NOTE"], &rows),
        list.plugins.len()
    )
}

/// How the MCP server of a plugin was last asked for its tools.
fn server_note(server: &ListedServer) -> String {
    let words = match server.outcome {
        ServerOutcome::NotAsked => {
            return format!("its MCP server is asked at {}", server.asked_next_at);
        }
        ServerOutcome::Answered => "answered",
        ServerOutcome::Unreachable => "did not answer",
        ServerOutcome::AsksForSignIn => "asked for a sign-in",
        ServerOutcome::Unusable => "gave an unusable answer",
    };
    let asked_at = server.asked_at.as_deref().unwrap_or_default();
    let note = format!("its MCP server {words} at {asked_at}");
    let failure = server.failure.as_deref();
    match failure.filter(|_| server.failed_at == server.asked_at) {
        Some(failure) => format!("{note}: {failure}"),
        None => note,
    }
}
