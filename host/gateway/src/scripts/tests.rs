//! Runs as their rows: who may do what with them, and what a process may write.

use super::journal::{NewOutcome, ScriptJournal, pause_record, sealed_of_run, steps_of};
use super::limits::{KEPT_MS, LEASE_MS};
use super::pause::PauseRecord;
use super::wire::EngineStep;
use super::*;
use crate::audit::AuditAction;
use crate::executions::{ExecutionStatus, FailureReason, ReceiptKind};
use crate::testing::TestWorld;
use crate::{Caller, Scope};
use toolgate_core::ids;
use toolgate_store::{NewScriptRun, Role, SealedColumn};

const SCOPES: [Scope; 2] = [Scope::ToolsRead, Scope::ToolsExecute];

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

fn request() -> RunScript {
    RunScript {
        script: "export default 1;".to_owned(),
        arguments: Value::Null,
        user_id: None,
        session_id: None,
        dry_run: false,
        listener: CallListener::default(),
    }
}

/// A run of a user that the caller has begun and that this owner works on.
async fn begun(world: &TestWorld, caller: &Caller, user: &str, owner: &str) -> ScriptJournal {
    let now_ms = world.clock.now_ms();
    let run_id = ids::ulid_at("run", now_ms);
    let of = (&*caller.workspace_id, &*run_id);
    let row = NewScriptRun {
        workspace_id: caller.workspace_id.to_string(),
        id: run_id.clone(),
        user_id: user.to_owned(),
        session_id: None,
        actor: caller.actor(),
        execution_id: ids::ulid_at("exe", now_ms),
        script_sha256: "aa".repeat(32),
        engine_sha256: "bb".repeat(32),
        start_sealed: sealed_of_run(world, SealedColumn::ScriptStart, of, "{}").unwrap(),
        dry_run: false,
        created_at_ms: now_ms,
        expires_at_ms: now_ms + KEPT_MS,
        lease_owner: Some(owner.to_owned()),
        lease_until_ms: now_ms + LEASE_MS,
    };
    world.store.insert_script_run(&row).await.unwrap();
    ScriptJournal {
        gateway: world.gateway.clone(),
        workspace_id: caller.workspace_id.clone(),
        run_id,
        owner: owner.to_owned(),
    }
}

fn step() -> EngineStep {
    let step = r#"{"step":0,"kind":"tool","service":"github","function":"createIssue","arguments":{},"line":3}"#;
    serde_json::from_str(step).unwrap()
}

fn outcome(text: &str) -> NewOutcome<'_> {
    NewOutcome {
        step: 0,
        order: 0,
        now_ms: 5,
        is_ok: true,
        text,
        execution_id: Some("exe_1"),
        ended_at_ms: 5,
    }
}

fn waits() -> PauseRecord {
    PauseRecord {
        pause: Some(ScriptPause {
            reason: PauseReason::Connection,
            step: 0,
            line: Some(3),
            tool: "github_create_issue".to_owned(),
            connect_url: None,
            approval_id: None,
            approval_url: None,
            message: "Connect an account.".to_owned(),
        }),
        waited: [(0, 1)].into(),
        ..PauseRecord::default()
    }
}

#[tokio::test]
async fn scripts_are_refused_until_an_administrator_switches_code_mode_on() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let admin = world.caller(&[Scope::Admin]).await;
    let stranger = world.stranger(&[Scope::Admin]).await;
    let refused = world.run_script(&caller, request()).await.unwrap_err();
    assert_eq!(refused.code(), "permission_denied");
    assert!(refused.to_string().contains("administrator"), "{refused}");
    let narrow = world.caller(&[Scope::ToolsRead]).await;
    let refused = world.run_script(&narrow, request()).await.unwrap_err();
    assert_eq!(refused.code(), "scope_denied");

    let refused = world.set_code_mode(&caller, true).await.unwrap_err();
    assert_eq!(refused.code(), "scope_denied");
    let member = world.member_caller(Role::Member).await;
    let refused = world.set_code_mode(&member, true).await.unwrap_err();
    assert_eq!(refused.code(), "role_denied");
    assert!(!world.code_mode(&caller).await.unwrap());

    world.set_code_mode(&admin, true).await.unwrap();
    assert!(world.code_mode(&caller).await.unwrap());
    assert!(!world.code_mode(&stranger).await.unwrap());
    let entries = world
        .store
        .list_audit_entries(&admin.workspace_id, None, 10);
    let entries = entries.await.unwrap().items;
    let action = AuditAction::WorkspaceCodeMode.into_str();
    let told = entries.iter().filter(|one| one.action == action).count();
    assert_eq!(told, 1, "{entries:?}");
}

