//! The receiver of webhooks with the reference verifier, as `tests/webhooks/setup.sh` installs it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::tools;

/// A running receiver; ends with this.
pub struct Receiver {
    pub port: u16,
    _child: Child,
}

/// One attempt that arrived.
#[derive(Clone, Debug, Deserialize)]
pub struct Arrived {
    /// The header `webhook-id`.
    pub id: String,
    /// For each secret that the address was given: whether the signature held.
    pub verified: Vec<bool>,
    pub event: Value,
}

impl Receiver {
    /// Starts it on a free port. `slow_s`: how long `/slow/` takes.
    pub async fn start(slow_s: f64) -> anyhow::Result<Self> {
        let mut child = Command::new(tools()?.join("bin/python3"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("webhooks/receiver.py"))
            .arg(slow_s.to_string())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let port = BufReader::new(stdout).lines().next_line().await?;
        Ok(Self {
            port: port.context("the receiver has ended")?.parse()?,
            _child: child,
        })
    }

    /// The mapping under which a gateway sends it what is meant for `hooks.example.test`.
    pub fn upstream(&self) -> String {
        format!("hooks.example.test=http://127.0.0.1:{}", self.port)
    }

    /// What an address verifies with from now on.
    pub async fn trust(&self, path: &str, secrets: &[&str]) -> anyhow::Result<()> {
        let body = json!({ path: secrets }).to_string();
        let url = format!("http://127.0.0.1:{}/secrets", self.port);
        let answer = crate::gateway::client().put(url).body(body).send().await?;
        ensure!(answer.status() == 204, "the receiver takes secrets");
        Ok(())
    }

    /// Every attempt so far, by address, in the order of arrival.
    pub async fn arrived(&self) -> anyhow::Result<BTreeMap<String, Vec<Arrived>>> {
        let url = format!("http://127.0.0.1:{}/log", self.port);
        let text = crate::gateway::client()
            .get(url)
            .send()
            .await?
            .text()
            .await?;
        Ok(serde_json::from_str(&text)?)
    }

    /// What arrived at one address.
    pub async fn at(&self, path: &str) -> Vec<Arrived> {
        let mut all = self.arrived().await.expect("the receiver answers");
        all.remove(path).unwrap_or_default()
    }
}

fn tools() -> anyhow::Result<PathBuf> {
    tools::installed("webhooks", "webhooks")
}
