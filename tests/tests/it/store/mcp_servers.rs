use toolgate_store::{AskedServer, Lease, ServerOutcome};

use super::{Empty, NOW_MS, on_both};

on_both!(
    one_owner_asks_a_server_at_a_time_and_the_one_that_is_due_longest_first,
    a_failure_stays_when_the_server_answers_again,
    a_server_is_hastened_unless_it_was_just_asked,
);

const LEASE_MS: i64 = 60_000;

/// The service whose server `owner` gets at a time.
async fn leased(at: &Empty, owner: &str, now_ms: i64) -> Option<String> {
    let lease = Lease {
        owner,
        now_ms,
        until_ms: now_ms + LEASE_MS,
    };
    let row = at.store.lease_mcp_server(lease).await.unwrap();
    row.map(|row| row.service)
}

/// Notes an outcome for `owner`; the server is due an hour later.
async fn note(at: &Empty, owner: &str, failure: Option<&str>, now_ms: i64) -> bool {
    let asked = AskedServer {
        service: "notes",
        owner,
        outcome: match failure {
            Some(_) => ServerOutcome::Unreachable,
            None => ServerOutcome::Answered,
        },
        failure,
        now_ms,
        due_at_ms: now_ms + 3_600_000,
    };
    at.store.note_asked_server(asked).await.unwrap()
}

async fn one_owner_asks_a_server_at_a_time_and_the_one_that_is_due_longest_first(at: Empty) {
    at.store.add_mcp_server("notes", NOW_MS + 1).await.unwrap();
    at.store.add_mcp_server("desk", NOW_MS).await.unwrap();
    // It is there already, and stays due when it was.
    at.store.add_mcp_server("notes", NOW_MS - 9).await.unwrap();
    assert_eq!(leased(&at, "one", NOW_MS - 1).await, None, "none is due");
    let now_ms = NOW_MS + 10;
    assert_eq!(leased(&at, "one", now_ms).await.as_deref(), Some("desk"));
    assert_eq!(leased(&at, "two", now_ms).await.as_deref(), Some("notes"));
    assert_eq!(leased(&at, "two", now_ms).await, None, "both are asked");
    let later_ms = now_ms + LEASE_MS;
    let again = leased(&at, "two", later_ms).await;
    assert_eq!(again.as_deref(), Some("desk"), "the lease has ended");
    let taken = leased(&at, "three", later_ms).await;
    assert_eq!(taken.as_deref(), Some("notes"));
    assert!(!note(&at, "two", None, later_ms).await, "another one's");
    assert!(note(&at, "three", None, later_ms).await);
    at.store.forget_mcp_server("desk").await.unwrap();
    let left = at.store.list_mcp_servers().await.unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].due_at_ms > later_ms, "{left:?}");
}

async fn a_failure_stays_when_the_server_answers_again(at: Empty) {
    at.store.add_mcp_server("notes", NOW_MS).await.unwrap();
    let row = async || at.store.list_mcp_servers().await.unwrap().remove(0);
    assert_eq!(row().await.outcome, ServerOutcome::NotAsked);
    leased(&at, "one", NOW_MS).await;
    assert!(note(&at, "one", Some("no route"), NOW_MS).await);
    let failed = row().await;
    assert_eq!(failed.outcome, ServerOutcome::Unreachable);
    assert_eq!(failed.failed_at_ms, Some(NOW_MS));
    let later_ms = failed.due_at_ms;
    leased(&at, "one", later_ms).await;
    assert!(note(&at, "one", None, later_ms).await);
    let answered = row().await;
    assert_eq!(answered.outcome, ServerOutcome::Answered);
    assert_eq!(answered.asked_at_ms, Some(later_ms));
    assert_eq!(answered.failure.as_deref(), Some("no route"));
    assert_eq!(answered.failed_at_ms, Some(NOW_MS));
    assert!(at.store.note_server_offer("notes", "aa").await.unwrap());
    assert_eq!(row().await.offered.as_deref(), Some("aa"));
    assert!(!at.store.note_server_offer("desk", "aa").await.unwrap());
}

async fn a_server_is_hastened_unless_it_was_just_asked(at: Empty) {
    at.store.add_mcp_server("notes", NOW_MS).await.unwrap();
    leased(&at, "one", NOW_MS).await;
    assert!(note(&at, "one", None, NOW_MS).await);
    let hasten = async |now_ms: i64, before_ms: i64| {
        let done = at.store.hasten_mcp_server("notes", now_ms, before_ms);
        done.await.unwrap();
        at.store.list_mcp_servers().await.unwrap()[0].due_at_ms
    };
    let due_ms = NOW_MS + 3_600_000;
    assert_eq!(hasten(NOW_MS + 5, NOW_MS - 1).await, due_ms, "just asked");
    assert_eq!(hasten(NOW_MS + 5, NOW_MS).await, NOW_MS + 5);
    let later = hasten(NOW_MS + 9, NOW_MS).await;
    assert_eq!(later, NOW_MS + 5, "it is due before that");
}
