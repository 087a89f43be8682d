//! Replaying an example: a small server on loopback answers a plugin's requests from the file and
//! notes every difference.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, bail};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PLANTED, TestCall, TestPlugin};
use toolgate_catalog::manifest::Manifest;
use toolgate_egress::HostObserver;
use toolgate_runtime::{CallEnd, RefusalKind};

const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;

/// One example file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    pub tool: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<Vec<String>>,
    #[serde(default)]
    pub exchanges: Vec<RecordedExchange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<BTreeMap<String, Value>>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordedExchange {
    pub request: ExpectedRequest,
    pub response: RecordedResponse,
}

/// A request that is expected. What is absent is not compared, but for the query: all of it is
/// in `url` and `query` together.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// May hold `{parameter}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Beside the query of `url`; a list for a repeated parameter.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Slot whose credential goes with it. Native tests of a plugin compare it; on the wire it is
    /// the host's work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    #[serde(default = "ok")]
    pub status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// In place of an answer: the request ends in the host, nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Value>,
}

fn ok() -> u16 {
    200
}

impl Example {
    /// The same with whole addresses: parameters filled in, queries in place. An operator's own
    /// plain http address is taken for an https one, since upstreams stand in for those alone.
    pub fn filled(mut self, manifest: &Manifest) -> Self {
        let mut parameters = super::parameters(manifest);
        parameters.extend(self.parameters.clone());
        for exchange in &mut self.exchanges {
            let Some(url) = &mut exchange.request.url else {
                continue;
            };
            for (key, value) in &parameters {
                *url = url.replace(&format!("{{{key}}}"), value);
            }
            if let Some(rest) = url.strip_prefix("http://") {
                *url = format!("https://{rest}");
            }
            let Ok(mut whole) = url::Url::parse(url) else {
                continue;
            };
            for (name, value) in &exchange.request.query {
                let values = value
                    .as_array()
                    .map_or(std::slice::from_ref(value), Vec::as_slice);
                for value in values {
                    let text = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    whole.query_pairs_mut().append_pair(name, &text);
                }
            }
            *url = whole.to_string();
        }
        for value in self.config.values_mut() {
            if let Some(rest) = value.as_str().and_then(|text| text.strip_prefix("http://")) {
                *value = format!("https://{rest}").into();
            }
        }
        self
    }
}

/// Reads an example file.
pub fn read(file: &Path) -> anyhow::Result<Example> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be read", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no example", file.display()))
}

/// Replays one example through a plugin whose requests go to `server`. Answers every difference.
pub async fn replay(
    rig: &TestPlugin,
    server: &ReplayServer,
    example: &Example,
) -> anyhow::Result<Vec<String>> {
    if !rig
        .manifest
        .tools
        .iter()
        .any(|tool| tool.name == example.tool)
    {
        bail!("the plugin has no tool `{}`", example.tool);
    }
    server.load(example.exchanges.clone());
    let trial = TestCall {
        tool: example.tool.clone(),
        arguments: example
            .arguments
            .clone()
            .unwrap_or_else(|| serde_json::json!({})),
        cursor: example.cursor.clone(),
        parameters: example.parameters.clone(),
        config: example.config.clone(),
        connected: example.connected.clone(),
        replayed: true,
        ..TestCall::default()
    };
    let ended = rig.run(&trial).await?;
    let mut differences = server.differences();
    judge(example, ended, &mut differences);
    Ok(differences)
}

fn judge(example: &Example, ended: CallEnd, differences: &mut Vec<String>) {
    match (ended, &example.result, &example.error) {
        (CallEnd::Returned(output), Some(expected), _) => {
            let found: Value = serde_json::from_str(output.data.get()).unwrap_or(Value::Null);
            if found != *expected {
                differences.push(format!("the result is {found}, not {expected}"));
            }
            if output.next_cursor != example.next_cursor {
                differences.push(format!(
                    "next_cursor is {:?}, not {:?}",
                    output.next_cursor, example.next_cursor
                ));
            }
        }
        (CallEnd::Refused(refusal), _, Some(expected)) => {
            let told = serde_json::json!({
                "kind": kind(refusal.kind), "code": refusal.code, "message": refusal.message,
                "retry_after_ms": refusal.retry_after_ms, "http_status": refusal.http_status,
                "field": refusal.field, "details": refusal.details,
            });
            for (key, value) in expected {
                if told.get(key) != Some(value) {
                    differences.push(format!(
                        "the error's {key} is {}, not {value}",
                        told.get(key).unwrap_or(&Value::Null)
                    ));
                }
            }
        }
        (ended, ..) => differences.push(format!("the call ended otherwise: {}", shown(&ended))),
    }
}

