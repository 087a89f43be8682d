use toolgate_store::{KV_BYTES_MAX, KvScope, KvSet, KvValue, SESSION_IDLE_MS, SessionRow, Store};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    a_session_ends_after_a_day_without_use,
    a_session_belongs_to_one_workspace,
    a_session_that_begins_has_nothing_in_it,
    of_two_users_who_open_a_session_one_begins_it,
    pages_stand_still_while_sessions_arrive,
    of_two_writers_of_one_version_one_wins,
    values_are_apart_by_connection_service_session_and_workspace,
    the_quota_counts_keys_and_values_together,
    the_quota_holds_against_writers_at_once,
    a_value_goes_when_its_time_is_over,
    keys_are_listed_by_prefix_in_pages,
);

fn session(workspace_id: &str, id: &str, at_ms: i64) -> SessionRow {
    SessionRow {
        workspace_id: workspace_id.into(),
        id: id.into(),
        user_id: "ada".into(),
        prompt: None,
        created_at_ms: at_ms,
        last_active_at_ms: at_ms,
    }
}

fn scope() -> KvScope {
    KvScope {
        workspace_id: "ws".into(),
        session_id: "tool_1".into(),
        service: "github".into(),
        connection_id: Some("conn_1".into()),
    }
}

async fn set(store: &Store, key: &str, value: &[u8], if_version: Option<u64>) -> KvSet {
    store
        .kv_set(
            &scope(),
            key,
            KvValue::clear(value),
            None,
            if_version,
            NOW_MS,
        )
        .await
        .unwrap()
}

