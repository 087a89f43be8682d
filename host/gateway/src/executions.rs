//! Receipts: what is kept of every execution, and the requests that read them.
//!
//! A receipt names who ran what, on which plugin file, and every request that left the process
//! for it, and where it failed what it was answered. Arguments and results are not part of it. What the gateway itself sends for a connection
//! (account check, tokens, revocation) leaves receipts of the kind `connection`.

pub mod export;
pub(crate) mod journal;
pub mod payloads;
pub(crate) mod receipt_log;
pub(crate) mod receipts;
mod sealed;
pub(crate) mod writer;

use serde::Serialize;

use toolgate_core::ids::UserId;
pub use toolgate_operation::receipt::{
    ExecutionReceipt, ExecutionStatus, FailureReason, PluginVersion, ReceiptFailure, ReceiptKey,
    ReceiptKind,
};
use toolgate_runtime::limits::CALL_TIMEOUT;

/// A call that began so long ago has ended, or its process has: the longest call, and what comes
/// before and after it.
pub(crate) const LONGEST_MS: i64 = CALL_TIMEOUT.as_millis() as i64 + 15_000;

/// Longest message of a receipt.
pub(crate) const FAILURE_CHARS_MAX: usize = 2_000;

/// `GET /v1/executions`, newest first. Every filter that is present must hold.
#[derive(Clone, Debug)]
pub struct ListExecutions {
    pub kind: ReceiptKind,
    pub user_id: Option<UserId>,
    pub tool_name: Option<String>,
    /// A part of the tool's name, in any case.
    pub tool_name_part: Option<String>,
    pub service: Option<String>,
    pub key_prefix: Option<String>,
    pub status: Option<ExecutionStatus>,
    pub reason: Option<FailureReason>,
    /// Calls of this run of a script.
    pub parent: Option<String>,
    /// Began at this moment or later, and before that one.
    pub from_ms: Option<i64>,
    pub before_ms: Option<i64>,
    /// 1 to 100.
    pub limit: usize,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ExecutionPage {
    pub executions: Vec<ExecutionReceipt>,
    /// `null` on the last page. A filtered page may be short, or empty, before the last.
    pub next_cursor: Option<String>,
}
