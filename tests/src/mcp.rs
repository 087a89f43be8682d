//! The official MCP clients and the conformance runner, as `tests/mcp/setup.sh` installs them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::ports::free_port;
use crate::tools;

/// No conversation and no conformance run takes longer, however slow the machine.
const RUN_MAX: Duration = Duration::from_secs(240);

/// Which client speaks, and how it chooses the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// PyPI `mcp` 2.x: `auto`, `legacy` or a revision.
    Python(&'static str),
    /// npm `@modelcontextprotocol/client` 2.x: `auto`, `legacy` or a revision.
    JavaScript(&'static str),
    /// npm `@modelcontextprotocol/sdk` 1.x, which knows sessions alone.
    JavaScriptSdk1,
}

/// What a client is to do.
#[derive(Clone, Debug, Serialize)]
pub struct Job<'a> {
    /// Of the MCP endpoint.
    pub url: &'a str,
    pub key: &'a str,
    /// Started and spoken to on standard input and output, instead of asking `url`.
    pub command: Option<Vec<String>>,
    /// Reads every skill as a host does; only `Client::JavaScript` can.
    pub skills: bool,
    /// Declares URL elicitation and accepts whatever it is asked to open.
    pub opens_urls: bool,
    pub calls: Vec<Call>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Call {
    pub name: &'static str,
    pub arguments: Value,
}

/// What came of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Transcript {
    /// The revision that was negotiated.
    pub protocol: String,
    pub tools: Vec<String>,
    /// One for each call, in order.
    pub results: Vec<Said>,
    /// The addresses the server wanted opened.
    pub opened: Vec<String>,
    /// Every skill that was read and verified: `uri`, `frontmatter`, `body`.
    pub skills: Vec<Value>,
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Said {
    Result { text: String, is_error: bool },
    ProtocolError { code: i64, message: String },
}

impl Said {
    /// The text of a result that is not an error.
    pub fn text(&self) -> &str {
        match self {
            Self::Result {
                text,
                is_error: false,
            } => text,
            other => panic!("no plain result: {other:?}"),
        }
    }

    /// The text of a result with `isError`.
    pub fn error_text(&self) -> &str {
        match self {
            Self::Result {
                text,
                is_error: true,
            } => text,
            other => panic!("no result with isError: {other:?}"),
        }
    }
}

/// Has one client list the tools and make its calls in order.
pub async fn converse(client: Client, job: &Job<'_>) -> anyhow::Result<Transcript> {
    let (mut command, mode) = match client {
        Client::Python(mode) => {
            let mut command = Command::new(installed("python/bin/python")?);
            command.arg(beside("client.py"));
            (command, mode)
        }
        Client::JavaScript(mode) => (javascript()?, mode),
        Client::JavaScriptSdk1 => (javascript()?, "sdk"),
    };
    let mut asked = serde_json::to_value(job)?;
    asked["mode"] = mode.into();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut stdin = child.stdin.take().context("a pipe was asked for")?;
    stdin.write_all(asked.to_string().as_bytes()).await?;
    drop(stdin);
    let output = tokio::time::timeout(RUN_MAX, child.wait_with_output()).await??;
    ensure!(
        output.status.success(),
        "{client:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "{client:?} said {}",
            String::from_utf8_lossy(&output.stdout)
        )
    })
}

