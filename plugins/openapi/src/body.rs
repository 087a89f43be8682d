//! Request bodies: JSON, GraphQL, form, multipart and raw.

use serde_json::{Map, Value};
use toolgate_openapi_table::{Body, Content, Encoding, Field, Source};

use crate::encode;
use crate::failure::{Fault, Kind};

/// A body ready to send. File references are still to be opened.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    Empty,
    Bytes(Vec<u8>),
    /// A file is the whole body.
    File(String),
    Multipart(Vec<Part>),
}

/// One part of `multipart/form-data` (RFC 7578).
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: String,
    pub media_type: Option<String>,
    pub content: PartContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    Text(String),
    File(String),
}

/// A file that was opened for a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    pub name: Option<String>,
    pub media_type: String,
    pub data: Vec<u8>,
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
            let tree = tree(&filled, objects, page);
            Ok((Payload::Bytes(tree.to_string().into_bytes()), media_type))
        }
        Encoding::Graphql(document) => {
            let mut request = Tree::default();
            request.put(&["query".to_owned()], Value::from(document.as_str()));
            request.members.push((
                "variables".to_owned(),
                Node::Object(tree(&filled, objects, page)),
            ));
            Ok((Payload::Bytes(request.to_string().into_bytes()), media_type))
        }
        Encoding::Form => {
            let mut pairs = Vec::new();
            for (field, value) in filled {
                form_pairs(field, value, &mut pairs);
            }
            if let Some((path, value)) = page {
                pairs.push((bracketed(path), encode::scalar(&value)));
            }
            let text: Vec<String> = pairs
                .iter()
                .map(|(name, value)| {
                    format!(
                        "{}={}",
                        encode::percent(name, false),
                        encode::percent(value, false)
                    )
                })
                .collect();
            Ok((Payload::Bytes(text.join("&").into_bytes()), media_type))
        }
        Encoding::Multipart => Ok((Payload::Multipart(parts(&filled)?), None)),
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
        (Encoding::Form, Value::Object(map)) => {
            let mut pairs = Vec::new();
            for (key, value) in map {
                encode::flatten(key, value, &mut pairs);
            }
            let text: Vec<String> = pairs
                .iter()
                .map(|(name, value)| {
                    format!(
                        "{}={}",
                        encode::percent(name, false),
                        encode::percent(value, false)
                    )
                })
                .collect();
            text.join("&")
        }
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

fn form_pairs(field: &Field, value: &Value, pairs: &mut Vec<(String, String)>) {
    let name = bracketed(&field.path);
    match value {
        Value::Array(items) if field.joined => {
            let all: Vec<String> = items.iter().map(encode::scalar).collect();
            pairs.push((name, all.join(",")));
        }
        other => encode::flatten(&name, other, pairs),
    }
}

/// `["a", "b"]` as `a[b]`.
fn bracketed(path: &[String]) -> String {
    let mut name = path.first().cloned().unwrap_or_default();
    for segment in path.iter().skip(1) {
        name.push_str(&format!("[{segment}]"));
    }
    name
}

fn parts(filled: &[(&Field, &Value)]) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    for (field, value) in filled {
        let name = bracketed(&field.path);
        let values: Vec<&Value> = match value {
            Value::Array(items)
                if field.file || items.iter().all(|i| !i.is_object() && !i.is_array()) =>
            {
                items.iter().collect()
            }
            other => vec![other],
        };
        for value in values {
            let content = match value {
                Value::String(reference) if field.file => PartContent::File(reference.clone()),
                _ if field.file => {
                    let argument = match &field.source {
                        Source::Argument(name) => name.as_str(),
                        Source::Constant(_) => "",
                    };
                    return Err(Fault::argument(argument, "must be a file reference"));
                }
                other => PartContent::Text(encode::scalar(other)),
            };
            let json = value.is_object() || value.is_array();
            let media_type = field
                .media_type
                .clone()
                .or_else(|| json.then(|| "application/json".to_owned()));
            parts.push(Part {
                name: name.clone(),
                media_type,
                content,
            });
        }
    }
    Ok(parts)
}

