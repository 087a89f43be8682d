use toolgate_core::states::ApprovalStatus;
use toolgate_store::{
    ApprovalCall, ApprovalFilter, ApprovalRow, Rule, RuleChange, RuleKind, Topic, Workspace,
};

use super::{Empty, NOW_MS, on_both, workspace};

on_both!(
    rules_are_set_changed_and_removed_together,
    a_rule_with_a_number_of_calls_is_used_up,
    rules_belong_to_one_workspace,
    the_same_call_asks_once,
    an_approved_call_runs_once,
    a_denied_or_expired_call_does_not_run,
    an_approval_belongs_to_one_workspace,
);

fn tool(name: &str, rule: Option<Rule>) -> RuleChange<'_> {
    RuleChange {
        kind: RuleKind::Tool,
        name,
        rule,
        approvers: toolgate_store::Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
    }
}

async fn rules_are_set_changed_and_removed_together(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let before = at.store.changes().await.unwrap().get(Topic::Permissions);
    let service = RuleChange {
        kind: RuleKind::Service,
        ..tool("github", Some(Rule::Deny))
    };
    let first = [
        service,
        tool("github_get_me", Some(Rule::Allow)),
        tool("x", Some(Rule::Ask)),
    ];
    at.store
        .change_rules(&acme.id, "ada", &first, NOW_MS)
        .await
        .unwrap();
    assert!(at.store.changes().await.unwrap().get(Topic::Permissions) > before);
    let second = [
        tool("github_get_me", Some(Rule::Ask)),
        tool("x", None),
        tool("never set", None),
    ];
    at.store
        .change_rules(&acme.id, "ada", &second, NOW_MS)
        .await
        .unwrap();
    let rules = at.store.list_rules(&acme.id, "ada").await.unwrap();
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| (rule.kind, rule.name.as_str(), rule.rule))
        .collect();
    assert_eq!(
        rules,
        [
            (RuleKind::Service, "github", Rule::Deny),
            (RuleKind::Tool, "github_get_me", Rule::Ask)
        ]
    );
    let all_or_nothing = [tool("a", Some(Rule::Deny)), tool("b", Some(Rule::Deny))];
    assert!(
        at.store
            .change_rules("ws_none", "ada", &all_or_nothing, NOW_MS)
            .await
            .is_err()
    );
    assert!(
        at.store
            .list_rules("ws_none", "ada")
            .await
            .unwrap()
            .is_empty()
    );
}

async fn a_rule_with_a_number_of_calls_is_used_up(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let allowed_twice = RuleChange {
        expires_at_ms: Some(NOW_MS + 10),
        max_calls: Some(2),
        ..tool("t", Some(Rule::Allow))
    };
    at.store
        .change_rules(
            &acme.id,
            "ada",
            std::slice::from_ref(&allowed_twice),
            NOW_MS,
        )
        .await
        .unwrap();
    let rule = at
        .store
        .list_rules(&acme.id, "ada")
        .await
        .unwrap()
        .remove(0);
    assert!(
        !at.store.use_rule(&rule, NOW_MS + 10).await.unwrap(),
        "expired"
    );
    let racing: Vec<_> = (0..8)
        .map(|_| {
            let (store, rule) = (at.store.clone(), rule.clone());
            tokio::spawn(async move { store.use_rule(&rule, NOW_MS).await.unwrap() })
        })
        .collect();
    let mut used = 0;
    for one in racing {
        used += usize::from(one.await.unwrap());
    }
    assert_eq!(used, 2);
    at.store
        .change_rules(&acme.id, "ada", &[allowed_twice], NOW_MS)
        .await
        .unwrap();
    assert!(
        at.store.use_rule(&rule, NOW_MS).await.unwrap(),
        "set anew, counted anew"
    );
}

async fn rules_belong_to_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .change_rules(&acme.id, "ada", &[tool("t", Some(Rule::Deny))], NOW_MS)
        .await
        .unwrap();
    at.store
        .change_rules(&other.id, "ada", &[tool("t", None)], NOW_MS)
        .await
        .unwrap();
    assert!(
        at.store
            .list_rules(&other.id, "ada")
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        at.store
            .list_rules(&acme.id, "bob")
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(at.store.list_rules(&acme.id, "ada").await.unwrap().len(), 1);
}

fn asked(workspace: &Workspace, id: &str, at_ms: i64) -> ApprovalRow {
    ApprovalRow {
        workspace_id: workspace.id.clone(),
        id: id.into(),
        user_id: "ada".into(),
        tool_name: "github_create_issue".into(),
        arguments_hash: "hash".into(),
        requests: "[]".into(),
        session_id: None,
        state: ApprovalStatus::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: NOW_MS + at_ms,
        expires_at_ms: NOW_MS + at_ms + 1_000,
        ..ApprovalRow::default()
    }
}

