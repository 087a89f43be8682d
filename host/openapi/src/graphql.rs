//! From a GraphQL schema to an OpenAPI document of its queries and mutations, and to a plugin.
//!
//! [`schema`] is what both sources give: [`introspection`], the answer of a server, and [`sdl`], a text in the schema
//! language. Each field of the query and mutation types becomes an [`operation`] with [`inputs`] as arguments and a
//! [`selection`] of what it returns. Everything after that is as for any description: the request, its effect and its
//! rights are in the manifest, and the interpreter sends the document as it is written there.

pub mod endpoint;
pub mod inputs;
pub mod introspection;
pub mod lexer;
pub mod operation;
pub mod schema;
pub mod sdl;
pub mod selection;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::document::{self, Documents};
use crate::problem::{Notes, Problem, below};
use crate::servers::API_BASE;
use crate::{BuiltPlugin, Described, bake, compose, overlay, words};
pub use endpoint::{EndpointProblem, GraphqlEndpoint};
use inputs::InputComponents;
use operation::OperationKind;
use schema::{GraphqlSchema, OutputField};
pub use selection::DEPTH_MAX;

/// Levels of objects that a selection has if none are chosen.
pub const DEPTH_DEFAULT: usize = 2;
/// Names of a list that a message shows.
const SHOWN_MAX: usize = 20;

/// How users are known to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GraphqlAccount {
    #[default]
    None,
    /// A token that each user enters, sent as `Authorization: Bearer`.
    Bearer,
    /// A key that each user enters, sent in this header.
    Header(String),
}

/// A schema, and what of it becomes a plugin.
#[derive(Clone, Debug)]
pub struct GraphqlInput {
    /// What messages call the schema.
    pub name: String,
    /// The schema language, or the answer to an introspection query.
    pub text: String,
    /// Where requests go.
    pub endpoint: GraphqlEndpoint,
    /// Service name in place of the derived one.
    pub service: Option<String>,
    /// Fields of the query and mutation types that become tools; all that are not deprecated if empty.
    pub only: BTreeSet<String>,
    /// Levels of objects that are asked for, at most [`DEPTH_MAX`].
    pub depth: usize,
    pub account: GraphqlAccount,
    pub overlays: Vec<PathBuf>,
}

/// Builds the plugin of a schema.
pub async fn build(input: &GraphqlInput) -> anyhow::Result<BuiltPlugin> {
    let described = describe(input)?;
    let wasm = bake::bake(&described).await?;
    Ok(BuiltPlugin { wasm, described })
}

/// Reads a schema into a manifest and a table.
pub fn describe(input: &GraphqlInput) -> Result<Described, Problem> {
    let made = document::with_stack(|| describe_here(input));
    made.unwrap_or_else(|| {
        let message = "could not be read to its end";
        Err(Problem::new(&input.name, "", message))
    })
}

fn describe_here(input: &GraphqlInput) -> Result<Described, Problem> {
    let schema = read(&input.name, &input.text)?;
    let (mut value, notes) = openapi_document(&schema, input)?;
    for path in &input.overlays {
        let overlay = document::read(path)?;
        value = overlay::apply(&path.display().to_string(), &overlay, value)?;
    }
    let docs = Documents::from_value(&input.name, value);
    let described = compose::compose(&docs, input.service.as_deref())?;
    Ok(described.with_notes(notes))
}

/// Reads a schema of either form.
pub fn read(name: &str, text: &str) -> Result<GraphqlSchema, Problem> {
    let refused = |at: &str, message: String| Problem::new(name, at, message);
    let schema = if sdl::is_schema_text(text) {
        sdl::read(text).map_err(|message| refused("", message))?
    } else {
        let value = document::parse(name, text)?;
        let Some((at, found)) = introspection::found(&value) else {
            return Err(refused(
                "",
                "is neither a text in GraphQL's schema language nor the answer to an introspection query".to_owned(),
            ));
        };
        introspection::read(found).map_err(|message| refused(at, message))?
    };
    match schema.query.is_some() || schema.mutation.is_some() {
        true => Ok(schema),
        false => Err(refused(
            "",
            "the schema has neither queries nor mutations".to_owned(),
        )),
    }
}

