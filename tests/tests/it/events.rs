//! The log of events from outside: webhooks, pages, streams and MCP clients are told of the same events.

mod streams;

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_store::LogRetention;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_key, new_tenant};
use toolgate_tests::receiver::Receiver;

use crate::mcp::wire::stateless;
use streams::Heard;

/// Begins a session of a user, which is an event.
async fn begin(gateway: &TestGateway, user: &str) -> String {
    let body = json!({ "prompt": "hello", "user_id": user });
    let begun = gateway.post("/v1/sessions", &body).await;
    assert_eq!(begun.status, 201, "{}", begun.text);
    begun.data()["session_id"].as_str().unwrap().to_owned()
}

/// A page of the log, read with a key.
async fn page(gateway: &TestGateway, key: &str, query: &str) -> Value {
    let path = format!("/v1/events?{query}");
    let read = gateway.send(reqwest::Method::GET, &path, Some(key), None);
    let read = read.await;
    assert_eq!(read.status, 200, "{query}: {}", read.text);
    read.data()
}

/// Switches the log on, and answers where it ends.
async fn cursor(gateway: &TestGateway) -> String {
    let page = page(gateway, &gateway.key, "").await;
    assert_eq!(page["events"], json!([]));
    page["cursor"].as_str().unwrap().to_owned()
}

fn texts(events: &Value, field: &str) -> Vec<String> {
    let events = events.as_array().unwrap().iter();
    let text = |event: &Value| event[field].as_str().unwrap().to_owned();
    events.map(text).collect()
}

fn sessions(events: &Value) -> Vec<String> {
    let events = events.as_array().unwrap().iter();
    let id = |event: &Value| event["data"]["session_id"].as_str().unwrap().to_owned();
    events.map(id).collect()
}

async fn called(request: RequestBuilder) -> Answer {
    Answer::read(request.send().await.unwrap()).await
}

