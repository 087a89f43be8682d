//! From an OpenAPI description to a plugin.
//!
//! [`describe`] is pure but for reading files: a description becomes a [`Manifest`] and a
//! [`Table`] of operations. [`build`] bakes both into the interpreter component. Read
//! `docs/writing-an-openapi-plugin.md` for what a description may say, [`document`] for how it is
//! read, [`operation`] for how one operation becomes a tool, [`schema`] for argument schemas,
//! [`bake`] for the component. The same input gives the same bytes.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod arguments;
pub mod bake;
pub mod body;
pub mod document;
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

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgate_openapi_table::{Base, Table};

use document::{Documents, Node};
use keys::{DocumentKeys, OperationKeys};
use operation::{DraftTool, OperationContext, OperationLocation, OperationRefusal};
pub use problem::{Note, Problem};
use problem::{Notes, below};
use security::Security;
use servers::{ServerHosts, Servers};
use toolgate_catalog::manifest::{Capability, MANIFEST_VERSION, Manifest};
use toolgate_catalog::{Schema, wire};

/// Most operations that become tools without a choice.
pub const TOOLS_MAX: usize = 1_500;
/// Largest schema of one tool's arguments, in bytes: what search can still show inline.
const SCHEMA_BYTES_MAX: usize = 20_000;
/// All schemas of one manifest together, in bytes and in JSON values.
const SCHEMAS_BYTES_MAX: usize = 5 * 1024 * 1024;
const SCHEMAS_VALUES_MAX: usize = 350_000;
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

/// A description understood.
#[derive(Clone, Debug)]
pub struct Described {
    pub manifest: Manifest,
    /// The manifest as the component tells it and carries it.
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

/// Reads and understands a description.
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
    Compose {
        docs: &docs,
        notes: Notes::default(),
    }
    .compose(input.service.as_deref())
}

/// The headers and media types beyond those of every plugin that the operations send and read.
fn declared(keys: &DocumentKeys, drafts: &[DraftTool<'_>]) -> (Vec<String>, Vec<String>) {
    let mut sent: BTreeSet<String> = BTreeSet::new();
    let mut read: BTreeSet<String> = keys.response_types.iter().cloned().collect();
    for draft in drafts {
        let names = draft.operation.headers.iter();
        let names = names.map(|input| input.name.to_ascii_lowercase());
        sent.extend(names.filter(|name| wire::is_ever_sent(name) && !wire::may_send(None, name)));
        if draft.operation.download {
            // A file is of whatever type it was kept as.
            read.insert("*/*".to_owned());
        }
        let types = draft.answers.iter().filter(|media| !wire::is_text(media));
        read.extend(
            types
                .filter(|media| wire::check_type(media).is_ok())
                .cloned(),
        );
    }
    (sent.into_iter().collect(), read.into_iter().collect())
}

struct Compose<'d> {
    docs: &'d Documents,
    notes: Notes,
}

