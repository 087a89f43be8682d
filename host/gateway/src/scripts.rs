//! Code mode: a module of JavaScript that an agent sends, each of whose calls is a call of the agent itself.
//!
//! The script runs in the sandbox and reaches nothing. What it asks for is run here, as the operation that the caller
//! could have asked for directly, with the caller's scopes, permissions and limits. Every step is in the journal of its
//! run before its outcome goes back, so that any process goes on with a run that waits for a person or whose process
//! died: it starts the script anew and gives it the same outcomes in the same order. Start reading at [`run`].

mod admin;
mod answer;
mod declarations;
mod ended;
mod engine;
mod finish;
mod journal;
mod lease;
mod limits;
pub mod once;
mod pause;
mod plan;
mod records;
mod replay;
mod report;
mod results;
mod rights;
mod run;
mod start;
mod steps;
#[cfg(test)]
mod tests;
mod wire;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

pub(crate) use engine::Scripts;
pub use limits::{ARGUMENTS_BYTES_MAX, LIST_LIMIT_MAX, SCRIPT_BYTES_MAX};

use crate::tools::CallListener;
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::UserId;

/// `POST /v1/scripts/run` and `svc_run_script`.
#[derive(Clone, Debug)]
pub struct RunScript {
    /// An ES module, at most [`SCRIPT_BYTES_MAX`] bytes.
    pub script: String,
    /// What the script sees as `args`: any JSON value.
    pub arguments: Value,
    pub user_id: Option<UserId>,
    /// Of every call of the run; each call has one of its own if absent.
    pub session_id: Option<String>,
    /// Tools that read run, tools that write are listed.
    pub dry_run: bool,
    /// Hears the progress that the script reports, and may take the run back. A client that only hangs up leaves it
    /// going.
    pub listener: CallListener,
}

/// One run of a script.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct ScriptRun {
    #[schema(example = "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub run_id: String,
    pub status: ScriptStatus,
    /// What the script's default export is, or answers. Absent unless the script came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub result: Option<Value>,
    /// Why the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
    /// What a person has to do before the run can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<ScriptPause>,
    /// Calls that a dry run held back, in the order in which the script asked for them.
    pub plan: Vec<PlannedScriptCall>,
    /// What the script logged.
    pub logs: Vec<ScriptLog>,
    /// What else the author of the script should know, such as calls that were not awaited.
    pub warnings: Vec<String>,
    /// What the script asked for, in its order.
    pub calls: Vec<ScriptCall>,
    /// Of the receipt of the run; those of its calls name it as their parent.
    #[schema(example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub execution_id: String,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[derive(strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ScriptStatus {
    Done,
    Failed,
    /// Waits for a person; it can be resumed.
    Paused,
    /// A dry run has come as far as it can without writing.
    Planned,
    Cancelled,
    /// A process works on it; or that process has stopped, and it can be resumed.
    Running,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ScriptError {
    /// Of the error in JavaScript, such as `TypeError`; `RunError` where the gateway ended the run.
    #[schema(example = "TypeError")]
    pub name: String,
    pub message: String,
    /// Of a call that failed and of a limit, such as `not_found` or `timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// In the script as it was sent, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The step whose failure the script did not catch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
}

/// What a paused run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ScriptPause {
    pub reason: PauseReason,
    /// The call that waits.
    pub step: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[schema(example = "github_create_issue")]
    pub tool: String,
    /// For the user to open: one use, 15 minutes. It is in the answer to the run that paused and nowhere else; resuming
    /// answers a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Where a member approves or denies the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_url: Option<String>,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// The user has to connect an account.
    Connection,
    /// A person has to allow the call.
    Approval,
}

/// A call that a dry run held back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlannedScriptCall {
    pub step: u32,
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[schema(value_type = Object)]
    pub arguments: Value,
}

/// One line that a script logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ScriptLog {
    /// `info`, `warn` or `error`.
    pub level: String,
    pub text: String,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ScriptCall {
    /// From 0, in the order in which the script asked.
    pub step: u32,
    /// The tool's name, or `search`, `describe`, `skill`, `sleep`.
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub status: ScriptCallStatus,
    /// Of its receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// Milliseconds since the Unix epoch, RFC 3339 in public answers; absent where it has not begun.
    #[serde(
        rename = "started_at",
        serialize_with = "as_rfc3339",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub started_at_ms: Option<i64>,
    /// Absent where it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScriptCallStatus {
    Ok,
    Error,
    /// It has begun and has no outcome: it runs, waits for a person, or was held back by a dry run.
    Open,
    /// It was asked for and has not begun.
    NotBegun,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ScriptRunSummary {
    pub run_id: String,
    pub status: ScriptStatus,
    pub user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub execution_id: String,
    /// Of the script's text, hexadecimal.
    pub script_sha256: String,
    /// Steps that have begun.
    pub steps: u32,
    pub dry_run: bool,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// When the run is deleted with its journal.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// `GET /v1/scripts/runs`, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ScriptRunPage {
    pub items: Vec<ScriptRunSummary>,
    /// `null` on the last page.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// A moment that may be absent.
fn as_rfc3339<S: Serializer>(at_ms: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    at_ms.map(rfc3339).serialize(to)
}