/// Writes a multipart body; `files` in the order of the parts that are files.
pub fn multipart(parts: &[Part], files: Vec<OpenFile>, boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut files = files.into_iter();
    for part in parts {
        let name = quoted(&part.name);
        let head = |file: Option<&str>, media_type: Option<&str>| {
            let file = file
                .map(|file| format!("; filename=\"{}\"", quoted(file)))
                .unwrap_or_default();
            let media_type = media_type
                .map(|m| format!("Content-Type: {}\r\n", quoted(m)))
                .unwrap_or_default();
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n{media_type}\r\n"
            )
        };
        match &part.content {
            PartContent::Text(text) => {
                out.extend(head(None, part.media_type.as_deref()).into_bytes());
                out.extend(text.as_bytes());
            }
            PartContent::File(_) => {
                let file = files.next().unwrap_or(OpenFile {
                    name: None,
                    media_type: "application/octet-stream".to_owned(),
                    data: Vec::new(),
                });
                let media_type = part.media_type.as_deref().unwrap_or(&file.media_type);
                out.extend(
                    head(
                        Some(file.name.as_deref().unwrap_or("file")),
                        Some(media_type),
                    )
                    .into_bytes(),
                );
                out.extend(&file.data);
            }
        }
        out.extend(b"\r\n");
    }
    out.extend(format!("--{boundary}--\r\n").into_bytes());
    out
}

/// A text inside quotes of a part's head (RFC 7578, section 2: percent-encoding as browsers do).
fn quoted(text: &str) -> String {
    text.replace('\r', "%0D")
        .replace('\n', "%0A")
        .replace('"', "%22")
}

/// A boundary that occurs in none of the contents: a fold of them, so that equal bodies are equal.
pub fn boundary(parts: &[Part], files: &[OpenFile]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for part in parts {
        eat(part.name.as_bytes());
        if let PartContent::Text(text) = &part.content {
            eat(text.as_bytes());
        }
    }
    for file in files {
        eat(&file.data);
    }
    loop {
        let boundary = format!("----toolgate{hash:016x}");
        let needle = boundary.as_bytes();
        let inside = |hay: &[u8]| hay.windows(needle.len()).any(|window| window == needle);
        let taken = files.iter().any(|file| inside(&file.data))
            || parts.iter().any(
                |part| matches!(&part.content, PartContent::Text(text) if inside(text.as_bytes())),
            );
        if !taken {
            return boundary;
        }
        hash = hash.wrapping_add(1);
    }
}

/// A JSON object in the order in which it was filled.
#[derive(Default)]
struct Tree {
    members: Vec<(String, Node)>,
}

enum Node {
    Value(Value),
    Object(Tree),
}

fn tree(
    filled: &[(&Field, &Value)],
    objects: &[Vec<String>],
    page: Option<(&[String], Value)>,
) -> Tree {
    let mut tree = Tree::default();
    for path in objects {
        tree.object(path);
    }
    for (field, value) in filled {
        tree.put(&field.path, (*value).clone());
    }
    if let Some((path, value)) = page {
        tree.put(path, value);
    }
    tree
}

impl Tree {
    /// The object at `path`, made where absent. A plain value in the way is replaced.
    fn object(&mut self, path: &[String]) -> &mut Self {
        let Some((first, rest)) = path.split_first() else {
            return self;
        };
        let index = match self.members.iter().position(|(name, _)| name == first) {
            Some(index) => index,
            None => {
                self.members
                    .push((first.clone(), Node::Object(Self::default())));
                self.members.len() - 1
            }
        };
        let node = &mut self.members[index].1;
        if !matches!(node, Node::Object(_)) {
            *node = Node::Object(Self::default());
        }
        match node {
            Node::Object(tree) => tree.object(rest),
            Node::Value(_) => unreachable!("made an object above"),
        }
    }

    fn put(&mut self, path: &[String], value: Value) {
        let Some((last, parents)) = path.split_last() else {
            return;
        };
        let parent = self.object(parents);
        match parent.members.iter_mut().find(|(name, _)| name == last) {
            Some((_, node)) => *node = Node::Value(value),
            None => parent.members.push((last.clone(), Node::Value(value))),
        }
    }
}

