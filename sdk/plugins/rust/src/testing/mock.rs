//! The host of one test: settings, connected slots, exchanges, and a memory for blobs and state.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value};

use crate::context::Facts;
use crate::error::ToolError;
use crate::http::{Body, Failure, FailureKind, Outgoing, Response};
use crate::kv::Entry;
use crate::output::Output;
use crate::plugin::Plugin;

/// A request that is expected, and its answer.
///
/// `request`: `method`, `url` without query; `query` (every parameter, a list for a repeated one),
/// `headers` (those that matter), `body` (JSON, or text) and `auth` (slot, null for none). A key
/// that is absent is not checked, except that an absent `query` or `body` expects none.
/// `response`: `status`, `headers`, `body` (JSON, or text); or `failure`: `kind`, `message`, `sent`.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub request: Value,
    pub response: Value,
}

/// A host that answers from a script.
#[derive(Debug)]
pub struct MockHost {
    pub config: Map<String, Value>,
    /// Connected slots; `None` means all of the plugin's.
    pub connected: Option<Vec<String>>,
    pub exchanges: VecDeque<Exchange>,
    pub now_ms: u64,
    /// Requests sent so far, as `METHOD url`.
    pub sent: Vec<String>,
    pub(crate) kv: BTreeMap<String, Entry>,
    /// Files that the arguments may refer to: reference, media type, bytes.
    pub files: BTreeMap<String, (String, Vec<u8>)>,
    pub(crate) complaints: Vec<String>,
    /// Requests in the form of an [`Exchange`], where they are recorded and not compared.
    pub(crate) recorded: Option<Vec<Value>>,
}

