//! What strangers send to what is kept: a clear refusal, and nothing stored.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, TestGateway};

use crate::parity::{say, tool_answer};

async fn start() -> TestGateway {
    TestGateway::with_plugin("demo.wasm", Fixture::new("demo").build()).await
}

async fn raw(gateway: &TestGateway, method: Method, path: &str, body: &str) -> Answer {
    gateway
        .send(method, path, Some(&gateway.key), Some(body.to_owned()))
        .await
}

/// How much every list holds.
async fn stored(gateway: &TestGateway) -> Vec<usize> {
    let mut counts = Vec::new();
    for (path, list) in [
        ("/v1/skills", "skills"),
        ("/v1/toolsets", "toolsets"),
        ("/v1/sessions", "sessions"),
        ("/v1/executions", "executions"),
        ("/v1/approvals", "approvals"),
        ("/v1/connections", "connections"),
        ("/v1/triggers", "triggers"),
        ("/v1/scripts/runs", "items"),
    ] {
        counts.push(
            gateway.get(path).await.data()[list]
                .as_array()
                .unwrap()
                .len(),
        );
    }
    let rules = gateway.get("/v1/permissions/users/default").await.data();
    counts.push(rules["tools"].as_object().unwrap().len());
    counts.push(rules["services"].as_object().unwrap().len());
    counts
}

