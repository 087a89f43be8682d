//! What users and providers wrote, looked for in the database by somebody who has its file.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, SqlitePool};
use toolgate_gateway::Caller;
use toolgate_gateway::jobs::rotation;
use toolgate_tests::bytes;
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::upstream::Upstream;
use toolgate_vault::Vault;

use super::spy::{self, TOKEN};
use crate::messages::database;
use crate::sessions::remembering;

const REFUSED: &str = "planted words of a refusal";
const RESULT: &str = "planted words of a long result";
const ANSWER: &str = "planted words of an answer";
const QUESTION: &str = "planted words of a question";
const PROMPT: &str = "planted words of a prompt";
/// What the fixture keeps in its session.
const VALUE: &str = r#"{"step":2}"#;

/// Everything that words were planted in, each as it is read.
struct Planted {
    gateway: TestGateway,
    receipt: String,
    result: String,
    approval: String,
    session: String,
}

/// Runs the tool with these words, and more of the request's body.
async fn send(gateway: &TestGateway, text: &str, more: &Value, key: Option<&str>) -> Value {
    let mut body = json!({ "arguments": { "text": text }, "user_id": "ada" });
    let fields = body.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    let mut request = gateway
        .client
        .post(gateway.url("/v1/tools/spy_send_letter/execute"))
        .header("authorization", format!("Bearer {}", gateway.key))
        .header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let answer = request.body(body.to_string()).send().await.unwrap();
    Answer::read(answer).await.data()
}

/// A provider that answers what it is sent, and refuses what is to be refused with the same words.
async fn start() -> TestGateway {
    let upstream = Upstream::start(|request| {
        let said: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let text = said["text"].as_str().unwrap_or_default().to_owned();
        let status = if text == REFUSED { 422 } else { 200 };
        let mut answer = spy::answers("application/json", json!({ "message": text }).to_string());
        *answer.status_mut() = status.try_into().unwrap();
        answer
    })
    .await;
    let description = spy::description(
        &spy::bearer(),
        json!({ "/letters": { "post": {
            "operationId": "send_letter", "summary": "Sends", "description": "Sends a letter.",
            "requestBody": { "content": { "application/json": { "schema": {
                "type": "object", "properties": { "text": { "type": "string", "description": "Text." } } } } } },
            "responses": { "200": { "description": "Done.", "content": { "application/json": {} } } },
        } } }),
    );
    let gateway = TestGateway::start(Options {
        plugins: vec![
            ("spy.wasm".to_owned(), spy::component(&description).await),
            ("memory.wasm".to_owned(), remembering().build()),
        ],
        allow_upstream: vec![format!("api.spy.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    spy::connect(&gateway, "ada", &[("f_secret", TOKEN)]).await;
    gateway
}

async fn plant() -> Planted {
    let gateway = start().await;
    let none = json!({});
    let refused = send(&gateway, REFUSED, &none, None).await;
    let long = RESULT.repeat(5_000);
    let cut = send(&gateway, &long, &json!({ "max_result_bytes": 256 }), None).await;
    send(&gateway, ANSWER, &none, Some("once")).await;
    let made = json!({ "prompt": PROMPT });
    let made = gateway.post("/v1/sessions", &made).await.data();
    let session = text(&made["session_id"]);
    let steps = json!({ "arguments": {}, "session_id": session });
    gateway
        .post("/v1/tools/memory_run/execute", &steps)
        .await
        .data();
    let rule = Some(json!({ "permission": "ask" }).to_string());
    let path = "/v1/permissions/users/ada/tools/spy_send_letter";
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), rule);
    assert_eq!(set.await.status, 200);
    let asked = send(&gateway, QUESTION, &none, None).await;
    let allow = Some(json!({ "permission": "allow" }).to_string());
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), allow);
    assert_eq!(set.await.status, 200);
    Planted {
        receipt: text(&refused["execution_id"]),
        result: text(&cut["truncated"]["result_id"]),
        approval: text(&asked["approval_id"]),
        session,
        gateway,
    }
}

fn text(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}