impl Default for MockHost {
    fn default() -> Self {
        Self {
            config: Map::new(),
            connected: None,
            exchanges: VecDeque::new(),
            // 2026-01-01T00:00:00Z
            now_ms: 1_767_225_600_000,
            sent: Vec::new(),
            kv: BTreeMap::new(),
            files: BTreeMap::new(),
            complaints: Vec::new(),
            recorded: None,
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<MockHost>> = const { RefCell::new(None) };
}

/// Runs `f` on the host of the running call.
pub(crate) fn with<R>(f: impl FnOnce(&mut MockHost) -> R) -> R {
    CURRENT.with_borrow_mut(|current| {
        f(current
            .as_mut()
            .expect("host functions run inside MockHost::call"))
    })
}

impl MockHost {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn config(mut self, key: &str, value: Value) -> Self {
        self.config.insert(key.to_owned(), value);
        self
    }

    #[must_use]
    pub fn connected(mut self, slots: &[&str]) -> Self {
        self.connected = Some(slots.iter().map(|slot| (*slot).to_owned()).collect());
        self
    }

    /// One more expected request and its answer; see [`Exchange`].
    #[must_use]
    pub fn exchange(mut self, request: Value, response: Value) -> Self {
        self.exchanges.push_back(Exchange { request, response });
        self
    }

    /// Calls one tool. Panics, as tests do, when the plugin sent something else than expected.
    pub fn call(
        &mut self,
        plugin: &'static Plugin,
        tool: &str,
        arguments: &Value,
        cursor: Option<&str>,
    ) -> Result<Output, ToolError> {
        let facts = Facts {
            session: None,
            cursor: cursor.map(str::to_owned),
        };
        CURRENT.set(Some(std::mem::take(self)));
        let outcome = plugin.call(tool, &arguments.to_string(), facts);
        *self = CURRENT.take().expect("nothing else takes the host");
        if let Some(left) = self.exchanges.front() {
            self.complaints
                .push(format!("never sent: {}", left.request));
        }
        assert!(
            self.complaints.is_empty(),
            "{tool}: {}\n{outcome:?}",
            self.complaints.join("\n")
        );
        outcome
    }

    pub(crate) fn answer(&mut self, outgoing: &Outgoing<'_>) -> Result<Response, Failure> {
        self.sent
            .push(format!("{} {}", outgoing.method.as_str(), outgoing.url));
        let Some(exchange) = self.exchanges.pop_front() else {
            self.complaints.push(format!("not expected: {outgoing:?}"));
            return Err(failure("protocol", "the script has no more answers", false));
        };
        let before = self.complaints.len();
        match &mut self.recorded {
            Some(recorded) => recorded.push(to_exchange(outgoing, &exchange.request)),
            None => compare(outgoing, &exchange.request, &mut self.complaints),
        }
        if self.complaints.len() > before {
            return Err(failure("protocol", "another request was expected", false));
        }
        if let Some(failed) = exchange.response.get("failure") {
            let text = |key| failed.get(key).and_then(Value::as_str).unwrap_or_default();
            let sent = failed.get("sent").and_then(Value::as_bool).unwrap_or(false);
            return Err(failure(text("kind"), text("message"), sent));
        }
        Ok(to_response(&exchange.response, outgoing))
    }
}

fn to_response(response: &Value, outgoing: &Outgoing<'_>) -> Response {
    let body = match response.get("body") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.clone().into_bytes(),
        Some(json) => json.to_string().into_bytes(),
    };
    let headers = response.get("headers").and_then(Value::as_object);
    let headers = headers.into_iter().flatten().map(|(name, value)| {
        (
            name.clone(),
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    });
    let status = response
        .get("status")
        .and_then(Value::as_u64)
        .unwrap_or(200);
    let stored = outgoing
        .stored
        .then(|| crate::Blob::create("application/octet-stream", None, &body).ok())
        .flatten();
    Response {
        status: u16::try_from(status).unwrap_or(200),
        headers: headers.collect(),
        body: if outgoing.stored { Vec::new() } else { body },
        stored,
        url: outgoing.url.clone(),
    }
}

fn failure(kind: &str, message: &str, sent: bool) -> Failure {
    let kind = match kind {
        "denied" => FailureKind::Denied,
        "auth-required" => FailureKind::AuthRequired,
        "auth-expired" => FailureKind::AuthExpired,
        "scope-missing" => FailureKind::ScopeMissing,
        "dns" => FailureKind::Dns,
        "connect" => FailureKind::Connect,
        "tls" => FailureKind::Tls,
        "timeout" => FailureKind::Timeout,
        "too-large" => FailureKind::TooLarge,
        "budget-exhausted" => FailureKind::BudgetExhausted,
        "leak-blocked" => FailureKind::LeakBlocked,
        "cancelled" => FailureKind::Cancelled,
        _ => FailureKind::Protocol,
    };
    Failure {
        kind,
        message: message.to_owned(),
        sent,
    }
}

/// Adds every difference between what was sent and what was expected to `complaints`.
fn compare(outgoing: &Outgoing<'_>, expected: &Value, complaints: &mut Vec<String>) {
    let mut differ = |what: &str, sent: &Value, expected: &Value| {
        if !equivalent(sent, expected) {
            complaints.push(format!("{what}: sent {sent}, expected {expected}"));
        }
    };
    for (key, sent) in [
        ("method", Value::from(outgoing.method.as_str())),
        ("url", Value::from(outgoing.url.as_str())),
        (
            "auth",
            outgoing.auth.as_deref().map_or(Value::Null, Value::from),
        ),
    ] {
        if let Some(expected) = expected.get(key) {
            differ(key, &sent, expected);
        }
    }
    let none = Value::Object(Map::new());
    differ(
        "query",
        &query_object(&outgoing.query),
        expected.get("query").unwrap_or(&none),
    );
    differ(
        "body",
        &body_value(outgoing),
        expected.get("body").unwrap_or(&Value::Null),
    );
    for (name, value) in expected
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let sent = outgoing
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        let sent = sent.map_or(Value::Null, |(_, value)| Value::from(value.as_str()));
        differ(name, &sent, value);
    }
}

/// Whether two values are equal. In a text that is a JSON object or array the order of keys does not
/// count: which order `serde_json` writes depends on what else is built with the plugin.
fn equivalent(sent: &Value, expected: &Value) -> bool {
    match (sent, expected) {
        (Value::String(sent), Value::String(expected)) => {
            let inner = |text: &str| {
                let value = serde_json::from_str::<Value>(text).ok();
                value.filter(|value| value.is_object() || value.is_array())
            };
            sent == expected
                || matches!((inner(sent), inner(expected)), (Some(a), Some(b)) if equivalent(&a, &b))
        }
        (Value::Array(sent), Value::Array(expected)) => {
            sent.len() == expected.len() && sent.iter().zip(expected).all(|(a, b)| equivalent(a, b))
        }
        (Value::Object(sent), Value::Object(expected)) => {
            sent.len() == expected.len()
                && sent
                    .iter()
                    .all(|(key, a)| expected.get(key).is_some_and(|b| equivalent(a, b)))
        }
        _ => sent == expected,
    }
}

/// What was sent, in the form of an expected request; it has the headers that `template` names.
fn to_exchange(outgoing: &Outgoing<'_>, template: &Value) -> Value {
    let mut out = serde_json::json!({
        "method": outgoing.method.as_str(),
        "url": outgoing.url,
        "auth": outgoing.auth,
    });
    let query = query_object(&outgoing.query);
    if query.as_object().is_some_and(|query| !query.is_empty()) {
        out["query"] = query;
    }
    for name in template["headers"].as_object().into_iter().flatten() {
        let sent = outgoing.headers.iter();
        let sent = sent.filter(|(known, _)| known.eq_ignore_ascii_case(name.0));
        for (_, value) in sent {
            out["headers"][name.0] = Value::from(value.as_str());
        }
    }
    let body = body_value(outgoing);
    if !body.is_null() {
        out["body"] = body;
    }
    out
}

fn query_object(query: &[(String, String)]) -> Value {
    let mut all: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (key, value) in query {
        all.entry(key)
            .or_default()
            .push(Value::from(value.as_str()));
    }
    let one_or_many = |(key, mut values): (&str, Vec<Value>)| {
        let value = if values.len() == 1 {
            values.remove(0)
        } else {
            Value::Array(values)
        };
        (key.to_owned(), value)
    };
    Value::Object(all.into_iter().map(one_or_many).collect())
}

fn body_value(outgoing: &Outgoing<'_>) -> Value {
    match &outgoing.body {
        Body::Empty => Value::Null,
        Body::Bytes(bytes) => serde_json::from_slice(bytes)
            .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes))),
        Body::Blob(blob) => {
            let bytes = blob.bytes();
            Value::from(String::from_utf8_lossy(&bytes))
        }
    }
}
