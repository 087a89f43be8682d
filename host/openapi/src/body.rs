//! From a request body to arguments and the way they are sent.

use serde_json::{Value, json};
use toolgate_openapi_table::{Body, Content, Encoding, Field, Source};

use super::arguments::{Argument, ArgumentForm, ArgumentList};
use super::document::{Documents, Node};
use super::keys::{self, InputKeys};
use super::problem::{Notes, Problem, below};
use super::schema::{OtherFields, Shape, shape};
use super::words;

/// Most fields of one body that become arguments; a larger body stays one argument.
const FIELDS_MAX: usize = 300;

/// What an operation says about its body besides the description's own words.
pub struct BodyOptions<'a> {
    pub flatten: Option<&'a str>,
    pub graphql: Option<&'a str>,
    /// Field that carries the page and is therefore no argument.
    pub page_field: Option<&'a [String]>,
}

/// Reads a request body: arguments are added to `arguments`.
pub fn read<'d>(
    docs: &'d Documents,
    request: Option<Node<'d>>,
    pointer: &str,
    wishes: &BodyOptions<'_>,
    arguments: &mut ArgumentList<'d>,
    notes: &mut Notes,
) -> Result<Option<Body>, Problem> {
    let graphql = |fields| {
        wishes.graphql.map(|document| Body {
            encoding: Encoding::Graphql(document.trim().to_owned()),
            media_type: "application/json".to_owned(),
            content: Content::Fields {
                fields,
                objects: Vec::new(),
            },
            required: true,
        })
    };
    let Some(request) = request else {
        return Ok(graphql(Vec::new()));
    };
    let request = match docs.resolve(request) {
        Ok(request) => request,
        Err(why) => return Err(Problem::new(docs.name(), pointer, why)),
    };
    let Some((media_type, media)) = choose(request) else {
        return Ok(graphql(Vec::new()));
    };
    let at = below(&below(pointer, "content"), media_type);
    let plain = media_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let schema = media.get("schema");
    let found = schema.map(|schema| shape(docs, schema)).unwrap_or_default();
    // As one argument a JSON body can be all that its schema says. Forms have files and separators
    // by field, and a part of the body that has a name needs the fields too.
    let whole_is_more = is_json(&plain)
        && wishes.flatten.is_none()
        && wishes.graphql.is_none()
        && wishes.page_field.is_none();
    let fielded = !found.properties.is_empty()
        && !found.other
        && found.properties.len() <= FIELDS_MAX
        && (found.beyond < OtherFields::Forms || !whole_is_more);
    let encoding = match plain.as_str() {
        _ if wishes.graphql.is_some() => Encoding::Graphql(String::new()),
        "application/x-www-form-urlencoded" => Encoding::Form,
        plain if plain.starts_with("multipart/") => Encoding::Multipart,
        plain if is_json(plain) || (plain == "*/*" && fielded) => Encoding::Json,
        _ => Encoding::Raw,
    };
    let media_type = match plain.as_str() {
        "*/*" if encoding == Encoding::Json => "application/json".to_owned(),
        "*/*" => "application/octet-stream".to_owned(),
        plain if plain.contains('*') => "application/octet-stream".to_owned(),
        _ => media_type.to_owned(),
    };
    let required = request.flag("required");
    if fielded && encoding != Encoding::Raw {
        if let Some(lost) = lost(found.beyond) {
            notes.changed(&at, lost);
        }
        let mut collector = Collector {
            docs,
            media,
            encoding: &encoding,
            arguments,
            notes,
            fields: Vec::new(),
            objects: Vec::new(),
        };
        let flatten: Vec<&str> = wishes
            .flatten
            .into_iter()
            .flat_map(|path| path.split('.'))
            .collect();
        let needed = required || !found.required.is_empty();
        collector.fields(&found, &[], &flatten, needed, wishes, &at)?;
        let (fields, objects) = (collector.fields, collector.objects);
        if let Some(body) = graphql(fields.clone()) {
            return Ok(Some(body));
        }
        return Ok(Some(Body {
            encoding,
            media_type,
            content: Content::Fields { fields, objects },
            required: needed,
        }));
    }
    if wishes.flatten.is_some() {
        return Err(Problem::new(
            docs.name(),
            at,
            "`flatten` needs a body that is an object with properties",
        ));
    }
    if wishes.graphql.is_some() {
        return Ok(graphql(Vec::new()));
    }
    let file = encoding == Encoding::Raw && !is_text(&plain);
    let empty = request.at(&Value::Null);
    let node = schema.unwrap_or(empty);
    let form = match (&encoding, file) {
        (_, true) => ArgumentForm::File {
            schema: node,
            many: false,
        },
        (Encoding::Raw, _) => ArgumentForm::Fixed(json!({"type": "string"})),
        (Encoding::Form | Encoding::Multipart, _) if found.properties.is_empty() => {
            ArgumentForm::Fixed(json!({"type": "object"}))
        }
        _ => ArgumentForm::Schema(node),
    };
    let description = request
        .text("description")
        .or_else(|| Some("The body of the request.").filter(|_| !file));
    let argument = arguments.add(
        "body",
        Argument {
            name: String::new(),
            required,
            description,
            form,
        },
    );
    Ok(Some(Body {
        encoding,
        media_type,
        content: Content::Whole { argument, file },
        required,
    }))
}

