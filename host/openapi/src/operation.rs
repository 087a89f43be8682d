//! One operation: its tool for the manifest and its row for the table.

mod answers;
mod effect;
mod parameters;
mod references;
mod request;

use std::collections::BTreeMap;

pub use references::note_missing_references;

use answers::{accept, error_shape, is_html, media_types, pages, projection};
use effect::DecidedEffect;
use parameters::{PageParameters, ParameterReader};

use serde_json::{Value, json};
use toolgate_openapi_table::{Base, Encoding, Input, Method, Operation, Source, Style};

use super::arguments::{Argument, ArgumentForm, ArgumentList};
use super::body::{self, BodyOptions};
use super::document::{Documents, Node};
use super::keys::{self, DocumentKeys, OperationKeys, Paginated, ScalarText};
use super::local_times;
use super::names::{self, NamedOperation};
use super::problem::{Notes, Problem, below};
use super::security::{Security, SecurityNeeds};
use super::words;
use toolgate_catalog::Schema;
use toolgate_catalog::manifest::{Effect, ToolSpec};

const DESCRIPTION_CHARS_MAX: usize = 1_000;
const KEYWORDS_MAX: usize = 32;

/// Where an operation stands.
#[derive(Clone, Debug)]
pub struct OperationLocation<'d> {
    pub path: &'d str,
    pub method: &'d str,
    pub item: Node<'d>,
    pub node: Node<'d>,
    pub pointer: String,
}

/// A tool whose schema is still to be written, and its row.
pub struct DraftTool<'d> {
    pub tool: ToolSpec,
    pub arguments: ArgumentList<'d>,
    pub operation: Operation,
    /// Media types of its good answers, in lower case without parameters.
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
    /// The description's author wrote something under `x-toolgate` that cannot be.
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
    let docs = shared.docs;
    let Some(method) = method(place.method) else {
        return Err(OperationRefusal::Skip(format!(
            "the method `{}` cannot be sent",
            place.method
        )));
    };
    let mut arguments = ArgumentList::default();
    let pagination = match &own.paginated {
        Some(Paginated::Flag(false)) | None => None,
        Some(Paginated::Flag(true)) => Some(shared.keys.pagination.as_ref().ok_or_else(|| {
            let at = below(&below(&place.pointer, keys::KEY), "paginated");
            Problem::new(
                docs.name(),
                at,
                "`paginated: true` needs `pagination` at the document's x-toolgate",
            )
        })?),
        Some(Paginated::Own(pagination)) => Some(pagination.as_ref()),
    };
    if pagination.is_some() {
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
    let (route, fixed_query) = route(place, notes);
    let mut parameters = ParameterReader {
        docs,
        security,
        notes,
        pointer: &place.pointer,
        page: pagination,
        found: PageParameters::default(),
    };
    let declared = parameters.read(place)?;
    let (path, mut query, mut headers) = parameters.place(declared, route, &mut arguments)?;
    let found = parameters.found;

    let page_path: Option<Vec<String>> = pagination
        .and_then(|p| p.param.as_deref())
        .filter(|_| !found.page_in_query)
        .map(|param| param.split('.').map(str::to_owned).collect());
    let wishes = BodyOptions {
        flatten: own.flatten.as_deref(),
        graphql: own.graphql.as_deref(),
        page_field: page_path.as_deref(),
    };
    let has_body = !matches!(method, Method::Get | Method::Head | Method::Options);
    let request = place.node.get("requestBody").filter(|request| {
        let sent = has_body || (method == Method::Get && own.graphql.is_some());
        if !sent && request.value.get("content").is_some() {
            notes.changed(&place.pointer, "a body of a GET is not sent");
        }
        sent
    });
    let at = below(&place.pointer, "requestBody");
    let body = match body::read(docs, request, &at, &wishes, &mut arguments, notes) {
        Ok(body) => body,
        Err(problem) if wishes.flatten.is_some() || wishes.graphql.is_some() => {
            return Err(problem.into());
        }
        Err(problem) => return Err(OperationRefusal::Skip(problem.message)),
    };

    let constant = |(name, value): (&String, &ScalarText), style| Input {
        name: name.clone(),
        source: Source::Constant(Value::from(value.0.as_str())),
        style,
        explode: false,
        reserved: false,
    };
    let mut all_headers = shared.keys.headers.clone();
    all_headers.extend(own.headers.clone());
    headers.retain(|input| {
        !all_headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case(&input.name))
    });
    headers.extend(
        all_headers
            .iter()
            .map(|entry| constant(entry, Style::Simple)),
    );
    let fixed = constants(&shared.keys.query, fixed_query, &own.query);
    query.retain(|input| !fixed.iter().any(|(name, _)| *name == input.name));
    query.splice(
        0..0,
        fixed
            .iter()
            .map(|(name, value)| constant((name, value), Style::Form)),
    );

    let needs = security.needs(place.node, &place.pointer, notes)?;
    if let Some(why) = &needs.unusable {
        return Err(OperationRefusal::Skip(why.clone()));
    }
    let pages = pagination.map(|p| pages(p, &found, body.as_ref(), &arguments, method, security));
    let local_times = match shared.zoned {
        true => local_times::collect(docs, &arguments, &place.pointer)?,
        false => Vec::new(),
    };
    let (accept, download) = accept(docs, place.node, own);
    let answers = media_types(docs, place.node);
    let ends = |error: &keys::ErrorKeys| !error.expired.is_empty();
    if own.error.as_ref().is_some_and(ends) {
        return Err(OperationRefusal::Problem(Problem::new(
            docs.name(),
            &place.pointer,
            "`error.expired` is of the credential, so it belongs to the document's `x-toolgate`",
        )));
    }
    let error = error_shape(own.error.clone().or_else(|| shared.keys.error.clone()));
    let operation = Operation {
        method,
        base,
        path,
        query,
        headers,
        result: projection(own, body.as_ref()),
        body,
        accept,
        auth: needs.slots.clone(),
        auth_optional: needs.optional,
        pages,
        error,
        download,
        html: is_html(&answers, download),
        names: BTreeMap::new(),
        local_times,
    };
    let (mut tool, decided) = tool(shared, place, own, needs, pagination.is_some());
    tool.request = Some(request::described(&operation));
    match method {
        _ if tool.effect != Effect::Read => {}
        Method::Get | Method::Head => {}
        Method::Post => tool.queries = vec![query_of(&operation)],
        Method::Options => tool.effect = Effect::Write,
        Method::Put | Method::Patch | Method::Delete => {
            let at = below(&below(&place.pointer, keys::KEY), "effect");
            let message = "what only reads is a GET, a HEAD or a POST; declare it `write`";
            return Err(Problem::new(docs.name(), at, message).into());
        }
    }
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

