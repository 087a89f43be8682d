//! The lease under which one process renews a credential, and the end of credentials that nobody renews.

use toolgate_core::states::ConnectionHealth;
use toolgate_store::{Connection, NewConnection, RefreshFailed, RefreshTokenEnd, Refreshed, Store};

use super::{Empty, NOW_MS, new_connection, on_both, workspace};

const LEASE_MS: i64 = 30_000;

on_both!(
    of_many_that_want_to_refresh_one_may,
    a_lease_of_a_dead_process_runs_out,
    only_the_holder_stores_what_a_refresh_brought,
    a_failed_refresh_waits_for_its_time,
    a_refresh_token_that_no_renewal_keeps_alive_is_told_of_once,
    a_lease_and_a_wait_of_a_clock_that_was_ahead_hold_up_no_refresh,
);

fn refreshed(sealed: &str) -> Refreshed<'_> {
    Refreshed {
        parameters: None,
        sealed,
        token_expires_at_ms: Some(NOW_MS + 120_000),
        refresh_end: None,
        refreshable: true,
        scopes: None,
    }
}

async fn of_many_that_want_to_refresh_one_may(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let elsewhere = Store::open(&at.url).await.unwrap();
    let racing: Vec<_> = (0..50)
        .map(|n| {
            let store = if n % 2 == 0 {
                at.store.clone()
            } else {
                elsewhere.clone()
            };
            let workspace_id = acme.id.clone();
            tokio::spawn(async move {
                let owner = format!("process {n}");
                store
                    .try_lease_connection(&workspace_id, "con_1", &owner, NOW_MS, LEASE_MS)
                    .await
                    .unwrap()
            })
        })
        .collect();
    let mut holders = Vec::new();
    for one in racing {
        holders.extend(one.await.unwrap());
    }
    assert_eq!(holders.len(), 1);
    assert_eq!(
        holders[0].state_at(NOW_MS + 1),
        (ConnectionHealth::Refreshing, NOW_MS)
    );
}

async fn a_lease_of_a_dead_process_runs_out(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let lease = async |owner, now_ms| {
        at.store
            .try_lease_connection(&acme.id, "con_1", owner, now_ms, LEASE_MS)
            .await
            .unwrap()
            .is_some()
    };
    assert!(lease("dead", NOW_MS).await);
    assert!(!lease("next", NOW_MS + LEASE_MS - 1).await);
    let left = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        left.state_at(NOW_MS + LEASE_MS).0,
        ConnectionHealth::Active,
        "not stuck in refreshing"
    );
    assert!(lease("next", NOW_MS + LEASE_MS).await);
    assert!(
        !at.store
            .release_connection(&acme.id, "con_1", "dead")
            .await
            .unwrap()
    );
    assert!(
        at.store
            .release_connection(&acme.id, "con_1", "next")
            .await
            .unwrap()
    );
    assert!(lease("third", NOW_MS + LEASE_MS).await);
    let longer = async |owner| {
        let until_ms = NOW_MS + 3 * LEASE_MS;
        let extended = at.store.extend_lease(&acme.id, "con_1", owner, until_ms);
        extended.await.unwrap()
    };
    assert!(longer("third").await && !longer("dead").await);
    assert!(!lease("fourth", NOW_MS + 3 * LEASE_MS - 1).await);
    assert!(lease("fourth", NOW_MS + 3 * LEASE_MS).await);
}

async fn only_the_holder_stores_what_a_refresh_brought(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let store = async |owner, sealed, now_ms| {
        at.store
            .store_refreshed(&acme.id, "con_1", owner, &refreshed(sealed), now_ms)
            .await
            .unwrap()
    };
    assert!(store("nobody", "box x", NOW_MS).await.is_none(), "no lease");
    at.store
        .try_lease_connection(&acme.id, "con_1", "one", NOW_MS, LEASE_MS)
        .await
        .unwrap()
        .unwrap();
    assert!(
        store("two", "box x", NOW_MS).await.is_none(),
        "another's lease"
    );
    let late = store("one", "box 2", NOW_MS + LEASE_MS + 1)
        .await
        .expect("late, but nobody else took it");
    assert_eq!(
        (late.sealed.as_str(), late.generation, late.lease_owner),
        ("box 2", 2, None)
    );
    assert_eq!(
        (late.scopes, late.token_expires_at_ms),
        (vec!["repo".to_owned()], Some(NOW_MS + 120_000))
    );
    assert!(
        store("one", "box 3", NOW_MS).await.is_none(),
        "a lease stores once"
    );
}

