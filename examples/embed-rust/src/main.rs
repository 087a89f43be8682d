//! The gateway as a library: opens a folder of plugins, finds the tool for a task, executes it and prints what
//! became of the call.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use toolgate_core::clock::Clock;
use toolgate_gateway::config::GatewayConfig;
use toolgate_gateway::identity::workspaces;
use toolgate_gateway::tools::results::Budget;
use toolgate_gateway::tools::{Arguments, CallListener, Execute, Execution, SearchTools};
use toolgate_gateway::{Caller, Gateway};
use toolgate_store::{Plan, Store, Workspace};

/// How long a call that still runs may take when the program ends.
const DRAIN: Duration = Duration::from_secs(10);
/// The first start compiles the plugins.
const READY_WITHIN: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_millis(50);

struct Task {
    plugins: String,
    query: String,
    /// A JSON object.
    arguments: String,
    dry_run: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let task = Task::from_command_line()?;
    let config = GatewayConfig::in_folders("data", &task.plugins);
    let gateway = Gateway::open(&config, Clock::system()).await?;
    let execution = Box::pin(execute(&gateway, task)).await;
    // Writes the last receipts.
    gateway.close(DRAIN).await;
    println!("{}", serde_json::to_string_pretty(&execution?)?);
    Ok(())
}

/// Executes the best tool for the task.
async fn execute(gateway: &Arc<Gateway>, task: Task) -> anyhow::Result<Execution> {
    let workspace = workspace(gateway.store(), gateway.clock().now_ms()).await?;
    // An application that serves several users makes keys with `identity::keys` and authenticates each request.
    let caller = Caller::operator(&workspace);
    let ready = async {
        while !gateway.ready().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let ready = tokio::time::timeout(READY_WITHIN, ready).await;
    ready.context("the plugins were not loaded in time")?;
    let found = gateway
        .search_tools(
            &caller,
            SearchTools {
                query: task.query,
                service: None,
                limit: 1,
                schema_limit: 0,
                schema_address: str::to_owned,
                user_id: None,
            },
        )
        .await?;
    let tool = found.tools.into_iter().next();
    let tool = tool.context("no tool was found for this query")?;
    eprintln!("{}: {}", tool.name, tool.description);
    let request = Execute {
        tool_name: tool.name,
        arguments: Arguments::Text(task.arguments),
        session_id: None,
        user_id: None,
        connection_id: None,
        dry_run: task.dry_run,
        budget: Budget::default(),
        claim: None,
        parent_execution_id: None,
        listener: CallListener::default(),
    };
    Ok(gateway.execute(&caller, request).await?)
}

/// Receipts, connections and rules belong to a workspace.
async fn workspace(store: &Store, now_ms: i64) -> anyhow::Result<Workspace> {
    match store.first_workspace().await? {
        Some(workspace) => Ok(workspace),
        None => Ok(workspaces::create(store, "default", Plan::Enterprise, now_ms).await?),
    }
}

impl Task {
    fn from_command_line() -> anyhow::Result<Self> {
        let mut words: Vec<String> = std::env::args().skip(1).collect();
        let dry_run = words.last().is_some_and(|word| word == "--dry-run");
        if dry_run {
            words.pop();
        }
        let Ok([plugins, query, arguments]) = <[String; 3]>::try_from(words) else {
            bail!("usage: toolgate-embed PLUGINS_FOLDER QUERY ARGUMENTS [--dry-run]");
        };
        ensure!(Path::new(&plugins).is_dir(), "{plugins} is not a folder");
        Ok(Self {
            plugins,
            query,
            arguments,
            dry_run,
        })
    }
}
