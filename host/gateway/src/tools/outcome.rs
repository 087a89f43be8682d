//! The outcome of a run, in the words of the public contract.

use base64::Engine as _;
use serde_json::value::RawValue;

use crate::executions::ExecutionStatus;
use crate::tools::files::StoredFile;
use crate::tools::{FailureReason, Outcome, ResultFile, ToolError};
use toolgate_egress::{self as egress, RequestRecord};
use toolgate_runtime::{Blob, CallEnd, CallOutput, PluginError, RefusalKind, limits};

/// A result with the contents of its files in base64; a file that does not fit has its handle alone.
const RESULT_FILES_BYTES_MAX: usize = limits::RESULT_BYTES_MAX;

/// `kept`: the files of the result that have a handle, in its order.
pub(crate) fn outcome(
    scope: &egress::CallScope,
    ended: CallEnd,
    kept: Vec<Option<StoredFile>>,
) -> Outcome {
    match ended {
        CallEnd::Returned(output) => success(output, kept),
        CallEnd::Refused(refusal) => provider_error(refusal),
        CallEnd::DryRun => Outcome::DryRun {
            requests: scope.planned(),
        },
        CallEnd::TimedOut => failed(
            FailureReason::Timeout,
            "timeout",
            "the call took too long and was stopped",
            true,
        ),
        CallEnd::LimitExceeded(message) => failed(
            FailureReason::LimitExceeded,
            "limit_exceeded",
            &message,
            false,
        ),
        CallEnd::NoMemory => failed(
            FailureReason::LimitExceeded,
            "limit_exceeded",
            "the gateway had no memory left for the call",
            true,
        ),
        CallEnd::Unreadable(message) => failed(
            FailureReason::ProviderError,
            "unreadable_result",
            &message,
            false,
        ),
        CallEnd::Crashed(crash) => failed(
            FailureReason::PluginCrashed,
            "plugin_crashed",
            &crash.message,
            false,
        ),
    }
}

fn success(output: CallOutput, kept: Vec<Option<StoredFile>>) -> Outcome {
    let mut room = RESULT_FILES_BYTES_MAX.saturating_sub(output.data.get().len());
    let mut kept = kept.into_iter();
    let mut files = Vec::with_capacity(output.files.len());
    for file in output.files {
        let kept = kept.next().flatten();
        let bytes = answer_bytes(&file);
        let fits = bytes <= room;
        // Without a handle and without its content, the file would be lost.
        if !fits && kept.is_none() {
            let message = format!(
                "the files of the result are larger than {} MiB, and the workspace has no room to keep them",
                RESULT_FILES_BYTES_MAX >> 20
            );
            return failed(
                FailureReason::LimitExceeded,
                "limit_exceeded",
                &message,
                false,
            );
        }
        room -= if fits { bytes } else { 0 };
        files.push(result_file(file, kept, fits));
    }
    let data: Box<RawValue> = output.data;
    Outcome::Success {
        result: data.into(),
        truncated: None,
        files,
        summary: output.summary,
        next_cursor: output.next_cursor,
    }
}

/// Bytes of the answer that a file takes with its content.
fn answer_bytes(file: &Blob) -> usize {
    let name = file.name.as_ref().map_or(0, String::len);
    file.data.len() / 3 * 4 + 4 + file.media_type.len() + name
}

fn result_file(file: Blob, kept: Option<StoredFile>, with_content: bool) -> ResultFile {
    let encoded = || base64::engine::general_purpose::STANDARD.encode(&file.data);
    let (file_id, sha256, expires_at) = match kept {
        Some(kept) => (Some(kept.file_id), Some(kept.sha256), Some(kept.expires_at)),
        None => (None, None, None),
    };
    ResultFile {
        file_id,
        size_bytes: file.data.len() as u64,
        sha256,
        expires_at,
        content: with_content.then(encoded),
        media_type: file.media_type,
        name: file.name,
    }
}