async fn refused_and_nothing_kept(
    gateway: &TestGateway,
    cases: impl IntoIterator<Item = (Method, String, String, &'static str)>,
) {
    for (method, path, body, code) in cases {
        let answer = raw(gateway, method.clone(), &path, &body).await;
        let shown: String = body.chars().take(120).collect();
        assert_eq!(answer.code(), code, "{method} {path} {shown}");
        assert!((400..500).contains(&answer.status), "{path} {shown}");
        let message = answer.json()["error"]["message"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(message.len() > 8 && message.len() < 2_000, "{message}");
    }
    assert_eq!(stored(gateway).await, [0; 10], "something was kept");
}

/// Every JSON body that keeps something, with one field whose text is replaced.
fn writes(text: &str) -> Vec<(Method, String, String)> {
    let text = json!(text);
    let skill = |field: &str| {
        let mut body = json!({ "name": "A", "summary": "B", "instructions": "C" });
        body[field] = text.clone();
        (Method::POST, "/v1/skills".to_owned(), body.to_string())
    };
    let toolset = |field: &str| {
        let mut body = json!({ "name": "a", "tools": ["demo_run"] });
        body[field] = text.clone();
        (Method::POST, "/v1/toolsets".to_owned(), body.to_string())
    };
    vec![
        toolset("name"),
        toolset("title"),
        toolset("description"),
        skill("name"),
        skill("summary"),
        skill("instructions"),
        (
            Method::POST,
            "/v1/sessions".to_owned(),
            json!({ "prompt": text }).to_string(),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_and_nul_are_refused_and_nothing_is_kept() {
    let gateway = start().await;
    for bad in ["a\0b", "a\u{7}b", "\u{1b}[31m", "a\u{7f}", "a\u{85}b"] {
        let cases = writes(bad)
            .into_iter()
            .map(|(m, path, body)| (m, path, body, "invalid_request"));
        refused_and_nothing_kept(&gateway, cases).await;
        let new = json!({ "name": "A", "description": "B", "body": bad });
        assert_eq!(
            say(&gateway, "svc_create_skill", new).await.code(),
            "invalid_request"
        );
    }
    // Raw in the body they are not JSON at all.
    for bad in [
        "{\"name\":\"a\u{0}b\"}",
        "{\"name\":\"a\u{1}b\"}",
        "{\"na\nme\":\"a\"}",
    ] {
        let path = "/v1/skills".to_owned();
        refused_and_nothing_kept(
            &gateway,
            [(Method::POST, path, bad.to_owned(), "invalid_json")],
        )
        .await;
    }
    assert_eq!(stored(&gateway).await, [0; 10]);
}

#[tokio::test(flavor = "multi_thread")]
async fn four_byte_characters_are_kept_as_they_are() {
    let gateway = start().await;
    let text = "\u{1f980} \u{10ffff} \u{1d11e} e\u{301} \u{202e}rtl";
    let body = json!({ "name": text, "summary": text, "instructions": text });
    let made = gateway.post("/v1/skills", &body).await.data();
    let path = format!("/v1/skills/{}", made["skill_id"].as_str().unwrap());
    let read = gateway.get(&path).await.data();
    for field in ["name", "summary", "instructions"] {
        assert_eq!(read[field], text, "{field}");
    }
    let found = gateway.get("/v1/skills?query=%F0%9F%A6%80").await.data();
    assert_eq!(found["total"], 1);
    // A half of a surrogate pair is not a character.
    for bad in [r#"{"name":"\ud83e"}"#, r#"{"name":"\udd80\ud83e"}"#] {
        assert_eq!(
            raw(&gateway, Method::POST, "/v1/skills", bad).await.code(),
            "invalid_json"
        );
    }
    let bytes = gateway
        .client
        .post(gateway.url("/v1/skills"))
        .bearer_auth(&gateway.key)
        .header("content-type", "application/json")
        .body(&b"{\"name\":\"\xf0\x9f\xa6\"}"[..]);
    assert_eq!(bytes.send().await.unwrap().status(), 400);
    assert_eq!(gateway.get("/v1/skills").await.data()["total"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_json_huge_numbers_and_repeated_keys_are_refused_and_nothing_is_kept() {
    let gateway = start().await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let mut cases = Vec::new();
    for path in [
        "/v1/skills",
        "/v1/sessions",
        "/v1/connections/link",
        "/v1/tools/demo_run/execute",
    ] {
        for body in [
            deep.clone(),
            objects.clone(),
            format!("{{\"arguments\":{objects}}}"),
            "{\"name\":1e999}".to_owned(),
            "{\"name\":-1e99999}".to_owned(),
            "{\"name\":\"A\",\"name\":\"B\"}".to_owned(),
            "{\"arguments\":{\"a\":{\"b\":1,\"b\":2}}}".to_owned(),
        ] {
            cases.push((Method::POST, path.to_owned(), body, "invalid_json"));
        }
    }
    for body in [
        "{\"permission\":\"deny\",\"permission\":\"allow\"}",
        "{\"max_calls\":1e400}",
    ] {
        let path = "/v1/permissions/users/default/tools/demo_run".to_owned();
        cases.push((Method::PATCH, path, body.to_owned(), "invalid_json"));
    }
    refused_and_nothing_kept(&gateway, cases).await;
    // A number beyond 64 bits is none of ours; in a tool's arguments it is the tool's business.
    for body in [
        "{\"permission\":\"ask\",\"max_calls\":9223372036854775808}",
        "{\"permission\":\"ask\",\"max_calls\":0}",
        "{\"permission\":\"ask\",\"max_calls\":1000000001}",
    ] {
        let path = "/v1/permissions/users/default/tools/demo_run";
        assert_eq!(
            raw(&gateway, Method::PATCH, path, body).await.code(),
            "invalid_request",
            "{body}"
        );
    }
    assert_eq!(stored(&gateway).await, [0; 10]);
    let huge = "{\"arguments\":{\"n\":123456789012345678901234567890}}";
    let ran = raw(&gateway, Method::POST, "/v1/tools/demo_run/execute", huge).await;
    assert_eq!(ran.data()["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_types_and_unknown_fields_are_refused_by_name_and_nothing_is_kept() {
    let gateway = start().await;
    let mut cases = Vec::new();
    for value in [json!(null), json!(7), json!(true), json!([]), json!({})] {
        for (path, field) in [
            ("/v1/skills", "name"),
            ("/v1/toolsets", "name"),
            ("/v1/toolsets", "tools"),
            ("/v1/toolsets", "generic_tools"),
            ("/v1/sessions", "prompt"),
            ("/v1/connections/link", "service"),
            ("/v1/tools/demo_run/execute", "dry_run"),
            ("/v1/tools/demo_run/execute", "max_result_bytes"),
        ] {
            if (field, &value) == ("dry_run", &json!(true))
                || (field, &value) == ("generic_tools", &json!(true))
                || (field, &value) == ("max_result_bytes", &json!(null))
            {
                continue;
            }
            let mut body = match path {
                "/v1/skills" => json!({ "name": "A", "summary": "B", "instructions": "C" }),
                "/v1/toolsets" => json!({ "name": "a", "services": [] }),
                _ => json!({}),
            };
            body[field] = value.clone();
            cases.push((
                Method::POST,
                path.to_owned(),
                body.to_string(),
                "invalid_request",
            ));
        }
    }
    for (path, body) in [
        (
            "/v1/skills",
            json!({ "name": "A", "summary": "B", "instructions": "C", "extra": 1 }),
        ),
        (
            "/v1/toolsets",
            json!({ "name": "a", "tools": ["demo_run"], "workspace": "b" }),
        ),
        ("/v1/toolsets", json!({ "name": "a" })),
        (
            "/v1/toolsets",
            json!({ "name": "a/b", "tools": ["demo_run"] }),
        ),
        (
            "/v1/toolsets",
            json!({ "name": "..", "tools": ["demo_run"] }),
        ),
        ("/v1/sessions", json!({ "prompt": "A", "userid": "b" })),
        ("/v1/tools/demo_run/execute", json!({ "argument": {} })),
    ] {
        cases.push((
            Method::POST,
            path.to_owned(),
            body.to_string(),
            "invalid_request",
        ));
    }
    for body in ["[]", "\"text\"", "7", "null", "true"] {
        for path in ["/v1/skills", "/v1/toolsets", "/v1/sessions"] {
            cases.push((
                Method::POST,
                path.to_owned(),
                body.to_owned(),
                "invalid_request",
            ));
        }
    }
    refused_and_nothing_kept(&gateway, cases).await;
    for arguments in [
        json!({ "name": 7, "description": "B", "body": "C" }),
        json!({ "name": ["A"], "description": "B", "body": "C" }),
    ] {
        assert_eq!(
            say(&gateway, "svc_create_skill", arguments).await.code(),
            "invalid_request"
        );
    }
    assert_eq!(stored(&gateway).await, [0; 10]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_bound_holds_at_its_limit_and_refuses_beyond_it() {
    let gateway = start().await;
    let skill = |name: usize, summary: usize, instructions: usize| {
        json!({
            "name": "\u{e4}".repeat(name),
            "summary": "b".repeat(summary),
            "instructions": "c".repeat(instructions),
        })
    };
    for (body, kept) in [
        (skill(200, 2_000, 100_000), true),
        (skill(201, 1, 1), false),
        (skill(1, 2_001, 1), false),
        (skill(1, 1, 100_001), false),
        (skill(0, 1, 1), false),
    ] {
        let answer = gateway.post("/v1/skills", &body).await;
        assert_eq!(answer.status, if kept { 201 } else { 400 });
    }
    assert_eq!(gateway.get("/v1/skills").await.data()["total"], 1);
    let toolset = |name: usize, title: usize, description: usize, tools: usize| {
        json!({
            "name": "n".repeat(name),
            "title": "\u{e4}".repeat(title),
            "description": "d".repeat(description),
            "tools": vec!["demo_run"; tools],
        })
    };
    for (body, kept) in [
        (toolset(64, 200, 2_000, 128), true),
        (toolset(65, 1, 1, 1), false),
        (toolset(0, 1, 1, 1), false),
        (toolset(1, 201, 1, 1), false),
        (toolset(1, 1, 2_001, 1), false),
        (toolset(1, 1, 1, 129), false),
        (toolset(1, 1, 1, 0), false),
    ] {
        let answer = gateway.post("/v1/toolsets", &body).await;
        assert_eq!(answer.status, if kept { 201 } else { 400 }, "{body}");
    }
    for (prompt, kept) in [(100_000, true), (100_001, false), (0, false)] {
        let body = json!({ "prompt": "p".repeat(prompt) });
        let answer = gateway.post("/v1/sessions", &body).await;
        assert_eq!(answer.status, if kept { 201 } else { 400 }, "{prompt}");
    }
    for (user, kept) in [(128, true), (129, false), (0, false)] {
        let body = json!({ "prompt": "p", "user_id": "u".repeat(user) });
        let answer = gateway.post("/v1/sessions", &body).await;
        assert_eq!(answer.status, if kept { 201 } else { 400 }, "{user}");
    }
    assert_eq!(
        gateway.get("/v1/sessions").await.data()["sessions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    for (path, taken) in [
        ("/v1/skills?limit=100", true),
        ("/v1/skills?limit=101", false),
        ("/v1/skills?offset=1000000", true),
        ("/v1/skills?offset=1000001", false),
        ("/v1/sessions?limit=101", false),
        ("/v1/approvals?limit=101", false),
        ("/v1/events?limit=100", true),
        ("/v1/events?limit=101", false),
        ("/v1/events?wait=61", false),
        ("/v1/events?cursor=-1", false),
        ("/v1/events?cursor=99999999999999999999", false),
        ("/v1/events?cursor=9223372036854775807", true),
    ] {
        assert_eq!(
            gateway.get(path).await.status,
            if taken { 200 } else { 400 },
            "{path}"
        );
    }
    let batch = |rules: usize| {
        let names: serde_json::Map<String, Value> = (0..rules)
            .map(|n| (format!("demo_run{n}"), json!("deny")))
            .collect();
        json!({ "tools": names }).to_string()
    };
    let path = "/v1/permissions/users/default/batch";
    assert_eq!(
        raw(&gateway, Method::PATCH, path, &batch(1_001))
            .await
            .code(),
        "invalid_request"
    );
    assert_eq!(
        raw(&gateway, Method::PATCH, path, &batch(2)).await.code(),
        "tool_not_found"
    );
    let rules = gateway.get("/v1/permissions/users/default").await.data();
    assert_eq!(rules["tools"], json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_of_another_kind_are_not_found() {
    let gateway = start().await;
    let skill = json!({ "name": "A", "summary": "B", "instructions": "C" });
    let skill = gateway.post("/v1/skills", &skill).await.data()["skill_id"].clone();
    let session = gateway
        .post("/v1/sessions", &json!({ "prompt": "p" }))
        .await
        .data()["session_id"]
        .clone();
    let execution = gateway.execute("demo_run", json!({})).await["execution_id"].clone();
    let ids = [
        ("skill", skill),
        ("session", session),
        ("execution", execution),
    ];
    for (route, own, code) in [
        ("/v1/skills/", "skill", "skill_not_found"),
        ("/v1/sessions/", "session", "session_not_found"),
        ("/v1/executions/", "execution", "not_found"),
        ("/v1/approvals/", "", "not_found"),
        ("/v1/connections/", "", "not_found"),
        ("/v1/results/", "", "not_found"),
        ("/v1/files/", "", "not_found"),
        ("/v1/triggers/", "", "not_found"),
        ("/v1/scripts/runs/", "", "not_found"),
        ("/v1/toolsets/", "", "not_found"),
    ] {
        for (kind, id) in &ids {
            let path = format!("{route}{}", id.as_str().unwrap());
            let answer = gateway.get(&path).await;
            if *kind == own {
                assert_eq!(answer.status, 200, "{path}");
            } else {
                assert_eq!((answer.status, &*answer.code()), (404, code), "{path}");
            }
        }
    }
    for (kind, id) in &ids[1..] {
        let said = say(&gateway, "svc_get_skill", json!({ "skill_id": id })).await;
        assert_eq!(said.code(), "skill_not_found", "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_is_answered_and_not_reset() {
    let gateway = start().await;
    let body = format!("{{\"name\":\"{}\"}}", "x".repeat(6 << 20));
    for path in ["/v1/skills", "/v1/tools/demo_run/execute", "/mcp"] {
        for chunked in [false, true] {
            let request = gateway
                .client
                .post(gateway.url(path))
                .bearer_auth(&gateway.key)
                .header("accept", "application/json, text/event-stream")
                .header("content-type", "application/json");
            let request = if chunked {
                let pieces: Vec<Result<Vec<u8>, std::io::Error>> = body
                    .as_bytes()
                    .chunks(65_536)
                    .map(|piece| Ok(piece.to_vec()))
                    .collect();
                request.body(reqwest::Body::wrap_stream(futures_util::stream::iter(
                    pieces,
                )))
            } else {
                request.body(body.clone())
            };
            let answer = request.send().await.expect("an answer, not a reset");
            assert_eq!(answer.status(), 413, "{path} {chunked}");
            let text = answer.text().await.unwrap();
            assert!(text.contains("payload_too_large"), "{text}");
        }
    }
    assert_eq!(stored(&gateway).await, [0; 10]);
    let said = tool_answer(&gateway, &gateway.key, "svc_health_check", json!({})).await;
    assert_eq!(said.status, 200);
}
