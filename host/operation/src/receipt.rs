//! A receipt: what is kept of one execution, as REST answers it.
//!
//! It names who ran what, on which plugin file, and every request that left the process for it. Arguments and results
//! are not part of it.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use toolgate_core::ids::UserId;
use toolgate_egress::RequestRecord;

/// `GET /v1/executions/{id}`: one execution as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExecutionReceipt {
    /// `exe_<ULID>`.
    #[schema(example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub execution_id: String,
    #[serde(default)]
    pub kind: ReceiptKind,
    /// For a receipt of a connection what was done, such as `host:token_refresh`.
    #[schema(example = "github_create_issue")]
    pub tool_name: String,
    #[schema(value_type = String, example = "ada@example.com")]
    pub user_id: UserId,
    /// The API key that asked.
    pub key: ReceiptKey,
    pub status: ExecutionStatus,
    /// Present with the status `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailureReason>,
    /// Milliseconds since the Unix epoch; RFC 3339 in public answers.
    #[serde(rename = "started_at", with = "toolgate_core::clock::as_rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    pub started_at_ms: i64,
    pub duration_ms: u64,
    /// The connection it ran with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// The run of a script whose call this was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBC")]
    pub parent_execution_id: Option<String>,
    pub plugin: PluginVersion,
    /// What left the process, in order.
    pub requests: Vec<RequestRecord>,
    /// What the call was answered, where it failed; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ReceiptFailure>,
}

/// What a failed call was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReceiptFailure {
    #[schema(example = "validation_failed")]
    pub code: String,
    /// In the words of the provider or the plugin, without credentials; at most 2,000 characters.
    #[schema(example = "Validation Failed: title is missing")]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    /// HTTP status of the provider's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_status: Option<u16>,
}

/// Whose requests a receipt is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ReceiptKind {
    /// A call of a tool.
    #[default]
    Tool,
    /// What the gateway itself sent for a connection: the account check, token requests, revocation.
    Connection,
    /// A run of a script. Its calls have receipts of their own.
    Script,
}

/// How a person recognises the key of a receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReceiptKey {
    pub name: String,
    /// First eight characters of the key's random part.
    pub prefix: String,
}

/// The exact plugin file that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginVersion {
    #[schema(example = "github")]
    pub service: String,
    #[schema(example = "1.4.0")]
    pub version: String,
    /// SHA-256 of the component file, hexadecimal.
    pub sha256: String,
}

/// Why a tool that ran has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FailureReason {
    ProviderError,
    ProviderRateLimited,
    /// The provider refused this request; the connection itself was not found to be bad.
    ProviderRefused,
    /// The operator has not set the service up.
    NotConfigured,
    Timeout,
    LimitExceeded,
    PluginCrashed,
    /// The requester did not want the result any more: its request was closed or cancelled. Of tools that read; one that
    /// may write goes on.
    Cancelled,
}

/// The outcome of an execution: the `status` that its answer carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ExecutionStatus {
    Success,
    Error,
    AuthRequired,
    AuthExpired,
    DryRun,
    ApprovalRequired,
    /// Something that may write has left, and the call has not ended.
    Running,
    /// The gateway stopped before the call ended: what left is there, the outcome is unknown.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_reads_back_as_it_was_written() {
        let text = concat!(
            r#"{"execution_id":"exe_1","kind":"tool","tool_name":"github_get_me","user_id":"ada","#,
            r#""key":{"name":"ci","prefix":"a1b2c3d4"},"status":"error","reason":"timeout","#,
            r#""started_at":"2026-02-28T23:59:59.125Z","duration_ms":7,"#,
            r#""plugin":{"service":"github","version":"1.4.0","sha256":"00"},"#,
            r#""requests":[{"method":"GET","host":"api.github.com","path":"/user","bytes_out":0,"#,
            r#""bytes_in":0,"duration_ms":7}]}"#
        );
        let receipt: ExecutionReceipt = serde_json::from_str(text).unwrap();
        assert_eq!(receipt.started_at_ms, 1_772_323_199_125);
        assert_eq!(serde_json::to_string(&receipt).unwrap(), text);
    }

    #[test]
    fn a_status_parses_from_its_own_name_only() {
        for status in ExecutionStatus::VARIANTS {
            let parsed = status.into_str().parse::<ExecutionStatus>();
            assert_eq!(parsed, Ok(*status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.into_str());
        }
        assert!("Success".parse::<ExecutionStatus>().is_err());
    }
}