/// What arguments for its fields do not say of a body.
fn lost(beyond: OtherFields) -> Option<&'static str> {
    Some(match beyond {
        OtherFields::Nothing => return None,
        OtherFields::Alternatives => {
            "the fields of all alternatives are arguments; which of them go together is not checked"
        }
        OtherFields::Anything => "the body may have further fields; they are not arguments",
        OtherFields::Forms => {
            "a field has another form in each alternative; the argument has that of the first"
        }
        OtherFields::Names => "the body may have fields of any name; they are not arguments",
    })
}

/// The media type to send: JSON, then a form, then multipart, then the first.
fn choose<'d>(request: Node<'d>) -> Option<(&'d str, Node<'d>)> {
    let all: Vec<(&str, Node<'d>)> = request.members("content").collect();
    let plain = |media: &str| {
        media
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let rank = |media: &str| match plain(media).as_str() {
        "application/json" => 0,
        plain if is_json(plain) => 1,
        "*/*" => 2,
        "application/x-www-form-urlencoded" => 3,
        plain if plain.starts_with("multipart/") => 4,
        _ => 5,
    };
    all.into_iter().min_by_key(|(media, _)| rank(media))
}

pub fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json") || media_type == "text/json"
}

/// Whether bodies of this type are text.
pub fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.ends_with("xml")
        || media_type.ends_with("yaml")
        || [
            "application/javascript",
            "application/graphql",
            "application/sql",
            "application/x-ndjson",
        ]
        .contains(&media_type)
}

struct Collector<'a, 'd> {
    docs: &'d Documents,
    media: Node<'d>,
    encoding: &'a Encoding,
    arguments: &'a mut ArgumentList<'d>,
    notes: &'a mut Notes,
    fields: Vec<Field>,
    objects: Vec<Vec<String>>,
}

