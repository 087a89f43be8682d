//! What an operation can answer instead of a result: the closed list callers can act on.
//!
//! Each has a stable [`Error::code`], a sentence (`Display`) and, where there is one, a
//! [`Error::hint`] with the next step. How they look on the wire is the edges' business
//! (`http-kit/src/envelope.rs`, `mcp/src/render.rs`).

use strum::{Display, EnumString, IntoStaticStr};

use crate::Scope;
use crate::receipt::ExecutionReceipt;
pub use toolgate_catalog::Violation;
use toolgate_store::{Role, StoreError};

/// Another process takes over, or this one is started again.
const STOPPING_RETRY_AFTER_S: u64 = 1;
/// A provider that does not answer seldom does within a second.
const PROVIDER_RETRY_AFTER_S: u64 = 5;
/// What makes a database unavailable seldom ends within a second.
const DATABASE_RETRY_AFTER_S: u64 = 5;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    InvalidRequest(String),
    #[error("Invalid JSON in {place}: {problem}")]
    InvalidJson {
        place: &'static str,
        problem: String,
    },
    #[error("the arguments do not fit the tool's input schema")]
    InvalidArguments {
        tool_name: String,
        violations: Vec<Violation>,
    },
    #[error("an API key is required")]
    ApiKeyRequired,
    #[error("the API key is unknown, expired or revoked")]
    InvalidApiKey,
    #[error("an access token is required")]
    AccessTokenRequired,
    #[error("the access token is unknown, expired, revoked or for another address")]
    InvalidAccessToken,
    #[error("user {user_id} may not use {subject}")]
    PermissionDenied { user_id: String, subject: String },
    #[error("the requester of a call cannot decide about it")]
    OwnQuestion,
    #[error("the API key lacks the scope {}", .0.into_str())]
    ScopeDenied(Scope),
    #[error("the API key may not be used from this address")]
    IpNotAllowed,
    #[error("not signed in")]
    SignInRequired,
    #[error("wrong e-mail or password")]
    InvalidCredentials,
    /// The address and password fit members of these workspaces.
    #[error("say which workspace to sign in to")]
    ChooseWorkspace(Vec<String>),
    #[error("this needs the role {}", .0.into_str())]
    RoleDenied(RequiredRole),
    #[error("{0} was not found")]
    NotFound(String),
    #[error("Tool not found: {tool_name}")]
    ToolNotFound {
        tool_name: String,
        /// Names that come nearest, best first, of tools that the user may know of.
        nearest: Vec<String>,
    },
    /// Nor may it stay so: that many plugins are on their way.
    #[error("Tool not found: {tool_name}")]
    ToolNotLoaded {
        tool_name: String,
        plugins_loading: usize,
    },
    /// The service goes on without it: its MCP server no longer lists it.
    #[error("{tool_name} is no longer offered by {service}")]
    ToolWithdrawn { tool_name: String, service: String },
    #[error("Skill not found: {0}")]
    SkillNotFound(String),
    #[error("Session not found: {0}")]
    SessionNotFound(String),
    #[error("User not found: {0}")]
    UserNotFound(String),
    #[error("Service not found: {0}")]
    ServiceNotFound(String),
    #[error("{0}")]
    Conflict(String),
    #[error("this idempotency key was used with another body")]
    IdempotencyConflict,
    #[error("a request with this idempotency key is still running")]
    InProgress { retry_after_s: u64 },
    #[error("another message to this session is still being worked on")]
    TurnInProgress { retry_after_s: u64 },
    #[error("the request may have been done: its outcome was not seen")]
    OutcomeUnknown {
        execution_id: String,
        /// What left the gateway before it stopped; absent where nothing could.
        receipt: Option<Box<ExecutionReceipt>>,
    },
    #[error(
        "the same write began less than a minute ago and its outcome was not seen; this one was not sent"
    )]
    RepeatedWrite {
        /// Of the first one.
        execution_id: String,
    },
    #[error("too many requests")]
    RateLimited(RateLimited),
    #[error("the gateway is at a limit of concurrent work")]
    Overloaded { retry_after_s: u64 },
    #[error("the gateway is stopping")]
    Stopping,
    #[error("the identity provider, whose groups decide who is a member, does not answer")]
    ProviderUnavailable,
    /// With the cause for the log; without one, receipts wait for the database.
    #[error("the database does not answer or does not accept writes")]
    DatabaseUnavailable(Option<anyhow::Error>),
    #[error("internal error")]
    Internal(#[source] anyhow::Error),
}

/// Which limit was met and when it opens again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimited {
    pub window: RateWindow,
    pub limit: u64,
    pub retry_after_s: u64,
}

/// The time in which a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RateWindow {
    Minute,
    QuarterHour,
    Day,
}

impl RateWindow {
    pub fn seconds(self) -> u64 {
        match self {
            Self::Minute => 60,
            Self::QuarterHour => 15 * 60,
            Self::Day => 24 * 60 * 60,
        }
    }
}

/// Who a refused caller would have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredRole {
    /// A member of at least this role.
    AtLeast(Role),
    /// An owner or admin of the workspace that runs the installation.
    Operator,
}

impl RequiredRole {
    pub fn into_str(self) -> &'static str {
        match self {
            Self::AtLeast(role) => role.into_str(),
            Self::Operator => "operator",
        }
    }
}

