//! A real gateway on a free loopback port, with a folder of plugins of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;
use toolgate::config::{Config, Settings};
use toolgate::core_workers::CoreWorkers;
use toolgate::inbound::Inbound;
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_gateway::connections::services;
use toolgate_gateway::identity::keys;
use toolgate_gateway::{Caller, Gateway, Scope, plugins};
use toolgate_mcp::McpAuth;
use toolgate_store::{ALL_WORKSPACES, Plan};

/// How long a test waits for something that has to happen; passing it fails the test.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What to start.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Component files that are in the folder before the start: name and bytes.
    pub plugins: Vec<(String, Vec<u8>)>,
    /// `HOST=URL`.
    pub allow_upstream: Vec<String>,
    /// `postgres://...`; SQLite in the data folder where absent.
    pub database_url: Option<String>,
    /// Most connections to PostgreSQL.
    pub database_connections: Option<u32>,
    /// A data folder that outlives the gateway.
    pub data_dir: Option<PathBuf>,
    /// Shared by gateways with one database; in the data folder where absent.
    pub master_key_file: Option<PathBuf>,
    pub plugins_dir: Option<PathBuf>,
    pub allow_large_plugins: bool,
    /// Memory of all running plugins, in MiB.
    pub guest_memory: Option<u32>,
    /// The machine's clock where absent.
    pub clock: Option<Clock>,
    /// Base address of an OpenAI-compatible server.
    pub model_url: Option<String>,
    /// Name of the model there; `scripted` if absent.
    pub model: Option<String>,
    pub model_key_file: Option<PathBuf>,
    pub model_seconds: Option<u64>,
    /// Names and origins from which `/mcp` may be asked, beside the usual ones.
    pub mcp_allow: (Vec<String>, Vec<String>),
    /// What `/mcp` takes; both keys and tokens where absent.
    pub mcp_auth: Option<McpAuth>,
    /// Networks of trusted proxies.
    pub trusted_proxy: Vec<String>,
    pub proxy_protocol: bool,
    pub connections_max: Option<u32>,
    pub connections_per_client: Option<u32>,
    /// Where members sign in, as [`crate::issuer::CLIENT`].
    pub oidc_issuer: Option<String>,
    /// As another client there, with the file of its secret.
    pub oidc_client: Option<(String, PathBuf)>,
    /// `GROUP=ROLE`.
    pub oidc_group_role: Vec<String>,
    /// Whose identity assertions are taken.
    pub id_jag_issuer: Vec<String>,
    pub no_client_registration: bool,
    pub no_client_documents: bool,
    pub no_search_learning: bool,
    /// Repeated writes are not held back.
    pub no_repeat_guard: bool,
    pub no_model: bool,
    /// MCP servers of plugins are asked for their tools again after so many seconds; never if absent.
    pub mcp_refresh_seconds: Option<u64>,
}

/// A running gateway and a key with every scope. Ends with the test.
pub struct TestGateway {
    pub address: SocketAddr,
    pub key: String,
    pub gateway: Arc<Gateway>,
    pub config: Config,
    pub client: reqwest::Client,
    _folders: TempDir,
    workers: CoreWorkers,
}

/// An answer: status, headers, body.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self {
            status,
            headers,
            text: response.text().await.expect("the answer is text"),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|cause| {
            panic!(
                "no JSON ({cause}) with status {}: {}",
                self.status, self.text
            )
        })
    }

    /// `data` of a success.
    pub fn data(&self) -> Value {
        let mut body = self.json();
        assert_eq!(body["success"], true, "{} {}", self.status, self.text);
        body["data"].take()
    }

    /// `error.code` of a failure.
    pub fn code(&self) -> String {
        let body = self.json();
        assert_eq!(body["success"], false, "{} {}", self.status, self.text);
        assert!(
            body["meta"]["request_id"]
                .as_str()
                .is_some_and(|id| id.starts_with("req_")),
            "{}",
            self.text
        );
        body["error"]["code"]
            .as_str()
            .expect("an error has a code")
            .to_owned()
    }
}

impl TestGateway {
    /// Starts with one plugin file.
    pub async fn with_plugin(name: &str, component: Vec<u8>) -> Self {
        Self::start(Options {
            plugins: vec![(name.to_owned(), component)],
            ..Options::default()
        })
        .await
    }

    /// Starts with one plugin that tests or the product ship, whose requests to `host` go to `url`.
    pub async fn with_upstream(plugin: &str, host: &str, url: impl std::fmt::Display) -> Self {
        Self::start(Options {
            plugins: vec![(
                format!("{plugin}.wasm"),
                built_plugin(plugin).expect("the plugin is built"),
            )],
            allow_upstream: vec![format!("{host}={url}")],
            ..Options::default()
        })
        .await
    }

    pub async fn start(options: Options) -> Self {
        Self::try_start(options).await.expect("the gateway starts")
    }

