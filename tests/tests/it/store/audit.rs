//! A change and its entry in the audit log: both or neither.

use toolgate_store::{AuditEntry, AuditFilter, KeyChange, StoreError, Workspace};

use super::{Empty, NOW_MS, api_key, on_both, workspace};

on_both!(
    a_change_and_its_entry_are_one_transaction,
    without_a_change_there_is_no_entry,
    one_handle_writes_one_entry,
    code_mode_is_off_until_it_is_switched_on_with_an_entry,
    the_log_is_filtered_by_actor_action_and_time,
);

fn entry(workspace_id: &str, id: &str) -> AuditEntry {
    AuditEntry {
        workspace_id: workspace_id.into(),
        id: id.into(),
        at_ms: NOW_MS,
        actor: "operator".into(),
        action: "keys.create".into(),
        subject: "key_1".into(),
        details: "{}".into(),
        address: None,
        request_id: None,
    }
}

async fn written(at: &Empty, of: &Workspace) -> Vec<String> {
    let page = at.store.list_audit_entries(&of.id, None, 10).await;
    let page = page.expect("the log is read");
    page.items.into_iter().map(|entry| entry.id).collect()
}

async fn a_change_and_its_entry_are_one_transaction(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let key = api_key(&acme, "key_1");
    // No workspace has this log.
    let nowhere = at.store.audited(entry("ws_none", "aud_1"));
    let refused = nowhere.insert_key(&key, "hash").await;
    assert!(
        matches!(refused, Err(StoreError::NoSuchParent)),
        "{refused:?}"
    );
    assert_eq!(at.store.list_keys(&acme.id).await.expect("keys"), []);

    let audited = at.store.audited(entry(&acme.id, "aud_1"));
    audited.insert_key(&key, "hash").await.expect("it is kept");
    assert_eq!(at.store.list_keys(&acme.id).await.expect("keys"), [key]);
    assert_eq!(written(&at, &acme).await, ["aud_1"]);

    // The id of the entry is taken: the change is undone.
    let again = at.store.audited(entry(&acme.id, "aud_1"));
    let revoked = again.revoke_key(&acme.id, "key_1", NOW_MS).await;
    assert!(revoked.is_err(), "{revoked:?}");
    let keys = at.store.list_keys(&acme.id).await.expect("keys");
    assert_eq!(keys[0].revoked_at_ms, None);
}

async fn without_a_change_there_is_no_entry(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let key = api_key(&acme, "key_1");
    at.store.insert_key(&key, "hash").await.expect("it is kept");
    let audited = |id: &str| at.store.audited(entry(&acme.id, id));
    let taken = audited("aud_1")
        .insert_key(&api_key(&acme, "key_2"), "hash")
        .await;
    assert!(matches!(taken, Err(StoreError::Taken(_))), "{taken:?}");
    let change = KeyChange {
        name: Some("other"),
        ..KeyChange::default()
    };
    let unknown = audited("aud_2")
        .update_key(&acme.id, "key_3", &change)
        .await;
    assert_eq!(unknown.expect("nothing is changed"), None);
    let unknown = audited("aud_3").revoke_key(&acme.id, "key_3", NOW_MS).await;
    unknown.expect("nothing is changed");
    let gone = audited("aud_4")
        .delete_connection(&acme.id, "con_none", NOW_MS)
        .await;
    assert!(gone.expect("nothing is changed").is_none());
    assert!(
        !audited("aud_5")
            .delete_webhook(&acme.id, "whk_none")
            .await
            .expect("nothing is changed")
    );
    assert_eq!(written(&at, &acme).await, [""; 0]);
}

async fn one_handle_writes_one_entry(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let audited = at.store.audited(entry(&acme.id, "aud_1"));
    for id in ["key_1", "key_2"] {
        audited
            .insert_key(&api_key(&acme, id), id)
            .await
            .expect("it is kept");
    }
    at.store
        .insert_key(&api_key(&acme, "key_3"), "key_3")
        .await
        .expect("it is kept");
    assert_eq!(written(&at, &acme).await, ["aud_1"]);
}

async fn code_mode_is_off_until_it_is_switched_on_with_an_entry(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let on = async |of: &str| at.store.code_mode(of).await.expect("the setting is read");
    assert!(!on(&acme.id).await);
    let set = async |id: &str, of: &str, enabled: bool| {
        let audited = at.store.audited(entry(&acme.id, id));
        let changed = audited.set_code_mode(of, enabled, NOW_MS).await;
        changed.expect("it is set")
    };
    assert!(set("aud_1", &acme.id, true).await);
    assert!(on(&acme.id).await);
    assert!(!on(&other.id).await);
    assert!(!on("ws_none").await);
    // The other settings stay as they are.
    let found = at.store.find_workspace(&acme.id).await.expect("it is read");
    let mut settings = found.expect("it is there").settings;
    settings.code_mode = false;
    assert_eq!(settings, acme.settings);
    assert!(set("aud_2", &acme.id, false).await);
    assert!(!on(&acme.id).await);
    assert!(!set("aud_3", "ws_none", true).await);
    let mut written = written(&at, &acme).await;
    written.sort_unstable();
    assert_eq!(written, ["aud_1", "aud_2"]);
}

async fn the_log_is_filtered_by_actor_action_and_time(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let other = workspace(&at.store, "other").await;
    for (n, workspace, actor, action) in [
        (0, &acme, "operator", "keys.create"),
        (1, &acme, "member:mem_1", "keys.create"),
        (2, &acme, "member:mem_1", "keys.revoke"),
        (3, &acme, "gateway", "plugins.drop"),
        (4, &acme, "member:mem_1", "keys.create"),
        (5, &other, "member:mem_1", "keys.create"),
    ] {
        let one = AuditEntry {
            at_ms: NOW_MS + n,
            actor: actor.into(),
            action: action.into(),
            ..entry(&workspace.id, &format!("aud_{n}"))
        };
        at.store.add_audit_entry(&one).await.expect("it is kept");
    }
    let (actor, action) = (Some("member:mem_1"), Some("keys.create"));
    let all = AuditFilter::default();
    for (filter, expected) in [
        (all, &[4, 3, 2, 1, 0][..]),
        (AuditFilter { actor, ..all }, &[4, 2, 1]),
        (AuditFilter { action, ..all }, &[4, 1, 0]),
        (
            AuditFilter {
                actor,
                action,
                ..all
            },
            &[4, 1],
        ),
        (
            AuditFilter {
                from_ms: Some(NOW_MS + 1),
                before_ms: Some(NOW_MS + 4),
                ..all
            },
            &[3, 2, 1],
        ),
        (
            AuditFilter {
                actor,
                before_ms: Some(NOW_MS + 4),
                ..all
            },
            &[2, 1],
        ),
        (
            AuditFilter {
                actor: Some("member:mem_2"),
                ..all
            },
            &[],
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(|n| format!("aud_{n}")).collect();
        // One entry a page: each page goes on where the one before ended.
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = at
                .store
                .filter_audit_entries(&acme.id, filter, after.as_ref(), 1)
                .await
                .expect("the log is read");
            found.extend(page.items.into_iter().map(|one| one.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(found, expected, "{filter:?}");
    }
}
