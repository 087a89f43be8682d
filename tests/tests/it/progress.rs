//! A call while it runs: what a tool tells reaches its caller at once, and a caller that leaves reaches
//! the tool.

use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_tests::events::{self, receipt, watching};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::mcp::{Client, client_program};
use toolgate_tests::process::program;
use toolgate_tests::upstream::{Received, Upstream};

/// What one call may ask for at most is 50 pages.
const MANY: u64 = 40;
/// Together the pages take longer than a client needs to take a call back on a busy machine.
const PAGE_TIME: Duration = Duration::from_millis(250);

async fn walker() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|received: &Received| {
        tokio::task::block_in_place(|| std::thread::sleep(PAGE_TIME));
        Response::new(Body::from(format!("title of {}", received.target)))
    })
    .await;
    let gateway = TestGateway::with_upstream("walker", "api.walker.test", upstream.url()).await;
    (gateway, upstream)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_rest_has_progress_and_partial_results_before_the_reply() {
    let (gateway, _upstream) = walker().await;
    let answer = watching(&gateway, "walker_read", &json!({ "pages": 3 }));
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.headers()["content-type"],
        "text/event-stream; charset=utf-8"
    );
    let events = events::parse(&answer.text().await.unwrap());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let each = ["progress", "partial"];
    assert_eq!(names[..6], [each, each, each].concat());
    assert_eq!(names[6..], ["reply"]);
    let second = json!({ "done": 2, "total": 3, "message": "page 2" });
    assert_eq!(events[2].1, second);
    let second = json!({ "page": 2, "title": "title of /pages/2" });
    assert_eq!(events[3].1, second);
    let reply = &events[6].1;
    assert_eq!(reply["success"], true);
    assert_eq!(reply["data"]["result"]["titles"][2], "title of /pages/3");

    let refused = watching(&gateway, "walker_read", &json!({ "pages": 0 }));
    let refused = refused.send().await.unwrap();
    assert_eq!(refused.status(), 400, "refused before anything is streamed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_tells_is_bounded() {
    let (gateway, _upstream) = walker().await;
    let told = async |times: u64, bytes: u64| {
        let arguments = json!({ "times": times, "bytes": bytes });
        let answer = watching(&gateway, "walker_tell", &arguments).send().await;
        let events = events::parse(&answer.unwrap().text().await.unwrap());
        let (name, reply) = events.last().unwrap();
        assert_eq!(name, "reply");
        assert_eq!(reply["data"]["result"]["told"], times, "{reply}");
        events
    };
    let events = told(2_000, 1).await;
    assert_eq!(events.len(), 1_000 + 1, "and the reply");
    let events = told(200, 100_000).await;
    let partial = events.iter().filter(|(name, _)| name == "partial");
    let bytes: usize = partial.map(|(_, data)| data.to_string().len()).sum();
    assert!((7 << 20..=8 << 20).contains(&bytes), "{bytes}");
    assert_eq!(events[0].1["message"].as_str().unwrap().len(), 1_024);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_a_stream_cancels_the_call_unless_a_key_can_come_back_for_it() {
    let (gateway, upstream) = walker().await;
    let arguments = json!({ "pages": MANY });
    let mut answer = watching(&gateway, "walker_read", &arguments)
        .send()
        .await
        .unwrap();
    answer.chunk().await.unwrap().unwrap();
    drop(answer);
    let ended = receipt(&gateway, "walker_read").await;
    assert_eq!(ended["status"], "error", "{ended}");
    let read = upstream.received().len() as u64;
    assert!(read < MANY, "{read} pages");

    let keyed = |accept: &'static str| {
        let request = watching(&gateway, "walker_read_on", &arguments);
        let request = request.header("idempotency-key", "walk");
        let mut request = request.build().unwrap();
        request
            .headers_mut()
            .insert("accept", accept.parse().unwrap());
        gateway.client.execute(request)
    };
    let mut answer = keyed("text/event-stream").await.unwrap();
    answer.chunk().await.unwrap().unwrap();
    drop(answer);
    receipt(&gateway, "walker_read_on").await;
    let again = keyed("application/json").await.unwrap();
    let again: Value = serde_json::from_str(&again.text().await.unwrap()).unwrap();
    let titles = again["data"]["result"]["titles"].as_array().unwrap();
    assert_eq!(titles.len() as u64, MANY);
    // The request that was dropped may have arrived after its call had ended.
    let all = upstream.received().len() as u64;
    assert!(
        (read + MANY..=read + MANY + 1).contains(&all),
        "{all}: {read} and {MANY}"
    );
}

