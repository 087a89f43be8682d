//! A gateway with one shipped plugin before a real server, and which of the plugin's tools have succeeded there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Mutex;

use serde_json::{Value, json};
use toolgate_gateway::plugins;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin, configure};

use super::server::RealServer;
use crate::connect::press;

/// A gateway whose calls of the plugin's tools are counted.
pub(super) struct ServiceGateway {
    gateway: TestGateway,
    service: String,
    succeeded: Mutex<BTreeSet<String>>,
}

impl Deref for ServiceGateway {
    type Target = TestGateway;

    fn deref(&self) -> &TestGateway {
        &self.gateway
    }
}

impl ServiceGateway {
    /// With the plugin, whose requests to these hosts go to the server.
    pub async fn in_place_of(service: &str, server: &RealServer, hosts: &[&str]) -> Self {
        let upstreams = hosts.iter().map(|host| format!("{host}={}", server.url));
        let gateway = TestGateway::start(Options {
            plugins: vec![(format!("{service}.wasm"), built_plugin(service).unwrap())],
            allow_upstream: upstreams.collect(),
            ..Options::default()
        })
        .await;
        Self {
            gateway,
            service: service.to_owned(),
            succeeded: Mutex::default(),
        }
    }

    /// With the plugin, whose address the operator has set.
    pub async fn at_address(service: &str, server: &RealServer, path: &str) -> Self {
        let gateway = Self::in_place_of(service, server, &[]).await;
        let set = [("api_base".to_owned(), format!("{}{path}", server.url))];
        configure(&gateway.gateway.gateway, service, &set)
            .await
            .unwrap();
        gateway
    }

    /// Submits the form of a connect link and answers status and text of the page that follows.
    pub async fn connect(&self, fields: &[(&str, &str)]) -> (u16, String) {
        let body = json!({ "service": self.service });
        let link = self.post("/v1/connections/link", &body).await.data();
        let page = press(self, link["connect_url"].as_str().unwrap(), fields).await;
        (page.status, page.text)
    }

    /// Fails unless each tool of the plugin has succeeded, or is here with the reason why it cannot on this server.
    pub async fn every_tool_succeeded(&self, reasons: &[(&str, &str)]) {
        let manifest = plugins::manifest(self.gateway.gateway.store(), &self.service);
        let manifest = manifest.await.unwrap();
        let shipped = manifest.tools.iter();
        let shipped = shipped.map(|tool| format!("{}_{}", self.service, tool.name));
        let reasons: BTreeMap<&str, &str> = reasons.iter().copied().collect();
        let succeeded = self.succeeded.lock().unwrap();
        let missing: BTreeSet<String> = shipped.filter(|tool| !succeeded.contains(tool)).collect();
        let explained = reasons.keys().map(|tool| (*tool).to_owned()).collect();
        assert_eq!(missing, explained, "tools of {}", self.service);
    }
}

/// Runs a tool, which succeeds, and answers everything that the gateway says of it.
pub(super) async fn answer(gateway: &ServiceGateway, tool: &str, arguments: Value) -> Value {
    let answer = gateway.execute(tool, arguments).await;
    assert_eq!(answer["status"], "success", "{tool}: {answer}");
    let mut succeeded = gateway.succeeded.lock().unwrap();
    succeeded.insert(tool.to_owned());
    answer
}

/// Runs a tool, which succeeds, and answers its result.
pub(super) async fn run(gateway: &ServiceGateway, tool: &str, arguments: Value) -> Value {
    answer(gateway, tool, arguments).await["result"].take()
}

/// Runs a tool that the server refuses and answers everything that the gateway says.
pub(super) async fn refused(gateway: &ServiceGateway, tool: &str, arguments: Value) -> String {
    let body = json!({ "arguments": arguments });
    let path = format!("/v1/tools/{tool}/execute");
    let answer = gateway.post(&path, &body).await;
    assert_ne!(
        answer.json()["data"]["status"],
        "success",
        "{tool}: {}",
        answer.text
    );
    answer.text
}
