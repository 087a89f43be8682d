//! From a request body to arguments and the way they are sent.

mod fields;

use serde_json::{Value, json};
use toolgate_openapi_table::{Body, Content, Encoding, Field};

use super::arguments::{Argument, ArgumentForm, ArgumentList};
use super::document::{Documents, Node};
use super::problem::{Notes, Problem, below};
use super::schema::{OtherFields, Shape, shape};
use fields::FieldReader;

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
    options: &BodyOptions<'_>,
    arguments: &mut ArgumentList<'d>,
    notes: &mut Notes,
) -> Result<Option<Body>, Problem> {
    let without_variables = || {
        let document = options.graphql;
        document.map(|document| graphql_body(document, Vec::new(), Vec::new()))
    };
    let Some(request) = request else {
        return Ok(without_variables());
    };
    let request = match docs.resolve(request) {
        Ok(request) => request,
        Err(why) => return Err(Problem::new(docs.name(), pointer, why)),
    };
    let Some((media_type, media)) = choose(request) else {
        return Ok(without_variables());
    };
    let body = DeclaredBody::new(docs, request, media_type, media);
    let at = below(&below(pointer, "content"), media_type);
    let fielded = body.has_fields(options);
    let encoding = body.encoding(options, fielded);
    if fielded && encoding != Encoding::Raw {
        let (content, required) = body.fields(docs, &encoding, options, &at, arguments, notes)?;
        return Ok(Some(match (options.graphql, content) {
            (Some(document), Content::Fields { fields, objects }) => {
                graphql_body(document, fields, objects)
            }
            (_, content) => Body {
                media_type: body.media_type(&encoding),
                encoding,
                content,
                required,
            },
        }));
    }
    if options.flatten.is_some() {
        return Err(Problem::new(
            docs.name(),
            at,
            "`flatten` needs a body that is an object with properties",
        ));
    }
    if options.graphql.is_some() {
        return Ok(without_variables());
    }
    Ok(Some(body.whole(encoding, arguments)))
}

/// `objects`: see [`FieldReader::objects`].
fn graphql_body(document: &str, fields: Vec<Field>, objects: Vec<Vec<String>>) -> Body {
    Body {
        encoding: Encoding::Graphql(document.trim().to_owned()),
        media_type: "application/json".to_owned(),
        content: Content::Fields { fields, objects },
        required: true,
    }
}

/// A request body with the media type that is sent.
struct DeclaredBody<'d> {
    /// The Request Body Object.
    request: Node<'d>,
    /// Its key in `content`.
    media_type: &'d str,
    /// `media_type` in lower case without parameters.
    plain: String,
    /// Its Media Type Object.
    media: Node<'d>,
    schema: Option<Node<'d>>,
    shape: Shape<'d>,
}

impl<'d> DeclaredBody<'d> {
    fn new(docs: &'d Documents, request: Node<'d>, media_type: &'d str, media: Node<'d>) -> Self {
        let schema = media.get("schema");
        Self {
            request,
            media_type,
            plain: plain(media_type),
            media,
            schema,
            shape: schema.map(|schema| shape(docs, schema)).unwrap_or_default(),
        }
    }

    /// Whether the properties become one argument each. A JSON body as one argument can have every form that its schema
    /// allows. A form needs its fields for their files and separators, and so does an option that names a field.
    fn has_fields(&self, options: &BodyOptions<'_>) -> bool {
        let whole_is_more = is_json(&self.plain)
            && options.flatten.is_none()
            && options.graphql.is_none()
            && options.page_field.is_none();
        !self.shape.properties.is_empty()
            && !self.shape.other
            && self.shape.properties.len() <= FIELDS_MAX
            && (self.shape.beyond < OtherFields::Forms || !whole_is_more)
    }

    fn encoding(&self, options: &BodyOptions<'_>, fielded: bool) -> Encoding {
        match self.plain.as_str() {
            _ if options.graphql.is_some() => Encoding::Graphql(String::new()),
            "application/x-www-form-urlencoded" => Encoding::Form,
            plain if plain.starts_with("multipart/") => Encoding::Multipart,
            plain if is_json(plain) || (plain == "*/*" && fielded) => Encoding::Json,
            _ => Encoding::Raw,
        }
    }

    /// The `Content-Type` to send. A range such as `*/*` is replaced by a media type.
    fn media_type(&self, encoding: &Encoding) -> String {
        match self.plain.as_str() {
            "*/*" if *encoding == Encoding::Json => "application/json".to_owned(),
            "*/*" => "application/octet-stream".to_owned(),
            plain if plain.contains('*') => "application/octet-stream".to_owned(),
            _ => self.media_type.to_owned(),
        }
    }

    /// One argument for each field, and whether the body is required.
    fn fields(
        &self,
        docs: &'d Documents,
        encoding: &Encoding,
        options: &BodyOptions<'_>,
        pointer: &str,
        arguments: &mut ArgumentList<'d>,
        notes: &mut Notes,
    ) -> Result<(Content, bool), Problem> {
        if let Some(lost) = lost(self.shape.beyond) {
            notes.changed(pointer, lost);
        }
        let mut reader = FieldReader {
            docs,
            media: self.media,
            encoding,
            page_field: options.page_field,
            pointer,
            arguments,
            notes,
            fields: Vec::new(),
            objects: Vec::new(),
        };
        let flatten: Vec<&str> = options
            .flatten
            .into_iter()
            .flat_map(|path| path.split('.'))
            .collect();
        let required = self.request.flag("required") || !self.shape.required.is_empty();
        reader.fields(&self.shape, &[], &flatten, required)?;
        let content = Content::Fields {
            fields: reader.fields,
            objects: reader.objects,
        };
        Ok((content, required))
    }

    /// The body as one argument.
    fn whole(&self, encoding: Encoding, arguments: &mut ArgumentList<'d>) -> Body {
        let file = encoding == Encoding::Raw && !is_text(&self.plain);
        let node = self.schema.unwrap_or(self.request.at(&Value::Null));
        let form = match (&encoding, file) {
            (_, true) => ArgumentForm::File {
                schema: node,
                many: false,
            },
            (Encoding::Raw, _) => ArgumentForm::Fixed(json!({"type": "string"})),
            (Encoding::Form | Encoding::Multipart, _) if self.shape.properties.is_empty() => {
                ArgumentForm::Fixed(json!({"type": "object"}))
            }
            _ => ArgumentForm::Schema(node),
        };
        let required = self.request.flag("required");
        let description = self
            .request
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
        Body {
            media_type: self.media_type(&encoding),
            encoding,
            content: Content::Whole { argument, file },
            required,
        }
    }
}

/// What is lost where a body becomes one argument for each field.
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

/// A media type in lower case without parameters.
fn plain(media_type: &str) -> String {
    let media_type = media_type.split(';').next().unwrap_or_default();
    media_type.trim().to_ascii_lowercase()
}

/// JSON under other names than `application/json` and `+json`: the two protocols of AWS are JSON with a version.
const JSON_TYPES: &[&str] = &[
    "application/json",
    "application/x-amz-json-1.0",
    "application/x-amz-json-1.1",
    "text/json",
];

pub fn is_json(media_type: &str) -> bool {
    JSON_TYPES.contains(&media_type) || media_type.ends_with("+json")
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
