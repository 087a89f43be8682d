//! A Matrix homeserver, as `tests/matrix/setup.sh` installs it, on loopback and alone.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::gateway::client;
use crate::ports::free_port;
use crate::process::wait;
use crate::tools;

/// A running homeserver; ends with this.
pub struct Synapse {
    pub url: String,
    client: reqwest::Client,
    _child: Child,
    _folder: TempDir,
}

impl Synapse {
    /// Starts one that nobody is registered at.
    pub async fn start() -> anyhow::Result<Self> {
        let (folder, port) = (TempDir::new()?, free_port());
        let configuration = json!({
            "server_name": "home.test",
            "pid_file": folder.path().join("pid"),
            "listeners": [{
                "port": port, "type": "http", "bind_addresses": ["127.0.0.1"],
                "resources": [{ "names": ["client"] }],
            }],
            "database": { "name": "sqlite3", "args": { "database": folder.path().join("home.db") } },
            "media_store_path": folder.path().join("media"),
            "signing_key_path": folder.path().join("signing.key"),
            "report_stats": false,
            "macaroon_secret_key": "only for this run",
            "form_secret": "only for this run",
            "enable_registration": true,
            "enable_registration_without_verification": true,
            "suppress_key_server_warning": true,
            "trusted_key_servers": [],
        });
        // JSON is YAML.
        let file = folder.path().join("homeserver.yaml");
        std::fs::write(&file, configuration.to_string())?;
        let log = std::fs::File::create(folder.path().join("log"))?;
        let command = |arguments: &[&str]| -> anyhow::Result<Command> {
            let mut command = Command::new(python()?);
            command
                .args(["-m", "synapse.app.homeserver", "--config-path"])
                .arg(&file)
                .args(arguments)
                .current_dir(folder.path())
                .stdin(Stdio::null())
                .stdout(log.try_clone()?)
                .stderr(log.try_clone()?)
                .kill_on_drop(true);
            Ok(command)
        };
        let keys = command(&["--generate-keys"])?.status().await?;
        let said = || std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        ensure!(keys.success(), "Synapse makes no keys: {}", said());
        let child = command(&[])?.spawn()?;
        let (url, client) = (format!("http://127.0.0.1:{port}"), client());
        wait("the homeserver to answer", async || {
            let asked = client.get(format!("{url}/_matrix/client/versions")).send();
            asked.await.is_ok_and(|answer| answer.status() == 200)
        })
        .await;
        Ok(Self {
            url,
            client,
            _child: child,
            _folder: folder,
        })
    }

    /// Registers a person and answers the access token.
    pub async fn register(&self, name: &str) -> anyhow::Result<String> {
        let body = json!({
            "username": name, "password": "correct horse battery staple",
            "auth": { "type": "m.login.dummy" },
        });
        let path = "/_matrix/client/v3/register";
        let said = self.ask(Method::POST, path, None, Some(&body)).await?;
        let token = said["access_token"].as_str();
        Ok(token.with_context(|| said.to_string())?.to_owned())
    }

    /// One request to the client-server API, as a client of one's own makes it.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        Ok(serde_json::from_str(&request.send().await?.text().await?)?)
    }
}

fn python() -> anyhow::Result<PathBuf> {
    tools::installed("synapse/bin/python", "matrix")
}