pub(crate) fn provider_error(refusal: PluginError) -> Outcome {
    let reason = match refusal.kind {
        RefusalKind::RateLimited => FailureReason::ProviderRateLimited,
        RefusalKind::Cancelled => FailureReason::Cancelled,
        _ => FailureReason::ProviderError,
    };
    let can_retry = matches!(
        refusal.kind,
        RefusalKind::RateLimited | RefusalKind::Unavailable
    );
    let suggested_fix = match refusal.kind {
        RefusalKind::InvalidArguments => Some(match &refusal.field {
            Some(field) => format!("Correct the argument at {field} and call again."),
            None => "Correct the arguments and call again.".to_owned(),
        }),
        RefusalKind::NotFound => Some("Check the ids in the arguments; list or search for the right one first.".to_owned()),
        RefusalKind::PermissionDenied => {
            Some("The connected account lacks this right; ask the user to grant it or to connect another account.".to_owned())
        }
        RefusalKind::Conflict => Some("Read the current state and decide again.".to_owned()),
        RefusalKind::RateLimited | RefusalKind::Unavailable => Some("Wait, then call again.".to_owned()),
        RefusalKind::TooLarge => Some("Ask for less: a smaller page or fewer fields.".to_owned()),
        _ => None,
    };
    Outcome::Error {
        reason,
        error: ToolError {
            code: refusal
                .code
                .unwrap_or_else(|| kind_text(refusal.kind).to_owned()),
            message: refusal.message,
            can_retry,
            retry_after_ms: refusal.retry_after_ms,
            suggested_fix,
            provider_status: refusal.http_status,
            provider_body: refusal.details,
        },
    }
}

fn failed(reason: FailureReason, code: &str, message: &str, can_retry: bool) -> Outcome {
    Outcome::Error {
        reason,
        error: ToolError {
            code: code.to_owned(),
            message: message.to_owned(),
            can_retry,
            retry_after_ms: None,
            suggested_fix: None,
            provider_status: None,
            provider_body: None,
        },
    }
}

/// Takes back the advice to repeat a write that the provider may have done: one that was sent and that nobody answered
/// clearly, or that was done and whose answer the plugin lost. A refusal before the work (429, 503) stays worth another try.
pub(crate) fn unclear_write(outcome: &mut Outcome, sent: &[RequestRecord]) {
    let Outcome::Error { reason, error } = outcome else {
        return;
    };
    let is_lost = error.can_retry
        && matches!(
            reason,
            FailureReason::Timeout | FailureReason::LimitExceeded
        );
    let unclear = |request: &RequestRecord| {
        matches!(request.method.as_str(), "POST" | "PATCH")
            && (matches!(request.status, None | Some(500 | 502 | 504))
                || (is_lost && matches!(request.status, Some(200..=399))))
    };
    if sent.iter().any(unclear) {
        error.can_retry = false;
        error.retry_after_ms = None;
        error.suggested_fix = Some(
            "The provider may have done it all the same: look first, and repeat only what is not there."
                .to_owned(),
        );
    }
}

pub(crate) fn status_of(outcome: &Outcome) -> (ExecutionStatus, Option<FailureReason>) {
    match outcome {
        Outcome::Success { .. } => (ExecutionStatus::Success, None),
        Outcome::Error { reason, .. } => (ExecutionStatus::Error, Some(*reason)),
        Outcome::AuthRequired(_) => (ExecutionStatus::AuthRequired, None),
        Outcome::AuthExpired(_) => (ExecutionStatus::AuthExpired, None),
        Outcome::DryRun { .. } => (ExecutionStatus::DryRun, None),
        Outcome::ApprovalRequired(_) => (ExecutionStatus::ApprovalRequired, None),
    }
}

fn kind_text(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::InvalidArguments => "invalid_arguments",
        RefusalKind::AuthRequired => "auth_required",
        RefusalKind::AuthExpired => "auth_expired",
        RefusalKind::PermissionDenied => "permission_denied",
        RefusalKind::NotFound => "not_found",
        RefusalKind::Conflict => "conflict",
        RefusalKind::RateLimited => "rate_limited",
        RefusalKind::Upstream => "upstream",
        RefusalKind::Unavailable => "unavailable",
        RefusalKind::TooLarge => "too_large",
        RefusalKind::Cancelled => "cancelled",
        RefusalKind::Internal => "internal",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(method: &str, status: u16) -> RequestRecord {
        serde_json::from_value(json!({
            "method": method, "host": "api.example.com", "path": "/x", "status": status,
            "bytes_out": 0, "bytes_in": 0, "duration_ms": 1,
        }))
        .unwrap()
    }

    #[test]
    fn a_write_that_was_done_is_not_advised_again_where_its_answer_was_lost() {
        for (reason, request, again) in [
            (FailureReason::LimitExceeded, sent("POST", 201), false),
            (FailureReason::Timeout, sent("PATCH", 200), false),
            (FailureReason::LimitExceeded, sent("GET", 200), true),
            (FailureReason::LimitExceeded, sent("POST", 422), true),
            (FailureReason::ProviderRateLimited, sent("POST", 429), true),
        ] {
            let mut outcome = failed(reason, "x", "x", true);
            unclear_write(&mut outcome, std::slice::from_ref(&request));
            let Outcome::Error { error, .. } = outcome else {
                panic!("it stays an error");
            };
            assert_eq!(error.can_retry, again, "{reason:?} {request:?}");
        }
    }
}