    pub async fn try_start(options: Options) -> anyhow::Result<Self> {
        let folders = tempfile::tempdir()?;
        let data_dir = options
            .data_dir
            .unwrap_or_else(|| folders.path().join("data"));
        let plugins_dir = options
            .plugins_dir
            .unwrap_or_else(|| folders.path().join("plugins"));
        std::fs::create_dir_all(&plugins_dir)?;
        for (name, bytes) in &options.plugins {
            std::fs::write(plugins_dir.join(name), bytes)?;
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let settings = Settings {
            listen: Some(address),
            public_url: Some(format!("http://{address}").parse()?),
            data_dir: Some(data_dir),
            plugins_dir: Some(plugins_dir),
            master_key_file: options.master_key_file,
            allow_large_plugins: Some(options.allow_large_plugins),
            guest_memory: options.guest_memory,
            database_url: options.database_url,
            database_connections: options.database_connections,
            allow_upstream: options.allow_upstream,
            model: options
                .model_url
                .as_ref()
                .map(|_| options.model.unwrap_or_else(|| "scripted".to_owned())),
            model_url: options.model_url.map(|url| url.parse()).transpose()?,
            model_key_file: options.model_key_file,
            model_seconds: options.model_seconds,
            mcp_allow_host: options.mcp_allow.0,
            mcp_allow_origin: options.mcp_allow.1,
            mcp_auth: options.mcp_auth,
            trusted_proxy: options.trusted_proxy,
            proxy_protocol: Some(options.proxy_protocol),
            // Tests read them there.
            metrics_public: Some(true),
            connections_max: options.connections_max,
            no_search_learning: Some(options.no_search_learning),
            no_repeat_guard: Some(options.no_repeat_guard),
            no_model: Some(options.no_model),
            mcp_refresh_seconds: Some(options.mcp_refresh_seconds.unwrap_or_default()),
            connections_per_client: options.connections_per_client,
            oidc_client_id: match &options.oidc_client {
                Some((id, _)) => Some(id.clone()),
                None => options
                    .oidc_issuer
                    .as_ref()
                    .map(|_| crate::issuer::CLIENT.to_owned()),
            },
            oidc_client_secret_file: options.oidc_client.map(|(_, secret)| secret),
            oidc_group_role: options.oidc_group_role,
            id_jag_issuer: options
                .id_jag_issuer
                .iter()
                .map(|url| url.parse())
                .collect::<Result<_, _>>()?,
            no_client_registration: Some(options.no_client_registration),
            no_client_documents: Some(options.no_client_documents),
            oidc_issuer: options.oidc_issuer.map(|url| url.parse()).transpose()?,
            ..Settings::default()
        };
        let config = settings.resolve(None)?;
        let gateway =
            Gateway::open(&config.gateway, options.clock.unwrap_or_else(Clock::system)).await?;
        let app = toolgate::cli::app(&gateway, &config, &format!("http://{address}"));
        let workers = CoreWorkers::open(listener, &app, &Inbound::open(&config.inbound))?;
        let key = new_key(&gateway, "test", Scope::ALL).await?;
        let started = Self {
            address,
            key,
            gateway,
            config,
            client: client(),
            _folders: folders,
            workers,
        };
        let files = options.plugins.len();
        started
            .wait(&format!("{files} files judged"), async || {
                let files_now = started
                    .gateway
                    .store()
                    .list_plugin_files()
                    .await
                    .expect("the store answers");
                files_now
                    .iter()
                    .filter(|file| is_final(file.state.into_str()))
                    .count()
                    >= files
            })
            .await;
        Ok(started)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn plugins_dir(&self) -> &Path {
        &self.config.gateway.plugins_dir
    }

    /// Puts a plugin file into the folder as a careful operator does: written whole, then renamed.
    pub fn drop_file(&self, name: &str, bytes: &[u8]) {
        let part = self.plugins_dir().join(format!("{name}.part"));
        std::fs::write(&part, bytes).expect("written");
        std::fs::rename(&part, self.plugins_dir().join(name)).expect("renamed");
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Some(&self.key), None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(&self.key), Some(body.to_string()))
            .await
    }

    /// What another person than the one with `key` says to a call that waits for them.
    pub async fn decide(&self, approval_id: &Value, decision: &str) -> Answer {
        let approver = new_key(
            &self.gateway,
            "approver",
            &[Scope::Approvals, Scope::UsersAny],
        );
        let approver = approver.await.expect("a key");
        self.decide_as(&approver, approval_id, decision).await
    }

    /// The same with this key.
    pub async fn decide_as(&self, approver: &str, approval_id: &Value, decision: &str) -> Answer {
        let id = approval_id.as_str().expect("the id of an approval");
        let body = serde_json::json!({ "decision": decision }).to_string();
        let path = format!("/v1/approvals/{id}");
        self.send(Method::POST, &path, Some(approver), Some(body))
            .await
    }

    /// Runs a tool and answers `data`.
    pub async fn execute(&self, tool: &str, arguments: Value) -> Value {
        let body = serde_json::json!({ "arguments": arguments });
        self.post(&format!("/v1/tools/{tool}/execute"), &body)
            .await
            .data()
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: Option<String>,
    ) -> Answer {
        let mut request = self.client.request(method, self.url(path));
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        Answer::read(request.send().await.expect("the gateway answers")).await
    }

    /// The state of a file of the plugins folder and its reason.
    pub async fn file_state(&self, name: &str) -> Option<(String, String)> {
        let files = self
            .gateway
            .store()
            .list_plugin_files()
            .await
            .expect("the store answers");
        let file = files.into_iter().find(|file| file.file_name == name)?;
        Some((file.state.to_string(), file.reason.unwrap_or_default()))
    }

    /// Waits until a file has reached a state and answers the reason.
    pub async fn wait_for_file(&self, name: &str, state: &str) -> String {
        self.wait(&format!("{name} to be {state}"), async || {
            self.file_state(name)
                .await
                .is_some_and(|(now, _)| now == state)
        })
        .await;
        self.file_state(name)
            .await
            .map(|(_, reason)| reason)
            .unwrap_or_default()
    }

    /// Waits until `holds`; a test that waits too long fails with what it waited for.
    pub async fn wait(&self, what: &str, holds: impl AsyncFn() -> bool) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        assert!(
            waited.is_ok(),
            "waited {} s in vain for {what}",
            PATIENCE.as_secs()
        );
    }

