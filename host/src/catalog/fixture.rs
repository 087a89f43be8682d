//! A small catalog for tests: seven services, written by hand in `testdata/`.

use std::sync::Arc;

use super::{Catalog, Manifest, PluginTools};

pub(crate) const MANIFESTS: [&str; 7] = [
    include_str!("testdata/github.json"),
    include_str!("testdata/gmail.json"),
    include_str!("testdata/google_calendar.json"),
    include_str!("testdata/jira.json"),
    include_str!("testdata/notion.json"),
    include_str!("testdata/prometheus.json"),
    include_str!("testdata/slack.json"),
];

pub(crate) fn plugins() -> Vec<PluginTools> {
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

pub(crate) fn catalog() -> Catalog {
    Catalog::build(plugins())
}
