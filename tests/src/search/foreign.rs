//! Catalogs of other people's tools, from published OpenAPI descriptions.
//!
//! Each file in `tests/search/foreign` lists the descriptions that make one catalog, then its judged
//! queries. An answer names a description and one of its operations:
//! `lyft.com.json#GetRideReceipt`, or `file.json#GET:/rides/{id}` if the operation has no id.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use toolgate_catalog::{Catalog, PluginTools};
use toolgate_openapi::{self as openapi, BuildInput};

use super::{HERE, JudgedCatalog, QuerySet, judged};
use crate::tools;

/// All catalogs, ordered by file name.
pub(super) fn judged_catalogs() -> anyhow::Result<Vec<JudgedCatalog>> {
    let folder = tools::installed("corpus/api", "corpus")?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(Path::new(HERE).join("search/foreign"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    names
        .iter()
        .map(|file| judged_catalog(&folder, file))
        .collect()
}

fn judged_catalog(folder: &Path, file: &str) -> anyhow::Result<JudgedCatalog> {
    let text = judged::read(&format!("foreign/{file}"))?;
    let mut plugins = Vec::new();
    let mut tools: HashMap<String, String> = HashMap::new();
    for description in text.lines().filter_map(|line| line.strip_prefix("& ")) {
        let path = folder.join(description);
        let mut input = BuildInput {
            description: path.clone(),
            overlays: Vec::new(),
            service: None,
        };
        let mut described = openapi::describe(&input)?;
        let taken = |plugin: &PluginTools| plugin.manifest.service == described.manifest.service;
        if plugins.iter().any(taken) {
            // Two descriptions of one vendor with the same title.
            let name = format!("{}_{}", described.manifest.service, plugins.len());
            input.service = Some(name);
            described = openapi::describe(&input)?;
        }
        let service = described.manifest.service.clone();
        let mut by_route: HashMap<String, Vec<(String, String)>> = HashMap::new();
        for (name, operation) in &described.table.operations {
            let operation = serde_json::to_value(operation)?;
            let tools = by_route.entry(route_of(&operation)).or_default();
            tools.push((format!("{service}_{name}"), operation.to_string()));
        }
        let document: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        for (route, id) in operations(&document) {
            let (bare, fixed) = split(&route);
            let alike = by_route.get(&anonymous(bare)).into_iter().flatten();
            // Some vendors tell operations of one path apart by a fixed value only.
            let mut alike = alike.filter(|(_, operation)| {
                fixed.is_none_or(|value| operation.contains(&format!("\"{value}\"")))
            });
            let (Some((tool, _)), None) = (alike.next(), alike.next()) else {
                continue;
            };
            for name in [Some(route), id].into_iter().flatten() {
                tools.insert(format!("{description}#{name}"), tool.clone());
            }
        }
        plugins.push(PluginTools {
            manifest: Arc::new(described.manifest),
            sha256: description.to_owned(),
        });
    }
    let queries = judged::parse(&text, |query, answer| {
        let tool = tools.get(answer);
        tool.cloned()
            .with_context(|| format!("{query:?}: there is no {answer}"))
    })
    .with_context(|| file.to_owned())?;
    ensure!(!queries.is_empty(), "{file} has no queries");
    let name = file.trim_end_matches(".txt").to_owned();
    Ok(JudgedCatalog {
        catalog: Catalog::build(plugins),
        sets: vec![QuerySet { name, queries }],
    })
}

/// Method and path of an operation of the built table, its parameters without names.
fn route_of(operation: &Value) -> String {
    let mut route = format!("{}:", operation["method"].as_str().unwrap_or_default());
    for piece in operation["path"].as_array().into_iter().flatten() {
        route.push_str(piece["text"].as_str().unwrap_or("{}"));
    }
    route
}

/// A route without what follows its path, and the value that this ends with.
fn split(route: &str) -> (&str, Option<&str>) {
    match route.split_once(['?', '#']) {
        Some((bare, rest)) => (bare, rest.rsplit_once('=').map(|(_, value)| value)),
        None => (route, None),
    }
}

/// A path with its parameters' names left out.
fn anonymous(route: &str) -> String {
    let mut text = String::new();
    let mut within = false;
    for c in route.chars() {
        match c {
            '{' => {
                within = true;
                text.push_str("{}");
            }
            '}' => within = false,
            _ if within => {}
            _ => text.push(c),
        }
    }
    text
}

/// Every operation of a description as `METHOD:path`, with its id.
fn operations(document: &Value) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let id = operation["operationId"].as_str().map(str::to_owned);
            all.push((format!("{}:{path}", method.to_ascii_uppercase()), id));
        }
    }
    all
}
