//! The memory of bodies, answers and files together: a workspace that takes much of it is refused as overloaded, another
//! one goes on, and everything is given back.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolgate_core::memory::MemoryUse;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_tenant};

use crate::mcp::forms;

const MIB: usize = 1 << 20;
/// Two uploads after which their workspace has its share of 64 MiB.
const UPLOADS: [usize; 2] = [20 * MIB, 18 * MIB];
/// A body that does not fit beside them.
const LARGE: usize = 900 << 10;

/// A gateway whose bodies may have 64 MiB; its tool answers its arguments.
async fn start() -> TestGateway {
    let demo = Fixture::new("demo")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    TestGateway::start(Options {
        plugins: vec![("demo.wasm".to_owned(), demo.build())],
        guest_memory: Some(256),
        ..Options::default()
    })
    .await
}

fn memory(gateway: &TestGateway) -> MemoryUse {
    gateway.gateway.body_memory().now()
}

/// An upload of which all but the last byte has been sent.
async fn begin_upload(gateway: &TestGateway, key: &str, bytes: usize) -> TcpStream {
    let address = gateway.address;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/files HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
         content-type: text/plain\r\ncontent-length: {bytes}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'x'; bytes - 1]).await.unwrap();
    stream
}

/// Sends the last byte and reads the answer.
async fn end_upload(mut stream: TcpStream) -> String {
    stream.write_all(b"x").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn call(gateway: &TestGateway, key: &str, text_bytes: usize) -> Answer {
    let body = json!({ "arguments": { "text": "x".repeat(text_bytes) } }).to_string();
    let path = "/v1/tools/demo_run/execute";
    gateway
        .send(Method::POST, path, Some(key), Some(body))
        .await
}

/// Looks until it is dropped.
async fn stays_within_budget(gateway: &TestGateway) {
    loop {
        let now = memory(gateway);
        assert!(now.used_bytes <= now.max_bytes, "{now:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_with_many_large_bodies_is_refused_and_another_goes_on() {
    let gateway = start().await;
    let (tenant, _) = new_tenant(&gateway.gateway, "second").await.unwrap();
    let session = forms::open(&gateway, "/mcp").await;
    assert_eq!(memory(&gateway).max_bytes, 64 << 20);
    let begin = UPLOADS.map(|bytes| begin_upload(&gateway, &gateway.key, bytes));
    let uploads = join_all(begin).await;
    let held: usize = UPLOADS.iter().sum();
    gateway
        .wait("the uploads to have their memory", async || {
            memory(&gateway).used_bytes >= held as u64
        })
        .await;

    let greedy = join_all((0..12).map(|_| call(&gateway, &gateway.key, LARGE)));
    let modest = async {
        let mut answers = Vec::new();
        for _ in 0..5 {
            answers.push(call(&gateway, &tenant, 300 << 10).await);
        }
        answers
    };
    let (greedy, modest) = tokio::select! {
        answers = async { tokio::join!(greedy, modest) } => answers,
        () = stays_within_budget(&gateway) => unreachable!("it watches until the end"),
    };
    for refused in greedy {
        assert_eq!(
            (refused.status, &*refused.code()),
            (503, "overloaded"),
            "{}",
            refused.text
        );
        assert_eq!(refused.headers["retry-after"], "1");
    }
    for answer in modest {
        let answer = answer.data();
        assert_eq!(answer["status"], "success", "{answer}");
    }
    let arguments = json!({ "text": "x".repeat(LARGE) }).to_string();
    let message = json!({ "tool_name": "demo_run", "arguments": arguments });
    let message = forms::call("svc_execute_tool", &message);
    let refused = forms::post(&gateway, "/mcp", Some("*/*"), Some(&session), &message).await;
    assert_eq!(refused.status(), 503);

    let refused = memory(&gateway).refused;
    assert_eq!(refused, 13, "each large body once");
    let metrics = gateway.gateway.metrics().render();
    let line = format!("toolgate_body_memory_refused_total {refused}");
    assert!(metrics.lines().any(|one| one == line), "{metrics}");

    for answer in join_all(uploads.into_iter().map(end_upload)).await {
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
    gateway
        .wait("everything to be given back", async || {
            memory(&gateway).used_bytes == 0
        })
        .await;
    let answer = call(&gateway, &gateway.key, LARGE).await.data();
    assert_eq!(answer["status"], "success", "{answer}");
}
