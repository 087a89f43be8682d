//! Replaying an example: the requests and the result of the plugin are compared with those of the file.

use anyhow::bail;
use serde_json::Value;

use super::example::Example;
use super::server::ReplayServer;
use super::{TestCall, TestPlugin};
use toolgate_runtime::{CallEnd, RefusalKind};

/// Replays one example through a plugin whose requests go to `server`. Returns every difference.
pub async fn replay(
    rig: &TestPlugin,
    server: &ReplayServer,
    example: &Example,
) -> anyhow::Result<Vec<String>> {
    if !rig
        .manifest
        .tools
        .iter()
        .any(|tool| tool.name == example.tool)
    {
        bail!("the plugin has no tool `{}`", example.tool);
    }
    server.load(example.exchanges.clone());
    let test_call = TestCall {
        tool: example.tool.clone(),
        arguments: example
            .arguments
            .clone()
            .unwrap_or_else(|| serde_json::json!({})),
        cursor: example.cursor.clone(),
        parameters: example.parameters.clone(),
        config: example.config.clone(),
        connected: example.connected.clone(),
        replayed: true,
        ..TestCall::default()
    };
    let ended = rig.run(&test_call).await?;
    let mut differences = server.differences();
    judge(example, ended, &mut differences);
    if !differences.is_empty() {
        differences.extend(test_call.log.take().iter().map(ToString::to_string));
    }
    Ok(differences)
}

fn judge(example: &Example, ended: CallEnd, differences: &mut Vec<String>) {
    match (ended, &example.result, &example.error) {
        (CallEnd::Returned(output), Some(expected), _) => {
            let found: Value = serde_json::from_str(output.data.get()).unwrap_or(Value::Null);
            if found != *expected {
                differences.push(format!("the result is {found}, not {expected}"));
            }
            if output.next_cursor != example.next_cursor {
                differences.push(format!(
                    "next_cursor is {:?}, not {:?}",
                    output.next_cursor, example.next_cursor
                ));
            }
        }
        (CallEnd::Refused(refusal), _, Some(expected)) => {
            let found = serde_json::json!({
                "kind": kind(refusal.kind), "code": refusal.code, "message": refusal.message,
                "retry_after_ms": refusal.retry_after_ms, "http_status": refusal.http_status,
                "field": refusal.field, "details": refusal.details,
            });
            for (key, value) in expected {
                if found.get(key) != Some(value) {
                    differences.push(format!(
                        "the error's {key} is {}, not {value}",
                        found.get(key).unwrap_or(&Value::Null)
                    ));
                }
            }
        }
        (ended, ..) => differences.push(format!("the call ended otherwise: {}", shown(&ended))),
    }
}

/// How a call ended, in a line.
pub fn shown(ended: &CallEnd) -> String {
    match ended {
        CallEnd::Returned(output) => format!(
            "returned {}",
            output.data.get().chars().take(300).collect::<String>()
        ),
        CallEnd::Refused(refusal) => {
            format!("refused ({}): {}", kind(refusal.kind), refusal.message)
        }
        CallEnd::TimedOut => "timed out".to_owned(),
        CallEnd::LimitExceeded(what) => format!("limit exceeded: {what}"),
        CallEnd::NoMemory => "this process has no memory left for it".to_owned(),
        CallEnd::Crashed(crash) => {
            let panic = crash.panic.as_ref().map(|panic| format!(": {panic}"));
            let function = crash.function.as_ref().map(|name| format!(", in {name}"));
            format!(
                "crashed: {}{}{}",
                crash.message,
                panic.unwrap_or_default(),
                function.unwrap_or_default()
            )
        }
        CallEnd::Unreadable(what) => what.clone(),
        CallEnd::DryRun => "sent its first request".to_owned(),
    }
}

/// The name in the plugin contract.
pub fn kind(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::InvalidArguments => "invalid-arguments",
        RefusalKind::AuthRequired => "auth-required",
        RefusalKind::AuthExpired => "auth-expired",
        RefusalKind::PermissionDenied => "permission-denied",
        RefusalKind::NotFound => "not-found",
        RefusalKind::Conflict => "conflict",
        RefusalKind::RateLimited => "rate-limited",
        RefusalKind::Upstream => "upstream",
        RefusalKind::Unavailable => "unavailable",
        RefusalKind::TooLarge => "too-large",
        RefusalKind::Cancelled => "cancelled",
        RefusalKind::Internal => "internal",
    }
}
