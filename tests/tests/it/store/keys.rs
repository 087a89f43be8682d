use toolgate_gateway::identity::key_ring::ChangeKey;
use toolgate_gateway::identity::keys::{self, NewKey};
use toolgate_gateway::{Caller, Scope};
use toolgate_store::{
    ApiKey, Approvers, DefaultPermission, KeyChange, Plan, RevokeOutcome, SettingsChange,
    StoreError, WorkspaceSettings,
};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::postgres::fresh_url;

use super::{Empty, NOW_MS, api_key, on_both, waiting_for_locks, workspace};

on_both!(
    a_workspace_name_is_taken_once,
    a_workspace_keeps_its_plan_and_settings,
    of_two_changes_of_a_workspace_both_hold,
    a_change_of_a_key_keeps_what_it_does_not_name,
    a_key_like_another_has_the_settings_of_the_moment,
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
        default_approvers: Approvers::Members,
        review_skills: false,
        code_mode: true,
    };
    let all = SettingsChange {
        keep_payloads: Some(settings.keep_payloads),
        default_permission: Some(settings.default_permission),
        default_approvers: Some(settings.default_approvers),
        review_skills: Some(settings.review_skills),
        code_mode: Some(settings.code_mode),
    };
    let changed = at.store.change_workspace(&acme.id, None, &all, 1).await;
    assert!(changed.unwrap().is_some());
    let limits = async |id: &str, plan, rpm| {
        let changed = at.store.change_workspace_limits(id, Some(plan), Some(rpm));
        changed.await.unwrap().is_some()
    };
    assert!(limits(&acme.id, Plan::Enterprise, Some(5_000)).await);
    assert!(!limits("ws_none", Plan::Free, None).await);
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

async fn of_two_changes_of_a_workspace_both_hold(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let begin = || {
        let changes = [
            SettingsChange {
                default_permission: Some(DefaultPermission::ByEffect),
                ..SettingsChange::default()
            },
            SettingsChange {
                default_approvers: Some(Approvers::Members),
                ..SettingsChange::default()
            },
        ];
        changes.map(|change| {
            let (store, id) = (at.store.clone(), acme.id.clone());
            tokio::spawn(async move { store.change_workspace(&id, None, &change, NOW_MS).await })
        })
    };
    let changing = if at.url.starts_with("postgres") {
        // Held back until both have begun.
        let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
        let mut held = pool.begin().await.unwrap();
        sqlx::query("SELECT id FROM workspaces FOR UPDATE")
            .execute(&mut *held)
            .await
            .unwrap();
        let changing = begin();
        waiting_for_locks(&pool, 2).await;
        held.commit().await.unwrap();
        changing
    } else {
        begin()
    };
    for one in changing {
        let changed = one.await.unwrap();
        assert!(changed.unwrap().is_some());
    }
    let limits = async |plan, rpm| {
        let changed = at.store.change_workspace_limits(&acme.id, plan, rpm).await;
        changed.unwrap().unwrap()
    };
    assert_eq!(limits(None, Some(Some(7))).await.plan, Plan::Free);
    let now = limits(Some(Plan::Pro), None).await;
    let settings = WorkspaceSettings {
        keep_payloads: false,
        default_permission: DefaultPermission::ByEffect,
        default_approvers: Approvers::Members,
        review_skills: true,
        code_mode: false,
    };
    assert_eq!(
        (now.plan, now.rpm, now.settings),
        (Plan::Pro, Some(7), settings)
    );
    assert_eq!(limits(None, Some(None)).await.rpm, None);
    let none = SettingsChange::default();
    let unknown = at.store.change_workspace("ws_none", None, &none, NOW_MS);
    assert_eq!(unknown.await.unwrap(), None);
}