impl<'d> Compose<'d> {
    fn compose(mut self, service: Option<&str>) -> Result<Described, Problem> {
        let docs = self.docs;
        let root = docs.root();
        let keys: DocumentKeys = keys::read(docs.name(), "", root)?;
        let info = root.get("info");
        let text = |key: &str| info.and_then(|info| info.text(key)).unwrap_or_default();
        let title = words::clean(text("title"), 100);
        let title = if title.is_empty() {
            "Service".to_owned()
        } else {
            title
        };
        let service = match service.or(keys.service.as_deref()) {
            Some(name) => name.to_owned(),
            None => words::service(&title),
        };
        let named = service.starts_with(|c: char| c.is_ascii_lowercase())
            && service
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            && !service.ends_with('_')
            && !service.contains("__")
            && service.len() <= 40;
        if !named {
            return Err(Problem::new(
                docs.name(),
                "/x-toolgate/service",
                format!(
                    "`{}` is not a service name: a-z, 0-9 and single `_`, at most 40 characters, a letter first",
                    words::clean(&service, 60)
                ),
            ));
        }

        lines::note_doubled_keys(docs, &mut self.notes);
        let places = self.places(&keys)?;
        let operations = self.keyed(places)?;
        operation::note_missing_references(docs, &operations, &mut self.notes);
        if operations.len() > TOOLS_MAX {
            return Err(Problem::new(
                docs.name(),
                "/paths",
                format!(
                    "{} operations; at most {TOOLS_MAX} fit into one plugin: choose with `x-toolgate: {{ operations: [...] }}`, in the description or an overlay",
                    operations.len()
                ),
            ));
        }
        let (mut reach, bases) = self.bases(&keys, &title, &operations)?;
        for host in &keys.hosts {
            if !reach.hosts.contains(host) {
                reach.hosts.push(host.clone());
            }
        }
        reach.parameters.extend(keys.parameters.iter().cloned());
        let audience = {
            let mut own = reach.audience();
            own.retain(|origin| {
                !keys
                    .hosts
                    .iter()
                    .any(|host| *origin == format!("https://{host}"))
            });
            own
        };
        let mut security = Security::new(docs, audience, &title);
        let shared = OperationContext {
            docs,
            keys: &keys,
            service: &service,
            zoned: local_times::mentioned(root.value),
        };
        let mut drafts: Vec<DraftTool<'d>> = Vec::new();
        for ((place, own), base) in operations.iter().zip(bases) {
            match operation::draft(&shared, place, own, base, &mut security, &mut self.notes) {
                Ok(draft) => drafts.push(draft),
                Err(OperationRefusal::Problem(problem)) => return Err(problem),
                Err(OperationRefusal::Skip(why)) => self.notes.left_out(&place.pointer, why),
            }
        }
        if drafts.is_empty() {
            let why = self.notes.0.iter().find(|note| note.left_out);
            return Err(match why {
                Some(note) => Problem::new(
                    docs.name(),
                    &note.pointer,
                    format!("no operation can become a tool: {}", note.message),
                ),
                None => Problem::new(docs.name(), "/paths", "the description has no operation"),
            });
        }
        names::tell_apart(
            drafts.iter_mut().map(|draft| &mut draft.tool.name),
            &service,
        );
        self.schemas(&mut drafts);
        // After the other notes, of which there are at most a bound: an operation that is left out is said first.
        for draft in &mut drafts {
            if let Some(note) = draft.settle_effect() {
                self.notes.changed(&draft.pointer, note);
            }
        }

        let mut description = words::prose(text("description"), 600);
        if description.chars().count() < 20 {
            let summary = words::prose(text("summary"), 400);
            let made = if summary.is_empty() {
                format!("Tools of {title}, made from its OpenAPI description.")
            } else {
                summary
            };
            description = if description.is_empty() {
                made
            } else {
                format!("{description} {made}")
            };
        }
        let homepage = keys
            .homepage
            .clone()
            .or_else(|| {
                root.get("externalDocs")
                    .and_then(|docs| docs.text("url"))
                    .map(str::to_owned)
            })
            .or_else(|| {
                info.and_then(|info| info.get("contact"))
                    .and_then(|c| c.text("url"))
                    .map(str::to_owned)
            })
            .filter(|url| {
                url.len() <= 500
                    && url::Url::parse(url)
                        .is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
            });
        let (request_headers, response_types) = declared(&keys, &drafts);
        let mut table = Table::default();
        let mut tools = Vec::new();
        for draft in drafts {
            table
                .operations
                .insert(draft.tool.name.clone(), draft.operation);
            tools.push(draft.tool);
        }
        let mut auth = security.slots(&tools);
        if let Some(error) = &keys.error {
            for slot in auth.iter_mut().filter(|slot| slot.expired.is_empty()) {
                slot.expired.clone_from(&error.expired);
            }
        }
        // Nobody fills in what the token answer says.
        reach.parameters.retain(|parameter| {
            !auth
                .iter()
                .any(|slot| slot.token_parameters.contains_key(&parameter.key))
        });
        let manifest = Manifest {
            manifest: MANIFEST_VERSION,
            service,
            title,
            version: words::version(text("version")),
            description,
            homepage,
            categories: keys.categories.clone(),
            hosts: reach.hosts,
            request_headers,
            response_headers: keys.response_headers.clone(),
            response_types,
            capabilities: vec![Capability::Egress, Capability::Blobs],
            auth,
            parameters: reach.parameters,
            config: reach.config,
            limits: keys.limits.clone(),
            webhook: keys.webhook.clone(),
            tools,
        };
        let manifest_json = serde_json::to_string(&manifest).map_err(|error| {
            Problem::new(
                docs.name(),
                "",
                format!("the manifest cannot be written: {error}"),
            )
        })?;
        Ok(Described {
            manifest,
            manifest_json,
            table,
            notes: self.notes.0,
        })
    }

