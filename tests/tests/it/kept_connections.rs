//! A connection that is kept goes on after an answer, or the answer says that it ends: a client that sends its next
//! request never meets a connection that closes without an answer.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway};

/// One answer: its head, once its body has been read too. `None`: the connection ended.
async fn answer(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let mut byte = [0];
        let got = tokio::time::timeout(PATIENCE, stream.read(&mut byte)).await;
        if got.expect("something happens").unwrap_or(0) == 0 {
            assert_eq!(String::from_utf8_lossy(&read), "", "half an answer");
            return None;
        }
        read.push(byte[0]);
        if read.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8(read).unwrap().to_ascii_lowercase();
    let (_, length) = head.split_once("content-length: ").expect("a length");
    let length = length.split("\r\n").next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    Some(head)
}

fn post(path: &str, more: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{more}content-length: {length}\r\n\r\n"
    )
}

const GET: &str = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";

/// The head and the body of a request travel apart, and are refused before the body is read.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_before_the_body_arrives_leaves_the_connection_in_use() {
    let gateway = TestGateway::start(Options::default()).await;
    for path in ["/mcp", "/mcp/key", "/v1/skills", "/oauth/revoke"] {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        for round in 0..20 {
            let body = format!("{{\"round\":{round}}}");
            let head = post(path, "", body.len());
            stream.write_all(head.as_bytes()).await.unwrap();
            // The answer may be made meanwhile.
            tokio::time::sleep(Duration::from_millis(round)).await;
            stream.write_all(body.as_bytes()).await.unwrap();
            let head = answer(&mut stream).await.expect("an answer");
            assert!(head.starts_with("http/1.1 4"), "{path}: {head}");
            assert!(!head.contains("connection: close"), "{path}: {head}");
        }
        stream.write_all(GET.as_bytes()).await.unwrap();
        let head = answer(&mut stream).await.expect("an answer");
        assert!(head.starts_with("http/1.1 200"), "{head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_body_is_too_large_or_never_comes_the_answer_says_that_it_is_the_last() {
    let gateway = TestGateway::start(Options::default()).await;
    let large = post("/mcp", "", 10_000_000);
    let never = post("/mcp", "", 10);
    let expecting = post("/mcp", "expect: 100-continue\r\n", 10);
    for head in [large, never, expecting] {
        let mut stream = TcpStream::connect(gateway.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let said = answer(&mut stream).await.expect("an answer");
        assert!(said.starts_with("http/1.1 401"), "{said}");
        assert!(said.contains("connection: close"), "{head}\n{said}");
        assert_eq!(answer(&mut stream).await, None);
    }
}