async fn a_change_of_a_key_keeps_what_it_does_not_name(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let mut expected = api_key(&acme, "key_1");
    at.store.insert_key(&expected, "hash").await.unwrap();
    let scopes = ["tools:read".to_owned()];
    for change in [
        KeyChange {
            scopes: Some(&scopes),
            ..KeyChange::default()
        },
        KeyChange {
            rpm: Some(None),
            rpd: Some(Some(5)),
            ..KeyChange::default()
        },
        KeyChange {
            ip_allowlist: Some(&[]),
            expires_at_ms: Some(Some(NOW_MS + 9)),
            ..KeyChange::default()
        },
        KeyChange {
            name: Some("other"),
            ..KeyChange::default()
        },
        KeyChange {
            expires_at_ms: Some(None),
            ..KeyChange::default()
        },
    ] {
        if let Some(name) = change.name {
            expected.name = name.to_owned();
        }
        if let Some(scopes) = change.scopes {
            expected.scopes = scopes.to_vec();
        }
        if let Some(networks) = change.ip_allowlist {
            expected.ip_allowlist = networks.to_vec();
        }
        expected.rpm = change.rpm.unwrap_or(expected.rpm);
        expected.rpd = change.rpd.unwrap_or(expected.rpd);
        expected.expires_at_ms = change.expires_at_ms.unwrap_or(expected.expires_at_ms);
        let changed = at.store.update_key(&acme.id, "key_1", &change).await;
        assert_eq!(changed.unwrap().as_ref(), Some(&expected), "{change:?}");
    }
    let revoked = at.store.revoke_key(&acme.id, "key_1", NOW_MS).await;
    revoked.unwrap();
    let change = KeyChange::default();
    let gone = at.store.update_key(&acme.id, "key_1", &change).await;
    assert_eq!(gone.unwrap(), None);
}

async fn a_key_like_another_has_the_settings_of_the_moment(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let read = api_key(&acme, "key_1");
    at.store.insert_key(&read, "hash 1").await.unwrap();
    // It loses a scope after it was read to make another one like it.
    let scopes = ["tools:read".to_owned()];
    let change = KeyChange {
        scopes: Some(&scopes),
        ..KeyChange::default()
    };
    let changed = at.store.update_key(&acme.id, "key_1", &change).await;
    assert!(changed.unwrap().is_some());
    let new = ApiKey {
        id: "key_2".into(),
        prefix: "other".into(),
        created_at_ms: NOW_MS + 1,
        ..read
    };
    let expected = ApiKey {
        scopes: scopes.to_vec(),
        ..new.clone()
    };
    let like = at.store.insert_key_like("key_1", &new, "hash 2").await;
    assert_eq!(like.unwrap().as_ref(), Some(&expected));
    let found = at.store.find_key_by_hash("hash 2").await.unwrap();
    assert_eq!(found.unwrap().key, expected);
    let revoked = at.store.revoke_key(&acme.id, "key_1", NOW_MS).await;
    revoked.unwrap();
    let like = at.store.insert_key_like("key_1", &new, "hash 3").await;
    assert_eq!(like.unwrap(), None);
}

/// Both admins have read the key before either of them writes.
#[tokio::test(flavor = "multi_thread")]
async fn on_postgres_another_name_does_not_bring_a_removed_scope_back() {
    let url = tokio::task::spawn_blocking(fresh_url);
    let url = url.await.unwrap();
    let options = Options {
        database_url: Some(url.clone()),
        ..Options::default()
    };
    let gateway = TestGateway::start(options).await;
    let store = gateway.gateway.store();
    let first = store.first_workspace().await.unwrap().unwrap();
    let operator = Caller::operator(&first);
    let new = NewKey {
        name: "before".to_owned(),
        user: operator.default_user.clone(),
        scopes: vec![Scope::ToolsRead, Scope::Admin],
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let made = keys::create(store, &operator, new, NOW_MS).await.unwrap();
    let id = made.info.key_id;
    let pool = sqlx::PgPool::connect(&url).await.unwrap();
    let mut held = pool.begin().await.unwrap();
    sqlx::query("SELECT id FROM api_keys WHERE id = $1 FOR UPDATE")
        .bind(&id)
        .execute(&mut *held)
        .await
        .unwrap();
    let changes = [
        ChangeKey {
            scopes: Some(vec![Scope::ToolsRead]),
            ..ChangeKey::default()
        },
        ChangeKey {
            name: Some("after".to_owned()),
            ..ChangeKey::default()
        },
    ];
    let changing = changes.map(|change| {
        let (gateway, operator, id) = (gateway.gateway.clone(), operator.clone(), id.clone());
        tokio::spawn(async move { gateway.identity().change_key(&operator, &id, change).await })
    });
    waiting_for_locks(&pool, 2).await;
    held.commit().await.unwrap();
    for one in changing {
        let changed = one.await.unwrap();
        changed.unwrap();
    }
    let key = store.find_key(&id).await.unwrap().unwrap().key;
    assert_eq!(key.name, "after");
    assert_eq!(key.scopes, ["tools:read"]);
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