/// How a call ended, in a line.
pub fn shown(ended: &CallEnd) -> String {
    match ended {
        CallEnd::Returned(output) => format!(
            "returned {}",
            output.data.get().chars().take(300).collect::<String>()
        ),
        CallEnd::Refused(refusal) => {
            format!("refused ({}): {}", kind(refusal.kind), refusal.message)
        }
        CallEnd::TimedOut => "timed out".to_owned(),
        CallEnd::LimitExceeded(what) => format!("limit exceeded: {what}"),
        CallEnd::Crashed(crash) => format!("crashed: {}", crash.message),
        CallEnd::Unreadable(what) => what.clone(),
        CallEnd::DryRun => "sent its first request".to_owned(),
    }
}

pub(super) fn kind(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::InvalidArguments => "invalid-arguments",
        RefusalKind::AuthRequired => "auth-required",
        RefusalKind::AuthExpired => "auth-expired",
        RefusalKind::PermissionDenied => "permission-denied",
        RefusalKind::NotFound => "not-found",
        RefusalKind::Conflict => "conflict",
        RefusalKind::RateLimited => "rate-limited",
        RefusalKind::Upstream => "upstream",
        RefusalKind::Unavailable => "unavailable",
        RefusalKind::TooLarge => "too-large",
        RefusalKind::Cancelled => "cancelled",
        RefusalKind::Internal => "internal",
    }
}

#[derive(Default)]
struct ReplayScript {
    left: VecDeque<RecordedExchange>,
    differences: Vec<String>,
}

/// Answers on loopback, one example after the other, until it is dropped.
pub struct ReplayServer {
    port: u16,
    script: Arc<Mutex<ReplayScript>>,
    running: tokio::task::JoinHandle<()>,
}

impl Drop for ReplayServer {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl ReplayServer {
    pub async fn start() -> anyhow::Result<Self> {
        let script = Arc::new(Mutex::new(ReplayScript::default()));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let shared = script.clone();
        let router =
            Router::new().fallback(move |request: Request| answer(shared.clone(), request));
        let running = tokio::spawn(async move {
            if let Err(cause) = axum::serve(listener, router).await {
                tracing::warn!(error = %cause, "trial.server_ended");
            }
        });
        Ok(Self {
            port,
            script,
            running,
        })
    }

    /// Forgets what was and answers from these exchanges.
    fn load(&self, exchanges: Vec<RecordedExchange>) {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        *script = ReplayScript {
            left: exchanges
                .into_iter()
                .filter(|exchange| exchange.response.failure.is_none())
                .collect(),
            differences: Vec::new(),
        };
    }

    /// Notes a host that was meant and that no example has.
    pub(super) fn elsewhere(&self) -> HostObserver {
        let script = Arc::clone(&self.script);
        Arc::new(move |host| {
            let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
            script.differences.push(format!(
                "host `{host}` is in no example: nothing was sent to it"
            ));
        })
    }

