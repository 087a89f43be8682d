//! The shipped OAuth slots, and components made of them whose API is ours.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_openapi::{self as openapi, BuildInput};
use toolgate_tests::gateway::built_plugin;
use url::Url;

/// Slots of one component: a manifest has at most 20.
const SLOTS_OF_A_COMPONENT: usize = 16;
/// Value of every connection parameter.
pub(super) const PARAMETER: &str = "acme";

/// A slot with which users sign in at their provider.
#[derive(Clone, Debug)]
pub(super) struct ShippedSlot {
    /// The service; with the slot's name where a service has several.
    pub service: String,
    /// As shipped, but for the names of its parameters.
    pub slot: Slot,
    parameters: Vec<String>,
    /// The component that it is walked in.
    pub plugin: String,
}

impl ShippedSlot {
    pub(super) fn tool(&self) -> String {
        format!("{}_{}", self.plugin, self.service)
    }

    /// Where its API is.
    pub(super) fn host(&self) -> String {
        format!("{}.walked.io", self.service.replace('_', "-"))
    }

    /// Hosts to which the gateway itself sends requests.
    pub(super) fn token_hosts(&self) -> BTreeSet<String> {
        let slot = &self.slot;
        [&slot.token_url, &slot.refresh_url, &slot.revoke_url]
            .into_iter()
            .flatten()
            .map(|url| {
                let filled = self.parameters.iter().fold(url.clone(), |url, key| {
                    url.replace(&format!("{{{key}}}"), PARAMETER)
                });
                let url = Url::parse(&filled).expect("an address");
                url.host_str().expect("a host").to_owned()
            })
            .collect()
    }
}

fn manifests() -> Vec<Manifest> {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let mut names: Vec<String> = std::fs::read_dir(&plugins)
        .expect("plugins")
        .map(|entry| entry.expect("a folder").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut manifests = Vec::new();
    for name in names {
        let description = plugins.join(&name).join("openapi.yaml");
        if description.exists() {
            let input = BuildInput {
                description,
                overlays: Vec::new(),
                service: None,
            };
            let described = openapi::describe(&input);
            manifests.push(
                described
                    .unwrap_or_else(|why| panic!("{name}: {why}"))
                    .manifest,
            );
        } else if plugins.join(&name).join("src/lib.rs").exists() {
            let component = built_plugin(&name).expect("a built plugin");
            let read = toolgate_runtime::inspect::read(&component).expect("a component");
            manifests.push(read.manifest);
        }
    }
    manifests
}

/// Every slot with a sign-in, in the order of the services.
pub(super) fn slots() -> Vec<ShippedSlot> {
    let mut slots = Vec::new();
    for manifest in manifests() {
        let oauth = |slot: &&Slot| slot.kind == AuthKind::Oauth2;
        for (index, slot) in manifest.auth.iter().filter(oauth).enumerate() {
            let service = match index {
                0 => manifest.service.clone(),
                _ => format!("{}_{}", manifest.service, slot.slot),
            };
            slots.push(shipped(&manifest, slot, service));
        }
    }
    for (index, slot) in slots.iter_mut().enumerate() {
        slot.plugin = format!("walk{}", index / SLOTS_OF_A_COMPONENT);
    }
    slots
}

fn shipped(manifest: &Manifest, slot: &Slot, service: String) -> ShippedSlot {
    let mut text = serde_json::to_string(slot).expect("JSON");
    let mut parameters = Vec::new();
    for parameter in &manifest.parameters {
        let named = format!("{{{}}}", parameter.key);
        if text.contains(&named) {
            // Several services have a parameter of the same name.
            let own = format!("{service}_{}", parameter.key);
            text = text.replace(&named, &format!("{{{own}}}"));
            parameters.push(own);
        }
    }
    let mut slot: Slot = serde_json::from_str(&text).expect("a slot");
    slot.token_parameters = slot
        .token_parameters
        .into_iter()
        .map(|(key, pointer)| (format!("{service}_{key}"), pointer))
        .collect();
    slot.slot = service.clone();
    let mut shipped = ShippedSlot {
        service,
        slot,
        parameters,
        plugin: String::new(),
    };
    let host = shipped.host();
    shipped.slot.audience = vec![format!("https://{host}")];
    let account = json!({"request": format!("GET https://{host}/me"), "label": "/name"});
    shipped.slot.account = serde_json::from_value(account).expect("an account request");
    shipped
}

/// Files of components that serve all slots.
pub(super) async fn components(slots: &[ShippedSlot]) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::TempDir::new().expect("a folder");
    let mut files = Vec::new();
    for slots in slots.chunks(SLOTS_OF_A_COMPONENT) {
        let name = &slots[0].plugin;
        let description = folder.path().join(format!("{name}.json"));
        std::fs::write(&description, document(name, slots).to_string()).expect("written");
        let input = BuildInput {
            description,
            overlays: Vec::new(),
            service: None,
        };
        let built = openapi::build(&input).await;
        let built = built.unwrap_or_else(|why| panic!("{name}: {why:#}"));
        files.push((format!("{name}.wasm"), built.wasm));
    }
    files
}

fn document(name: &str, slots: &[ShippedSlot]) -> Value {
    let mut paths = Map::new();
    let mut schemes = Map::new();
    let mut parameters = Vec::new();
    for slot in slots {
        let service = &slot.service;
        let mut keys = serde_json::to_value(&slot.slot).expect("JSON");
        let object = keys.as_object_mut().expect("an object");
        object.remove("title");
        schemes.insert(
            service.clone(),
            json!({"type": "oauth2", "description": service, "flows": {}, "x-toolgate": keys}),
        );
        paths.insert(
            format!("/{service}"),
            json!({
                "servers": [{"url": format!("https://{}", slot.host())}],
                "get": {
                    "operationId": service, "summary": format!("Get {service}"),
                    "description": format!("Gets what {service} has."),
                    "x-toolgate": {"name": service, "effect": "read"},
                    "security": [{ service.as_str(): [] }],
                    "responses": {"200": {"description": "Good.", "content": {"application/json": {}}}},
                },
            }),
        );
        parameters.extend(
            slot.parameters
                .iter()
                .map(|key| json!({"key": key, "title": key, "pattern": "^[a-z0-9]+$"})),
        );
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": name, "version": "1.0.0", "description": "Shipped slots before an API of the tests."},
        "servers": [{"url": format!("https://{}", slots[0].host())}],
        "x-toolgate": {"service": name, "parameters": parameters},
        "paths": paths,
        "components": {"securitySchemes": schemes},
    })
}
