//! Polls of triggers: one process at a time, each item once, and nothing after a pause or a deletion.

use serde_json::json;
use toolgate_core::states::TriggerState;
use toolgate_store::{
    DueTrigger, Event, EventFilters, FoundItem, InsertedTrigger, Lease, TriggerChange, TriggerPage,
    TriggerPollEnd, TriggerProgress, TriggerRow, TriggersMax, WebhookRow, Workspace,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    a_trigger_is_polled_by_one_process_at_a_time,
    an_item_that_is_found_again_becomes_no_second_event,
    the_change_mark_moves_with_triggers_and_their_polls,
    a_page_of_a_trigger_that_was_paused_or_deleted_stores_nothing,
    the_items_that_were_seen_last_are_remembered,
    triggers_are_bounded_and_belong_to_their_workspace,
);

const MOST: TriggersMax = TriggersMax {
    of_workspace: 3,
    of_user: 2,
};

fn trigger(workspace: &Workspace, id: &str, user_id: &str) -> TriggerRow {
    TriggerRow {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        user_id: user_id.into(),
        service: "github".into(),
        event: "new_issue".into(),
        connection_id: None,
        config: "{}".into(),
        interval_ms: 60_000,
        since_ms: None,
        state: TriggerState::Active,
        failures: 0,
        last_error: None,
        last_poll_at_ms: None,
        last_item_at_ms: None,
        items_found: 0,
        watching_since_ms: None,
        floor_ms: None,
        cursor: None,
        pages_read: 0,
        reads_all: false,
        next_poll_at_ms: NOW_MS,
        lease_owner: None,
        lease_until_ms: None,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    }
}

async fn webhook(at: &Empty, workspace: &Workspace) {
    let webhook = WebhookRow {
        id: "whk_1".into(),
        workspace_id: workspace.id.clone(),
        url: "https://hooks.example.com/".into(),
        description: String::new(),
        events: vec!["trigger.*".into()],
        filters: EventFilters::default(),
        enabled: true,
        disabled_reason: None,
        disabled_at_ms: None,
        sealed: "box".into(),
        sealed_previous: None,
        previous_until_ms: None,
        failures: 0,
        failing_since_ms: None,
        retry_at_ms: None,
        lease_owner: None,
        lease_until_ms: None,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    };
    assert!(at.store.insert_webhook(&webhook, 10).await.unwrap());
}

fn due_of(row: &TriggerRow) -> DueTrigger {
    DueTrigger {
        workspace_id: row.workspace_id.clone(),
        id: row.id.clone(),
    }
}

fn lease(owner: &str, now_ms: i64) -> Lease<'_> {
    Lease {
        owner,
        now_ms,
        until_ms: now_ms + 120_000,
    }
}

/// An item that is told of, or only remembered.
fn found(workspace: &Workspace, id: &str, told: bool) -> FoundItem {
    let event = Event::trigger(
        "github",
        "new_issue",
        &workspace.id,
        NOW_MS,
        json!({ "item": id }),
    );
    FoundItem {
        id: id.into(),
        event: told.then(|| event.with_id(id.into())),
    }
}

/// Stores a page with these items, of a list that goes on at `more`.
async fn store_page(
    at: &Empty,
    row: &TriggerRow,
    items: &[FoundItem],
    lease: Lease<'_>,
) -> Option<usize> {
    let with_new = TriggerProgress {
        cursor: Some("more".into()),
        pages_read: 1,
        ..TriggerProgress::default()
    };
    let without_new = TriggerProgress {
        watching_since_ms: Some(NOW_MS),
        ..TriggerProgress::default()
    };
    let all_new = TriggerProgress {
        pages_read: 2,
        ..with_new.clone()
    };
    let page = TriggerPage {
        items,
        progress: &with_new,
        all_new: &all_new,
        without_new: &without_new,
        remembered_max: 3,
    };
    at.store.store_trigger_page(row, page, lease).await.unwrap()
}

/// The ids of the events that wait for the webhook, in their order.
async fn told(at: &Empty) -> Vec<String> {
    let due = at.store.due_deliveries("whk_1", NOW_MS, 100).await.unwrap();
    due.into_iter().map(|one| one.event_id).collect()
}

async fn insert(at: &Empty, row: &TriggerRow) {
    let kept = at.store.insert_trigger(row, MOST).await.unwrap();
    assert_eq!(kept, InsertedTrigger::Done);
}