    /// Every host of the examples goes to this server, its name as the first segment of the path.
    pub(super) fn upstreams(&self, examples: &[Example]) -> anyhow::Result<Vec<String>> {
        let mut hosts: Vec<String> = Vec::new();
        for exchange in examples.iter().flat_map(|example| &example.exchanges) {
            let Some(url) = &exchange.request.url else {
                continue;
            };
            let url = url::Url::parse(url).with_context(|| format!("`{url}` is no address"))?;
            let host = url.host_str().unwrap_or_default();
            let host = url
                .port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        Ok(hosts
            .iter()
            .map(|host| format!("{host}=http://127.0.0.1:{}/{host}", self.port))
            .collect())
    }

    fn differences(&self) -> Vec<String> {
        let script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let mut differences = script.differences.clone();
        if !script.left.is_empty() {
            differences.push(format!(
                "{} requests of the example were not sent",
                script.left.len()
            ));
        }
        differences
    }
}

async fn answer(script: Arc<Mutex<ReplayScript>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, BODY_BYTES_MAX).await.unwrap_or_default();
    let mut script = script.lock().unwrap_or_else(PoisonError::into_inner);
    let path = parts
        .uri
        .path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default();
    let url = format!("https://{}", path.trim_start_matches('/'));
    let Some(exchange) = script.left.pop_front() else {
        script
            .differences
            .push(format!("{} {url} is not in the example", parts.method));
        return plain(StatusCode::NOT_IMPLEMENTED);
    };
    let expected = &exchange.request;
    let mut differ = |what: String| script.differences.push(what);
    if let Some(method) = &expected.method
        && parts.method.as_str() != method
    {
        differ(format!("{} was sent in place of {method}", parts.method));
    }
    if let Some(wanted) = &expected.url
        && !same_url(wanted, &url)
    {
        differ(format!("{url} was asked in place of {wanted}"));
    }
    for (name, value) in &expected.headers {
        let found = parts
            .headers
            .get(name)
            .and_then(|found| found.to_str().ok());
        if found != Some(value.as_str()) {
            differ(format!("the header {name} is {found:?}, not {value:?}"));
        }
    }
    if let Some(expected) = &expected.body {
        let text = String::from_utf8_lossy(&body);
        let found = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_ref()));
        if !holds(&found, expected) {
            differ(format!("the body is {found}, not {expected}"));
        }
    }
    let mut response =
        plain(StatusCode::from_u16(exchange.response.status).unwrap_or(StatusCode::OK));
    match &exchange.response.body {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => *response.body_mut() = Body::from(text.clone()),
        Some(value) => {
            response
                .headers_mut()
                .insert("content-type", HeaderValue::from_static("application/json"));
            *response.body_mut() = Body::from(value.to_string());
        }
    }
    for (name, value) in &exchange.response.headers {
        if let (Ok(name), Ok(value)) = (
            HeaderName::try_from(name.as_str()),
            HeaderValue::try_from(value.as_str()),
        ) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn plain(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Equal but for the order of the query and for planted credentials.
fn same_url(expected: &str, found: &str) -> bool {
    let parts = |text: &str| {
        let url = url::Url::parse(text).ok()?;
        let mut pairs: Vec<(String, String)> = url
            .query_pairs()
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .filter(|(_, value)| !value.contains(PLANTED))
            .collect();
        pairs.sort();
        let path: String = url
            .path()
            .split('/')
            .filter(|part| !part.contains(PLANTED))
            .collect::<Vec<_>>()
            .join("/");
        Some((url.host_str().map(str::to_owned), path, pairs))
    };
    parts(expected) == parts(found) && parts(found).is_some()
}

/// Whether `found` is `expected`, planted credentials aside.
fn holds(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected
                .iter()
                .all(|(key, value)| found.get(key).is_some_and(|found| holds(found, value)))
                && found.iter().all(|(key, value)| {
                    expected.contains_key(key)
                        || value.as_str().is_some_and(|text| text.contains(PLANTED))
                })
        }
        (found, expected) => found == expected,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{holds, same_url};

    #[test]
    fn requests_are_compared_but_for_order_and_credentials() {
        assert!(same_url(
            "https://h/a?x=1&y=2",
            "https://h/a?y=2&x=1&key=planted-credential-secret"
        ));
        assert!(same_url(
            "https://h/getMe",
            "https://h/botplanted-credential-secret/getMe"
        ));
        assert!(!same_url("https://h/a?x=1", "https://h/a?x=2"));
        assert!(!same_url("https://h/a", "https://other/a"));
        assert!(holds(
            &json!({"a": {"b": 1}, "key": "planted-credential-secret"}),
            &json!({"a": {"b": 1}})
        ));
        assert!(!holds(&json!({"a": 1, "b": 2}), &json!({"a": 1})));
    }
}
