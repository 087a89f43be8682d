//! Documents of the knowledge, and what is said in sessions, in the store.

use toolgate_store::{
    DocumentRow, KnowledgeTotals, NewStep, SessionMessage, SessionRow, Speaker, Store, Topic,
    TurnClaim,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    documents_are_kept_listed_and_deleted,
    a_full_workspace_takes_no_more,
    one_turn_at_a_time_takes_steps,
    a_session_goes_with_its_steps,
);

fn document(workspace_id: &str, id: &str, content: &str, at_ms: i64) -> DocumentRow {
    DocumentRow {
        workspace_id: workspace_id.to_owned(),
        id: id.to_owned(),
        title: format!("Title of {id}"),
        media_type: "application/pdf".to_owned(),
        sha256: "00".repeat(32),
        bytes: 10,
        chars: content.chars().count() as i64,
        pages: vec![0, 2, 4],
        content: content.to_owned(),
        created_at_ms: at_ms,
    }
}

const MOST: KnowledgeTotals = KnowledgeTotals {
    documents: 3,
    chars: 20,
};

async fn documents_are_kept_listed_and_deleted(empty: Empty) {
    let store = &empty.store;
    let (ours, theirs) = (
        workspace(store, "ours").await,
        workspace(store, "theirs").await,
    );
    let before = store.changes().await.unwrap().get(Topic::Knowledge);
    let first = document(&ours.id, "doc_1", "één", NOW_MS);
    assert!(store.insert_document(&first, MOST).await.unwrap());
    assert!(
        store
            .insert_document(&document(&ours.id, "doc_2", "two", NOW_MS + 1), MOST)
            .await
            .unwrap()
    );
    let after = store.changes().await.unwrap().get(Topic::Knowledge);
    assert!(after > before);
    assert_eq!(
        store.find_document(&ours.id, "doc_1").await.unwrap(),
        Some(first)
    );
    assert_eq!(
        store.find_document(&theirs.id, "doc_1").await.unwrap(),
        None
    );
    assert_eq!(
        store.document_ids(&ours.id).await.unwrap(),
        ["doc_1", "doc_2"]
    );
    let page = store.list_documents(&ours.id, None, 1).await.unwrap();
    assert_eq!(
        (page.items[0].id.as_str(), page.items[0].page_count),
        ("doc_2", 3)
    );
    let page = store
        .list_documents(&ours.id, page.next.as_ref(), 1)
        .await
        .unwrap();
    assert_eq!((page.items[0].id.as_str(), page.next), ("doc_1", None));
    assert!(!store.delete_document(&theirs.id, "doc_1").await.unwrap());
    assert!(store.delete_document(&ours.id, "doc_1").await.unwrap());
    assert!(!store.delete_document(&ours.id, "doc_1").await.unwrap());
    assert!(
        store
            .document_text(&ours.id, "doc_1")
            .await
            .unwrap()
            .is_none()
    );
    assert!(store.changes().await.unwrap().get(Topic::Knowledge) > after);
}

async fn a_full_workspace_takes_no_more(empty: Empty) {
    let store = &empty.store;
    let (ours, theirs) = (
        workspace(store, "ours").await,
        workspace(store, "theirs").await,
    );
    let ten = "x".repeat(10);
    for (id, content, kept) in [
        ("doc_1", ten.as_str(), true),
        ("doc_2", "12345678901", false),
        ("doc_2", "1", true),
        ("doc_3", "2", true),
        ("doc_4", "3", false),
    ] {
        let document = document(&ours.id, id, content, NOW_MS);
        assert_eq!(
            store.insert_document(&document, MOST).await.unwrap(),
            kept,
            "{id} {content}"
        );
    }
    let elsewhere = document(&theirs.id, "doc_1", &ten, NOW_MS);
    assert!(store.insert_document(&elsewhere, MOST).await.unwrap());
    let full = document(&ours.id, "doc_9", "4", NOW_MS);
    let racing = (0..4).map(|n| DocumentRow {
        id: format!("doc_r{n}"),
        ..full.clone()
    });
    store.delete_document(&ours.id, "doc_3").await.unwrap();
    let racing: Vec<DocumentRow> = racing.collect();
    let won =
        futures_util::future::join_all(racing.iter().map(|row| store.insert_document(row, MOST)));
    let won = won
        .await
        .into_iter()
        .filter(|won| *won.as_ref().unwrap())
        .count();
    assert_eq!(won, 1);
}

