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

/// The operator has not named the address of a server of their own.
pub(super) fn not_configured(title: &str, service: &str, key: &str) -> Outcome {
    Outcome::Error {
        reason: FailureReason::NotConfigured,
        error: ToolError {
            code: "not_configured".to_owned(),
            message: format!("{title} is not set up on this gateway: {key} is not set."),
            can_retry: false,
            retry_after_ms: None,
            suggested_fix: Some(format!(
                "Ask the operator to run `toolgate service configure {service} --set {key}=...`, or to set it at the integration."
            )),
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
