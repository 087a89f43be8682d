//! Requests with an `Idempotency-Key` across the wire.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Connection as _;
use sqlx::postgres::{PgConnection, PgPoolOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolgate_tests::bytes;
use toolgate_tests::component::{Fixture, locked, tool};
use toolgate_tests::gateway::{Answer, Options, PATIENCE, TestGateway};
use toolgate_tests::postgres;

const RUN: &str = "/v1/tools/once_run/execute";

async fn start() -> TestGateway {
    let mut write = tool("run");
    write["effect"] = "write".into();
    let plugin = Fixture::new("once").with("tools", json!([write])).build();
    TestGateway::with_plugin("once.wasm", plugin).await
}

async fn post(gateway: &TestGateway, path: &str, key: &str, body: &Value) -> Answer {
    let request = gateway
        .client
        .request(Method::POST, gateway.url(path))
        .header("authorization", format!("Bearer {}", gateway.key))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(body.to_string());
    let response = request.send().await.unwrap();
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await.unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_execute_answers_the_first_execution() {
    let gateway = start().await;
    let body = json!({"arguments": {"text": "a"}});
    let first = post(&gateway, RUN, "k1", &body).await;
    assert_eq!(first.data()["status"], "success", "{}", first.text);
    let retried = json!({"arguments": {"text": "a"}, "retry_unknown": true});
    let again = post(&gateway, RUN, "k1", &retried).await;
    assert_eq!(again.data(), first.data());
    assert_ne!(again.headers["x-request-id"], first.headers["x-request-id"]);
    let without = gateway.post(RUN, &body).await.data();
    assert_ne!(without["execution_id"], first.data()["execution_id"]);
    let other_key = post(&gateway, RUN, "k2", &body).await.data();
    assert_ne!(other_key["execution_id"], first.data()["execution_id"]);

    let id = first.data()["execution_id"].as_str().unwrap().to_owned();
    let receipt = gateway.get(&format!("/v1/executions/{id}")).await.data();
    assert_eq!(receipt["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_body_under_the_same_key_is_a_conflict() {
    let gateway = start().await;
    let first = post(&gateway, RUN, "k", &json!({"arguments": {"text": "a"}})).await;
    assert_eq!(first.status, 200);
    let other = post(&gateway, RUN, "k", &json!({"arguments": {"text": "b"}})).await;
    assert_eq!(
        (other.status, &*other.code()),
        (409, "idempotency_conflict")
    );
    let skill = json!({"name": "A", "summary": "B", "instructions": "C"});
    let elsewhere = post(&gateway, "/v1/skills", "k", &skill).await;
    assert_eq!(elsewhere.code(), "idempotency_conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_run_one_execution() {
    let gateway = start().await;
    let body = json!({"arguments": {"text": "a"}});
    let posts = (0..12).map(|_| post(&gateway, RUN, "k", &body));
    let answers = futures_util::future::join_all(posts).await;
    let mut ids = std::collections::BTreeSet::new();
    for answer in answers {
        match answer.status {
            200 => {
                ids.insert(answer.data()["execution_id"].to_string());
            }
            _ => {
                assert_eq!((answer.status, &*answer.code()), (409, "in_progress"));
                assert!(answer.headers.contains_key("retry-after"));
            }
        }
    }
    assert_eq!(ids.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_created_skill_is_created_once() {
    let gateway = start().await;
    let body = json!({"name": "A", "summary": "B", "instructions": "C"});
    let first = post(&gateway, "/v1/skills", "k", &body).await;
    let again = post(&gateway, "/v1/skills", "k", &body).await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.data(), again.data());
    // What the error `outcome_unknown` advises, for a request whose outcome is known.
    let knowing = json!({"name": "A", "summary": "B", "instructions": "C", "retry_unknown": true});
    let again = post(&gateway, "/v1/skills", "k", &knowing).await;
    assert_eq!(again.status, 201, "{}", again.text);
    assert_eq!(again.data(), first.data());
    let without_key = gateway.post("/v1/skills", &knowing).await;
    assert_eq!(without_key.code(), "invalid_request");
    assert_eq!(gateway.get("/v1/skills").await.data()["total"], 1);
    let long = "k".repeat(256);
    for key in ["", "a b", &long] {
        let refused = post(&gateway, "/v1/skills", key, &body).await;
        assert_eq!((refused.status, &*refused.code()), (400, "invalid_request"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_and_comes_back_gets_the_answer_of_its_first_request() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    let url = url.await.unwrap();
    let gateway = TestGateway::start(Options {
        database_url: Some(url.clone()),
        ..Options::default()
    })
    .await;
    // The request waits for this lock, with its key claimed.
    let mut lock = PgConnection::connect(&url).await.unwrap();
    for sql in ["BEGIN", "LOCK TABLE skills IN SHARE MODE"] {
        sqlx::raw_sql(sql).execute(&mut lock).await.unwrap();
    }
    let body = json!({"name": "A", "summary": "B", "instructions": "C"});
    let text = body.to_string();
    let request = format!(
        "POST /v1/skills HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nidempotency-key: k\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
        gateway.address,
        gateway.key,
        text.len()
    );
    let mut client = TcpStream::connect(gateway.address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    let watch = PgPoolOptions::new().max_connections(1).connect_lazy(&url);
    let watch = watch.unwrap();
    gateway
        .wait("the insert to wait for the lock", async || {
            let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                       AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO skills%'";
            let waiting: i64 = sqlx::query_scalar(sql).fetch_one(&watch).await.unwrap();
            waiting > 0
        })
        .await;
    client.shutdown().await.unwrap();
    // The gateway has noticed once it closes the connection, too.
    let mut said = Vec::new();
    let closed = tokio::time::timeout(PATIENCE, client.read_to_end(&mut said)).await;
    closed.expect("the connection is closed").unwrap();
    assert!(said.is_empty(), "{}", String::from_utf8_lossy(&said));

    lock.close().await.unwrap();
    gateway
        .wait("the first request to end", async || {
            post(&gateway, "/v1/skills", "k", &body).await.status != 409
        })
        .await;
    let again = post(&gateway, "/v1/skills", "k", &body).await;
    assert_eq!(again.status, 201, "{}", again.text);
    assert_eq!(gateway.get("/v1/skills").await.data()["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connect_link_is_a_secret_and_is_made_anew() {
    let gateway = TestGateway::with_plugin("locked.wasm", locked().build()).await;
    let body = json!({"service": "locked"});
    let first = post(&gateway, "/v1/connections/link", "k", &body).await;
    let again = post(&gateway, "/v1/connections/link", "k", &body).await;
    assert_eq!((first.status, again.status), (201, 201), "{}", again.text);
    assert_ne!(first.data()["connect_url"], again.data()["connect_url"]);
    let refused = post(&gateway, "/v1/connections/link", "a b", &body).await;
    assert_eq!((refused.status, &*refused.code()), (400, "invalid_request"));
    // No link is found in the database, under whatever key it was asked for.
    let url = first.data()["connect_url"].as_str().unwrap().to_owned();
    let secret = url.rsplit('/').next().unwrap();
    let data = &gateway.config.gateway.data_dir;
    for name in ["toolgate.db", "toolgate.db-wal"] {
        let kept = std::fs::read(data.join(name)).unwrap_or_default();
        assert!(!bytes::contains(&kept, secret), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_post_takes_an_idempotency_key() {
    let gateway = start().await;
    let document: Value = gateway.get("/openapi.json").await.json();
    for (path, item) in document["paths"].as_object().unwrap() {
        if item["post"].is_null() || item["post"]["security"].is_null() {
            continue;
        }
        let filled = path.replace("{tool_name}", "once_run");
        let filled = filled.split('/').map(|part| {
            if part.starts_with('{') {
                "nothing"
            } else {
                part
            }
        });
        let path = filled.collect::<Vec<_>>().join("/");
        let body = &item["post"]["requestBody"]["content"]["application/json"]["example"];
        let refused = post(&gateway, &path, "a b", body).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (400, "invalid_request"),
            "{path}"
        );
        assert!(
            refused.text.contains("the idempotency key"),
            "{path}: {}",
            refused.text
        );
    }
}
