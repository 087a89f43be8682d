//! wasi:http leads into the same pipeline as the plugin contract's egress.

use serde_json::json;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, built_plugin};
use toolgate_tests::holding::Holding;
use toolgate_tests::upstream::Upstream;

#[tokio::test(flavor = "multi_thread")]
async fn the_second_door_meets_the_same_policy_and_leaves_the_same_receipt() {
    let upstream = Upstream::start(|request| {
        axum::http::Response::new(format!("you asked {}", request.target).into())
    })
    .await;
    let gateway = TestGateway::with_upstream("door", "door.example.com", upstream.url()).await;

    let answer = gateway
        .execute("door_fetch", json!({ "path": "/a?b=c" }))
        .await;
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(
        answer["result"],
        json!({ "status": 200, "body": "you asked /a?b=c" })
    );
    let receipt = gateway
        .get(&format!(
            "/v1/executions/{}",
            answer["execution_id"].as_str().unwrap()
        ))
        .await
        .data();
    assert_eq!(receipt["requests"][0]["host"], "door.example.com");
    assert_eq!(receipt["requests"][0]["path"], "/a", "without the query");
    let received = upstream.received();
    assert!(
        received[0]
            .headers
            .iter()
            .all(|(name, _)| name != "authorization"),
        "{received:?}"
    );

    for refused in [
        json!({ "host": "elsewhere.example.com" }),
        json!({ "host": "127.0.0.1" }),
        json!({ "host": "169.254.169.254", "path": "/latest/meta-data", "plain": true }),
        json!({ "host": "door.example.com", "plain": true }),
        json!({ "host": "door.example.com:8443" }),
    ] {
        let answer = gateway.execute("door_fetch", refused.clone()).await;
        assert_eq!(
            answer["result"]["refused"], "ErrorCode::HttpRequestDenied",
            "{refused}: {answer}"
        );
    }
    assert_eq!(upstream.received().len(), 1, "nothing else left");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_wait_for_a_slow_service_do_not_pile_up() {
    // It takes connections and never reads, and its kernel takes next to nothing for it: a body that
    // fits into the buffers between the two would make room for another one.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let silent = socket.listen(64).unwrap();
    let gateway = TestGateway::with_upstream(
        "door",
        "door.example.com",
        format!("http://{}", silent.local_addr().unwrap()),
    )
    .await;
    let flood = json!({ "requests": 20, "mib": 4 });
    let answer = gateway.execute("door_flood", flood).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let refused = answer["result"]["refused"].as_array().unwrap();
    // Eight bodies of 4 MiB are the 32 MiB that the gateway holds for a call.
    assert_eq!(refused.len(), 12, "{answer}");
    assert!(
        refused
            .iter()
            .all(|why| *why == "ErrorCode::HttpRequestBodySize(Some(33554432))"),
        "{answer}"
    );

    let large = json!({ "requests": 1, "mib": 9 });
    let answer = gateway.execute("door_flood", large).await;
    assert_eq!(
        answer["result"]["refused"],
        json!(["ErrorCode::HttpRequestBodySize(Some(8388608))"]),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_under_way_when_the_plugin_returns_is_in_the_receipt() {
    let service = Holding::start().await;
    let url = format!("http://{}", service.address);
    let gateway = TestGateway::with_upstream("door", "door.example.com", url).await;
    // Nobody is answered, and the plugin waits for no answer: the first requests arrive while it writes
    // the bodies of the last ones.
    let flood = json!({ "requests": 8, "mib": 4 });
    let answer = gateway.execute("door_flood", flood).await;
    assert_eq!(answer["status"], "success", "{answer}");
    let path = format!(
        "/v1/executions/{}",
        answer["execution_id"].as_str().unwrap()
    );
    let receipt = gateway.get(&path).await.data();
    let first = tokio::time::timeout(PATIENCE, service.arrived.acquire()).await;
    first.expect("a request has arrived").unwrap().forget();
    let arrived = 1 + service.arrived.available_permits();

    assert_eq!(receipt["status"], "success", "{receipt}");
    let requests = receipt["requests"].as_array().unwrap();
    assert!(requests.len() >= arrived, "{arrived} arrived: {receipt}");
    for request in requests {
        assert_eq!(request["method"], "POST", "{request}");
        assert_eq!(request["status"], json!(null), "{request}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_sent_holds_no_long_words() {
    let plugins = vec![("door.wasm".to_owned(), built_plugin("door").unwrap())];
    let gateway = TestGateway::start(Options {
        plugins,
        ..Options::default()
    })
    .await;
    for (bytes, said) in [
        (1024, "ErrorCode::HttpRequestDenied"),
        (1025, "the request cannot be written"),
    ] {
        let arguments = json!({ "host": "a".repeat(bytes) });
        let answer = gateway.execute("door_fetch", arguments).await;
        assert_eq!(answer["result"]["refused"], said, "{bytes}: {answer}");
    }
}