async fn a_trigger_is_polled_by_one_process_at_a_time(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let row = trigger(&acme, "trg_1", "ada");
    insert(&at, &row).await;
    let due = at.store.due_triggers(NOW_MS, 10).await.unwrap();
    assert_eq!(due, [due_of(&row)]);
    assert_eq!(at.store.due_triggers(NOW_MS - 1, 10).await.unwrap(), []);
    let lease_it = async |owner: &str, now_ms: i64| {
        let due = due_of(&row);
        let leased = at.store.lease_trigger(&due, lease(owner, now_ms));
        leased.await.unwrap().is_some()
    };
    assert!(lease_it("one", NOW_MS).await);
    assert!(!lease_it("two", NOW_MS).await);
    assert_eq!(at.store.due_triggers(NOW_MS, 10).await.unwrap(), []);
    // The first one has died.
    let later_ms = NOW_MS + 120_000;
    assert!(lease_it("two", later_ms).await);
    let end = TriggerPollEnd {
        state: TriggerState::Failing,
        failures: 1,
        last_error: Some("the call failed"),
        next_poll_at_ms: later_ms + 60_000,
        begins_anew: true,
    };
    let ended = async |owner: &str| {
        let noted = at.store.end_trigger_poll(&row, end, owner, later_ms);
        noted.await.unwrap()
    };
    assert!(!ended("one").await);
    assert!(ended("two").await);
    let kept = at
        .store
        .find_trigger(&acme.id, "trg_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((kept.state, kept.failures), (TriggerState::Failing, 1));
    assert_eq!(kept.last_error.as_deref(), Some("the call failed"));
    assert!(kept.reads_all && kept.lease_owner.is_none());
    assert!(!lease_it("one", later_ms).await, "it is not due yet");
    assert!(lease_it("one", later_ms + 60_000).await);
}

async fn the_change_mark_moves_with_triggers_and_their_polls(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let other = workspace(&at.store, "other").await;
    let look = async |id: &str| at.store.usage_mark(id).await.unwrap().triggers;
    let foreign = look(&other.id).await;
    let mut seen = vec![look(&acme.id).await];
    let row = trigger(&acme, "trg_1", "ada");
    insert(&at, &row).await;
    seen.push(look(&acme.id).await);
    let due = due_of(&row);
    at.store
        .lease_trigger(&due, lease("one", NOW_MS))
        .await
        .unwrap()
        .unwrap();
    let end = TriggerPollEnd {
        state: TriggerState::Active,
        failures: 0,
        last_error: None,
        next_poll_at_ms: NOW_MS + 60_000,
        begins_anew: false,
    };
    let ended = at.store.end_trigger_poll(&row, end, "one", NOW_MS);
    assert!(ended.await.unwrap());
    seen.push(look(&acme.id).await);
    let paused = TriggerChange {
        paused: Some(true),
        ..TriggerChange::default()
    };
    let changed = at
        .store
        .update_trigger(&acme.id, "trg_1", &paused, NOW_MS + 5);
    assert!(changed.await.unwrap().is_some());
    seen.push(look(&acme.id).await);
    for pair in seen.windows(2) {
        assert_ne!(pair[0], pair[1], "{seen:?}");
    }
    assert!(at.store.delete_trigger(&acme.id, "trg_1").await.unwrap());
    assert_eq!(look(&acme.id).await, seen[0]);
    assert_eq!(look(&other.id).await, foreign);
}

async fn an_item_that_is_found_again_becomes_no_second_event(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    webhook(&at, &acme).await;
    let row = trigger(&acme, "trg_1", "ada");
    insert(&at, &row).await;
    let due = due_of(&row);
    at.store
        .lease_trigger(&due, lease("one", NOW_MS))
        .await
        .unwrap()
        .unwrap();
    let page = [
        found(&acme, "evt_before", false),
        found(&acme, "evt_a", true),
    ];
    assert_eq!(
        store_page(&at, &row, &page, lease("one", NOW_MS)).await,
        Some(2)
    );
    assert_eq!(told(&at).await, ["evt_a"]);
    let kept = at
        .store
        .find_trigger(&acme.id, "trg_1")
        .await
        .unwrap()
        .unwrap();
    let place = (kept.cursor.as_deref(), kept.pages_read);
    assert_eq!(place, (Some("more"), 2), "the page was all new");
    assert_eq!((kept.items_found, kept.last_item_at_ms), (1, Some(NOW_MS)));

    // Another process repeats the page of one that has died, with what was only remembered before.
    let later_ms = NOW_MS + 120_000;
    at.store
        .lease_trigger(&due, lease("two", later_ms))
        .await
        .unwrap()
        .unwrap();
    let again = [
        found(&acme, "evt_before", true),
        found(&acme, "evt_a", true),
    ];
    assert_eq!(
        store_page(&at, &row, &again, lease("one", later_ms)).await,
        None
    );
    assert_eq!(
        store_page(&at, &row, &again, lease("two", later_ms)).await,
        Some(0)
    );
    let more = [found(&acme, "evt_a", true), found(&acme, "evt_b", true)];
    assert_eq!(
        store_page(&at, &row, &more, lease("two", later_ms)).await,
        Some(1)
    );
    assert_eq!(told(&at).await, ["evt_a", "evt_b"]);
}

async fn a_page_of_a_trigger_that_was_paused_or_deleted_stores_nothing(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    webhook(&at, &acme).await;
    let row = trigger(&acme, "trg_1", "ada");
    insert(&at, &row).await;
    let due = due_of(&row);
    let page = [found(&acme, "evt_a", true)];
    at.store
        .lease_trigger(&due, lease("one", NOW_MS))
        .await
        .unwrap()
        .unwrap();
    let change = |paused: bool| TriggerChange {
        paused: Some(paused),
        ..TriggerChange::default()
    };
    let pause = change(true);
    let paused = at.store.update_trigger(&acme.id, "trg_1", &pause, NOW_MS);
    assert_eq!(paused.await.unwrap().unwrap().state, TriggerState::Paused);
    assert_eq!(
        store_page(&at, &row, &page, lease("one", NOW_MS)).await,
        None
    );
    assert_eq!(at.store.due_triggers(NOW_MS, 10).await.unwrap(), []);
    assert!(
        at.store
            .lease_trigger(&due, lease("one", NOW_MS))
            .await
            .unwrap()
            .is_none()
    );

    let resume = change(false);
    let resumed = at.store.update_trigger(&acme.id, "trg_1", &resume, NOW_MS);
    assert_eq!(resumed.await.unwrap().unwrap().state, TriggerState::Active);
    at.store
        .lease_trigger(&due, lease("one", NOW_MS))
        .await
        .unwrap()
        .unwrap();
    assert!(at.store.delete_trigger(&acme.id, "trg_1").await.unwrap());
    assert_eq!(
        store_page(&at, &row, &page, lease("one", NOW_MS)).await,
        None
    );
    assert_eq!(told(&at).await, Vec::<String>::new());

    // What is remembered went with it: the same trigger made anew knows nothing.
    insert(&at, &row).await;
    at.store
        .lease_trigger(&due, lease("one", NOW_MS))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        store_page(&at, &row, &page, lease("one", NOW_MS)).await,
        Some(1)
    );
    assert_eq!(told(&at).await, ["evt_a"]);
}

