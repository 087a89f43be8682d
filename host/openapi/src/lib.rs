//! From a description of an HTTP API to a plugin.
//!
//! [`formats`] finds out what kind a description is and makes OpenAPI of it; [`graphql`] does that with a schema. Everything
//! after that is about OpenAPI. [`describe`] only reads files: a description becomes a [`Manifest`] and a
//! [`Table`] of operations. [`build`] bakes both into the interpreter component. Read
//! `docs/writing-an-openapi-plugin.md` for what a description may say, [`document`] for how it is
//! read, [`operation`] for how one operation becomes a tool, [`schema`] for argument schemas,
//! [`bake`] for the component. The same input gives the same bytes.

#![forbid(unsafe_code)]

pub mod arguments;
pub mod bake;
pub mod body;
mod compose;
pub mod curl;
pub mod discovery;
pub mod document;
pub mod formats;
pub mod graphql;
pub mod har;
mod html;
mod interpreter;
pub mod keys;
mod lines;
mod local_times;
pub mod names;
pub mod newer;
pub mod operation;
pub mod overlay;
pub mod postman;
pub mod problem;
pub mod samples;
pub mod schema;
pub mod security;
pub mod servers;
pub mod swagger;
#[cfg(test)]
mod tests;
pub mod text;
pub mod words;

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgate_catalog::manifest::Manifest;
use toolgate_openapi_table::Table;

use document::Documents;
use problem::{NOTES_MAX, Notes};
pub use problem::{Note, Problem};

/// Most operations that become tools. A description with more has to choose.
pub const TOOLS_MAX: usize = 1_500;
/// Members of a path item that are operations.
const METHODS: &[&str] = &[
    "get", "head", "post", "put", "patch", "delete", "options", "trace",
];

/// What to build from.
#[derive(Clone, Debug, Default)]
pub struct BuildInput {
    pub description: PathBuf,
    pub overlays: Vec<PathBuf>,
    /// Service name in place of the derived one.
    pub service: Option<String>,
}

/// The plugin of a description, before it is baked into a component.
#[derive(Clone, Debug)]
pub struct Described {
    pub manifest: Manifest,
    /// The manifest as `describe` of the component returns it and its custom section contains it.
    pub manifest_json: String,
    pub table: Table,
    pub notes: Vec<Note>,
}

impl Described {
    /// Adds the notes of a conversion in front of the others.
    fn with_notes(mut self, notes: Notes) -> Self {
        self.notes.splice(0..0, notes.0);
        self.notes.truncate(NOTES_MAX);
        self
    }
}

/// A plugin file.
#[derive(Clone, Debug)]
pub struct BuiltPlugin {
    pub wasm: Vec<u8>,
    pub described: Described,
}

/// Builds the plugin of a description.
pub async fn build(input: &BuildInput) -> anyhow::Result<BuiltPlugin> {
    let described = describe(input)?;
    let wasm = bake::bake(&described).await?;
    Ok(BuiltPlugin { wasm, described })
}

/// Reads a description into a manifest and a table.
pub fn describe(input: &BuildInput) -> Result<Described, Problem> {
    let name = input.description.display().to_string();
    let made = document::with_stack(|| describe_here(input));
    let made = made.unwrap_or_else(|| Err(Problem::new(name, "", "could not be read to its end")));
    lines::located(&input.description, made)
}

fn describe_here(input: &BuildInput) -> Result<Described, Problem> {
    let overlays = input
        .overlays
        .iter()
        .map(|path| Ok((path.as_path(), document::read(path)?)));
    let overlays: Vec<(&Path, Value)> = overlays.collect::<Result<_, Problem>>()?;
    formats::refuse_file(&input.description)?;
    let mut notes = Notes::default();
    let docs = Documents::load(&input.description, |name, value| {
        let converted = formats::convert(name, value)?;
        notes = converted.notes;
        let mut value = converted.value;
        for (path, overlay) in overlays {
            value = overlay::apply(&path.display().to_string(), &overlay, value)?;
        }
        Ok(value)
    })?;
    let described = compose::compose(&docs, input.service.as_deref())?;
    Ok(described.with_notes(notes))
}
