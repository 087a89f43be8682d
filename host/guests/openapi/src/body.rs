//! Request bodies, a file each: [`json`] and the variables of GraphQL, [`form`], [`multipart`]. A raw
//! body is its argument.

mod form;
mod json;
pub mod multipart;

use serde_json::{Map, Value};
use toolgate_openapi_table::{Body, Content, Encoding, Field, Source};

use crate::encode;
use crate::failure::{Fault, Kind};
use multipart::{Part, PartContent};

/// A body ready to send. File references are still to be opened.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    Empty,
    Bytes(Vec<u8>),
    /// A file is the whole body.
    File(String),
    Multipart(Vec<Part>),
}

/// The payload and its `Content-Type`, which multipart sets itself.
pub fn build(
    body: &Body,
    arguments: &Map<String, Value>,
    page: Option<(&[String], Value)>,
) -> Result<(Payload, Option<String>), Fault> {
    let (fields, objects) = match &body.content {
        Content::Whole { argument, file } => return whole(body, argument, *file, arguments),
        Content::Fields { fields, objects } => (fields, objects),
    };
    let filled: Vec<(&Field, &Value)> = fields
        .iter()
        .filter_map(|field| match &field.source {
            Source::Constant(value) => Some((field, value)),
            Source::Argument(name) => arguments.get(name).map(|value| (field, value)),
        })
        .collect();
    let given = filled
        .iter()
        .any(|(field, _)| matches!(field.source, Source::Argument(_)));
    if !given && !body.required && page.is_none() && !matches!(body.encoding, Encoding::Graphql(_))
    {
        return Ok((Payload::Empty, None));
    }
    let media_type = Some(body.media_type.clone());
    match &body.encoding {
        Encoding::Json => {
            let tree = json::tree(&filled, objects, page);
            Ok((Payload::Bytes(tree.to_string().into_bytes()), media_type))
        }
        Encoding::Graphql(document) => {
            let request = json::graphql(document, json::tree(&filled, objects, page));
            Ok((Payload::Bytes(request.to_string().into_bytes()), media_type))
        }
        Encoding::Form => {
            let text = form::fields(&filled, page);
            Ok((Payload::Bytes(text.into_bytes()), media_type))
        }
        Encoding::Multipart => Ok((Payload::Multipart(multipart::parts(&filled, page)?), None)),
        Encoding::Raw => Err(Fault::new(Kind::Internal, "a raw body has no fields")),
    }
}

fn whole(
    body: &Body,
    argument: &str,
    file: bool,
    arguments: &Map<String, Value>,
) -> Result<(Payload, Option<String>), Fault> {
    let Some(value) = arguments.get(argument) else {
        return Ok((Payload::Empty, None));
    };
    let media_type = Some(body.media_type.clone());
    if file {
        let Value::String(reference) = value else {
            return Err(Fault::argument(argument, "must be a file reference"));
        };
        return Ok((Payload::File(reference.clone()), media_type));
    }
    let text = match (&body.encoding, value) {
        (Encoding::Raw, Value::String(text)) => text.clone(),
        (Encoding::Form, Value::Object(map)) => form::whole(map),
        (Encoding::Multipart, Value::Object(map)) => {
            let parts = map
                .iter()
                .map(|(name, value)| Part {
                    name: name.clone(),
                    media_type: None,
                    content: PartContent::Text(encode::scalar(value)),
                })
                .collect();
            return Ok((Payload::Multipart(parts), None));
        }
        (_, value) => value.to_string(),
    };
    Ok((Payload::Bytes(text.into_bytes()), media_type))
}

/// Bodies that the tests of each kind are made of.
#[cfg(test)]
mod sample {
    use serde_json::{Map, Value};
    use toolgate_openapi_table::{Body, Content, Encoding, Field, Source};

    use super::{Payload, build};

    pub(crate) fn field(path: &[&str], argument: &str) -> Field {
        Field {
            path: path.iter().map(|s| (*s).to_owned()).collect(),
            source: Source::Argument(argument.into()),
            file: false,
            joined: None,
            media_type: None,
        }
    }

    pub(crate) fn body(encoding: Encoding, fields: Vec<Field>) -> Body {
        Body {
            encoding,
            media_type: "x/y".into(),
            content: Content::Fields {
                fields,
                objects: vec![],
            },
            required: false,
        }
    }

    pub(crate) fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    pub(crate) fn text(body: &Body, arguments: Value) -> Option<String> {
        match build(body, &object(arguments), None).expect("a payload").0 {
            Payload::Bytes(bytes) => Some(String::from_utf8(bytes).expect("UTF-8")),
            Payload::Empty => None,
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_openapi_table::{Body, Content, Encoding};

    use super::sample::{object, text};
    use super::{Payload, build};

    #[test]
    fn a_whole_body_is_text_json_or_a_file() {
        let raw = |encoding, file| Body {
            encoding,
            media_type: "text/plain".into(),
            content: Content::Whole {
                argument: "body".into(),
                file,
            },
            required: false,
        };
        assert_eq!(
            text(&raw(Encoding::Raw, false), json!({"body": "as it is"})).as_deref(),
            Some("as it is")
        );
        assert_eq!(
            text(&raw(Encoding::Json, false), json!({"body": ["a"]})).as_deref(),
            Some(r#"["a"]"#)
        );
        let file = build(
            &raw(Encoding::Raw, true),
            &object(json!({"body": "blob:9"})),
            None,
        )
        .expect("a payload");
        assert_eq!(file.0, Payload::File("blob:9".into()));
    }
}
