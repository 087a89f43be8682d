//! One operation: its tool for the manifest and its row for the table.

mod answers;
mod constants;
mod effect;
mod parameters;
mod references;
mod request;
mod tool;

use std::collections::BTreeMap;

pub use references::note_missing_references;

use answers::{accept, error_shape, is_html, media_types, pages, projection};
use constants::{add_constants, split_path};
use parameters::{PageParameters, ParameterReader, RoutedParameters, is_header};

use serde_json::json;
use toolgate_catalog::manifest::{Effect, ToolSpec};
use toolgate_catalog::wire;
use toolgate_openapi_table::{Base, Body, Encoding, ErrorShape, Method, Operation};

use super::arguments::{Argument, ArgumentForm, ArgumentList};
use super::body::{self, BodyOptions};
use super::document::{Documents, Node};
use super::keys::{self, DocumentKeys, ErrorKeys, OperationKeys, Paginated, Pagination};
use super::local_times;
use super::problem::{Notes, Problem, below};
use super::security::Security;
use super::words;

/// Where a description declares an operation.
#[derive(Clone, Debug)]
pub struct OperationLocation<'d> {
    pub path: &'d str,
    pub method: &'d str,
    pub item: Node<'d>,
    pub node: Node<'d>,
    pub pointer: String,
}

/// A tool whose schema is not written yet, and its row.
pub struct DraftTool<'d> {
    pub tool: ToolSpec,
    pub arguments: ArgumentList<'d>,
    pub operation: Operation,
    /// Media types of its successful responses, in lower case without parameters.
    pub answers: Vec<String>,
    pub pointer: String,
    /// Whether words and arguments may decide the effect.
    guessed: bool,
    statement_body: Option<&'static str>,
    effect_note: Option<String>,
}

impl DraftTool<'_> {
    /// Decides the effect by the arguments too, once they are written. Returns the note for the author.
    pub fn settle_effect(&mut self) -> Option<String> {
        let by_arguments = self
            .guessed
            .then(|| effect::by_arguments(&mut self.tool, self.statement_body))
            .flatten();
        by_arguments.or_else(|| self.effect_note.take())
    }
}

/// What all operations of a document share.
pub struct OperationContext<'a, 'd> {
    pub docs: &'d Documents,
    pub keys: &'a DocumentKeys,
    pub service: &'a str,
    /// The description has times whose zone is in a field beside them.
    pub zoned: bool,
}

/// Why an operation cannot become a tool.
pub enum OperationRefusal {
    /// The description's author wrote something under `x-toolgate` that is not valid.
    Problem(Problem),
    /// Left out, with this reason.
    Skip(String),
}

impl From<Problem> for OperationRefusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Drafts one operation. `base` is where its requests go.
pub fn draft<'d>(
    shared: &OperationContext<'_, 'd>,
    place: &OperationLocation<'d>,
    own: &OperationKeys,
    base: Base,
    security: &mut Security<'d>,
    notes: &mut Notes,
) -> Result<DraftTool<'d>, OperationRefusal> {
    let reader = OperationReader::new(shared, place, own)?;
    let docs = shared.docs;
    let mut arguments = reader.first_arguments();
    let (inputs, page_parameters) = reader.inputs(security, &mut arguments, notes)?;
    let body = reader.body(&page_parameters, &mut arguments, notes)?;
    let needs = security.needs(place.node, &place.pointer, notes)?;
    if let Some(why) = &needs.unusable {
        return Err(OperationRefusal::Skip(why.clone()));
    }
    let pages = reader.pagination.map(|pagination| {
        let body = body.as_ref();
        pages(
            pagination,
            &page_parameters,
            body,
            &arguments,
            reader.method,
            security,
        )
    });
    let local_times = match shared.zoned {
        true => local_times::collect(docs, &arguments, &place.pointer)?,
        false => Vec::new(),
    };
    check_answer_headers(docs, place, own)?;
    let (accept, download) = accept(docs, place.node, own);
    let answers = media_types(docs, place.node);
    let operation = Operation {
        method: reader.method,
        base,
        path: inputs.path,
        query: inputs.query,
        headers: inputs.headers,
        result: projection(own, body.as_ref()),
        body,
        accept,
        auth: needs.slots.clone(),
        auth_optional: needs.optional,
        pages,
        error: reader.error_shape()?,
        answer_headers: own.answer_headers.clone(),
        download,
        html: is_html(&answers, download),
        names: BTreeMap::new(),
        local_times,
    };
    let paginated = reader.pagination.is_some();
    let (mut tool, decided) = tool::tool(shared, place, own, needs, paginated);
    tool.request = Some(request::described(&operation));
    reader.settle_read(&mut tool, &operation)?;
    Ok(DraftTool {
        tool,
        arguments,
        operation,
        answers,
        pointer: place.pointer.clone(),
        guessed: !decided.declared && own.graphql.is_none(),
        statement_body: effect::statement_body(docs, place.node),
        effect_note: decided.note,
    })
}

