use toolgate_store::{BeginOutcome, BeginRequest, Workspace};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    the_same_request_gets_the_stored_answer,
    of_many_at_once_one_runs,
    a_request_that_died_before_sending_runs_again,
    a_request_that_died_after_sending_is_unknown,
    who_was_overtaken_may_not_send,
    a_refused_request_frees_its_key,
);

fn begin<'a>(workspace: &'a Workspace, execution_id: &'a str, now_ms: i64) -> BeginRequest<'a> {
    BeginRequest {
        workspace_id: &workspace.id,
        key: "k",
        request_hash: "hash",
        execution_id,
        deadline_ms: now_ms + 100,
        expires_at_ms: now_ms + 1_000,
        retry_unknown: false,
        now_ms,
    }
}

async fn the_same_request_gets_the_stored_answer(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let first = begin(&acme, "exe_1", NOW_MS);
    assert_eq!(
        at.store.begin_request(&first).await.unwrap(),
        BeginOutcome::Run
    );
    assert!(
        at.store
            .mark_request_sent(&acme.id, "k", "exe_1")
            .await
            .unwrap()
    );
    assert!(
        !at.store
            .answer_request(&acme.id, "k", "exe_2", "{}")
            .await
            .unwrap(),
        "another's answer"
    );
    assert!(
        at.store
            .answer_request(&acme.id, "k", "exe_1", r#"{"a":1}"#)
            .await
            .unwrap()
    );
    let again = begin(&acme, "exe_2", NOW_MS + 999);
    assert_eq!(
        at.store.begin_request(&again).await.unwrap(),
        BeginOutcome::Answered {
            execution_id: "exe_1".into(),
            answer: r#"{"a":1}"#.into()
        }
    );
    let different = BeginRequest {
        request_hash: "other",
        ..again
    };
    assert_eq!(
        at.store.begin_request(&different).await.unwrap(),
        BeginOutcome::OtherRequest
    );
    let foreign = begin(&other, "exe_3", NOW_MS);
    assert_eq!(
        at.store.begin_request(&foreign).await.unwrap(),
        BeginOutcome::Run,
        "keys are the workspace's own"
    );
    let next_day = begin(&acme, "exe_4", NOW_MS + 1_000);
    assert_eq!(
        at.store.begin_request(&next_day).await.unwrap(),
        BeginOutcome::Run
    );
    assert_eq!(at.store.purge_requests(NOW_MS + 2_000).await.unwrap(), 2);
}

async fn of_many_at_once_one_runs(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let racing: Vec<_> = (0..16)
        .map(|n| {
            let (store, acme) = (at.store.clone(), acme.clone());
            tokio::spawn(async move {
                store
                    .begin_request(&begin(&acme, &format!("exe_{n}"), NOW_MS))
                    .await
                    .unwrap()
            })
        })
        .collect();
    let (mut ran, mut refused) = (0, 0);
    for one in racing {
        match one.await.unwrap() {
            BeginOutcome::Run => ran += 1,
            BeginOutcome::Running { deadline_ms, .. } if deadline_ms == NOW_MS + 100 => {
                refused += 1
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((ran, refused), (1, 15));
}

async fn a_request_that_died_before_sending_runs_again(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    assert_eq!(
        at.store
            .begin_request(&begin(&acme, "exe_1", NOW_MS))
            .await
            .unwrap(),
        BeginOutcome::Run
    );
    let early = at
        .store
        .begin_request(&begin(&acme, "exe_2", NOW_MS + 99))
        .await
        .unwrap();
    assert_eq!(
        early,
        BeginOutcome::Running {
            execution_id: "exe_1".into(),
            deadline_ms: NOW_MS + 100
        }
    );
    assert_eq!(
        at.store
            .begin_request(&begin(&acme, "exe_2", NOW_MS + 100))
            .await
            .unwrap(),
        BeginOutcome::Run
    );
}

async fn a_request_that_died_after_sending_is_unknown(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .begin_request(&begin(&acme, "exe_1", NOW_MS))
        .await
        .unwrap();
    assert!(
        at.store
            .mark_request_sent(&acme.id, "k", "exe_1")
            .await
            .unwrap()
    );
    let repeated = begin(&acme, "exe_2", NOW_MS + 100);
    let unknown = BeginOutcome::Unknown {
        execution_id: "exe_1".into(),
    };
    assert_eq!(at.store.begin_request(&repeated).await.unwrap(), unknown);
    let anyway = BeginRequest {
        retry_unknown: true,
        ..repeated
    };
    assert_eq!(
        at.store.begin_request(&anyway).await.unwrap(),
        BeginOutcome::Run
    );
}

async fn who_was_overtaken_may_not_send(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .begin_request(&begin(&acme, "slow", NOW_MS))
        .await
        .unwrap();
    at.store
        .begin_request(&begin(&acme, "next", NOW_MS + 100))
        .await
        .unwrap();
    assert!(
        !at.store
            .mark_request_sent(&acme.id, "k", "slow")
            .await
            .unwrap()
    );
    assert!(
        !at.store
            .answer_request(&acme.id, "k", "slow", "{}")
            .await
            .unwrap()
    );
    assert!(
        at.store
            .mark_request_sent(&acme.id, "k", "next")
            .await
            .unwrap()
    );
}

async fn a_refused_request_frees_its_key(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .begin_request(&begin(&acme, "exe_1", NOW_MS))
        .await
        .unwrap();
    assert!(
        !at.store
            .forget_request(&acme.id, "k", "exe_2", false)
            .await
            .unwrap()
    );
    assert!(
        at.store
            .forget_request(&acme.id, "k", "exe_1", false)
            .await
            .unwrap()
    );
    assert_eq!(
        at.store
            .begin_request(&begin(&acme, "exe_2", NOW_MS))
            .await
            .unwrap(),
        BeginOutcome::Run
    );
    at.store
        .mark_request_sent(&acme.id, "k", "exe_2")
        .await
        .unwrap();
    assert!(
        !at.store
            .forget_request(&acme.id, "k", "exe_2", false)
            .await
            .unwrap(),
        "what has left is not forgotten"
    );
}
