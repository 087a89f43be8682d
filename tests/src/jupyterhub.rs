//! A JupyterHub, as `tests/jupyterhub/setup.sh` installs it, on loopback, and a person who signs in
//! to it with a browser.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::gateway::{PATIENCE, client};
use crate::ports::free_port;
use crate::process::wait;
use crate::tools;

/// As which client the gateway is registered.
pub const CLIENT_ID: &str = "service-toolgate";
pub const CLIENT_SECRET: &str = "0123456789abcdef0123456789abcdef";

/// How long a hub may take to end its proxy.
const END_MAX: Duration = Duration::from_secs(15);

/// A running hub; ends with this, and its proxy too.
pub struct JupyterHub {
    pub url: String,
    child: Child,
    folder: TempDir,
}

impl JupyterHub {
    /// Starts one at which the gateway is registered with this callback.
    pub async fn start(callback: &str) -> anyhow::Result<Self> {
        let (tools, folder, port) = (
            tools::installed("jupyterhub", "jupyterhub")?,
            TempDir::new()?,
            free_port(),
        );
        let log = std::fs::File::create(folder.path().join("log"))?;
        let child = Command::new(tools.join("python/bin/jupyterhub"))
            .arg("-f")
            .arg(beside("config.py"))
            .current_dir(folder.path())
            .env("PATH", tools::path()?)
            .env("HUB_PORT", port.to_string())
            .env("HUB_INNER_PORT", free_port().to_string())
            .env("HUB_PROXY_PORT", free_port().to_string())
            .env(
                "HUB_PROXY",
                tools.join("node_modules/.bin/configurable-http-proxy"),
            )
            .env("HUB_SECRET", CLIENT_SECRET)
            .env("HUB_CALLBACK", callback)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        let (url, client) = (format!("http://127.0.0.1:{port}"), client());
        let hub = Self { url, child, folder };
        let url = &hub.url;
        wait("JupyterHub to answer", async || {
            let asked = client.get(format!("{url}/hub/api")).send().await;
            asked.is_ok_and(|answer| answer.status() == 200)
        })
        .await;
        Ok(hub)
    }

    /// Follows a connect link as this user, who agrees. Answers the last page.
    pub async fn connect(&self, link: &str, user: &str) -> anyhow::Result<String> {
        let visit = tools::node()?
            .arg(beside("browser.mjs"))
            .arg(tools::installed("oidc", "oidc")?)
            .args([link, user])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let visit = tokio::time::timeout(PATIENCE, visit).await??;
        ensure!(
            visit.status.success(),
            "the visit failed:\n{}\n{}",
            String::from_utf8_lossy(&visit.stderr),
            std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
        );
        Ok(String::from_utf8(visit.stdout)?)
    }
}

impl Drop for JupyterHub {
    /// Asks the hub to end, which then ends the proxy that it started; a proxy that is left is killed.
    fn drop(&mut self) {
        if let Some(id) = self.child.id() {
            signal("TERM", &id.to_string());
        }
        let by = Instant::now() + END_MAX;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < by {
            std::thread::sleep(Duration::from_millis(20));
        }
        let kept = self.folder.path().join("jupyterhub-proxy.pid");
        let id = std::fs::read_to_string(kept).unwrap_or_default();
        let id = id.trim();
        // The number may be another process's by now.
        let command = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        if command.contains("configurable-http-proxy") {
            signal("KILL", id);
        }
    }
}

fn signal(name: &str, id: &str) {
    // One that has ended needs none.
    let _ = std::process::Command::new("kill")
        .args([&format!("-{name}"), id])
        .stderr(Stdio::null())
        .status();
}

/// JupyterHub's own description of its API, from its source distribution.
pub fn description() -> anyhow::Result<PathBuf> {
    Ok(tools::installed("jupyterhub", "jupyterhub")?.join("source/rest-api.yml"))
}

/// What the description leaves to each hub.
pub fn overlay() -> PathBuf {
    beside("overlay.yaml")
}

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("jupyterhub")
        .join(name)
}
