use serde_json::json;
use toolgate_core::states::DeliveryStatus;
use toolgate_store::{
    AttemptFailed, DeliveryAttempt, Event, EventFilters, EventType, Lease, WebhookChange,
    WebhookRow, Workspace,
};

use super::{Empty, NOW_MS, on_both, waiting_for_locks, workspace};

on_both!(
    a_change_by_another_workspace_touches_nothing,
    a_workspace_has_no_more_webhooks_than_it_may,
    times_of_a_clock_that_was_ahead_hold_up_no_delivery,
    what_a_person_asks_for_does_not_wait_until_the_webhook_has_rested,
    what_is_settled_does_not_go_out_at_once_though_it_was_asked_for,
);

fn webhook(workspace: &Workspace, id: &str) -> WebhookRow {
    WebhookRow {
        id: id.into(),
        workspace_id: workspace.id.clone(),
        url: "https://hooks.example.com/".into(),
        description: String::new(),
        events: vec!["*".into()],
        filters: EventFilters::default(),
        enabled: true,
        disabled_reason: None,
        disabled_at_ms: None,
        sealed: "box".into(),
        sealed_previous: None,
        previous_until_ms: None,
        failures: 0,
        failing_since_ms: None,
        retry_at_ms: None,
        lease_owner: None,
        lease_until_ms: None,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    }
}

async fn a_change_by_another_workspace_touches_nothing(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let made = webhook(&acme, "whk_1");
    assert!(at.store.insert_webhook(&made, 10).await.unwrap());
    let event = Event::new(EventType::ToolFailed, &acme.id, NOW_MS, json!({}));
    let waits = at.store.deliver_to(&acme.id, "whk_1", &event);
    let seq = waits.await.unwrap().seq;
    let lease = Lease {
        owner: "dispatcher",
        now_ms: NOW_MS,
        until_ms: NOW_MS + 1,
    };
    assert_eq!(
        at.store
            .lease_webhooks(lease, 1, usize::MAX)
            .await
            .unwrap()
            .len(),
        1
    );
    let attempt = DeliveryAttempt {
        at_ms: NOW_MS,
        duration_ms: 1,
        response_status: Some(500),
        error: None,
    };
    let failed = AttemptFailed {
        again_at_ms: Some(NOW_MS + 60_000),
        rest_until_ms: NOW_MS + 60_000,
        disable: None,
    };
    let noted = at
        .store
        .delivery_failed("whk_1", seq, &attempt, &failed, "dispatcher");
    noted.await.unwrap();
    let next_attempt = async || {
        let page = at
            .store
            .list_deliveries(&acme.id, "whk_1", None, None, 10)
            .await;
        page.unwrap().items[0].next_attempt_at_ms
    };
    let before = at.store.find_webhook(&acme.id, "whk_1").await.unwrap();
    assert_eq!(next_attempt().await, NOW_MS + 60_000);

    let url = "https://elsewhere.example.com/";
    for change in [
        WebhookChange {
            enabled: Some(true),
            ..Default::default()
        },
        WebhookChange {
            url: Some(url),
            ..Default::default()
        },
    ] {
        let theirs = at
            .store
            .update_webhook(&other.id, "whk_1", &change, NOW_MS + 9);
        assert_eq!(theirs.await.unwrap(), None);
        assert_eq!(next_attempt().await, NOW_MS + 60_000, "{change:?}");
        let after = at.store.find_webhook(&acme.id, "whk_1").await.unwrap();
        assert_eq!(after, before, "{change:?}");
    }

    let change = WebhookChange {
        url: Some(url),
        ..Default::default()
    };
    let ours = at
        .store
        .update_webhook(&acme.id, "whk_1", &change, NOW_MS + 9);
    assert_eq!(ours.await.unwrap().unwrap().url, url);
    assert_eq!(next_attempt().await, NOW_MS + 9, "its own change is heard");
}

async fn a_workspace_has_no_more_webhooks_than_it_may(at: Empty) {
    const MOST: i64 = 2;
    const RACING: i64 = 5;
    let acme = workspace(&at.store, "acme").await;
    let race = || {
        let all: Vec<_> = (0..RACING)
            .map(|n| {
                let (store, row) = (at.store.clone(), webhook(&acme, &format!("whk_{n}")));
                tokio::spawn(async move { store.insert_webhook(&row, MOST).await.unwrap() })
            })
            .collect();
        all
    };
    let racing = if at.url.starts_with("postgres") {
        // Held back until all have begun.
        let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
        let mut held = pool.begin().await.unwrap();
        sqlx::query("SELECT id FROM workspaces FOR UPDATE")
            .execute(&mut *held)
            .await
            .unwrap();
        let racing = race();
        waiting_for_locks(&pool, RACING).await;
        held.commit().await.unwrap();
        racing
    } else {
        race()
    };
    let mut kept = 0;
    for one in racing {
        kept += i64::from(one.await.unwrap());
    }
    assert_eq!(kept, MOST);
    let listed = at.store.list_webhooks(&acme.id).await.unwrap();
    assert_eq!(listed.len() as i64, MOST);
}

