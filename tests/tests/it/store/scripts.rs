//! Runs of scripts: one process at a time, each step and each outcome once, and nothing after a cancellation.

use toolgate_store::{
    HEAD_CHARS, NewScriptRun, ScriptRunRow, ScriptStepRow, SealedColumn, Workspace,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    a_run_is_held_by_one_process_at_a_time,
    a_step_and_its_outcome_are_written_once_and_by_the_holder,
    a_paused_run_goes_on_and_one_that_is_over_does_not,
    a_cancelled_run_begins_nothing_and_keeps_what_had_begun,
    runs_are_listed_newest_first_without_their_large_texts,
    runs_belong_to_their_workspace,
    expired_runs_go_in_portions_with_their_steps,
    what_a_workspace_keeps_of_its_scripts_is_counted,
    sealed_texts_of_scripts_move_to_another_key,
);

/// How long a process holds a run.
const LEASE_MS: i64 = 60_000;

fn new_run(workspace: &Workspace, id: &str, user_id: &str) -> NewScriptRun {
    NewScriptRun {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        user_id: user_id.into(),
        session_id: Some("tool_1".into()),
        actor: "key:key_1".into(),
        execution_id: "exe_run".into(),
        script_sha256: "aa".into(),
        engine_sha256: "bb".into(),
        start_sealed: "start".into(),
        dry_run: false,
        created_at_ms: NOW_MS,
        expires_at_ms: NOW_MS + 1_000_000,
        lease_owner: Some("one".into()),
        lease_until_ms: NOW_MS + LEASE_MS,
    }
}

async fn insert(at: &Empty, run: &NewScriptRun) {
    at.store.insert_script_run(run).await.unwrap();
}

fn step_row(run_id: &str, step: i64) -> ScriptStepRow {
    ScriptStepRow {
        run_id: run_id.into(),
        step,
        kind: "tool".into(),
        fingerprint: format!("{step:064x}"),
        name: "github_create_issue".into(),
        line: step + 1,
        execution_id: None,
        settled_order: None,
        now_ms: None,
        status: None,
        began_at_ms: NOW_MS + step,
        ended_at_ms: None,
        outcome_sealed: None,
    }
}

async fn begin(at: &Empty, owner: &str, step: i64) -> bool {
    let row = step_row("run_1", step);
    let begun = at.store.begin_script_step("run_1", owner, &row);
    begun.await.unwrap()
}

/// Writes an outcome, whose text is its place.
async fn settle(at: &Empty, owner: &str, step: i64, order: i64) -> bool {
    let outcome = format!("outcome {order}");
    let settled = at.store.settle_script_step(
        "run_1",
        owner,
        step,
        order,
        NOW_MS + 10,
        "ok",
        &outcome,
        Some("exe_1"),
        NOW_MS + 9,
    );
    settled.await.unwrap()
}

async fn claim(at: &Empty, workspace: &Workspace, owner: &str, now_ms: i64) -> bool {
    let until_ms = now_ms + LEASE_MS;
    let claimed = at
        .store
        .claim_script_run(&workspace.id, "run_1", owner, now_ms, until_ms);
    claimed.await.unwrap()
}

async fn end(at: &Empty, owner: &str, state: &str) -> bool {
    let (pause, end) = match state {
        "paused" => (Some("pause"), None),
        _ => (None, Some("end")),
    };
    let ended = at
        .store
        .end_script_run("run_1", owner, state, pause, end, NOW_MS + 20);
    ended.await.unwrap()
}

async fn cancel(at: &Empty, workspace: &Workspace) -> bool {
    let cancelled = at
        .store
        .cancel_script_run(&workspace.id, "run_1", NOW_MS + 30);
    cancelled.await.unwrap()
}

async fn read(at: &Empty, workspace: &Workspace) -> ScriptRunRow {
    let found = at.store.script_run(&workspace.id, "run_1").await.unwrap();
    found.expect("the run is there")
}

