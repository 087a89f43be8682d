//! What a call may do at the provider: a tool that is declared `read` asks and changes nothing.
//!
//! Such a call sends GET and HEAD, and besides the requests that its tool names in `queries`. Every
//! hop is decided, a redirect like the first one, and a planned request like one that leaves. What
//! a provider does on a GET is the provider's: that cannot be seen from here. A tool that is built from a description
//! declares its one request, and sends no other that may change something.

use std::collections::BTreeMap;

use http::Method;
use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Map, Value};
use url::Url;

use toolgate_catalog::described::DeclaredRequest;
use toolgate_catalog::described::parts::{DeclaredParts, SentRequest};
use toolgate_catalog::manifest::DescribedRequest;
use toolgate_catalog::mcp_calls::{self, MCP, McpPost};
use toolgate_catalog::queries::{NamedQuery, is_graphql_query};

/// Headers by which a server is told to take a request for one of another method.
const OVERRIDES: &[&str] = &[
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
];
/// The same as a field of a query or form.
const OVERRIDE_FIELD: &str = "_method";

/// What a reading call may send besides GET and HEAD.
#[derive(Clone, Debug, Default)]
pub struct AllowedQueries {
    /// As the tool's manifest has them.
    pub queries: Vec<String>,
    /// Operator's settings and the connection's parameters that hold addresses.
    pub values: BTreeMap<String, String>,
}

impl AllowedQueries {
    /// `config`: what the plugin may read of settings and parameters, each as JSON.
    pub fn new(queries: &[String], config: &BTreeMap<String, String>) -> Self {
        let mut reading = Self::default();
        if queries.is_empty() {
            return reading;
        }
        reading.values = texts(config).collect();
        reading.queries = queries.to_vec();
        reading
    }

    /// Decides a request before its credential is written; the error says what to declare. `moved`: parameters
    /// that a renewed token has replaced.
    pub(super) fn check(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
        moved: Option<&BTreeMap<String, String>>,
    ) -> Result<(), String> {
        if let Some(name) = OVERRIDES.iter().find(|name| headers.contains_key(**name)) {
            return Err(format!(
                "the tool is declared `read`: its requests may not carry the header `{name}`"
            ));
        }
        if url.query_pairs().any(|(name, _)| name == OVERRIDE_FIELD) || overrides(headers, body) {
            return Err(format!(
                "the tool is declared `read`: its requests may not carry the field `{OVERRIDE_FIELD}`"
            ));
        }
        if matches!(*method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        let queries = self
            .queries
            .iter()
            .filter_map(|text| NamedQuery::parse(text).ok());
        // A renewed token may have moved the account since the values were read.
        let mut values = self.values.clone();
        for (key, value) in &mut values {
            if let Some(now) = moved.and_then(|moved| moved.get(key)) {
                value.clone_from(now);
            }
        }
        let mut named = queries.filter(|query| query.covers(url, &values));
        let is_query = |query: NamedQuery<'_>| !query.graphql || asks_graphql(url, headers, body);
        if *method == Method::POST && named.any(is_query) {
            return Ok(());
        }
        let place = &url[..url::Position::AfterPath];
        Err(format!(
            "a `read` tool may not send {method} {place}: if the request only reads, add it to the tool's \
             `queries`; otherwise declare the tool `write`"
        ))
    }
}

/// The one request that a described tool declares.
#[derive(Clone, Debug)]
pub struct DescribedSend {
    request: DescribedRequest,
    /// Operator's settings that hold addresses.
    values: BTreeMap<String, String>,
    /// The arguments of the call as a JSON object; empty for a GET, whose parts are not compared.
    arguments: String,
}

impl DescribedSend {
    /// `config`: what the plugin may read of settings, each as JSON. `arguments`: those of the call, one JSON object.
    pub fn new(
        request: &DescribedRequest,
        config: &BTreeMap<String, String>,
        arguments: &str,
    ) -> Self {
        let mut values = BTreeMap::new();
        // Most addresses name no setting.
        if request.send.contains(" {") {
            values = texts(config).collect();
        }
        Self {
            request: request.clone(),
            values,
            arguments: match request.send.starts_with("GET ") {
                true => String::new(),
                false => arguments.to_owned(),
            },
        }
    }

