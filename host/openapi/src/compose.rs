//! From the documents of a description to its manifest and its table of operations.

mod operations;
mod service;

use std::collections::BTreeSet;

use toolgate_catalog::manifest::{Capability, MANIFEST_VERSION, Manifest};
use toolgate_catalog::{Schema, wire};
use toolgate_openapi_table::{Base, Table};

use crate::Described;
use crate::document::Documents;
use crate::keys::{self, DocumentKeys};
use crate::operation::{self, DraftTool, OperationContext, OperationRefusal};
use crate::problem::{Notes, Problem};
use crate::security::Security;
use crate::servers::ServerHosts;
use crate::{lines, local_times, names, schema};
use operations::ChosenOperation;
use service::ServiceTexts;

/// Largest schema of one tool's arguments, in bytes: what search can still show inline.
const SCHEMA_BYTES_MAX: usize = 20_000;
/// JSON values of one tool's schema.
const SCHEMA_VALUES_MAX: usize = 4_000;
/// All schemas of one manifest together, in bytes and in JSON values.
const SCHEMAS_BYTES_MAX: usize = 5 * 1024 * 1024;
const SCHEMAS_VALUES_MAX: usize = 350_000;

/// Composes the plugin of a description. `service` is the service name in place of the description's own.
pub(super) fn compose(docs: &Documents, service: Option<&str>) -> Result<Described, Problem> {
    let keys: DocumentKeys = keys::read(docs.name(), "", docs.root())?;
    let composition = Composition {
        docs,
        service: ServiceTexts::read(docs, &keys, service)?,
        keys,
        notes: Notes::default(),
    };
    composition.described()
}

/// The state of one build after the document itself was read.
struct Composition<'d> {
    docs: &'d Documents,
    /// The document's `x-toolgate`.
    keys: DocumentKeys,
    service: ServiceTexts,
    notes: Notes,
}

impl<'d> Composition<'d> {
    fn described(mut self) -> Result<Described, Problem> {
        lines::note_doubled_keys(self.docs, &mut self.notes);
        let operations = operations::choose(self.docs, &self.keys, &mut self.notes)?;
        let title = &self.service.title;
        let (mut reach, bases) =
            operations::bases(self.docs, &self.keys, title, &operations, &mut self.notes)?;
        self.add_declared(&mut reach);
        let mut security = Security::new(self.docs, self.audience(&reach), &self.service.title);
        let mut drafts = self.drafts(&operations, bases, &mut security)?;
        names::tell_apart(
            drafts.iter_mut().map(|draft| &mut draft.tool.name),
            &self.service.name,
        );
        self.write_schemas(&mut drafts);
        self.settle_effects(&mut drafts);
        self.finish(drafts, reach, security)
    }

    /// Adds the hosts and parameters that `x-toolgate` declares to those of the servers.
    fn add_declared(&self, reach: &mut ServerHosts) {
        for host in &self.keys.hosts {
            if !reach.hosts.contains(host) {
                reach.hosts.push(host.clone());
            }
        }
        reach
            .parameters
            .extend(self.keys.parameters.iter().cloned());
    }

    /// Origins that may receive a credential: not those that only `x-toolgate` names.
    fn audience(&self, reach: &ServerHosts) -> Vec<String> {
        let mut origins = reach.audience();
        let declared = self.keys.hosts.iter();
        let declared: BTreeSet<String> = declared.map(|host| format!("https://{host}")).collect();
        origins.retain(|origin| !declared.contains(origin));
        origins
    }

    /// One draft for each operation that can become a tool; a description without one is refused.
    fn drafts(
        &mut self,
        operations: &[ChosenOperation<'d>],
        bases: Vec<Base>,
        security: &mut Security<'d>,
    ) -> Result<Vec<DraftTool<'d>>, Problem> {
        let docs = self.docs;
        let shared = OperationContext {
            docs,
            keys: &self.keys,
            service: &self.service.name,
            zoned: local_times::mentioned(docs.root().value),
        };
        let notes = &mut self.notes;
        let mut drafts: Vec<DraftTool<'d>> = Vec::new();
        for ((place, own), base) in operations.iter().zip(bases) {
            match operation::draft(&shared, place, own, base, security, notes) {
                Ok(draft) => drafts.push(draft),
                Err(OperationRefusal::Problem(problem)) => return Err(problem),
                Err(OperationRefusal::Skip(why)) => notes.left_out(&place.pointer, why),
            }
        }
        if !drafts.is_empty() {
            return Ok(drafts);
        }
        Err(match notes.0.iter().find(|note| note.left_out) {
            Some(note) => Problem::new(
                docs.name(),
                &note.pointer,
                format!("no operation can become a tool: {}", note.message),
            ),
            None => Problem::new(docs.name(), "/paths", "the description has no operation"),
        })
    }

