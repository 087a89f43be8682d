use serde_json::json;
use toolgate_core::states::ApprovalStatus;
use toolgate_store::{
    ApprovalRow, AttemptFailed, AuditEntry, DURATION_CLASSES_MS, DeliveryAttempt, Event,
    EventFilters, EventType, ExecutionRow, Lease, Rule, RuleChange, RuleKind, SessionRow, SkillRow,
    UsageVersion, WebhookRow,
};

use super::{Empty, NOW_MS, new_connection, on_both, workspace};

on_both!(
    calls_are_counted_by_time_status_and_duration,
    tools_and_services_are_ranked_by_their_calls,
    users_are_known_by_calls_rules_and_connections,
    the_change_mark_moves_with_every_list,
    the_change_mark_moves_with_webhooks_and_their_deliveries,
);

/// What one call was: its tool, user, status, begin after [`NOW_MS`] and duration.
type ExpectedReceipt = (&'static str, &'static str, &'static str, i64, i64);

const EXPECTED: [ExpectedReceipt; 7] = [
    ("github_get_me", "ada", "success", 0, 1),
    ("github_get_me", "ada", "success", 9, 2),
    ("github_get_me", "bob", "error", 10, 3),
    ("github_create_issue", "bob", "success", 25, 60_000),
    ("github_create_issue", "bob", "auth_required", 25, 60_001),
    ("words_count", "ada", "success", 26, 0),
    ("words_count", "carol", "error", 29, 12),
];

fn receipts(workspace_id: &str, expected: &[ExpectedReceipt]) -> Vec<ExecutionRow> {
    let rows = expected.iter().enumerate();
    rows.map(
        |(n, (tool, user, status, at_ms, duration_ms))| ExecutionRow {
            workspace_id: workspace_id.into(),
            id: super::execution_id(NOW_MS + at_ms, n).into(),
            kind: "tool".into(),
            tool_name: (*tool).into(),
            service: tool.split('_').next().unwrap().into(),
            user_id: (*user).into(),
            key_id: "key_1".into(),
            key_name: "ci".into(),
            key_prefix: "abcdefgh".into(),
            session_id: Some("tool_1".into()),
            connection_id: None,
            parent_execution_id: None,
            status: (*status).into(),
            reason: None,
            started_at_ms: NOW_MS + at_ms,
            duration_ms: *duration_ms,
            plugin_version: "1.0.0".into(),
            plugin_sha256: "aa".into(),
            requests: "[]".into(),
            arguments: None,
            result: None,
            payloads: Vec::new(),
        },
    )
    .collect()
}

async fn usage_report(at: &Empty) -> String {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    for of in [&acme, &other] {
        let rows = receipts(
            &of.id,
            if of.id == acme.id {
                &EXPECTED
            } else {
                &EXPECTED[..1]
            },
        );
        at.store.record_executions(&rows, &[]).await.unwrap();
    }
    acme.id
}

async fn calls_are_counted_by_time_status_and_duration(at: Empty) {
    let acme = usage_report(&at).await;
    let most = i64::try_from(DURATION_CLASSES_MS.len()).unwrap();
    for (user, from_ms, expected) in [
        (
            None,
            NOW_MS,
            vec![
                (0, "success", 0, 1),
                (0, "success", 1, 1),
                (1, "error", 2, 1),
                (2, "auth_required", most, 1),
                (2, "error", 4, 1),
                (2, "success", 0, 1),
                (2, "success", most - 1, 1),
            ],
        ),
        (
            Some("ada"),
            NOW_MS + 1,
            vec![(0, "success", 1, 1), (2, "success", 0, 1)],
        ),
        (Some("nobody"), NOW_MS, Vec::new()),
    ] {
        let rows = at.store.usage(&acme, user, from_ms, 10).await.unwrap();
        let mut rows: Vec<_> = rows
            .iter()
            .map(|row| (row.bucket, row.status.as_str(), row.class, row.calls))
            .collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{user:?} {from_ms}");
    }
}

async fn tools_and_services_are_ranked_by_their_calls(at: Empty) {
    let acme = usage_report(&at).await;
    let tools = at
        .store
        .usage_by_tool(&acme, None, NOW_MS, 2)
        .await
        .unwrap();
    let tools: Vec<_> = tools
        .iter()
        .map(|row| (row.tool_name.as_str(), row.calls, row.errors, row.total_ms))
        .collect();
    assert_eq!(
        tools,
        [
            ("github_get_me", 3, 1, 6),
            ("github_create_issue", 2, 0, 120_001)
        ]
    );
    let services = at.store.usage_by_service(&acme, Some("ada"), NOW_MS + 1);
    let services = services.await.unwrap();
    let services: Vec<_> = services
        .iter()
        .map(|row| (row.service.as_str(), row.tool_name.as_str(), row.calls))
        .collect();
    assert_eq!(services, [("github", "", 1), ("words", "", 1)]);
}

async fn users_are_known_by_calls_rules_and_connections(at: Empty) {
    let acme = usage_report(&at).await;
    let rule = RuleChange {
        kind: RuleKind::Service,
        name: "github",
        rule: Some(Rule::Deny),
        approvers: toolgate_store::Approvers::Admins,
        expires_at_ms: None,
        max_calls: None,
    };
    let rules = [rule];
    for user in ["carol", "dora%"] {
        let changed = at.store.change_rules(&acme, user, &rules, NOW_MS);
        changed.await.unwrap();
    }
    let mut connection = new_connection(&workspace(&at.store, "third").await, "con_1");
    connection.workspace_id.clone_from(&acme);
    at.store.connect(&connection, NOW_MS).await.unwrap();
    let list = async |prefix: &str, limit| {
        let rows = at.store.list_users(&acme, prefix, NOW_MS + 1, limit).await;
        rows.unwrap()
            .into_iter()
            .map(|row| {
                let seen = row.last_seen_at_ms.map(|at_ms| at_ms - NOW_MS);
                (row.user_id, row.connections, row.rules, row.calls, seen)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        list("", 10).await,
        [
            ("ada".to_owned(), 1, 0, 2, Some(26)),
            ("bob".to_owned(), 0, 0, 3, Some(25)),
            ("carol".to_owned(), 0, 1, 1, Some(29)),
            ("dora%".to_owned(), 0, 1, 0, None),
        ]
    );
    assert_eq!(list("", 2).await.len(), 2);
    assert_eq!(list("dora%", 10).await.len(), 1);
    assert!(
        list("%", 10).await.is_empty(),
        "a prefix is taken literally"
    );
}

async fn the_change_mark_moves_with_every_list(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let look = async || at.store.usage_mark(&acme.id).await.unwrap();
    let quiet = look().await;
    let foreign = at.store.usage_mark(&other.id).await.unwrap();
    assert_eq!(quiet, foreign);

    let rows = receipts(&acme.id, &EXPECTED[..1]);
    let session = SessionRow {
        workspace_id: (&acme.id).into(),
        id: "tool_1".into(),
        user_id: "ada".into(),
        prompt: None,
        created_at_ms: NOW_MS,
        last_active_at_ms: NOW_MS,
    };
    at.store.record_executions(&rows, &[session]).await.unwrap();
    let called = look().await;
    assert_ne!(called.executions, quiet.executions);
    assert_ne!(called.sessions, quiet.sessions);
    assert_eq!(
        UsageVersion {
            executions: quiet.executions.clone(),
            sessions: quiet.sessions.clone(),
            ..called.clone()
        },
        quiet
    );

    let approval = ApprovalRow {
        workspace_id: acme.id.clone(),
        id: "apr_1".into(),
        user_id: "ada".into(),
        tool_name: "github_get_me".into(),
        arguments_hash: "0".into(),
        requests: "[]".into(),
        session_id: None,
        state: ApprovalStatus::Pending,
        decided_by: None,
        decided_at_ms: None,
        created_at_ms: NOW_MS,
        expires_at_ms: NOW_MS + 60_000,
        ..ApprovalRow::default()
    };
    at.store
        .open_approval(&approval, "https://gateway.example.com/approvals/one")
        .await
        .unwrap();
    let asked = look().await;
    assert_ne!(asked.approvals, called.approvals);
    let by = "member:ada";
    let decided = at
        .store
        .decide_approval(&acme.id, "apr_1", true, by, NOW_MS + 5);
    assert!(decided.await.unwrap().is_some());
    assert_ne!(look().await.approvals, asked.approvals);

    let skill = SkillRow {
        workspace_id: acme.id.clone(),
        id: "s".into(),
        name: "Triage".into(),
        summary: "Every morning".into(),
        instructions: "1.".into(),
        version: 1,
        created_at_ms: NOW_MS,
        updated_at_ms: NOW_MS,
    };
    at.store.insert_skill(&skill).await.unwrap();
    let written = look().await;
    assert_ne!(written.skills, called.skills);
    let gone = at.store.delete_skill(&acme.id, "s", NOW_MS);
    assert!(gone.await.unwrap());
    assert_ne!(look().await.skills, written.skills);

    let entry = AuditEntry {
        workspace_id: acme.id.clone(),
        id: "aud_1".into(),
        at_ms: NOW_MS,
        actor: "member:ada".into(),
        action: "keys.revoke".into(),
        subject: "key_1".into(),
        details: "{}".into(),
        address: Some("127.0.0.1".into()),
        request_id: Some("req_1".into()),
    };
    at.store.add_audit_entry(&entry).await.unwrap();
    assert_ne!(look().await.audit, written.audit);
    let page = at.store.list_audit_entries(&acme.id, None, 10).await;
    assert_eq!(page.unwrap().items, [entry]);
    assert_eq!(at.store.usage_mark(&other.id).await.unwrap(), foreign);
}

pub(super) fn webhook(workspace_id: &str) -> WebhookRow {
    WebhookRow {
        id: "whk_1".into(),
        workspace_id: workspace_id.into(),
        url: "https://hooks.example.com/".into(),
        description: String::new(),
        events: vec!["*".into()],
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
    }
}

async fn the_change_mark_moves_with_webhooks_and_their_deliveries(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let look = async || at.store.usage_mark(&acme.id).await.unwrap().webhooks;
    let webhook = webhook(&acme.id);
    assert_eq!(look().await, "");
    assert!(at.store.insert_webhook(&webhook, 10).await.unwrap());
    let made = look().await;
    assert_ne!(made, "");
    let event = Event::new(EventType::ToolFailed, &acme.id, NOW_MS, json!({}));
    let (mut seqs, mut seen) = (Vec::new(), vec![made]);
    for _ in 0..2 {
        let written = at.store.deliver_to(&acme.id, "whk_1", &event);
        seqs.push(written.await.unwrap().seq);
        seen.push(look().await);
    }
    let lease = Lease {
        owner: "dispatcher",
        now_ms: NOW_MS,
        until_ms: NOW_MS + 1,
    };
    assert_eq!(
        at.store
            .lease_webhooks(lease, 1, usize::MAX)
            .await
            .unwrap()
            .len(),
        1
    );
    let attempt = DeliveryAttempt {
        at_ms: NOW_MS,
        duration_ms: 1,
        response_status: Some(200),
        error: None,
    };
    for seq in &seqs[..1] {
        let arrived = at.store.delivery_arrived("whk_1", *seq, &attempt, lease);
        assert!(arrived.await.unwrap());
        seen.push(look().await);
    }
    let failed = AttemptFailed {
        again_at_ms: Some(NOW_MS + 60_000),
        rest_until_ms: NOW_MS + 60_000,
        disable: None,
    };
    let noted = at
        .store
        .delivery_failed("whk_1", seqs[1], &attempt, &failed, "dispatcher");
    noted.await.unwrap();
    seen.push(look().await);
    at.store.delete_webhook(&acme.id, "whk_1").await.unwrap();
    seen.push(look().await);
    for (earlier, later) in seen.iter().zip(&seen[1..]) {
        assert_ne!(earlier, later, "{seen:?}");
    }
    assert_eq!(seen.last().map(String::as_str), Some(""));
}
