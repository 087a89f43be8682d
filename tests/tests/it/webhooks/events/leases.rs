//! One process delivers what waits for a webhook.

use std::sync::{Arc, Mutex};

use toolgate_store::WebhookRow;
use toolgate_tests::gateway::PATIENCE;

use super::{At, NOW_MS, lease, on_both, skill};

on_both!(
    one_process_serves_a_webhook_at_a_time,
    many_processes_never_share_a_webhook,
    a_workspace_takes_no_more_than_its_share,
);

async fn one_process_serves_a_webhook_at_a_time(at: At) {
    for id in ["a", "b"] {
        at.webhook(id, &["skill.created"]).await;
    }
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let store = &at.store;
    let ids = |mut rows: Vec<WebhookRow>| {
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let mine = store
        .lease_webhooks(lease("me", NOW_MS), 1, usize::MAX)
        .await
        .unwrap();
    let yours = store
        .lease_webhooks(lease("you", NOW_MS), 10, usize::MAX)
        .await
        .unwrap();
    assert_eq!((mine.len(), yours.len()), (1, 1));
    assert_ne!(mine[0].id, yours[0].id);
    assert!(
        store
            .lease_webhooks(lease("she", NOW_MS), 10, usize::MAX)
            .await
            .unwrap()
            .is_empty()
    );
    // Whoever dies loses it.
    let later = NOW_MS + 6_000;
    let all = store
        .lease_webhooks(lease("she", later), 10, usize::MAX)
        .await
        .unwrap();
    assert_eq!(ids(all), ["a", "b"]);
    let lost = store
        .renew_webhook_lease(&mine[0].id, lease("me", later))
        .await
        .unwrap();
    assert_eq!(lost, None);
    let due = store.due_deliveries(&mine[0].id, later, 10).await.unwrap();
    let attempt = toolgate_store::DeliveryAttempt {
        at_ms: later,
        duration_ms: 1,
        response_status: Some(204),
        error: None,
    };
    // What arrived has arrived, but there is no going on.
    let held = store
        .delivery_arrived(&mine[0].id, due[0].seq, &attempt, lease("me", later))
        .await
        .unwrap();
    assert!(!held);
    assert!(
        store
            .due_deliveries(&mine[0].id, later, 10)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn many_processes_never_share_a_webhook(at: At) {
    const WEBHOOKS: usize = 20;
    const AT_ONCE: usize = 3;
    for id in 0..WEBHOOKS {
        at.webhook(&format!("w{id:02}"), &["skill.created"]).await;
    }
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let leased = Arc::new(Mutex::new(Vec::new()));
    let mut leasing = tokio::task::JoinSet::new();
    for process in 0..8 {
        let (store, leased) = (at.store.clone(), leased.clone());
        leasing.spawn(async move {
            let owner = format!("p{process}");
            // Under contention a round may come away with nothing; what is left is there for the next.
            while leased.lock().unwrap().len() < WEBHOOKS {
                let rows = store.lease_webhooks(lease(&owner, NOW_MS), AT_ONCE, usize::MAX);
                let rows = rows.await.unwrap();
                assert!(rows.len() <= AT_ONCE, "{}", rows.len());
                assert!(
                    rows.iter()
                        .all(|row| row.lease_owner.as_ref() == Some(&owner))
                );
                leased
                    .lock()
                    .unwrap()
                    .extend(rows.into_iter().map(|row| row.id));
                tokio::task::yield_now().await;
            }
        });
    }
    let all = tokio::time::timeout(PATIENCE, leasing.join_all()).await;
    let mut ids = leased.lock().unwrap().clone();
    assert!(all.is_ok(), "only {} were leased", ids.len());
    ids.sort();
    ids.dedup();
    assert_eq!(
        (ids.len(), leased.lock().unwrap().len()),
        (WEBHOOKS, WEBHOOKS)
    );
    let rest = at
        .store
        .lease_webhooks(lease("last", NOW_MS), WEBHOOKS, usize::MAX);
    assert!(rest.await.unwrap().is_empty());
}

/// Defence: the share in `Store::lease_webhooks`, which `host/gateway/src/webhooks/dispatcher.rs` halves for each further
/// workspace.
async fn a_workspace_takes_no_more_than_its_share(at: At) {
    for id in 0..10 {
        at.webhook(&format!("w{id}"), &["skill.created"]).await;
    }
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let count = async |owner: &str, limit, share| {
        let leased = at.store.lease_webhooks(lease(owner, NOW_MS), limit, share);
        leased.await.unwrap().len()
    };
    assert_eq!(count("me", 10, 4).await, 4);
    assert_eq!(count("me", 6, 4).await, 0, "it has its share");
    assert_eq!(count("me", 6, 5).await, 1);
    assert_eq!(
        count("you", 2, 4).await,
        2,
        "another process has places of its own"
    );
    assert_eq!(count("you", 2, 1).await, 0);
}
