use toolgate_core::states::ConnectionHealth;
use toolgate_store::{RefreshFailed, StoreError, Workspace};

use super::{Empty, NOW_MS, new_connection, on_both, workspace};

const LEASE_MS: i64 = 30_000;

on_both!(
    connecting_again_keeps_the_id_and_replaces_the_credential,
    an_id_cannot_move_to_another_user_or_service,
    a_connection_belongs_to_one_workspace,
    a_state_is_not_set_on_a_newer_credential,
);

async fn connecting_again_keeps_the_id_and_replaces_the_credential(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let mut new = new_connection(&acme, "con_1");
    at.store.connect(&new, NOW_MS).await.unwrap();
    let first = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (first.state, first.generation, first.sealed.as_str()),
        (ConnectionHealth::Active, 1, "box 1")
    );
    assert_eq!(
        (first.scopes.as_slice(), &first.parameters),
        (new.scopes.as_slice(), &new.parameters)
    );
    let failed = RefreshFailed {
        state: ConnectionHealth::ReauthNeeded,
        next_retry_at_ms: None,
        last_error: "invalid_grant",
    };
    at.store
        .try_lease_connection(&acme.id, "con_1", "p", NOW_MS, LEASE_MS)
        .await
        .unwrap()
        .unwrap();
    assert!(
        at.store
            .store_refresh_failed(&acme.id, "con_1", "p", &failed, NOW_MS)
            .await
            .unwrap()
    );

    new.sealed = "box 2".into();
    new.scopes.push("gist".into());
    at.store.connect(&new, NOW_MS + 5).await.unwrap();
    let again = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (again.state, again.failures, again.last_error),
        (ConnectionHealth::Active, 0, None)
    );
    assert_eq!(
        (again.generation, again.sealed.as_str(), again.scopes),
        (2, "box 2", new.scopes)
    );
    assert_eq!(again.created_at_ms, NOW_MS);
}

async fn an_id_cannot_move_to_another_user_or_service(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let mut foreign = new_connection(&acme, "con_1");
    foreign.user_id = "bob".into();
    assert!(matches!(
        at.store.connect(&foreign, NOW_MS).await,
        Err(StoreError::Taken(_))
    ));
    let mut other = new_connection(&acme, "con_1");
    other.service = "slack".into();
    assert!(matches!(
        at.store.connect(&other, NOW_MS).await,
        Err(StoreError::Taken(_))
    ));
    let kept = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((kept.user_id.as_str(), kept.generation), ("ada", 1));
}

async fn a_connection_belongs_to_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let mut newer = new_connection(&acme, "con_2");
    newer.service = "slack".into();
    at.store.connect(&newer, NOW_MS + 1).await.unwrap();
    assert!(
        at.store
            .find_connection(&other.id, "con_1")
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .list_connections(&other.id, None, None)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        at.store
            .delete_connection(&other.id, "con_1", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
    let leased = at
        .store
        .try_lease_connection(&other.id, "con_1", "p", NOW_MS, LEASE_MS)
        .await
        .unwrap();
    assert!(leased.is_none());

    let list = async |user_id, service| {
        let rows = at
            .store
            .list_connections(&acme.id, user_id, service)
            .await
            .unwrap();
        rows.into_iter()
            .map(|row| row.id)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(list(None, None).await, "con_2 con_1");
    assert_eq!(list(Some("ada"), Some("github")).await, "con_1");
    assert_eq!(list(Some("bob"), None).await, "");
    let lease = at
        .store
        .try_lease_connection(&acme.id, "con_2", "p", NOW_MS, LEASE_MS)
        .await
        .unwrap();
    assert!(lease.is_some());
    let counted = async |workspace: &Workspace, user_id, now_ms| {
        let counts = at.store.count_connections(&workspace.id, user_id, now_ms);
        let counts = counts.await.unwrap().into_iter();
        let words = counts.map(|of| format!("{} {} {}", of.connections, of.service, of.state));
        words.collect::<Vec<_>>().join(", ")
    };
    let during = "1 github active, 1 slack refreshing";
    assert_eq!(counted(&acme, None, NOW_MS).await, during);
    let after = "1 github active, 1 slack active";
    assert_eq!(counted(&acme, Some("ada"), NOW_MS + LEASE_MS).await, after);
    assert_eq!(counted(&acme, Some("bob"), NOW_MS).await, "");
    assert_eq!(counted(&other, None, NOW_MS).await, "");
    assert_eq!(
        at.store
            .delete_connection(&acme.id, "con_1", NOW_MS)
            .await
            .unwrap()
            .unwrap()
            .sealed,
        "box 1"
    );
    assert!(
        at.store
            .delete_connection(&acme.id, "con_1", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
}

async fn a_state_is_not_set_on_a_newer_credential(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    at.store
        .connect(&new_connection(&acme, "con_1"), NOW_MS)
        .await
        .unwrap();
    let set = async |generation| {
        let state = ConnectionHealth::ReauthNeeded;
        at.store
            .set_connection_state(
                &acme.id,
                "con_1",
                generation,
                state,
                Some("401"),
                NOW_MS + 1,
            )
            .await
            .unwrap()
    };
    assert!(!set(1).await, "the refused credential is gone already");
    assert!(set(2).await);
    let row = at
        .store
        .find_connection(&acme.id, "con_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (row.state, row.state_since_ms),
        (ConnectionHealth::ReauthNeeded, NOW_MS + 1)
    );
}
