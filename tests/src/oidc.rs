//! The certified authorization server and a real browser, as `tests/oidc/setup.sh` installs them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::tools;

/// Nobody takes longer to sign in, however slow the machine.
const BROWSER_MAX: Duration = Duration::from_secs(180);

/// A running authorization server; ends with this.
pub struct Server {
    pub port: u16,
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
    _child: Child,
}

/// What the person with the browser read.
#[derive(Debug, Deserialize)]
pub struct Visit {
    /// The page behind the link.
    pub offer: String,
    /// The last page.
    pub done: String,
    /// Its address without the query.
    pub url: String,
    /// Every referrer that a request of the visit named, and to whom: `FROM to URL`.
    pub referrers: Vec<String>,
}

impl Server {
    /// Starts it on a free port.
    pub async fn start() -> anyhow::Result<Self> {
        let mut child = tools::node()?
            .arg(beside("server.mjs"))
            .arg(tools()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().context("a pipe was asked for")?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let mut lines = BufReader::new(stdout).lines();
        let port = next(&mut lines).await?.parse()?;
        Ok(Self {
            port,
            lines,
            stdin,
            _child: child,
        })
    }

    /// Registers the gateway and begins to serve.
    pub async fn register(
        &mut self,
        redirect_uri: &str,
        access_token_s: u64,
    ) -> anyhow::Result<()> {
        self.serve(json!({"redirect_uri": redirect_uri, "access_token_s": access_token_s}))
            .await
    }

    /// Registers the gateway's dashboard, whose members sign in here under [`Server::issuer`], and
    /// begins to serve.
    pub async fn register_sign_in(&mut self, redirect_uri: &str) -> anyhow::Result<()> {
        let asked = json!({"redirect_uri": redirect_uri, "access_token_s": 60, "sign_in": true});
        self.serve(asked).await
    }

    async fn serve(&mut self, asked: Value) -> anyhow::Result<()> {
        self.stdin
            .write_all(format!("{asked}\n").as_bytes())
            .await?;
        let said = next(&mut self.lines).await?;
        ensure!(said == "ready", "the authorization server said {said}");
        Ok(())
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// As it names itself to those who sign in: another site than 127.0.0.1, for a browser.
    pub fn issuer(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    /// Puts whoever logs in as `login` into these groups, and out of all others.
    pub async fn put_in(&self, login: &str, groups: &[&str]) -> anyhow::Result<()> {
        let body = json!({ "login": login, "groups": groups }).to_string();
        let url = format!("{}/test/groups", self.url());
        let answer = crate::gateway::client().post(url).body(body).send().await?;
        ensure!(answer.status() == 200, "the groups are not taken");
        Ok(())
    }

    /// Takes back every grant.
    pub async fn revoke_everything(&self) -> anyhow::Result<()> {
        self.ask("/test/revoke").await.map(drop)
    }

    /// How many refreshes it has granted.
    pub async fn refreshes(&self) -> anyhow::Result<u64> {
        let counts = self.ask("/test/counts").await?;
        counts["refreshes"].as_u64().context("a number")
    }

    async fn ask(&self, path: &str) -> anyhow::Result<Value> {
        let url = format!("{}{path}", self.url());
        let text = crate::gateway::client()
            .get(url)
            .send()
            .await?
            .text()
            .await?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Opens a connect link in Chromium without JavaScript, signs in as `login` and agrees.
pub async fn visit(link: &str, login: &str) -> anyhow::Result<Visit> {
    let child = tools::node()?
        .arg(beside("browser.mjs"))
        .arg(tools()?)
        .args([link, login])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = tokio::time::timeout(BROWSER_MAX, child.wait_with_output()).await??;
    ensure!(
        output.status.success(),
        "the visit failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

async fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> anyhow::Result<String> {
    lines
        .next_line()
        .await?
        .context("the authorization server has ended")
}

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("oidc")
        .join(name)
}

fn tools() -> anyhow::Result<PathBuf> {
    tools::installed("oidc", "oidc")
}
