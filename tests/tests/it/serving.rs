//! The process as an operator knows it: another database, a full house, a shutdown.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, built_plugin, client};
use toolgate_tests::holding::Holding;
use toolgate_tests::postgres;
pub use toolgate_tests::process::{program, serve_with};

#[tokio::test(flavor = "multi_thread")]
async fn the_main_job_runs_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("pg.wasm".to_owned(), Fixture::new("pg").build())],
        database_url: Some(url),
        ..Options::default()
    })
    .await;
    assert_eq!(
        gateway.get("/v1/health").await.data()["database"],
        "postgres"
    );
    let answer = gateway.execute("pg_run", json!({})).await;
    assert_eq!(answer["status"], "success");
    let id = answer["execution_id"].as_str().unwrap();
    assert_eq!(
        gateway.get(&format!("/v1/executions/{id}")).await.data()["tool_name"],
        "pg_run"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_house_answers_overloaded_and_disturbs_nobody() {
    let gate = Holding::start().await;
    let gateway =
        TestGateway::with_plugin("prometheus.wasm", built_plugin("prometheus").unwrap()).await;
    let set = [("api_base".to_owned(), format!("http://{}", gate.address))];
    toolgate_tests::gateway::configure(&gateway.gateway, "prometheus", &set)
        .await
        .unwrap();

    let calls_max = u32::try_from(toolgate_runtime::limits::CALLS_MAX).unwrap();
    let body = json!({ "arguments": { "query": "42" } }).to_string();
    let request = |key: &str| {
        client()
            .post(gateway.url("/v1/tools/prometheus_query/execute"))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(body.clone())
            .send()
    };
    let running: Vec<_> = (0..calls_max)
        .map(|_| tokio::spawn(request(&gateway.key)))
        .collect();
    let all_in = tokio::time::timeout(PATIENCE, gate.arrived.acquire_many(calls_max)).await;
    all_in
        .expect("every call reaches the server")
        .unwrap()
        .forget();

    let one_more = request(&gateway.key).await.unwrap();
    assert_eq!(one_more.status(), 503);
    assert!(one_more.headers().contains_key("retry-after"));
    let text = one_more.text().await.unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&text).unwrap()["error"]["code"],
        "overloaded"
    );

    gate.open.notify_waiters();
    for call in running {
        let answer: Value =
            serde_json::from_str(&call.await.unwrap().unwrap().text().await.unwrap()).unwrap();
        assert_eq!(answer["data"]["status"], "success", "{answer}");
    }
}

/// Starts the program and answers it with its first words.
async fn serve(folder: &Path, plugin: &[u8]) -> (Child, Value) {
    serve_with(folder, "prometheus.wasm", plugin, &[]).await
}

/// Where a gateway listens whose REST interface is at `rest`.
fn address(rest: &str) -> &str {
    rest.trim_start_matches("http://").trim_end_matches("/v1")
}

/// Sends the signal to stop, and returns when the gateway refuses new connections.
async fn begin_shutdown(child: &Child, rest: &str) {
    let process = child.id().unwrap().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &process])
            .status()
            .await
            .unwrap()
            .success()
    );
    let draining = tokio::time::timeout(PATIENCE, async {
        while TcpStream::connect(address(rest)).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    draining.await.expect("no new connections");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_lets_the_running_call_end() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Holding::start().await;
    let (mut child, first) = serve(folder.path(), &built_plugin("prometheus").unwrap()).await;
    let (rest, key) = (
        first["rest"].as_str().unwrap().to_owned(),
        first["key"].as_str().unwrap().to_owned(),
    );
    let execute = || {
        client()
            .post(format!("{rest}/tools/prometheus_query/execute"))
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(json!({ "arguments": { "query": "42" } }).to_string())
            .send()
    };
    let ready = tokio::time::timeout(PATIENCE, async {
        while execute().await.unwrap().status() != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    ready.await.expect("the plugin serves");
    let set = Command::new(program())
        .args(["service", "configure", "prometheus", "--set"])
        .arg(format!("api_base=http://{}", gate.address))
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .output()
        .await
        .unwrap();
    assert!(
        set.status.success(),
        "{}",
        String::from_utf8_lossy(&set.stderr)
    );

    let call = tokio::spawn(execute());
    let arrived = tokio::time::timeout(PATIENCE, gate.arrived.acquire()).await;
    arrived
        .expect("the call reaches the server")
        .unwrap()
        .forget();
    begin_shutdown(&child, &rest).await;
    gate.open.notify_waiters();
    let answer: Value =
        serde_json::from_str(&call.await.unwrap().unwrap().text().await.unwrap()).unwrap();
    assert_eq!(answer["data"]["status"], "success", "{answer}");
    let ended = tokio::time::timeout(PATIENCE, child.wait())
        .await
        .expect("the process ends")
        .unwrap();
    assert!(ended.success(), "{ended}");
}

const WEBHOOK: &str = r#"{"url":"https://app.example.com/in","events":["tool.failed"]}"#;

/// A request that adds a row, of which all but the body has been sent and read.
async fn without_body(address: &str, key: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/webhooks HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        WEBHOOK.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // Sent when the handler asks for the body.
    let expected = "HTTP/1.1 100 Continue\r\n\r\n";
    let mut told = vec![0; expected.len()];
    let read = tokio::time::timeout(PATIENCE, stream.read_exact(&mut told)).await;
    read.expect("an answer").unwrap();
    assert_eq!(String::from_utf8_lossy(&told), expected);
    stream
}

/// They end one after the other: a database that closes as soon as no call runs would be closed under the last ones.
#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_keeps_the_database_open_for_requests_that_are_being_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, first) = serve(folder.path(), b"no plugin").await;
    let (rest, key) = (
        first["rest"].as_str().unwrap(),
        first["key"].as_str().unwrap(),
    );
    let mut begun = Vec::new();
    for _ in 0..5 {
        begun.push(without_body(address(rest), key).await);
    }
    begin_shutdown(&child, rest).await;
    // All within the two seconds that connections have.
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    let mut answers = Vec::new();
    for mut stream in begun {
        pace.tick().await;
        let body = WEBHOOK.as_bytes();
        stream.write_all(body).await.unwrap();
        let mut answer = String::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
        read.expect("an answer").unwrap();
        answers.push(answer);
    }
    for answer in &answers {
        assert!(answer.starts_with("HTTP/1.1 201"), "{answers:#?}");
    }
    let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
    assert!(ended.expect("the process ends").unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_revoked_by_another_process_is_refused_on_its_next_request() {
    let folder = tempfile::tempdir().unwrap();
    let (_child, first) = serve(folder.path(), b"no plugin").await;
    let (rest, key) = (
        first["rest"].as_str().unwrap(),
        first["key"].as_str().unwrap(),
    );
    let status = || async {
        let request = client()
            .get(format!("{rest}/status"))
            .header("authorization", format!("Bearer {key}"));
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status().await, 200);
    let revoked = Command::new(program())
        .args(["key", "revoke", "dev", "--data-dir"])
        .arg(folder.path().join("data"))
        .output()
        .await
        .unwrap();
    assert!(
        revoked.status.success(),
        "{}",
        String::from_utf8_lossy(&revoked.stderr)
    );
    assert_eq!(status().await, 401);
}
