//! How often a call waits for PostgreSQL: a proxy in front of the server counts what the gateway asks, and
//! notes which statements that runs.
//!
//! An empty question is not counted: with it the pool tests a connection after its use, in a task of its
//! own, and no call waits for that.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use toolgate_tests::gateway::{Answer, Options, TestGateway, built_plugin, configure};
use toolgate_tests::postgres;
use toolgate_tests::upstream::Upstream;

const SOCKET: &str = ".s.PGSQL.5432";
/// Messages of the client (PostgreSQL manual, "Message Formats"): Parse gives a statement a name, Bind runs
/// a named one, Sync ends a question, and Query is one.
const PARSE: u8 = b'P';
const BIND: u8 = b'B';
const SYNC: u8 = b'S';
const QUERY: u8 = b'Q';
/// A type and a length, which counts itself.
const HEAD_BYTES: usize = 5;
/// The first message of a client has no type.
const FIRST_HEAD_BYTES: usize = 4;
/// Calls of which the least is taken: what runs beside a call asks the database too, and each new
/// connection prepares its statements once.
const CALLS: usize = 40;

/// What passed through the proxy.
#[derive(Clone, Debug, Default)]
struct Passed {
    round_trips: usize,
    statements: Vec<String>,
}

/// A PostgreSQL whose round trips are counted.
struct Counted {
    url: String,
    passed: Arc<Mutex<Passed>>,
    _folder: TempDir,
}

impl Counted {
    async fn start() -> Self {
        let url = tokio::task::spawn_blocking(postgres::fresh_url)
            .await
            .expect("a database");
        let (rest, server) = url.split_once("?host=").expect("a socket");
        let server = PathBuf::from(server).join(SOCKET);
        let folder = TempDir::new().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("a socket");
        let passed = Arc::new(Mutex::new(Passed::default()));
        let all = passed.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server.clone(), all.clone()));
            }
        });
        Self {
            url: format!("{rest}?host={}&sslmode=disable", folder.path().display()),
            passed,
            _folder: folder,
        }
    }

    /// What passed during one of many calls: the one with the fewest round trips.
    async fn least(&self, call: impl AsyncFn(usize)) -> Passed {
        let mut least: Option<Passed> = None;
        for n in 0..CALLS {
            *self.passed.lock().unwrap() = Passed::default();
            call(n).await;
            let passed = self.passed.lock().unwrap().clone();
            let fewer = |least: &Passed| passed.round_trips < least.round_trips;
            if least.as_ref().is_none_or(fewer) {
                least = Some(passed);
            }
        }
        least.expect("there were calls")
    }
}

async fn carry(client: UnixStream, server: PathBuf, passed: Arc<Mutex<Passed>>) {
    let server = UnixStream::connect(Path::new(&server)).await;
    let (mut from_server, to_server) = server.expect("the server runs").into_split();
    let (from_client, mut to_client) = client.into_split();
    tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    let _ = questions(from_client, to_server, passed).await;
}

/// The rest of a message whose length is at this place of its head.
async fn whole(from: &mut OwnedReadHalf, head: &[u8], length: usize) -> std::io::Result<Vec<u8>> {
    let bytes = head[length..length + 4].try_into().expect("four bytes");
    let mut message = head.to_vec();
    message.resize(length + u32::from_be_bytes(bytes) as usize, 0);
    from.read_exact(&mut message[head.len()..]).await?;
    Ok(message)
}

/// The two texts with which a Parse and a Bind begin.
fn two_texts(message: &[u8]) -> (String, String) {
    let mut texts = message[HEAD_BYTES..].split(|byte| *byte == 0);
    let mut next = || String::from_utf8_lossy(texts.next().unwrap_or_default()).into_owned();
    (next(), next())
}

/// Passes messages of the client on, one by one.
async fn questions(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    passed: Arc<Mutex<Passed>>,
) -> std::io::Result<()> {
    let mut first = [0; FIRST_HEAD_BYTES];
    from.read_exact(&mut first).await?;
    to.write_all(&whole(&mut from, &first, 0).await?).await?;
    let mut names = HashMap::new();
    let mut empty = true;
    loop {
        let mut head = [0; HEAD_BYTES];
        from.read_exact(&mut head).await?;
        let message = whole(&mut from, &head, 1).await?;
        match head[0] {
            PARSE => {
                let (name, statement) = two_texts(&message);
                names.insert(name, statement);
            }
            BIND => {
                let (_portal, name) = two_texts(&message);
                let statement = names.get(&name).cloned().unwrap_or(name);
                passed.lock().unwrap().statements.push(statement);
            }
            _ => {}
        }
        // Counted before it is asked: whoever reads the answer finds it counted.
        match head[0] {
            SYNC if empty => {}
            SYNC | QUERY => {
                passed.lock().unwrap().round_trips += 1;
                empty = true;
            }
            _ => empty = false,
        }
        to.write_all(&message).await?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_postgresql_twice_and_one_with_a_key_three_times() {
    let upstream = Upstream::start(|_| {
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(r#"{"status":"success","data":{"resultType":"scalar","result":[1,"42"]}}"#.into())
            .unwrap()
    })
    .await;
    let database = Counted::start().await;
    let options = Options {
        plugins: vec![(
            "prometheus.wasm".to_owned(),
            built_plugin("prometheus").unwrap(),
        )],
        database_url: Some(database.url.clone()),
        ..Options::default()
    };
    let gateway = TestGateway::start(options).await;
    let set = [("api_base".to_owned(), upstream.url())];
    configure(&gateway.gateway, "prometheus", &set)
        .await
        .unwrap();
    let path = "/v1/tools/prometheus_query/execute";
    let asked = json!({ "arguments": { "query": "42" } });
    let succeeded = |answer: &Value| assert_eq!(answer["status"], "success", "{answer}");

    let plain = async |_| succeeded(&gateway.post(path, &asked).await.data());
    let least = database.least(plain).await;
    let wanted = ["FROM changes", "INTO executions"];
    assert_is(&least, &wanted);

    let with_key = async |n: usize| {
        let request = gateway
            .client
            .request(Method::POST, gateway.url(path))
            .bearer_auth(&gateway.key)
            .header("idempotency-key", format!("call-{n}"))
            .header("content-type", "application/json")
            .body(asked.to_string());
        let answer = Answer::read(request.send().await.unwrap()).await;
        succeeded(&answer.data());
    };
    let least = database.least(with_key).await;
    let wanted = ["FROM changes", "INTO idempotency", "INTO executions"];
    assert_is(&least, &wanted);
}

/// One round trip for each of these statements.
#[track_caller]
fn assert_is(passed: &Passed, wanted: &[&str]) {
    let found = passed.statements.iter().map(String::as_str);
    let same = found.clone().count() == wanted.len()
        && found
            .zip(wanted)
            .all(|(found, wanted)| found.contains(wanted));
    assert!(same && passed.round_trips == wanted.len(), "{passed:#?}");
}
