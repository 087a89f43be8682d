//! The log of events: an order without gaps beside writers, and what is no longer there is said.

use std::collections::BTreeSet;

use toolgate_store::{LogRange, LogRetention, LoggedEvent, Store, Workspace};

use super::skills::skill;
use super::{Empty, NOW_MS, api_key, on_both, on_postgres, workspace};

on_both!(
    a_log_begins_with_its_first_read,
    a_reader_beside_writers_misses_nothing_and_reads_nothing_twice,
    a_log_has_the_events_of_its_workspace_and_can_be_read_of_one_user,
    what_is_old_or_too_much_is_dropped_from_the_beginning_alone,
    a_log_that_nobody_reads_is_switched_off_and_says_so_when_it_is_read_again,
);

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// All events after a number, with what was dropped, read in pages of `limit`.
async fn read(
    store: &Store,
    workspace: &Workspace,
    user_id: Option<&str>,
    mut after_seq: i64,
    limit: usize,
) -> Vec<LoggedEvent> {
    let bounds = store.open_event_log(&workspace.id, NOW_MS).await.unwrap();
    let mut all = Vec::new();
    loop {
        let range = LogRange {
            workspace_id: &workspace.id,
            user_id,
            after_seq,
            until_seq: bounds.last_seq,
        };
        let (rows, _) = store.read_logged_events(range, limit).await.unwrap();
        let Some(last) = rows.last() else {
            return all;
        };
        after_seq = last.seq;
        all.extend(rows);
    }
}

async fn create(store: &Store, workspace: &Workspace, name: &str, at_ms: i64) {
    let made = skill(workspace, name, name, at_ms);
    store.insert_skill(&made).await.unwrap();
}

/// Which Skills these events are about.
fn skills(events: &[LoggedEvent]) -> Vec<String> {
    let id = |event: &LoggedEvent| {
        let payload: serde_json::Value = serde_json::from_str(&event.payload).unwrap();
        assert_eq!(payload["type"], event.kind);
        payload["data"]["skill_id"].as_str().unwrap().to_owned()
    };
    events.iter().map(id).collect()
}

async fn a_log_begins_with_its_first_read(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    create(&at.store, &acme, "before", 0).await;
    assert!(read(&at.store, &acme, None, 0, 10).await.is_empty());
    create(&at.store, &acme, "after", 0).await;
    create(&at.store, &acme, "last", 0).await;
    let found = read(&at.store, &acme, None, 0, 1).await;
    assert_eq!(skills(&found), ["after", "last"]);
    let numbers: Vec<i64> = found.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [1, 2]);
    assert!(found.iter().all(|event| event.id.starts_with("evt_")));
    assert_eq!(read(&at.store, &acme, None, 1, 10).await, found[1..]);
}

async fn a_reader_beside_writers_misses_nothing_and_reads_nothing_twice(at: Empty) {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    let acme = workspace(&at.store, "acme").await;
    at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, acme) = (at.store.clone(), acme.clone());
            tokio::spawn(async move {
                for n in 0..EACH {
                    create(&store, &acme, &format!("{writer}-{n}"), 0).await;
                }
            })
        })
        .collect();
    // Each look goes on after the last number that the one before has seen.
    let mut seen: Vec<LoggedEvent> = Vec::new();
    let reading = async {
        while seen.len() < WRITERS * EACH {
            let after_seq = seen.last().map_or(0, |event| event.seq);
            seen.extend(read(&at.store, &acme, None, after_seq, 7).await);
        }
    };
    let read_all = tokio::time::timeout(toolgate_tests::gateway::PATIENCE, reading).await;
    for writer in writers {
        writer.await.unwrap();
    }
    let kept = read(&at.store, &acme, None, 0, 100).await;
    assert!(
        read_all.is_ok(),
        "{} of {} were read",
        seen.len(),
        kept.len()
    );
    assert_eq!(seen, kept);
    let numbers: Vec<i64> = seen.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<i64>>());
    let each: BTreeSet<String> = skills(&seen).into_iter().collect();
    assert_eq!(each.len(), WRITERS * EACH);
    // The events of one writer are in the order in which it wrote them.
    let of_first: Vec<String> = skills(&seen)
        .into_iter()
        .filter(|id| id.starts_with("0-"))
        .collect();
    let written: Vec<String> = (0..EACH).map(|n| format!("0-{n}")).collect();
    assert_eq!(of_first, written);
}

