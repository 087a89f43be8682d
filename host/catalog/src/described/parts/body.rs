//! The body of a described tool's request.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{CUT, PartSource, is_written};

/// Parts of a multipart body that are looked at.
const MULTIPART_PARTS_MAX: usize = 10_000;

/// How a body is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BodyKind<'a> {
    #[default]
    Json,
    Form,
    Multipart,
    Raw,
    /// With its document, white space made one space.
    Graphql(&'a str),
}

/// The `body` entries of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyParts<'a> {
    kind: BodyKind<'a>,
    /// Other than the kind's own.
    media_type: Option<&'a str>,
    /// An argument is the whole body.
    is_whole: bool,
    fields: FieldTree<'a>,
    /// Places of pages, whose constant the page replaces.
    pages: Vec<String>,
    /// An entry was cut.
    is_cut: bool,
}

/// Declared fields by the segments of their pointers.
#[derive(Clone, Debug, Default)]
struct FieldTree<'a> {
    source: Option<PartSource<'a>>,
    members: BTreeMap<String, FieldTree<'a>>,
}

impl<'a> FieldTree<'a> {
    fn put(&mut self, pointer: &str, source: Option<PartSource<'a>>) {
        let mut node = self;
        for segment in segments(pointer) {
            node = node.members.entry(segment).or_default();
        }
        if source.is_some() {
            node.source = source;
        }
    }
}

/// The segments of a JSON Pointer (RFC 6901).
fn segments(pointer: &str) -> impl Iterator<Item = String> + '_ {
    let inner = pointer.strip_prefix('/').unwrap_or(pointer);
    inner
        .split('/')
        .map(|segment| segment.replace("~1", "/").replace("~0", "~"))
}

impl<'a> BodyParts<'a> {
    /// What follows `body ` in an entry.
    pub(super) fn entry(&mut self, text: &'a str) {
        self.is_cut |= text.contains(CUT);
        if text.starts_with('/') {
            return self.field(text);
        }
        if let Some(document) = text.strip_prefix("graphql ") {
            self.kind = BodyKind::Graphql(document);
            return;
        }
        let (text, of) = match text.split_once(" from the file {") {
            Some((before, _)) => (before, true),
            None => match text.rsplit_once(" of {") {
                Some((before, rest)) if rest.ends_with('}') && !rest.contains(' ') => {
                    (before, true)
                }
                _ => (text, false),
            },
        };
        self.is_whole |= of;
        let (kind, media_type) = match text.split_once(" as ") {
            Some((kind, media_type)) => (kind, Some(media_type)),
            None => (text, None),
        };
        self.media_type = media_type;
        self.kind = match kind {
            "form" => BodyKind::Form,
            "multipart" => BodyKind::Multipart,
            "raw" => BodyKind::Raw,
            _ => BodyKind::Json,
        };
    }

    /// `/pointer=SOURCE`, a file's with ` from the file` behind it.
    fn field(&mut self, text: &'a str) {
        let Some((pointer, source)) = text.split_once('=') else {
            return;
        };
        let source = source.strip_suffix(" from the file").unwrap_or(source);
        let source = match (source, text.contains(CUT)) {
            (_, true) => Some(PartSource::Cut),
            // An object that is there without members.
            ("{}", _) => None,
            (source, _) => Some(PartSource::parse(source)),
        };
        self.fields.put(pointer, source);
    }

    pub(super) fn page(&mut self, pointer: &str) {
        self.fields.put(pointer, Some(PartSource::Cut));
        self.pages.push(pointer.to_owned());
    }

