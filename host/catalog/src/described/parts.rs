//! The parts of a described tool's request: `with` beside `send`.
//!
//! Each entry names a part of the request and where its value comes from; arguments that go where their name says are
//! left out (`openapi/src/operation/request.rs` writes the entries). A request has the declared constants, and beside
//! them nothing that is neither declared nor an argument of the call. Pure; egress asks [`DeclaredParts::check`] about
//! each request that may change something.

mod body;

use serde_json::{Map, Value};
use url::Url;

use crate::manifest::DescribedRequest;
use body::BodyParts;

/// Headers that say how an answer or a body is written, or that the host adds.
const PLAIN_HEADERS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "content-length",
    "content-type",
    "idempotency-key",
    "traceparent",
    "tracestate",
    "user-agent",
];
/// An entry that was too long ends so.
const CUT: &str = " (SHA-256 ";

/// A request as it is sent, before its credential.
#[derive(Clone, Copy, Debug)]
pub struct SentRequest<'r> {
    pub url: &'r Url,
    /// Names in lower case.
    pub headers: &'r [(&'r str, &'r [u8])],
    pub body: &'r [u8],
}

/// The entries of `with`, read.
#[derive(Clone, Debug)]
pub struct DeclaredParts<'a> {
    query: Vec<DeclaredPart<'a>>,
    headers: Vec<DeclaredPart<'a>>,
    /// Names of query parameters that hold a page.
    page_query: Vec<&'a str>,
    body: Option<BodyParts<'a>>,
    /// Whether the list was cut for its length: then a name that is not in it may still be declared.
    is_cut: bool,
}

/// A query parameter or a header.
#[derive(Clone, Debug)]
struct DeclaredPart<'a> {
    name: &'a str,
    source: PartSource<'a>,
}

/// Where the value of a part comes from.
#[derive(Clone, Debug, PartialEq)]
enum PartSource<'a> {
    Argument(&'a str),
    Constant(Value),
    /// The entry was cut: any value.
    Cut,
}

impl<'a> PartSource<'a> {
    /// `{argument}`, or a constant as JSON.
    fn parse(text: &'a str) -> Self {
        let argument = text
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'));
        if let Some(argument) = argument.filter(|name| !name.is_empty() && !name.contains('"')) {
            return Self::Argument(argument);
        }
        match serde_json::from_str(text) {
            Ok(value) => Self::Constant(value),
            Err(_) => Self::Cut,
        }
    }
}

impl PartSource<'_> {
    /// Whether a value that is written so may come from here.
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Constant(constant) => is_written(constant, text),
            Self::Argument(_) | Self::Cut => true,
        }
    }
}

impl<'a> DeclaredParts<'a> {
    /// Reads the entries. One of a form that is not known declares nothing.
    pub fn parse(request: &'a DescribedRequest) -> Self {
        let mut parts = Self {
            query: Vec::new(),
            headers: Vec::new(),
            page_query: Vec::new(),
            body: None,
            is_cut: false,
        };
        for entry in &request.with {
            match entry.split_once(' ') {
                Some(("query", rest)) => parts.query.extend(DeclaredPart::parse(rest)),
                Some(("header", rest)) => parts.headers.extend(DeclaredPart::parse(rest)),
                Some(("page", rest)) => match rest.split_once(' ') {
                    Some(("query", name)) => parts.page_query.push(name),
                    Some(("body", pointer)) => parts.body_part().page(pointer),
                    _ => {}
                },
                Some(("body", rest)) => parts.body_part().entry(rest),
                Some(("path" | "accept", _)) => {}
                _ => parts.is_cut |= entry.contains(" more (SHA-256 "),
            }
        }
        parts
    }