async fn a_run_is_held_by_one_process_at_a_time(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    insert(&at, &new_run(&acme, "run_1", "ada")).await;
    let row = read(&at, &acme).await;
    assert_eq!(
        (row.state.as_str(), row.steps, row.lease_owner.as_deref()),
        ("running", 0, Some("one"))
    );
    assert_eq!((row.pause_sealed, row.end_sealed), (None, None));
    let renew = async |owner: &str, until_ms: i64| {
        let renewed = at.store.renew_script_lease("run_1", owner, until_ms);
        renewed.await.unwrap()
    };
    let end_ms = NOW_MS + LEASE_MS;
    assert!(!claim(&at, &acme, "two", end_ms - 1).await);
    assert!(renew("one", end_ms + 5).await);
    assert!(!renew("two", end_ms + 5).await);
    assert!(!claim(&at, &acme, "two", end_ms).await);
    // The first one has died.
    assert!(claim(&at, &acme, "two", end_ms + 5).await);
    assert!(!renew("one", end_ms + 1_000_000).await);
    assert!(!begin(&at, "one", 0).await);
    assert!(!end(&at, "one", "done").await);
    assert!(end(&at, "two", "done").await);
    let row = read(&at, &acme).await;
    assert_eq!((row.lease_owner, row.lease_until_ms), (None, 0));

    // A lease of a clock that was ahead holds nobody up.
    let ahead = NewScriptRun {
        lease_until_ms: NOW_MS + 3_600_001,
        ..new_run(&acme, "run_2", "ada")
    };
    insert(&at, &ahead).await;
    let claimed = async |now_ms: i64| {
        let claimed =
            at.store
                .claim_script_run(&acme.id, "run_2", "two", now_ms, now_ms + LEASE_MS);
        claimed.await.unwrap()
    };
    assert!(!claimed(NOW_MS + 1).await);
    assert!(claimed(NOW_MS).await);
}

async fn a_step_and_its_outcome_are_written_once_and_by_the_holder(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    insert(&at, &new_run(&acme, "run_1", "ada")).await;
    for step in [0, 1, 2] {
        assert!(begin(&at, "one", step).await, "{step}");
    }
    assert!(begin(&at, "one", 1).await, "it has begun already");
    assert!(!begin(&at, "two", 3).await);
    assert_eq!(read(&at, &acme).await.steps, 3);

    assert!(!settle(&at, "two", 2, 0).await);
    assert!(settle(&at, "one", 2, 0).await);
    assert!(!settle(&at, "one", 2, 1).await, "it has an outcome");
    assert!(settle(&at, "one", 0, 1).await);
    assert!(!settle(&at, "one", 7, 2).await, "it has not begun");
    let twice = at.store.settle_script_step(
        "run_1", "one", 1, 0, NOW_MS, "error", "outcome", None, NOW_MS,
    );
    assert!(twice.await.is_err(), "another step has this place");

    let steps = at.store.script_steps("run_1").await.unwrap();
    let settled = |order: i64, step: i64| ScriptStepRow {
        execution_id: Some("exe_1".into()),
        settled_order: Some(order),
        now_ms: Some(NOW_MS + 10),
        status: Some("ok".into()),
        ended_at_ms: Some(NOW_MS + 9),
        outcome_sealed: Some(format!("outcome {order}")),
        ..step_row("run_1", step)
    };
    let whole = [settled(1, 0), step_row("run_1", 1), settled(0, 2)];
    assert_eq!(steps, whole);
    let listed = at.store.script_step_list("run_1").await.unwrap();
    let without = whole.map(|step| ScriptStepRow {
        outcome_sealed: None,
        ..step
    });
    assert_eq!(listed, without);
    assert_eq!(at.store.script_steps("run_2").await.unwrap(), []);
}

async fn a_paused_run_goes_on_and_one_that_is_over_does_not(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    insert(&at, &new_run(&acme, "run_1", "ada")).await;
    assert!(begin(&at, "one", 0).await);
    assert!(end(&at, "one", "paused").await);
    let row = read(&at, &acme).await;
    assert_eq!(
        (row.state.as_str(), row.pause_sealed.as_deref()),
        ("paused", Some("pause"))
    );
    assert!(!begin(&at, "one", 1).await, "the lease was given back");
    assert!(claim(&at, &acme, "two", NOW_MS + 21).await);
    assert_eq!(read(&at, &acme).await.state, "running");
    assert!(settle(&at, "two", 0, 0).await, "what had begun is settled");
    let steps = at.store.script_steps("run_1").await.unwrap();
    assert_eq!(steps[0].outcome_sealed.as_deref(), Some("outcome 0"));
    assert_eq!(read(&at, &acme).await.start_sealed, "start");
    assert!(end(&at, "two", "done").await);
    // What nothing is run again with is gone; how the step ended is not.
    let steps = at.store.script_steps("run_1").await.unwrap();
    assert_eq!(steps[0].outcome_sealed, None);
    assert_eq!(steps[0].status.as_deref(), Some("ok"));
    let row = read(&at, &acme).await;
    assert_eq!(row.start_sealed, "");
    assert_eq!(
        (row.state.as_str(), row.updated_at_ms),
        ("done", NOW_MS + 20)
    );
    assert_eq!(
        (row.pause_sealed, row.end_sealed.as_deref()),
        (None, Some("end"))
    );
    assert!(!claim(&at, &acme, "three", NOW_MS + 1_000_000).await);
    assert!(!cancel(&at, &acme).await);
    assert!(!end(&at, "two", "failed").await, "it has ended once");
}