async fn session(store: &Store, id: &str) -> SessionRow {
    let ours = match store.first_workspace().await.unwrap() {
        Some(ours) => ours,
        None => workspace(store, "ours").await,
    };
    let session = SessionRow {
        workspace_id: ours.id.into(),
        id: id.into(),
        user_id: "ada".into(),
        prompt: None,
        created_at_ms: NOW_MS,
        last_active_at_ms: NOW_MS,
    };
    store.put_session(&session).await.unwrap();
    session
}

fn claim<'a>(session: &'a SessionRow, turn_id: &'a str, deadline_ms: i64) -> TurnClaim<'a> {
    TurnClaim {
        workspace_id: &session.workspace_id,
        session_id: &session.id,
        turn_id,
        deadline_ms,
    }
}

fn message(session: &SessionRow, id: &str, at_ms: i64) -> SessionMessage {
    SessionMessage {
        workspace_id: session.workspace_id.to_string(),
        session_id: session.id.to_string(),
        seq: 0,
        id: id.to_owned(),
        role: Speaker::User,
        content: "hello".to_owned(),
        details: "{}".to_owned(),
        created_at_ms: at_ms,
    }
}

fn said(message: &SessionMessage) -> NewStep<'_> {
    NewStep {
        message,
        chars: message.content.chars().count(),
        status: None,
        reason: None,
    }
}

async fn one_turn_at_a_time_takes_steps(empty: Empty) {
    let store = &empty.store;
    let session = session(store, "ses_1").await;
    let first = claim(&session, "trn_1", NOW_MS + 100);
    assert!(store.begin_turn(&first, NOW_MS).await.unwrap());
    let second = claim(&session, "trn_2", NOW_MS + 200);
    assert!(!store.begin_turn(&second, NOW_MS + 99).await.unwrap());
    let most = (3, 100);
    let step = message(&session, "msg_1", NOW_MS + 5);
    assert_eq!(
        store.add_message(said(&step), "trn_2", most).await.unwrap(),
        None
    );
    assert_eq!(
        store.add_message(said(&step), "trn_1", most).await.unwrap(),
        Some(1)
    );
    let used = store
        .find_session(&session.workspace_id, "ses_1", NOW_MS)
        .await
        .unwrap();
    assert_eq!(used.unwrap().last_active_at_ms, NOW_MS + 5);
    // The first holder is late: its place is taken, and it takes no further step.
    assert!(store.begin_turn(&second, NOW_MS + 100).await.unwrap());
    assert_eq!(
        store.add_message(said(&step), "trn_1", most).await.unwrap(),
        None
    );
    store.end_turn(&first).await.unwrap();
    let next = message(&session, "msg_2", NOW_MS + 6);
    assert_eq!(
        store.add_message(said(&next), "trn_2", most).await.unwrap(),
        Some(2)
    );
    assert_eq!(
        store
            .add_message(said(&next), "trn_2", (2, 100))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        store
            .add_message(said(&next), "trn_2", (3, 14))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        store
            .add_message(said(&next), "trn_2", (3, 15))
            .await
            .unwrap(),
        Some(3)
    );
    store.end_turn(&second).await.unwrap();
    assert_eq!(
        store
            .add_message(said(&next), "trn_2", (9, 900))
            .await
            .unwrap(),
        None
    );
    let rows = store
        .list_messages(&session.workspace_id, "ses_1", 1, 1)
        .await
        .unwrap();
    assert_eq!(
        (rows.len(), rows[0].seq, rows[0].id.as_str()),
        (1, 2, "msg_2")
    );
}

async fn a_session_goes_with_its_steps(empty: Empty) {
    let store = &empty.store;
    for by_age in [false, true] {
        let session = session(store, "ses_1").await;
        let turn = claim(&session, "trn_1", NOW_MS + 100);
        assert!(store.begin_turn(&turn, NOW_MS).await.unwrap());
        let step = message(&session, "msg_1", NOW_MS);
        assert_eq!(
            store
                .add_message(said(&step), "trn_1", (9, 900))
                .await
                .unwrap(),
            Some(1)
        );
        if by_age {
            store.purge_sessions(i64::MAX / 2).await.unwrap();
        } else {
            assert!(
                store
                    .delete_session(&session.workspace_id, "ses_1", NOW_MS)
                    .await
                    .unwrap()
            );
        }
        let left = store
            .list_messages(&session.workspace_id, "ses_1", 0, 9)
            .await
            .unwrap();
        assert!(left.is_empty());
        assert_eq!(
            store
                .add_message(said(&step), "trn_1", (9, 900))
                .await
                .unwrap(),
            None
        );
    }
}
