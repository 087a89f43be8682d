//! From an OpenAPI description to a plugin.
//!
//! [`describe`] only reads files: a description becomes a [`Manifest`] and a
//! [`Table`] of operations. [`build`] bakes both into the interpreter component. Read
//! `docs/writing-an-openapi-plugin.md` for what a description may say, [`document`] for how it is
//! read, [`operation`] for how one operation becomes a tool, [`schema`] for argument schemas,
//! [`bake`] for the component. The same input gives the same bytes.

#![forbid(unsafe_code)]

pub mod arguments;
pub mod bake;
pub mod body;
mod compose;
pub mod document;
pub mod graphql;
mod html;
mod interpreter;
pub mod keys;
mod lines;
mod local_times;
pub mod names;
pub mod operation;
pub mod overlay;
pub mod problem;
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
    let docs = Documents::load(&input.description, |name, value| {
        swagger::check_version(name, &value)?;
        let mut value = if swagger::is_swagger(&value) {
            swagger::convert(value)
        } else {
            value
        };
        for (path, overlay) in overlays {
            value = overlay::apply(&path.display().to_string(), &overlay, value)?;
        }
        Ok(value)
    })?;
    compose::compose(&docs, input.service.as_deref())
}