async fn a_cancelled_run_begins_nothing_and_keeps_what_had_begun(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    insert(&at, &new_run(&acme, "run_1", "ada")).await;
    assert!(begin(&at, "one", 0).await);
    assert!(begin(&at, "one", 1).await);
    assert!(settle(&at, "one", 1, 0).await);
    assert!(cancel(&at, &acme).await);
    assert!(!cancel(&at, &acme).await);
    assert!(!begin(&at, "one", 0).await, "not even what had begun");
    assert!(!begin(&at, "one", 2).await);
    let renewed = at
        .store
        .renew_script_lease("run_1", "one", NOW_MS + 1_000_000);
    assert!(!renewed.await.unwrap());
    assert!(settle(&at, "one", 0, 1).await);
    for step in at.store.script_steps("run_1").await.unwrap() {
        assert_eq!(step.status.as_deref(), Some("ok"), "{step:?}");
        assert_eq!(step.outcome_sealed, None, "{step:?}");
    }
    assert!(!end(&at, "one", "done").await);
    assert!(!claim(&at, &acme, "two", NOW_MS + 2 * LEASE_MS).await);
    let row = read(&at, &acme).await;
    assert_eq!((row.state.as_str(), row.steps), ("cancelled", 2));
    assert_eq!(row.start_sealed, "");

    // One that waits for a person.
    let other = workspace(&at.store, "other").await;
    let paused = NewScriptRun {
        lease_owner: None,
        lease_until_ms: 0,
        ..new_run(&other, "run_2", "ada")
    };
    insert(&at, &paused).await;
    let claimed = at
        .store
        .claim_script_run(&other.id, "run_2", "one", NOW_MS, NOW_MS + LEASE_MS);
    assert!(claimed.await.unwrap());
    let ended = at
        .store
        .end_script_run("run_2", "one", "paused", Some("pause"), None, NOW_MS);
    assert!(ended.await.unwrap());
    let cancelled = at.store.cancel_script_run(&other.id, "run_2", NOW_MS);
    assert!(cancelled.await.unwrap());
    let row = at.store.script_run(&other.id, "run_2").await.unwrap();
    assert_eq!(row.unwrap().pause_sealed, None);
}

async fn runs_are_listed_newest_first_without_their_large_texts(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for (id, user_id) in [
        ("run_1", "ada"),
        ("run_2", "bob"),
        ("run_3", "ada"),
        ("run_4", "ada"),
    ] {
        insert(&at, &new_run(&acme, id, user_id)).await;
    }
    assert!(end(&at, "one", "paused").await);
    let list = async |user_id: Option<&str>, before: Option<&str>, limit: usize| {
        let listed = at.store.list_script_runs(&acme.id, user_id, before, limit);
        listed.await.unwrap()
    };
    let ids =
        |rows: &[ScriptRunRow]| -> Vec<String> { rows.iter().map(|row| row.id.clone()).collect() };
    let all = list(None, None, 10).await;
    assert_eq!(ids(&all), ["run_4", "run_3", "run_2", "run_1"]);
    let whole = read(&at, &acme).await;
    assert_eq!(
        (whole.start_sealed.as_str(), whole.pause_sealed.as_deref()),
        ("start", Some("pause"))
    );
    let shown = ScriptRunRow {
        start_sealed: String::new(),
        pause_sealed: None,
        end_sealed: None,
        ..whole
    };
    assert_eq!(all[3], shown);
    assert_eq!(ids(&list(None, None, 2).await), ["run_4", "run_3"]);
    assert_eq!(ids(&list(None, Some("run_3"), 2).await), ["run_2", "run_1"]);
    let of_ada = list(Some("ada"), Some("run_4"), 10).await;
    assert_eq!(ids(&of_ada), ["run_3", "run_1"]);
    assert!(list(Some("eve"), None, 10).await.is_empty());
}

async fn runs_belong_to_their_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    insert(&at, &new_run(&acme, "run_1", "ada")).await;
    assert!(
        at.store
            .insert_script_run(&new_run(&acme, "run_1", "bob"))
            .await
            .is_err(),
        "an id is used once"
    );
    let found = at.store.script_run(&other.id, "run_1").await.unwrap();
    assert_eq!(found, None);
    let listed = at.store.list_script_runs(&other.id, None, None, 10).await;
    assert_eq!(listed.unwrap(), []);
    assert!(!claim(&at, &other, "two", NOW_MS + 2 * LEASE_MS).await);
    assert!(!cancel(&at, &other).await);
    assert_eq!(read(&at, &acme).await.state, "running");
}