async fn a_failed_refresh_waits_for_its_time(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let due = async |now_ms| {
        at.store
            .connections_due(NOW_MS + 90_000, now_ms, None, 10)
            .await
            .unwrap()
            .len()
    };
    assert_eq!(
        at.store
            .connections_due(NOW_MS + 60_000, NOW_MS, None, 10)
            .await
            .unwrap()
            .len(),
        0,
        "still long good"
    );
    assert_eq!(due(NOW_MS).await, 1);
    let behind = async |after| {
        let due = at.store.connections_due(NOW_MS + 90_000, NOW_MS, after, 10);
        due.await.unwrap().len()
    };
    let end_ms = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .and_then(|row| row.token_expires_at_ms)
        .unwrap();
    assert_eq!(behind(Some((end_ms, "con_0"))).await, 1);
    assert_eq!(behind(Some((end_ms, "con_1"))).await, 0);
    assert_eq!(behind(Some((end_ms - 1, "con_2"))).await, 1);
    at.store
        .try_lease_connection(&acme.id, "con_1", "p", NOW_MS, LEASE_MS)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(due(NOW_MS).await, 0, "somebody is at it");
    let failed = RefreshFailed {
        state: ConnectionHealth::CoolingDown,
        next_retry_at_ms: Some(NOW_MS + 1_000),
        last_error: "connection refused",
    };
    assert!(
        at.store
            .store_refresh_failed(&acme.id, "con_1", "p", &failed, NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        !at.store
            .store_refresh_failed(&acme.id, "con_1", "p", &failed, NOW_MS)
            .await
            .unwrap()
    );
    assert_eq!((due(NOW_MS + 999).await, due(NOW_MS + 1_000).await), (0, 1));
    let row = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (row.state, row.failures),
        (ConnectionHealth::CoolingDown, 1)
    );
    assert_eq!(row.last_error.as_deref(), Some("connection refused"));
}

async fn a_refresh_token_that_no_renewal_keeps_alive_is_told_of_once(at: Empty) {
    const DAY_MS: i64 = 86_400_000;
    let acme = workspace(&at.store, "acme").await;
    let end = |days: i64, due_days: Option<i64>| {
        Some(RefreshTokenEnd {
            expires_at_ms: NOW_MS + days * DAY_MS,
            due_at_ms: due_days.map(|days| NOW_MS + days * DAY_MS),
        })
    };
    for (id, refresh_end) in [
        ("tried", end(7, None)),
        ("overdue", end(6, Some(-2))),
        ("due", end(6, Some(0))),
        ("later", end(8, None)),
        ("ended", end(0, None)),
        ("unknown", None),
    ] {
        let new = NewConnection {
            refresh_end,
            ..new_connection(&acme, id)
        };
        at.store.connect(&new, NOW_MS).await.unwrap();
    }
    let row = at
        .store
        .find_connection(&acme.id, "tried")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.refresh_expires_at_ms, Some(NOW_MS + 7 * DAY_MS));
    let tell = async || {
        let told = at
            .store
            .emit_refresh_end_events(7 * DAY_MS, DAY_MS, 10, NOW_MS);
        told.await.unwrap()
    };
    assert_eq!(tell().await, 2, "tried and overdue");
    assert_eq!(tell().await, 0);
    let due = at.store.refresh_tokens_due(NOW_MS, 10).await.unwrap();
    let due: Vec<&str> = due.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(due, ["overdue", "due"]);
    // A renewal that moves the end is told of again when the new end comes.
    let leased = at
        .store
        .try_lease_connection(&acme.id, "tried", "me", NOW_MS, 1_000);
    assert!(leased.await.unwrap().is_some());
    let renewed = Refreshed {
        refresh_end: end(5, None),
        ..refreshed("box 2")
    };
    let stored = at
        .store
        .store_refreshed(&acme.id, "tried", "me", &renewed, NOW_MS);
    let row = stored.await.unwrap().unwrap();
    assert_eq!(row.refresh_expires_at_ms, Some(NOW_MS + 5 * DAY_MS));
    assert_eq!(tell().await, 1);
}