impl<'d> Collector<'_, 'd> {
    fn fields(
        &mut self,
        found: &Shape<'d>,
        path: &[String],
        flatten: &[&str],
        needed: bool,
        wishes: &BodyOptions<'_>,
        pointer: &str,
    ) -> Result<(), Problem> {
        if let Some(first) = flatten.first()
            && !found.properties.iter().any(|(name, _)| name == first)
        {
            let names: Vec<&str> = found
                .properties
                .iter()
                .map(|(name, _)| *name)
                .take(12)
                .collect();
            return Err(Problem::new(
                self.docs.name(),
                pointer,
                format!(
                    "`flatten` names `{first}`, which the body does not have; it has {}",
                    names.join(", ")
                ),
            ));
        }
        for (name, node) in &found.properties {
            let mut inner = path.to_vec();
            inner.push((*name).to_owned());
            if wishes.page_field == Some(inner.as_slice()) {
                continue;
            }
            let required = needed && found.required.iter().any(|known| known == name);
            if flatten.first() == Some(name) {
                let inside = shape(self.docs, *node);
                if required {
                    self.objects.push(inner.clone());
                }
                self.fields(&inside, &inner, &flatten[1..], required, wishes, pointer)?;
                continue;
            }
            self.field(*node, inner, required, pointer)?;
        }
        Ok(())
    }

    fn field(
        &mut self,
        node: Node<'d>,
        path: Vec<String>,
        required: bool,
        pointer: &str,
    ) -> Result<(), Problem> {
        let resolved = self.docs.resolve(node).unwrap_or(node);
        if resolved.flag("readOnly") || node.flag("readOnly") {
            return Ok(());
        }
        let name = path.last().map(String::as_str).unwrap_or_default();
        let encoding = self.media.get("encoding").and_then(|all| all.get(name));
        let mut field = Field {
            source: Source::Constant(Value::Null),
            file: false,
            joined: encoding.and_then(separator),
            media_type: encoding
                .and_then(|e| e.text("contentType"))
                .filter(|media| !media.contains(['*', ',', '\r', '\n', '"']))
                .map(str::to_owned),
            path: path.clone(),
        };
        if let Some(value) = constant(resolved).filter(|_| required) {
            field.source = Source::Constant(value.clone());
            self.fields.push(field);
            return Ok(());
        }
        let at = below(&below(pointer, "properties"), name);
        let keys: InputKeys = keys::read(self.docs.name(), &at, node)?;
        let mut wanted = keys.name.unwrap_or_else(|| words::argument(name));
        if self.arguments.has(&wanted) {
            wanted = format!("body_{wanted}");
        }
        let mut form = ArgumentForm::Schema(node);
        if *self.encoding == Encoding::Multipart {
            let items = resolved
                .get("items")
                .map(|items| self.docs.resolve(items).unwrap_or(items));
            if is_file(resolved) {
                form = ArgumentForm::File {
                    schema: resolved,
                    many: false,
                };
                field.file = true;
            } else if items.is_some_and(is_file) {
                form = ArgumentForm::File {
                    schema: resolved,
                    many: true,
                };
                field.file = true;
            }
        } else if is_file(resolved) && resolved.text("type") == Some("file") {
            self.notes.changed(
                &at,
                "a file can only be sent in a multipart body; it is sent as text",
            );
        }
        let argument = Argument {
            name: String::new(),
            required,
            description: node.text("description"),
            form,
        };
        field.source = Source::Argument(self.arguments.add(&wanted, argument));
        self.fields.push(field);
        Ok(())
    }
}

/// What stands between the items of a list that a form sends as one value (OpenAPI 3.1,
/// section 4.8.15.1.2); none where each item is sent by itself.
fn separator(encoding: Node<'_>) -> Option<char> {
    let (between, apart) = match encoding.text("style") {
        None | Some("form") => (',', true),
        Some("spaceDelimited") => (' ', false),
        Some("pipeDelimited") => ('|', false),
        // Of Swagger 2.0.
        Some("tabDelimited") => ('\t', false),
        Some(_) => return None,
    };
    let explode = encoding.value.get("explode").and_then(Value::as_bool);
    (!explode.unwrap_or(apart)).then_some(between)
}

/// The one value that a schema allows.
pub fn constant<'d>(schema: Node<'d>) -> Option<&'d Value> {
    schema.value.get("const").or_else(|| {
        match schema
            .value
            .get("enum")
            .and_then(Value::as_array)?
            .as_slice()
        {
            [only] if !only.is_null() => Some(only),
            _ => None,
        }
    })
}

fn is_file(schema: Node<'_>) -> bool {
    let text = schema
        .text("contentMediaType")
        .is_some_and(|media| is_text(media) || is_json(media));
    schema.text("type") == Some("file")
        || schema.text("format") == Some("binary")
        || (schema.text("contentMediaType").is_some()
            && schema.text("contentEncoding").is_none()
            && !text)
}
