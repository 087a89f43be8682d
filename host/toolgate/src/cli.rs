//! The command line: one file per subcommand, each a thin layer over [`toolgate_gateway`].
//!
//! Exit status: 0 done, 1 failed, 2 wrong usage; [`exit_status`] has those of known failures. With `--json` every
//! command prints one JSON document on standard output; messages go to standard error.

mod approvals;
mod arguments;
mod backup;
mod client;
mod completions;
mod connect;
mod connections;
mod describe;
mod docs;
mod doctor;
mod exec;
mod executions;
mod exit_status;
mod finding_groups;
mod gateway_client;
mod healthcheck;
mod help;
mod key;
mod mcp;
mod member;
mod migrate;
mod model;
mod openapi;
mod origin;
mod output;
mod plugin;
mod plugin_build;
mod plugin_catalog;
mod plugin_check;
mod plugin_dev;
mod plugin_diff;
mod plugin_failure;
mod plugin_file;
mod plugin_new;
mod plugin_project;
mod plugin_refresh;
mod plugin_rights;
mod plugin_rollback;
mod plugin_schema;
mod plugin_test;
mod receipts;
mod reference;
mod run;
mod search;
mod secret_file;
mod serve;
mod service;
mod service_register;
mod toolset;
mod triggers;
mod vault;
mod webhooks;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{FromArgMatches as _, Parser, Subcommand};

use crate::config::{Config, Settings};
use output::OutputFormat;
use toolgate_gateway::Caller;
use toolgate_gateway::identity::workspaces;
use toolgate_runtime::Size;
use toolgate_runtime::compile::child::{self, Priority};
use toolgate_store::{Plan, Store, Workspace, snapshot};

pub use serve::app;

/// A tool gateway for software agents: 319 services through search, describe and execute, each
/// integration in a sandbox, no plugin ever holding a secret.
#[derive(Debug, Parser)]
#[command(
    name = "toolgate",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  toolgate serve --dev              serve on http://127.0.0.1:8080 and print a first API key
  toolgate search list my issues    find tools, with the key in TOOLGATE_API_KEY
  toolgate key create --name agent  make another key
  toolgate plugin list              which integrations serve, and why others do not

Settings are flags, TOOLGATE_... variables or keys of toolgate.toml; flags win, then the environment."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    settings: Settings,
    /// Settings file; it must exist [default: toolgate.toml, if there is one]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_CONFIG",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    config: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway: REST, MCP, plugins, everything in one process
    Serve(serve::Serve),
    /// Make, list and revoke API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Make and list workspaces, the tenants
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    /// Make, list and remove members: people who sign in to the dashboard
    #[command(subcommand)]
    Member(member::MemberCommand),
    /// MCP clients that are named for a workspace: machines with a secret, programs that cannot register
    #[command(subcommand)]
    Client(client::ClientCommand),
    /// Settings of services: addresses, OAuth applications
    #[command(subcommand)]
    Service(service::ServiceCommand),
    /// Origins of your applications that connect links may lead to
    #[command(subcommand)]
    Origin(origin::OriginCommand),
    /// Toolsets: named choices of tools, each listed to MCP clients at an address of its own
    #[command(subcommand)]
    Toolset(toolset::ToolsetCommand),
    /// Plugins: what serves, what waits for approval
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
    /// Receipts: what was executed, and every request that left
    #[command(subcommand)]
    Receipts(receipts::ReceiptsCommand),
    /// The sentence model for search by meaning
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// The key that encrypts credentials at rest
    #[command(subcommand)]
    Vault(vault::VaultCommand),
    /// Write a backup of the installation, also while a gateway serves
    Backup(backup::BackupCommand),
    /// Bring an installation back from a backup, into empty folders
    Restore(backup::RestoreCommand),
    /// Bring the database to the newest migration, or say whether the next start would
    Migrate(migrate::Migrate),
    /// Look the installation over: settings, files, clock, database, network, disk
    Doctor(doctor::Doctor),
    /// Ask the gateway of these settings whether it takes requests; exit status 1 if not
    Healthcheck,
    /// Settings: check them before a start
    #[command(subcommand)]
    Config(doctor::ConfigCommand),
    /// Find tools of a running gateway
    Search(search::SearchCommand),
    /// Show what a tool does and which arguments it takes
    Describe(describe::Describe),
    /// Execute a tool
    Exec(exec::Exec),
    /// Run a script that calls tools, where the workspace has code mode on
    Run(run::RunScriptFile),
    /// Print a link at which a user connects an account
    Connect(connect::ConnectCommand),
    /// Connected accounts of users
    #[command(subcommand)]
    Connections(connections::ConnectionsCommand),
    /// Calls that wait for a person's decision
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    /// What was executed, and every request that left
    #[command(subcommand)]
    Executions(executions::ExecutionsCommand),
    /// Addresses that receive events
    #[command(subcommand)]
    Webhooks(webhooks::WebhooksCommand),
    /// Reading tools that are polled for new items
    #[command(subcommand)]
    Triggers(triggers::TriggersCommand),
    /// Speak MCP on standard input and output, for clients that start programs
    Mcp(mcp::Mcp),
    /// Print the OpenAPI 3.1 document of the REST interface
    Openapi,
    /// Write the documentation as a web site to a folder; a gateway serves it at /docs/guide
    Docs(docs::Docs),
    /// Print the script with which a shell completes commands
    Completions(completions::Completions),
    /// Print the manual page
    #[command(hide = true)]
    Man,
    /// Compile plugins for the gateway that started this process
    #[command(name = child::SUBCOMMAND, hide = true)]
    Compile {
        #[arg(value_parser = |word: &str| Size::parse(word).ok_or("ordinary or large"))]
        size: Size,
        #[arg(value_parser = |word: &str| Priority::parse(word).ok_or("quick or long"))]
        priority: Priority,
    },
}