/// A header that no plugin ever gets cannot be part of a result.
fn check_answer_headers(
    docs: &Documents,
    place: &OperationLocation<'_>,
    own: &OperationKeys,
) -> Result<(), Problem> {
    for (member, header) in &own.answer_headers {
        let name = header.to_ascii_lowercase();
        if !wire::is_ever_read(&name) || !is_header(&name) {
            let at = below(&below(&place.pointer, keys::KEY), "answer_headers");
            return Err(Problem::new(
                docs.name(),
                below(&at, member),
                format!(
                    "`{}` is no header that a plugin may read",
                    words::clean(header, 60)
                ),
            ));
        }
    }
    Ok(())
}

/// What the steps of one draft read: the operation, and what its `x-toolgate` says of it.
struct OperationReader<'a, 'd> {
    shared: &'a OperationContext<'a, 'd>,
    place: &'a OperationLocation<'d>,
    own: &'a OperationKeys,
    method: Method,
    /// How the operation gives its pages; `None` where it is not paginated.
    pagination: Option<&'a Pagination>,
}

impl<'a, 'd> OperationReader<'a, 'd> {
    fn new(
        shared: &'a OperationContext<'a, 'd>,
        place: &'a OperationLocation<'d>,
        own: &'a OperationKeys,
    ) -> Result<Self, OperationRefusal> {
        let Some(method) = method(place.method) else {
            return Err(OperationRefusal::Skip(format!(
                "the method `{}` cannot be sent",
                place.method
            )));
        };
        Ok(Self {
            shared,
            place,
            own,
            method,
            pagination: pagination(shared, place, own)?,
        })
    }

