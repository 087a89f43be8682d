//! How a call of `plugin run` failed: everything that is known, for people and as JSON.

use serde::Serialize;
use serde_json::Value;

use toolgate_plugin_test::log::LoggedLine;
use toolgate_plugin_test::replay;
use toolgate_runtime::CallEnd;

/// The document of a call that did not return.
#[derive(Debug, Serialize)]
pub(super) struct FailedRun {
    success: bool,
    error: RunError,
    /// What the plugin wrote into its log.
    log: Vec<LoggedLine>,
}

#[derive(Debug, Default, Serialize)]
struct RunError {
    /// How the call ended: `refused`, `crashed`, `timed_out`, `limit_exceeded`, `unreadable`, `dry_run`.
    code: &'static str,
    message: String,
    /// The contract's `error-kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The provider's or the plugin's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// JSON Pointer into the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    /// What a panic said, with file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    panic: Option<String>,
    /// The function that crashed, where the file has the names of functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
}

impl FailedRun {
    pub(super) fn new(ended: CallEnd, log: Vec<LoggedLine>) -> Self {
        let error = match ended {
            CallEnd::Refused(refusal) => RunError {
                code: "refused",
                message: refusal.message,
                kind: Some(replay::kind(refusal.kind)),
                provider_code: refusal.code,
                http_status: refusal.http_status,
                retry_after_ms: refusal.retry_after_ms,
                field: refusal.field,
                details: refusal.details,
                ..RunError::default()
            },
            CallEnd::Crashed(crash) => RunError {
                code: "crashed",
                message: crash.message,
                panic: crash.panic,
                function: crash.function,
                ..RunError::default()
            },
            other => RunError {
                code: match &other {
                    CallEnd::TimedOut => "timed_out",
                    CallEnd::LimitExceeded(_) => "limit_exceeded",
                    CallEnd::NoMemory => "no_memory",
                    CallEnd::Unreadable(_) => "unreadable",
                    _ => "dry_run",
                },
                message: replay::shown(&other),
                ..RunError::default()
            },
        };
        Self {
            success: false,
            error,
            log,
        }
    }

    pub(super) fn text(&self) -> String {
        let error = &self.error;
        let kind = error.kind.map(|kind| format!(" ({kind})"));
        let mut lines: Vec<String> = self.log.iter().map(ToString::to_string).collect();
        lines.push(format!(
            "{}{}: {}",
            error.code,
            kind.unwrap_or_default(),
            error.message
        ));
        let rows = [
            ("code", error.provider_code.clone()),
            ("http_status", error.http_status.map(|n| n.to_string())),
            (
                "retry_after_ms",
                error.retry_after_ms.map(|n| n.to_string()),
            ),
            ("field", error.field.clone()),
            ("details", error.details.as_ref().map(Value::to_string)),
            ("panic", error.panic.clone()),
            ("function", error.function.clone()),
        ];
        let known = rows
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        lines.extend(known.map(|(name, value)| format!("  {name}: {value}")));
        lines.join("\n")
    }
}