async fn times_of_a_clock_that_was_ahead_hold_up_no_delivery(at: Empty) {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    let acme = workspace(&at.store, "acme").await;
    let made = webhook(&acme, "whk_1");
    assert!(at.store.insert_webhook(&made, 10).await.unwrap());
    let lease_at = async |now_ms| {
        let lease = Lease {
            owner: "dispatcher",
            now_ms,
            until_ms: now_ms + 6_000,
        };
        at.store
            .lease_webhooks(lease, 1, usize::MAX)
            .await
            .unwrap()
            .len()
    };
    let fail_at = async |now_ms: i64, seq, rest_ms| {
        let attempt = DeliveryAttempt {
            at_ms: now_ms,
            duration_ms: 1,
            response_status: Some(500),
            error: None,
        };
        let failed = AttemptFailed {
            again_at_ms: Some(now_ms + rest_ms),
            rest_until_ms: now_ms + rest_ms,
            disable: None,
        };
        let noted = at
            .store
            .delivery_failed("whk_1", seq, &attempt, &failed, "dispatcher");
        noted.await.unwrap();
    };
    let send_at = async |now_ms| {
        let event = Event::new(EventType::ToolFailed, &acme.id, now_ms, json!({}));
        let sent = at.store.deliver_to(&acme.id, "whk_1", &event);
        sent.await.unwrap().seq
    };
    let due_at = async |now_ms| {
        let due = at.store.due_deliveries("whk_1", now_ms, 10);
        due.await.unwrap().len()
    };
    // While the clock is a day ahead: a delivery that fails three times, and a lease that nobody gives back.
    let seq = send_at(NOW_MS + DAY_MS).await;
    for minute in 0..3 {
        let now_ms = NOW_MS + DAY_MS + minute * 60_000;
        assert_eq!(lease_at(now_ms).await, 1, "{minute}");
        fail_at(now_ms, seq, 5_000).await;
    }
    // Back again: what rests until tomorrow is sent now.
    assert_eq!(lease_at(NOW_MS).await, 1);
    assert_eq!(due_at(NOW_MS).await, 1);
    // By the right clock it rests as long as it should, though another process is seconds behind.
    fail_at(NOW_MS, seq, 5_000).await;
    assert_eq!(lease_at(NOW_MS + 4_999).await, 0);
    assert_eq!(lease_at(NOW_MS - 30_000).await, 0);
    assert_eq!(due_at(NOW_MS + 4_999).await, 0);
    assert_eq!(lease_at(NOW_MS + 5_000).await, 1);
    assert_eq!(due_at(NOW_MS + 5_000).await, 1);
    // A day of rest that the endpoint asked for is one.
    fail_at(NOW_MS + 5_000, seq, DAY_MS).await;
    assert_eq!(lease_at(NOW_MS + DAY_MS).await, 0);
    assert_eq!(lease_at(NOW_MS + DAY_MS + 5_000).await, 1);
    // A lease of a process that was ahead and died holds for no day.
    assert_eq!(lease_at(NOW_MS + 3 * DAY_MS).await, 1);
    assert_eq!(lease_at(NOW_MS + DAY_MS + 5_001).await, 1);
}

fn lease_at(now_ms: i64) -> Lease<'static> {
    Lease {
        owner: "dispatcher",
        now_ms,
        until_ms: now_ms + 6_000,
    }
}

fn attempt(at_ms: i64, status: i64) -> DeliveryAttempt {
    DeliveryAttempt {
        at_ms,
        duration_ms: 1,
        response_status: Some(status),
        error: None,
    }
}