/// The OpenAPI document of a schema, and what a reader should know of it.
pub fn openapi_document(
    schema: &GraphqlSchema,
    input: &GraphqlInput,
) -> Result<(Value, Notes), Problem> {
    let mut notes = Notes::default();
    let chosen = choose(schema, input, &mut notes)?;
    let mut components = InputComponents::default();
    let mut paths = Map::new();
    let address = input.endpoint.path();
    let taken: BTreeSet<&str> = chosen
        .iter()
        .filter(|(kind, _)| *kind == OperationKind::Query)
        .map(|(_, field)| field.name.as_str())
        .collect();
    for (kind, field) in chosen {
        let doubled = kind == OperationKind::Mutation && taken.contains(field.name.as_str());
        let mark = if doubled { "mutation-" } else { "" };
        let path = format!("{address}#{mark}{}", field.name);
        let at = below(&below("/paths", &path), "post");
        let depth = input.depth.clamp(1, DEPTH_MAX);
        match operation::compose(schema, kind, field, depth, &mut components) {
            Ok(composed) => {
                for note in composed.notes {
                    notes.changed(&at, note);
                }
                paths.insert(path, json!({"post": composed.value}));
            }
            Err(why) => notes.left_out(&at, format!("`{}`: {why}", field.name)),
        }
    }
    for scalar in &components.opaque {
        let note = format!(
            "nothing is known of the scalar `{scalar}`; its values are sent as they are given"
        );
        notes.changed("", note);
    }
    if input.endpoint.is_setting() {
        let note = format!(
            "the operator sets the address: toolgate service configure SERVICE --set {API_BASE}={}",
            input.endpoint.origin()
        );
        notes.changed("", note);
    }
    if schema.subscription.is_some() {
        notes.changed("", "subscriptions do not become tools");
    }
    Ok((assembled(input, paths, components), notes))
}

fn assembled(
    input: &GraphqlInput,
    paths: Map<String, Value>,
    components: InputComponents,
) -> Value {
    let endpoint = &input.endpoint;
    let title = endpoint.title();
    let mut value = json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": "1.0.0",
            "description": format!("Reads and changes data of {title} by its GraphQL API."),
        },
        "paths": paths,
        "components": {"schemas": Map::from_iter(components.schemas)},
    });
    if endpoint.is_setting() {
        let title = format!(
            "Address of the GraphQL server, without `{}`",
            endpoint.path()
        );
        value["x-toolgate"] = json!({"api_base": {"title": title}});
    } else {
        value["servers"] = json!([{"url": endpoint.origin()}]);
    }
    let scheme = match &input.account {
        GraphqlAccount::None => None,
        GraphqlAccount::Bearer => Some(json!({"type": "http", "scheme": "bearer"})),
        GraphqlAccount::Header(name) => {
            Some(json!({"type": "apiKey", "in": "header", "name": name}))
        }
    };
    value["security"] = json!([]);
    if let Some(mut scheme) = scheme {
        scheme["description"] = json!(format!("{title} API token"));
        value["components"]["securitySchemes"] = json!({"token": scheme});
        value["security"] = json!([{"token": []}]);
    }
    value
}

/// The fields of the roots that become operations.
fn choose<'s>(
    schema: &'s GraphqlSchema,
    input: &GraphqlInput,
    notes: &mut Notes,
) -> Result<Vec<(OperationKind, &'s OutputField)>, Problem> {
    let roots = [
        (OperationKind::Query, schema.query.as_deref()),
        (OperationKind::Mutation, schema.mutation.as_deref()),
    ];
    let all: Vec<(OperationKind, &OutputField)> = roots
        .into_iter()
        .filter_map(|(kind, root)| Some((kind, schema.fields(root?))))
        .flat_map(|(kind, fields)| fields.iter().map(move |field| (kind, field)))
        .collect();
    let known = |name: &String| all.iter().any(|(_, field)| field.name == *name);
    if let Some(missing) = input.only.iter().find(|name| !known(name)) {
        let names = all.iter().map(|(_, field)| field.name.as_str());
        let names: Vec<&str> = names.take(SHOWN_MAX).collect();
        let message = format!(
            "`{}` is neither a query nor a mutation of this schema, which has {} and {} in all",
            words::clean(missing, 60),
            names.join(", "),
            all.len()
        );
        return Err(Problem::new(&input.name, "", message));
    }
    let mut chosen = Vec::new();
    let mut deprecated = 0_usize;
    for (kind, field) in all {
        let named = input.only.contains(&field.name);
        // `_service` and `_entities` are of gateways that join schemas.
        let usual = input.only.is_empty() && !field.name.starts_with('_');
        deprecated += usize::from(usual && field.deprecated);
        if named || (usual && !field.deprecated) {
            chosen.push((kind, field));
        }
    }
    if deprecated > 0 {
        let message =
            format!("{deprecated} deprecated queries and mutations are left out; --only takes one");
        notes.changed("", message);
    }
    Ok(chosen)
}
