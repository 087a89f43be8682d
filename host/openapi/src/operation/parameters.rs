//! The parameters of a path and of its operation: arguments, fixed values, places in a request.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_openapi_table::{Input, Piece, Source, Style};

use super::{OperationLocation, OperationRefusal};
use crate::arguments::{Argument, ArgumentForm, ArgumentList};
use crate::body;
use crate::document::{Documents, Node};
use crate::keys::{self, InputKeys, Pagination};
use crate::problem::{Notes, below};
use crate::security::Security;
use crate::words;

/// Most parameters of one operation.
const PARAMETERS_MAX: usize = 300;

pub(super) struct ParameterReader<'a, 'd> {
    pub(super) docs: &'d Documents,
    pub(super) security: &'a Security<'d>,
    pub(super) notes: &'a mut Notes,
    pub(super) pointer: &'a str,
    pub(super) page: Option<&'a Pagination>,
    pub(super) found: PageParameters,
}

/// What the parameters say about pages.
#[derive(Debug, Default)]
pub(super) struct PageParameters {
    /// Arguments by the provider's names.
    pub(super) names: BTreeMap<String, String>,
    /// The parameter that carries the mark of a page is a declared query parameter.
    pub(super) page_in_query: bool,
}

pub(super) struct OperationParameter<'d> {
    pub(super) name: &'d str,
    pub(super) place: &'d str,
    pub(super) node: Node<'d>,
    pub(super) pointer: String,
}

/// The inputs of a request by the part of it that carries them, in the order of the description.
#[derive(Default)]
pub(super) struct RoutedParameters {
    pub(super) path: Vec<Piece>,
    pub(super) query: Vec<Input>,
    pub(super) headers: Vec<Input>,
}

/// Headers that the host writes itself.
const HOST_HEADERS: [&str; 7] = [
    "accept",
    "content-type",
    "authorization",
    "host",
    "content-length",
    "cookie",
    "user-agent",
];

impl<'d> ParameterReader<'_, 'd> {
    /// The parameters of path and operation. One of the operation replaces one of the path with its name and place.
    pub(super) fn read(
        &mut self,
        place: &OperationLocation<'d>,
    ) -> Result<Vec<OperationParameter<'d>>, OperationRefusal> {
        let mut found: Vec<OperationParameter<'d>> = Vec::new();
        let at = below(self.pointer, "parameters");
        for (shared, list) in [(true, place.item), (false, place.node)] {
            for (index, node) in list.elements("parameters").enumerate() {
                if found.len() >= PARAMETERS_MAX {
                    return Err(OperationRefusal::Skip(format!(
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
                        return Err(OperationRefusal::Skip(format!(
                            "a parameter cannot be read: {why}"
                        )));
                    }
                };
                let (Some(name), Some(kind)) = (node.text("name"), node.text("in")) else {
                    self.notes
                        .changed(&pointer, "a parameter without `name` and `in` is ignored");
                    continue;
                };
                let parameter = OperationParameter {
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

    /// Turns the parameters into inputs: those that the path names first, then the others.
    pub(super) fn place(
        &mut self,
        declared: &[OperationParameter<'d>],
        route: &'d str,
        arguments: &mut ArgumentList<'d>,
    ) -> Result<RoutedParameters, OperationRefusal> {
        let mut routed = RoutedParameters {
            path: self.path(declared, route, arguments)?,
            ..RoutedParameters::default()
        };
        for parameter in declared {
            if !self.is_sent(parameter) {
                continue;
            }
            let input = self.input(parameter, false, arguments)?;
            if parameter.place == "header" {
                routed.headers.push(input)
            } else {
                routed.query.push(input)
            }
        }
        Ok(routed)
    }

    /// The texts and the template expressions of a path.
    fn path(
        &mut self,
        declared: &[OperationParameter<'d>],
        route: &'d str,
        arguments: &mut ArgumentList<'d>,
    ) -> Result<Vec<Piece>, OperationRefusal> {
        let mut path = Vec::new();
        let mut rest = route;
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}').map(|at| at + open) else {
                return Err(OperationRefusal::Skip(
                    "the path has a `{` without its `}`".to_owned(),
                ));
            };
            push_text(&mut path, &rest[..open]);
            let name = &rest[open + 1..close];
            let clean = name
                .trim_end_matches('*')
                .trim_start_matches(['+', '#', '/', '.', ';']);
            let parameter = declared
                .iter()
                .find(|p| p.place == "path" && (p.name == name || p.name == clean));
            let input = match parameter {
                Some(parameter) => self.input(parameter, true, arguments)?,
                None => self.undeclared(name, clean, arguments),
            };
            path.push(Piece::Input(input));
            rest = &rest[close + 1..];
        }
        push_text(&mut path, rest);
        Ok(path)
    }

    /// A template expression that no parameter declares. `clean` is its name without operators of RFC 6570.
    fn undeclared(&mut self, name: &str, clean: &str, arguments: &mut ArgumentList<'d>) -> Input {
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
            form: ArgumentForm::Fixed(json!({"type": "string"})),
        };
        Input {
            name: clean.to_owned(),
            source: Source::Argument(arguments.add(&words::argument(clean), argument)),
            style: Style::Simple,
            explode: false,
            reserved: false,
        }
    }

    /// Whether a parameter outside of the path becomes an input. Notes what the author does not expect.
    fn is_sent(&mut self, parameter: &OperationParameter<'d>) -> bool {
        let name = parameter.name;
        let sent = match parameter.place {
            "header" => !HOST_HEADERS.contains(&name.to_ascii_lowercase().as_str()),
            "query" => {
                let page = self.page.and_then(|page| page.param.as_deref());
                let is_page = page == Some(name);
                self.found.page_in_query |= is_page;
                !is_page
            }
            "path" => false,
            "cookie" => {
                self.notes
                    .changed(&parameter.pointer, "a cookie is not sent");
                false
            }
            other => {
                let message = format!("a parameter in `{}` is not sent", words::clean(other, 40));
                self.notes.changed(&parameter.pointer, message);
                false
            }
        };
        if !sent || self.security.carries(parameter.place, name) {
            return false;
        }
        if parameter.place == "header" && !is_header(name) {
            self.notes.changed(
                &parameter.pointer,
                "the name of the header is not one; it is not sent",
            );
            return false;
        }
        true
    }

    fn input(
        &mut self,
        parameter: &OperationParameter<'d>,
        in_path: bool,
        arguments: &mut ArgumentList<'d>,
    ) -> Result<Input, OperationRefusal> {
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
                Some(schema) => ArgumentForm::Schema(schema),
                None => ArgumentForm::Fixed(json!({"type": "string"})),
            },
        };
        let name = arguments.add(&wanted, argument);
        self.found
            .names
            .insert(parameter.name.to_owned(), name.clone());
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

pub(super) fn is_header(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
