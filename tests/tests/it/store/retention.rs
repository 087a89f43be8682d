use toolgate_core::states::ApprovalStatus;
use toolgate_store::{
    ApprovalCall, ApprovalRow, AuditEntry, Rule, RuleChange, RuleKind, Workspace,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    approvals_go_in_steps_after_their_end_and_never_while_they_stand,
    rules_that_decide_nothing_go_and_others_stay,
    old_audit_entries_go_in_steps,
);

fn approval(workspace: &Workspace, n: i64) -> ApprovalRow {
    ApprovalRow {
        workspace_id: workspace.id.clone(),
        id: format!("apr_{n}"),
        user_id: "ada".into(),
        tool_name: "github_create_issue".into(),
        arguments_hash: n.to_string(),
        requests: "[]".into(),
        session_id: None,
        state: ApprovalStatus::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: NOW_MS + n,
        expires_at_ms: NOW_MS + n + 1_000,
        ..ApprovalRow::default()
    }
}

async fn approvals_go_in_steps_after_their_end_and_never_while_they_stand(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for n in 0..6 {
        let asked = at
            .store
            .open_approval(
                &approval(&acme, n),
                "https://gateway.example.com/approvals/one",
            )
            .await
            .unwrap();
        assert_eq!(asked.id, format!("apr_{n}"));
    }
    let decide = async |id, approve| {
        let decided = at
            .store
            .decide_approval(&acme.id, id, approve, "member:1", NOW_MS + 9);
        assert!(decided.await.unwrap().is_some());
    };
    decide("apr_0", false).await;
    decide("apr_1", true).await;
    decide("apr_2", true).await;
    let used = at.store.use_approval(
        call(&acme.id, "ada", "github_create_issue", "2"),
        "exe_1",
        NOW_MS + 9,
    );
    assert!(used.await.unwrap().is_some());
    let left = async || {
        let page = at
            .store
            .list_approvals(&acme.id, Default::default(), None, 100)
            .await;
        let mut ids: Vec<_> = page.unwrap().items.into_iter().map(|row| row.id).collect();
        ids.reverse();
        ids.concat().replace("apr_", "")
    };
    let prune = async |workspace: &Workspace, before_ms, limit| {
        let gone = at
            .store
            .prune_approvals(&workspace.id, before_ms, limit)
            .await;
        gone.unwrap()
    };
    let later_ms = NOW_MS + 1_000_000;
    assert_eq!(prune(&acme, NOW_MS + 1_000, 10).await, 0, "none had ended");
    assert_eq!(prune(&other, later_ms, 10).await, 0);
    assert_eq!(prune(&acme, NOW_MS + 1_001, 10).await, 1, "the denied one");
    assert_eq!(prune(&acme, later_ms, 10).await, 1, "the used one");
    assert_eq!(left().await, "1345", "those that stand stay");
    let expired = at.store.expire_approvals(None, later_ms).await;
    assert_eq!(expired.unwrap(), 4);
    assert_eq!(prune(&acme, later_ms, 3).await, 3);
    assert_eq!(left().await, "5");
    assert_eq!(prune(&acme, later_ms, 3).await, 1);
    assert_eq!(prune(&acme, later_ms, 3).await, 0);
}

async fn rules_that_decide_nothing_go_and_others_stay(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let rule = |name, expires_at_ms, max_calls| RuleChange {
        kind: RuleKind::Tool,
        name,
        rule: Some(Rule::Allow),
        approvers: toolgate_store::Approvers::Admins,
        expires_at_ms,
        max_calls,
    };
    let changes = [
        rule("for ever", None, None),
        rule("ended", Some(NOW_MS + 10), None),
        rule("ends later", Some(NOW_MS + 5_000), None),
        rule("used up", None, Some(1)),
        rule("half used", None, Some(2)),
        rule("used up, then ended", Some(NOW_MS + 10), Some(1)),
    ];
    for workspace in [&acme, &other] {
        let changed = at
            .store
            .change_rules(&workspace.id, "ada", &changes, NOW_MS);
        changed.await.unwrap();
    }
    let again = [rule("set again", None, Some(1))];
    let changed = at
        .store
        .change_rules(&acme.id, "ada", &again, NOW_MS + 2_000);
    changed.await.unwrap();
    for rule in at.store.list_rules(&acme.id, "ada").await.unwrap() {
        if rule.max_calls.is_some() {
            assert!(at.store.use_rule(&rule, NOW_MS + 1).await.unwrap());
        }
    }
    let left = async |workspace: &Workspace| {
        let rules = at.store.list_rules(&workspace.id, "ada").await.unwrap();
        rules.into_iter().map(|rule| rule.name).collect::<Vec<_>>()
    };
    let prune = async |before_ms, limit| {
        let gone = at.store.prune_rules(&acme.id, before_ms, limit).await;
        gone.unwrap()
    };
    assert_eq!(prune(NOW_MS, 10).await, 0, "not long enough ago");
    assert_eq!(prune(NOW_MS + 1_000, 2).await, 2);
    assert_eq!(prune(NOW_MS + 1_000, 2).await, 1);
    assert_eq!(prune(NOW_MS + 1_000, 2).await, 0);
    assert_eq!(
        left(&acme).await,
        ["ends later", "for ever", "half used", "set again"]
    );
    assert_eq!(left(&other).await.len(), changes.len());
}

async fn old_audit_entries_go_in_steps(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for (workspace, n) in [(&acme, 0), (&acme, 1), (&acme, 2), (&acme, 3), (&other, 0)] {
        let entry = AuditEntry {
            workspace_id: workspace.id.clone(),
            id: format!("aud_{n}"),
            at_ms: NOW_MS + n,
            actor: "operator".into(),
            action: "keys.revoke".into(),
            subject: "key_1".into(),
            details: "{}".into(),
            address: None,
            request_id: None,
        };
        at.store.add_audit_entry(&entry).await.unwrap();
    }
    let mut gone = Vec::new();
    for _ in 0..3 {
        let portion = at.store.prune_audit_entries(&acme.id, NOW_MS + 3, 2);
        gone.push(portion.await.unwrap());
    }
    assert_eq!(gone, [2, 1, 0]);
    let listed = at.store.list_audit_entries(&acme.id, None, 10).await;
    let ids: Vec<_> = listed
        .unwrap()
        .items
        .into_iter()
        .map(|row| row.id)
        .collect();
    assert_eq!(ids, ["aud_3"]);
    let listed = at.store.list_audit_entries(&other.id, None, 10).await;
    assert_eq!(listed.unwrap().items.len(), 1);
}

fn call<'a>(
    workspace_id: &'a str,
    user_id: &'a str,
    tool_name: &'a str,
    hash: &'a str,
) -> ApprovalCall<'a> {
    ApprovalCall {
        workspace_id,
        user_id,
        tool_name,
        hash,
    }
}