/// Parses the command line and runs it.
pub async fn main() -> ExitCode {
    let mut command = help::command();
    let matches = command.get_matches_mut();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(cause) => cause.format(&mut command).exit(),
    };
    let output = OutputFormat { json: cli.json };
    let is_long_running = cli.command.is_long_running();
    match Box::pin(run(cli, output)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            output.error(&cause);
            if is_long_running {
                ExitCode::FAILURE
            } else {
                exit_status::exit_status(&cause)
            }
        }
    }
}

impl Command {
    /// Whether another program runs it as long as it runs itself, and reads no more than whether it ended well. The same
    /// holds for the check of a container's health, whose other statuses are reserved.
    fn is_long_running(&self) -> bool {
        matches!(self, Self::Serve(_) | Self::Mcp(_) | Self::Healthcheck)
    }
}

async fn run(cli: Cli, output: OutputFormat) -> anyhow::Result<()> {
    let (settings, file) = (cli.settings, cli.config.as_deref());
    let config = |settings: Settings| settings.resolve(file);
    match cli.command {
        // These need no settings, or say what is wrong with them.
        Command::Compile { size, priority } => child::run(size, priority),
        Command::Openapi => openapi::run(),
        Command::Docs(command) => command.run(output),
        Command::Completions(command) => command.run(),
        Command::Man => completions::man(),
        Command::Doctor(command) => command.run(settings, file, output).await,
        Command::Config(command) => command.run(settings, file, output),
        Command::Serve(command) => command.run(&config(settings)?, output).await,
        Command::Key(command) => command.run(&config(settings)?, output).await,
        Command::Workspace(command) => command.run(&config(settings)?, output).await,
        Command::Member(command) => command.run(&config(settings)?, output).await,
        Command::Client(command) => command.run(&config(settings)?, output).await,
        Command::Service(command) => command.run(&config(settings)?, output).await,
        Command::Origin(command) => command.run(&config(settings)?, output).await,
        Command::Toolset(command) => command.run(&config(settings)?, output).await,
        Command::Plugin(command) => command.run(&config(settings)?, output).await,
        Command::Receipts(command) => command.run(&config(settings)?, output).await,
        Command::Model(command) => command.run(&config(settings)?, output).await,
        Command::Vault(command) => command.run(&config(settings)?, output).await,
        Command::Backup(command) => command.run(&config(settings)?, output).await,
        Command::Restore(command) => command.run(&config(settings)?, output).await,
        Command::Search(command) => command.run(output).await,
        Command::Describe(command) => command.run(output).await,
        Command::Exec(command) => command.run(output).await,
        Command::Run(command) => command.run(output).await,
        Command::Connect(command) => command.run(output).await,
        Command::Connections(command) => command.run(output).await,
        Command::Approvals(command) => command.run(output).await,
        Command::Executions(command) => command.run(output).await,
        Command::Webhooks(command) => command.run(output).await,
        Command::Triggers(command) => command.run(output).await,
        Command::Migrate(command) => command.run(&config(settings)?, output).await,
        Command::Healthcheck => healthcheck::run(&config(settings)?, output).await,
        Command::Mcp(command) => command.run(&config(settings)?).await,
    }
}

/// Every variable of the environment that a flag of some command reads.
fn variables() -> Vec<String> {
    let mut command = help::command();
    command.build();
    let mut names = Vec::new();
    let mut left = vec![&command];
    while let Some(one) = left.pop() {
        let of_one = one.get_arguments().filter_map(clap::Arg::get_env);
        names.extend(of_one.filter_map(|name| name.to_str()).map(str::to_owned));
        left.extend(one.get_subcommands());
    }
    names
}

/// Opens the database of an installation, which a running gateway uses too.
///
/// # Errors
/// Where there is no installation: a command in another folder would make a second one in silence.
async fn open_store(config: &Config) -> anyhow::Result<Store> {
    anyhow::ensure!(
        is_installed(config),
        "no installation in {}: name its folder with --data-dir or TOOLGATE_DATA_DIR; `toolgate serve` makes a new one",
        config.gateway.data_dir.display()
    );
    Ok(Store::open(&config.gateway.database_url).await?)
}

/// Whether the database may be there. One of a server was named on purpose.
fn is_installed(config: &Config) -> bool {
    snapshot::sqlite_file(&config.gateway.database_url).is_none_or(|file| file.exists())
}

/// The workspace a command works on: the named one, else the first, made where there is none.
async fn workspace(store: &Store, name: Option<&str>, now_ms: i64) -> anyhow::Result<Workspace> {
    match name {
        Some(name) => store
            .find_workspace_by_name(name)
            .await?
            .ok_or_else(|| anyhow::anyhow!("there is no workspace named {name}")),
        None => match store.first_workspace().await? {
            Some(workspace) => Ok(workspace),
            None => {
                let _alone = store.lock_set_up().await?;
                first_workspace(store, now_ms).await
            }
        },
    }
}

/// The first workspace, made where there is none. Another process may be about to make it too: the caller
/// holds the lock of [`Store::lock_set_up`].
async fn first_workspace(store: &Store, now_ms: i64) -> anyhow::Result<Workspace> {
    match store.first_workspace().await? {
        Some(workspace) => Ok(workspace),
        None => Ok(workspaces::create(store, "default", Plan::Enterprise, now_ms).await?),
    }
}

/// Who is at the command line, for what concerns the whole installation: its audit log is the one of
/// the first workspace.
async fn operator(store: &Store, now_ms: i64) -> anyhow::Result<Caller> {
    Ok(Caller::operator(&workspace(store, None, now_ms).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        help::command().debug_assert();
    }
}