async fn what_a_person_asks_for_does_not_wait_until_the_webhook_has_rested(at: Empty) {
    const REST_MS: i64 = 3_600_000;
    let acme = workspace(&at.store, "acme").await;
    let made = webhook(&acme, "whk_1");
    assert!(at.store.insert_webhook(&made, 10).await.unwrap());
    let leased = async |now_ms| {
        let leased = at.store.lease_webhooks(lease_at(now_ms), 1, usize::MAX);
        leased.await.unwrap().len()
    };
    let due = async |now_ms| {
        let due = at.store.due_deliveries("whk_1", now_ms, 10).await.unwrap();
        due.into_iter().map(|one| one.seq).collect::<Vec<_>>()
    };
    let fail = async |now_ms: i64, seq, rest_ms| {
        let failed = AttemptFailed {
            again_at_ms: Some(now_ms + rest_ms),
            rest_until_ms: now_ms + rest_ms,
            disable: None,
        };
        let attempt = attempt(now_ms, 500);
        let noted = at
            .store
            .delivery_failed("whk_1", seq, &attempt, &failed, "dispatcher");
        noted.await.unwrap();
    };
    let send = async |now_ms| {
        let data = json!({ "execution_id": "exe_1" });
        let event = Event::new(EventType::ToolFailed, &acme.id, now_ms, data);
        let made = at.store.deliver_to(&acme.id, "whk_1", &event);
        made.await.unwrap()
    };
    let rest_of = async || {
        let row = at.store.find_webhook(&acme.id, "whk_1").await.unwrap();
        let row = row.expect("there");
        (row.failures, row.retry_at_ms)
    };

    // The first fails, and the webhook rests for an hour.
    let first = send(NOW_MS).await;
    assert_eq!(first.execution_id.as_deref(), Some("exe_1"));
    assert_eq!(leased(NOW_MS).await, 1);
    fail(NOW_MS, first.seq, REST_MS).await;
    assert_eq!(leased(NOW_MS + 1).await, 0, "it rests");

    // A test goes out in the middle of it, alone, and is tried once: it fails and rests with the others.
    let test = send(NOW_MS + 2).await;
    assert_eq!(leased(NOW_MS + 2).await, 1);
    assert_eq!(due(NOW_MS + 2).await, [test.seq]);
    let before = rest_of().await;
    fail(NOW_MS + 2, test.seq, 2 * REST_MS).await;
    assert_eq!(rest_of().await, before, "the rest is as long as before");
    assert_eq!(leased(NOW_MS + 3).await, 0);
    assert_eq!(due(NOW_MS + 3).await, [0_i64; 0]);

    // So does what is sent once more. It arrives, and with that the rest is over: what waits is sent.
    let again = at
        .store
        .redeliver(&acme.id, "whk_1", &first.id, NOW_MS + 4)
        .await
        .unwrap()
        .expect("there is one");
    assert_eq!(again.execution_id.as_deref(), Some("exe_1"));
    assert_eq!(leased(NOW_MS + 4).await, 1);
    assert_eq!(due(NOW_MS + 4).await, [again.seq]);
    let arrived = attempt(NOW_MS + 4, 200);
    let goes_on = at
        .store
        .delivery_arrived("whk_1", again.seq, &arrived, lease_at(NOW_MS + 4));
    assert!(goes_on.await.unwrap());
    assert_eq!(rest_of().await, (0, None));
    assert_eq!(due(NOW_MS + 5).await, [first.seq, test.seq]);
    // What is asked for goes before what waits.
    let last = send(NOW_MS + 5).await;
    assert_eq!(due(NOW_MS + 5).await, [last.seq]);
}

/// A gateway of before the column settles a delivery and leaves it as it is.
async fn what_is_settled_does_not_go_out_at_once_though_it_was_asked_for(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = webhook(&acme, "whk_1");
    assert!(at.store.insert_webhook(&made, 10).await.unwrap());
    let event = Event::new(EventType::ToolFailed, &acme.id, NOW_MS, json!({}));
    let waits = at.store.deliver_to(&acme.id, "whk_1", &event);
    let seq = waits.await.unwrap().seq;
    let settle = "UPDATE webhook_deliveries SET state = 'delivered'";
    let leased = async |now_ms| {
        let leased = at.store.lease_webhooks(lease_at(now_ms), 1, usize::MAX);
        leased.await.unwrap().len()
    };
    let record = async || {
        let page = at
            .store
            .list_deliveries(&acme.id, "whk_1", None, None, 10)
            .await;
        page.unwrap().items.remove(0)
    };

    assert_eq!(leased(NOW_MS).await, 1, "it waits");
    let asked_for = async |id| at.store.has_delivery_at_once(id).await.unwrap();
    assert!(asked_for("whk_1").await);
    assert!(!asked_for("whk_2").await, "of another webhook");
    at.store
        .release_webhook("whk_1", "dispatcher")
        .await
        .unwrap();
    if at.url.starts_with("postgres") {
        let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
        sqlx::query(settle).execute(&pool).await.unwrap();
    } else {
        let pool = sqlx::SqlitePool::connect(&at.url).await.unwrap();
        sqlx::query(settle).execute(&pool).await.unwrap();
    }
    assert!(record().await.at_once, "as that gateway leaves it");
    assert_eq!(leased(NOW_MS).await, 0);
    assert!(!asked_for("whk_1").await);
    let due = at.store.due_deliveries("whk_1", NOW_MS, 10);
    assert!(due.await.unwrap().is_empty());

    // An attempt of this gateway that ends after the other one has settled it.
    let failed = AttemptFailed {
        again_at_ms: Some(NOW_MS + 5_000),
        rest_until_ms: NOW_MS + 5_000,
        disable: None,
    };
    let attempt = attempt(NOW_MS, 500);
    let noted = at
        .store
        .delivery_failed("whk_1", seq, &attempt, &failed, "dispatcher");
    noted.await.unwrap();
    let now = record().await;
    assert_eq!((now.at_once, now.attempts), (false, 0));
    assert_eq!(now.state, DeliveryStatus::Delivered, "it stays settled");
}