#[tokio::test]
async fn a_run_is_there_for_those_who_act_for_its_user() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let run = begun(&world, &caller, "ada", "lease_1").await;
    let run_id = run.run_id.as_str();
    let read = world.script_run(&caller, run_id).await.unwrap();
    assert_eq!(read.status, ScriptStatus::Running);
    let bob = caller.confined_to(user("bob"));
    let stranger = world.stranger(&[Scope::Admin]).await;
    for other in [&bob, &stranger] {
        let refused = world.script_run(other, run_id).await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        let refused = world.cancel_script(other, run_id).await.unwrap_err();
        assert_eq!(refused.code(), "not_found");
        let listed = world.script_runs(other, None, None, 10).await.unwrap();
        assert!(listed.items.is_empty(), "{listed:?}");
    }
    let narrow = world.caller(&[Scope::ToolsRead]).await;
    let refused = world.script_run(&narrow, run_id).await.unwrap_err();
    assert_eq!(refused.code(), "scope_denied");
    world.clock.advance_ms(KEPT_MS);
    let expired = world.script_run(&caller, run_id).await.unwrap_err();
    assert_eq!(expired.code(), "not_found");
}

#[tokio::test]
async fn a_run_goes_on_under_the_key_that_began_it_and_for_one_request_at_a_time() {
    let world = TestWorld::open().await;
    let admin = world.caller(&[Scope::Admin]).await;
    world.set_code_mode(&admin, true).await.unwrap();
    let caller = world.caller(&SCOPES).await;
    let run = begun(&world, &caller, "ada", "lease_1").await;
    let other_key = world.caller(&SCOPES).await;
    let refused = world.resume_script(&other_key, &run.run_id).await;
    assert_eq!(refused.unwrap_err().code(), "conflict");
    let bob = caller.confined_to(user("bob"));
    let refused = world.resume_script(&bob, &run.run_id).await.unwrap_err();
    assert_eq!(refused.code(), "not_found");
    let now_ms = world.clock.now_ms();
    let claim = |owner: &'static str, now_ms: i64| {
        world.store.claim_script_run(
            &caller.workspace_id,
            &run.run_id,
            owner,
            now_ms,
            now_ms + LEASE_MS,
        )
    };
    assert!(!claim("lease_2", now_ms).await.unwrap(), "it is held");
    assert!(claim("lease_2", now_ms + LEASE_MS).await.unwrap());
    // The first process writes nothing more.
    let late = step();
    let begun = run.begin(&late, "print", "github_create_issue", now_ms);
    assert!(!begun.await.unwrap());
}

#[tokio::test]
async fn what_a_step_was_answered_is_sealed_and_read_back() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let run = begun(&world, &caller, "ada", "lease_1").await;
    let name = "github_create_issue";
    assert!(run.begin(&step(), "print", name, 1).await.unwrap());
    let text = r#"{"step":0,"now_ms":5,"ok":{"secret":"word"}}"#;
    assert!(run.settle(&outcome(text)).await.unwrap());
    let again = run.settle(&outcome("other")).await.unwrap();
    assert!(!again, "an outcome is written once");
    let rows = world.store.script_steps(&run.run_id).await.unwrap();
    let sealed = rows[0].outcome_sealed.as_deref().unwrap();
    assert!(!sealed.contains("word"), "{sealed}");
    let row = world.find_script_run(&caller, &run.run_id).await.unwrap();
    let steps = steps_of(&world, &row).await.unwrap();
    assert_eq!(steps[0].settled.as_ref().unwrap().outcome, text);
    assert_eq!((steps[0].line, &*steps[0].name), (Some(3), name));
    let shown = world.script_run(&caller, &run.run_id).await.unwrap().calls;
    assert_eq!(shown[0].status, ScriptCallStatus::Ok);
    assert_eq!(shown[0].execution_id.as_deref(), Some("exe_1"));
    assert_eq!(shown[0].duration_ms, Some(4));
}

