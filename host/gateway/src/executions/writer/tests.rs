use std::path::Path;

use super::*;
use crate::executions::receipt_log::tests::{fill, receipt};
use toolgate_store::{EventFilters, Plan, WebhookRow};

fn seals(folder: &Path) -> RowSeals {
    let vault = toolgate_vault::Vault::open(&folder.join("master.key"));
    RowSeals::new(&vault.unwrap())
}

/// A database and its workspace.
async fn database(folder: &Path) -> (Store, String) {
    let url = format!("sqlite://{}", folder.join("toolgate.db").display());
    let store = Store::open(&url).await.unwrap();
    let workspace = store.create_workspace("acme", Plan::Free, None, 1).await;
    (store, workspace.unwrap().id)
}

/// Subscribes to everything, and answers the webhook's id.
async fn subscribe(store: &Store, workspace_id: &str) -> String {
    let webhook = WebhookRow {
        id: "whk_1".to_owned(),
        workspace_id: workspace_id.to_owned(),
        url: "https://hooks.example.com/in".to_owned(),
        description: String::new(),
        events: vec!["*".to_owned()],
        filters: EventFilters::default(),
        enabled: true,
        disabled_reason: None,
        disabled_at_ms: None,
        sealed: String::new(),
        sealed_previous: None,
        previous_until_ms: None,
        failures: 0,
        failing_since_ms: None,
        retry_at_ms: None,
        lease_owner: None,
        lease_until_ms: None,
        created_at_ms: 1,
        updated_at_ms: 1,
    };
    assert!(store.insert_webhook(&webhook, 1).await.unwrap());
    webhook.id
}

#[tokio::test]
async fn the_end_of_a_call_in_a_log_outweighs_that_another_process_gave_the_call_up() {
    let folder = tempfile::tempdir().unwrap();
    let (store, workspace_id) = database(folder.path()).await;
    let logs = folder.path().join("receipts");
    let ours = |id: &str, status: &str| ExecutionRow {
        workspace_id: workspace_id.as_str().into(),
        ..receipt(id, status)
    };
    let begun = ["exe_1", "exe_2", "exe_3"].map(|id| ours(id, "running"));
    store.record_executions(&begun, &[]).await.unwrap();
    assert_eq!(store.interrupt_executions(i64::MAX).await.unwrap(), 3);
    let two_requests = ExecutionRow {
        requests: r#"[{"method":"GET"},{"method":"POST"}]"#.into(),
        ..ours("exe_2", "running")
    };
    let ended = ours("exe_1", "success");
    let webhook = subscribe(&store, &workspace_id).await;

    // The second time as where the first one was killed before it released what it had written.
    for start in 1..=2 {
        let (log, _) = ReceiptLog::open(&logs).unwrap();
        for entry in [&begun[0], &ended, &two_requests, &begun[2]] {
            log.append(entry, None).unwrap();
        }
        drop(log);
        let (log, left) = ReceiptLog::open(&logs).unwrap();
        let receipts = Receipts::start(store.clone(), Some(Arc::new(log)), seals(folder.path()));
        receipts.write_left(left, &store).await;
        assert_eq!(receipts.flush().await, Ok(()));

        let mut kept = Vec::new();
        for row in &begun {
            let found = store.find_execution(&workspace_id, &row.id).await;
            let found = found.unwrap().unwrap();
            kept.push((found.status.to_string(), found.requests));
        }
        let expected = [
            ("success".to_owned(), ended.requests.clone()),
            // Given up again a moment later, with every request that left.
            ("running".to_owned(), two_requests.requests.clone()),
            ("interrupted".to_owned(), begun[2].requests.clone()),
        ];
        assert_eq!(kept, expected, "start {start}");
        let told = store.list_deliveries(&workspace_id, &webhook, None, None, 10);
        let told = told.await.unwrap().items;
        let told: Vec<&str> = told.iter().map(|one| one.kind.as_str()).collect();
        assert_eq!(told, ["tool.executed"], "start {start}");
    }
}

