//! One operation: its tool for the manifest and its row for the table.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_openapi_table::{
    Base, Body, Content, ErrorShape, Input, Method, Operation, PageStyle, Pages, Piece, Place,
    Projection, Source, Style,
};

use super::arguments::{Argument, Arguments, Form};
use super::body::{self, Wishes};
use super::document::{Documents, Node};
use super::keys::{
    self, DocumentKeys, ErrorKeys, InputKeys, OperationKeys, Paginated, Pagination, ResultKeys,
    Text,
};
use super::problem::{Notes, Problem, below};
use super::security::{Needs, Security};
use super::words;
use crate::catalog::Schema;
use crate::catalog::manifest::{Effect, ToolSpec};

const DESCRIPTION_CHARS_MAX: usize = 1_000;
const KEYWORDS_MAX: usize = 32;
/// Most parameters of one operation.
const PARAMETERS_MAX: usize = 300;

/// Where an operation stands.
#[derive(Clone, Debug)]
pub struct Spot<'d> {
    pub path: &'d str,
    pub method: &'d str,
    pub item: Node<'d>,
    pub node: Node<'d>,
    pub pointer: String,
}

/// A tool whose schema is still to be written, and its row.
pub struct Drafted<'d> {
    pub tool: ToolSpec,
    pub arguments: Arguments<'d>,
    pub operation: Operation,
    pub pointer: String,
}

/// What all operations of a document share.
pub struct Shared<'a, 'd> {
    pub docs: &'d Documents,
    pub keys: &'a DocumentKeys,
    pub service: &'a str,
}

/// Why an operation cannot become a tool.
pub enum Refusal {
    /// The description's author wrote something under `x-toolgate` that cannot be.
    Problem(Problem),
    /// Left out, with this reason.
    Skip(String),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Drafts one operation. `base` is where its requests go.
pub fn draft<'d>(
    shared: &Shared<'_, 'd>,
    place: &Spot<'d>,
    own: &OperationKeys,
    base: Base,
    security: &mut Security<'d>,
    notes: &mut Notes,
) -> Result<Drafted<'d>, Refusal> {
    let docs = shared.docs;
    let Some(method) = method(place.method) else {
        return Err(Refusal::Skip(format!(
            "the method `{}` cannot be sent",
            place.method
        )));
    };
    let mut arguments = Arguments::default();
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
                form: Form::Fixed(json!({"type": "string", "description": "Page to continue from: `next_cursor` of the previous answer."})),
            },
        );
    }
    let (route, fixed_query) = route(place.path);
    let mut parameters = Parameters {
        docs,
        security,
        notes,
        pointer: &place.pointer,
        page: pagination,
        names: BTreeMap::new(),
    };
    let found = parameters.of(place)?;
    let (path, mut query, mut headers) = parameters.place(found, route, &mut arguments)?;
    let names = parameters.names;

    let page_path: Option<Vec<String>> = pagination
        .and_then(|p| p.param.as_deref())
        .map(|param| param.split('.').map(str::to_owned).collect());
    let wishes = Wishes {
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
        Err(problem) => return Err(Refusal::Skip(problem.message)),
    };

    let constant = |(name, value): (&String, &Text), style| Input {
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
    let mut all_query: BTreeMap<String, Text> = shared.keys.query.clone();
    all_query.extend(fixed_query);
    all_query.extend(own.query.clone());
    query.retain(|input| !all_query.contains_key(&input.name));
    query.splice(
        0..0,
        all_query.iter().map(|entry| constant(entry, Style::Form)),
    );

    let needs = security.needs(place.node, &place.pointer, notes)?;
    let pages = pagination.map(|p| pages(p, &names, body.as_ref(), &arguments, method, security));
    let (accept, download) = accept(docs, place.node, own);
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
    };
    let tool = tool(shared, place, own, needs, pagination.is_some());
    Ok(Drafted {
        tool,
        arguments,
        operation,
        pointer: place.pointer.clone(),
    })
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

/// A path without its fragment, and the fixed query that follows its `?`.
fn route(path: &str) -> (&str, BTreeMap<String, Text>) {
    let path = path.split('#').next().unwrap_or_default();
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    let pairs = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.contains('{'));
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), Text(value.to_owned()))
    });
    (route, pairs.collect())
}

