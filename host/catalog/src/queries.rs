//! Requests by which a tool declared `read` asks although they are not GET: `queries` of a tool.
//!
//! `POST https://api.example.com/v1/search` names a method and an address, `{name}` in it one segment
//! of the path or part of a label of the host. `POST {api_base}/search` begins with an operator's
//! setting or a parameter that holds an address. `GRAPHQL https://api.example.com/graphql` is a POST
//! whose document has operations of the type `query` alone. Pure; egress asks [`NamedQuery::covers`].

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;
use url::{Position, Url};

/// Longest entry, in bytes.
pub const QUERY_BYTES_MAX: usize = 512;
/// Most entries of one tool.
pub const QUERIES_MAX: usize = 20;

/// One entry, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedQuery<'a> {
    pub graphql: bool,
    pub base: QueryBase<'a>,
    /// From the first `/` behind the base; may be empty behind a name.
    path: &'a str,
}

/// What the path follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryBase<'a> {
    /// `https://` and this host, which may have parameters in braces.
    Host(&'a str),
    /// A setting or parameter that holds an address.
    Named(&'a str),
}

impl<'a> NamedQuery<'a> {
    /// Reads an entry; the error is a sentence about it.
    pub fn parse(text: &'a str) -> Result<Self, &'static str> {
        if text.len() > QUERY_BYTES_MAX {
            return Err("it has more than 512 bytes");
        }
        let (method, address) = text.split_once(' ').ok_or(
            "it is a method and an address, such as `POST https://api.example.com/search`",
        )?;
        let graphql = match method {
            "POST" => false,
            "GRAPHQL" => true,
            _ => return Err("its method is POST, or GRAPHQL for a POST of a GraphQL query"),
        };
        if !address.bytes().all(|b| b.is_ascii_graphic()) || address.contains(['?', '#', '\\', '"'])
        {
            return Err("its address is printable ASCII without query and fragment");
        }
        let (base, path) = match address.strip_prefix("https://") {
            Some(rest) => {
                let (host, path) = rest.split_at(rest.find('/').ok_or("its address has a path")?);
                if host.is_empty() || host.contains(['@', ':', '*']) {
                    return Err("its address names a host of the manifest, without a port");
                }
                (QueryBase::Host(host), path)
            }
            None => {
                let named = address
                    .strip_prefix('{')
                    .and_then(|rest| rest.split_once('}'));
                let (name, path) = named.ok_or(
                    "its address begins with `https://`, or with a setting or parameter in braces",
                )?;
                if !(path.is_empty() || path.starts_with('/')) {
                    return Err("a path follows the setting or parameter");
                }
                (QueryBase::Named(name), path)
            }
        };
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err("its path leads elsewhere");
        }
        Ok(Self {
            graphql,
            base,
            path,
        })
    }

    /// Whether a request to `url` is this query. `values`: settings and parameters of the call.
    pub fn covers(&self, url: &Url, values: &BTreeMap<String, String>) -> bool {
        let path = match self.base {
            QueryBase::Host(host) => {
                let fits = |asked: &str| matches(host, "[a-z0-9-]+", asked);
                if url.scheme() != "https"
                    || url.port().is_some()
                    || !url.host_str().is_some_and(fits)
                {
                    return false;
                }
                url.path()
            }
            QueryBase::Named(name) => {
                let Some(base) = values.get(name).and_then(|value| Url::parse(value).ok()) else {
                    return false;
                };
                if base[..Position::BeforePath] != url[..Position::BeforePath] {
                    return false;
                }
                let prefix = base.path().trim_end_matches('/');
                match url.path().strip_prefix(prefix) {
                    Some(path) if self.path.is_empty() => path.trim_start_matches('/'),
                    Some(path) => path,
                    None => return false,
                }
            }
        };
        matches(self.path, "[^/]+", path)
    }
}

/// Whether `text` is `template` with something of the form `hole` for every name in braces.
fn matches(template: &str, hole: &str, text: &str) -> bool {
    let mut pattern = String::from("^");
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((_, after)) = behind.split_once('}') else {
            return false;
        };
        pattern.push_str(&regex::escape(before));
        pattern.push_str(hole);
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(text))
}