#[tokio::test]
async fn without_room_in_the_log_a_call_waits_for_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let (store, workspace_id) = database(folder.path()).await;
    let logs = folder.path().join("receipts");
    let (log, _) = ReceiptLog::open(&logs).unwrap();
    let log = Arc::new(log);
    let receipts = Receipts::start(store.clone(), Some(log.clone()), seals(folder.path()));
    let send = async |id: &str| {
        let row = ExecutionRow {
            workspace_id: workspace_id.as_str().into(),
            ..receipt(id, "success")
        };
        receipts.queue(Box::new((row, None))).await.unwrap()
    };
    let found = async |id: &str| {
        let found = store.find_execution(&workspace_id, id).await;
        found.unwrap().is_some()
    };
    assert!(matches!(send("exe_1").await, Queued::Logged));
    fill(&log, &logs);
    let queued = send("exe_2").await;
    assert!(matches!(queued, Queued::Waits(..)), "it is not in the log");
    assert_eq!(queued.written().await, Ok(()));
    assert!(found("exe_2").await, "the row is there before the answer");
    assert_eq!(receipts.flush().await, Ok(()));
    assert!(found("exe_1").await);
}

#[tokio::test]
async fn each_call_has_its_own_limit_while_the_database_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, workspace_id) = database(folder.path()).await;
    store.close().await;
    let receipts = Receipts {
        written_within: Duration::from_millis(5),
        ..Receipts::start(store, None, seals(folder.path()))
    };
    let row = |n: usize| {
        let row = ExecutionRow {
            workspace_id: workspace_id.as_str().into(),
            ..receipt(&format!("exe_{n}"), "success")
        };
        Box::new((row, None))
    };
    let all = async {
        // The first is tried in vain, and its batch is tried again from then on.
        assert_eq!(receipts.keep(row(0), true).await, Err(ReceiptPending));
        assert!(receipts.behind());
        for n in 1..=40 {
            assert_eq!(receipts.keep(row(n), true).await, Err(ReceiptPending));
        }
        // Nor does a full queue hold anybody longer.
        let mut full = 0;
        for n in 41..QUEUE_MAX + 50 {
            full += usize::from(receipts.keep(row(n), false).await.is_err());
        }
        assert!(full > 0, "the queue was full");
        assert_eq!(
            receipts.flush().await,
            Err(ReceiptPending),
            "a read goes on"
        );
    };
    let all = timeout(Duration::from_secs(60), all).await;
    assert!(all.is_ok(), "a call waits for the database to be back");
}

#[tokio::test]
async fn what_a_provider_said_is_sealed_in_the_log_and_in_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let (store, workspace_id) = database(folder.path()).await;
    let logs = folder.path().join("receipts");
    let said = || ExecutionRow {
        workspace_id: workspace_id.as_str().into(),
        result: Some(r#"{"code":"refused","message":"planted words"}"#.into()),
        ..receipt("exe_1", "error")
    };
    // As an earlier version left it.
    let (log, _) = ReceiptLog::open(&logs).unwrap();
    let earlier = ExecutionRow {
        id: "exe_0".into(),
        ..said()
    };
    log.append(&earlier, None).unwrap();
    drop(log);
    let (log, left) = ReceiptLog::open(&logs).unwrap();
    let log = Arc::new(log);
    let receipts = Receipts::start(store.clone(), Some(log.clone()), seals(folder.path()));
    receipts.write_left(left, &store).await;
    assert_eq!(receipts.flush().await, Ok(()));
    assert_eq!(receipts.keep(Box::new((said(), None)), true).await, Ok(()));
    for file in std::fs::read_dir(&logs).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("planted words"), "{text}");
    }
    assert_eq!(receipts.flush().await, Ok(()));
    for id in ["exe_0", "exe_1"] {
        let row = store.find_execution(&workspace_id, id).await.unwrap();
        let kept = row.unwrap().result.unwrap();
        assert!(kept.starts_with("tg1."), "{kept}");
    }
}
