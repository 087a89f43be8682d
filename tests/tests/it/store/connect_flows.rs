use toolgate_store::{ALL_WORKSPACES, ConnectFlow, FlowState, StoreError, Workspace};

use super::oauth_apps::app;
use super::{Empty, NOW_MS, new_connection, on_both, workspace};

on_both!(
    a_link_leads_to_one_connection,
    a_callback_needs_its_state_and_its_cookie,
    starting_again_forgets_the_earlier_state,
    an_expired_link_moves_nothing,
    a_form_is_accepted_once_unless_it_is_reopened,
    a_confirmation_stands_between_answer_and_connection,
    a_flow_makes_no_connection_but_its_own,
    of_flows_that_nobody_confirmed_in_time_each_is_taken_once,
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
        first_only: false,
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
            .await_confirmation("flw_1", "code", "box", EXPIRES_AT_MS, NOW_MS)
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
            .await_confirmation("flw_1", "code", "box", EXPIRES_AT_MS, NOW_MS)
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

async fn of_flows_that_nobody_confirmed_in_time_each_is_taken_once(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store.insert_flow(&flow(&acme)).await.unwrap();
    let completed = at.store.complete_form_flow("token", NOW_MS).await.unwrap();
    assert!(completed.is_some());
    let waits = at
        .store
        .await_confirmation("flw_1", "code", "box", EXPIRES_AT_MS, NOW_MS);
    assert!(waits.await.unwrap());

    let late = async |now_ms| at.store.list_unconfirmed_flows(now_ms, 1).await.unwrap();
    let take = async |now_ms| {
        let taken = at.store.take_unconfirmed_flow("flw_1", now_ms).await;
        taken.unwrap()
    };
    assert_eq!(late(EXPIRES_AT_MS - 1).await, [""; 0]);
    assert_eq!(take(EXPIRES_AT_MS - 1).await, None, "there is time");
    let purged = at.store.purge_flows(EXPIRES_AT_MS + 1).await.unwrap();
    assert_eq!(purged, 0, "its tokens are not revoked yet");

    assert_eq!(late(EXPIRES_AT_MS).await, ["flw_1"]);
    let (one, two) = tokio::join!(take(EXPIRES_AT_MS), take(EXPIRES_AT_MS));
    let taken: Vec<ConnectFlow> = [one, two].into_iter().flatten().collect();
    let boxes: Vec<_> = taken.iter().map(|flow| flow.sealed.as_deref()).collect();
    assert_eq!(boxes, [Some("box")], "{taken:?}");
    assert_eq!(late(EXPIRES_AT_MS).await, [""; 0]);
    let ended = at.store.find_flow("token").await.unwrap().unwrap();
    assert_eq!((ended.state, ended.sealed), (FlowState::Failed, None));
    let new = new_connection(&acme, "con_1");
    let confirmed = at.store.finish_flow(
        "flw_1",
        FlowState::AwaitingConfirmation,
        &new,
        EXPIRES_AT_MS,
    );
    assert!(!confirmed.await.unwrap(), "its tokens are revoked");
    assert_eq!(at.store.purge_flows(EXPIRES_AT_MS + 1).await.unwrap(), 1);
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

async fn every_box_can_be_sealed_anew(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .change_oauth_app(&app(ALL_WORKSPACES, "c"), false, &[])
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