async fn the_same_call_asks_once(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let first = asked(&acme, "apr_1", 0);
    assert_eq!(
        at.store
            .open_approval(&first, "https://gateway.example.com/approvals/one")
            .await
            .unwrap(),
        first
    );
    assert_eq!(
        at.store
            .open_approval(
                &asked(&acme, "apr_2", 999),
                "https://gateway.example.com/approvals/one"
            )
            .await
            .unwrap(),
        first,
        "still open"
    );
    let third = at
        .store
        .open_approval(
            &asked(&acme, "apr_3", 1_000),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    assert_eq!(third.id, "apr_3", "the first has expired");
    let old = at
        .store
        .find_approval(&acme.id, "apr_1")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(old.state, ApprovalStatus::Expired);
    let pending_only = ApprovalFilter {
        state: Some(ApprovalStatus::Pending),
        ..ApprovalFilter::default()
    };
    let pending = at
        .store
        .list_approvals(&acme.id, pending_only, None, 10)
        .await
        .unwrap();
    assert_eq!(pending.items, [third]);
    let page = at
        .store
        .list_approvals(&acme.id, Default::default(), None, 1)
        .await
        .unwrap();
    let rest = at
        .store
        .list_approvals(&acme.id, Default::default(), page.next.as_ref(), 1)
        .await
        .unwrap();
    assert_eq!((rest.items[0].id.as_str(), rest.next), ("apr_1", None));
}

async fn an_approved_call_runs_once(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .open_approval(
            &asked(&acme, "apr_1", 0),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    let run = async |user_id, hash, now_ms| {
        at.store
            .use_approval(
                call(&acme.id, user_id, "github_create_issue", hash),
                "exe_1",
                now_ms,
            )
            .await
            .unwrap()
            .is_some()
    };
    assert!(!run("ada", "hash", NOW_MS).await, "not decided yet");
    let decided = at
        .store
        .decide_approval(&acme.id, "apr_1", true, "member:1", NOW_MS + 1)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (decided.state, decided.decided_by.as_deref()),
        (ApprovalStatus::Approved, Some("member:1"))
    );
    let again = at
        .store
        .decide_approval(&acme.id, "apr_1", false, "member:2", NOW_MS + 1)
        .await
        .unwrap();
    assert!(again.is_none(), "decided once");
    assert!(!run("bob", "hash", NOW_MS).await);
    assert!(!run("ada", "other arguments", NOW_MS).await);
    assert!(!run("ada", "hash", NOW_MS + 1_000).await, "expired");
    assert!(run("ada", "hash", NOW_MS + 999).await);
    assert!(!run("ada", "hash", NOW_MS + 999).await);
    assert_eq!(
        at.store
            .open_approval(
                &asked(&acme, "apr_2", 1),
                "https://gateway.example.com/approvals/one"
            )
            .await
            .unwrap()
            .id,
        "apr_2",
        "the next call asks"
    );
}

async fn a_denied_or_expired_call_does_not_run(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    at.store
        .open_approval(
            &asked(&acme, "apr_1", 0),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    let late = at
        .store
        .decide_approval(&acme.id, "apr_1", true, "m", NOW_MS + 1_000)
        .await
        .unwrap();
    assert!(late.is_none());
    assert!(
        at.store
            .decide_approval(&acme.id, "apr_1", false, "m", NOW_MS)
            .await
            .unwrap()
            .is_some()
    );
    let ran = at
        .store
        .use_approval(
            call(&acme.id, "ada", "github_create_issue", "hash"),
            "exe_1",
            NOW_MS,
        )
        .await
        .unwrap();
    assert!(ran.is_none());
}

async fn an_approval_belongs_to_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .open_approval(
            &asked(&acme, "apr_1", 0),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    assert!(
        at.store
            .find_approval(&other.id, "apr_1")
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .decide_approval(&other.id, "apr_1", true, "m", NOW_MS)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .list_approvals(&other.id, Default::default(), None, 10)
            .await
            .unwrap()
            .items
            .is_empty()
    );
    at.store
        .decide_approval(&acme.id, "apr_1", true, "m", NOW_MS)
        .await
        .unwrap()
        .unwrap();
    let ran = at
        .store
        .use_approval(
            call(&other.id, "ada", "github_create_issue", "hash"),
            "exe_1",
            NOW_MS,
        )
        .await
        .unwrap();
    assert!(ran.is_none());
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