struct Parameters<'a, 'd> {
    docs: &'d Documents,
    security: &'a Security<'d>,
    notes: &'a mut Notes,
    pointer: &'a str,
    page: Option<&'a Pagination>,
    /// Arguments by the provider's names.
    names: BTreeMap<String, String>,
}

struct Parameter<'d> {
    name: &'d str,
    place: &'d str,
    node: Node<'d>,
    pointer: String,
}

type Routed = (Vec<Piece>, Vec<Input>, Vec<Input>);

impl<'d> Parameters<'_, 'd> {
    /// The parameters of path and operation; the operation's own win.
    fn of(&mut self, place: &Spot<'d>) -> Result<Vec<Parameter<'d>>, Refusal> {
        let mut found: Vec<Parameter<'d>> = Vec::new();
        let at = below(self.pointer, "parameters");
        for (shared, list) in [(true, place.item), (false, place.node)] {
            for (index, node) in list.elements("parameters").enumerate() {
                if found.len() >= PARAMETERS_MAX {
                    return Err(Refusal::Skip(format!(
                        "more than {PARAMETERS_MAX} parameters"
                    )));
                }
                let pointer = if shared {
                    self.pointer.to_owned()
                } else {
                    below(&at, &index.to_string())
                };
                let node = match self.docs.resolve(node) {
                    Ok(node) => node,
                    Err(why) => {
                        return Err(Refusal::Skip(format!("a parameter cannot be read: {why}")));
                    }
                };
                let (Some(name), Some(kind)) = (node.text("name"), node.text("in")) else {
                    self.notes
                        .changed(&pointer, "a parameter without `name` and `in` is ignored");
                    continue;
                };
                let parameter = Parameter {
                    name,
                    place: kind,
                    node,
                    pointer,
                };
                match found
                    .iter_mut()
                    .find(|known| known.name == name && known.place == kind)
                {
                    Some(known) => *known = parameter,
                    None => found.push(parameter),
                }
            }
        }
        Ok(found)
    }

    fn place(
        &mut self,
        found: Vec<Parameter<'d>>,
        route: &'d str,
        arguments: &mut Arguments<'d>,
    ) -> Result<Routed, Refusal> {
        let mut path = Vec::new();
        let mut rest = route;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}').map(|at| at + open) else {
                return Err(Refusal::Skip(
                    "the path has a `{` without its `}`".to_owned(),
                ));
            };
            push_text(&mut path, &rest[..open]);
            let name = &rest[open + 1..close];
            let clean = name
                .trim_end_matches('*')
                .trim_start_matches(['+', '#', '/', '.', ';']);
            let declared = found
                .iter()
                .find(|p| p.place == "path" && (p.name == name || p.name == clean));
            let input = match declared {
                Some(parameter) => self.input(parameter, true, arguments)?,
                None => {
                    self.notes.changed(
                        self.pointer,
                        format!(
                            "the path's `{{{}}}` is not declared; it is a text",
                            words::clean(name, 60)
                        ),
                    );
                    let argument = Argument {
                        name: String::new(),
                        required: true,
                        description: None,
                        form: Form::Fixed(json!({"type": "string"})),
                    };
                    Input {
                        name: clean.to_owned(),
                        source: Source::Argument(arguments.add(&words::argument(clean), argument)),
                        style: Style::Simple,
                        explode: false,
                        reserved: false,
                    }
                }
            };
            path.push(Piece::Input(input));
            rest = &rest[close + 1..];
        }
        push_text(&mut path, rest);
        let (mut query, mut headers) = (Vec::new(), Vec::new());
        for parameter in &found {
            let name = parameter.name;
            let ignored = match parameter.place {
                "header" => [
                    "accept",
                    "content-type",
                    "authorization",
                    "host",
                    "content-length",
                    "cookie",
                    "user-agent",
                ]
                .contains(&name.to_ascii_lowercase().as_str()),
                "query" => self
                    .page
                    .is_some_and(|page| page.param.as_deref() == Some(name)),
                "path" => true,
                "cookie" => {
                    self.notes
                        .changed(&parameter.pointer, "a cookie is not sent");
                    true
                }
                other => {
                    self.notes.changed(
                        &parameter.pointer,
                        format!("a parameter in `{}` is not sent", words::clean(other, 40)),
                    );
                    true
                }
            };
            if ignored || self.security.carries(parameter.place, name) {
                continue;
            }
            if parameter.place == "header" && !is_header(name) {
                self.notes.changed(
                    &parameter.pointer,
                    "the name of the header is not one; it is not sent",
                );
                continue;
            }
            let input = self.input(parameter, false, arguments)?;
            if parameter.place == "header" {
                headers.push(input)
            } else {
                query.push(input)
            }
        }
        Ok((path, query, headers))
    }

    fn input(
        &mut self,
        parameter: &Parameter<'d>,
        in_path: bool,
        arguments: &mut Arguments<'d>,
    ) -> Result<Input, Refusal> {
        let node = parameter.node;
        let content = node
            .members("content")
            .next()
            .and_then(|(_, media)| media.get("schema"));
        let schema = node.get("schema").or(content);
        let json = node.get("schema").is_none() && content.is_some();
        let style = match (node.text("style"), parameter.place) {
            _ if json => Style::Json,
            (Some("simple"), _) => Style::Simple,
            (Some("label"), "path") => Style::Label,
            (Some("matrix"), "path") => Style::Matrix,
            (Some("spaceDelimited"), _) => Style::SpaceDelimited,
            (Some("pipeDelimited"), _) => Style::PipeDelimited,
            (Some("tabDelimited"), _) => Style::TabDelimited,
            (Some("deepObject"), _) => Style::DeepObject,
            (_, "query") => Style::Form,
            _ => Style::Simple,
        };
        let resolved = schema.map(|schema| self.docs.resolve(schema).unwrap_or(schema));
        let explode = match node.value.get("explode") {
            Some(Value::Bool(explode)) => *explode,
            _ => style == Style::Form,
        };
        let mut input = Input {
            name: parameter.name.to_owned(),
            source: Source::Constant(Value::Null),
            style,
            explode,
            reserved: node.flag("allowReserved"),
        };
        let required = in_path || node.flag("required");
        if let Some(value) = resolved.and_then(body::constant).filter(|_| required) {
            input.source = Source::Constant(value.clone());
            return Ok(input);
        }
        let keys: InputKeys = keys::read(self.docs.name(), &parameter.pointer, node)?;
        let wanted = keys.name.unwrap_or_else(|| words::argument(parameter.name));
        let argument = Argument {
            name: String::new(),
            required,
            description: node.text("description"),
            form: match schema {
                Some(schema) => Form::Schema(schema),
                None => Form::Fixed(json!({"type": "string"})),
            },
        };
        let name = arguments.add(&wanted, argument);
        self.names.insert(parameter.name.to_owned(), name.clone());
        input.source = Source::Argument(name);
        Ok(input)
    }
}