/// What a number that is taken when an event is written would lose.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_whose_transaction_ends_later_is_not_skipped() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
    let mut late = pool.begin().await.unwrap();
    let payload = r#"{"type":"skill.created","data":{"skill_id":"late"}}"#;
    sqlx::query(
        "INSERT INTO logged_events (workspace_id, id, type, payload, created_at_ms) \
         VALUES ($1, 'evt_late', 'skill.created', $2, 1)",
    )
    .bind(&acme.id)
    .bind(payload)
    .execute(&mut *late)
    .await
    .unwrap();
    create(&at.store, &acme, "early", 0).await;
    let first = read(&at.store, &acme, None, 0, 10).await;
    assert_eq!(skills(&first), ["early"]);
    late.commit().await.unwrap();
    let second = read(&at.store, &acme, None, first[0].seq, 10).await;
    assert_eq!(skills(&second), ["late"]);
}

async fn a_log_has_the_events_of_its_workspace_and_can_be_read_of_one_user(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for one in [&acme, &other] {
        at.store.open_event_log(&one.id, NOW_MS).await.unwrap();
    }
    create(&at.store, &acme, "ours", 0).await;
    create(&at.store, &other, "theirs", 0).await;
    let mut eve = api_key(&acme, "key_eve");
    eve.default_user = "eve".into();
    for key in [&api_key(&acme, "key_ada"), &eve] {
        at.store.insert_key(key, &key.id).await.unwrap();
    }
    let theirs = read(&at.store, &other, None, 0, 10).await;
    assert_eq!(skills(&theirs), ["theirs"]);
    let all = read(&at.store, &acme, None, 0, 10).await;
    let kinds: Vec<&str> = all.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["skill.created", "api_key.created", "api_key.created"]
    );
    let of_ada = read(&at.store, &acme, Some("ada@example.com"), 0, 10).await;
    assert_eq!(of_ada, all[1..2]);
    assert!(read(&at.store, &other, Some("eve"), 0, 10).await.is_empty());
}

async fn what_is_old_or_too_much_is_dropped_from_the_beginning_alone(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    // A clock that was behind has stamped the fourth.
    for (n, at_ms) in [0, 0, 2 * DAY_MS, 0, 2 * DAY_MS].into_iter().enumerate() {
        create(&at.store, &acme, &n.to_string(), at_ms).await;
    }
    let mut retention = LogRetention {
        before_ms: NOW_MS + DAY_MS,
        unread_ms: NOW_MS - DAY_MS,
        events_max: 10,
        limit: 1,
    };
    let purge = async |retention| {
        at.store
            .purge_logged_events(&acme.id, retention)
            .await
            .unwrap()
    };
    let mut calls = 1;
    while !purge(retention).await {
        calls += 1;
    }
    assert_eq!(calls, 3, "two events, one at a time");
    let bounds = at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    assert_eq!((bounds.dropped_seq, bounds.last_seq), (2, 5));
    let left = read(&at.store, &acme, None, 0, 10).await;
    assert_eq!(skills(&left), ["2", "3", "4"]);
    // A reader that has begun before learns it with what it reads.
    let range = LogRange {
        workspace_id: &acme.id,
        user_id: None,
        after_seq: 0,
        until_seq: 5,
    };
    let (_, dropped_seq) = at.store.read_logged_events(range, 10).await.unwrap();
    assert_eq!(dropped_seq, 2);

    retention.events_max = 1;
    retention.limit = 10;
    assert!(purge(retention).await);
    let left = read(&at.store, &acme, None, 0, 10).await;
    assert_eq!(skills(&left), ["4"]);
}

async fn a_log_that_nobody_reads_is_switched_off_and_says_so_when_it_is_read_again(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let is_on = async || at.store.is_event_log_on(&acme.id).await.unwrap();
    assert!(!is_on().await);
    at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    assert!(is_on().await);
    create(&at.store, &acme, "read", 0).await;
    let before = at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    assert_eq!((before.dropped_seq, before.last_seq), (0, 1));
    create(&at.store, &acme, "without a number", 0).await;
    let off = LogRetention {
        before_ms: NOW_MS - DAY_MS,
        unread_ms: NOW_MS + 1,
        events_max: 10,
        limit: 10,
    };
    assert!(at.store.purge_logged_events(&acme.id, off).await.unwrap());
    assert!(!is_on().await);
    create(&at.store, &acme, "unread", 0).await;
    assert_eq!(at.store.list_event_logs().await.unwrap(), [&*acme.id]);
    let again = at.store.open_event_log(&acme.id, NOW_MS).await.unwrap();
    assert!(again.dropped_seq > before.last_seq, "{again:?}");
    assert_eq!(again.dropped_seq, again.last_seq, "nothing is left of it");
    assert!(read(&at.store, &acme, None, 0, 10).await.is_empty());
    create(&at.store, &acme, "again", 0).await;
    let found = read(&at.store, &acme, None, again.last_seq, 10).await;
    assert_eq!(skills(&found), ["again"]);
}