impl std::fmt::Display for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("{")?;
        for (index, (name, node)) in self.members.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}:", Value::from(name.as_str()))?;
            match node {
                Node::Value(value) => write!(f, "{value}")?,
                Node::Object(tree) => write!(f, "{tree}")?,
            }
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};
    use toolgate_openapi_table::{Body, Content, Encoding, Field, Source};

    use super::{OpenFile, Payload, boundary, build, multipart};

    fn field(path: &[&str], argument: &str) -> Field {
        Field {
            path: path.iter().map(|s| (*s).to_owned()).collect(),
            source: Source::Argument(argument.into()),
            file: false,
            joined: false,
            media_type: None,
        }
    }

    fn body(encoding: Encoding, fields: Vec<Field>) -> Body {
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

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn text(body: &Body, arguments: Value) -> Option<String> {
        match build(body, &object(arguments), None).expect("a payload").0 {
            Payload::Bytes(bytes) => Some(String::from_utf8(bytes).expect("UTF-8")),
            Payload::Empty => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn json_keeps_the_descriptions_order_and_wraps() {
        let mut wrapped = body(
            Encoding::Json,
            vec![
                field(&["ticket", "subject"], "subject"),
                Field {
                    source: Source::Constant(json!("task")),
                    ..field(&["ticket", "type"], "")
                },
                field(&["ticket", "comment", "body"], "text"),
                field(&["notify"], "notify"),
            ],
        );
        assert_eq!(
            text(
                &wrapped,
                json!({"notify": null, "text": "b", "subject": "a"})
            )
            .as_deref(),
            Some(
                r#"{"ticket":{"subject":"a","type":"task","comment":{"body":"b"}},"notify":null}"#
            )
        );
        assert_eq!(text(&wrapped, json!({})), None);
        wrapped.required = true;
        wrapped.content = Content::Fields {
            fields: vec![],
            objects: vec![vec!["ticket".into()]],
        };
        assert_eq!(
            text(&wrapped, json!({})).as_deref(),
            Some(r#"{"ticket":{}}"#)
        );
    }

    #[test]
    fn forms_repeat_lists_and_bracket_objects() {
        let form = body(
            Encoding::Form,
            vec![
                field(&["to[]"], "to"),
                field(&["meta"], "meta"),
                field(&["s"], "s"),
            ],
        );
        assert_eq!(
            text(
                &form,
                json!({"to": ["a b", "c"], "meta": {"k": {"x": 1}}, "s": "1+1=2"})
            )
            .as_deref(),
            Some("to%5B%5D=a%20b&to%5B%5D=c&meta%5Bk%5D%5Bx%5D=1&s=1%2B1%3D2")
        );
    }

    #[test]
    fn graphql_sends_the_document_with_the_arguments_as_variables() {
        let query = body(
            Encoding::Graphql("query($id: ID!) { issue(id: $id) { id } }".into()),
            vec![field(&["id"], "id")],
        );
        assert_eq!(
            text(&query, json!({"id": "A-1"})).as_deref(),
            Some(
                r#"{"query":"query($id: ID!) { issue(id: $id) { id } }","variables":{"id":"A-1"}}"#
            )
        );
    }

    #[test]
    fn multipart_sends_files_with_their_names_and_nothing_can_forge_a_part() {
        let form = body(
            Encoding::Multipart,
            vec![
                field(&["title"], "title"),
                Field {
                    file: true,
                    ..field(&["file"], "file")
                },
            ],
        );
        let arguments = object(json!({"title": "a", "file": "blob:1"}));
        let Payload::Multipart(parts) = build(&form, &arguments, None).expect("a payload").0 else {
            panic!("not multipart");
        };
        let file = OpenFile {
            name: Some("x\".txt\r\n".into()),
            media_type: "text/plain".into(),
            data: b"hi".to_vec(),
        };
        let mark = boundary(&parts, std::slice::from_ref(&file));
        let text = String::from_utf8(multipart(&parts, vec![file], &mark)).expect("UTF-8");
        assert_eq!(
            text,
            format!(
                "--{mark}\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n\
                 --{mark}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x%22.txt%0D%0A\"\r\n\
                 Content-Type: text/plain\r\n\r\nhi\r\n--{mark}--\r\n"
            )
        );
        let refused = build(&form, &object(json!({"file": 7})), None).expect_err("not a reference");
        assert_eq!(refused.field.as_deref(), Some("/file"));
    }

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
