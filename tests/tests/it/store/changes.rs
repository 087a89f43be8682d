use toolgate_store::{RevokeOutcome, Store, Topic};

use super::{Empty, NOW_MS, api_key, on_both, workspace};

on_both!(
    a_change_moves_its_own_topic_alone,
    another_process_is_noticed_on_the_next_question,
    many_askers_agree_after_a_write,
);

async fn a_change_moves_its_own_topic_alone(at: Empty) {
    let before = at.store.changes().await.unwrap();
    assert_eq!(at.store.changes().await.unwrap(), before);
    at.store
        .change_service_config(
            "",
            "github",
            &[("k".into(), "1".into())].into(),
            &[],
            NOW_MS,
        )
        .await
        .unwrap();
    let after = at.store.changes().await.unwrap();
    assert!(after.get(Topic::Services) > before.get(Topic::Services));
    assert_eq!(after.get(Topic::Keys), before.get(Topic::Keys));
}

/// A second `Store` on the same database shares no memory with the first, as another process.
async fn another_process_is_noticed_on_the_next_question(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let elsewhere = Store::open(&at.url).await.unwrap();
    for round in 0..300 {
        let id = format!("key_{round}");
        at.store
            .insert_key(&api_key(&acme, &id), &id)
            .await
            .unwrap();
        let before = at.store.changes().await.unwrap();
        let revoked = elsewhere.revoke_key(&acme.id, &id, NOW_MS).await.unwrap();
        assert!(matches!(revoked, RevokeOutcome::Done(_)));
        let after = at.store.changes().await.unwrap();
        assert!(
            after.get(Topic::Keys) > before.get(Topic::Keys),
            "round {round}"
        );
    }
}

async fn many_askers_agree_after_a_write(at: Empty) {
    let before = at.store.changes().await.unwrap().get(Topic::Keys);
    workspace(&at.store, "acme").await;
    let asking: Vec<_> = (0..64)
        .map(|_| {
            let store = at.store.clone();
            tokio::spawn(async move { store.changes().await.unwrap().get(Topic::Keys) })
        })
        .collect();
    for answer in asking {
        assert_eq!(answer.await.unwrap(), before + 1);
    }
}