/// Runs what a revision of the protocol requires against the server at `url` (without `/mcp`) and
/// gives back what the runner printed. Fails unless exactly the expected scenarios fail.
pub async fn conformance(url: &str, key: &str, revision: &str) -> anyhow::Result<String> {
    let proxy = KeyProxy::start(url, key).await?;
    let results = tempfile::TempDir::new()?;
    let run = tools::node()?
        .arg(installed(
            "node/node_modules/@modelcontextprotocol/conformance/dist/index.js",
        )?)
        .args(["server", "--requirements", revision])
        .args(["--url", &format!("http://127.0.0.1:{}/mcp", proxy.port)])
        .arg("--expected-failures")
        .arg(beside(&format!("expected_failures_{revision}.yml")))
        .arg("--output-dir")
        .arg(results.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(RUN_MAX, run).await??;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.success(),
        "revision {revision} does not hold:\n{}\n{}",
        unexpected(&said, results.path()),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(said)
}

/// What the conformance runner did not expect, with the checks of the scenarios that failed. A test run cuts
/// its whole output before these.
fn unexpected(said: &str, results: &Path) -> String {
    let heads = ["Stale baseline entries", "Unexpected failures"];
    let found = heads.into_iter().filter_map(|head| said.find(head)).min();
    let mut report = said[found.unwrap_or(0)..].to_owned();
    let folders = std::fs::read_dir(results).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name();
        // A folder is named server-SCENARIO-TIME.
        let failed = report
            .lines()
            .filter_map(|line| line.trim().strip_prefix("✗ "));
        let mut prefixes = failed.map(|scenario| format!("server-{scenario}-2"));
        if prefixes.any(|prefix| name.to_string_lossy().starts_with(&prefix)) {
            let checks = std::fs::read_to_string(folder.path().join("checks.json"));
            report.push_str(&checks.unwrap_or_default());
        }
    }
    report
}

/// The conformance runner's suite for authorization servers, which waits for a person in between.
pub struct AuthorizationRun {
    port: u16,
    results: tempfile::TempDir,
    child: Option<Child>,
    said: String,
    lines: Option<Lines<BufReader<ChildStdout>>>,
}

