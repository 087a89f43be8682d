use toolgate_store::{DefaultPermission, Plan, RevokeOutcome, StoreError, WorkspaceSettings};

use super::{Empty, NOW_MS, api_key, on_both, workspace};

on_both!(
    a_workspace_name_is_taken_once,
    a_workspace_keeps_its_plan_and_settings,
    a_key_is_found_by_its_hash,
    a_key_needs_its_workspace,
    revoking_finds_the_key_that_is_meant,
    last_used_never_moves_backwards,
    text_with_nul_is_kept_whole_or_refused,
);

async fn a_workspace_name_is_taken_once(at: Empty) {
    workspace(&at.store, "acme").await;
    let second = at
        .store
        .create_workspace("acme", Plan::Pro, None, NOW_MS)
        .await;
    assert!(
        matches!(second, Err(StoreError::Taken("workspace name"))),
        "{second:?}"
    );
    assert_eq!(at.store.list_workspaces().await.unwrap().len(), 1);
}

async fn a_workspace_keeps_its_plan_and_settings(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    assert_eq!(acme.settings, WorkspaceSettings::default());
    let settings = WorkspaceSettings {
        keep_payloads: true,
        default_permission: DefaultPermission::ByEffect,
        default_approvers: toolgate_store::Approvers::Members,
    };
    assert!(
        at.store
            .set_workspace_settings(&acme.id, &settings, 1)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .set_workspace_plan(&acme.id, Plan::Enterprise, Some(5_000))
            .await
            .unwrap()
    );
    assert!(
        !at.store
            .set_workspace_plan("ws_none", Plan::Free, None)
            .await
            .unwrap()
    );
    let found = at.store.find_workspace(&acme.id).await.unwrap().unwrap();
    assert_eq!(
        (found.plan, found.rpm, found.settings),
        (Plan::Enterprise, Some(5_000), settings)
    );
    assert_eq!(
        at.store
            .find_workspace_by_name("acme")
            .await
            .unwrap()
            .unwrap()
            .id,
        acme.id
    );
}

async fn a_key_is_found_by_its_hash(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let key = api_key(&acme, "key_1");
    at.store.insert_key(&key, "hash 1").await.unwrap();
    let found = at.store.find_key_by_hash("hash 1").await.unwrap().unwrap();
    assert_eq!((found.key, found.workspace), (key, acme.clone()));
    assert_eq!(at.store.find_key_by_hash("hash 2").await.unwrap(), None);
    let twice = at
        .store
        .insert_key(&api_key(&acme, "key_2"), "hash 1")
        .await;
    assert!(
        matches!(twice, Err(StoreError::Taken("API key"))),
        "{twice:?}"
    );
}

async fn a_key_needs_its_workspace(at: Empty) {
    let mut acme = workspace(&at.store, "acme").await;
    acme.id = "ws_none".into();
    let orphan = at.store.insert_key(&api_key(&acme, "key_1"), "hash").await;
    assert!(
        matches!(orphan, Err(StoreError::NoSuchParent)),
        "{orphan:?}"
    );
}

async fn revoking_finds_the_key_that_is_meant(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for id in ["key_1", "key_2", "key_3"] {
        let mut key = api_key(&acme, id);
        if id != "key_1" {
            key.name = "twin".into();
        }
        at.store.insert_key(&key, id).await.unwrap();
    }
    let revoke = async |workspace_id: &str, which: &str| match at
        .store
        .revoke_key(workspace_id, which, NOW_MS + 1)
        .await
        .unwrap()
    {
        RevokeOutcome::Done(key) => format!(
            "done {} {:?}",
            key.id,
            key.revoked_at_ms.map(|at| at - NOW_MS)
        ),
        RevokeOutcome::Already(key) => format!("already {}", key.id),
        RevokeOutcome::Ambiguous(keys) => format!("one of {}", keys.len()),
        RevokeOutcome::NotFound => "not found".into(),
    };
    for (workspace_id, which, outcome) in [
        (&other.id, "key_1", "not found"),
        (&acme.id, "nothing", "not found"),
        (&acme.id, "name of key_1", "done key_1 Some(1)"),
        (&acme.id, "key_1", "already key_1"),
        (&acme.id, "twin", "one of 2"),
        (&acme.id, "key_2000", "done key_2 Some(1)"),
        (&acme.id, "twin", "done key_3 Some(1)"),
        (&acme.id, "twin", "already key_3"),
    ] {
        assert_eq!(revoke(workspace_id, which).await, outcome, "{which}");
    }
    assert!(at.store.list_keys(&other.id).await.unwrap().is_empty());
    assert!(
        at.store
            .list_keys(&acme.id)
            .await
            .unwrap()
            .iter()
            .all(|key| key.revoked_at_ms == Some(NOW_MS + 1))
    );
}

async fn last_used_never_moves_backwards(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .insert_key(&api_key(&acme, "key_1"), "hash")
        .await
        .unwrap();
    let before = at.store.changes().await.unwrap();
    for at_ms in [5, 9, 7] {
        at.store
            .touch_keys(&[("key_1".into(), at_ms), ("key_none".into(), 1)])
            .await
            .unwrap();
    }
    assert_eq!(
        at.store.list_keys(&acme.id).await.unwrap()[0].last_used_at_ms,
        Some(9)
    );
    assert_eq!(
        at.store.changes().await.unwrap(),
        before,
        "no cache is stale"
    );
}

async fn text_with_nul_is_kept_whole_or_refused(at: Empty) {
    match at
        .store
        .create_workspace("a\0b", Plan::Free, None, NOW_MS)
        .await
    {
        Ok(made) => assert_eq!(at.store.find_workspace(&made.id).await.unwrap(), Some(made)),
        Err(error) => assert!(matches!(error, StoreError::UnstorableText), "{error:?}"),
    }
}