impl Error {
    /// The stable machine-readable name, `error.code` on REST.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidRequest(_) => "invalid_request",
            Self::InvalidJson { .. } => "invalid_json",
            Self::InvalidArguments { .. } => "invalid_arguments",
            Self::ApiKeyRequired => "api_key_required",
            Self::InvalidApiKey => "invalid_api_key",
            Self::AccessTokenRequired => "access_token_required",
            Self::InvalidAccessToken => "invalid_access_token",
            Self::PermissionDenied { .. } | Self::OwnQuestion => "permission_denied",
            Self::ScopeDenied(_) => "scope_denied",
            Self::IpNotAllowed => "ip_not_allowed",
            Self::SignInRequired => "sign_in_required",
            Self::InvalidCredentials => "invalid_credentials",
            Self::ChooseWorkspace(_) => "choose_workspace",
            Self::RoleDenied(_) => "role_denied",
            Self::NotFound(_) => "not_found",
            Self::ToolNotFound { .. } | Self::ToolNotLoaded { .. } => "tool_not_found",
            Self::ToolWithdrawn { .. } => "tool_withdrawn",
            Self::SkillNotFound(_) => "skill_not_found",
            Self::SessionNotFound(_) => "session_not_found",
            Self::UserNotFound(_) => "user_not_found",
            Self::ServiceNotFound(_) => "service_not_found",
            Self::Conflict(_) => "conflict",
            Self::IdempotencyConflict => "idempotency_conflict",
            Self::InProgress { .. } | Self::TurnInProgress { .. } => "in_progress",
            Self::OutcomeUnknown { .. } => "outcome_unknown",
            Self::RepeatedWrite { .. } => "repeated_write",
            Self::RateLimited(_) => "rate_limit_exceeded",
            Self::Overloaded { .. }
            | Self::Stopping
            | Self::ProviderUnavailable
            | Self::DatabaseUnavailable(_) => "overloaded",
            Self::Internal(_) => "internal_error",
        }
    }

    /// Seconds after which the same request may be taken; `None`: it is refused for another reason than
    /// the moment.
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::InProgress { retry_after_s }
            | Self::TurnInProgress { retry_after_s }
            | Self::Overloaded { retry_after_s } => Some(*retry_after_s),
            Self::RateLimited(limited) => Some(limited.retry_after_s),
            Self::Stopping => Some(STOPPING_RETRY_AFTER_S),
            Self::ProviderUnavailable => Some(PROVIDER_RETRY_AFTER_S),
            Self::DatabaseUnavailable(_) => Some(DATABASE_RETRY_AFTER_S),
            _ => None,
        }
    }

    /// The next step, where there is one. What depends on how requests are sent, an edge says.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::InvalidJson { place, .. } => {
                format!("Send {place} as one JSON object, for example {{\"key\":\"value\"}}.")
            }
            Self::InvalidArguments { tool_name, .. } => {
                format!(
                    "Read the input schema of {tool_name}, correct every violation and call again."
                )
            }
            Self::InvalidApiKey => {
                "Create a key with `toolgate key create` or in Settings > API keys.".to_owned()
            }
            Self::InvalidAccessToken => {
                "Exchange the refresh token for a new one, or connect again.".to_owned()
            }
            Self::OwnQuestion => {
                "Another person has to decide. If the permission rule has the approvers `self`, the member who made the call may decide too; an API key can never decide its own call.".to_owned()
            }
            Self::ScopeDenied(Scope::UsersAny) => {
                "Leave user_id out: this key acts for its own user. A key made with `toolgate key create --users-any` acts for every user of the workspace.".to_owned()
            }
            Self::SignInRequired => "Sign in to the dashboard again.".to_owned(),
            Self::RoleDenied(RequiredRole::Operator) => {
                "Ask an admin of the installation's first workspace.".to_owned()
            }
            Self::RoleDenied(RequiredRole::AtLeast(_)) => {
                "Ask an owner of the workspace.".to_owned()
            }
            Self::ToolNotFound { nearest, .. } => match &nearest[..] {
                [] => "Search for the exact name first.".to_owned(),
                names => format!("Nearest: {}. Search for the exact name first.", names.join(", ")),
            },
            Self::ToolNotLoaded {
                plugins_loading, ..
            } => format!(
                "Repeat the request in a few seconds: plugins still being loaded: {plugins_loading}."
            ),
            Self::ToolWithdrawn { service, .. } => {
                format!("Search for another tool of {service}.")
            }
            Self::SkillNotFound(_) => "List the Skills to see their ids.".to_owned(),
            Self::DatabaseUnavailable(_) => format!(
                "Repeat the request after {DATABASE_RETRY_AFTER_S} s. The gateway's log and its readiness tell the operator when it works again."
            ),
            Self::InProgress { .. }
            | Self::TurnInProgress { .. }
            | Self::Overloaded { .. }
            | Self::Stopping
            | Self::ProviderUnavailable
            | Self::RateLimited(_) => {
                format!("Repeat the request after {} s.", self.retry_after_s()?)
            }
            Self::OutcomeUnknown { execution_id, .. } => format!(
                "Check whether it was done (the receipt {execution_id}, if there is one, lists what was sent); send retry_unknown: true to run it again."
            ),
            Self::RepeatedWrite { execution_id } => format!(
                "Look first whether the first one ({execution_id}) was done, with a tool that reads. If it was not, send the same call again: it is held back once. A request with an idempotency key is never done twice."
            ),
            _ => return None,
        })
    }
}

impl From<anyhow::Error> for Error {
    fn from(cause: anyhow::Error) -> Self {
        let mut causes = cause.chain().filter_map(|one| one.downcast_ref());
        match causes.any(StoreError::is_unavailable) {
            true => Self::DatabaseUnavailable(Some(cause)),
            false => Self::Internal(cause),
        }
    }
}

impl From<StoreError> for Error {
    fn from(cause: StoreError) -> Self {
        match cause.is_unavailable() {
            true => Self::DatabaseUnavailable(Some(cause.into())),
            false => Self::Internal(cause.into()),
        }
    }
}