async fn a_session_ends_after_a_day_without_use(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .put_session(&session(&acme.id, "tool_1", NOW_MS))
        .await
        .unwrap();
    let last = NOW_MS + SESSION_IDLE_MS - 1;
    assert!(
        at.store
            .find_session(&acme.id, "tool_1", last)
            .await
            .unwrap()
            .is_some()
    );
    let used = SessionRow {
        last_active_at_ms: last,
        ..session(&acme.id, "tool_1", NOW_MS)
    };
    at.store.put_session(&used).await.unwrap();
    let end = last + SESSION_IDLE_MS;
    assert_eq!(at.store.purge_sessions(end - 1).await.unwrap(), 0);
    assert!(
        at.store
            .find_session(&acme.id, "tool_1", end)
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(at.store.purge_sessions(end).await.unwrap(), 1);
}

async fn a_session_belongs_to_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .put_session(&session(&acme.id, "tool_1", NOW_MS))
        .await
        .unwrap();
    assert!(
        at.store
            .find_session(&other.id, "tool_1", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        !at.store
            .delete_session(&other.id, "tool_1", NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .list_sessions(&other.id, None, None, 10, NOW_MS)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    assert!(
        at.store
            .delete_session(&acme.id, "tool_1", NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .find_session(&acme.id, "tool_1", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
}

async fn a_session_that_begins_has_nothing_in_it(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let scope = KvScope {
        workspace_id: (&acme.id).into(),
        ..scope()
    };
    let open = async |user: &str, at_ms: i64| {
        let begun = SessionRow {
            user_id: user.into(),
            ..session(&acme.id, "tool_1", at_ms)
        };
        at.store.open_session(&begun).await.unwrap()
    };
    let kept = async |at_ms: i64| {
        let found = at.store.kv_get(&scope, "k", at_ms).await;
        found.unwrap().is_some()
    };
    let set = async |at_ms: i64| {
        let value = KvValue::clear(b"v");
        let set = at.store.kv_set(&scope, "k", value, None, None, at_ms);
        assert!(matches!(set.await.unwrap(), KvSet::Stored { .. }));
    };
    // What no session holds is nobody's.
    set(NOW_MS).await;
    assert_eq!(open("ada", NOW_MS).await.user_id, "ada");
    assert!(!kept(NOW_MS).await);
    set(NOW_MS).await;
    let last = NOW_MS + SESSION_IDLE_MS - 1;
    let there = open("bob", last).await;
    assert_eq!(
        (there.user_id.as_str(), there.last_active_at_ms),
        ("ada", NOW_MS),
        "to ask for it is not to use it"
    );
    assert!(kept(last).await);
    let anew = open("bob", last + 1).await;
    assert_eq!(
        (anew.user_id.as_str(), anew.created_at_ms),
        ("bob", last + 1)
    );
    assert!(!kept(last + 1).await);
}

async fn of_two_users_who_open_a_session_one_begins_it(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for round in 0..10 {
        let id = format!("tool_{round}");
        let opening = ["ada", "bob", "ada", "bob"].map(|user| {
            let begun = SessionRow {
                user_id: user.into(),
                ..session(&acme.id, &id, NOW_MS)
            };
            let store = at.store.clone();
            tokio::spawn(async move { store.open_session(&begun).await.unwrap().user_id })
        });
        let mut owners = Vec::new();
        for one in opening {
            owners.push(one.await.unwrap());
        }
        owners.dedup();
        assert_eq!(owners.len(), 1, "{owners:?}");
    }
}

async fn pages_stand_still_while_sessions_arrive(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for (id, at_ms) in [("a", 1), ("b", 2), ("c", 2), ("d", 2), ("e", 3)] {
        at.store
            .put_session(&session(&acme.id, id, NOW_MS + at_ms))
            .await
            .unwrap();
    }
    let (mut seen, mut cursor) = (String::new(), None);
    loop {
        let page = at
            .store
            .list_sessions(&acme.id, Some("ada"), cursor.as_ref(), 2, NOW_MS)
            .await
            .unwrap();
        seen.extend(page.items.iter().map(|session| session.id.as_str()));
        at.store
            .put_session(&session(&acme.id, &format!("new after {seen}"), NOW_MS + 9))
            .await
            .unwrap();
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, "edcba");
    assert!(
        at.store
            .list_sessions(&acme.id, Some("bob"), None, 2, NOW_MS)
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

async fn of_two_writers_of_one_version_one_wins(at: Empty) {
    assert_eq!(
        set(&at.store, "k", b"0", Some(0)).await,
        KvSet::Stored { version: 1 }
    );
    for round in 1..=20 {
        let racing = [b"a", b"b"].map(|value| {
            let store = at.store.clone();
            tokio::spawn(async move { set(&store, "k", value, Some(round)).await })
        });
        let mut outcomes = Vec::new();
        for one in racing {
            outcomes.push(one.await.unwrap());
        }
        let won = KvSet::Stored { version: round + 1 };
        assert_eq!(
            outcomes.iter().filter(|outcome| **outcome == won).count(),
            1,
            "{outcomes:?}"
        );
        assert!(
            outcomes.contains(&KvSet::VersionMismatch { found: round + 1 }),
            "{outcomes:?}"
        );
    }
    assert_eq!(
        set(&at.store, "k", b"", Some(0)).await,
        KvSet::VersionMismatch { found: 21 }
    );
    assert_eq!(
        set(&at.store, "new", b"", Some(3)).await,
        KvSet::VersionMismatch { found: 0 }
    );
}

async fn values_are_apart_by_connection_service_session_and_workspace(at: Empty) {
    set(&at.store, "k", b"mine", None).await;
    for foreign in [
        KvScope {
            workspace_id: "other".into(),
            ..scope()
        },
        KvScope {
            session_id: "tool_2".into(),
            ..scope()
        },
        KvScope {
            service: "slack".into(),
            ..scope()
        },
        KvScope {
            connection_id: Some("conn_2".into()),
            ..scope()
        },
        KvScope {
            connection_id: None,
            ..scope()
        },
    ] {
        assert_eq!(
            at.store.kv_get(&foreign, "k", NOW_MS).await.unwrap(),
            None,
            "{foreign:?}"
        );
        assert!(!at.store.kv_delete(&foreign, "k", NOW_MS).await.unwrap());
        assert!(
            at.store
                .kv_keys(&foreign, "", None, 10, NOW_MS)
                .await
                .unwrap()
                .0
                .is_empty()
        );
    }
    assert_eq!(
        at.store
            .kv_get(&scope(), "k", NOW_MS)
            .await
            .unwrap()
            .unwrap()
            .value,
        b"mine"
    );
    assert!(at.store.kv_delete(&scope(), "k", NOW_MS).await.unwrap());
}

async fn the_quota_counts_keys_and_values_together(at: Empty) {
    let max = usize::try_from(KV_BYTES_MAX).unwrap();
    assert_eq!(
        set(&at.store, "ä", &[0, 255], None).await,
        KvSet::Stored { version: 1 }
    );
    let rest = max - 4 - 1;
    assert_eq!(
        set(&at.store, "k", &vec![7; rest + 1], None).await,
        KvSet::OverQuota {
            bytes: max as u64 + 1
        }
    );
    assert_eq!(
        set(&at.store, "k", &vec![7; rest], None).await,
        KvSet::Stored { version: 1 }
    );
    assert_eq!(
        set(&at.store, "x", b"", None).await,
        KvSet::OverQuota {
            bytes: max as u64 + 1
        }
    );
    assert_eq!(
        set(&at.store, "k", &vec![8; rest], None).await,
        KvSet::Stored { version: 2 },
        "in its own place"
    );
    let other = KvScope {
        connection_id: Some("conn_2".into()),
        ..scope()
    };
    let value = KvValue::clear(b"");
    let beside = at.store.kv_set(&other, "x", value, None, None, NOW_MS);
    assert_eq!(
        beside.await.unwrap(),
        KvSet::Stored { version: 1 },
        "its own quota"
    );
    assert_eq!(
        at.store
            .kv_get(&scope(), "ä", NOW_MS)
            .await
            .unwrap()
            .unwrap()
            .value,
        [0, 255]
    );
}

async fn the_quota_holds_against_writers_at_once(at: Empty) {
    let writers: Vec<_> = (0..8)
        .map(|n| {
            let store = at.store.clone();
            tokio::spawn(async move { set(&store, &n.to_string(), &[1; 20_000], None).await })
        })
        .collect();
    let mut stored = 0;
    for writer in writers {
        stored += usize::from(matches!(writer.await.unwrap(), KvSet::Stored { .. }));
    }
    assert_eq!(stored, 3, "three times 20,001 bytes fit");
}

async fn a_value_goes_when_its_time_is_over(at: Empty) {
    at.store
        .kv_set(
            &scope(),
            "k",
            KvValue::clear(b"v"),
            Some(1_000),
            None,
            NOW_MS,
        )
        .await
        .unwrap();
    assert!(
        at.store
            .kv_get(&scope(), "k", NOW_MS + 999)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        at.store
            .kv_get(&scope(), "k", NOW_MS + 1_000)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        !at.store
            .kv_delete(&scope(), "k", NOW_MS + 1_000)
            .await
            .unwrap()
    );
    let again = at
        .store
        .kv_set(
            &scope(),
            "k",
            KvValue::clear(b"w"),
            None,
            Some(0),
            NOW_MS + 1_000,
        )
        .await
        .unwrap();
    assert_eq!(
        again,
        KvSet::Stored { version: 1 },
        "as if it had never been"
    );
    at.store
        .purge_sessions(NOW_MS + 1_000 + SESSION_IDLE_MS)
        .await
        .unwrap();
    let gone = at
        .store
        .kv_get(&scope(), "k", NOW_MS + 1_000)
        .await
        .unwrap();
    assert_eq!(gone, None, "no session holds it");
}

async fn keys_are_listed_by_prefix_in_pages(at: Empty) {
    for key in ["b", "a_2", "a_1", "a%", "A", "ab"] {
        set(&at.store, key, b"", None).await;
    }
    let list = async |prefix: &str, after: Option<&str>| {
        let (keys, next) = at
            .store
            .kv_keys(&scope(), prefix, after, 2, NOW_MS)
            .await
            .unwrap();
        (keys.join(" "), next)
    };
    assert_eq!(list("a", None).await, ("a% a_1".into(), Some("a_1".into())));
    assert_eq!(list("a", Some("a_1")).await, ("a_2 ab".into(), None));
    assert_eq!(list("a_", None).await, ("a_1 a_2".into(), None));
    assert_eq!(list("", None).await, ("A a%".into(), Some("a%".into())));
}
