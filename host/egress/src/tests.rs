//! The pipeline on a real wire: a small server on port 0, reached through an allowed upstream.

mod answer_memory;
mod answers;
mod credentials;
mod guesses;
mod limits;
mod payloads;
mod reach;
mod redirects;
mod repeats;
mod tls;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response as Answer;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HeaderMap;

use super::*;
use toolgate_vault::Secret;

const SECRET: &str = "tok/3n+plant=ed-8801";
const API: &str = "api.example.com";

/// One request as the provider saw it.
#[derive(Clone, Debug)]
struct Seen {
    method: String,
    target: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A provider that answers with what `answer` makes of a request and its number.
struct Upstream {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Upstream {
    async fn start(answer: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let router = axum::Router::new().fallback(move |request: axum::extract::Request| {
            let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
            async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, usize::MAX)
                    .await
                    .expect("a body");
                let one = Seen {
                    method: parts.method.to_string(),
                    target: parts.uri.to_string(),
                    headers: parts.headers,
                    body,
                };
                let number = {
                    let mut log = log.lock().expect("no panic holds it");
                    log.push(one.clone());
                    log.len()
                };
                answer(&one, number)
            }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic holds it").clone()
    }

    fn as_host(&self, host: &str) -> AllowUpstream {
        AllowUpstream::parse(&format!("{host}=http://{}", self.address)).expect("a mapping")
    }
}

/// A connection whose refresh brings generation 2.
struct TestConnection {
    placements: serde_json::Value,
    values: BTreeMap<&'static str, String>,
    audience: Vec<String>,
    refreshable: bool,
    fetched: AtomicUsize,
    refreshed: AtomicUsize,
}

impl TestConnection {
    fn bearer() -> Self {
        Self {
            placements: serde_json::json!([{ "header": "authorization", "template": "Bearer {secret}" }]),
            values: BTreeMap::from([("secret", SECRET.to_owned())]),
            audience: vec![format!("https://{API}")],
            refreshable: true,
            fetched: AtomicUsize::new(0),
            refreshed: AtomicUsize::new(0),
        }
    }
}

impl Credentials for TestConnection {
    fn fetch<'a>(
        &'a self,
        slot: &'a str,
        rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        Box::pin(async move {
            self.fetched.fetch_add(1, Ordering::Relaxed);
            if slot != "user" {
                let message = format!("slot `{slot}` is not connected");
                return Err(EgressFailure::unsent(FailureKind::AuthRequired, message));
            }
            let fresh = rejected.is_some() && self.refreshable;
            self.refreshed
                .fetch_add(usize::from(fresh), Ordering::Relaxed);
            let suffix = if fresh { "-fresh" } else { "" };
            Ok(Injection {
                slot: slot.to_owned(),
                generation: 1 + u64::from(fresh),
                placements: serde_json::from_value(self.placements.clone()).expect("placements"),
                values: self
                    .values
                    .iter()
                    .map(|(key, value)| {
                        ((*key).to_owned(), Secret::new(format!("{value}{suffix}")))
                    })
                    .collect(),
                audience: self.audience.clone(),
            })
        })
    }

    fn connected(&self, slot: &str) -> bool {
        slot == "user"
    }

    fn slot_for_origin(&self, origin: &str) -> Option<String> {
        self.audience
            .iter()
            .any(|entry| entry == origin)
            .then(|| "user".to_owned())
    }

    fn shape(&self, slot: &str) -> Option<SlotShape> {
        (slot == "user").then(|| SlotShape {
            placements: serde_json::from_value(self.placements.clone()).expect("placements"),
            audience: self.audience.clone(),
        })
    }
}

/// A resolver that knows nobody but these.
fn lookup(names: &[(&str, &str)]) -> Lookup {
    let names: BTreeMap<String, IpAddr> = names
        .iter()
        .map(|(name, ip)| ((*name).to_owned(), ip.parse().expect("an address")))
        .collect();
    Arc::new(move |host| {
        let found = names.get(&host).copied();
        Box::pin(async move {
            found
                .map(|ip| vec![ip])
                .ok_or_else(|| std::io::Error::other("no such host"))
        })
    })
}

fn egress(allow_upstreams: Vec<AllowUpstream>, names: &[(&str, &str)]) -> Egress {
    let config = EgressConfig {
        allow_upstreams,
        lookup: lookup(names),
        ..EgressConfig::default()
    };
    Egress::new(config).expect("a client")
}

fn scope(connected: TestConnection) -> CallScope {
    scope_with(connected, CallLimits::default(), Mode::Live)
}

fn scope_with(connected: TestConnection, limits: CallLimits, mode: Mode) -> CallScope {
    let hosts = [API, "other.example.com", "private.example.com"].map(str::to_owned);
    let grant = Grant::new(&hosts, &[]).expect("a grant");
    CallScope::new(
        Arc::new(grant),
        BTreeMap::new(),
        Arc::new(connected),
        limits,
        mode,
    )
}

fn get(path: &str) -> GuestRequest {
    GuestRequest {
        method: http::Method::GET,
        url: format!("https://{API}{path}"),
        query: vec![],
        headers: vec![],
        body: Bytes::new(),
        credential: CredentialChoice::Slot("user".into()),
        response_bytes_max: 1024 * 1024,
        timeout: Duration::from_secs(30),
        idempotency_key: None,
        as_file: false,
    }
}

/// Several requests at once; the answers in their order.
async fn send_all(
    egress: &Egress,
    scope: &CallScope,
    requests: Vec<GuestRequest>,
) -> Vec<Result<Response, EgressFailure>> {
    let requests = requests.into_iter();
    futures_util::future::join_all(requests.map(|request| egress.send(scope, request))).await
}

fn post(path: &str, body: &'static str) -> GuestRequest {
    GuestRequest {
        method: http::Method::POST,
        body: Bytes::from_static(body.as_bytes()),
        headers: vec![("content-type".into(), "application/json".into())],
        ..get(path)
    }
}

fn plain(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
    let mut answer = Answer::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(body.into()).expect("an answer")
}

/// Beside a single dispatcher, `tracing` asks the thread that first comes to a place in the code whether anybody listens
/// there, and keeps the answer. That may be the thread of another test, on which nobody does.
static SECOND_DISPATCH: LazyLock<tracing::Dispatch> =
    LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::registry()));

/// Everything that this thread logs, at the finest level.
struct TraceLog {
    bytes: Arc<Mutex<Vec<u8>>>,
    _guard: tracing::subscriber::DefaultGuard,
}

impl TraceLog {
    fn start() -> Self {
        LazyLock::force(&SECOND_DISPATCH);
        struct Sink(Arc<Mutex<Vec<u8>>>);
        impl std::io::Write for Sink {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0
                    .lock()
                    .expect("no panic holds it")
                    .extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let writer = Arc::clone(&bytes);
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || Sink(Arc::clone(&writer)))
            .finish();
        Self {
            bytes,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no panic holds it")).into_owned()
    }
}

/// The planted secret is nowhere in `text`, in no form.
fn assert_unplanted(text: &str) {
    let mut scrubber = scrub::Scrubber::default();
    scrubber.learn([SECRET.as_bytes()]);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| scrubber.finds(line.as_bytes()))
        .collect();
    assert!(lines.is_empty(), "{lines:#?}");
}
