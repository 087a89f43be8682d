//! From a GraphQL schema to an OpenAPI document of its queries and mutations, and to a plugin.
//!
//! [`schema`] is what both sources give: [`introspection`], the answer of a server, and [`sdl`], a text in the schema
//! language. Each field of the query and mutation types becomes an [`operation`] with [`inputs`] as arguments and a
//! [`selection`] of what it returns. Everything after that is as for any description: the request, its effect and its
//! rights are in the manifest, and the interpreter sends the document as it is written there.

pub mod inputs;
pub mod introspection;
pub mod lexer;
pub mod operation;
pub mod schema;
pub mod sdl;
pub mod selection;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use url::{Position, Url};

use crate::document::{self, Documents};
use crate::problem::{NOTES_MAX, Notes, Problem, below};
use crate::servers::check_host;
use crate::{BuiltPlugin, Described, bake, compose, overlay, words};
use inputs::InputComponents;
use operation::OperationKind;
use schema::{GraphqlSchema, OutputField};
pub use selection::DEPTH_MAX;

/// Levels of objects that a selection has if none are chosen.
pub const DEPTH_DEFAULT: usize = 2;
/// Longest address, in bytes.
const ENDPOINT_BYTES_MAX: usize = 500;
/// Names of a list that a message shows.
const SHOWN_MAX: usize = 20;
/// Labels in front of a host that do not name the service.
const GENERIC_LABELS: [&str; 6] = ["api", "www", "graphql", "gql", "data", "gateway"];

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
#[derive(Clone, Debug, Default)]
pub struct GraphqlInput {
    /// What messages call the schema.
    pub name: String,
    /// The schema language, or the answer to an introspection query.
    pub text: String,
    /// Where requests go.
    pub endpoint: String,
    /// Service name in place of the derived one.
    pub service: Option<String>,
    /// Fields of the query and mutation types that become tools; all that are not deprecated if empty.
    pub only: BTreeSet<String>,
    /// Levels of objects that are asked for, at most [`DEPTH_MAX`].
    pub depth: usize,
    pub account: GraphqlAccount,
    /// The operator sets the address.
    pub private: bool,
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
    let mut described = compose::compose(&docs, input.service.as_deref())?;
    described.notes.splice(0..0, notes.0);
    described.notes.truncate(NOTES_MAX);
    Ok(described)
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
    let endpoint = endpoint(input)?;
    let title = title(&endpoint);
    let mut notes = Notes::default();
    let chosen = choose(schema, input, &mut notes)?;
    let mut components = InputComponents::default();
    let mut paths = Map::new();
    let address = &endpoint[Position::BeforePath..Position::AfterQuery];
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
    if schema.subscription.is_some() {
        notes.changed("", "subscriptions do not become tools");
    }
    let value = assembled(&endpoint, &title, input, paths, components);
    Ok((value, notes))
}

fn assembled(
    endpoint: &Url,
    title: &str,
    input: &GraphqlInput,
    paths: Map<String, Value>,
    components: InputComponents,
) -> Value {
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
    if is_setting(endpoint, input) {
        let title = format!(
            "Address of the GraphQL server, without `{}`",
            endpoint.path()
        );
        value["x-toolgate"] = json!({"api_base": {"title": title}});
    } else {
        value["servers"] = json!([{"url": endpoint.origin().ascii_serialization()}]);
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

/// The address of the server. Nothing secret may be in it: it becomes a part of the manifest.
fn endpoint(input: &GraphqlInput) -> Result<Url, Problem> {
    let refused = |message: &str| Problem::new(&input.name, "", message);
    if input.endpoint.is_empty() {
        return Err(refused(
            "a GraphQL schema does not say where its server is: name it with --endpoint URL",
        ));
    }
    let url = Url::parse(&input.endpoint).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| refused("the endpoint is not an http or https address"))?;
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
        && url.as_str().len() <= ENDPOINT_BYTES_MAX
        && !url.path().contains(['{', '}']);
    match is_plain {
        true => Ok(url),
        false => Err(refused(&format!(
            "the endpoint has no user, no query and no fragment, and at most {ENDPOINT_BYTES_MAX} bytes"
        ))),
    }
}

/// Whether the operator sets the address: the manifest holds only public hosts on the port of https.
fn is_setting(endpoint: &Url, input: &GraphqlInput) -> bool {
    let host = endpoint.host_str().unwrap_or_default();
    input.private
        || endpoint.scheme() != "https"
        || endpoint.port().is_some()
        || check_host(host).is_err()
}

/// A title from the host: `https://api.linear.app/graphql` is `Linear`.
fn title(endpoint: &Url) -> String {
    let Some(url::Host::Domain(host)) = endpoint.host() else {
        return "Service".to_owned();
    };
    let mut labels: Vec<&str> = host.split('.').collect();
    while labels.len() > 2 && GENERIC_LABELS.contains(&labels[0]) {
        labels.remove(0);
    }
    words::title(&words::snake(labels[0]))
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
