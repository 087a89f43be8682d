//! n8n: workflows from their creation to their end, what they ran, and rows of a data table.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, PATIENCE, client};
use toolgate_tests::tools;

use super::calls::{ServiceGateway, answer, refused, run};
use super::server::{RealServer, large};

const LICENSED: &str = "n8n allows it with a license only";
const NOT_WITHOUT_LICENSE: &[(&str, &str)] = &[
    ("n8n_transfer_workflow", LICENSED),
    ("n8n_list_projects", LICENSED),
    ("n8n_list_variables", LICENSED),
    ("n8n_create_variable", LICENSED),
];

async fn start(home: &std::path::Path) -> RealServer {
    let mut server = RealServer::new();
    let mut command = tools::node().unwrap();
    command
        .arg(home.join("node_modules/n8n/bin/n8n"))
        .arg("start");
    for (name, value) in [
        ("N8N_PORT", server.port()),
        ("N8N_LISTEN_ADDRESS", "127.0.0.1"),
        ("N8N_USER_FOLDER", server.folder.path().to_str().unwrap()),
        ("N8N_SECURE_COOKIE", "false"),
        // It asks no service of its makers.
        ("N8N_DIAGNOSTICS_ENABLED", "false"),
        ("N8N_VERSION_NOTIFICATIONS_ENABLED", "false"),
        ("N8N_TEMPLATES_ENABLED", "false"),
    ] {
        command.env(name, value);
    }
    server.spawn(&mut command);
    server
        .answers_within(5 * PATIENCE, "/healthz/readiness")
        .await;
    server
}

/// The owner, as the web page sends it.
struct Owner<'a> {
    server: &'a RealServer,
    cookie: String,
}

