//! Which tools exist: manifests in, an immutable catalog out.
//!
//! Pure: no clock, no network, no database, no WebAssembly. [`Manifest::parse`] reads what a
//! stranger wrote, [`lint()`] decides whether it may be used, [`rights`] what it asks for and what
//! an upgrade changes about it. [`Catalog::build`] makes the tools of all active plugins one snapshot,
//! which is swapped whole.

#![forbid(unsafe_code)]

mod arguments;
pub mod compatibility;
pub mod cost;
pub mod described;
#[cfg(any(test, feature = "testing"))]
pub mod fixture;
mod hosts;
pub mod lint;
pub mod manifest;
#[cfg(test)]
mod manifest_schema;
pub mod mcp_calls;
pub mod overview;
mod parse;
pub mod queries;
pub mod reserved;
pub mod rights;
mod schema;
mod scope;
pub mod script_names;
pub mod stand_ins;
pub mod statements;
pub mod token_parameters;
pub mod token_requests;
mod tool;
pub mod typescript;
pub mod verbs;
pub mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use arguments::{
    ARGUMENTS_DEPTH_MAX, ARGUMENTS_VALUES_MAX, VIOLATIONS_MAX, Violation, is_valid, value_problem,
    write_integers,
};
pub use hosts::covers as host_covers;
pub use lint::{Finding, Lint, lint};
pub use manifest::Manifest;
pub use parse::{MANIFEST_BYTES_MAX, ManifestError};
pub use rights::{Difference, Rights, Upgrades};
pub use schema::Schema;
pub use scope::{SCOPE_BYTES_MAX, is_scope};
pub use tool::{CheckBudget, Misfit, Tool};

/// One active plugin: its accepted manifest and the SHA-256 of its file, hexadecimal.
#[derive(Clone, Debug)]
pub struct PluginTools {
    pub manifest: Arc<Manifest>,
    pub sha256: String,
}

/// All tools of all active plugins. Immutable; a change builds a new one.
pub struct Catalog {
    /// Sorted by name, without duplicates.
    tools: Vec<Arc<Tool>>,
    /// By service name.
    plugins: BTreeMap<String, PluginTools>,
}

impl Catalog {
    /// Builds the snapshot. Of two plugins with one service name the first wins; of two tools with
    /// one full name the one whose service sorts first. A loader refuses both beforehand.
    pub fn build(plugins: Vec<PluginTools>) -> Self {
        let mut by_service = BTreeMap::new();
        for plugin in plugins {
            by_service
                .entry(plugin.manifest.service.clone())
                .or_insert(plugin);
        }
        let mut tools: Vec<Arc<Tool>> = Vec::new();
        for plugin in by_service.values() {
            let sha256 = Arc::from(plugin.sha256.as_str());
            tools.extend(
                Tool::from_manifest(&plugin.manifest, &sha256)
                    .into_iter()
                    .map(Arc::new),
            );
        }
        // Stable: the service that sorts first keeps a name that two claim.
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|later, first| later.name == first.name);
        Self {
            tools,
            plugins: by_service,
        }
    }

    /// A tool by its full name.
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        let at = self
            .tools
            .binary_search_by(|tool| tool.name.as_str().cmp(name))
            .ok()?;
        Some(&self.tools[at])
    }

    /// All tools, sorted by name.
    pub fn tools(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// All service names, sorted.
    pub fn services(&self) -> impl ExactSizeIterator<Item = &str> {
        self.plugins.keys().map(String::as_str)
    }

    /// The active manifest of a service.
    pub fn manifest(&self, service: &str) -> Option<&Arc<Manifest>> {
        self.plugins.get(service).map(|plugin| &plugin.manifest)
    }
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog")
            .field("services", &self.plugins.len())
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::build(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Catalog, Manifest, PluginTools, fixture};

    fn plugin(service: &str, tool: &str) -> PluginTools {
        let manifest = json!({
            "manifest": 1, "service": service, "title": service, "version": "1.0.0", "description": "d",
            "tools": [{"name": tool, "description": format!("of {service}"), "effect": "read",
                       "input": {"type": "object", "required": ["b", "a"], "properties": {"b": {}, "a": {"type": "integer"}}}}]
        });
        let manifest = Manifest::parse(&manifest.to_string()).expect("it has its shape");
        PluginTools {
            manifest: Arc::new(manifest),
            sha256: format!("sha of {service}"),
        }
    }

    #[test]
    fn tools_and_services_are_sorted_and_found_by_name() {
        let catalog = fixture::catalog();
        assert!(catalog.tools().is_sorted_by(|a, b| a.name < b.name));
        assert!(catalog.services().is_sorted());
        assert_eq!(catalog.services().len(), 7);
        for tool in catalog.tools() {
            let found = catalog.get(&tool.name).expect("each tool is found");
            assert_eq!(
                found.name,
                format!("{}_{}", found.service(), found.action())
            );
        }
        assert!(catalog.get("github_create").is_none());
        assert!(catalog.get("").is_none());
        assert_eq!(
            catalog.manifest("slack").map(|m| m.version.as_str()),
            Some("2.0.1")
        );
        assert!(catalog.manifest("teams").is_none());
    }

    #[test]
    fn a_tool_carries_what_its_manifest_says() {
        let catalog = fixture::catalog();
        let tool = catalog.get("github_create_issue").expect("it exists");
        assert_eq!(tool.required, ["owner", "repo", "title"]);
        assert_eq!(
            (tool.auth_type(), tool.scopes()),
            ("oauth2", &["repo".to_owned()][..])
        );
        assert!(
            tool.input_schema
                .get()
                .starts_with(r#"{"type":"object","properties":{"owner":"#)
        );
        assert_eq!(tool.input_schema_bytes(), tool.input_schema.get().len());
        assert_eq!(
            tool.validate(&json!({"owner": "o", "repo": "r", "title": "t"})),
            []
        );
        assert_eq!(
            tool.validate(&json!({"owner": "o", "repo": "r"}))[0].path,
            "/title"
        );
        let open = catalog.get("prometheus_query").expect("it exists");
        assert_eq!(open.auth_type(), "none");
    }

    #[test]
    fn a_name_that_two_services_claim_has_one_owner() {
        let (first, second) = (
            plugin("google", "drive_list"),
            plugin("google_drive", "list"),
        );
        let catalog = Catalog::build(vec![second, first]);
        assert_eq!(catalog.tools().len(), 1);
        assert_eq!(
            catalog.get("google_drive_list").map(|t| t.service()),
            Some("google")
        );
        let twice = Catalog::build(vec![plugin("google", "a"), plugin("google", "b")]);
        assert!(twice.get("google_a").is_some() && twice.get("google_b").is_none());
    }

    #[test]
    fn a_tool_whose_schema_is_not_usable_accepts_no_arguments() {
        let mut broken = plugin("x", "y");
        Arc::make_mut(&mut broken.manifest).tools[0].input =
            super::Schema::from_value(&json!({"type": "nothing"}));
        let catalog = Catalog::build(vec![broken]);
        let tool = catalog.get("x_y").expect("it exists");
        assert!(tool.validate(&json!({}))[0].message.contains("not usable"));
    }
}
