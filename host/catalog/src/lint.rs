//! What makes a manifest acceptable: every reason to refuse it, and every advice to its author.
//!
//! [`lint`] is pure and bounded. An error keeps a plugin out; a warning only makes its tools
//! harder to find or to call. Each finding is a sentence that its reader can act on, with a JSON
//! Pointer into the manifest. Read [`auth`] for credentials, [`tools`] for tools, [`schema`] for
//! what an argument schema may contain.

mod auth;
mod defaults;
mod hooks;
mod parameters;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod tools;
mod triggers;
mod wire;

use serde::Serialize;

use super::hosts;
use super::manifest::{Capability, MANIFEST_VERSION, Manifest};
use super::parse::push_segment;
use super::reserved::is_reserved;

pub use schema::{ARGUMENTS_DEPTH_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, SCHEMA_SUBSCHEMAS_MAX};
pub use tools::{TOOL_NAME_CHARS_MAX, TOOLS_MAX};
pub use triggers::{TRIGGER_INTERVAL_S, TRIGGER_INTERVAL_S_MAX, TRIGGER_INTERVAL_S_MIN};

/// Longest service name, in characters.
pub const SERVICE_CHARS_MAX: usize = 40;
/// Most hosts of one manifest.
pub const HOSTS_MAX: usize = 100;
/// Most findings of each kind that are kept.
pub const FINDINGS_MAX: usize = 200;

/// One thing to correct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// JSON Pointer into the manifest.
    pub path: String,
    /// Name of the tool that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub message: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        f.write_str(&self.path)?;
        if let Some(tool) = &self.tool {
            write!(f, " ({tool})")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Everything found in one manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lint {
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
    /// Findings beyond [`FINDINGS_MAX`], not kept.
    pub omitted: usize,
    /// Patterns met so far in all schemas.
    #[serde(skip)]
    patterns: usize,
}

impl Lint {
    /// Whether the manifest may be used.
    pub fn accepted(&self) -> bool {
        self.errors.is_empty()
    }

    /// One line for a log or a quarantine reason: the first error and how many more there are.
    pub fn reason(&self) -> Option<String> {
        let first = self.errors.first()?;
        Some(match self.errors.len() - 1 {
            0 => first.to_string(),
            more => format!("{first} (and {more} more)"),
        })
    }

    fn error(&mut self, path: &ManifestPath<'_>, message: impl Into<String>) {
        push(&mut self.errors, &mut self.omitted, path, message.into());
    }

    fn warn(&mut self, path: &ManifestPath<'_>, message: impl Into<String>) {
        push(&mut self.warnings, &mut self.omitted, path, message.into());
    }
}

fn push(
    findings: &mut Vec<Finding>,
    omitted: &mut usize,
    path: &ManifestPath<'_>,
    message: String,
) {
    if findings.len() == FINDINGS_MAX {
        *omitted += 1;
    } else {
        findings.push(Finding {
            path: path.pointer(),
            tool: None,
            message: text::clip(&message),
        });
    }
}

/// A place in the manifest, written out as a JSON Pointer only when something is found there.
#[derive(Clone, Copy)]
enum ManifestPath<'a> {
    Root,
    Key(&'a ManifestPath<'a>, &'a str),
    Index(&'a ManifestPath<'a>, usize),
}

impl<'a> ManifestPath<'a> {
    fn key(&'a self, key: &'a str) -> ManifestPath<'a> {
        ManifestPath::Key(self, key)
    }

    fn index(&'a self, index: usize) -> ManifestPath<'a> {
        ManifestPath::Index(self, index)
    }

    fn pointer(&self) -> String {
        fn write(at: &ManifestPath<'_>, pointer: &mut String) {
            match at {
                ManifestPath::Root => {}
                ManifestPath::Key(parent, key) => {
                    write(parent, pointer);
                    push_segment(pointer, key);
                }
                ManifestPath::Index(parent, index) => {
                    write(parent, pointer);
                    push_segment(pointer, &index.to_string());
                }
            }
        }
        let mut pointer = String::new();
        write(self, &mut pointer);
        pointer
    }
}

/// Checks a manifest against every rule of this module.
pub fn lint(manifest: &Manifest) -> Lint {
    let mut found = Lint::default();
    text::nothing_hidden(manifest, &mut found);
    identity(manifest, &mut found);
    reach(manifest, &mut found);
    wire::check(manifest, &mut found);
    parameters::check(manifest, &mut found);
    auth::check(manifest, &mut found);
    limits(manifest, &mut found);
    hooks::check(manifest, &mut found);
    tools::check(manifest, &mut found);
    triggers::check(manifest, &mut found);
    for finding in found.errors.iter_mut().chain(&mut found.warnings) {
        finding.tool = tool_of(&finding.path, manifest);
    }
    found
}

/// The tool at or around a place, where it has a name that can be shown.
fn tool_of(path: &str, manifest: &Manifest) -> Option<String> {
    let index = path.strip_prefix("/tools/")?.split('/').next()?;
    let name = &manifest.tools.get(index.parse::<usize>().ok()?)?.name;
    (is_name(name) && name.len() <= TOOL_NAME_CHARS_MAX).then(|| name.clone())
}

/// Whether a name is `[a-z][a-z0-9_]*`, without double or trailing underscore.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && !name.ends_with('_')
        && !name.contains("__")
}

