use toolgate_store::{
    Cursor, ExecutionFilter, ExecutionRow, PayloadRow, RECEIPTS_SEARCHED_MAX, SessionRow,
};

use super::{Empty, NOW_MS, execution_id, on_both, workspace};

on_both!(
    a_batch_of_receipts_arrives_with_its_sessions,
    a_batch_with_one_bad_receipt_leaves_nothing,
    receipts_are_listed_newest_first_and_filtered,
    a_filtered_page_searches_a_bounded_number_of_receipts,
    the_calls_of_a_run_are_listed_by_their_parent,
    a_receipt_belongs_to_one_workspace,
    old_receipts_are_pruned_in_steps,
    a_receipt_that_never_ended_is_interrupted_until_its_end_comes_after_all,
);

fn id(n: i64) -> String {
    execution_id(NOW_MS + n / 10, usize::try_from(n).unwrap())
}

pub(super) fn receipt(workspace_id: &str, n: i64) -> ExecutionRow {
    ExecutionRow {
        workspace_id: workspace_id.into(),
        id: id(n).into(),
        kind: "tool".into(),
        tool_name: if n % 2 == 0 {
            "github_get_me"
        } else {
            "github_create_issue"
        }
        .into(),
        service: "github".into(),
        user_id: if n % 3 == 0 { "ada" } else { "bob" }.into(),
        key_id: "key_1".into(),
        key_name: "ci".into(),
        key_prefix: "abcdefgh".into(),
        session_id: Some("tool_1".into()),
        connection_id: None,
        parent_execution_id: None,
        status: "success".into(),
        reason: None,
        started_at_ms: NOW_MS + n / 10,
        duration_ms: 12,
        plugin_version: "1.0.0".into(),
        plugin_sha256: "aa".into(),
        requests: "[]".into(),
        arguments: Some(r#"{"q":"\u0000"}"#.into()),
        result: Some("{}".into()),
        payloads: Vec::new(),
    }
}

async fn a_batch_of_receipts_arrives_with_its_sessions(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let rows: Vec<_> = (0..250).map(|n| receipt(&acme.id, n)).collect();
    let session = SessionRow {
        workspace_id: (&acme.id).into(),
        id: "tool_1".into(),
        user_id: "ada".into(),
        prompt: None,
        created_at_ms: NOW_MS,
        last_active_at_ms: NOW_MS,
    };
    at.store.record_executions(&rows, &[session]).await.unwrap();
    assert_eq!(
        at.store.find_execution(&acme.id, &id(249)).await.unwrap(),
        Some(rows[249].clone())
    );
    assert!(
        at.store
            .find_session(&acme.id, "tool_1", NOW_MS)
            .await
            .unwrap()
            .is_some()
    );

    let mut ended = rows[7].clone();
    ended.status = "error".into();
    ended.reason = Some("timeout".into());
    at.store
        .record_executions(&[ended.clone()], &[])
        .await
        .unwrap();
    assert_eq!(
        at.store.find_execution(&acme.id, &ended.id).await.unwrap(),
        Some(ended)
    );
    at.store.record_executions(&[], &[]).await.unwrap();
}

async fn a_batch_with_one_bad_receipt_leaves_nothing(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let rows = [receipt(&acme.id, 1), receipt("ws_none", 2)];
    assert!(at.store.record_executions(&rows, &[]).await.is_err());
    assert_eq!(
        at.store.find_execution(&acme.id, &id(1)).await.unwrap(),
        None
    );
}

async fn receipts_are_listed_newest_first_and_filtered(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let rows: Vec<_> = (0..60).map(|n| receipt(&acme.id, n)).collect();
    at.store.record_executions(&rows, &[]).await.unwrap();
    for (filter, count) in [
        (ExecutionFilter::default(), 60),
        (
            ExecutionFilter {
                user_id: Some("ada"),
                ..Default::default()
            },
            20,
        ),
        (
            ExecutionFilter {
                tool_name: Some("github_get_me"),
                ..Default::default()
            },
            30,
        ),
        (
            ExecutionFilter {
                user_id: Some("ada"),
                tool_name: Some("github_get_me"),
                status: Some("success"),
                kind: Some("tool"),
                ..Default::default()
            },
            10,
        ),
        (
            ExecutionFilter {
                tool_name_part: Some("create_"),
                ..Default::default()
            },
            30,
        ),
        (
            // Signs that a pattern would take for any text are only themselves.
            ExecutionFilter {
                tool_name_part: Some("get%me"),
                ..Default::default()
            },
            0,
        ),
        (
            ExecutionFilter {
                service: Some("github"),
                key_prefix: Some("abcdefgh"),
                ..Default::default()
            },
            60,
        ),
        (
            ExecutionFilter {
                key_prefix: Some("abcdefg"),
                ..Default::default()
            },
            0,
        ),
        (
            ExecutionFilter {
                reason: Some("timeout"),
                ..Default::default()
            },
            0,
        ),
        (
            // Ten receipts begin in each millisecond.
            ExecutionFilter {
                from_ms: Some(NOW_MS + 1),
                before_ms: Some(NOW_MS + 3),
                ..Default::default()
            },
            20,
        ),
        (
            ExecutionFilter {
                kind: Some("connection"),
                ..Default::default()
            },
            0,
        ),
        (
            ExecutionFilter {
                status: Some("error"),
                ..Default::default()
            },
            0,
        ),
    ] {
        let (mut ids, mut cursor) = (Vec::new(), None);
        loop {
            let page = at
                .store
                .list_executions(&acme.id, &filter, cursor.as_ref(), 7)
                .await
                .unwrap();
            assert!(
                page.items
                    .iter()
                    .all(|row| row.arguments.is_none() && row.result.is_none())
            );
            ids.extend(page.items.into_iter().map(|row| row.id));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(ids.len(), count, "{filter:?}");
        assert!(ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    }
}

async fn a_filtered_page_searches_a_bounded_number_of_receipts(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let all = i64::try_from(RECEIPTS_SEARCHED_MAX).unwrap() + 10;
    let rows: Vec<_> = (0..all)
        .map(|n| ExecutionRow {
            // The oldest is the one that is looked for.
            service: if n == 0 { "slack" } else { "github" }.into(),
            ..receipt(&acme.id, n)
        })
        .collect();
    for rows in rows.chunks(2_000) {
        at.store.record_executions(rows, &[]).await.unwrap();
    }
    let slack = ExecutionFilter {
        service: Some("slack"),
        ..Default::default()
    };
    let list = async |filter: &ExecutionFilter<'_>, after: Option<&Cursor>| {
        let page = at.store.list_executions(&acme.id, filter, after, 5);
        page.await.unwrap()
    };
    let first = list(&slack, None).await;
    assert!(first.items.is_empty(), "{:?}", first.items);
    let next = first.next.unwrap();
    assert_eq!(next.id, id(10), "so many were searched");
    let second = list(&slack, Some(&next)).await;
    let ids: Vec<_> = second.items.iter().map(|row| row.id.as_str()).collect();
    assert_eq!((ids, second.next), (vec![id(0).as_str()], None));
    // The receipts of one user are searched by their index: those of others do not count.
    let of_ada = ExecutionFilter {
        user_id: Some("ada"),
        ..slack.clone()
    };
    let first = list(&of_ada, None).await;
    let found: Vec<_> = first.items.iter().map(|row| row.id.to_string()).collect();
    assert_eq!((found, first.next), (vec![id(0)], None));
    // Nothing is searched beyond the time that is asked for, as far as ids tell it.
    let recent = ExecutionFilter {
        from_ms: Some(NOW_MS + 60_100),
        ..slack.clone()
    };
    assert_eq!(list(&recent, None).await.next, None);
    // A page that is full stops where it is full.
    let any = list(&ExecutionFilter::default(), None).await;
    assert_eq!((any.items.len(), any.next.is_some()), (5, true));
}

async fn the_calls_of_a_run_are_listed_by_their_parent(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    let of_run = |workspace_id: &str, n: i64, parent: &str| ExecutionRow {
        parent_execution_id: Some(parent.into()),
        ..receipt(workspace_id, n)
    };
    let rows = [
        receipt(&acme.id, 0),
        of_run(&acme.id, 1, "exe_run"),
        of_run(&acme.id, 2, "exe_other"),
        of_run(&acme.id, 3, "exe_run"),
        of_run(&acme.id, 4, "exe_run"),
        of_run(&other.id, 5, "exe_run"),
    ];
    // Both ways of writing: PostgreSQL writes receipts without bodies in one statement.
    at.store.record_executions(&rows[..3], &[]).await.unwrap();
    let mut with_body = rows[3].clone();
    with_body.payloads = vec![PayloadRow {
        workspace_id: acme.id.clone(),
        execution_id: rows[3].id.to_string(),
        id: format!("{}/1/request", rows[3].id),
        sealed: "box".into(),
    }];
    at.store
        .record_executions(&[with_body, rows[4].clone(), rows[5].clone()], &[])
        .await
        .unwrap();
    let list = async |filter: &ExecutionFilter<'_>, after: Option<&Cursor>| {
        let page = at.store.list_executions(&acme.id, filter, after, 2);
        page.await.unwrap()
    };
    let run = || ExecutionFilter {
        parent: Some("exe_run"),
        ..Default::default()
    };
    let first = list(&run(), None).await;
    let found: Vec<_> = first.items.iter().map(|row| row.id.to_string()).collect();
    assert_eq!(found, [id(4), id(3)]);
    let rest = list(&run(), first.next.as_ref()).await;
    let found: Vec<_> = rest.items.iter().map(|row| row.id.to_string()).collect();
    assert_eq!((found, rest.next), (vec![id(1)], None));
    let parent = rest.items[0].parent_execution_id.as_deref();
    assert_eq!(parent, Some("exe_run"));
    // With another filter, and for a run that made no call.
    let of_ada = ExecutionFilter {
        user_id: Some("ada"),
        ..run()
    };
    let found = list(&of_ada, None).await.items;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].id, id(3));
    let none = ExecutionFilter {
        parent: Some("exe_none"),
        ..Default::default()
    };
    assert!(list(&none, None).await.items.is_empty());
    // The end of a call does not take it away from its run.
    let ended = ExecutionRow {
        status: "error".into(),
        parent_execution_id: None,
        ..rows[4].clone()
    };
    at.store.record_executions(&[ended], &[]).await.unwrap();
    let found = at.store.find_execution(&acme.id, &id(4)).await.unwrap();
    let found = found.unwrap();
    assert_eq!(found.status, "error");
    assert_eq!(found.parent_execution_id.as_deref(), Some("exe_run"));
}