/// Whether a JSON body asks GraphQL queries and nothing else: one request or a list of them, each
/// with a document in it (not one that the server remembers).
pub fn is_graphql_query(body: &[u8]) -> bool {
    // Of a key that occurs twice, two readers may see different documents.
    if toolgate_core::json::check(body).is_err() {
        return false;
    }
    match serde_json::from_slice(body) {
        Ok(Value::Array(all)) => !all.is_empty() && all.iter().all(asks),
        Ok(one) => asks(&one),
        Err(_) => false,
    }
}

fn asks(request: &Value) -> bool {
    let Some(request) = request.as_object() else {
        return false;
    };
    let known = ["query", "variables", "operationName"];
    if !request.keys().all(|key| known.contains(&key.as_str())) {
        return false;
    }
    let document = request.get("query").and_then(Value::as_str);
    document.is_some_and(only_queries)
}

/// Whether each definition of a document is a query or a fragment (GraphQL, section 2.2).
fn only_queries(document: &str) -> bool {
    let Some(tokens) = tokens(document) else {
        return false;
    };
    let mut tokens = tokens.into_iter().peekable();
    let mut definitions = 0;
    while let Some(first) = tokens.next() {
        let mut braces = 0_usize;
        match first {
            Token::Open('{') => braces = 1,
            Token::Name("query" | "fragment") => {}
            _ => return false,
        }
        // Up to the end of its selection set; braces in parentheses are values.
        let (mut parentheses, mut closed) = (0_usize, false);
        while !closed {
            match tokens.next() {
                Some(Token::Open('(')) => parentheses += 1,
                Some(Token::Close(')')) if parentheses > 0 => parentheses -= 1,
                Some(Token::Open('{')) if parentheses == 0 => braces += 1,
                Some(Token::Close('}')) if parentheses == 0 => {
                    if braces == 0 {
                        return false;
                    }
                    braces -= 1;
                    closed = braces == 0;
                }
                Some(Token::Close(')')) | None => return false,
                Some(_) => {}
            }
        }
        definitions += 1;
    }
    definitions > 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'d> {
    Name(&'d str),
    Open(char),
    Close(char),
    Other,
}

/// Tokens without strings and comments; none where a string does not end or a character may not
/// be in a document.
fn tokens(document: &str) -> Option<Vec<Token<'_>>> {
    let mut found = Vec::new();
    let mut rest = document;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            ' ' | '\t' | '\n' | '\r' | ',' => {}
            '#' => taken = rest.find(['\n', '\r']).unwrap_or(rest.len()),
            '"' => {
                taken = string_end(rest)?;
                found.push(Token::Other);
            }
            '{' | '(' => found.push(Token::Open(c)),
            '}' | ')' => found.push(Token::Close(c)),
            'a'..='z' | 'A'..='Z' | '_' => {
                let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                taken = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                found.push(Token::Name(&rest[..taken]));
            }
            '!' | '$' | '&' | '.' | ':' | '=' | '@' | '[' | ']' | '|' | '0'..='9' | '-' | '+' => {
                found.push(Token::Other);
            }
            _ => return None,
        }
        rest = &rest[taken..];
    }
    Some(found)
}