impl Planted {
    /// Everything is read as it was written.
    async fn assert_read(&self) {
        let gateway = &self.gateway;
        let receipt = gateway
            .get(&format!("/v1/executions/{}", self.receipt))
            .await;
        assert!(receipt.text.contains(REFUSED), "{}", receipt.text);
        for offset in [20, 130_000] {
            let path = format!("/v1/results/{}?offset={offset}&limit=200", self.result);
            let piece = gateway.get(&path).await;
            assert!(piece.text.contains(RESULT), "{}", piece.text);
        }
        let again = send(gateway, ANSWER, &json!({}), Some("once")).await;
        assert_eq!(again["result"]["message"], ANSWER, "{again}");
        let approval = gateway
            .get(&format!("/v1/approvals/{}", self.approval))
            .await;
        assert_eq!(approval.data()["arguments"]["text"], QUESTION);
        let requests = approval.data()["requests"].to_string();
        assert!(requests.contains(QUESTION), "{requests}");
        let session = gateway.get(&format!("/v1/sessions/{}", self.session)).await;
        assert_eq!(session.data()["title"], PROMPT);
        assert_eq!(session.data()["messages"][0]["content"], PROMPT);
        let steps = json!({ "arguments": {}, "session_id": self.session });
        let step = gateway.post("/v1/tools/memory_run/execute", &steps).await;
        assert_eq!(step.data()["result"], json!({ "step": 2 }));
    }
}

/// The values of every column of every table.
async fn columns(database: &SqlitePool) -> Vec<(String, Vec<u8>)> {
    let named: Vec<(String, String)> = sqlx::query_as(
        "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'",
    )
    .fetch_all(database)
    .await
    .unwrap();
    let mut found = Vec::new();
    for (table, column) in named {
        let all = format!("SELECT CAST(\"{column}\" AS BLOB) FROM \"{table}\"");
        let all: Vec<Option<Vec<u8>>> = sqlx::query_scalar(AssertSqlSafe(all))
            .fetch_all(database)
            .await
            .unwrap();
        let place = format!("{table}.{column}");
        found.extend(
            all.into_iter()
                .flatten()
                .map(|value| (place.clone(), value)),
        );
    }
    found
}

/// Defence: `host/gateway/src/row_seals.rs`, used by each path before the text reaches the store or a log.
#[tokio::test(flavor = "multi_thread")]
async fn words_of_users_and_providers_stand_in_no_column_and_no_file() {
    let planted = plant().await;
    planted.assert_read().await;
    let database = database(&planted.gateway).await;
    let columns = columns(&database).await;
    // What is not sealed is seen.
    let seen = |words: &str| {
        let with = columns
            .iter()
            .filter(|(_, value)| bytes::contains(value, words));
        with.map(|(place, _)| place.as_str()).collect::<Vec<_>>()
    };
    assert!(seen("spy_send_letter").contains(&"approvals.tool_name"));
    for words in [REFUSED, RESULT, ANSWER, QUESTION, PROMPT, VALUE] {
        assert!(seen(words).is_empty(), "{words}: {:?}", seen(words));
    }
    let data = &planted.gateway.config.gateway.data_dir;
    for folder in [data.clone(), data.join("receipts")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let Ok(kept) = std::fs::read(&path) else {
                continue;
            };
            for words in [REFUSED, RESULT, ANSWER, QUESTION, PROMPT, VALUE] {
                assert!(
                    !bytes::contains(&kept, words),
                    "{words}: {}",
                    path.display()
                );
            }
        }
    }
}