async fn a_receipt_belongs_to_one_workspace(at: Empty) {
    let (acme, other) = (
        workspace(&at.store, "acme").await,
        workspace(&at.store, "other").await,
    );
    at.store
        .record_executions(&[receipt(&acme.id, 1)], &[])
        .await
        .unwrap();
    assert_eq!(
        at.store.find_execution(&other.id, &id(1)).await.unwrap(),
        None
    );
    let listed = at
        .store
        .list_executions(&other.id, &ExecutionFilter::default(), None, 10)
        .await
        .unwrap();
    assert!(listed.items.is_empty());
    assert_eq!(
        at.store
            .prune_executions(&other.id, i64::MAX, 10)
            .await
            .unwrap(),
        0
    );
}

async fn old_receipts_are_pruned_in_steps(at: Empty) {
    let acme = workspace(&at.store, "acme").await;
    let rows: Vec<_> = (0..60).map(|n| receipt(&acme.id, n)).collect();
    at.store.record_executions(&rows, &[]).await.unwrap();
    let mut pruned = Vec::new();
    for _ in 0..3 {
        pruned.push(
            at.store
                .prune_executions(&acme.id, NOW_MS + 3, 25)
                .await
                .unwrap(),
        );
    }
    assert_eq!(pruned, [25, 5, 0]);
    assert!(
        at.store
            .find_execution(&acme.id, &id(29))
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        at.store
            .find_execution(&acme.id, &id(30))
            .await
            .unwrap()
            .is_some()
    );
}

async fn a_receipt_that_never_ended_is_interrupted_until_its_end_comes_after_all(at: Empty) {
    let ws = workspace(&at.store, "acme").await;
    let mut begun = receipt(&ws.id, 1);
    begun.status = "running".into();
    at.store
        .record_executions(std::slice::from_ref(&begun), &[])
        .await
        .unwrap();
    let before_ms = begun.started_at_ms;
    let status = async || {
        let found = at.store.find_execution(&ws.id, &begun.id).await.unwrap();
        found.unwrap().status.to_string()
    };
    assert_eq!(at.store.interrupt_executions(before_ms).await.unwrap(), 0);
    assert_eq!(status().await, "running");
    assert_eq!(
        at.store.interrupt_executions(before_ms + 1).await.unwrap(),
        1
    );
    assert_eq!(status().await, "interrupted");
    assert_eq!(
        at.store.interrupt_executions(before_ms + 1).await.unwrap(),
        0
    );
    let ended = receipt(&ws.id, 1);
    at.store.record_executions(&[ended], &[]).await.unwrap();
    assert_eq!(status().await, "success");
}