/// What the manifest says of a reading operation that is not a GET: its method and address, with braces
/// where something is filled in.
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

/// A path without its fragment, and the fixed query that follows its `?`, in clear.
fn route<'d>(
    place: &OperationLocation<'d>,
    notes: &mut Notes,
) -> (&'d str, Vec<(String, ScalarText)>) {
    let path = place.path.split('#').next().unwrap_or_default();
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    let mut fixed = Vec::new();
    for pair in query.split('&') {
        if pair.contains(['{', '}']) {
            let message = format!(
                "the path's `?{}` is not sent: declare a parameter in `query`",
                words::clean(pair, 100)
            );
            notes.changed(&place.pointer, message);
            continue;
        }
        // Encoded again when it is sent.
        let pairs = url::form_urlencoded::parse(pair.as_bytes());
        fixed
            .extend(pairs.map(|(name, value)| (name.into_owned(), ScalarText(value.into_owned()))));
    }
    (route, fixed)
}

/// The constant query of an operation: what is nearer to it wins, and a path may repeat a name.
fn constants(
    document: &BTreeMap<String, ScalarText>,
    path: Vec<(String, ScalarText)>,
    own: &BTreeMap<String, ScalarText>,
) -> Vec<(String, ScalarText)> {
    let copied = |(name, value): (&String, &ScalarText)| (name.clone(), value.clone());
    let mut all: Vec<(String, ScalarText)> = document
        .iter()
        .filter(|(name, _)| !path.iter().any(|(nearer, _)| nearer == *name))
        .map(copied)
        .collect();
    all.extend(path);
    all.retain(|(name, _)| !own.contains_key(name));
    all.extend(own.iter().map(copied));
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

/// Names, texts and effect of the tool. Its schema and examples follow when all tools are known.
fn tool(
    shared: &OperationContext<'_, '_>,
    place: &OperationLocation<'_>,
    own: &OperationKeys,
    needs: SecurityNeeds,
    paginated: bool,
) -> (ToolSpec, DecidedEffect) {
    let node = place.node;
    let name = match &own.name {
        Some(name) => name.clone(),
        None => names::tool(&NamedOperation {
            service: shared.service,
            id: node.text("operationId"),
            method: place.method,
            path: place.path,
            patched: place.item.get("patch").is_some(),
        }),
    };
    let summary = node.text("summary").or_else(|| place.item.text("summary"));
    let summary = summary
        .map(|text| words::prose(text, 100))
        .filter(|text| !text.is_empty());
    let title = own
        .title
        .as_ref()
        .map(|text| words::clean(text, 100))
        .or_else(|| summary.clone());
    let description = node
        .text("description")
        .or_else(|| place.item.text("description"));
    let description = description
        .map(|text| words::prose(text, DESCRIPTION_CHARS_MAX))
        .filter(|text| !text.is_empty());
    let description = match (description, &summary) {
        (Some(text), Some(summary)) if text.chars().count() < 20 && text != *summary => {
            format!("{summary}. {text}")
        }
        (Some(text), _) => text,
        (None, Some(summary)) => summary.clone(),
        (None, None) => format!(
            "{} ({} {})",
            words::title(&name),
            place.method.to_uppercase(),
            words::clean(place.path, 200)
        ),
    };
    let decided = effect::decide(place, own, shared.keys, &name);
    let effect = decided.effect;
    let tags = node.elements("tags").filter_map(|tag| tag.value.as_str());
    let keywords = if own.keywords.is_empty() {
        tags.map(|tag| words::clean(tag, 60))
            .filter(|tag| !tag.is_empty())
            .take(5)
            .collect()
    } else {
        own.keywords
            .iter()
            .map(|word| words::clean(word, 64))
            .take(KEYWORDS_MAX)
            .collect()
    };
    let tool = ToolSpec {
        name,
        title,
        description,
        input: Schema::from_value(&Value::Null),
        output: None,
        effect,
        queries: Vec::new(),
        request: None,
        idempotent: own
            .idempotent
            .unwrap_or(matches!(place.method, "put" | "delete"))
            && effect != Effect::Read,
        paginated,
        auth: needs.slots.clone(),
        auth_optional: needs.optional,
        scopes: if needs.slots.is_empty() {
            Vec::new()
        } else {
            own.scopes.clone().unwrap_or(needs.scopes)
        },
        keywords,
        examples: own.examples.clone(),
        deprecated: node
            .flag("deprecated")
            .then(|| "The service marks this operation as deprecated.".to_owned()),
    };
    (tool, decided)
}
