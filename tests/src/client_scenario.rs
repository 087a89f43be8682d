//! The scenarios for clients of the official conformance runner, as `tests/mcp/setup.sh` installs it. Each is a server
//! that watches what its client sends.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::tools;

/// The runner.
const PACKAGE: &str = "node/node_modules/@modelcontextprotocol/conformance";
/// Longest wait for the start and for the end of a scenario.
const RUN_MAX: Duration = Duration::from_secs(60);
/// What the runner prints before the address of the server.
const ADDRESS: &str = "Server URL: ";

/// A running scenario, which waits for its client. Ends when dropped.
pub struct ClientScenario {
    /// The address that the client is given.
    pub url: String,
    results: TempDir,
    lines: Lines<BufReader<ChildStdout>>,
    child: Child,
}

impl ClientScenario {
    /// `revision`: of the protocol, for example `2026-07-28`.
    pub async fn start(scenario: &str, revision: &str) -> anyhow::Result<Self> {
        let results = TempDir::new()?;
        let mut child = tools::node()?
            .arg(package()?.join("dist/index.js"))
            .args(["client", "--scenario", scenario])
            .args(["--spec-version", revision])
            .arg("--output-dir")
            .arg(results.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let mut lines = BufReader::new(stdout).lines();
        let url = loop {
            let line = tokio::time::timeout(RUN_MAX, lines.next_line()).await??;
            let line = line.with_context(|| format!("{scenario} of {revision} does not start"))?;
            if let Some(url) = line.strip_prefix(ADDRESS) {
                break url.trim().to_owned();
            }
        };
        Ok(Self {
            url,
            results,
            lines,
            child,
        })
    }

    /// Ends it; answers every check of what the client has sent.
    pub async fn checks(mut self) -> anyhow::Result<Vec<Value>> {
        let id = self.child.id().context("it has ended")?.to_string();
        let mut kill = Command::new("kill");
        ensure!(kill.args(["-TERM", &id]).status().await?.success(), "kill");
        // It waits until what it prints is read.
        while tokio::time::timeout(RUN_MAX, self.lines.next_line())
            .await??
            .is_some()
        {}
        tokio::time::timeout(RUN_MAX, self.child.wait()).await??;
        let mut checks = Vec::new();
        for folder in std::fs::read_dir(self.results.path())? {
            let text = std::fs::read_to_string(folder?.path().join("checks.json"))?;
            let read: Vec<Value> = serde_json::from_str(&text)?;
            checks.extend(read);
        }
        Ok(checks)
    }
}

/// Every scenario for clients that a revision of the protocol names, also those that it does not score.
pub fn scenarios(revision: &str) -> anyhow::Result<Vec<String>> {
    let file = package()?.join(format!("requirements/{revision}.yaml"));
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let mut named = Vec::new();
    let (mut section, mut unscored) = ("", "");
    for line in text.lines() {
        if let Some(head) = line.strip_suffix(':').filter(|head| !head.starts_with(' ')) {
            section = head;
        } else if let Some(scenario) = line.strip_prefix("  - scenario: ") {
            unscored = scenario;
        } else if section == "not_scored" && line == "    leg: client" {
            named.push(unscored.to_owned());
        } else if let Some(scenario) = line.strip_prefix("  - ")
            && section == "client"
        {
            named.push(scenario.to_owned());
        }
    }
    Ok(named)
}

fn package() -> anyhow::Result<PathBuf> {
    tools::installed(PACKAGE, "mcp")
}
