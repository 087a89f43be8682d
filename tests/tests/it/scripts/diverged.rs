//! A journal that does not fit its script any more stops the run at the step where they part. No script can do that by
//! itself, so the journal is changed in the database, as a damage or a fault of the engine would.

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::postgres;

use super::{Shop, counts, permit, resume, run};

/// Waits for an approval in its step 2, which is of this item alone.
fn script(item: &str) -> String {
    format!(
        "await shop.listItems({{}});\nawait shop.createNote({{ text: 'before' }});\n\
         await shop.deleteItem({{ id: '{item}' }});\nawait shop.createNote({{ text: 'after' }});"
    )
}

/// Runs the script until it waits, and approves what it waits for.
async fn approved(gateway: &TestGateway, item: &str) -> Value {
    let paused = run(gateway, &script(item)).await;
    let pause = &paused["pause"];
    assert_eq!(
        (&paused["status"], &pause["step"]),
        (&json!("paused"), &json!(2)),
        "{paused}"
    );
    let decided = gateway.decide(&pause["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    paused
}

/// Runs a statement in the gateway's database, beside it.
async fn sql(gateway: &TestGateway, database_url: Option<&str>, statement: String) {
    if let Some(url) = database_url.map(str::to_owned) {
        let asked = tokio::task::spawn_blocking(move || postgres::ask(&url, &statement));
        asked.await.unwrap();
        return;
    }
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    let changed = sqlx::query(AssertSqlSafe(statement)).execute(&pool).await;
    assert_eq!(changed.unwrap().rows_affected(), 1);
    pool.close().await;
}

async fn diverges(database_url: Option<String>) {
    let shop = Shop::start().await;
    let options = Options {
        database_url: database_url.clone(),
        ..shop.options()
    };
    let gateway = shop.gateway_with(options).await;
    permit(&gateway, "shop_delete_item", json!({"permission": "ask"})).await;
    let other = format!("fingerprint = '{}'", "0".repeat(64));
    for (item, change, at, named) in [
        // Another call than the one that is journaled.
        ("a", other.as_str(), 1, 1),
        ("b", other.as_str(), 0, 0),
        // A call that is journaled and that the script never makes.
        ("c", "step = 9", 2, 9),
    ] {
        // With the approval there, only the journal stands in the way.
        let paused = approved(&gateway, item).await;
        let id = paused["run_id"].as_str().unwrap();
        let statement =
            format!("UPDATE script_steps SET {change} WHERE run_id = '{id}' AND step = {at}");
        sql(&gateway, database_url.as_deref(), statement).await;
        let asked = shop.api.received().len();
        let ran = resume(&gateway, &paused).await.data();
        assert_eq!(ran["status"], "failed", "{change}: {ran}");
        let error = &ran["error"];
        assert_eq!(error["code"], "script_diverged", "{change}: {ran}");
        assert_eq!(error["step"], named, "{change}: {ran}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("step {named}")),
            "{change}: {ran}"
        );
        assert_eq!(
            shop.api.received().len(),
            asked,
            "{change}: nothing is called"
        );
        // It has ended.
        let again = resume(&gateway, &paused).await.data();
        assert_eq!(again["error"], ran["error"], "{again}");
    }
    // An unchanged one goes on.
    let paused = approved(&gateway, "d").await;
    let ran = resume(&gateway, &paused).await.data();
    assert_eq!(ran["status"], "done", "{ran}");
    assert_eq!(shop.written(), counts([("after", 1), ("before", 4)]));
    assert_eq!(shop.asked("DELETE"), ["/items/d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_journal_stops_the_run_at_its_step_on_sqlite() {
    diverges(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_journal_stops_the_run_at_its_step_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    diverges(Some(url.await.unwrap())).await;
}
