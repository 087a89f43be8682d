use toolgate_store::{AuditEntry, RateCount, Store};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    counts_of_two_processes_add_up,
    windows_are_counted_apart_and_purged,
    a_kept_result_is_read_in_pieces,
    audit_entries_are_listed_newest_first_for_one_workspace,
);

fn count(subject: &str, starts_at_ms: i64, used: i64) -> RateCount {
    RateCount {
        subject: subject.into(),
        span_ms: 60_000,
        starts_at_ms,
        used,
    }
}

async fn counts_of_two_processes_add_up(at: Empty) {
    let elsewhere = Store::open(&at.url).await.unwrap();
    let adding: Vec<_> = (0..20)
        .map(|n| {
            let store = if n % 2 == 0 {
                at.store.clone()
            } else {
                elsewhere.clone()
            };
            tokio::spawn(async move {
                let mut rows = [count("key:1", NOW_MS, 3), count("key:2", NOW_MS, 1)];
                if n % 3 == 0 {
                    rows.reverse();
                }
                store.add_rate_counts(&rows).await.unwrap()
            })
        })
        .collect();
    for one in adding {
        one.await.unwrap();
    }
    let sums = at
        .store
        .add_rate_counts(&[count("key:2", NOW_MS, 0), count("key:1", NOW_MS, 0)])
        .await
        .unwrap();
    assert_eq!(
        sums,
        [count("key:2", NOW_MS, 20), count("key:1", NOW_MS, 60)]
    );
}

async fn windows_are_counted_apart_and_purged(at: Empty) {
    let day = RateCount {
        span_ms: 86_400_000,
        ..count("k", NOW_MS, 5)
    };
    let next_minute = count("k", NOW_MS + 60_000, 7);
    let rows = [count("k", NOW_MS, 1), next_minute, day];
    assert_eq!(at.store.add_rate_counts(&rows).await.unwrap(), rows);
    assert_eq!(
        at.store.purge_rate_counts(NOW_MS + 59_999).await.unwrap(),
        0
    );
    assert_eq!(
        at.store.purge_rate_counts(NOW_MS + 60_000).await.unwrap(),
        1
    );
    assert!(at.store.add_rate_counts(&[]).await.unwrap().is_empty());
}

async fn a_kept_result_is_read_in_pieces(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let content: Vec<u8> = (0..=255).collect();
    at.store
        .put_result(
            &acme.id,
            "res_1",
            "exe_1",
            "ada",
            (None, &content),
            NOW_MS + 10,
        )
        .await
        .unwrap();
    for (offset, limit, expected) in [
        (0, 3, &content[..3]),
        (250, 100, &content[250..]),
        (256, 10, &[]),
        (0, 0, &[]),
        (u32::MAX, u32::MAX, &[]),
        (0, u32::MAX, &content[..]),
    ] {
        let piece = at
            .store
            .read_result(&acme.id, "res_1", offset, limit, NOW_MS)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (piece.piece.as_slice(), piece.bytes_total),
            (expected, 256),
            "{offset} {limit}"
        );
        assert_eq!(piece.execution_id, "exe_1");
        assert_eq!(piece.user_id.as_deref(), Some("ada"));
    }
    for (workspace_id, id, now_ms) in [
        (&other.id, "res_1", NOW_MS),
        (&acme.id, "res_2", NOW_MS),
        (&acme.id, "res_1", NOW_MS + 10),
    ] {
        assert!(
            at.store
                .read_result(workspace_id, id, 0, 1, now_ms)
                .await
                .unwrap()
                .is_none()
        );
    }
    assert_eq!(at.store.purge_results(NOW_MS + 9).await.unwrap(), 0);
    assert_eq!(at.store.purge_results(NOW_MS + 10).await.unwrap(), 1);
}

async fn audit_entries_are_listed_newest_first_for_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for n in 0..3 {
        let entry = AuditEntry {
            workspace_id: acme.id.clone(),
            id: format!("aud_{n}"),
            at_ms: NOW_MS + n,
            actor: "operator".into(),
            action: "keys.revoke".into(),
            subject: "key_1".into(),
            details: "{}".into(),
            address: Some("192.0.2.7".into()),
            request_id: Some("req_1".into()),
        };
        at.store.add_audit_entry(&entry).await.unwrap();
    }
    let page = at
        .store
        .list_audit_entries(&acme.id, None, 2)
        .await
        .unwrap();
    assert_eq!(page.items[0].id, "aud_2");
    let rest = at
        .store
        .list_audit_entries(&acme.id, page.next.as_ref(), 2)
        .await
        .unwrap();
    assert_eq!((rest.items.len(), rest.items[0].id.as_str()), (1, "aud_0"));
    assert!(
        at.store
            .list_audit_entries(&other.id, None, 2)
            .await
            .unwrap()
            .items
            .is_empty()
    );
}
