//! What a remote MCP server costs as a plugin: a call through the gateway beside the same call to the server itself,
//! and a start with a hundred such plugins.
//!
//! The server is a bare rmcp server that answers at once. It serves both sides, which take turns. Its processor time is
//! no part of the gateway's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::ensure;
use serde_json::{Value, json};
use toolgate_egress::{Egress, EgressConfig};
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_mcp_upstream::compose::TOOLS_DEFAULT_MAX;
use toolgate_mcp_upstream::{SavedList, ServerSource, bake_beside};
use toolgate_tests::process::{Installation, Process, wait};

use crate::bare::{SERVED_TOOL, Server};
use crate::real_calls::{CONNECTIONS, Target, authorization, print_head, take_turns};
use crate::requests::tool_call;
use crate::{row, start};

const SERVICE: &str = "bench";
/// Plugins of a start.
const SERVERS: usize = 100;
/// Tools of each.
const TOOLS: usize = 50;
/// The protocol of the saved lists.
const PROTOCOL: &str = "2026-07-28";
/// Plugins as an operator has them: files that nobody has touched for so long.
const UNTOUCHED: Duration = Duration::from_secs(3_600);

/// One tool of a real server, called over MCP through the gateway and directly.
pub async fn calls() -> anyhow::Result<()> {
    let server = Server::program("mcp-server").await?;
    let url = format!("http://{}/mcp", server.address);
    let folder = tempfile::tempdir()?;
    let toolgate = start_with(folder.path(), &url).await?;
    let arguments = json!({ "metric": "up" });
    let mut ours = tool_call(
        format!("{}/mcp", toolgate.base),
        "svc_execute_tool",
        json!({ "tool_name": tool_name(), "arguments": arguments.to_string() }),
    );
    ours.headers.push(authorization(&toolgate));
    let theirs = tool_call(url, SERVED_TOOL, arguments);
    let ours = Target::new(ours, toolgate.id())?;
    let theirs = Target::new(theirs, server.process_id())?;
    print_head("tool of a remote MCP server", "direct");
    let what = "MCP 2026-07-28 on both sides, SQLite";
    take_turns(what, &ours, &theirs, &CONNECTIONS).await?;
    toolgate.kill().await;
    Ok(())
}

/// As the gateway knows it.
fn tool_name() -> String {
    format!("{SERVICE}_{SERVED_TOOL}")
}

/// A gateway with the plugin that the program builds of the server.
async fn start_with(folder: &Path, url: &str) -> anyhow::Result<Process> {
    let installation = Installation::new(folder, &[]);
    let file = folder.join(format!("plugins/{SERVICE}.wasm"));
    let file = file.display().to_string();
    let build = [
        "plugin",
        "build",
        "--mcp",
        url,
        "--service",
        SERVICE,
        "-o",
        &file,
    ];
    let report = installation.run(&build).await;
    ensure!(report["protocol"] == PROTOCOL, "{report}");
    let tool = tool_name();
    let toolgate = installation.serve(&[tool.as_str()]).await;
    let setting = format!("server_url={url}");
    installation
        .run(&["service", "configure", SERVICE, "--set", &setting])
        .await;
    let path = format!("/v1/tools/{tool}/execute");
    let body = json!({ "arguments": { "metric": "up" } });
    wait("the first call", async || {
        toolgate.post(&path, &body).await.json()["data"]["status"] == "success"
    })
    .await;
    Ok(toolgate)
}

/// Until the tools of [`SERVERS`] servers can be searched and called: the first start, which compiles their plugins,
/// and the next one.
pub async fn starts() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (data, plugins) = (folder.path().join("data"), folder.path().join("plugins"));
    std::fs::create_dir_all(&plugins)?;
    for n in 0..SERVERS {
        build_saved(&plugins, n).await?;
    }
    let (cold, warm) = start::times(&data, &plugins, SERVERS).await?;
    row(
        &format!("start with {SERVERS} MCP servers of {TOOLS} tools, warm"),
        &format!("{:.0} ms", warm.as_secs_f64() * 1e3),
        &format!("{:.1} s cold", cold.as_secs_f64()),
        warm.as_secs_f64() / cold.as_secs_f64(),
    );
    Ok(())
}

/// A plugin of a saved list, so that no server has to run.
async fn build_saved(plugins: &Path, n: usize) -> anyhow::Result<()> {
    let service = format!("server_{n}");
    let source = ServerSource {
        url: format!("https://mcp-{n}.example.com/mcp"),
        private: false,
        service: Some(service.clone()),
        only: BTreeSet::new(),
        tools_max: TOOLS_DEFAULT_MAX,
        effects: BTreeMap::new(),
        account: AccountChoice::None,
    };
    let text = json!({ "tools": listed_tools() }).to_string();
    let saved = SavedList {
        text: &text,
        version: PROTOCOL,
    };
    let egress = Egress::new(EgressConfig::default())?;
    let composed = source.build(&egress, None, Some(saved)).await?;
    let tools = composed.manifest.tools.len();
    ensure!(
        tools == TOOLS,
        "{tools} of {TOOLS} tools: {:?}",
        composed.notes
    );
    let file = plugins.join(format!("{service}.wasm"));
    std::fs::write(&file, bake_beside(composed, source).await?)?;
    let written = std::fs::File::options().write(true).open(&file)?;
    Ok(written.set_modified(SystemTime::now() - UNTOUCHED)?)
}

fn listed_tools() -> Vec<Value> {
    let tool = |n: usize| {
        json!({
            "name": format!("list_records_{n}"),
            "description": format!("Lists the records of collection {n} that match a text, newest first."),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "match": { "type": "string", "description": "Words that a record has to contain." },
                    "since": { "type": "string", "description": "Oldest date, for example 2026-05-01." },
                    "state": { "enum": ["open", "closed", "all"], "description": "State of the records." },
                    "labels": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Labels that a record has to have.",
                    },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
                },
                "required": ["match"],
            },
            "annotations": { "readOnlyHint": true },
        })
    };
    (0..TOOLS).map(tool).collect()
}