/// An official client, and how it reaches the gateway.
#[derive(Clone, Copy, Debug)]
enum Way {
    Http(Client),
    /// Through `toolgate mcp`.
    Stdio(Client),
}

/// What a program of an official client prints of one call.
async fn watched(
    way: Way,
    gateway: &TestGateway,
    tool: &str,
    pages: u64,
    cancel_after: Option<u32>,
) -> Value {
    let arguments = json!({ "pages": pages }).to_string();
    let (client, command) = match way {
        Way::Http(client) => (client, None),
        Way::Stdio(client) => {
            let program = program().to_str().unwrap().to_owned();
            let words = ["mcp".to_owned(), "--url".to_owned(), gateway.url("")];
            (client, Some([vec![program], words.to_vec()].concat()))
        }
    };
    let job = json!({
        "command": command,
        "url": gateway.url("/mcp"), "key": gateway.key, "name": "svc_execute_tool",
        "arguments": { "tool_name": tool, "arguments": arguments }, "cancel_after": cancel_after,
    });
    let mut program = client_program(client, "watch", job).unwrap();
    let running = program.kill_on_drop(true).output();
    let ended = tokio::time::timeout(Duration::from_secs(120), running).await;
    let output = ended.expect("the client ends").unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{way:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn progress_and_cancellation(way: Way) {
    let (gateway, upstream) = walker().await;
    let whole = watched(way, &gateway, "walker_write", 3, None).await;
    let told =
        |page: u64| json!({ "progress": page, "total": 3, "message": format!("page {page}") });
    let heard = whole["progress"].as_array().unwrap();
    // The JavaScript client ignores a notification that arrives in the same chunk as the answer.
    assert!((2..=3).contains(&heard.len()), "{whole}");
    for (page, heard) in (1..).zip(heard) {
        for field in ["progress", "total"] {
            assert_eq!(heard[field].as_f64(), told(page)[field].as_f64(), "{heard}");
        }
        assert_eq!(heard["message"], told(page)["message"]);
    }
    assert!(
        whole["text"]
            .as_str()
            .unwrap()
            .contains("title of /pages/3")
    );

    // The tool asks, and stops.
    let before = upstream.received().len();
    let left = watched(way, &gateway, "walker_read", MANY, Some(2)).await;
    assert!(left["error"].is_string(), "{left}");
    let ended = receipt(&gateway, "walker_read").await;
    assert_eq!(ended["failure"]["code"], "cancelled", "{ended}");
    let read = (upstream.received().len() - before) as u64;
    assert!((2..MANY).contains(&read), "{read} pages");
    // One that does not ask is given no more.
    let before = upstream.received().len();
    watched(way, &gateway, "walker_read_on", MANY, Some(2)).await;
    let ended = receipt(&gateway, "walker_read_on").await;
    assert_eq!(ended["failure"]["code"], "cancelled", "{ended}");
    let read = (upstream.received().len() - before) as u64;
    assert!((2..MANY).contains(&read), "{read} pages");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_sees_progress_and_can_cancel() {
    progress_and_cancellation(Way::Http(Client::Python("auto"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_of_sessions_sees_progress_and_can_cancel() {
    progress_and_cancellation(Way::Http(Client::Python("legacy"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_sees_progress_and_can_cancel() {
    progress_and_cancellation(Way::Http(Client::JavaScript("auto"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_of_sessions_sees_progress_and_can_cancel() {
    progress_and_cancellation(Way::Http(Client::JavaScriptSdk1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_program_on_standard_input_sees_progress_and_can_cancel() {
    progress_and_cancellation(Way::Stdio(Client::JavaScript("auto"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_may_write_is_not_cut_off_between_two_requests() {
    let (gateway, upstream) = walker().await;
    let way = Way::Http(Client::JavaScript("auto"));
    watched(way, &gateway, "walker_write", MANY, Some(2)).await;
    let ended = receipt(&gateway, "walker_write").await;
    assert_eq!(ended["status"], "success", "{ended}");
    assert_eq!(upstream.received().len() as u64, MANY);
}