impl Owner<'_> {
    async fn set_up(server: &RealServer) -> Owner<'_> {
        let owner = json!({
            "email": "ada@example.com", "firstName": "Ada", "lastName": "Berg", "password": "Kneadsourdough1",
        });
        let request = client()
            .post(format!("{}/rest/owner/setup", server.url))
            .header("content-type", "application/json");
        let answer = Answer::read(request.body(owner.to_string()).send().await.unwrap()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let cookie = answer.headers["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Owner { server, cookie }
    }

    /// A key with all scopes that the owner may give.
    async fn api_key(&self) -> String {
        let address = format!("{}/rest/api-keys", self.server.url);
        let scopes = client().get(format!("{address}/scopes"));
        let scopes = scopes.header("cookie", &self.cookie).send().await.unwrap();
        let scopes = Answer::read(scopes).await.json()["data"].take();
        let key = json!({ "label": "toolgate", "scopes": scopes, "expiresAt": null });
        let request = client()
            .post(address)
            .header("content-type", "application/json")
            .header("cookie", &self.cookie);
        let made = Answer::read(request.body(key.to_string()).send().await.unwrap()).await;
        assert_eq!(made.status, 200, "{}", made.text);
        made.json()["data"]["rawApiKey"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// A workflow that a request to its webhook starts, and that does one thing then.
fn started_by_webhook(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    json!({
        "name": name,
        "nodes": [
            {
                "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0],
                "webhookId": name, "parameters": { "path": name, "responseMode": "onReceived" },
            },
            { "name": "Then", "type": kind, "typeVersion": version, "position": [220, 0], "parameters": parameters },
        ],
        "connections": { "Hook": { "main": [[{ "node": "Then", "type": "main", "index": 0 }]] } },
        "settings": { "executionOrder": "v1" },
    })
}

/// Creates and publishes the workflow, starts it once and answers its id.
async fn publish(server: &RealServer, gateway: &ServiceGateway, workflow: Value) -> Value {
    let path = format!("/webhook/{}", workflow["name"].as_str().unwrap());
    let made = run(gateway, "n8n_create_workflow", workflow).await;
    let id = json!({ "workflowId": made["id"] });
    let published = run(gateway, "n8n_publish_workflow", id).await;
    assert_eq!(published["active"], true, "{published}");
    // Its webhooks are there a moment after the answer.
    server.answers(&path).await;
    made["id"].clone()
}

/// The newest run in this state, once there is one.
async fn run_in_state(gateway: &ServiceGateway, status: &str) -> Value {
    let filter = json!({ "status": status, "startedAfter": "2026-01-01T00:00:00Z" });
    let found = tokio::time::timeout(PATIENCE, async {
        loop {
            let found = run(gateway, "n8n_list_executions", filter.clone()).await;
            if let Some(execution) = found["data"].as_array().and_then(|runs| runs.first()) {
                break execution.clone();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    found
        .await
        .unwrap_or_else(|_| panic!("no run became {status}"))
}

/// The number of an execution, which n8n writes as text in its answers.
fn number(execution: &Value) -> u64 {
    execution["id"].as_str().unwrap().parse().unwrap()
}

async fn workflows(server: &RealServer, gateway: &ServiceGateway) {
    let fails = json!({ "errorMessage": "No flour" });
    let fails = started_by_webhook("fails", "n8n-nodes-base.stopAndError", 1.0, fails);
    let id = publish(server, gateway, fails.clone()).await;
    let failed = number(&run_in_state(gateway, "error").await);
    let read = json!({ "executionId": failed, "includeData": true });
    let read = run(gateway, "n8n_get_execution", read).await;
    assert!(read["data"].to_string().contains("No flour"), "{read}");
    let again = json!({ "executionId": failed, "loadWorkflow": true });
    let again = run(gateway, "n8n_retry_execution", again).await;
    assert_eq!(again["retryOf"], failed.to_string(), "{again}");

    let waits = json!({ "amount": 600, "unit": "seconds" });
    let waits = started_by_webhook("waits", "n8n-nodes-base.wait", 1.1, waits);
    publish(server, gateway, waits).await;
    let waiting = json!({ "executionId": number(&run_in_state(gateway, "waiting").await) });
    let stopped = run(gateway, "n8n_stop_execution", waiting).await;
    assert_eq!(stopped["status"], "canceled", "{stopped}");

    let mut page = json!({ "limit": 1, "excludePinnedData": true, "active": true });
    let first = answer(gateway, "n8n_list_workflows", page.clone()).await;
    page["cursor"] = first["next_cursor"].clone();
    let last = answer(gateway, "n8n_list_workflows", page).await;
    assert_ne!(
        last["result"]["data"][0]["id"],
        first["result"]["data"][0]["id"]
    );
    assert!(last["next_cursor"].is_null(), "{last}");

    let mut changed = fails;
    changed["name"] = json!("stops");
    changed["workflowId"] = id.clone();
    run(gateway, "n8n_update_workflow", changed).await;
    let read = run(gateway, "n8n_get_workflow", json!({ "workflowId": id })).await;
    assert_eq!(read["name"], "stops", "{read}");
    let tag = run(gateway, "n8n_create_tag", json!({ "name": "Bakery" })).await;
    let tags = run(gateway, "n8n_list_tags", json!({})).await;
    assert_eq!(tags["data"][0]["id"], tag["id"], "{tags}");
    let tagged = json!({ "workflowId": id, "body": [{ "id": tag["id"] }] });
    run(gateway, "n8n_set_workflow_tags", tagged).await;
    let stopped = run(
        gateway,
        "n8n_unpublish_workflow",
        json!({ "workflowId": id }),
    )
    .await;
    assert_eq!(stopped["active"], false, "{stopped}");
    // One that was never published: n8n takes a moment to unpublish, and deletes none before.
    let draft = started_by_webhook("draft", "n8n-nodes-base.noOp", 1.0, json!({}));
    let draft = run(gateway, "n8n_create_workflow", draft).await;
    let draft = json!({ "workflowId": draft["id"] });
    run(gateway, "n8n_delete_workflow", draft.clone()).await;
    let said = refused(gateway, "n8n_get_workflow", draft).await;
    assert!(said.contains("Not Found"), "{said}");
}

async fn rows(server: &RealServer, key: &str, gateway: &ServiceGateway) {
    let table = json!({
        "name": "orders",
        "columns": [{ "name": "name", "type": "string" }, { "name": "status", "type": "string" }],
    });
    let request = client()
        .post(format!("{}/api/v1/data-tables", server.url))
        .header("content-type", "application/json")
        .header("x-n8n-api-key", key);
    let made = Answer::read(request.body(table.to_string()).send().await.unwrap()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let tables = run(gateway, "n8n_list_data_tables", json!({})).await;
    let table = &tables["data"][0]["id"];
    assert_eq!(*table, made.json()["id"], "{tables}");

    let new = json!([{ "name": "Anna", "status": "new" }, { "name": "Bert", "status": "new" }]);
    let new = json!({ "dataTableId": table, "data": new, "returnType": "id" });
    let ids = run(gateway, "n8n_insert_rows", new).await;
    assert_eq!(ids.as_array().map(Vec::len), Some(2), "{ids}");
    let named = |name: &str| json!({ "filters": [{ "columnName": "name", "condition": "eq", "value": name }] });
    let done = json!({
        "dataTableId": table, "filter": named("Anna"), "data": { "status": "done" }, "returnData": true,
    });
    let done = run(gateway, "n8n_update_rows", done).await;
    assert_eq!(done[0]["status"], "done", "{done}");
    let third = json!({
        "dataTableId": table, "filter": named("Carl"), "data": { "name": "Carl", "status": "new" },
    });
    run(gateway, "n8n_upsert_row", third).await;
    let filter = json!({ "type": "and", "filters": [{ "columnName": "status", "condition": "eq", "value": "new" }] });
    let list = json!({ "dataTableId": table, "filter": filter.to_string(), "sortBy": "name:asc" });
    let found = run(gateway, "n8n_list_rows", list).await;
    assert_eq!(found["data"][0]["name"], "Bert", "{found}");
    assert_eq!(found["data"][1]["name"], "Carl", "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn workflows_of_a_real_n8n_are_made_run_and_removed() {
    let Some(home) = large("n8n") else { return };
    let server = start(&home).await;
    let key = Owner::set_up(&server).await.api_key().await;
    let gateway = ServiceGateway::at_address("n8n", &server, "/api/v1").await;
    let (status, text) = gateway.connect(&[("f_secret", "not a key of it")]).await;
    assert_ne!(status, 200, "{text}");
    let (status, text) = gateway.connect(&[("f_secret", &key)]).await;
    assert_eq!(status, 200, "{text}");
    let credentials = run(&gateway, "n8n_list_credentials", json!({})).await;
    assert_eq!(credentials["data"], json!([]));
    // The account stays connected where a license is what is missing.
    for (tool, arguments) in [
        ("n8n_list_projects", json!({})),
        ("n8n_list_variables", json!({})),
        (
            "n8n_create_variable",
            json!({ "key": "oven", "value": "hot" }),
        ),
    ] {
        let said = refused(&gateway, tool, arguments).await;
        assert!(said.contains("license"), "{tool}: {said}");
    }
    workflows(&server, &gateway).await;
    rows(&server, &key, &gateway).await;
    gateway.every_tool_succeeded(NOT_WITHOUT_LICENSE).await;
}
