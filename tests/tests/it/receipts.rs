//! Receipts when the database does not take them: kept, written later, and nothing new leaves. Receipts in a file.

use serde_json::{Value, json};
use toolgate_core::ids;
use toolgate_gateway::tools::results::Budget;
use toolgate_gateway::tools::{Arguments, CallListener, Execute};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::process::Installation;

/// Runs one statement on the gateway's database from outside.
pub(crate) async fn sql(gateway: &TestGateway, statement: &'static str) {
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query(statement).execute(&pool).await.unwrap();
    pool.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_that_cannot_be_written_stop_new_calls_and_are_not_lost() {
    let gateway = TestGateway::with_plugin("plain.wasm", Fixture::new("plain").build()).await;
    let run = "/v1/tools/plain_run/execute";
    sql(&gateway, "ALTER TABLE executions RENAME TO executions_away").await;

    let ran = gateway.execute("plain_run", json!({})).await;
    assert_eq!(ran["status"], "success", "a call that ran answers: {ran}");
    let call = json!({ "arguments": {} });
    let refused = async || gateway.post(run, &call).await.status == 503;
    gateway.wait("new calls are refused", refused).await;
    let refusal = gateway.post(run, &call).await;
    assert_eq!(refusal.code(), "overloaded");
    assert!(refusal.headers.contains_key("retry-after"));

    sql(&gateway, "ALTER TABLE executions_away RENAME TO executions").await;
    let again = async || gateway.post(run, &call).await.status == 200;
    gateway.wait("calls run again", again).await;
    let id = ran["execution_id"].as_str().unwrap();
    let receipt = gateway.get(&format!("/v1/executions/{id}")).await;
    assert_eq!(receipt.data()["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_leaves_a_receipt_for_every_call() {
    let gateway = TestGateway::with_plugin("plain.wasm", Fixture::new("plain").build()).await;
    let calls = (0..300).map(|_| gateway.execute("plain_run", json!({})));
    let ids: Vec<Value> = futures_util::future::join_all(calls)
        .await
        .into_iter()
        .map(|ran| ran["execution_id"].clone())
        .collect();
    let mut kept = Vec::new();
    let mut page = "/v1/executions?limit=100".to_owned();
    loop {
        let data = gateway.get(&page).await.data();
        let receipts = data["executions"].as_array().unwrap();
        kept.extend(receipts.iter().map(|one| one["execution_id"].clone()));
        match data["next_cursor"].as_str() {
            Some(cursor) => page = format!("/v1/executions?limit=100&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(kept.len(), 300);
    assert!(ids.iter().all(|id| kept.contains(id)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_run_are_listed_by_its_receipt() {
    let gateway = TestGateway::with_plugin("plain.wasm", Fixture::new("plain").build()).await;
    let own = gateway.execute("plain_run", json!({})).await;
    let caller = gateway
        .gateway
        .authenticate(Some(&gateway.key), ids::ulid("req"), None);
    let caller = caller.await.unwrap();
    let mut of_run = Vec::new();
    for parent in ["exe_run", "exe_other", "exe_run"] {
        let request = Execute {
            tool_name: "plain_run".to_owned(),
            arguments: Arguments::Text("{}".to_owned()),
            session_id: None,
            user_id: None,
            connection_id: None,
            dry_run: false,
            budget: Budget::default(),
            claim: None,
            parent_execution_id: Some(parent.into()),
            listener: CallListener::default(),
        };
        let ran = gateway.gateway.execute(&caller, request).await.unwrap();
        if parent == "exe_run" {
            of_run.push(ran.execution_id.to_string());
        }
    }
    let listed = gateway.get("/v1/executions?parent=exe_run").await.data();
    let listed = listed["executions"].as_array().unwrap();
    let mut found: Vec<_> = listed
        .iter()
        .map(|one| one["execution_id"].as_str().unwrap())
        .collect();
    // Two that began in one millisecond have no order.
    found.sort_unstable();
    of_run.sort_unstable();
    assert_eq!(found, of_run);
    assert!(
        listed
            .iter()
            .all(|one| one["parent_execution_id"] == "exe_run"),
        "{listed:?}"
    );
    let read = format!("/v1/executions/{}", of_run[0]);
    let read = gateway.get(&read).await.data();
    assert_eq!(read["parent_execution_id"], "exe_run", "{read}");
    // A caller's own call names none.
    let read = format!("/v1/executions/{}", own["execution_id"].as_str().unwrap());
    let read = gateway.get(&read).await.data();
    assert_eq!(read.get("parent_execution_id"), None, "{read}");
    let none = gateway.get("/v1/executions?parent=exe_none").await.data();
    assert_eq!(none["executions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn receipts_are_exported_as_lines() {
    let folder = tempfile::TempDir::new().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let demo = installation.folder.join("plugins/demo.wasm");
    std::fs::write(demo, Fixture::new("demo").build()).unwrap();
    let process = installation.serve(&["demo_run"]).await;
    for _ in 0..3 {
        let body = json!({ "arguments": {} });
        let ran = process.post("/v1/tools/demo_run/execute", &body).await;
        assert_eq!(ran.data()["status"], "success", "{}", ran.text);
    }
    let listed = process.get("/v1/executions").await.data();
    let file = folder.path().join("all.jsonl").display().to_string();
    let export = ["receipts", "export", "--out", &file];
    let said = installation.run(&export).await;
    assert_eq!(said, json!({ "receipts": 3, "file": file }));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let workspace = line.as_object_mut().unwrap().remove("workspace");
        assert_eq!(workspace, Some(json!("default")));
        line
    });
    assert_eq!(lines.collect::<Value>(), listed["executions"]);

    let refused = installation.refused(&export).await;
    assert!(refused.contains("all.jsonl cannot be made"), "{refused}");
    for (filter, value, count) in [
        ("--since", "2020-01-01", 3),
        ("--until", "2020-01-01", 0),
        ("--workspace", "default", 3),
    ] {
        let file = folder.path().join(format!("{filter}.jsonl"));
        let file = file.display().to_string();
        let export = ["receipts", "export", filter, value, "--out", &file];
        let said = installation.run(&export).await;
        assert_eq!(said["receipts"], count, "{filter} {value}");
    }
    let other = ["receipts", "export", "--workspace", "nobody"];
    let refused = installation.refused(&other).await;
    assert!(refused.contains("no workspace named nobody"), "{refused}");
    process.kill().await;
}
