//! A small server on loopback that answers a plugin's requests from an example and notes every
//! difference.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::Value;

use super::PLANTED;
use super::example::{Example, ExpectedRequest, RecordedExchange};
use toolgate_egress::HostObserver;

const BODY_BYTES_MAX: usize = 32 * 1024 * 1024;

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
                tracing::warn!(error = %cause, "plugin_test.server_ended");
            }
        });
        Ok(Self {
            port,
            script,
            running,
        })
    }

    /// Replaces the exchanges that it answers from.
    pub(super) fn load(&self, exchanges: Vec<RecordedExchange>) {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        *script = ReplayScript {
            left: exchanges
                .into_iter()
                .filter(|exchange| exchange.response.failure.is_none())
                .collect(),
            differences: Vec::new(),
        };
    }

    /// Notes a request to a host that no example has.
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
            let url = url::Url::parse(url).with_context(|| format!("`{url}` is not a URL"))?;
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

    pub(super) fn differences(&self) -> Vec<String> {
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
    // Requests that a plugin sends at once arrive in any order.
    let meant = script
        .left
        .iter()
        .position(|exchange| differences(&exchange.request, &parts, &url, &body).is_empty());
    let Some(exchange) = script.left.remove(meant.unwrap_or(0)) else {
        script
            .differences
            .push(format!("{} {url} is not in the example", parts.method));
        return plain(StatusCode::NOT_IMPLEMENTED);
    };
    if meant.is_none() {
        let differences = differences(&exchange.request, &parts, &url, &body);
        script.differences.extend(differences);
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

/// The differences between a request and the expected one.
fn differences(expected: &ExpectedRequest, parts: &Parts, url: &str, body: &[u8]) -> Vec<String> {
    let mut differences = Vec::new();
    if let Some(method) = &expected.method
        && parts.method.as_str() != method
    {
        differences.push(format!("{} was sent in place of {method}", parts.method));
    }
    if let Some(wanted) = &expected.url
        && !same_url(wanted, url)
    {
        differences.push(format!("{url} was asked in place of {wanted}"));
    }
    for (name, value) in &expected.headers {
        let found = parts.headers.get(name);
        let found = found.and_then(|found| found.to_str().ok());
        if found != Some(value.as_str()) {
            differences.push(format!("the header {name} is {found:?}, not {value:?}"));
        }
    }
    if let Some(expected) = &expected.body {
        let text = String::from_utf8_lossy(body);
        let found = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_ref()));
        if !holds(&found, expected) {
            differences.push(format!("the body is {found}, not {expected}"));
        }
    }
    differences
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

    use std::collections::BTreeMap;

    use super::super::example::RecordedResponse;
    use super::*;

    #[tokio::test]
    async fn requests_that_are_sent_at_once_may_arrive_in_any_order() {
        let exchange = |path: &str, answer: &str| RecordedExchange {
            request: ExpectedRequest {
                method: None,
                url: Some(format!("https://h/{path}")),
                query: BTreeMap::default(),
                headers: BTreeMap::default(),
                body: None,
                auth: None,
            },
            response: RecordedResponse {
                status: 200,
                headers: BTreeMap::default(),
                body: Some(answer.into()),
                failure: None,
            },
        };
        let server = ReplayServer::start().await.unwrap();
        server.load(vec![exchange("a", "first"), exchange("b", "second")]);
        let ask = async |path: &str| {
            let script = Arc::clone(&server.script);
            let request = Request::builder().uri(format!("/h/{path}"));
            let answer = answer(script, request.body(Body::empty()).unwrap()).await;
            to_bytes(answer.into_body(), 100).await.unwrap()
        };
        assert_eq!(ask("b").await, "second");
        assert_eq!(ask("a").await, "first");
        assert_eq!(server.differences(), Vec::<String>::new());
        server.load(vec![exchange("a", "first"), exchange("b", "second")]);
        ask("c").await;
        assert_eq!(
            server.differences(),
            [
                "https://h/c was asked in place of https://h/a",
                "1 requests of the example were not sent"
            ]
        );
    }

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
