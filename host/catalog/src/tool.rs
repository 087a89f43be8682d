//! One tool of the catalog, ready to be shown, checked and called.

mod fit;

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Schema;
use super::arguments::{self, Violation};
use super::cost::SchemaCost;
use super::manifest::{Effect, Manifest, Slot, ToolSpec};
pub use fit::{CheckBudget, Misfit};
use toolgate_core::text::Text;

/// A tool of one version of one plugin. Shared; what it knows comes from the manifest it holds.
pub struct Tool {
    /// `<service>_<action>`.
    pub name: Text,
    /// What arguments are checked against, as compact JSON: the author's schema in the author's
    /// order of keys, and for a paginated tool the argument `cursor`.
    pub input_schema: Arc<RawValue>,
    pub output_schema: Option<Arc<RawValue>>,
    /// Names of required arguments, in the schema's order.
    pub required: Vec<String>,
    manifest: Arc<Manifest>,
    /// Place in the manifest's `tools`.
    index: usize,
    sha256: Arc<str>,
    /// Made at the first call, since most tools are never called; `None` when the schema cannot be
    /// compiled.
    check: OnceLock<Option<ArgumentValidator>>,
}

/// A schema ready to check arguments.
struct ArgumentValidator {
    schema: Value,
    validator: Validator,
    /// Absent: every check is cheap.
    cost: Option<SchemaCost>,
}

impl ArgumentValidator {
    fn from_schema(schema: &RawValue) -> Option<Self> {
        let schema: Value = serde_json::from_str(schema.get()).ok()?;
        let validator = arguments::compile(&schema).ok()?;
        let cost = SchemaCost::measure(&schema);
        Some(Self {
            schema,
            validator,
            cost,
        })
    }
}

impl Tool {
    /// The tools of a plugin, in the manifest's order. `sha256` is the plugin file's, hexadecimal.
    pub fn from_manifest(manifest: &Arc<Manifest>, sha256: &Arc<str>) -> Vec<Self> {
        let tools = manifest.tools.iter().enumerate();
        tools
            .map(|(index, spec)| Self {
                name: format!("{}_{}", manifest.service, spec.name).into(),
                input_schema: arguments_of(spec),
                output_schema: spec.output.as_ref().map(|output| output.text().clone()),
                required: spec.input.required().map(str::to_owned).collect(),
                manifest: Arc::clone(manifest),
                index,
                sha256: Arc::clone(sha256),
                check: OnceLock::new(),
            })
            .collect()
    }

    /// What the manifest says about the tool: description, effect, slots, scopes, examples.
    pub fn spec(&self) -> &ToolSpec {
        &self.manifest.tools[self.index]
    }

    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    pub fn service(&self) -> &str {
        &self.manifest.service
    }

    /// Name without the service prefix, as the plugin knows it.
    pub fn action(&self) -> &str {
        &self.spec().name
    }

    /// What a sentence model reads of the tool: service, action, description and keywords.
    fn embedding_text(&self) -> String {
        let action = self.action().replace('_', " ");
        let service = self.service().replace('_', " ");
        let mut text = format!("{service} {action}: {}", self.description());
        for (place, keyword) in self.spec().keywords.iter().enumerate() {
            text.push_str(if place == 0 { " " } else { ", " });
            text.push_str(keyword);
        }
        text
    }

    /// What a sentence model reads of the tool, one by one: its whole text, its title, and the requests that its
    /// author names.
    pub fn embedding_texts(&self) -> Vec<String> {
        let mut texts = vec![self.embedding_text(), self.short_text()];
        texts.extend(self.spec().requests.iter().cloned());
        texts
    }

    /// What the tool does, in a few words: its title, or its action where it has none.
    fn short_text(&self) -> String {
        let title = self.spec().title.clone();
        title.unwrap_or_else(|| self.action().replace('_', " "))
    }

    pub fn description(&self) -> &str {
        &self.spec().description
    }

    /// Version of the integration.
    pub fn version(&self) -> &str {
        &self.manifest.version
    }

    /// SHA-256 of the plugin file, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    pub fn effect(&self) -> Effect {
        self.spec().effect
    }

    pub fn idempotent(&self) -> bool {
        self.spec().idempotent
    }

    /// Length of [`Tool::input_schema`] in UTF-8 bytes.
    pub fn input_schema_bytes(&self) -> usize {
        self.input_schema.get().len()
    }

    /// The slots it can run with, best first; empty when it needs none.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        let slots = self.spec().auth.iter();
        slots.filter_map(|name| self.manifest.auth.iter().find(|slot| slot.slot == *name))
    }

    /// Takes the page to continue from out of arguments that fit, for a paginated tool.
    pub fn take_cursor(&self, arguments: &mut Value) -> Option<String> {
        let spec = self.spec();
        if !spec.paginated {
            return None;
        }
        let own = spec.input.properties().any(|name| name == "cursor");
        let arguments = arguments.as_object_mut()?;
        let cursor = if own {
            arguments.get("cursor").cloned()
        } else {
            arguments.remove("cursor")
        };
        cursor?.as_str().map(str::to_owned)
    }

    pub fn scopes(&self) -> &[String] {
        &self.spec().scopes
    }

    /// `oauth2`, `api_key`, ... of the best slot, or `none`.
    pub fn auth_type(&self) -> &'static str {
        self.slots()
            .next()
            .map_or("none", |slot| slot.kind.as_str())
    }

    fn validator(&self) -> Option<&ArgumentValidator> {
        let check = self
            .check
            .get_or_init(|| ArgumentValidator::from_schema(&self.input_schema));
        check.as_ref()
    }

    fn costs_at_most(&self, arguments: &Value, units: u64) -> bool {
        let cost = self.validator().and_then(|check| check.cost.as_ref());
        cost.is_none_or(|cost| cost.is_within(arguments, units))
    }

    /// Every violation of the input schema, none when the arguments fit.
    pub fn validate(&self, arguments: &Value) -> Vec<Violation> {
        match self.validator() {
            Some(check) => arguments::violations(&check.validator, &check.schema, arguments),
            None => vec![Violation {
                path: String::new(),
                message: "cannot be checked: the tool's input schema is not usable".to_owned(),
            }],
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.name)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

/// The page to continue from travels as the argument `cursor`, the one way that every client has.
/// A schema that names it already is left as it is.
fn arguments_of(spec: &ToolSpec) -> Arc<RawValue> {
    if !spec.paginated || spec.input.properties().any(|name| name == "cursor") {
        return spec.input.text().clone();
    }
    let mut schema = spec.input.value();
    if let Some(schema) = schema.as_object_mut()
        && let Some(properties) = schema
            .entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()))
            .as_object_mut()
    {
        properties.insert(
            "cursor".to_owned(),
            serde_json::json!({
                "type": "string",
                "description": "Page to continue from: `next_cursor` of the page before. Omit it for the first page.",
            }),
        );
    }
    Schema::from_value(&schema).text().clone()
}