/// Adds fixed text of a path, percent-encoded where it must be.
fn push_text(path: &mut Vec<Piece>, text: &str) {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:@!$&'()*+,;=%".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    if path.is_empty() && !out.is_empty() && !out.starts_with('/') {
        out.insert(0, '/');
    }
    if !out.is_empty() {
        path.push(Piece::Text(out));
    }
}

fn is_header(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn pages(
    from: &Pagination,
    names: &BTreeMap<String, String>,
    body: Option<&Body>,
    arguments: &Arguments<'_>,
    method: Method,
    security: &Security<'_>,
) -> Pages {
    let in_body = body.is_some_and(|body| matches!(body.content, Content::Fields { .. }));
    let param = from.param.as_ref().map(|param| {
        if in_body && !matches!(method, Method::Get) && !names.contains_key(param) {
            Place::Body(param.split('.').map(str::to_owned).collect())
        } else {
            Place::Query(param.clone())
        }
    });
    let size = from.size.as_ref().and_then(|size| {
        let known = names.get(size).cloned();
        known.or_else(|| Some(size.clone()).filter(|size| arguments.has(size)))
    });
    let default = size.as_ref().and_then(|size| {
        let argument = arguments
            .list
            .iter()
            .find(|argument| argument.name == *size)?;
        match &argument.form {
            Form::Schema(node) => node.value.get("default")?.as_u64(),
            _ => None,
        }
    });
    let first = from
        .first
        .unwrap_or(u64::from(from.style == PageStyle::Page));
    Pages {
        style: from.style,
        param,
        next: from.next.clone(),
        more: from.more.clone(),
        items: from.items.clone(),
        total: from.total.clone(),
        total_pages: from.total_pages.clone(),
        size,
        size_default: from.size_default.or(default),
        first,
        any_path: from.any_path,
        secret_query: security.secret_query(),
    }
}

/// The `Accept` header and whether the answer is a file.
fn accept(docs: &Documents, node: Node<'_>, own: &OperationKeys) -> (String, bool) {
    let mut types: Vec<&str> = Vec::new();
    for (status, response) in node.members("responses") {
        if status.starts_with('2') || (status == "default" && types.is_empty()) {
            let response = docs.resolve(response).unwrap_or(response);
            types.extend(response.members("content").map(|(media, _)| media));
        }
    }
    let plain = |media: &str| {
        media
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let sendable =
        |media: &str| media.len() <= 200 && media.bytes().all(|b| (0x20..0x7f).contains(&b));
    let json = types
        .iter()
        .copied()
        .find(|media| body::is_json(&plain(media)) && sendable(media));
    let first = types
        .first()
        .copied()
        .filter(|media| sendable(media) && media.contains('/'));
    let open = types
        .iter()
        .any(|media| plain(media) == "*/*" || body::is_text(&plain(media)));
    let download = own
        .download
        .unwrap_or(json.is_none() && first.is_some() && !open);
    match (json, first) {
        (Some(json), _) if !download => (json.to_owned(), download),
        (_, Some(first)) if download => (first.to_owned(), download),
        (_, Some(first)) if plain(first) != "*/*" => (format!("{first}, */*;q=0.5"), download),
        _ => ("application/json, */*;q=0.5".to_owned(), download),
    }
}

fn error_shape(keys: Option<ErrorKeys>) -> ErrorShape {
    let Some(keys) = keys else {
        return ErrorShape::default();
    };
    ErrorShape {
        code: keys.code.list(),
        message: keys.message.list(),
        ok: keys.ok,
        failed: keys.failed,
    }
}

fn projection(own: &OperationKeys, body: Option<&Body>) -> Projection {
    let graphql = body
        .is_some_and(|body| matches!(body.encoding, toolgate_openapi_table::Encoding::Graphql(_)));
    match &own.result {
        Some(ResultKeys::At(at)) => Projection {
            at: at.clone(),
            ..Projection::default()
        },
        Some(ResultKeys::Parts(parts)) => Projection {
            at: parts.at.clone(),
            keep: parts.keep.clone(),
            drop: parts.drop.clone(),
        },
        None if graphql => Projection {
            at: "/data".to_owned(),
            ..Projection::default()
        },
        None => Projection::default(),
    }
}

/// Names, texts and effect of the tool. Its schema and examples follow when all tools are known.
fn tool(
    shared: &Shared<'_, '_>,
    place: &Spot<'_>,
    own: &OperationKeys,
    needs: Needs,
    paginated: bool,
) -> ToolSpec {
    let node = place.node;
    let name = match (&own.name, node.text("operationId")) {
        (Some(name), _) => name.clone(),
        (None, Some(id)) if !words::snake(id).is_empty() => words::tool(id, shared.service),
        _ => words::tool_of_path(place.method, place.path, shared.service),
    };
    let summary = node.text("summary").or_else(|| place.item.text("summary"));
    let summary = summary
        .map(|text| words::clean(text, 100))
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
        .map(|text| words::clean(text, DESCRIPTION_CHARS_MAX))
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
    let effect = own
        .effect
        .unwrap_or_else(|| match own.graphql.as_deref().map(str::trim_start) {
            Some(document) if document.starts_with("mutation") => {
                match words::effect("post", &name) {
                    Effect::Read => Effect::Write,
                    other => other,
                }
            }
            Some(_) => Effect::Read,
            None => words::effect(place.method, &name),
        });
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
    ToolSpec {
        name,
        title,
        description,
        input: Schema::of(&Value::Null),
        output: None,
        effect,
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
    }
}