    /// Writes the argument schemas within the manifest's bounds: every tool has an equal share.
    fn write_schemas(&mut self, drafts: &mut [DraftTool<'d>]) {
        let bytes = (SCHEMAS_BYTES_MAX / drafts.len()).min(SCHEMA_BYTES_MAX);
        let values = (SCHEMAS_VALUES_MAX / drafts.len()).min(SCHEMA_VALUES_MAX);
        for draft in drafts {
            let (mut schema, cut) = draft.arguments.schema(self.docs, bytes, values);
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

    /// Comes after the other notes, because notes are bounded and an operation that is left out is noted first.
    fn settle_effects(&mut self, drafts: &mut [DraftTool<'d>]) {
        for draft in drafts {
            if let Some(note) = draft.settle_effect() {
                self.notes.changed(&draft.pointer, note);
            }
        }
    }

    fn finish(
        self,
        drafts: Vec<DraftTool<'d>>,
        mut reach: ServerHosts,
        security: Security<'d>,
    ) -> Result<Described, Problem> {
        let (request_headers, response_types) = declared_types(&self.keys, &drafts);
        let response_headers = declared_answer_headers(&self.keys, &drafts);
        let mut table = Table::default();
        let mut tools = Vec::new();
        for draft in drafts {
            table
                .operations
                .insert(draft.tool.name.clone(), draft.operation);
            tools.push(draft.tool);
        }
        let mut auth = security.slots(&tools);
        if let Some(error) = &self.keys.error {
            for slot in auth.iter_mut().filter(|slot| slot.expired.is_empty()) {
                slot.expired.clone_from(&error.expired);
            }
        }
        // A user does not fill in what the token response contains.
        reach.parameters.retain(|parameter| {
            !auth
                .iter()
                .any(|slot| slot.token_parameters.contains_key(&parameter.key))
        });
        let (keys, service) = (self.keys, self.service);
        let manifest = Manifest {
            manifest: MANIFEST_VERSION,
            service: service.name,
            title: service.title,
            version: service.version,
            description: service.description,
            homepage: service.homepage,
            categories: keys.categories,
            hosts: reach.hosts,
            request_headers,
            response_headers,
            response_types,
            capabilities: vec![Capability::Egress, Capability::Blobs],
            auth,
            parameters: reach.parameters,
            config: reach.config,
            limits: keys.limits,
            webhook: keys.webhook,
            tools,
        };
        let manifest_json = serde_json::to_string(&manifest).map_err(|error| {
            let message = format!("the manifest cannot be written: {error}");
            Problem::new(self.docs.name(), "", message)
        })?;
        Ok(Described {
            manifest,
            manifest_json,
            table,
            notes: self.notes.0,
        })
    }
}

/// The response headers beyond those of every plugin that the document and its operations read.
fn declared_answer_headers(keys: &DocumentKeys, drafts: &[DraftTool<'_>]) -> Vec<String> {
    let mut read: BTreeSet<String> = keys.response_headers.iter().cloned().collect();
    let named = drafts
        .iter()
        .flat_map(|draft| draft.operation.answer_headers.values())
        .map(|name| name.to_ascii_lowercase());
    read.extend(named.filter(|name| wire::is_ever_read(name) && !wire::may_read(None, name)));
    read.into_iter().collect()
}

/// The request headers and response media types of the operations beyond those that every plugin may use.
fn declared_types(keys: &DocumentKeys, drafts: &[DraftTool<'_>]) -> (Vec<String>, Vec<String>) {
    let mut sent: BTreeSet<String> = BTreeSet::new();
    let mut read: BTreeSet<String> = keys.response_types.iter().cloned().collect();
    for draft in drafts {
        let names = draft.operation.headers.iter();
        let names = names.map(|input| input.name.to_ascii_lowercase());
        sent.extend(names.filter(|name| wire::is_ever_sent(name) && !wire::may_send(None, name)));
        if draft.operation.download {
            // A file has whatever type it was stored with.
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
