//! Real MCP servers of others, as `tests/mcp_upstreams/setup.sh` installs them, and plugins that are made of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::ports::free_port;
use crate::tools;
use toolgate_egress::{AllowUpstream, Egress, EgressConfig};
use toolgate_mcp_upstream::account::AccountChoice;
use toolgate_mcp_upstream::compose::TOOLS_DEFAULT_MAX;
use toolgate_mcp_upstream::{ComposedServer, ServerSource, bake};
use toolgate_vault::Secret;

/// Longest wait for a server to listen.
const START_MAX: Duration = Duration::from_secs(120);

/// A server that ends with this.
pub struct UpstreamProcess {
    pub port: u16,
    _child: Child,
}

impl UpstreamProcess {
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The endpoint.
    pub fn mcp(&self) -> String {
        format!("{}/mcp", self.url())
    }
}

/// The official server that shows every feature of the protocol.
pub async fn everything() -> anyhow::Result<UpstreamProcess> {
    let port = free_port();
    let module = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let mut command = tools::node()?;
    command.arg(packages()?.join(module)).arg("streamableHttp");
    command.env("PORT", port.to_string());
    listening(command, port).await
}

/// A server by the npm package fastmcp.
pub async fn fast_npm(stateless: bool) -> anyhow::Result<UpstreamProcess> {
    let port = free_port();
    let mut command = tools::node()?;
    command.arg(beside("fast.mjs")).arg(packages()?);
    command.arg(port.to_string());
    if stateless {
        command.arg("stateless");
    }
    listening(command, port).await
}

/// A server by the Python package fastmcp.
pub async fn fast_python() -> anyhow::Result<UpstreamProcess> {
    let port = free_port();
    let python = tools::installed("mcp_upstreams_python", "mcp_upstreams")?.join("bin/python");
    let mut command = Command::new(python);
    command.arg(beside("fast.py")).arg(port.to_string());
    listening(command, port).await
}

/// Notes of each user behind OAuth, known to the public as `origin`.
pub async fn notes(origin: &str) -> anyhow::Result<UpstreamProcess> {
    let mut command = tools::node()?;
    command
        .arg(beside("notes.mjs"))
        .arg(packages()?)
        .arg(origin);
    let mut child = quiet(command).stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take().context("a pipe was asked for")?;
    let mut lines = BufReader::new(out).lines();
    let first = tokio::time::timeout(START_MAX, lines.next_line()).await??;
    let port = first.context("the server has ended")?.parse()?;
    Ok(UpstreamProcess {
        port,
        _child: child,
    })
}

fn quiet(mut command: Command) -> Command {
    command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Starts a server and waits until its port is open.
async fn listening(command: Command, port: u16) -> anyhow::Result<UpstreamProcess> {
    let mut child = quiet(command).stdout(Stdio::null()).spawn()?;
    let open = async || {
        tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_ok()
    };
    let waited = tokio::time::timeout(START_MAX, async {
        while !open().await {
            if let Some(status) = child.try_wait()? {
                anyhow::bail!("the server has ended: {status}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    });
    waited.await.context("the server does not listen")??;
    Ok(UpstreamProcess {
        port,
        _child: child,
    })
}

fn packages() -> anyhow::Result<PathBuf> {
    let folder = tools::installed("mcp_upstreams", "mcp_upstreams")?;
    ensure!(
        folder.join(".installed").exists(),
        "{} is not whole",
        folder.display()
    );
    Ok(folder)
}

fn beside(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp_upstreams");
    folder.join(name)
}

/// What an operator would say of a server.
pub fn source(url: &str, service: &str) -> ServerSource {
    ServerSource {
        url: url.to_owned(),
        private: false,
        service: Some(service.to_owned()),
        only: BTreeSet::new(),
        tools_max: TOOLS_DEFAULT_MAX,
        effects: BTreeMap::new(),
        account: AccountChoice::Discover,
    }
}

/// Composes the plugin of a server, with `HOST=URL` in place of public names.
pub async fn composed(
    source: &ServerSource,
    token: Option<&str>,
    upstreams: &[String],
) -> anyhow::Result<ComposedServer> {
    let allowed = upstreams.iter().map(|text| AllowUpstream::parse(text));
    let egress = Egress::new(EgressConfig {
        allow_upstreams: allowed.collect::<Result<_, _>>()?,
        ..EgressConfig::default()
    })?;
    source.build(&egress, token.map(Secret::new), None).await
}

/// The component of a composed plugin.
pub async fn component(
    composed: &ComposedServer,
    source: &ServerSource,
) -> anyhow::Result<Vec<u8>> {
    let (composed, source) = (composed.clone(), source.clone());
    let handle = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || handle.block_on(bake(&composed, &source))).await?
}
