//! The tool operations' requests and results, shared by both public edges.
//!
//! The operations themselves are in [`crate::tools::find`] (list, search, schema) and
//! [`crate::tools::execute`].

pub mod embeddings;
pub(crate) mod execute;
pub mod files;
pub(crate) mod find;
pub mod idempotency;
mod kept;
pub mod kept_quota;
mod kept_rows;
pub(crate) mod learning;
pub(crate) mod outcome;
pub(crate) mod repeats;
pub mod results;
pub(crate) mod search_cache;
pub mod search_uses;
pub(crate) mod session;
mod session_seals;
pub(crate) mod session_state;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub use crate::executions::FailureReason;
use crate::tools::embeddings::{LexicalReason, Ranking};
use crate::tools::idempotency::ClaimedKey;
use crate::tools::results::{Budget, Truncated};
use toolgate_catalog::manifest::Effect;
use toolgate_core::exact::ExactNumbers;
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;
use toolgate_egress::PlannedRequest;
pub use toolgate_runtime::{CallEvent, CallListener};
pub use toolgate_search::QUERY_CHARS_MAX;

/// MCP tool annotations, derived from the manifest's `effect` and `idempotent`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    pub read_only_hint: bool,
    pub destructive_hint: bool,
    /// Whether running it twice has the effect of running it once. Under one `Idempotency-Key` it runs again where the
    /// gateway failed in the middle.
    pub idempotent_hint: bool,
    pub open_world_hint: bool,
}

impl Annotations {
    pub fn new(effect: Effect, idempotent: bool) -> Self {
        Self {
            read_only_hint: effect == Effect::Read,
            destructive_hint: effect == Effect::Destructive,
            idempotent_hint: idempotent || effect == Effect::Read,
            open_world_hint: true,
        }
    }
}

/// Whether the user could run the tool now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    Connected,
    NotConnected,
    Expired,
    NotNeeded,
    /// The operator has to set the service's address first.
    NeedsSetup,
}

/// `GET /v1/tools/search` and `svc_search_tools`.
#[derive(Clone, Debug)]
pub struct SearchTools {
    pub query: String,
    pub service: Option<String>,
    /// 1 to 100.
    pub limit: usize,
    /// 0 to 5.
    pub schema_limit: usize,
    /// From a tool's name to where its schema is read, for the tools whose schema is not part of the answer.
    pub schema_address: fn(&str) -> String,
    pub user_id: Option<UserId>,
}

/// Whether the tools that a search found are likely to do what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The first tools do it.
    High,
    /// The right tool may be among them.
    Low,
    /// No tool seems to do it; those listed are only the nearest.
    None,
}

impl From<toolgate_search::Fit> for Confidence {
    fn from(confidence: toolgate_search::Fit) -> Self {
        match confidence {
            toolgate_search::Fit::High => Self::High,
            toolgate_search::Fit::Low => Self::Low,
            toolgate_search::Fit::None => Self::None,
        }
    }
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct FoundTools {
    pub query: String,
    /// The service that was named; null if none was.
    #[schema(required)]
    pub service: Option<String>,
    /// Tools found, also beyond `limit`: those that match well, and the nearest up to ten.
    pub total: usize,
    /// Best first. Where the query has several steps, their tools take turns.
    pub tools: Vec<FoundTool>,
    /// Whether the tools fit the query.
    pub confidence: Confidence,
    /// The nearest services, when no tool shares anything with the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    pub ranking: Ranking,
    /// Why words alone decided, where they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_reason: Option<LexicalReason>,
    /// Plugins that are still being loaded, whose tools are not among these; left out when there
    /// are none.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    pub plugins_loading: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the shape that serde calls"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct FoundTool {
    pub name: String,
    pub service: String,
    pub description: String,
    pub version: String,
    pub annotations: Annotations,
    pub score: f32,
    /// Whether this tool fits the query.
    pub confidence: Confidence,
    pub match_reasons: Vec<String>,
    /// The step of the query that the tool serves, as it was written; left out where the query is one
    /// wish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub connection: ConnectionState,
    /// Other services, not among these tools, whose tool of the same name fits as well; at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub also_in: Vec<String>,
    #[serde(flatten)]
    pub schema: SchemaOrRef,
}

/// Either the schema itself or where to read it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub enum SchemaOrRef {
    #[serde(rename = "inputSchema")]
    #[schema(value_type = Object)]
    Inline(Arc<RawValue>),
    /// Path of the schema endpoint.
    #[serde(rename = "schemaRef")]
    Ref(String),
}