    fn first_arguments(&self) -> ArgumentList<'d> {
        let mut arguments = ArgumentList::default();
        if self.pagination.is_some() {
            arguments.add(
                "cursor",
                Argument {
                    name: String::new(),
                    required: false,
                    description: None,
                    form: ArgumentForm::Fixed(json!({"type": "string", "description": "Page to continue from: `next_cursor` of the previous answer."})),
                },
            );
        }
        arguments
    }

    /// Path, query and headers of a request, and what the parameters say about pages.
    fn inputs(
        &self,
        security: &Security<'d>,
        arguments: &mut ArgumentList<'d>,
        notes: &mut Notes,
    ) -> Result<(RoutedParameters, PageParameters), OperationRefusal> {
        let (route, path_query) = split_path(self.place, notes);
        let mut parameters = ParameterReader {
            docs: self.shared.docs,
            security,
            notes,
            pointer: &self.place.pointer,
            page: self.pagination,
            found: PageParameters::default(),
        };
        let declared = parameters.read(self.place)?;
        let mut inputs = parameters.place(&declared, route, arguments)?;
        let found = parameters.found;
        add_constants(&mut inputs, self.shared.keys, path_query, self.own);
        Ok((inputs, found))
    }

    fn body(
        &self,
        page_parameters: &PageParameters,
        arguments: &mut ArgumentList<'d>,
        notes: &mut Notes,
    ) -> Result<Option<Body>, OperationRefusal> {
        let page_field = self.pagination.and_then(|p| p.param.as_deref());
        let page_field: Option<Vec<String>> = page_field
            .filter(|_| !page_parameters.page_in_query)
            .map(|param| param.split('.').map(str::to_owned).collect());
        let options = BodyOptions {
            flatten: self.own.flatten.as_deref(),
            graphql: self.own.graphql.as_deref(),
            page_field: page_field.as_deref(),
        };
        let at = below(&self.place.pointer, "requestBody");
        let request = self.request_body(notes);
        match body::read(self.shared.docs, request, &at, &options, arguments, notes) {
            Ok(body) => Ok(body),
            Err(problem) if options.flatten.is_some() || options.graphql.is_some() => {
                Err(problem.into())
            }
            Err(problem) => Err(OperationRefusal::Skip(problem.message)),
        }
    }

    /// The declared body where a request of this method can have one.
    fn request_body(&self, notes: &mut Notes) -> Option<Node<'d>> {
        let without_body = matches!(self.method, Method::Get | Method::Head | Method::Options);
        let graphql = self.method == Method::Get && self.own.graphql.is_some();
        let request = self.place.node.get("requestBody")?;
        if !without_body || graphql {
            return Some(request);
        }
        if request.value.get("content").is_some() {
            notes.changed(&self.place.pointer, "a body of a GET is not sent");
        }
        None
    }

    fn error_shape(&self) -> Result<ErrorShape, Problem> {
        let expires = |error: &ErrorKeys| !error.expired.is_empty();
        if self.own.error.as_ref().is_some_and(expires) {
            return Err(Problem::new(
                self.shared.docs.name(),
                &self.place.pointer,
                "`error.expired` is of the credential, so it belongs to the document's `x-toolgate`",
            ));
        }
        let error = self.own.error.as_ref().or(self.shared.keys.error.as_ref());
        Ok(error_shape(error.cloned()))
    }

    /// A tool that reads is sent as a GET or HEAD, or names its POST among its queries.
    fn settle_read(&self, tool: &mut ToolSpec, operation: &Operation) -> Result<(), Problem> {
        if tool.effect != Effect::Read {
            return Ok(());
        }
        match self.method {
            Method::Get | Method::Head => {}
            Method::Post => tool.queries = vec![query_of(operation)],
            Method::Options => tool.effect = Effect::Write,
            Method::Put | Method::Patch | Method::Delete => {
                let at = below(&below(&self.place.pointer, keys::KEY), "effect");
                let message = "what only reads is a GET, a HEAD or a POST; declare it `write`";
                return Err(Problem::new(self.shared.docs.name(), at, message));
            }
        }
        Ok(())
    }
}

/// The pagination of an operation: its own, or the document's where it says `paginated: true`.
fn pagination<'a>(
    shared: &OperationContext<'a, '_>,
    place: &OperationLocation<'_>,
    own: &'a OperationKeys,
) -> Result<Option<&'a Pagination>, Problem> {
    match &own.paginated {
        Some(Paginated::Flag(false)) | None => Ok(None),
        Some(Paginated::Flag(true)) => match &shared.keys.pagination {
            Some(pagination) => Ok(Some(pagination)),
            None => Err(Problem::new(
                shared.docs.name(),
                below(&below(&place.pointer, keys::KEY), "paginated"),
                "`paginated: true` needs `pagination` at the document's x-toolgate",
            )),
        },
        Some(Paginated::Own(pagination)) => Ok(Some(pagination)),
    }
}

/// The entry in `queries` of an operation that reads and is not a GET: its method and address, with an expression in
/// braces for each value that is filled in.
fn query_of(operation: &Operation) -> String {
    let graphql = matches!(
        operation.body.as_ref().map(|body| &body.encoding),
        Some(Encoding::Graphql(_))
    );
    let method = if graphql { "GRAPHQL" } else { "POST" };
    format!(
        "{method} {}",
        request::address(operation).replace("{+", "{")
    )
}

fn method(name: &str) -> Option<Method> {
    Some(match name {
        "get" => Method::Get,
        "head" => Method::Head,
        "post" => Method::Post,
        "put" => Method::Put,
        "patch" => Method::Patch,
        "delete" => Method::Delete,
        "options" => Method::Options,
        _ => return None,
    })
}