async fn expired_runs_go_in_portions_with_their_steps(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    for (id, expires_at_ms, lease_until_ms) in [
        ("run_1", NOW_MS + 10, 0),
        ("run_2", NOW_MS + 10, 0),
        ("run_3", NOW_MS + 10, 0),
        ("run_4", NOW_MS + 10, NOW_MS + 11),
        ("run_5", NOW_MS + 11, 0),
    ] {
        let run = NewScriptRun {
            expires_at_ms,
            lease_until_ms,
            ..new_run(&acme, id, "ada")
        };
        insert(&at, &run).await;
    }
    assert!(begin(&at, "one", 0).await);
    let delete = async |now_ms: i64| {
        let gone = at.store.delete_expired_script_runs(now_ms, 2);
        gone.await.unwrap()
    };
    assert_eq!(delete(NOW_MS + 9).await, 0);
    assert_eq!(delete(NOW_MS + 10).await, 2);
    assert_eq!(delete(NOW_MS + 10).await, 1);
    let left = at.store.list_script_runs(&acme.id, None, None, 10);
    let left: Vec<String> = left.await.unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(left, ["run_5", "run_4"], "one is held, one is kept");
    assert_eq!(at.store.script_steps("run_1").await.unwrap(), []);
    assert_eq!(delete(NOW_MS + 11).await, 2);
}

async fn what_a_workspace_keeps_of_its_scripts_is_counted(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    insert(&at, &new_run(&acme, "run_1", "ada")).await;
    insert(&at, &new_run(&other, "run_2", "ada")).await;
    let count = async |workspace: &Workspace| {
        let counted = at.store.count_script_bytes(&workspace.id).await.unwrap();
        (counted.rows, counted.bytes)
    };
    assert_eq!(count(&acme).await, (1, 5), "start");
    assert!(begin(&at, "one", 0).await);
    assert_eq!(count(&acme).await, (2, 5));
    assert!(settle(&at, "one", 0, 0).await);
    assert_eq!(count(&acme).await, (2, 14), "and outcome 0");
    assert!(end(&at, "one", "done").await);
    assert_eq!(count(&acme).await, (2, 3), "its end alone");
    assert_eq!(count(&other).await, (1, 5));
}

/// A box whose beginning is of the key with this letter.
fn sealed(key: char, rest: &str) -> String {
    let of_key: String = std::iter::repeat_n(key, HEAD_CHARS - "tg1.".len()).collect();
    format!("tg1.{of_key}{rest}")
}

async fn sealed_texts_of_scripts_move_to_another_key(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let run = NewScriptRun {
        start_sealed: sealed('a', "start"),
        ..new_run(&acme, "run_1", "ada")
    };
    insert(&at, &run).await;
    for step in 0..=10 {
        assert!(begin(&at, "one", step).await);
        let text = sealed('a', &format!("step {step}"));
        let settled = at.store.settle_script_step(
            "run_1", "one", step, step, NOW_MS, "ok", &text, None, NOW_MS,
        );
        assert!(settled.await.unwrap());
    }
    let (pause, end) = (sealed('a', "pause"), sealed('a', "end"));
    let ended = at
        .store
        .end_script_run("run_1", "one", "paused", Some(&pause), Some(&end), NOW_MS);
    assert!(ended.await.unwrap());
    for (column, boxes) in [
        (SealedColumn::ScriptStart, 1),
        (SealedColumn::ScriptPause, 1),
        (SealedColumn::ScriptEnd, 1),
        (SealedColumn::ScriptOutcome, 11),
    ] {
        let (mut last, mut moved) = (None, 0);
        loop {
            let heads = at.store.list_sealed_heads(column, last.as_ref(), 3);
            let heads = heads.await.unwrap();
            for old in &heads {
                assert_eq!(old.head, sealed('a', ""), "{column:?}");
                assert_eq!(old.workspace_id, acme.id);
                let new = sealed('b', "");
                assert!(at.store.reseal_head(column, old, &new).await.unwrap());
                assert!(!at.store.reseal_head(column, old, &new).await.unwrap());
                moved += 1;
            }
            match heads.into_iter().next_back() {
                Some(head) => last = Some(head),
                None => break,
            }
        }
        assert_eq!(moved, boxes, "{column:?}");
    }
    let row = read(&at, &acme).await;
    assert_eq!(row.start_sealed, sealed('b', "start"));
    assert_eq!(row.pause_sealed, Some(sealed('b', "pause")));
    assert_eq!(row.end_sealed, Some(sealed('b', "end")));
    for step in at.store.script_steps("run_1").await.unwrap() {
        let text = sealed('b', &format!("step {}", step.step));
        assert_eq!(step.outcome_sealed, Some(text));
    }
}
