use toolgate_store::{ALL_WORKSPACES, ConnectFlow, FlowState, OAuthApp, StoreError, Workspace};

use super::{Empty, NOW_MS, new_connection, on_both, workspace};

on_both!(
    a_link_leads_to_one_connection,
    a_callback_needs_its_state_and_its_cookie,
    starting_again_forgets_the_earlier_state,
    an_expired_link_moves_nothing,
    a_form_is_accepted_once_unless_it_is_reopened,
    a_confirmation_stands_between_answer_and_connection,
    a_flow_makes_no_connection_but_its_own,
    an_oauth_app_of_a_workspace_beats_the_one_for_all,
    every_box_can_be_sealed_anew,
);

const EXPIRES_AT_MS: i64 = NOW_MS + 900_000;

fn flow(workspace: &Workspace) -> ConnectFlow {
    ConnectFlow {
        id: "flw_1".into(),
        token_hash: "token".into(),
        workspace_id: workspace.id.clone(),
        user_id: "ada".into(),
        service: "github".into(),
        slot: "user".into(),
        connection_id: "con_1".into(),
        scopes: vec!["repo".into()],
        tool_name: Some("github_create_issue".into()),
        confirm_url: None,
        return_url: Some("https://app.test/back".into()),
        popup_origin: Some("https://app.test".into()),
        state: FlowState::Pending,
        oauth_state_hash: None,
        cookie_hash: None,
        confirm_hash: None,
        sealed: None,
        last_error: None,
        created_at_ms: NOW_MS,
        expires_at_ms: EXPIRES_AT_MS,
        state_since_ms: NOW_MS,
    }
}

async fn a_link_leads_to_one_connection(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let made = flow(&acme);
    at.store.insert_flow(&made).await.unwrap();
    assert!(matches!(
        at.store.insert_flow(&made).await,
        Err(StoreError::Taken("connect token"))
    ));
    assert_eq!(at.store.find_flow("token").await.unwrap(), Some(made));
    assert_eq!(at.store.find_flow("other").await.unwrap(), None);

    assert!(
        at.store
            .start_flow("flw_1", "state", "cookie", "verifier", NOW_MS + 1)
            .await
            .unwrap()
    );
    let completed = at
        .store
        .complete_flow("state", "cookie", NOW_MS + 2)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (completed.state, completed.sealed.as_deref()),
        (FlowState::Completed, Some("verifier"))
    );
    assert!(
        at.store
            .complete_flow("state", "cookie", NOW_MS + 2)
            .await
            .unwrap()
            .is_none(),
        "a replay"
    );
    assert!(
        !at.store
            .start_flow("flw_1", "s", "c", "v", NOW_MS + 2)
            .await
            .unwrap(),
        "the link is used"
    );

    let new = new_connection(&acme, "con_1");
    assert!(
        !at.store
            .finish_flow("flw_1", FlowState::AwaitingConfirmation, &new, NOW_MS + 3)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .finish_flow("flw_1", FlowState::Completed, &new, NOW_MS + 3)
            .await
            .unwrap()
    );
    assert!(
        !at.store
            .finish_flow("flw_1", FlowState::Completed, &new, NOW_MS + 4)
            .await
            .unwrap()
    );
    assert_eq!(
        at.store
            .find_connection(&acme.id, "con_1")
            .await
            .unwrap()
            .unwrap()
            .generation,
        1
    );
    let consumed = at.store.find_flow("token").await.unwrap().unwrap();
    assert_eq!(
        (consumed.state, consumed.sealed),
        (FlowState::Consumed, None)
    );
    assert!(!at.store.fail_flow("flw_1", "late", NOW_MS).await.unwrap());
}

async fn a_callback_needs_its_state_and_its_cookie(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    assert!(
        at.store
            .start_flow("flw_1", "state", "cookie", "v", NOW_MS)
            .await
            .unwrap()
    );
    for (state, cookie) in [
        ("state", "another browser's"),
        ("wrong", "cookie"),
        ("", ""),
        ("state", ""),
    ] {
        assert!(
            at.store
                .complete_flow(state, cookie, NOW_MS)
                .await
                .unwrap()
                .is_none(),
            "{state:?} {cookie:?}"
        );
    }
    assert!(
        at.store
            .complete_flow("state", "cookie", NOW_MS)
            .await
            .unwrap()
            .is_some()
    );
}