impl AuthorizationRun {
    /// Chooses the port at which the runner's client listens.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self {
            port: free_port(),
            results: tempfile::TempDir::new()?,
            child: None,
            said: String::new(),
            lines: None,
        })
    }

    /// To register for its client.
    pub fn redirect(&self) -> String {
        format!("http://127.0.0.1:{}/callback", self.port)
    }

    /// Starts it; answers the address that a person has to open.
    pub async fn start(
        &mut self,
        issuer: &str,
        client_id: &str,
        resource: &str,
    ) -> anyhow::Result<String> {
        let mut child = tools::node()?
            .arg(installed(
                "node/node_modules/@modelcontextprotocol/conformance/dist/index.js",
            )?)
            .args(["authorization", "--url", issuer, "--client-id", client_id])
            .args(["--resource", resource, "--port", &self.port.to_string()])
            .arg("--output-dir")
            .arg(self.results.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let mut lines = BufReader::new(stdout).lines();
        let wanted = format!("{issuer}/authorize?");
        loop {
            let line = tokio::time::timeout(RUN_MAX, lines.next_line()).await??;
            let line = line.with_context(|| format!("it ended after {}", self.said))?;
            self.said.push_str(&line);
            self.said.push('\n');
            if line.starts_with(&wanted) {
                (self.child, self.lines) = (Some(child), Some(lines));
                return Ok(line);
            }
        }
    }

    /// Waits until its client listens: it prints the address first.
    pub async fn listens(&self) -> anyhow::Result<()> {
        let began = tokio::time::Instant::now();
        while let Err(cause) = tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await {
            ensure!(
                began.elapsed() < RUN_MAX,
                "its client never listens: {cause}"
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Waits for its end; answers every check, and what it printed.
    pub async fn end(mut self) -> anyhow::Result<(Vec<Value>, String)> {
        let mut lines = self.lines.take().context("it was started")?;
        let mut child = self.child.take().context("it was started")?;
        while let Some(line) = tokio::time::timeout(RUN_MAX, lines.next_line()).await?? {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        let ended = tokio::time::timeout(RUN_MAX, child.wait()).await??;
        ensure!(ended.success(), "the suite fails:\n{}", self.said);
        let mut checks = Vec::new();
        for folder in std::fs::read_dir(self.results.path())? {
            let text = std::fs::read_to_string(folder?.path().join("checks.json"))?;
            let read: Vec<Value> = serde_json::from_str(&text)?;
            checks.extend(read);
        }
        Ok((checks, self.said))
    }
}

/// Adds the key that the conformance runner cannot send. Ends when dropped.
struct KeyProxy {
    port: u16,
    _child: Child,
}

impl KeyProxy {
    async fn start(url: &str, key: &str) -> anyhow::Result<Self> {
        let mut child = tools::node()?
            .arg(beside("key_proxy.mjs"))
            .args([url, key])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let line = BufReader::new(stdout).lines().next_line().await?;
        let port = line.context("the proxy ended at once")?.parse()?;
        Ok(Self {
            port,
            _child: child,
        })
    }
}

/// A program of an official client with its job: `tests/mcp/NAME.py` or `tests/mcp/NAME.mjs`.
pub fn client_program(client: Client, name: &str, mut job: Value) -> anyhow::Result<Command> {
    if let Client::Python(mode) | Client::JavaScript(mode) = client {
        job["mode"] = mode.into();
    }
    let mut command = match client {
        Client::Python(_) => {
            let mut command = Command::new(installed("python/bin/python")?);
            command.arg(beside(&format!("{name}.py")));
            command
        }
        Client::JavaScript(_) | Client::JavaScriptSdk1 => {
            let folder = installed("node/node_modules")?.with_file_name("");
            job["folder"] = folder.to_string_lossy().into();
            let is_sdk = client == Client::JavaScriptSdk1;
            let package = if is_sdk { "sdk" } else { "client" };
            job["package"] = package.into();
            let mut command = tools::node()?;
            command.arg(beside(&format!("{name}.mjs")));
            command
        }
    };
    command.arg(job.to_string());
    Ok(command)
}

/// An official client, connected to a toolset: `tests/mcp/toolset.py` or `tests/mcp/toolset.mjs`.
pub struct ToolsetClient {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl ToolsetClient {
    /// Connects, and answers what was negotiated.
    pub async fn connect(client: Client, url: &str, key: &str) -> anyhow::Result<(Self, Value)> {
        let job = serde_json::json!({ "url": url, "key": key });
        let mut command = client_program(client, "toolset", job)?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().context("a pipe was asked for")?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let mut client = Self {
            stdin,
            lines: BufReader::new(stdout).lines(),
            _child: child,
        };
        let negotiated = client.hear().await?;
        Ok((client, negotiated))
    }

    async fn hear(&mut self) -> anyhow::Result<Value> {
        let line = tokio::time::timeout(RUN_MAX, self.lines.next_line()).await??;
        Ok(serde_json::from_str(
            &line.context("the client has ended")?,
        )?)
    }

    async fn ask(&mut self, asked: Value) -> anyhow::Result<Value> {
        let line = format!("{asked}\n");
        self.stdin.write_all(line.as_bytes()).await?;
        self.hear().await
    }

    /// `tools/list`, as the client has read it.
    pub async fn list(&mut self) -> anyhow::Result<Value> {
        self.ask(serde_json::json!({ "list": true })).await
    }

    /// `tools/call`: `text`, `is_error` and `structured`, or `code` and `message`.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let asked = serde_json::json!({ "call": tool, "arguments": arguments });
        self.ask(asked).await
    }

    /// Waits until the server says that the list has changed; answers in which way.
    pub async fn changed(&mut self) -> anyhow::Result<Value> {
        self.ask(serde_json::json!({ "changed": true })).await
    }
}

fn javascript() -> anyhow::Result<Command> {
    let mut command = tools::node()?;
    command
        .arg(beside("client.mjs"))
        .arg(installed("node/node_modules")?.with_file_name(""));
    Ok(command)
}

fn installed(path: &str) -> anyhow::Result<PathBuf> {
    tools::installed(path, "mcp")
}

/// A file of `tests/mcp`.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp").join(name)
}
