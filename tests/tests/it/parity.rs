//! One gateway, two edges: each operation over REST and over MCP tells the same facts and refuses
//! with the same codes.

mod refusals;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, locked, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway, client, new_key};

/// What an MCP tool said.
pub struct Said {
    pub text: String,
    pub is_error: bool,
}

impl Said {
    /// The code that ends every refusal.
    pub fn code(&self) -> &str {
        assert!(self.is_error, "{}", self.text);
        let (_, code) = self.text.rsplit_once("Error Code: ").expect("a code");
        code
    }
}

/// A request to `/mcp` that stands alone.
pub async fn tool_answer(gateway: &TestGateway, key: &str, name: &str, arguments: Value) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": name,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        },
    } });
    // A client of its own: connections belong to the runtime that made them.
    let request = client()
        .post(gateway.url("/mcp"))
        .bearer_auth(key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", name)
        .body(body.to_string());
    let response = request.send().await.unwrap();
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await.unwrap(),
    }
}

/// The answer of an MCP tool to a key that may speak.
pub async fn say_as(gateway: &TestGateway, key: &str, name: &str, arguments: Value) -> Said {
    let answer = tool_answer(gateway, key, name, arguments).await;
    let result = answer.json()["result"].clone();
    Said {
        text: result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", answer.text))
            .to_owned(),
        is_error: result["isError"] == true,
    }
}

pub async fn say(gateway: &TestGateway, name: &str, arguments: Value) -> Said {
    say_as(gateway, &gateway.key, name, arguments).await
}

/// `demo` echoes, `locked` needs an account, `broken` traps.
async fn start() -> TestGateway {
    let mut echo = tool("run");
    echo["input"] = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "What to say." },
            "times": { "type": "integer", "description": "How often." },
        },
        "required": ["text"],
    });
    let demo = Fixture::new("demo")
        .with("tools", json!([echo]))
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    let broken = Fixture::new("broken").invoke("(unreachable)");
    TestGateway::start(Options {
        plugins: vec![
            ("demo.wasm".to_owned(), demo.build()),
            ("locked.wasm".to_owned(), locked().build()),
            ("broken.wasm".to_owned(), broken.build()),
        ],
        ..Options::default()
    })
    .await
}

