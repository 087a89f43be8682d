//! Three gateways that share a PostgreSQL and nothing else, behind a round robin that knows no sessions.

mod clients;
mod keys;
mod plugins;
mod protocol_sessions;
mod rolling;

use std::path::PathBuf;

use tempfile::TempDir;
use toolgate_tests::balancer::Balancer;
use toolgate_tests::patroni::Patroni;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};

/// What the balancer needs to notice that a gateway stops.
const DRAIN_DELAY_S: &str = "2";

struct Replicas {
    database_url: String,
    balancer: Balancer,
    installations: Vec<Installation>,
    processes: Vec<Process>,
    key: String,
    _folder: TempDir,
    /// Ends after the gateways.
    _cluster: Option<Patroni>,
}

impl Replicas {
    /// Starts them with the same plugin files in the folder of each, and waits until each has these tools.
    async fn start(plugins: &[(&str, Vec<u8>)], tools: &[&str]) -> Self {
        Self::start_with(plugins, tools, &[]).await
    }

    async fn start_with(
        plugins: &[(&str, Vec<u8>)],
        tools: &[&str],
        allow_upstream: &[String],
    ) -> Self {
        let url = tokio::task::spawn_blocking(postgres::fresh_url)
            .await
            .unwrap();
        Self::start_on(url, plugins, tools, allow_upstream).await
    }

    /// Like [`Replicas::start`], on PostgreSQL with a primary and a standby under Patroni.
    async fn start_under_patroni(plugins: &[(&str, Vec<u8>)], tools: &[&str]) -> Self {
        let cluster = Patroni::start().await;
        let replicas = Self::start_on(cluster.url.clone(), plugins, tools, &[]).await;
        Self {
            _cluster: Some(cluster),
            ..replicas
        }
    }

    async fn start_on(
        url: String,
        plugins: &[(&str, Vec<u8>)],
        tools: &[&str],
        allow_upstream: &[String],
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let mut installations: Vec<Installation> = ["one", "two", "three"]
            .map(|name| {
                let mut installation = Installation::new(&folder.path().join(name), &[]);
                for (file, bytes) in plugins {
                    std::fs::write(installation.folder.join("plugins").join(file), bytes).unwrap();
                }
                installation.database_url = Some(url.clone());
                installation.master_key_file = Some(folder.path().join("master.key"));
                installation.allow_upstream = allow_upstream.to_vec();
                installation
            })
            .into();
        let ports = [0, 1, 2].map(|n: usize| installations[n].port);
        let balancer = Balancer::start(ports).await;
        for installation in &mut installations {
            let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
            installation.environment = vec![
                set("TOOLGATE_PUBLIC_URL", &balancer.base),
                set("TOOLGATE_DRAIN_DELAY", DRAIN_DELAY_S),
                set("TOOLGATE_LOG", "info"),
            ];
        }
        let mut processes = vec![installations[0].serve(tools).await];
        let key = processes[0].key.clone();
        for installation in &installations[1..] {
            // Keys are shown once; the others know them from the database.
            std::fs::write(installation.folder.join("key"), &key).unwrap();
            processes.push(installation.serve(tools).await);
        }
        let replicas = Self {
            database_url: url,
            balancer,
            installations,
            processes,
            key,
            _folder: folder,
            _cluster: None,
        };
        for process in &replicas.processes {
            wait("each gateway to be ready", async || {
                process.get("/readyz").await.status == 200
            })
            .await;
        }
        replicas
    }

    /// A file of one gateway's plugins folder.
    fn plugin_file(&self, n: usize, name: &str) -> PathBuf {
        self.installations[n].folder.join("plugins").join(name)
    }

    /// A client that opens a connection for each request, so that the balancer chooses anew.
    fn client() -> reqwest::Client {
        reqwest::Client::builder()
            .pool_max_idle_per_host(0)
            .no_proxy()
            .build()
            .unwrap()
    }
}
