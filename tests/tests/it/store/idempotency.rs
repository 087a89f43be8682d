use toolgate_store::{BeginOutcome, BeginRequest, ExecutionRow, RequestAnswer, Workspace};

use super::receipts::receipt;
use super::usage::webhook;
use super::{Empty, NOW_MS, on_both, on_postgres, waiting_for_locks, workspace};

on_both!(
    the_same_request_gets_the_stored_answer,
    of_many_at_once_one_runs,
    a_request_that_died_before_sending_runs_again,
    a_request_that_died_after_sending_is_unknown,
    who_was_overtaken_may_not_send,
    a_refused_request_frees_its_key,
    an_answer_is_kept_with_its_receipt_or_not_at_all,
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

fn answer(workspace: &Workspace, execution_id: &str, answer: &str) -> RequestAnswer {
    RequestAnswer {
        workspace_id: (&workspace.id).into(),
        key: "k".to_owned(),
        execution_id: execution_id.to_owned(),
        answer: answer.to_owned(),
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
            .answer_request(&answer(&acme, "exe_2", "{}"))
            .await
            .unwrap(),
        "another's answer"
    );
    assert!(
        at.store
            .answer_request(&answer(&acme, "exe_1", r#"{"a":1}"#))
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
            .answer_request(&answer(&acme, "slow", "{}"))
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

/// SQLite reads and writes under one lock; on PostgreSQL the row can change in between.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_sends_while_it_is_taken_over_keeps_its_key() {
    let at = on_postgres().await;
    let acme = workspace(&at.store, "acme").await;
    let slow = begin(&acme, "slow", NOW_MS);
    at.store.begin_request(&slow).await.unwrap();
    let pool = sqlx::PgPool::connect(&at.url).await.unwrap();
    // Holds whoever takes over once the row was read.
    let hold = "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        IF current_query() LIKE 'UPDATE idempotency SET execution_id%' THEN PERFORM pg_advisory_xact_lock(35); \
        END IF; RETURN NULL; END $$; \
        CREATE TRIGGER held BEFORE UPDATE ON idempotency FOR EACH STATEMENT EXECUTE FUNCTION held()";
    sqlx::raw_sql(hold).execute(&pool).await.unwrap();
    let mut holder = pool.begin().await.unwrap();
    let lock = sqlx::query("SELECT pg_advisory_xact_lock(35)");
    lock.execute(&mut *holder).await.unwrap();
    let next = begin(&acme, "next", NOW_MS + 100);
    let sends = async {
        waiting_for_locks(&pool, 1).await;
        let sent = at.store.mark_request_sent(&acme.id, "k", "slow").await;
        holder.commit().await.unwrap();
        sent.unwrap()
    };
    let (outcome, sent) = tokio::join!(at.store.begin_request(&next), sends);
    assert!(sent);
    let outcome = outcome.unwrap();
    assert!(
        matches!(&outcome, BeginOutcome::Running { execution_id, .. } if execution_id == "slow"),
        "{outcome:?}"
    );
    let unknown = BeginOutcome::Unknown {
        execution_id: "slow".into(),
    };
    assert_eq!(at.store.begin_request(&next).await.unwrap(), unknown);
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

async fn an_answer_is_kept_with_its_receipt_or_not_at_all(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let row = receipt(&acme.id, 1);
    let ended = ExecutionRow {
        status: "error".into(),
        ..row.clone()
    };
    let id = row.id.to_string();
    let kept = answer(&acme, &id, r#"{"a":1}"#);
    let another = answer(&acme, "exe_2", "{}");
    at.store
        .begin_request(&begin(&acme, &id, NOW_MS))
        .await
        .unwrap();
    let again = async || {
        let again = begin(&acme, "exe_3", NOW_MS + 1);
        at.store.begin_request(&again).await.unwrap()
    };
    let record = async |row, answers: &[RequestAnswer]| {
        let rows = std::slice::from_ref(row);
        at.store.record_answered(rows, &[], answers).await
    };
    let running = BeginOutcome::Running {
        execution_id: id.clone(),
        deadline_ms: NOW_MS + 100,
    };
    record(&row, &[another]).await.unwrap();
    assert_eq!(again().await, running, "another's answer");
    let homeless = receipt("ws_none", 2);
    let failed = record(&homeless, std::slice::from_ref(&kept)).await;
    assert!(failed.is_err(), "no workspace");
    assert_eq!(again().await, running, "the receipt failed");
    record(&ended, std::slice::from_ref(&kept)).await.unwrap();
    let answered = BeginOutcome::Answered {
        execution_id: id.clone(),
        answer: r#"{"a":1}"#.into(),
    };
    assert_eq!(again().await, answered);
    let found = at.store.find_execution(&acme.id, &id).await.unwrap();
    assert_eq!(found.unwrap().status, "error");
    record(&ended, &[answer(&acme, &id, "{}")]).await.unwrap();
    assert_eq!(again().await, answered, "the first answer stays");

    // Where somebody has to be told, a transaction writes them.
    let webhook = webhook(&acme.id);
    assert!(at.store.insert_webhook(&webhook, 10).await.unwrap());
    let (row, keyed) = (receipt(&acme.id, 3), begin(&acme, "", NOW_MS));
    let keyed = BeginRequest {
        key: "k2",
        execution_id: &row.id,
        ..keyed
    };
    at.store.begin_request(&keyed).await.unwrap();
    let kept = RequestAnswer {
        key: "k2".to_owned(),
        ..answer(&acme, &row.id, "{}")
    };
    record(&row, &[kept]).await.unwrap();
    let answered = BeginOutcome::Answered {
        execution_id: row.id.to_string(),
        answer: "{}".into(),
    };
    assert_eq!(at.store.begin_request(&keyed).await.unwrap(), answered);
}