/// The value of a line `Name: value`.
fn line<'a>(text: &'a str, name: &str) -> &'a str {
    let start = format!("{name}: ");
    text.lines()
        .find_map(|line| line.strip_prefix(start.as_str()))
        .unwrap_or_else(|| panic!("no line {name} in {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn health_search_and_schema_tell_the_same_over_both_edges() {
    let gateway = start().await;
    let health = gateway.get("/v1/health").await.data();
    let said = say(&gateway, "svc_health_check", json!({})).await.text;
    assert!(
        said.contains(&format!("{} tools", health["tools"])),
        "{said}"
    );
    assert!(said.contains(health["version"].as_str().unwrap()), "{said}");

    for (query, service) in [
        ("test wants done", None),
        ("test", Some("locked")),
        ("zebra", None),
    ] {
        let mut path = format!("/v1/tools/search?query={}", query.replace(' ', "+"));
        let mut asked = json!({ "query": query });
        if let Some(service) = service {
            path.push_str(&format!("&service={service}"));
            asked["service"] = service.into();
        }
        let found = gateway.get(&path).await.data();
        let said = say(&gateway, "svc_search_tools", asked).await.text;
        assert!(
            said.starts_with(&format!("Found {} tool", found["total"])),
            "{said}"
        );
        let over_rest: Vec<String> = found["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| {
                let state = match tool["connection"].as_str().unwrap() {
                    "not_connected" => " - not connected yet",
                    _ => "",
                };
                let (name, service) = (&tool["name"], &tool["service"]);
                format!(
                    "- **{}** ({}){state}",
                    name.as_str().unwrap(),
                    service.as_str().unwrap()
                )
            })
            .collect();
        let over_mcp: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("- **"))
            .collect();
        assert_eq!(over_mcp, over_rest, "{query}");
        for service in found["suggestions"].as_array().into_iter().flatten() {
            assert!(said.contains(service.as_str().unwrap()), "{said}");
        }
    }

    let schema = gateway.get("/v1/tools/demo_run/schema").await.data();
    let said = say(
        &gateway,
        "svc_get_tool_schema",
        json!({ "tool_name": "demo_run" }),
    )
    .await
    .text;
    let (_, rest) = said.split_once("```json\n").unwrap();
    let (block, _) = rest.split_once("\n```").unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(block).unwrap(),
        schema["inputSchema"]
    );
    assert!(
        said.contains(schema["description"].as_str().unwrap()),
        "{said}"
    );
    assert!(said.contains("Required arguments:\n- text\n"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_of_a_call_reads_the_same_over_both_edges() {
    let gateway = start().await;
    let execute = async |tool: &str, arguments: Value| {
        let over_rest = gateway.execute(tool, arguments.clone()).await;
        let asked = json!({ "tool_name": tool, "arguments": arguments.to_string() });
        (over_rest, say(&gateway, "svc_execute_tool", asked).await)
    };
    let (ran, said) = execute("demo_run", json!({ "text": "grüß \u{1f980}" })).await;
    assert_eq!(ran["status"], "success");
    let (head, result) = said.text.split_once("\nResult:\n").unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(result).unwrap(),
        ran["result"]
    );
    assert_eq!(line(head, "Tool"), ran["tool_name"]);
    assert!(line(head, "Session").starts_with("tool_"));

    let (refused, said) = execute("broken_run", json!({})).await;
    assert_eq!(refused["status"], "error");
    assert!(said.is_error);
    assert_eq!(line(&said.text, "Reason"), refused["reason"]);
    assert_eq!(line(&said.text, "Code"), refused["error"]["code"]);
    assert_eq!(line(&said.text, "Message"), refused["error"]["message"]);
    assert_eq!(line(&said.text, "Service"), refused["service"]);

    let (needed, said) = execute("locked_run", json!({})).await;
    assert_eq!(needed["status"], "auth_required");
    assert!(!said.is_error && said.text.starts_with("## Authentication Required\n"));
    assert_eq!(line(&said.text, "Reason"), needed["reason"]);
    assert_eq!(line(&said.text, "Auth Type"), needed["auth_type"]);
    assert_eq!(line(&said.text, "Service"), needed["service"]);
    assert!(
        said.text.contains(needed["message"].as_str().unwrap()),
        "{}",
        said.text
    );
    let base = |link: &str| link.rsplit_once('/').unwrap().0.to_owned();
    assert_eq!(
        base(line(&said.text, "Connect Link")),
        base(needed["connect_url"].as_str().unwrap())
    );

    let rule = json!({ "permission": "ask" }).to_string();
    let path = "/v1/permissions/users/default/tools/demo_run";
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    let session = json!({ "prompt": "p" });
    let session = gateway.post("/v1/sessions", &session).await.data()["session_id"].clone();
    let body = json!({ "arguments": { "text": "a" }, "session_id": session });
    let asked = gateway
        .post("/v1/tools/demo_run/execute", &body)
        .await
        .data();
    let over_mcp =
        json!({ "tool_name": "demo_run", "arguments": "{\"text\":\"a\"}", "session_id": session });
    let said = say(&gateway, "svc_execute_tool", over_mcp).await;
    assert_eq!(line(&said.text, "Reason"), asked["reason"]);
    assert_eq!(
        line(&said.text, "Approval"),
        asked["approval_id"],
        "the same question"
    );
    assert_eq!(line(&said.text, "Approval Link"), asked["approval_url"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_saved_over_one_edge_is_the_same_over_the_other() {
    let gateway = start().await;
    let new = json!({ "name": "A", "description": "B \u{1f980}", "body": "1. C\n2. D" });
    let said = say(&gateway, "svc_create_skill", new.clone()).await.text;
    assert!(said.starts_with("Skill created.\n"), "{said}");
    let id = line(&said, "skill_id").to_owned();
    let path = format!("/v1/skills/{id}");
    let read = gateway.get(&path).await.data();
    for (field, over_mcp) in [
        ("name", "name"),
        ("summary", "description"),
        ("instructions", "body"),
    ] {
        assert_eq!(read[field], new[over_mcp]);
    }
    assert_eq!(read["version"], 1);

    let body = json!({ "name": "A2" }).to_string();
    let put = gateway
        .send(Method::PUT, &path, Some(&gateway.key), Some(body))
        .await;
    assert_eq!(put.data()["version"], 2);
    let got = say(&gateway, "svc_get_skill", json!({ "skill_id": id }))
        .await
        .text;
    assert!(
        got.starts_with("**A2**\n\nB \u{1f980}\n\nInstructions:\n1. C\n2. D\n"),
        "{got}"
    );
    let update = json!({ "skill_id": id, "summary": "E", "instructions": "", "name": "" });
    let updated = say(&gateway, "svc_update_skill", update).await.text;
    assert_eq!(line(&updated, "version"), "3");
    assert_eq!(gateway.get(&path).await.data()["summary"], "E");

    for name in ["X", "Y"] {
        let body = json!({ "name": name, "summary": "words to find", "instructions": "C" });
        assert_eq!(gateway.post("/v1/skills", &body).await.status, 201);
    }
    for (query, limit, offset) in [("", 20, 0), ("words", 1, 1), ("nothing at all", 20, 0)] {
        let path = format!(
            "/v1/skills?query={}&limit={limit}&offset={offset}",
            query.replace(' ', "+")
        );
        let listed = gateway.get(&path).await.data();
        let asked = json!({ "query": query, "limit": limit, "offset": offset });
        let said = say(&gateway, "svc_list_skills", asked).await.text;
        let skills = listed["skills"].as_array().unwrap();
        let header = format!(
            "Showing {} of {} skill(s) (offset={offset})",
            skills.len(),
            listed["total"]
        );
        assert!(said.starts_with(&header), "{said}");
        let ids: Vec<&str> = said
            .lines()
            .filter_map(|line| line.split_once("(skill_id: ")?.1.strip_suffix(')'))
            .collect();
        let over_rest: Vec<&str> = skills
            .iter()
            .map(|skill| skill["skill_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, over_rest);
    }
    let deleted = say(&gateway, "svc_delete_skill", json!({ "skill_id": id }))
        .await
        .text;
    assert_eq!(deleted, format!("Skill deleted: {id}"));
    assert_eq!(gateway.get(&path).await.code(), "skill_not_found");
}