/// Length of the string that `text` begins with.
fn string_end(text: &str) -> Option<usize> {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let mut from = 0;
        loop {
            let at = from + block[from..].find("\"\"\"")?;
            if !block[..at].ends_with('\\') {
                return Some(at + 6);
            }
            from = at + 3;
        }
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' | '\r' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(entry: &str, url: &str) -> bool {
        let values = BTreeMap::from([
            (
                "api_base".to_owned(),
                "http://10.0.0.1:8065/chat/".to_owned(),
            ),
            ("site".to_owned(), "https://acme.example.com".to_owned()),
        ]);
        let url = Url::parse(url).expect("an address");
        NamedQuery::parse(entry).expect(entry).covers(&url, &values)
    }

    #[test]
    fn an_entry_covers_its_address_and_no_other() {
        let search = "POST https://api.example.com/v1/search";
        assert!(covers(search, "https://api.example.com/v1/search"));
        assert!(covers(search, "https://api.example.com/v1/search?limit=1"));
        for other in [
            "https://api.example.com/v1/search/",
            "https://api.example.com/v1/searches",
            "https://api.example.com/v1/search/all",
            "https://api.example.com/v1/x/../delete",
            "https://api.example.com/v2/v1/search",
            "https://apiXexample.com/v1/search",
            "https://evil.api.example.com/v1/search",
            "http://api.example.com/v1/search",
            "https://api.example.com:8443/v1/search",
        ] {
            assert!(!covers(search, other), "{other}");
        }
        let by_id = "POST https://{region}.example.com/db/{id}/query";
        assert!(covers(by_id, "https://eu-1.example.com/db/a%2Fb/query"));
        for other in [
            "https://a.b.example.com/db/1/query",
            "https://eu.example.com/db/1/2/query",
            "https://eu.example.com/db//query",
            "https://eu.example.com/db/../query",
        ] {
            assert!(!covers(by_id, other), "{other}");
        }
        let set = "POST {api_base}/api/search";
        assert!(covers(set, "http://10.0.0.1:8065/chat/api/search"));
        assert!(!covers(set, "http://10.0.0.1:8065/api/search"));
        assert!(!covers(set, "http://10.0.0.1:8066/chat/api/search"));
        assert!(covers("POST {site}/q", "https://acme.example.com/q"));
        assert!(!covers("POST {absent}/q", "https://acme.example.com/q"));
    }

    #[test]
    fn an_entry_that_could_mean_more_is_refused() {
        for bad in [
            "",
            "POST",
            "DELETE https://api.example.com/x",
            "PUT https://api.example.com/x",
            "post https://api.example.com/x",
            "POST http://api.example.com/x",
            "POST https://api.example.com",
            "POST https://*.example.com/x",
            "POST https://u@api.example.com/x",
            "POST https://api.example.com:444/x",
            "POST https://api.example.com/x?y",
            "POST https://api.example.com/../x",
            "POST /x",
            "POST {api_base}x",
            "POST  https://api.example.com/x",
        ] {
            assert!(NamedQuery::parse(bad).is_err(), "{bad}");
        }
    }

    fn graphql(document: &str) -> bool {
        is_graphql_query(
            serde_json::json!({ "query": document })
                .to_string()
                .as_bytes(),
        )
    }

    #[test]
    fn a_graphql_document_asks_or_changes() {
        for asks in [
            "{ me { id } }",
            "query { me { id } }",
            "query Q($x: In = {a: \"}\"}) @d(b: {c: 1}) { me(x: $x) { ...F } } fragment F on T { mutation }",
            "# mutation\n query mutation { subscription: me }",
            "query { a(text: \"\"\"mutation { \\\"\"\" } \"\"\") }",
        ] {
            assert!(graphql(asks), "{asks}");
        }
        for changes in [
            "",
            "mutation { delete }",
            ", mutation { delete }",
            "query { a } mutation { delete }",
            "mutation { delete } query { a }",
            "{ a } mutation M { delete }",
            "query { a } subscription { b }",
            "query { a(t: \"}\") mutation { b }",
            "query { a } } mutation { b }",
            "query { a } \u{feff}mutation { b }",
            "query { a(t: \"\n\") }",
            "type T { a: Int }",
            "query Q",
        ] {
            assert!(!graphql(changes), "{changes}");
        }
        for body in [
            r#"{"query": "{a}", "query": "mutation {b}"}"#,
            r#"{"query": "{a}", "extensions": {"persistedQuery": {}}}"#,
            r#"{"id": "x"}"#,
            r#"[{"query": "{a}"}, {"query": "mutation {b}"}]"#,
            "[]",
            "query=mutation{b}",
        ] {
            assert!(!is_graphql_query(body.as_bytes()), "{body}");
        }
        assert!(is_graphql_query(
            br#"[{"query": "{a}"}, {"query": "query {b}", "variables": {}}]"#
        ));
    }
}
