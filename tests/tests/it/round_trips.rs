//! How often a call waits for PostgreSQL: a proxy in front of the server counts the answers that end a
//! round trip.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
/// The message that ends a round trip (ReadyForQuery).
const READY: u8 = b'Z';
/// A type and a length, which counts itself.
const HEAD_BYTES: usize = 5;
/// Calls of which the least is taken: what runs beside a call asks the database too, and each new
/// connection prepares its statements once.
const CALLS: usize = 40;

/// A PostgreSQL whose round trips are counted.
struct Counted {
    url: String,
    round_trips: Arc<AtomicUsize>,
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
        let round_trips = Arc::new(AtomicUsize::new(0));
        let counter = round_trips.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server.clone(), counter.clone()));
            }
        });
        Self {
            url: format!("{rest}?host={}&sslmode=disable", folder.path().display()),
            round_trips,
            _folder: folder,
        }
    }

    /// The least number of round trips of one of many.
    async fn least(&self, call: impl AsyncFn(usize)) -> usize {
        let mut least = usize::MAX;
        for n in 0..CALLS {
            let before = self.round_trips.load(Ordering::SeqCst);
            call(n).await;
            least = least.min(self.round_trips.load(Ordering::SeqCst) - before);
        }
        least
    }
}

async fn carry(client: UnixStream, server: PathBuf, counter: Arc<AtomicUsize>) {
    let server = UnixStream::connect(Path::new(&server)).await;
    let (from_server, mut to_server) = server.expect("the server runs").into_split();
    let (mut from_client, to_client) = client.into_split();
    tokio::spawn(answers(from_server, to_client, counter));
    let _ = copy(&mut from_client, &mut to_server).await;
}

/// Passes messages of the server on, one by one.
async fn answers(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, counter: Arc<AtomicUsize>) {
    let mut head = [0; HEAD_BYTES];
    while from.read_exact(&mut head).await.is_ok() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut message = head.to_vec();
        message.resize(length as usize + 1, 0);
        if from.read_exact(&mut message[HEAD_BYTES..]).await.is_err() {
            return;
        }
        // Counted first: whoever reads the message finds it counted.
        if head[0] == READY {
            counter.fetch_add(1, Ordering::SeqCst);
        }
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_postgresql_twice_and_one_with_a_key_four_times() {
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
    assert_eq!(least, 2, "the change counters, the receipt");

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
    assert_eq!(
        least, 3,
        "the key is claimed, the receipt, the answer is kept"
    );
}
