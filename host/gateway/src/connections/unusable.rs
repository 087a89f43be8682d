//! What a call answers whose connection cannot be used, where a connect link would not help.

use crate::tools::{FailureReason, Outcome, ToolError};

/// The token could not be renewed for now.
pub(super) fn later(retry_after_ms: i64) -> Outcome {
    Outcome::Error {
        reason: FailureReason::ProviderError,
        error: ToolError {
            code: "credential_not_renewed".to_owned(),
            message: "The provider's authorization server does not answer, so the credential could not be renewed.".to_owned(),
            can_retry: true,
            retry_after_ms: u64::try_from(retry_after_ms).ok(),
            suggested_fix: Some("Wait, then call again.".to_owned()),
            provider_status: None,
            provider_body: None,
        },
    }
}

/// The user connected again while the call ran. Some of its requests may have been sent with the account of
/// before, so it does not advise to call again.
pub(super) fn reconnected() -> Outcome {
    Outcome::Error {
        reason: FailureReason::ProviderError,
        error: ToolError {
            code: "conflict".to_owned(),
            message:
                "The connection was changed while the call ran, so the rest of it was not sent."
                    .to_owned(),
            can_retry: false,
            retry_after_ms: None,
            suggested_fix: Some("Read the current state and decide again.".to_owned()),
            provider_status: None,
            provider_body: None,
        },
    }
}