    pub(super) fn check(
        &self,
        body: &[u8],
        media_type: &str,
        arguments: &Map<String, Value>,
        is_cut: bool,
    ) -> Result<(), String> {
        let lenient = is_cut || self.is_cut;
        self.check_media_type(media_type)?;
        match self.kind {
            BodyKind::Raw => Ok(()),
            _ if self.is_whole => Ok(()),
            BodyKind::Json => {
                let sent = parsed(body)?;
                self.check_object(&self.fields, &sent, arguments, lenient, "")
            }
            BodyKind::Graphql(document) => {
                self.check_graphql(document, &parsed(body)?, arguments, lenient)
            }
            BodyKind::Form => {
                let sent: Vec<(String, String)> = url::form_urlencoded::parse(body)
                    .map(|(name, value)| (name.into_owned(), value.into_owned()))
                    .collect();
                self.check_named(&sent, arguments, lenient)
            }
            BodyKind::Multipart => {
                let sent = parts(body, media_type)?;
                self.check_named(&sent, arguments, lenient)
            }
        }
    }

    fn check_media_type(&self, sent: &str) -> Result<(), String> {
        let own = match (self.media_type, self.kind) {
            (Some(own), _) => own,
            (None, BodyKind::Form) => "application/x-www-form-urlencoded",
            (None, BodyKind::Multipart) => "multipart/form-data",
            (None, _) => "application/json",
        };
        let essence = |text: &str| {
            let named = text.split(';').next().unwrap_or_default();
            named.trim().to_ascii_lowercase()
        };
        let unnamed = sent.is_empty() && self.media_type.is_none();
        match unnamed || essence(own) == essence(sent) {
            true => Ok(()),
            false => Err(format!("the tool declares a body of the type {own}")),
        }
    }

    fn check_graphql(
        &self,
        document: &str,
        sent: &Value,
        arguments: &Map<String, Value>,
        lenient: bool,
    ) -> Result<(), String> {
        let asked = sent
            .get("query")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let asked: Vec<&str> = asked.split_whitespace().collect();
        let (asked, is_cut) = (asked.join(" "), document.contains(CUT));
        let begins = document.split("... (SHA-256").next().unwrap_or_default();
        if asked != document && !(is_cut && asked.starts_with(begins)) {
            return Err("the tool declares another GraphQL document".to_owned());
        }
        let mut fields = sent.as_object().into_iter().flat_map(Map::keys);
        if let Some(more) = fields.find(|name| !matches!(name.as_str(), "query" | "variables")) {
            return Err(format!("the tool declares no `{more}` in its body"));
        }
        match sent.get("variables") {
            None => Ok(()),
            Some(variables) => self.check_object(&self.fields, variables, arguments, lenient, ""),
        }
    }

    /// The members of an object against those that are declared. At the top, an argument goes where its name says.
    fn check_object(
        &self,
        declared: &FieldTree<'_>,
        sent: &Value,
        arguments: &Map<String, Value>,
        lenient: bool,
        at: &str,
    ) -> Result<(), String> {
        let Value::Object(sent) = sent else {
            return Err(format!("the tool declares an object at `{at}` of its body"));
        };
        for (name, value) in sent {
            let place = format!("{at}/{name}");
            match declared.members.get(name) {
                Some(field) => self.check_field(field, value, arguments, lenient, &place)?,
                None if lenient || (at.is_empty() && arguments.contains_key(name)) => {}
                None => return Err(format!("the tool declares no `{place}` in its body")),
            }
        }
        for (name, field) in &declared.members {
            let place = format!("{at}/{name}");
            let constant = matches!(field.source, Some(PartSource::Constant(_)));
            if constant && !sent.contains_key(name) && !self.pages.contains(&place) {
                return Err(format!("the tool declares `{place}` in its body"));
            }
        }
        Ok(())
    }

    fn check_field(
        &self,
        field: &FieldTree<'_>,
        value: &Value,
        arguments: &Map<String, Value>,
        lenient: bool,
        place: &str,
    ) -> Result<(), String> {
        match &field.source {
            Some(PartSource::Constant(constant)) => {
                match constant == value || self.pages.iter().any(|page| page == place) {
                    true => Ok(()),
                    false => Err(format!(
                        "the tool declares another value of `{place}` in its body"
                    )),
                }
            }
            Some(PartSource::Argument(_) | PartSource::Cut) => Ok(()),
            None => self.check_object(field, value, arguments, lenient, place),
        }
    }

