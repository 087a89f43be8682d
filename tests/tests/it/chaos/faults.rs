//! Each fault with its beginning and its end, and what has to hold again after it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use toolgate_tests::log_pipe::LogPipe;
use toolgate_tests::network::{Network, NetworkState};
use toolgate_tests::notes::{self, NotesGateways, READ};
use toolgate_tests::process::{Process, wait};

use super::schedule::{GatewayFault, OutsideFault, Step};
use crate::held_database::HeldDatabase;

/// What each piece of a connection to a slow database takes longer.
const SLOWER_BY: Duration = Duration::from_millis(30);

/// The gateways and what can be broken around them.
pub(super) struct World {
    pub(super) gateways: NotesGateways,
    /// Before the service.
    pub(super) service: Network,
    /// Before PostgreSQL; `None` with SQLite.
    pub(super) database: Option<Network>,
    /// Of each gateway.
    pub(super) logs: Vec<LogPipe>,
    /// Of the plugin that was put in last.
    pub(super) version: u32,
}

/// A fault around the gateways that has begun, with what ends it.
enum Begun {
    Network,
    Locked(HeldDatabase),
    Rotation(JoinHandle<Value>),
    Replaced,
}

impl World {
    /// Breaks two things, mends them after a while and waits until everything works again.
    pub(super) async fn take(&mut self, step: &Step) {
        tokio::time::sleep(step.after).await;
        let begun = self.begin_outside(step).await;
        let leaving = self.begin(step).await;
        tokio::time::sleep(step.lasts).await;
        self.end_outside(begun).await;
        self.end(step, leaving).await;
        self.recovered().await;
        self.gateways.check(step.gateway).await;
    }

    async fn begin_outside(&mut self, step: &Step) -> Begun {
        match step.outside {
            OutsideFault::ServiceGone => self.service.set(NetworkState::Gone),
            OutsideFault::ServiceSilent => self.service.set(NetworkState::Silent),
            OutsideFault::ServiceCut => self.service.set(NetworkState::Cut),
            OutsideFault::DatabaseSlow => self.set_database(NetworkState::Slow(SLOWER_BY)),
            OutsideFault::DatabaseSilent => self.set_database(NetworkState::Silent),
            OutsideFault::DatabaseGone => self.set_database(NetworkState::Gone),
            OutsideFault::DatabaseLocked => {
                let data = self.gateways.installations[step.gateway]
                    .folder
                    .join("data");
                return Begun::Locked(HeldDatabase::hold(&data).await);
            }
            OutsideFault::KeyRotated => {
                let installation = self.gateways.installations[step.gateway].clone();
                let rotation = async move { installation.run(&["vault", "rotate"]).await };
                return Begun::Rotation(tokio::spawn(rotation));
            }
            OutsideFault::PluginReplaced => {
                self.replace_plugin(step.gateway).await;
                return Begun::Replaced;
            }
        }
        Begun::Network
    }

    async fn end_outside(&self, begun: Begun) {
        match begun {
            Begun::Network => {
                self.service.set(NetworkState::Up);
                if self.database.is_some() {
                    self.set_database(NetworkState::Up);
                }
            }
            Begun::Locked(held) => held.release().await,
            Begun::Rotation(rotation) => {
                let rotated = rotation.await.unwrap();
                assert!(rotated["key_id"].is_string(), "{rotated}");
            }
            Begun::Replaced => {}
        }
    }

    fn set_database(&self, state: NetworkState) {
        let database = self.database.as_ref();
        database.expect("a network before PostgreSQL").set(state);
    }

    /// The new file appears whole in the folder.
    async fn replace_plugin(&mut self, n: usize) {
        self.version += 1;
        let plugin = notes::plugin(self.gateways.folder.path(), self.version).await;
        let file = self.gateways.installations[n]
            .folder
            .join("plugins/notes.wasm");
        let part = file.with_extension("part");
        std::fs::write(&part, plugin).unwrap();
        std::fs::rename(&part, &file).unwrap();
    }

    /// The process that has begun to end, if any.
    async fn begin(&mut self, step: &Step) -> Option<Process> {
        let n = step.gateway;
        match step.fault {
            GatewayFault::Killed => self.gateways.take(n).kill().await,
            GatewayFault::Terminated => {
                let process = self.gateways.take(n);
                process.signal("TERM").await;
                return Some(process);
            }
            GatewayFault::Frozen => self.gateways.process(n).signal("STOP").await,
            GatewayFault::LogUnread => self.logs[n].stop().await,
            GatewayFault::DiskFull => self.gateways.process(n).limit_files("0").await,
        }
        None
    }

    async fn end(&mut self, step: &Step, leaving: Option<Process>) {
        let n = step.gateway;
        match step.fault {
            GatewayFault::Killed => self.gateways.serve(n).await,
            GatewayFault::Terminated => {
                let process = leaving.expect("it was told to end");
                process.ended().await;
                self.gateways.serve(n).await;
            }
            GatewayFault::Frozen => self.gateways.process(n).signal("CONT").await,
            GatewayFault::LogUnread => self.logs[n].go_on(),
            GatewayFault::DiskFull => self.gateways.process(n).limit_files("unlimited").await,
        }
    }

    /// Every gateway serves the newest plugin and its calls run: then no receipt waits for the database either,
    /// because they are written in order.
    async fn recovered(&self) {
        let schema = format!("/v1/tools/{READ}/schema");
        let run = format!("/v1/tools/{READ}/execute");
        let version = notes::version_text(self.version);
        for n in 0..self.gateways.installations.len() {
            let process = self.gateways.process(n);
            wait("the gateway to be ready", async || {
                process.get("/readyz").await.status == 200
            })
            .await;
            wait("the gateway to serve the newest plugin", async || {
                let shown = process.get(&schema).await;
                shown.status == 200 && shown.text.contains(&version)
            })
            .await;
            wait("calls to run", async || {
                let ran = process.post(&run, &json!({ "arguments": {} })).await;
                ran.status == 200 && ran.data()["status"] == "success"
            })
            .await;
        }
    }
}