    /// Every operation of the description, in its order.
    fn places(&mut self, keys: &DocumentKeys) -> Result<Vec<OperationLocation<'d>>, Problem> {
        let docs = self.docs;
        let root = docs.root();
        if root
            .value
            .get("paths")
            .is_some_and(|paths| !paths.is_object())
        {
            return Err(Problem::new(
                docs.name(),
                "/paths",
                "write an object: each path with its operations",
            ));
        }
        let mut wanted: BTreeSet<&str> = keys.operations.iter().map(String::as_str).collect();
        let mut places = Vec::new();
        for (path, item) in root.members("paths") {
            if path.starts_with("x-") {
                continue;
            }
            let pointer = below("/paths", path);
            let item = match docs.resolve(item) {
                Ok(item) => item,
                Err(why) => {
                    self.notes.left_out(&pointer, why);
                    continue;
                }
            };
            for method in METHODS {
                let Some(node) = item.get(method).filter(|node| node.value.is_object()) else {
                    continue;
                };
                if !keys.operations.is_empty() {
                    let full = format!("{} {path}", method.to_uppercase());
                    let by_id = node.text("operationId").is_some_and(|id| wanted.remove(id));
                    if !by_id && !wanted.remove(full.as_str()) {
                        continue;
                    }
                }
                places.push(OperationLocation {
                    path,
                    method,
                    item,
                    node,
                    pointer: below(&pointer, method),
                });
            }
        }
        if let Some(missing) = wanted.first() {
            return Err(Problem::new(
                docs.name(),
                "/x-toolgate/operations",
                format!(
                    "`{}` is neither an operationId nor a `METHOD /path` of this description",
                    words::clean(missing, 100)
                ),
            ));
        }
        Ok(places)
    }

    fn keyed(
        &mut self,
        places: Vec<OperationLocation<'d>>,
    ) -> Result<Vec<(OperationLocation<'d>, OperationKeys)>, Problem> {
        let mut kept = Vec::new();
        for place in places {
            let own: OperationKeys = keys::read(self.docs.name(), &place.pointer, place.node)?;
            if !own.skip {
                kept.push((place, own));
            }
        }
        Ok(kept)
    }

    /// Where the requests of each operation go.
    fn bases(
        &mut self,
        keys: &DocumentKeys,
        title: &str,
        operations: &[(OperationLocation<'d>, OperationKeys)],
    ) -> Result<(ServerHosts, Vec<Base>), Problem> {
        let mut reach = ServerHosts::default();
        let servers = Servers {
            file: self.docs.name(),
            title,
        };
        let mut root: Option<Base> = None;
        let mut bases = Vec::new();
        for (place, _) in operations {
            let own: Vec<Node<'d>> = place.node.elements("servers").collect();
            let item: Vec<Node<'d>> = place.item.elements("servers").collect();
            let base = if let Some(own_address) = &keys.api_base {
                reach.own_address(&own_address.title)
            } else if !own.is_empty() {
                let at = below(&place.pointer, "servers");
                servers.base(&own, &at, &mut reach, &mut self.notes)?
            } else if !item.is_empty() {
                servers.base(&item, &place.pointer, &mut reach, &mut self.notes)?
            } else if let Some(base) = &root {
                base.clone()
            } else {
                let list: Vec<Node<'d>> = self.docs.root().elements("servers").collect();
                let base = servers.base(&list, "/servers", &mut reach, &mut self.notes)?;
                root.insert(base).clone()
            };
            bases.push(base);
        }
        Ok((reach, bases))
    }

    /// Writes the argument schemas within the manifest's bounds: every tool has an equal share.
    fn schemas(&mut self, drafts: &mut [DraftTool<'d>]) {
        let bytes = (SCHEMAS_BYTES_MAX / drafts.len()).min(SCHEMA_BYTES_MAX);
        let values = (SCHEMAS_VALUES_MAX / drafts.len()).min(4_000);
        for draft in drafts {
            let (schema, cut) = draft.arguments.schema(self.docs, bytes, values);
            if cut.recursive {
                self.notes.changed(
                    &draft.pointer,
                    "a recursive schema is described down to where it returns to itself",
                );
            }
            if cut.shortened {
                self.notes.changed(
                    &draft.pointer,
                    "the schema is large; its inner parts are not described",
                );
            }
            let mut schema = schema;
            draft.operation.names = schema::portable_arguments(&mut schema);
            for example in &mut draft.tool.examples {
                for (argument, names) in &draft.operation.names {
                    if let Some(value) = example.get_mut(argument) {
                        schema::translate(value, names);
                    }
                }
            }
            draft.tool.input = Schema::from_value(&schema);
        }
    }
}