/// `GET /v1/tools/list`.
#[derive(Clone, Debug)]
pub struct ListTools {
    pub service: Option<String>,
    /// 1 to 500.
    pub limit: usize,
    pub cursor: Option<String>,
    pub user_id: Option<UserId>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ToolPage {
    pub tools: Vec<ListedTool>,
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ListedTool {
    pub name: String,
    pub service: String,
    pub description: String,
    pub version: String,
    pub annotations: Annotations,
}

/// `GET /v1/tools/{tool_name}/schema` and `svc_get_tool_schema`.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ToolSchema {
    pub name: String,
    pub service: String,
    pub description: String,
    #[serde(rename = "inputSchema")]
    #[schema(value_type = Object)]
    pub input_schema: Arc<RawValue>,
    #[serde(rename = "outputSchema", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub output_schema: Option<Arc<RawValue>>,
    pub annotations: Annotations,
    pub auth: ToolAuth,
    /// Arguments of realistic calls, as the author of the plugin wrote them.
    #[schema(value_type = Vec<Object>)]
    pub examples: Vec<Value>,
    /// Names of the required arguments, in the schema's order.
    #[serde(skip)]
    pub required: Vec<String>,
    /// SHA-256 of the plugin file and the tool name, hexadecimal: the strong entity tag.
    #[serde(skip)]
    pub etag: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolAuth {
    /// `oauth2`, `api_key`, ... or `none`.
    #[serde(rename = "type")]
    pub kind: String,
    pub scopes: Vec<String>,
}

/// `POST /v1/tools/{tool_name}/execute` and `svc_execute_tool`.
#[derive(Clone, Debug)]
pub struct Execute {
    pub tool_name: String,
    pub arguments: Arguments,
    /// The user's own; another one's does not exist.
    pub session_id: Option<String>,
    pub user_id: Option<UserId>,
    pub connection_id: Option<String>,
    pub dry_run: bool,
    /// How much of the result to answer.
    pub budget: Budget,
    /// Of a request with an `Idempotency-Key`.
    pub claim: Option<ClaimedKey>,
    /// The run of a script that calls; no caller outside of the gateway names one.
    pub parent_execution_id: Option<Text>,
    /// Hears of the call while it runs, and may take it back.
    pub listener: CallListener,
}

/// Arguments as an edge received them.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// Read by another parser: numbers may have lost digits.
    Object(Value),
    /// A JSON document, every number as it was written.
    Text(String),
}

impl Default for Arguments {
    fn default() -> Self {
        Self::Object(Value::Null)
    }
}

impl Arguments {
    /// An object that was read at `place` of a document with these numbers.
    pub fn within(object: Value, numbers: &ExactNumbers, place: &str) -> Self {
        let mut own = ExactNumbers::default();
        own.adopt_part(numbers, place, "");
        match own.is_empty() {
            true => Self::Object(object),
            false => Self::Text(own.write(&object)),
        }
    }
}

/// The outcome of one execute request. Every variant carries its receipt's id.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Execution {
    #[schema(value_type = String)]
    pub execution_id: Text,
    #[schema(value_type = String)]
    pub tool_name: Text,
    #[schema(value_type = String)]
    pub service: Text,
    #[schema(value_type = String)]
    pub session_id: Text,
    pub duration_ms: u64,
    /// JSON Pointers of texts in the arguments that were taken as the number, boolean, list or object that the
    /// tool asks for; at most 100. Left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, example = json!(["/limit"]))]
    pub coerced: Vec<String>,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    Success {
        #[schema(value_type = Value)]
        result: Arc<RawValue>,
        /// Present when `result` holds only the first bytes of its text.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated: Option<Truncated>,
        /// Files that the tool returned beside its result.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<ResultFile>,
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_cursor: Option<String>,
    },
    Error {
        reason: FailureReason,
        error: ToolError,
    },
    AuthRequired(Connect),
    AuthExpired(Connect),
    DryRun {
        requests: Vec<PlannedRequest>,
    },
    /// Nothing was sent; the same call runs once somebody has approved it.
    ApprovalRequired(ApprovalNeeded),
}

/// One file of a result: kept for a day under its handle, and, where it fits, whole in the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ResultFile {
    /// Of `GET /v1/files/{file_id}`, and for the argument of a tool that takes a file. Absent where the workspace had
    /// no room to keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "file_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub file_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub media_type: String,
    pub size_bytes: u64,
    /// Of the content, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How long it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Base64 (RFC 4648, section 4). Absent where the contents of all files are larger than the answer may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The provider's refusal in the form an agent can act on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolError {
    pub code: String,
    pub message: String,
    pub can_retry: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_body: Option<Value>,
}

/// A call that waits for a person. `reason` repeats the status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ApprovalNeeded {
    pub reason: String,
    pub message: String,
    pub approval_id: String,
    /// Where a member approves or denies it.
    pub approval_url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// What the call would send, as a dry run shows it.
    pub requests: Vec<PlannedRequest>,
}

/// What a user has to do before the tool can run. `reason` repeats the status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Connect {
    pub reason: String,
    pub auth_type: String,
    pub message: String,
    /// Absolute, one use, 15 minutes. Absent where the operator has not set the service up yet;
    /// `message` then says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_url: Option<String>,
}
