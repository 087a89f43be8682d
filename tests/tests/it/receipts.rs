//! Receipts when the database does not take them: kept, written later, and nothing new leaves.

use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::TestGateway;

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
