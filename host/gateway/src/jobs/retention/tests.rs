use super::*;
use crate::testing::TestWorld;
use crate::{Caller, Scope};
use toolgate_core::ids;
use toolgate_core::states::ApprovalStatus;
use toolgate_store::{
    ApprovalRow, AuditEntry, ExecutionFilter, ExecutionRow, Rule, RuleChange, RuleKind,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const FOR_EVER: Retention = Retention {
    receipts_ms: None,
    audit_ms: None,
};

fn receipt(workspace_id: &str, n: usize, at_ms: i64) -> ExecutionRow {
    ExecutionRow {
        workspace_id: workspace_id.into(),
        id: format!("{}{n:05}", ids::ulid_floor("exe", at_ms).split_at(25).0).into(),
        kind: "tool".into(),
        tool_name: "github_get_me".into(),
        service: "github".into(),
        user_id: "ada".into(),
        key_id: "key_1".into(),
        key_name: "ci".into(),
        key_prefix: "abcdefgh".into(),
        session_id: Some("tool_1".into()),
        connection_id: None,
        parent_execution_id: None,
        status: "success".into(),
        reason: None,
        started_at_ms: at_ms,
        duration_ms: 1,
        plugin_version: "1.0.0".into(),
        plugin_sha256: "aa".into(),
        requests: "[]".into(),
        arguments: None,
        result: None,
        payloads: Vec::new(),
    }
}

/// How many approvals, rules, receipts and audit entries there are.
async fn counts(world: &TestWorld, caller: &Caller) -> (usize, usize, usize, usize) {
    let (store, id) = (world.store(), &*caller.workspace_id);
    let approvals = store
        .list_approvals(id, Default::default(), None, 100)
        .await
        .unwrap();
    let rules = store.list_rules(id, "ada").await.unwrap();
    let all = ExecutionFilter::default();
    let receipts = store.list_executions(id, &all, None, 5_000).await.unwrap();
    let audit = store.list_audit_entries(id, None, 100).await.unwrap();
    let (approvals, receipts) = (approvals.items.len(), receipts.items.len());
    (approvals, rules.len(), receipts, audit.items.len())
}

/// In each workspace a used approval, a rule that ends, more receipts than a portion, an entry.
async fn fill(world: &TestWorld, caller: &Caller) {
    let (store, now_ms) = (world.store(), world.clock.now_ms());
    let id = &caller.workspace_id;
    let approval = ApprovalRow {
        workspace_id: id.to_string(),
        id: "apr_1".to_owned(),
        user_id: "ada".to_owned(),
        tool_name: "github_get_me".to_owned(),
        arguments_hash: "0".to_owned(),
        requests: "[]".to_owned(),
        session_id: None,
        state: ApprovalStatus::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: now_ms,
        expires_at_ms: now_ms + DAY_MS,
        ..ApprovalRow::default()
    };
    store
        .open_approval(&approval, "https://gateway.example.com/approvals/one")
        .await
        .unwrap();
    let decided = store.decide_approval(id, "apr_1", false, "member:1", now_ms);
    assert!(decided.await.unwrap().is_some());
    let rule = RuleChange {
        kind: RuleKind::Service,
        name: "github",
        rule: Some(Rule::Deny),
        approvers: toolgate_store::Approvers::Admins,
        expires_at_ms: Some(now_ms + DAY_MS),
        max_calls: None,
    };
    store
        .change_rules(id, "ada", &[rule], now_ms)
        .await
        .unwrap();
    let receipts: Vec<_> = (0..PORTION + 5).map(|n| receipt(id, n, now_ms)).collect();
    store.record_executions(&receipts, &[]).await.unwrap();
    let entry = AuditEntry {
        workspace_id: id.to_string(),
        id: "aud_1".to_owned(),
        at_ms: now_ms,
        actor: "operator".to_owned(),
        action: "keys.revoke".to_owned(),
        subject: "key_1".to_owned(),
        details: "{}".to_owned(),
        address: None,
        request_id: None,
    };
    store.add_audit_entry(&entry).await.unwrap();
}

/// Of the caller's key, and the one that [`fill`] writes.
const ENTRIES: usize = 2;

#[tokio::test]
async fn what_is_over_goes_after_thirty_days_and_the_rest_when_the_operator_says() {
    let world = TestWorld::open().await;
    let ours = world.caller(&[Scope::ToolsRead]).await;
    let theirs = world.stranger(&[Scope::ToolsRead]).await;
    let receipts = PORTION + 5;
    for caller in [&ours, &theirs] {
        fill(&world, caller).await;
    }
    world.clock.advance_ms(31 * DAY_MS);
    prune(&world, FOR_EVER).await.unwrap();
    assert_eq!(counts(&world, &ours).await, (1, 1, receipts, ENTRIES));
    world.clock.advance_ms(1);
    prune(&world, FOR_EVER).await.unwrap();
    for caller in [&ours, &theirs] {
        assert_eq!(counts(&world, caller).await, (0, 0, receipts, ENTRIES));
    }
    world.clock.advance_ms(10_000 * DAY_MS);
    prune(&world, FOR_EVER).await.unwrap();
    assert_eq!(counts(&world, &ours).await, (0, 0, receipts, ENTRIES));
}

#[tokio::test]
async fn receipts_and_audit_entries_are_kept_for_the_days_given() {
    let world = TestWorld::open().await;
    let caller = world.caller(&[Scope::ToolsRead]).await;
    fill(&world, &caller).await;
    let keep = Retention {
        receipts_ms: Some(2 * DAY_MS),
        audit_ms: Some(3 * DAY_MS),
    };
    world.clock.advance_ms(2 * DAY_MS);
    prune(&world, keep).await.unwrap();
    assert_eq!(counts(&world, &caller).await, (1, 1, PORTION + 5, ENTRIES));
    world.clock.advance_ms(1);
    prune(&world, keep).await.unwrap();
    assert_eq!(
        counts(&world, &caller).await,
        (1, 1, 0, ENTRIES),
        "all portions"
    );
    world.clock.advance_ms(DAY_MS);
    prune(&world, keep).await.unwrap();
    assert_eq!(counts(&world, &caller).await, (1, 1, 0, 0));
}