    /// The declared address with its holes, where the request is the declared one.
    pub(super) fn template_of(&self, method: &Method, url: &Url) -> Option<&str> {
        let declared = DeclaredRequest::parse(&self.request).ok()?;
        let method = match declared.method {
            MCP => MCP,
            _ => method.as_str(),
        };
        let own = declared.covers(method, url, &self.values);
        own.then_some(declared.path)
    }

    /// Whether the tool is one of an MCP server.
    pub(super) fn is_of_mcp(&self) -> bool {
        mcp_calls::tool_of(&self.request).is_some()
    }

    /// Decides a request to an MCP server. `None`: the tool is not one of an MCP server. Reading and writing tools
    /// both call by POST, so nothing else decides about them.
    pub(super) fn check_mcp(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Option<Result<McpPost, String>> {
        let tool = mcp_calls::tool_of(&self.request)?;
        let declared = DeclaredRequest::parse(&self.request);
        let is_declared = declared.is_ok_and(|own| own.covers(MCP, url, &self.values));
        // The address of a server has no query, so that one is a part that nobody has approved.
        if !is_declared || url.query().is_some() {
            let place = &url[..url::Position::AfterQuery];
            let declared = &self.request.send;
            return Some(Err(format!(
                "the tool declares `{declared}` and may not send {method} {place}"
            )));
        }
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Some(McpPost::read(tool, method.as_str(), body, header))
    }

    /// Refuses a request that may change something and is not the declared one, by its address or by its parts.
    pub(super) fn check(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), String> {
        if matches!(*method, Method::GET | Method::HEAD) {
            return Ok(());
        }
        let declared = DeclaredRequest::parse(&self.request);
        if !declared.is_ok_and(|own| own.covers(method.as_str(), url, &self.values)) {
            let place = &url[..url::Position::AfterPath];
            return Err(format!(
                "the tool declares `{}` and may not send {method} {place}",
                self.request.send
            ));
        }
        let headers: Vec<(&str, &[u8])> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let sent = SentRequest {
            url,
            headers: &headers,
            body,
        };
        let arguments: Map<String, Value> =
            serde_json::from_str(&self.arguments).unwrap_or_default();
        DeclaredParts::parse(&self.request).check(sent, &arguments)
    }
}

/// The values of settings that are texts.
fn texts(config: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    config.iter().filter_map(|(key, value)| {
        let value: Value = serde_json::from_str(value).ok()?;
        Some((key.clone(), value.as_str()?.to_owned()))
    })
}

/// A query in the body and nothing beside it that could be taken for the document.
fn asks_graphql(url: &Url, headers: &HeaderMap, body: &[u8]) -> bool {
    url.query().is_none_or(str::is_empty)
        && media_type(headers).as_deref() == Some("application/json")
        && is_graphql_query(body)
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = value.split(';').next().unwrap_or_default().trim();
    Some(kind.to_ascii_lowercase())
}

/// Whether a form asks to be taken for another method.
fn overrides(headers: &HeaderMap, body: &[u8]) -> bool {
    match media_type(headers).as_deref() {
        Some("application/x-www-form-urlencoded") => {
            url::form_urlencoded::parse(body).any(|(name, _)| name == OVERRIDE_FIELD)
        }
        Some("multipart/form-data") => {
            let field = OVERRIDE_FIELD.as_bytes();
            body.windows(field.len()).any(|part| part == field)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: &str = "https://api.example.com/search";

    fn check(method: Method, url: &str, headers: &[(&'static str, &str)], body: &str) -> bool {
        let reading = AllowedQueries {
            queries: vec![
                format!("POST {SEARCH}"),
                "GRAPHQL https://api.example.com/graphql".to_owned(),
            ],
            values: BTreeMap::new(),
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a header"));
        }
        let url = Url::parse(url).expect("an address");
        reading
            .check(&method, &url, &map, body.as_bytes(), None)
            .is_ok()
    }

    #[test]
    fn a_reading_call_sends_get_head_and_its_queries() {
        for (method, url, expected) in [
            (Method::GET, "https://api.example.com/anything", true),
            (Method::HEAD, "https://api.example.com/anything", true),
            (Method::POST, SEARCH, true),
            (Method::POST, "https://api.example.com/delete", false),
            (Method::PUT, SEARCH, false),
            (Method::PATCH, SEARCH, false),
            (Method::DELETE, SEARCH, false),
            (Method::OPTIONS, SEARCH, false),
            (
                Method::from_bytes(b"PURGE").expect("a method"),
                SEARCH,
                false,
            ),
            (Method::from_bytes(b"get").expect("a method"), SEARCH, false),
        ] {
            assert_eq!(
                check(method.clone(), url, &[], ""),
                expected,
                "{method} {url}"
            );
        }
    }

    #[test]
    fn a_described_tool_sends_its_own_request_and_reads() {
        let request = DescribedRequest {
            send: "POST {api_base}/comments".to_owned(),
            with: Vec::new(),
        };
        let config = BTreeMap::from([(
            "api_base".to_owned(),
            "\"https://api.example.com/v1\"".to_owned(),
        )]);
        let own = DescribedSend::new(&request, &config, "{}");
        for (method, path, expected) in [
            (Method::POST, "/v1/comments", true),
            (Method::GET, "/v1/account", true),
            (Method::POST, "/v1/account/delete-for-ever", false),
            (Method::DELETE, "/v1/comments", false),
            (Method::OPTIONS, "/v1/account", false),
        ] {
            let url = format!("https://api.example.com{path}");
            let url = Url::parse(&url).expect("an address");
            assert_eq!(
                own.check(&method, &url, &HeaderMap::new(), b"").is_ok(),
                expected,
                "{method} {path}"
            );
        }
    }

    #[test]
    fn a_tool_of_an_mcp_server_calls_itself_at_its_address() {
        let request = DescribedRequest {
            send: "MCP https://mcp.example.com/mcp".to_owned(),
            with: vec!["add".to_owned()],
        };
        let own = DescribedSend::new(&request, &BTreeMap::new(), "{}");
        let check = |method: Method, url: &str, tool: &str| {
            let url = Url::parse(url).expect("an address");
            let body = format!(r#"{{"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
            let decided = own.check_mcp(&method, &url, &HeaderMap::new(), body.as_bytes());
            decided.expect("a tool of MCP")
        };
        let place = "https://mcp.example.com/mcp";
        assert_eq!(check(Method::POST, place, "add"), Ok(McpPost::Call));
        for (method, url, tool) in [
            (Method::POST, place, "delete"),
            (Method::POST, "https://mcp.example.com/admin", "add"),
            (Method::POST, "https://other.example.com/mcp", "add"),
            (
                Method::POST,
                "https://mcp.example.com/mcp?read_only=false",
                "add",
            ),
            (Method::GET, place, "add"),
            (Method::DELETE, place, "add"),
        ] {
            assert!(
                check(method.clone(), url, tool).is_err(),
                "{method} {url} {tool}"
            );
        }
        let plain = DescribedRequest {
            send: "POST https://mcp.example.com/mcp".to_owned(),
            with: Vec::new(),
        };
        let plain = DescribedSend::new(&plain, &BTreeMap::new(), "{}");
        let url = Url::parse(place).expect("an address");
        let none = plain.check_mcp(&Method::POST, &url, &HeaderMap::new(), b"");
        assert_eq!(none, None);
    }

    #[test]
    fn no_request_asks_to_be_taken_for_another() {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let parts = ("content-type", "multipart/form-data; boundary=x");
        for name in OVERRIDES {
            assert!(!check(Method::GET, SEARCH, &[(*name, "DELETE")], ""));
        }
        assert!(!check(
            Method::GET,
            &format!("{SEARCH}?_method=DELETE"),
            &[],
            ""
        ));
        assert!(!check(
            Method::POST,
            SEARCH,
            &[form],
            "q=1&%5Fmethod=DELETE"
        ));
        assert!(!check(
            Method::POST,
            SEARCH,
            &[parts],
            "--x\r\nname=\"_method\""
        ));
        assert!(check(Method::POST, SEARCH, &[form], "q=_method"));
    }

    #[test]
    fn a_graphql_place_takes_queries_alone() {
        let (place, json) = (
            "https://api.example.com/graphql",
            ("content-type", "application/json"),
        );
        let (asks, changes) = (r#"{"query":"{ me }"}"#, r#"{"query":"mutation { drop }"}"#);
        assert!(check(Method::POST, place, &[json], asks));
        assert!(!check(Method::POST, place, &[json], changes));
        assert!(
            !check(Method::POST, place, &[], asks),
            "not said to be JSON"
        );
        let both = format!("{place}?query=mutation%7Bdrop%7D");
        assert!(!check(Method::POST, &both, &[json], asks));
        let raw = ("content-type", "application/graphql");
        assert!(!check(Method::POST, place, &[raw], "mutation { drop }"));
    }
}
