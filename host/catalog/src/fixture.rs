//! A small catalog for tests: seven services, written by hand in `testdata/`.

#![allow(
    clippy::unwrap_used,
    reason = "what a test catalog cannot read ends the test"
)]

use std::sync::Arc;

use super::{Catalog, Manifest, PluginTools};

pub const MANIFESTS: [&str; 7] = [
    include_str!("testdata/github.json"),
    include_str!("testdata/gmail.json"),
    include_str!("testdata/google_calendar.json"),
    include_str!("testdata/jira.json"),
    include_str!("testdata/notion.json"),
    include_str!("testdata/prometheus.json"),
    include_str!("testdata/slack.json"),
];

pub fn plugins() -> Vec<PluginTools> {
    let parsed = MANIFESTS
        .iter()
        .map(|json| Manifest::parse(json).expect("a fixture is a manifest"));
    parsed
        .map(|manifest| PluginTools {
            sha256: "ab".repeat(32),
            manifest: Arc::new(manifest),
        })
        .collect()
}

pub fn catalog() -> Catalog {
    Catalog::build(plugins())
}
