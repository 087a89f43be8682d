//! Steps that share state: a plugin that remembers, over REST.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway};

use crate::connect::press;

/// Answers `{"step":1}` and keeps a value, and answers that value from then on.
pub fn remembering() -> Fixture {
    Fixture::new("memory")
        .with("capabilities", json!(["kv"]))
        .fields(
            r#"(import "toolgate:plugin/kv@0.1.0" "get" (func $get (param i32 i32 i32)))
            (import "toolgate:plugin/kv@0.1.0" "set"
                (func $set (param i32 i32 i32 i32 i32 i32 i32 i64 i32)))
            (data (i32.const 61000) "step")
            (data (i32.const 61008) "{\"step\":2}")
            (data (i32.const 61024) "{\"step\":1}")"#,
        )
        .invoke(
            r#"(call $get (i32.const 61000) (i32.const 4) (i32.const 60000))
            (if (result i32) (i32.load8_u (i32.const 60008))
                (then (call $answer (i32.load (i32.const 60016)) (i32.load (i32.const 60020))))
                (else
                    (call $set (i32.const 61000) (i32.const 4) (i32.const 61008) (i32.const 10)
                        (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 60000))
                    (if (i32.load8_u (i32.const 60000)) (then (unreachable)))
                    (call $answer (i32.const 61024) (i32.const 10))))"#,
        )
}

async fn step(gateway: &TestGateway, session_id: Option<&str>) -> Value {
    let body = json!({"arguments": {}, "session_id": session_id});
    let answer = gateway.post("/v1/tools/memory_run/execute", &body).await;
    answer.data()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_step_of_a_session_sees_what_the_first_one_kept() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering().build()).await;
    let first = step(&gateway, None).await;
    assert_eq!(first["result"], json!({"step": 1}), "{first}");
    let session = first["session_id"].as_str().unwrap().to_owned();
    assert!(session.starts_with("tool_") && session.len() == 37);
    let second = step(&gateway, Some(&session)).await;
    assert_eq!(second["result"], json!({"step": 2}));
    let elsewhere = step(&gateway, None).await;
    assert_eq!(elsewhere["result"], json!({"step": 1}));

    let path = format!("/v1/sessions/{session}");
    let read = gateway.get(&path).await.data();
    assert_eq!(read["user_id"], "default");
    let gone = gateway.send(Method::DELETE, &path, Some(&gateway.key), None);
    assert_eq!(
        gone.await.data(),
        json!({"session_id": session, "deleted": true})
    );
    assert_eq!(gateway.get(&path).await.code(), "session_not_found");
    let anew = step(&gateway, Some(&session)).await;
    assert_eq!(anew["result"], json!({"step": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_created_session_carries_state_and_an_unknown_one_is_refused() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering().build()).await;
    let made = gateway
        .post("/v1/sessions", &json!({"prompt": "Two steps"}))
        .await;
    assert_eq!(made.status, 201);
    let id = made.data()["session_id"].as_str().unwrap().to_owned();
    assert_eq!(
        step(&gateway, Some(&id)).await["result"],
        json!({"step": 1})
    );
    assert_eq!(
        step(&gateway, Some(&id)).await["result"],
        json!({"step": 2})
    );
    let listed = gateway.get("/v1/sessions").await.data();
    assert_eq!(listed["sessions"][0]["session_id"], json!(id));

    let unknown = format!("ses_{}", "0".repeat(32));
    let body = json!({"arguments": {}, "session_id": unknown});
    let refused = gateway.post("/v1/tools/memory_run/execute", &body).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (404, "session_not_found")
    );
}

/// What was read from one account is not shown to a call for another.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_keeps_apart_what_belongs_to_two_connections() {
    let mut run = tool("run");
    run["auth"] = json!(["key"]);
    let plugin = remembering()
        .with("hosts", json!(["memory.test"]))
        .with("capabilities", json!(["egress", "kv"]))
        .with(
            "auth",
            json!([{
                "slot": "key", "title": "Key", "type": "api_key",
                "placement": {"header": "x-key", "template": "{secret}"},
                "audience": ["https://memory.test"]
            }]),
        )
        .with("tools", json!([run]))
        .build();
    let gateway = TestGateway::with_plugin("memory.wasm", plugin).await;
    let mut connections = Vec::new();
    for secret in ["key-of-work", "key-of-home"] {
        let asked = json!({"service": "memory"});
        let link = gateway.post("/v1/connections/link", &asked).await.data();
        let url = link["connect_url"].as_str().unwrap();
        let page = press(&gateway, url, &[("f_secret", secret)]).await;
        assert_eq!(page.status, 200, "{}", page.text);
        connections.push(link["connection_id"].clone());
    }
    assert_ne!(connections[0], connections[1]);
    for (which, step) in [(0, 1), (1, 1), (0, 2), (1, 2)] {
        let body = json!({
            "arguments": {}, "session_id": "both", "connection_id": connections[which]
        });
        let answer = gateway.post("/v1/tools/memory_run/execute", &body).await;
        let answer = answer.data();
        assert_eq!(answer["result"], json!({"step": step}), "{which}: {answer}");
    }
}