#[tokio::test]
async fn a_paused_run_says_for_what_it_waits_and_is_cancelled_once() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let run = begun(&world, &caller, "ada", "lease_1").await;
    let paused = run.end(ScriptStatus::Paused, Some(&waits()), None).await;
    assert!(paused.unwrap());
    let row = world.find_script_run(&caller, &run.run_id).await.unwrap();
    assert_eq!(pause_record(&world, &row).unwrap(), waits());
    let read = world.script_run(&caller, &run.run_id).await.unwrap();
    assert_eq!(read.status, ScriptStatus::Paused);
    assert_eq!(read.pause, waits().pause);

    let cancelled = world.cancel_script(&caller, &run.run_id).await.unwrap();
    assert_eq!(cancelled.status, ScriptStatus::Cancelled);
    let again = world.cancel_script(&caller, &run.run_id).await.unwrap_err();
    assert_eq!(again.code(), "conflict");
    let receipt = world.execution(&caller, &cancelled.execution_id).await;
    let receipt = receipt.unwrap();
    assert_eq!(receipt.kind, ReceiptKind::Script);
    assert_eq!(receipt.status, ExecutionStatus::Error);
    assert_eq!(receipt.reason, Some(FailureReason::Cancelled));
    assert_eq!(receipt.plugin.sha256, "aa".repeat(32));
}

#[tokio::test]
async fn runs_are_listed_in_pages_and_an_admin_who_reads_one_is_written_down() {
    let world = TestWorld::open().await;
    let admin = world.caller(&[Scope::Admin]).await;
    let mut ids = Vec::new();
    for name in ["bob", "ada", "bob"] {
        ids.insert(0, begun(&world, &admin, name, "lease_1").await.run_id);
        world.clock.advance_ms(1);
    }
    let mut listed = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = world.script_runs(&admin, None, cursor.as_deref(), 2).await;
        let page = page.unwrap();
        listed.extend(page.items.into_iter().map(|run| run.run_id));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(listed, ids, "the newest first");
    let of_bob = world.script_runs(&admin, Some(user("bob")), None, 10).await;
    assert_eq!(of_bob.unwrap().items.len(), 2);
    for (cursor, limit) in [(Some("run_x"), 2), (None, 0), (None, LIST_LIMIT_MAX + 1)] {
        let refused = world.script_runs(&admin, None, cursor, limit).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_request", "{cursor:?}");
    }

    let entries = async || {
        let all = world
            .store
            .list_audit_entries(&admin.workspace_id, None, 10);
        let action = AuditAction::ScriptsRead.into_str();
        let all = all.await.unwrap().items;
        all.iter().filter(|one| one.action == action).count()
    };
    world.script_run(&admin, &ids[1]).await.unwrap();
    assert_eq!(entries().await, 0, "its own user's");
    world.script_run(&admin, &ids[0]).await.unwrap();
    assert_eq!(entries().await, 1);
}

#[tokio::test]
async fn tools_are_declared_to_those_who_may_use_them() {
    let world = TestWorld::open().await;
    let caller = world.caller(&SCOPES).await;
    let names = ["github_create_issue".to_owned()];
    let text = world.typescript_of(&caller, None, &names).await.unwrap();
    assert!(text.contains("createIssue"), "{text}");
    assert!(!text.contains("jira"), "{text}");
    let unknown = ["github_create_isue".to_owned()];
    let refused = world.typescript_of(&caller, None, &unknown).await;
    assert_eq!(refused.unwrap_err().code(), "tool_not_found");
    let narrow = world.caller(&[Scope::ToolsExecute]).await;
    let refused = world.typescript_of(&narrow, None, &names).await;
    assert_eq!(refused.unwrap_err().code(), "scope_denied");
    let other = user("bob");
    let refused = world.typescript_of(&caller, Some(&other), &names).await;
    assert_eq!(refused.unwrap_err().code(), "scope_denied");
}