async fn starting_again_forgets_the_earlier_state(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    assert!(
        at.store
            .start_flow("flw_1", "state 1", "cookie 1", "v", NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .start_flow("flw_1", "state 2", "cookie 2", "v", NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .complete_flow("state 1", "cookie 1", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .find_flow_by_oauth_state("state 1")
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .find_flow_by_oauth_state("state 2")
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        at.store
            .complete_flow("state 2", "cookie 2", NOW_MS)
            .await
            .unwrap()
            .is_some()
    );
}

async fn an_expired_link_moves_nothing(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    assert!(
        !at.store
            .start_flow("flw_1", "state", "cookie", "v", EXPIRES_AT_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .complete_form_flow("token", EXPIRES_AT_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .start_flow("flw_1", "state", "cookie", "v", EXPIRES_AT_MS - 1)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .complete_flow("state", "cookie", EXPIRES_AT_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store.find_flow("token").await.unwrap().is_some(),
        "its page can say so"
    );
    assert_eq!(at.store.purge_flows(EXPIRES_AT_MS).await.unwrap(), 0);
    assert_eq!(at.store.purge_flows(EXPIRES_AT_MS + 1).await.unwrap(), 1);
}

async fn a_form_is_accepted_once_unless_it_is_reopened(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    assert!(
        at.store
            .complete_form_flow("token", NOW_MS)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        at.store
            .complete_form_flow("token", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .reopen_flow("flw_1", "the provider refused this key", NOW_MS)
            .await
            .unwrap()
    );
    let again = at
        .store
        .complete_form_flow("token", NOW_MS)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        again.last_error.as_deref(),
        Some("the provider refused this key")
    );
    assert!(
        at.store
            .fail_flow("flw_1", "given up", NOW_MS)
            .await
            .unwrap()
    );
    assert!(!at.store.reopen_flow("flw_1", "x", NOW_MS).await.unwrap());
}

async fn a_confirmation_stands_between_answer_and_connection(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    assert!(
        !at.store
            .await_confirmation("flw_1", "code", "box", NOW_MS)
            .await
            .unwrap(),
        "nothing to confirm yet"
    );
    at.store
        .complete_form_flow("token", NOW_MS)
        .await
        .unwrap()
        .unwrap();
    assert!(
        at.store
            .await_confirmation("flw_1", "code", "box", NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .find_connection(&acme.id, "con_1")
            .await
            .unwrap()
            .is_none()
    );
    for (workspace_id, code, now_ms) in [
        (&other.id, "code", NOW_MS),
        (&acme.id, "wrong", NOW_MS),
        (&acme.id, "code", EXPIRES_AT_MS),
    ] {
        let found = at
            .store
            .find_flow_to_confirm(workspace_id, code, now_ms)
            .await
            .unwrap();
        assert!(found.is_none(), "{workspace_id} {code} {now_ms}");
    }
    let found = at
        .store
        .find_flow_to_confirm(&acme.id, "code", NOW_MS)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.sealed.as_deref(), Some("box"));
    let new = new_connection(&acme, "con_1");
    assert!(
        at.store
            .finish_flow("flw_1", FlowState::AwaitingConfirmation, &new, NOW_MS)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .find_flow_to_confirm(&acme.id, "code", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .find_connection(&acme.id, "con_1")
            .await
            .unwrap()
            .is_some()
    );
}

async fn a_flow_makes_no_connection_but_its_own(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    at.store
        .complete_form_flow("token", NOW_MS)
        .await
        .unwrap()
        .unwrap();
    let mut bobs = new_connection(&acme, "con_1");
    bobs.user_id = "bob".into();
    for foreign in [
        bobs,
        new_connection(&acme, "con_2"),
        new_connection(&other, "con_1"),
    ] {
        assert!(
            !at.store
                .finish_flow("flw_1", FlowState::Completed, &foreign, NOW_MS)
                .await
                .unwrap()
        );
        assert!(
            at.store
                .find_connection(&foreign.workspace_id, &foreign.id)
                .await
                .unwrap()
                .is_none()
        );
    }
}

fn app(workspace_id: &str, client_id: &str) -> OAuthApp {
    OAuthApp {
        workspace_id: workspace_id.into(),
        service: "github".into(),
        client_id: client_id.into(),
        sealed: Some("box of a client secret".into()),
        scopes: None,
        settings: "{}".into(),
        updated_at_ms: NOW_MS,
    }
}

async fn an_oauth_app_of_a_workspace_beats_the_one_for_all(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .put_oauth_app(&app(ALL_WORKSPACES, "for all"))
        .await
        .unwrap();
    at.store
        .put_oauth_app(&app(&acme.id, "first"))
        .await
        .unwrap();
    at.store
        .put_oauth_app(&app(&acme.id, "for acme"))
        .await
        .unwrap();
    let find = async |workspace_id: &str| {
        at.store
            .find_oauth_app(workspace_id, "github")
            .await
            .unwrap()
            .map(|app| app.client_id)
            .unwrap_or_default()
    };
    assert_eq!(
        (find(&acme.id).await, find(&other.id).await),
        ("for acme".into(), "for all".into())
    );
    assert!(
        at.store
            .find_oauth_app(&acme.id, "slack")
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(at.store.list_oauth_apps().await.unwrap().len(), 2);
    assert!(at.store.delete_oauth_app(&acme.id, "github").await.unwrap());
    assert!(!at.store.delete_oauth_app(&acme.id, "github").await.unwrap());
    assert_eq!(find(&acme.id).await, "for all");
}

async fn every_box_can_be_sealed_anew(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .put_oauth_app(&app(ALL_WORKSPACES, "c"))
        .await
        .unwrap();
    at.store
        .connect(&new_connection(&acme, "con_9"), NOW_MS)
        .await
        .unwrap();
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    at.store
        .start_flow("flw_1", "state", "cookie", "verifier", NOW_MS)
        .await
        .unwrap();
    let boxes = at.store.list_sealed().await.unwrap();
    let mut kinds: Vec<_> = boxes.iter().map(|one| one.kind.as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["connect_flow", "connection", "oauth_app"]);
    for one in &boxes {
        assert!(at.store.reseal(one, "new box").await.unwrap(), "{one:?}");
        assert!(
            !at.store.reseal(one, "newer box").await.unwrap(),
            "it has changed since it was read"
        );
    }
    let after = at.store.list_sealed().await.unwrap();
    assert!(
        after.len() == 3 && after.iter().all(|one| one.sealed == "new box"),
        "{after:?}"
    );
}