    /// Fields of a form, `a[b]` for a member.
    fn check_named(
        &self,
        sent: &[(String, String)],
        arguments: &Map<String, Value>,
        lenient: bool,
    ) -> Result<(), String> {
        for (name, value) in sent {
            let base = name.split('[').next().unwrap_or_default();
            let declared = self
                .fields
                .members
                .get(name)
                .or_else(|| self.fields.members.get(base));
            match declared.map(|field| &field.source) {
                Some(Some(PartSource::Constant(constant))) if !is_written(constant, value) => {
                    return Err(format!(
                        "the tool declares another value of `{name}` in its body"
                    ));
                }
                Some(_) => {}
                None if lenient || arguments.contains_key(name) || arguments.contains_key(base) => {
                }
                None => return Err(format!("the tool declares no `{name}` in its body")),
            }
        }
        for (name, field) in &self.fields.members {
            let constant = match &field.source {
                Some(PartSource::Constant(value)) => !value.is_object() && !value.is_array(),
                _ => false,
            };
            let is_page = self
                .pages
                .iter()
                .any(|page| segments(page).eq([name.clone()]));
            if constant && !is_page && !sent.iter().any(|(own, _)| own == name) {
                return Err(format!("the tool declares `{name}` in its body"));
            }
        }
        Ok(())
    }
}

fn parsed(body: &[u8]) -> Result<Value, String> {
    // Of a key that occurs twice, two readers may see different values.
    toolgate_core::json::check(body)
        .map_err(|problem| format!("the body is no JSON document: {problem}"))?;
    serde_json::from_slice(body)
        .map_err(|problem| format!("the body is no JSON document: {problem}"))
}

/// The name of each part of a multipart body (RFC 7578), and the text of those that hold no file.
fn parts(body: &[u8], media_type: &str) -> Result<Vec<(String, String)>, String> {
    let unreadable = || "the body is no multipart form".to_owned();
    let boundary = media_type.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let named = name.trim().eq_ignore_ascii_case("boundary");
        named.then(|| value.trim().trim_matches('"'))
    });
    let boundary = boundary
        .filter(|text| !text.is_empty())
        .ok_or_else(unreadable)?;
    let delimiter = format!("--{boundary}");
    let mut found = Vec::new();
    for part in split(body, delimiter.as_bytes()).into_iter().skip(1) {
        if part.starts_with(b"--") {
            return Ok(found);
        }
        if found.len() == MULTIPART_PARTS_MAX {
            break;
        }
        let blank = part
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .ok_or_else(unreadable)?;
        let head = String::from_utf8_lossy(&part[..blank]);
        let disposition = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let named = name.trim().eq_ignore_ascii_case("content-disposition");
            named.then(|| value.trim().to_owned())
        });
        let disposition = disposition.ok_or_else(unreadable)?;
        let name = quoted(&disposition, "; name=\"").ok_or_else(unreadable)?;
        let content = &part[blank + 4..part.len().saturating_sub(2).max(blank + 4)];
        let text = match disposition.contains("; filename") {
            true => String::new(),
            false => String::from_utf8_lossy(content).into_owned(),
        };
        found.push((name, text));
    }
    Err(unreadable())
}

/// The quoted text behind a mark; browsers and servers write `%22` for a quote in it.
fn quoted(text: &str, mark: &str) -> Option<String> {
    let from = text.find(mark)? + mark.len();
    let end = text[from..].find('"')?;
    Some(text[from..from + end].replace("%22", "\""))
}

fn split<'b>(body: &'b [u8], delimiter: &[u8]) -> Vec<&'b [u8]> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at + delimiter.len() <= body.len() {
        if body[at..].starts_with(delimiter) {
            pieces.push(&body[from..at]);
            at += delimiter.len();
            from = at;
        } else {
            at += 1;
        }
    }
    pieces.push(&body[from..]);
    pieces
}