/// Defence: each text is bound to its workspace, row and column.
#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_was_moved_to_another_row_or_column_is_not_read() {
    let planted = plant().await;
    let gateway = &planted.gateway;
    let other = send(gateway, REFUSED, &json!({}), None).await;
    let other = text(&other["execution_id"]);
    let cut = json!({ "max_result_bytes": 256 });
    let second = send(gateway, &"x".repeat(1_000), &cut, None).await;
    let second = text(&second["truncated"]["result_id"]);
    send(gateway, "another answer", &json!({}), Some("twice")).await;
    let database = database(&planted.gateway).await;
    let move_text = async |statement: String| {
        let moved = sqlx::query(AssertSqlSafe(statement)).execute(&database);
        assert_eq!(moved.await.unwrap().rows_affected(), 1);
    };
    let read = async |path: String| gateway.get(&path).await.status;

    let receipt = &planted.receipt;
    // They are rows once they were read.
    for id in [receipt, &other] {
        assert_eq!(read(format!("/v1/executions/{id}")).await, 200);
    }
    move_text(format!(
        "UPDATE executions SET result = (SELECT result FROM executions WHERE id = '{receipt}') WHERE id = '{other}'"
    ))
    .await;
    assert_eq!(read(format!("/v1/executions/{receipt}")).await, 200);
    assert_eq!(read(format!("/v1/executions/{other}")).await, 500);

    let result = &planted.result;
    move_text(format!(
        "UPDATE results SET (content, sealed_key) = \
         (SELECT content, sealed_key FROM results WHERE id = '{result}') WHERE id = '{second}'"
    ))
    .await;
    assert_eq!(read(format!("/v1/results/{result}?limit=100")).await, 200);
    assert_eq!(read(format!("/v1/results/{second}?limit=100")).await, 500);

    move_text(
        "UPDATE idempotency SET answer = (SELECT answer FROM idempotency WHERE key LIKE '%:once') \
         WHERE key LIKE '%:twice'"
            .to_owned(),
    )
    .await;
    let path = "/v1/tools/spy_send_letter/execute";
    for (key, words, status) in [("once", ANSWER, 200), ("twice", "another answer", 500)] {
        let body = json!({ "arguments": { "text": words }, "user_id": "ada" });
        let asked = gateway
            .client
            .post(gateway.url(path))
            .header("authorization", format!("Bearer {}", gateway.key))
            .header("content-type", "application/json")
            .header("idempotency-key", key);
        let answer = asked.body(body.to_string()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{key}");
    }

    let approval = &planted.approval;
    assert_eq!(read(format!("/v1/approvals/{approval}")).await, 200);
    move_text(format!(
        "UPDATE approvals SET arguments = requests WHERE id = '{approval}'"
    ))
    .await;
    assert_eq!(read(format!("/v1/approvals/{approval}")).await, 500);

    let session = &planted.session;
    assert_eq!(read(format!("/v1/sessions/{session}")).await, 200);
    move_text(format!(
        "UPDATE session_messages SET content = (SELECT content FROM session_messages WHERE session_id = '{session}' \
         AND seq = 1) WHERE session_id = '{session}' AND seq = 2"
    ))
    .await;
    assert_eq!(read(format!("/v1/sessions/{session}")).await, 500);
}

/// Defence: `host/gateway/src/jobs/rotation.rs` moves every sealed column; each of two rotations leaves the key of before
/// behind, so a text that the first one missed is lost with the second.
#[tokio::test(flavor = "multi_thread")]
async fn every_text_is_read_after_two_changes_of_the_master_key() {
    let planted = plant().await;
    let gateway = &planted.gateway;
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let vault = Vault::open(&gateway.config.gateway.master_key_file).unwrap();
    let operator = Caller::operator(&workspace);
    for _ in 0..2 {
        let rotated = rotation::rotate(store, &vault, &operator, 1).await.unwrap();
        assert!(rotated.boxes > 10, "{rotated:?}");
        planted.assert_read().await;
    }
    let current = vault.key_id().unwrap();
    for (place, value) in columns(&database(&planted.gateway).await).await {
        if value.starts_with(b"tg1.") {
            assert!(
                bytes::contains(&value, &current),
                "{place} is under another key"
            );
        }
    }
}

/// Defence: what is no box is read as it is, so that nothing of an earlier version is lost.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_earlier_version_wrote_in_clear_is_read() {
    let planted = plant().await;
    let database = database(&planted.gateway).await;
    let message = json!({ "message": RESULT.repeat(5_000) }).to_string();
    let failure = json!({ "code": "validation_failed", "message": REFUSED }).to_string();
    let arguments = json!({ "text": QUESTION }).to_string();
    for (statement, value) in [
        (
            "UPDATE results SET sealed_key = NULL, content = CAST(? AS BLOB)",
            message,
        ),
        (
            "UPDATE executions SET result = ? WHERE result IS NOT NULL",
            failure,
        ),
        ("UPDATE approvals SET arguments = ?", arguments),
        (
            "UPDATE sessions SET prompt = ? WHERE prompt IS NOT NULL",
            PROMPT.to_owned(),
        ),
        (
            "UPDATE session_messages SET content = ?, chars = NULL WHERE seq = 1",
            PROMPT.to_owned(),
        ),
        (
            "UPDATE session_kv SET sealed_key = NULL, value_bytes = NULL, value = CAST(? AS BLOB)",
            VALUE.to_owned(),
        ),
    ] {
        let changed = sqlx::query(statement).bind(value).execute(&database);
        assert!(changed.await.unwrap().rows_affected() > 0, "{statement}");
    }
    planted.assert_read().await;
}