    /// Stops as an operator stops it.
    pub async fn stop(self) {
        self.workers.close();
        self.gateway.close(Duration::from_secs(5)).await;
    }
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        self.gateway.stopping().cancel();
    }
}

fn is_final(state: &str) -> bool {
    matches!(
        state,
        "active" | "quarantined" | "pending_approval" | "conflict"
    )
}

/// Whoever is at the command line, in the first workspace.
pub async fn operator(gateway: &Gateway) -> anyhow::Result<Caller> {
    let (store, now_ms) = (gateway.store(), gateway.clock().now_ms());
    let workspace = match store.first_workspace().await? {
        Some(workspace) => workspace,
        None => {
            store
                .create_workspace("default", Plan::Enterprise, None, now_ms)
                .await?
        }
    };
    Ok(Caller::operator(&workspace))
}

/// Sets values of a service for all workspaces, as `toolgate service configure` does.
pub async fn configure(
    gateway: &Gateway,
    service: &str,
    set: &[(String, String)],
) -> anyhow::Result<()> {
    let (store, now_ms) = (gateway.store(), gateway.clock().now_ms());
    let change = services::ChangeSettings {
        manifest: &plugins::manifest(store, service).await?,
        workspace_id: ALL_WORKSPACES,
        set,
        unset: &[],
    };
    services::configure(store, &operator(gateway).await?, change, now_ms).await?;
    Ok(())
}

/// Makes a key of the first workspace.
pub async fn new_key(gateway: &Gateway, name: &str, scopes: &[Scope]) -> anyhow::Result<String> {
    let workspace_id = operator(gateway).await?.workspace_id.to_string();
    key_of(gateway, &workspace_id, name, scopes).await
}

/// A key of this workspace for its default user.
pub async fn key_of(
    gateway: &Gateway,
    workspace_id: &str,
    name: &str,
    scopes: &[Scope],
) -> anyhow::Result<String> {
    let (store, now_ms) = (gateway.store(), gateway.clock().now_ms());
    let new = keys::NewKey {
        name: name.to_owned(),
        user: UserId::parse("default")?,
        scopes: scopes.to_vec(),
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let workspace = store.find_workspace(workspace_id).await?;
    let workspace = workspace.context("the workspace is not there")?;
    let created = keys::create(store, &Caller::operator(&workspace), new, now_ms).await?;
    Ok(created.key.expose().to_owned())
}

/// Another tenant: a key with every scope, and the workspace's id.
pub async fn new_tenant(gateway: &Gateway, name: &str) -> anyhow::Result<(String, String)> {
    let now_ms = gateway.clock().now_ms();
    let made = gateway
        .store()
        .create_workspace(name, Plan::Enterprise, None, now_ms)
        .await?;
    Ok((key_of(gateway, &made.id, name, Scope::ALL).await?, made.id))
}

/// A plugin of this repository as `make plugins` built it: one that ships, or one of tests/plugins.
pub fn built_plugin(service: &str) -> anyhow::Result<Vec<u8>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shipped = tests.join(format!("../plugins/dist/{service}.wasm"));
    let own = tests.join(format!("plugins/dist/{service}.wasm"));
    let path = if own.exists() { own } else { shipped };
    std::fs::read(&path)
        .with_context(|| format!("{} is missing: run `make plugins` first", path.display()))
}

/// An HTTP client that follows nothing.
pub fn client() -> reqwest::Client {
    // The gateway installs the same provider; whoever comes first wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .expect("a client without special wishes")
}