/// What one process tells while another one holds the row and then changes it as `meanwhile` does.
async fn error_after(meanwhile: &'static str, tellers: usize, now_ms: i64) -> (usize, Connection) {
    let at = super::on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let once = NewConnection {
        refreshable: false,
        ..new_connection(&acme, "con_1")
    };
    at.store.connect(&once, NOW_MS).await.unwrap();
    let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
    let mut held = pool.begin().await.unwrap();
    sqlx::query(meanwhile).execute(&mut *held).await.unwrap();
    let tellers: Vec<_> = (0..tellers)
        .map(|_| {
            let store = at.store.clone();
            tokio::spawn(async move {
                store
                    .emit_expiry_events(86_400_000, 10, now_ms)
                    .await
                    .unwrap()
            })
        })
        .collect();
    super::waiting_for_locks(&pool, tellers.len() as i64).await;
    held.commit().await.unwrap();
    let mut told = 0;
    for one in tellers {
        told += one.await.unwrap();
    }
    let row = at.store.find_connection(&acme.id, "con_1").await.unwrap();
    (told, row.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_a_credential_replaced_meanwhile_is_not_called_expired() {
    let replaced = "UPDATE connections SET sealed = 'box 2', generation = 2, expiry_told_ms = NULL, \
                    token_expires_at_ms = token_expires_at_ms + 864000000";
    for now_ms in [NOW_MS, NOW_MS + 60_000] {
        let (told, row) = error_after(replaced, 1, now_ms).await;
        assert_eq!(told, 0, "at {now_ms}");
        assert_eq!(row.state, ConnectionHealth::Active, "at {now_ms}");
        assert_eq!(row.last_error, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_two_processes_tell_of_an_end_once() {
    let held = "UPDATE connections SET updated_at_ms = updated_at_ms";
    for (now_ms, state) in [
        (NOW_MS, ConnectionHealth::Active),
        (NOW_MS + 60_000, ConnectionHealth::ReauthNeeded),
    ] {
        let (told, row) = error_after(held, 2, now_ms).await;
        assert_eq!((told, row.state), (1, state), "at {now_ms}");
    }
}

async fn a_lease_and_a_wait_of_a_clock_that_was_ahead_hold_up_no_refresh(at: Empty) {
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
    let acme = workspace(&at.store, "acme").await;
    let new = NewConnection {
        token_expires_at_ms: Some(NOW_MS + 1_000),
        refreshable: true,
        ..new_connection(&acme, "con_1")
    };
    at.store.connect(&new, NOW_MS).await.unwrap();
    let lease = async |now_ms| {
        let lease = at
            .store
            .try_lease_connection(&acme.id, "con_1", "p", now_ms, LEASE_MS);
        lease.await.unwrap().is_some()
    };
    let due = async |now_ms| {
        let due = at.store.connections_due(NOW_MS + 60_000, now_ms, None, 10);
        due.await.unwrap().len()
    };
    // A process whose clock is a day ahead takes the lease and dies.
    assert!(lease(NOW_MS + DAY_MS).await);
    assert_eq!(due(NOW_MS).await, 1);
    assert!(lease(NOW_MS).await);
    // The lease of the right clock holds.
    assert!(!lease(NOW_MS + 1).await);
    assert_eq!(due(NOW_MS + 1).await, 0);
    let failed = RefreshFailed {
        state: ConnectionHealth::CoolingDown,
        next_retry_at_ms: Some(NOW_MS + DAY_MS + 1_000),
        last_error: "the provider is away",
    };
    let noted = at
        .store
        .store_refresh_failed(&acme.id, "con_1", "p", &failed, NOW_MS + DAY_MS);
    assert!(noted.await.unwrap());
    assert_eq!(due(NOW_MS).await, 1, "no refresh waits for a day");
}
