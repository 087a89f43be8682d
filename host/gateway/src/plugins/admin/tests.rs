//! Which version of a plugin is called active.

use std::collections::BTreeMap;

use super::*;
use crate::dashboard::overview::Period;
use crate::plugins::{Probation, Snapshot};
use crate::testing::{NOW_MS, TestWorld};
use toolgate_catalog::fixture;
use toolgate_egress::Grant;
use toolgate_runtime::{Plugin, Size};
use toolgate_store::{ActivatePlugin, PluginFile, PluginState};

#[tokio::test]
async fn a_version_is_active_once_it_serves() {
    let world = TestWorld::open().await;
    let caller = world.member_caller(Role::Member).await;
    let manifest = fixture::plugins().remove(0).manifest;
    let service = manifest.service.as_str();
    let hashes = ["1", "2"].map(|digit| digit.repeat(64));
    let versions = [(&hashes[0], "1.0.0"), (&hashes[1], "2.0.0")];
    for (sha256, version) in versions {
        let activate = ActivatePlugin {
            service,
            file_name: "acme.wasm",
            sha256,
            version,
            approved: "{}",
            tool_names: &[],
            now_ms: NOW_MS,
        };
        world.store().activate_plugin(&activate).await.unwrap();
    }
    for (sha256, version) in versions {
        let plugin = ServingPlugin {
            code: Plugin::new(service, sha256, Size::Ordinary, Path::new("acme.wasm")),
            service: service.into(),
            version: version.into(),
            sha256: sha256.as_str().into(),
            manifest: manifest.clone(),
            grant: Arc::new(Grant::default()),
            probation: Probation::default(),
        };
        let serving = BTreeMap::from([(service.to_owned(), Arc::new(plugin))]);
        let snapshot = Snapshot::from_serving(serving);
        world.snapshot.store(Arc::new(snapshot));
        let told = world.plugin(&caller, service).await.unwrap();
        let active = told.versions.iter().filter(|version| version.active);
        let active: Vec<_> = active.map(|active| active.version.as_str()).collect();
        assert_eq!(active, [version]);
    }
}

#[tokio::test]
async fn only_members_of_the_workspace_that_runs_the_installation_see_names_of_files() {
    let world = TestWorld::open().await;
    let file = PluginFile {
        file_name: "acme-merger.wasm".to_owned(),
        sha256: None,
        service: None,
        state: PluginState::Quarantined,
        reason: Some("acme-merger.wasm is not a component".to_owned()),
        fingerprint: None,
        updated_at_ms: NOW_MS,
    };
    world.store().put_plugin_files(&[file]).await.unwrap();
    for (ours, sees) in [(true, true), (false, false)] {
        for role in [Role::Owner, Role::Admin, Role::Member] {
            let jwt = world.member(role, ours).await.jwt;
            let entered = world.authenticate_member(Some(jwt.expose()), "req_1".to_owned(), None);
            let caller = entered.await.unwrap().caller;
            let overview = world.plugin_overview(&caller).await.unwrap();
            let text = serde_json::to_string(&overview).unwrap();
            assert_eq!(text.contains("acme-merger"), sees, "{role:?}: {text}");
            let page = world.overview(&caller, Period::Day).await.unwrap();
            let text = serde_json::to_string(&page).unwrap();
            assert_eq!(text.contains("acme-merger"), sees, "{role:?}: {text}");
            let health = serde_json::to_string(&world.health().await).unwrap();
            assert!(!health.contains("acme-merger"), "{role:?}: {health}");
        }
    }
}