    fn body_part(&mut self) -> &mut BodyParts<'a> {
        self.body.get_or_insert_default()
    }

    /// Refuses a request that has more than what is declared, or another constant; the error is a sentence.
    /// `arguments`: those of the call.
    pub fn check(
        &self,
        sent: SentRequest<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<(), String> {
        self.check_query(sent.url, arguments)?;
        self.check_headers(sent.headers)?;
        match &self.body {
            None if sent.body.is_empty() => Ok(()),
            None => Err("the tool declares no body".to_owned()),
            Some(_) if sent.body.is_empty() => Ok(()),
            Some(body) => {
                let kind = sent
                    .headers
                    .iter()
                    .find(|(name, _)| *name == "content-type");
                let kind = kind.and_then(|(_, value)| std::str::from_utf8(value).ok());
                body.check(sent.body, kind.unwrap_or_default(), arguments, self.is_cut)
            }
        }
    }

    fn check_query(&self, url: &Url, arguments: &Map<String, Value>) -> Result<(), String> {
        let usual = self.body.is_none();
        let members = self.members(arguments);
        for (name, value) in url.query_pairs() {
            // `filter[state]` is a member of `filter`.
            let base = name.split('[').next().unwrap_or_default();
            if self.page_query.contains(&&*name) {
                continue;
            }
            // A name may be declared more than once, with a constant each.
            let named = |part: &&DeclaredPart<'_>| part.name == name || part.name == base;
            let mut declared = self.query.iter().filter(named).peekable();
            if declared.peek().is_some() {
                if declared.any(|part| part.source.fits(&value)) {
                    continue;
                }
                return Err(format!(
                    "the tool declares another value of `{name}` in its query"
                ));
            }
            let is_argument = usual && arguments.contains_key(base);
            let is_member = members.iter().any(|member| *member == name);
            if !is_argument && !is_member && !self.is_cut {
                return Err(format!("the tool declares no `{name}` in its query"));
            }
        }
        self.check_constants(url)
    }

    /// A constant that is left out makes another request.
    fn check_constants(&self, url: &Url) -> Result<(), String> {
        for part in &self.query {
            let PartSource::Constant(constant) = &part.source else {
                continue;
            };
            let spread = constant.is_object() || constant.is_array();
            let is_there = url
                .query_pairs()
                .any(|(name, value)| name == part.name && is_written(constant, &value));
            if !spread && !is_there && !self.page_query.contains(&part.name) {
                return Err(format!("the tool declares `{}` in its query", part.name));
            }
        }
        Ok(())
    }

    /// Names in objects that an argument spreads over the query (OpenAPI's `explode`).
    fn members<'v>(&self, arguments: &'v Map<String, Value>) -> Vec<&'v str> {
        let spread = arguments.iter().filter(|(argument, _)| {
            let named =
                |part: &DeclaredPart<'_>| part.source == PartSource::Argument(argument.as_str());
            self.body.is_none() || self.query.iter().any(named)
        });
        let objects = spread.filter_map(|(_, value)| value.as_object());
        objects
            .flat_map(|map| map.keys().map(String::as_str))
            .collect()
    }

    fn check_headers(&self, headers: &[(&str, &[u8])]) -> Result<(), String> {
        for (name, value) in headers {
            let text = std::str::from_utf8(value).unwrap_or_default();
            let mut declared = self.headers_named(name).peekable();
            // A plain header may be sent beside a declared one: `accept` says twice what is read.
            if PLAIN_HEADERS.contains(name) || (declared.peek().is_none() && self.is_cut) {
                continue;
            }
            if declared.peek().is_none() {
                return Err(format!("the tool declares no header `{name}`"));
            }
            if !declared.any(|part| part.source.fits(text)) {
                return Err(format!(
                    "the tool declares another value of the header `{name}`"
                ));
            }
        }
        for part in &self.headers {
            let PartSource::Constant(constant) = &part.source else {
                continue;
            };
            let is_there = headers.iter().any(|(name, value)| {
                let text = std::str::from_utf8(value).unwrap_or_default();
                part.name.eq_ignore_ascii_case(name) && is_written(constant, text)
            });
            if !is_there {
                return Err(format!("the tool declares the header `{}`", part.name));
            }
        }
        Ok(())
    }

    fn headers_named<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s DeclaredPart<'a>> {
        let named = move |part: &&DeclaredPart<'_>| part.name.eq_ignore_ascii_case(name);
        self.headers.iter().filter(named)
    }
}

impl<'a> DeclaredPart<'a> {
    /// `NAME=SOURCE`.
    fn parse(text: &'a str) -> Option<Self> {
        let (name, source) = text.split_once('=')?;
        let source = match text.contains(CUT) {
            true => PartSource::Cut,
            false => PartSource::parse(source),
        };
        Some(Self { name, source })
    }
}

/// Whether a text is how a constant is written in a query, a header or a form. Lists and objects are written in many
/// ways, so any text will do for them.
fn is_written(constant: &Value, text: &str) -> bool {
    match constant {
        Value::String(own) => own == text,
        Value::Number(_) | Value::Bool(_) | Value::Null => {
            let written = constant.to_string();
            written == text || (constant.is_null() && text.is_empty())
        }
        Value::Array(_) | Value::Object(_) => true,
    }
}

#[cfg(test)]
mod tests;
