//! Facts about writes that are held back.

use super::*;
use crate::tools::ToolError;

fn key(workspace: &str, call: u32) -> RepeatKey {
    RepeatKey {
        workspace_id: workspace.into(),
        digest: Sha256::digest(call.to_le_bytes()).into(),
    }
}

fn held(guard: &RepeatGuard, key: &RepeatKey, now_ms: i64) -> Option<String> {
    match guard.check(key, now_ms) {
        Ok(()) => None,
        Err(Error::RepeatedWrite { execution_id }) => Some(execution_id),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_same_write_is_held_back_once_and_within_a_minute() {
    let guard = RepeatGuard::new(true);
    let write = key("acme", 1);
    assert_eq!(held(&guard, &write, 0), None);
    guard.unclear(&write, &"exe_1".into(), 1_000);
    for other in [key("acme", 2), key("other", 1)] {
        assert_eq!(held(&guard, &other, 2_000), None, "{other:?}");
    }
    assert_eq!(held(&guard, &write, 2_000).as_deref(), Some("exe_1"));
    assert_eq!(held(&guard, &write, 3_000), None, "the next one is sent");
    guard.unclear(&write, &"exe_2".into(), 10_000);
    let later = 10_000 + REPEATED_WITHIN_MS;
    assert_eq!(held(&guard, &write, later), None, "a minute later");
    let off = RepeatGuard::new(false);
    off.unclear(&write, &"exe_1".into(), 0);
    assert_eq!(held(&off, &write, 1), None, "where it is off");
}

#[test]
fn a_clear_end_forgets_its_own_execution_alone() {
    let guard = RepeatGuard::new(true);
    let write = key("acme", 1);
    guard.unclear(&write, &"exe_1".into(), 0);
    guard.clear(&write, &"exe_2".into());
    assert_eq!(held(&guard, &write, 1).as_deref(), Some("exe_1"));
    guard.unclear(&write, &"exe_1".into(), 0);
    guard.clear(&write, &"exe_1".into());
    assert_eq!(held(&guard, &write, 1), None);
    assert_eq!(guard.lock().total, 0);
}

#[test]
fn a_requester_that_leaves_does_not_know_the_outcome() {
    let guard = RepeatGuard::new(true);
    let write = key("acme", 1);
    AwaitedRun::begin(&guard, Some(write.clone()), "exe_1".into(), 0).answered();
    assert_eq!(held(&guard, &write, 1), None);
    drop(AwaitedRun::begin(
        &guard,
        Some(write.clone()),
        "exe_1".into(),
        0,
    ));
    assert_eq!(held(&guard, &write, 1).as_deref(), Some("exe_1"));
}

#[test]
fn one_workspace_and_all_have_bounds() {
    let guard = RepeatGuard::new(true);
    let many = u32::try_from(UNCLEAR_PER_WORKSPACE_MAX).unwrap() + 1;
    for call in 0..many {
        guard.unclear(&key("greedy", call), &"exe_1".into(), 0);
    }
    assert_eq!(guard.lock().total, UNCLEAR_PER_WORKSPACE_MAX);
    assert_eq!(
        held(&guard, &key("greedy", 0), 1),
        None,
        "the oldest is forgotten"
    );
    let workspaces = UNCLEAR_MAX / UNCLEAR_PER_WORKSPACE_MAX;
    for workspace in 0..workspaces {
        for call in 0..many {
            guard.unclear(&key(&format!("w{workspace}"), call), &"exe_1".into(), 0);
        }
    }
    assert_eq!(guard.lock().total, UNCLEAR_MAX);
    guard.unclear(&key("late", 1), &"exe_1".into(), REPEATED_WITHIN_MS - 1);
    assert_eq!(
        guard.lock().total,
        UNCLEAR_MAX,
        "nothing is forgotten for it"
    );
    guard.unclear(&key("late", 1), &"exe_1".into(), REPEATED_WITHIN_MS);
    assert_eq!(guard.lock().total, 1, "what is over makes room");
}

fn sent(method: &str, status: Option<u16>) -> RequestRecord {
    serde_json::from_value(json!({
        "method": method, "host": "api.example.com", "path": "/x", "status": status,
        "bytes_out": 0, "bytes_in": 0, "duration_ms": 1,
    }))
    .unwrap()
}

fn failed(reason: FailureReason) -> Outcome {
    Outcome::Error {
        reason,
        error: ToolError {
            code: "x".to_owned(),
            message: "x".to_owned(),
            can_retry: false,
            retry_after_ms: None,
            suggested_fix: None,
            provider_status: None,
            provider_body: None,
        },
    }
}

#[test]
fn an_end_is_unclear_where_a_write_may_have_been_done() {
    use FailureReason::{PluginCrashed, ProviderError, Timeout};
    for (reason, requests, unclear) in [
        (Timeout, vec![sent("POST", None)], true),
        (
            Timeout,
            vec![sent("POST", Some(201)), sent("GET", None)],
            true,
        ),
        (PluginCrashed, vec![sent("DELETE", Some(204))], true),
        (ProviderError, vec![sent("POST", Some(504))], true),
        (ProviderError, vec![sent("PATCH", None)], true),
        (Timeout, vec![sent("GET", None)], false),
        (Timeout, vec![sent("POST", Some(422))], false),
        (Timeout, vec![], false),
        (ProviderError, vec![sent("POST", Some(422))], false),
        (ProviderError, vec![sent("POST", Some(429))], false),
        (ProviderError, vec![sent("POST", Some(503))], false),
    ] {
        let outcome = failed(reason);
        assert_eq!(
            is_unclear(Ok(&outcome), &requests),
            unclear,
            "{reason:?} {requests:?}"
        );
    }
    let lost = Error::Internal(anyhow::anyhow!("the disk is full"));
    assert!(is_unclear(Err(&lost), &[sent("POST", Some(201))]));
    assert!(!is_unclear(Err(&lost), &[sent("GET", Some(200))]));
}