async fn step_of(gateway: &TestGateway, session_id: &str, user_id: &str) -> Answer {
    let body = json!({"arguments": {}, "session_id": session_id, "user_id": user_id});
    gateway.post("/v1/tools/memory_run/execute", &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_answers_to_the_user_who_began_it_alone() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering().build()).await;
    let asked = json!({"prompt": "Mine", "user_id": "ada"});
    let created = gateway.post("/v1/sessions", &asked).await.data()["session_id"].clone();
    let begun = json!({"arguments": {}, "user_id": "ada"});
    let begun = gateway.post("/v1/tools/memory_run/execute", &begun).await;
    let begun = begun.data()["session_id"].clone();
    for (session, first) in [
        (created.as_str().unwrap(), 1),
        // What a run that named no session has begun is there at once.
        (begun.as_str().unwrap(), 2),
        ("a-name-of-our-own", 1),
    ] {
        if first == 1 {
            let one = step_of(&gateway, session, "ada").await.data();
            assert_eq!(one["result"], json!({"step": 1}), "{session}");
        }
        let refused = step_of(&gateway, session, "bob").await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (404, "session_not_found"),
            "{session}"
        );
        let two = step_of(&gateway, session, "ada").await.data();
        assert_eq!(two["result"], json!({"step": 2}), "{session}");
    }
    let own = step_of(&gateway, "bobs-own", "bob").await.data();
    assert_eq!(own["result"], json!({"step": 1}));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_users_who_begin_one_session_at_once_one_does() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering().build()).await;
    for round in 0..5 {
        let session = format!("round-{round}");
        let users = ["ada", "bob", "ada", "bob", "ada", "bob"];
        let at_once = users.map(|user| step_of(&gateway, &session, user));
        let answers = futures_util::future::join_all(at_once).await;
        let mut began = std::collections::BTreeSet::new();
        for (user, answer) in users.iter().zip(answers) {
            match answer.status {
                200 => {
                    began.insert(*user);
                }
                _ => assert_eq!(answer.code(), "session_not_found"),
            }
        }
        assert_eq!(began.len(), 1, "{began:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_idle_for_a_day_begins_anew_with_nothing_in_it() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    let clock = Clock::manual(1_800_000_000_000);
    let options = Options {
        plugins: vec![("memory.wasm".to_owned(), remembering().build())],
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = TestGateway::start(options).await;
    let begun = step(&gateway, None).await["session_id"].clone();
    for session in [begun.as_str().unwrap(), "a-name-of-our-own"] {
        step(&gateway, Some(session)).await;
        let kept = step(&gateway, Some(session)).await;
        assert_eq!(kept["result"], json!({"step": 2}), "{session}");
        clock.advance_ms(DAY_MS - 1);
        let kept = step(&gateway, Some(session)).await;
        assert_eq!(kept["result"], json!({"step": 2}), "{session}");
        clock.advance_ms(DAY_MS);
        let gone = gateway.get(&format!("/v1/sessions/{session}")).await;
        assert_eq!(gone.code(), "session_not_found");
        let anew = step(&gateway, Some(session)).await;
        assert_eq!(anew["result"], json!({"step": 1}), "{session}");
    }
    clock.advance_ms(DAY_MS);
    // Nobody's any more, so anybody's.
    let theirs = step_of(&gateway, "a-name-of-our-own", "bob").await.data();
    assert_eq!(theirs["result"], json!({"step": 1}));
}

/// The session of a single call is not listed until it is used again; it can be read by its id before.
#[tokio::test(flavor = "multi_thread")]
async fn the_session_of_one_call_is_listed_once_it_is_used_again() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    let clock = Clock::manual(1_800_000_000_000);
    let plain = Fixture::new("plain").with("tools", json!([tool("run")]));
    let options = Options {
        plugins: vec![("plain.wasm".to_owned(), plain.build())],
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = TestGateway::start(options).await;
    let call = async |session_id: Option<&str>, user_id: &str| {
        let body = json!({"arguments": {}, "session_id": session_id, "user_id": user_id});
        gateway.post("/v1/tools/plain_run/execute", &body).await
    };
    let listed = async || {
        let page = gateway.get("/v1/sessions").await.data();
        let sessions = page["sessions"].as_array().unwrap().clone();
        sessions
            .iter()
            .map(|one| one["session_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let begun = async || {
        let answer = call(None, "ada").await.data();
        answer["session_id"].as_str().unwrap().to_owned()
    };
    let (used, read, expired, deleted) =
        (begun().await, begun().await, begun().await, begun().await);
    assert_eq!(listed().await, [""; 0]);

    clock.advance_ms(1_000);
    for session in [&used, &read] {
        let foreign = call(Some(session), "bob").await;
        assert_eq!(foreign.code(), "session_not_found");
    }
    assert_eq!(call(Some(&used), "ada").await.status, 200);
    let shown = gateway.get(&format!("/v1/sessions/{used}")).await.data();
    assert_eq!(shown["created_at"], "2027-01-15T08:00:00.000Z", "{shown}");
    assert_eq!(
        shown["last_active_at"], "2027-01-15T08:00:01.000Z",
        "{shown}"
    );
    let shown = gateway.get(&format!("/v1/sessions/{read}")).await.data();
    assert_eq!(shown["user_id"], "ada");
    assert_eq!(
        shown["last_active_at"], "2027-01-15T08:00:00.000Z",
        "{shown}"
    );

    let path = format!("/v1/sessions/{deleted}");
    let delete = async || {
        let sent = gateway.send(Method::DELETE, &path, Some(&gateway.key), None);
        sent.await
    };
    assert_eq!(delete().await.status, 200);
    assert_eq!(delete().await.code(), "session_not_found");
    assert_eq!(gateway.get(&path).await.code(), "session_not_found");
    let mut rows = listed().await;
    rows.sort();
    let mut expected = vec![used, read];
    expected.sort();
    assert_eq!(rows, expected);

    clock.advance_ms(DAY_MS);
    let gone = gateway.get(&format!("/v1/sessions/{expired}")).await;
    assert_eq!(gone.code(), "session_not_found");
}
