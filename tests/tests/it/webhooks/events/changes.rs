//! What people and keys change, and calls that ran.

use toolgate_core::states::ApprovalStatus;
use toolgate_store::{ApiKey, ApprovalRow, Rule, RuleChange, RuleKind, SessionRow, SkillChange};

use super::{At, NOW_MS, execution, lease, on_both, skill};

on_both!(
    skills_keys_rules_sessions_and_executions_tell,
    approvals_tell_once_of_each_change,
    nothing_is_written_for_nobody,
);

async fn skills_keys_rules_sessions_and_executions_tell(at: At) {
    at.webhook("all", &["*"]).await;
    let (store, ws) = (&at.store, at.workspace.as_str());
    store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let change = SkillChange {
        summary: Some("better"),
        ..SkillChange::default()
    };
    store.update_skill(ws, "s1", &change, NOW_MS).await.unwrap();
    let stale = SkillChange {
        if_version: Some(9),
        ..change
    };
    store.update_skill(ws, "s1", &stale, NOW_MS).await.unwrap();
    assert!(store.delete_skill(ws, "s1", NOW_MS).await.unwrap());
    assert!(!store.delete_skill(ws, "s1", NOW_MS).await.unwrap());

    let key = ApiKey {
        id: "key_1".to_owned(),
        workspace_id: ws.to_owned(),
        name: "agent".to_owned(),
        prefix: "12345678".to_owned(),
        scopes: vec!["tools:read".to_owned()],
        default_user: "ada".to_owned(),
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        ip_allowlist: Vec::new(),
        created_at_ms: NOW_MS,
        revoked_at_ms: None,
        last_used_at_ms: None,
    };
    store.insert_key(&key, "hash").await.unwrap();
    store.revoke_key(ws, "key_1", NOW_MS).await.unwrap();
    store.revoke_key(ws, "key_1", NOW_MS).await.unwrap();

    let rule = RuleChange {
        kind: RuleKind::Service,
        name: "github",
        rule: Some(Rule::Deny),
        approvers: toolgate_store::Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
    };
    store
        .change_rules(ws, "ada", &[rule], NOW_MS)
        .await
        .unwrap();

    let session = |id: &str| SessionRow {
        workspace_id: ws.into(),
        id: id.into(),
        user_id: "ada".into(),
        prompt: None,
        created_at_ms: NOW_MS,
        last_active_at_ms: NOW_MS,
    };
    store.put_session(&session("ses_1")).await.unwrap();
    store.put_session(&session("ses_1")).await.unwrap();

    let rows = ["success", "error", "auth_required", "dry_run", "running"];
    let rows: Vec<_> = rows
        .iter()
        .map(|status| execution(&at, status, status))
        .collect();
    store
        .record_executions(&rows, &[session("tool_1")])
        .await
        .unwrap();

    let waiting = at.waiting("all").await;
    let types: Vec<&str> = waiting.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        types,
        [
            "skill.created",
            "skill.updated",
            "skill.deleted",
            "api_key.created",
            "api_key.revoked",
            "permission.changed",
            "session.created",
            "session.created",
            "tool.executed",
            "tool.failed",
        ]
    );
    assert_eq!(waiting[1].1["version"], 2);
    assert_eq!(waiting[5].1["rules"][0]["rule"], "deny");
    assert_eq!(waiting[7].1["session_id"], "tool_1");
    assert_eq!(waiting[8].1["execution_id"], "success");
    let whole = format!("{waiting:?}");
    assert!(
        !whole.contains("private") && !whole.contains("hash"),
        "{whole}"
    );
}

async fn approvals_tell_once_of_each_change(at: At) {
    at.webhook("all", &["approval.*"]).await;
    let (store, ws) = (&at.store, at.workspace.as_str());
    let asked = |id: &str, at_ms: i64| ApprovalRow {
        workspace_id: ws.to_owned(),
        id: id.to_owned(),
        user_id: "ada".to_owned(),
        tool_name: "github_get_me".to_owned(),
        arguments_hash: "h".to_owned(),
        requests: "[]".to_owned(),
        session_id: None,
        state: ApprovalStatus::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: at_ms,
        expires_at_ms: at_ms + 10,
        ..ApprovalRow::default()
    };
    store
        .open_approval(
            &asked("a1", NOW_MS),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    store
        .open_approval(
            &asked("a2", NOW_MS),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    let decided = store
        .decide_approval(ws, "a1", true, "key:k", NOW_MS + 1)
        .await;
    assert!(decided.unwrap().is_some());
    let twice = store
        .decide_approval(ws, "a1", false, "key:k", NOW_MS + 1)
        .await;
    assert!(twice.unwrap().is_none());
    store
        .open_approval(
            &asked("a3", NOW_MS + 20),
            "https://gateway.example.com/approvals/one",
        )
        .await
        .unwrap();
    assert_eq!(store.expire_approvals(None, NOW_MS + 30).await.unwrap(), 1);
    let told: Vec<(String, String)> = at
        .waiting("all")
        .await
        .into_iter()
        .map(|(kind, data)| {
            let status = data["status"].as_str().unwrap();
            (
                kind,
                format!("{} {status}", data["approval_id"].as_str().unwrap()),
            )
        })
        .collect();
    let told: Vec<(&str, &str)> = told.iter().map(|(k, d)| (k.as_str(), d.as_str())).collect();
    assert_eq!(
        told,
        [
            ("approval.requested", "a1 pending"),
            ("approval.resolved", "a1 approved"),
            ("approval.resolved", "a1 expired"),
            ("approval.requested", "a3 pending"),
            ("approval.resolved", "a3 expired"),
        ]
    );
}

async fn nothing_is_written_for_nobody(at: At) {
    at.webhook("tools", &["tool.*"]).await;
    at.store.insert_skill(&skill(&at, "s1")).await.unwrap();
    let lease = lease("me", i64::MAX - 10_000);
    assert!(
        at.store
            .lease_webhooks(lease, 10, usize::MAX)
            .await
            .unwrap()
            .is_empty()
    );
    let off = toolgate_store::WebhookChange {
        enabled: Some(false),
        ..Default::default()
    };
    at.store
        .update_webhook(&at.workspace, "tools", &off, NOW_MS)
        .await
        .unwrap()
        .unwrap();
    let rows = [execution(&at, "e1", "success")];
    at.store.record_executions(&rows, &[]).await.unwrap();
    assert!(at.waiting("tools").await.is_empty());
}