/// One request of the extension at the main address.
async fn ask(gateway: &TestGateway, method: &str, params: Value) -> Value {
    let answer = called(stateless(gateway, method, None, params)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["result"].take()
}

/// Deletes what is older than `before_ms` from the log of the test's workspace.
async fn drop_before(gateway: &TestGateway, before_ms: i64) {
    let store = gateway.gateway.store();
    let logs = store.list_event_logs().await.unwrap();
    let retention = LogRetention {
        before_ms,
        unread_ms: 0,
        events_max: 1_000,
        limit: 1_000,
    };
    assert!(
        store
            .purge_logged_events(&logs[0], retention)
            .await
            .unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_pages_streams_and_mcp_clients_are_told_of_the_same_events() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = TestGateway::start(Options {
        allow_upstream: vec![receiver.upstream()],
        ..Options::default()
    })
    .await;
    let hook = json!({ "url": "https://hooks.example.test/ok/all", "events": ["session.created"] });
    let hook = gateway.post("/v1/webhooks", &hook).await.data();
    let secret = hook["secret"].as_str().unwrap();
    receiver.trust("/ok/all", &[secret]).await.unwrap();
    let polled = ask(
        &gateway,
        "events/poll",
        json!({ "name": "session.created" }),
    )
    .await;
    assert_eq!(
        (&polled["events"], &polled["truncated"]),
        (&json!([]), &json!(false))
    );
    let begins = cursor(&gateway).await;
    let mut stream = Heard::of(&gateway, &gateway.key, "types=session.*", None).await;
    let mut pushed = Heard::pushed(&gateway, json!({ "name": "session.created" })).await;

    let begun = [
        begin(&gateway, "default").await,
        begin(&gateway, "default").await,
    ];
    let read = page(
        &gateway,
        &gateway.key,
        &format!("cursor={begins}&types=session.created&wait=30"),
    )
    .await;
    assert_eq!(sessions(&read["events"])[0], begun[0]);
    let read = page(
        &gateway,
        &gateway.key,
        &format!("cursor={begins}&types=session.*,skill.created"),
    )
    .await;
    assert_eq!(sessions(&read["events"]), begun);
    assert_eq!(read["has_more"], false);
    let ids = texts(&read["events"], "event_id");

    let from = json!({ "name": "session.created", "cursor": polled["cursor"] });
    let polled = ask(&gateway, "events/poll", from).await;
    assert_eq!(texts(&polled["events"], "eventId"), ids);
    assert_eq!(sessions(&polled["events"]), begun);
    assert_eq!(texts(&polled["events"], "name"), ["session.created"; 2]);
    for (n, id) in ids.iter().enumerate() {
        let event = stream.next("event").await;
        assert_eq!(event.data["event_id"], *id);
        assert_eq!(
            event.data, read["events"][n],
            "a page and a stream are alike"
        );
        let event = pushed.next("notifications/events/event").await;
        assert_eq!(event.data["params"]["eventId"], *id);
        let subscription = &event.data["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*subscription, 1, "the id of the request");
    }
    gateway
        .wait("the deliveries", async || {
            receiver.at("/ok/all").await.len() == 2
        })
        .await;
    let delivered = receiver.at("/ok/all").await;
    let delivered: Vec<&String> = delivered.iter().map(|one| &one.id).collect();
    assert_eq!(delivered, ids.iter().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_reads_the_events_of_its_user_and_of_its_workspace() {
    let gateway = TestGateway::start(Options::default()).await;
    let begins = cursor(&gateway).await;
    let scopes = [Scope::Sessions];
    let own = new_key(&gateway.gateway, "own", &scopes).await.unwrap();
    let (stranger, _) = new_tenant(&gateway.gateway, "strangers").await.unwrap();
    let theirs = page(&gateway, &stranger, "").await;
    let ours = begin(&gateway, "default").await;
    let of_eve = begin(&gateway, "eve").await;

    let from = format!("cursor={begins}&types=session.created");
    let all = page(&gateway, &gateway.key, &from).await;
    assert_eq!(sessions(&all["events"]), [ours.clone(), of_eve.clone()]);
    let of_user = page(&gateway, &gateway.key, &format!("{from}&user_id=eve")).await;
    assert_eq!(sessions(&of_user["events"]), [of_eve]);
    let seen = page(&gateway, &own, &from).await;
    assert_eq!(sessions(&seen["events"]), [ours]);
    // What happened in the workspace before a key of it was there is not for another workspace either.
    for query in [
        format!("cursor={}", theirs["cursor"].as_str().unwrap()),
        "start=oldest".to_owned(),
    ] {
        let seen = page(&gateway, &stranger, &query).await;
        assert!(
            !seen.to_string().contains("session.created"),
            "{query}: {seen}"
        );
    }

    for (key, query, status, code) in [
        (&own, "user_id=eve", 403, "scope_denied"),
        (&own, "types=tool.executed", 403, "scope_denied"),
        (&own, "types=session.exploded", 400, "invalid_request"),
        (&own, "cursor=x", 400, "invalid_request"),
        (&own, "limit=101", 400, "invalid_request"),
        (&own, "wait=61", 400, "invalid_request"),
        (&own, "start=yesterday", 400, "invalid_request"),
    ] {
        let path = format!("/v1/events?{query}");
        let refused = gateway
            .send(reqwest::Method::GET, &path, Some(key), None)
            .await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (status, code),
            "{query}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_older_than_what_is_kept_is_told_so_at_every_door() {
    let gateway = TestGateway::start(Options::default()).await;
    let begins = cursor(&gateway).await;
    begin(&gateway, "default").await;
    let whole = page(&gateway, &gateway.key, &format!("cursor={begins}")).await;
    assert_eq!(whole["truncated"], false);
    drop_before(&gateway, i64::MAX).await;
    let left = begin(&gateway, "default").await;

    let from = format!("cursor={begins}&types=session.created");
    let read = page(&gateway, &gateway.key, &from).await;
    assert_eq!(read["truncated"], true);
    assert_eq!(sessions(&read["events"]), std::slice::from_ref(&left));
    let after = format!("cursor={}", read["cursor"].as_str().unwrap());
    assert_eq!(
        page(&gateway, &gateway.key, &after).await["truncated"],
        false
    );

    let asked = json!({ "name": "session.created", "cursor": begins });
    let polled = ask(&gateway, "events/poll", asked.clone()).await;
    assert_eq!(polled["truncated"], true);
    assert_eq!(sessions(&polled["events"]), std::slice::from_ref(&left));
    let mut stream = Heard::of(&gateway, &gateway.key, "", Some(&begins)).await;
    stream.next("truncated").await;
    assert_eq!(stream.next("event").await.data["data"]["session_id"], left);
    let mut pushed = Heard::pushed(&gateway, asked).await;
    let gap = pushed.next("notifications/events/active").await;
    assert_eq!(gap.data["params"]["truncated"], true);
    pushed.next("notifications/events/event").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_toolset_limits_events_to_its_tools() {
    let demo = Fixture::new("demo")
        .with("tools", json!([tool("run"), tool("other")]))
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    let gateway = TestGateway::with_plugin("demo.wasm", demo.build()).await;
    let toolset = json!({ "name": "support", "tools": ["demo_run"] });
    assert_eq!(gateway.post("/v1/toolsets", &toolset).await.status, 201);
    let begins = cursor(&gateway).await;
    for name in ["demo_other", "demo_run"] {
        let ran = gateway.execute(name, json!({ "text": "a" })).await;
        assert!(ran["execution_id"].is_string(), "{ran}");
    }
    let from = format!("cursor={begins}&types=tool.executed");
    gateway
        .wait("the events of both calls", async || {
            let read = page(&gateway, &gateway.key, &from).await;
            read["events"].as_array().unwrap().len() == 2
        })
        .await;

    let at_toolset = async |method: &str, params: Value| {
        let mut request = stateless(&gateway, method, None, params).build().unwrap();
        *request.url_mut() = gateway.url("/mcp/t/support").parse().unwrap();
        Answer::read(gateway.client.execute(request).await.unwrap()).await
    };
    let asked = json!({ "name": "tool.executed", "cursor": begins });
    let all = ask(&gateway, "events/poll", asked.clone()).await;
    assert_eq!(all["events"].as_array().unwrap().len(), 2, "{all}");
    let limited = at_toolset("events/poll", asked).await.json()["result"].take();
    let events = limited["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{limited}");
    assert_eq!(events[0]["data"]["tool_name"], "demo_run");
    let listed = at_toolset("events/list", json!({})).await.json();
    let names = texts(&listed["result"]["events"], "name");
    assert!(names.contains(&"approval.resolved".to_owned()), "{names:?}");
    assert!(!names.contains(&"session.created".to_owned()), "{names:?}");
    let refused = at_toolset("events/poll", json!({ "name": "session.created" })).await;
    assert_eq!(refused.json()["error"]["code"], -32_011);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_client_is_offered_what_is_served() {
    let gateway = TestGateway::start(Options::default()).await;
    let server = ask(&gateway, "server/discover", json!({})).await;
    let offered = &server["capabilities"]["extensions"]["io.modelcontextprotocol/events"];
    assert_eq!(*offered, json!({}), "{server}");
    let listed = ask(&gateway, "events/list", json!({})).await;
    assert_eq!(listed["resultType"], "complete");
    let events = listed["events"].as_array().unwrap();
    assert!(events.len() > 8, "{listed}");
    for event in events {
        assert_eq!(event["delivery"], json!(["poll", "push"]), "{event}");
        for schema in ["inputSchema", "payloadSchema"] {
            assert_eq!(event[schema]["type"], "object", "{event}");
        }
    }
    for (method, params, code) in [
        ("events/poll", json!({ "name": "tool.exploded" }), -32_011),
        (
            "events/stream",
            json!({ "name": "plugin.activated" }),
            -32_011,
        ),
        (
            "events/poll",
            json!({ "name": "tool.executed", "arguments": { "color": "red" } }),
            -32_602,
        ),
        (
            "events/poll",
            json!({ "name": "tool.executed", "cursor": "x" }),
            -32_602,
        ),
        (
            "events/poll",
            json!({ "name": "trigger", "arguments": { "event": "push" } }),
            -32_602,
        ),
        ("events/poll", json!({}), -32_602),
        (
            "events/subscribe",
            json!({ "name": "tool.executed" }),
            -32_601,
        ),
    ] {
        let refused = called(stateless(&gateway, method, None, params.clone())).await;
        let error = &refused.json()["error"];
        assert_eq!(error["code"], code, "{method} {params}: {}", refused.text);
    }
    // A key that may not read a type is not offered it, and is refused.
    let key = new_key(&gateway.gateway, "tools", &[Scope::ToolsRead])
        .await
        .unwrap();
    let as_key = async |method: &str, params: Value| {
        let mut request = stateless(&gateway, method, None, params).build().unwrap();
        let value = format!("Bearer {key}").parse().unwrap();
        request.headers_mut().insert("authorization", value);
        Answer::read(gateway.client.execute(request).await.unwrap())
            .await
            .json()
    };
    let listed = as_key("events/list", json!({})).await;
    assert_eq!(
        texts(&listed["result"]["events"], "name"),
        ["tool.executed", "tool.failed"]
    );
    let refused = as_key("events/poll", json!({ "name": "session.created" })).await;
    assert_eq!(refused["error"]["code"], -32_012, "{refused}");
}