async fn the_items_that_were_seen_last_are_remembered(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    webhook(&at, &acme).await;
    let row = trigger(&acme, "trg_1", "ada");
    insert(&at, &row).await;
    at.store
        .lease_trigger(&due_of(&row), lease("one", NOW_MS))
        .await
        .unwrap()
        .unwrap();
    let day_ms = 24 * 60 * 60 * 1_000;
    let mut now_ms = NOW_MS;
    for id in ["evt_1", "evt_2", "evt_3", "evt_4"] {
        now_ms += day_ms + 1;
        // The first one is listed all the time.
        let page = [found(&acme, "evt_1", true), found(&acme, id, true)];
        let page = &page[usize::from(id == "evt_1")..];
        assert_eq!(
            store_page(&at, &row, page, lease("one", now_ms)).await,
            Some(1),
            "{id}"
        );
    }
    assert_eq!(told(&at).await, ["evt_1", "evt_2", "evt_3", "evt_4"]);
    // Three are remembered: the second one was forgotten, and is not told of again while its event is kept.
    let page = [found(&acme, "evt_1", true), found(&acme, "evt_2", true)];
    assert_eq!(
        store_page(&at, &row, &page, lease("one", now_ms)).await,
        Some(1)
    );
    assert_eq!(told(&at).await.len(), 4);
}

async fn triggers_are_bounded_and_belong_to_their_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for (id, user_id, expected) in [
        ("trg_1", "ada", InsertedTrigger::Done),
        ("trg_2", "ada", InsertedTrigger::Done),
        ("trg_3", "ada", InsertedTrigger::UserFull),
        ("trg_4", "bob", InsertedTrigger::Done),
        ("trg_5", "eve", InsertedTrigger::WorkspaceFull),
    ] {
        let row = trigger(&acme, id, user_id);
        let kept = at.store.insert_trigger(&row, MOST);
        assert_eq!(kept.await.unwrap(), expected, "{id}");
    }
    let ids = async |workspace: &Workspace, user_id: Option<&str>| {
        let page = at
            .store
            .list_triggers(&workspace.id, user_id, None, 10)
            .await
            .unwrap();
        let ids: Vec<String> = page.items.into_iter().map(|row| row.id).collect();
        ids
    };
    assert_eq!(ids(&acme, None).await, ["trg_4", "trg_2", "trg_1"]);
    assert_eq!(ids(&acme, Some("ada")).await, ["trg_2", "trg_1"]);
    assert_eq!(ids(&other, None).await, Vec::<String>::new());
    let first = at
        .store
        .list_triggers(&acme.id, None, None, 2)
        .await
        .unwrap();
    let rest = at
        .store
        .list_triggers(&acme.id, None, first.next.as_ref(), 2)
        .await
        .unwrap();
    assert_eq!(rest.items.len(), 1);
    assert_eq!(
        at.store.find_trigger(&other.id, "trg_1").await.unwrap(),
        None
    );
    let change = TriggerChange::default();
    let changed = at
        .store
        .update_trigger(&other.id, "trg_1", &change, NOW_MS)
        .await;
    assert_eq!(changed.unwrap(), None);
    assert!(!at.store.delete_trigger(&other.id, "trg_1").await.unwrap());
}