const NAME_RULE: &str = "start with a-z, go on with a-z, 0-9 and single `_`, and not end with `_`";

fn identity(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    if manifest.manifest != MANIFEST_VERSION {
        found.error(
            &root.key("manifest"),
            format!("this build reads manifest version {MANIFEST_VERSION}"),
        );
    }
    if !is_name(&manifest.service) || manifest.service.len() > SERVICE_CHARS_MAX {
        found.error(
            &root.key("service"),
            format!(
                "the service name `{}` must {NAME_RULE}, in at most {SERVICE_CHARS_MAX} characters",
                text::shown(&manifest.service)
            ),
        );
    }
    if is_reserved(&manifest.service) {
        found.error(
            &root.key("service"),
            format!(
                "the service name `{}` belongs to the gateway itself",
                text::shown(&manifest.service)
            ),
        );
    }
    if let Err(problem) = semver::Version::parse(&manifest.version) {
        found.error(
            &root.key("version"),
            format!(
                "`{}` is not a semantic version such as 1.4.0: {problem}",
                text::shown(&manifest.version)
            ),
        );
    }
    text::check(found, &root.key("title"), "title", &manifest.title, 1, 100);
    text::check(
        found,
        &root.key("description"),
        "description",
        &manifest.description,
        1,
        4_000,
    );
    if manifest.description.chars().count() < 20 {
        found.warn(
            &root.key("description"),
            "say in a sentence what the service is for; search and people read it",
        );
    }
    match manifest.homepage.as_deref() {
        None => found.warn(&root, "name the service's `homepage`"),
        Some(homepage) => {
            let good = url::Url::parse(homepage)
                .is_ok_and(|url| matches!(url.scheme(), "https" | "http") && url.has_host());
            if !good || homepage.len() > 500 {
                found.error(
                    &root.key("homepage"),
                    "the homepage must be an absolute http or https address of at most 500 bytes",
                );
            }
        }
    }
    if manifest.categories.len() > 10 {
        found.error(&root.key("categories"), "at most 10 categories");
    }
    let at = root.key("categories");
    for (i, category) in manifest.categories.iter().take(10).enumerate() {
        if !is_name(category) || category.len() > 40 {
            found.error(
                &at.index(i),
                format!("the category `{}` must {NAME_RULE}", text::shown(category)),
            );
        }
    }
}

fn reach(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let at = root.key("hosts");
    if manifest.hosts.len() > HOSTS_MAX {
        found.error(
            &at,
            format!(
                "{} hosts; at most {HOSTS_MAX} can be asked for",
                manifest.hosts.len()
            ),
        );
    }
    for (i, host) in manifest.hosts.iter().take(HOSTS_MAX).enumerate() {
        match hosts::check(host) {
            Err(problem) => found.error(&at.index(i), problem),
            Ok(names) => parameters::check_host_parameters(manifest, found, &at.index(i), &names),
        }
        if manifest.hosts[..i].contains(host) {
            found.error(&at.index(i), format!("`{host}` is listed twice"));
        }
    }
    let at = root.key("capabilities");
    for (i, capability) in manifest.capabilities.iter().enumerate() {
        if manifest.capabilities[..i].contains(capability) {
            found.error(
                &at.index(i),
                format!("`{}` is listed twice", capability.as_str()),
            );
            break;
        }
    }
    let goes_out = manifest
        .capabilities
        .iter()
        .any(|c| matches!(c, Capability::Egress | Capability::WasiHttp));
    let has_host = !manifest.hosts.is_empty() || manifest.config.iter().any(|key| key.adds_host);
    if goes_out && !has_host {
        found.warn(
            &at,
            "asks for `egress` but names neither `hosts` nor a `config` key that adds one: every request will be refused",
        );
    }
    if has_host && !goes_out {
        found.warn(
            &root.key("hosts"),
            "names hosts but not the capability `egress`: none of them can be reached",
        );
    }
}

fn limits(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let at = root.key("limits");
    let asked = [
        ("timeout_ms", manifest.limits.timeout_ms, 30_000),
        ("memory_mib", manifest.limits.memory_mib.map(u64::from), 256),
        (
            "response_mib",
            manifest.limits.response_mib.map(u64::from),
            16,
        ),
    ];
    for (key, value, default_max) in asked {
        match value {
            Some(0) => found.error(&at.key(key), format!("`{key}` must be at least 1")),
            Some(value) if value > default_max => found.warn(
                &at.key(key),
                format!("asks for {value}; a gateway gives at most {default_max} unless its operator raises that"),
            ),
            _ => {}
        }
    }
}
