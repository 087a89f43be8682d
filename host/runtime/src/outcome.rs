//! How a call ends, and why it does not start.

use serde_json::Value;
use serde_json::value::RawValue;

use super::blob::Blob;

/// How a call ended. Texts are scrubbed and cut.
#[derive(Debug)]
pub enum CallEnd {
    Returned(CallOutput),
    /// The plugin or its provider returned an error.
    Refused(PluginError),
    TimedOut,
    LimitExceeded(String),
    /// There was no memory left for its guest, or for an answer. What was sent before is in the scope's records.
    NoMemory,
    /// The result is JSON that not every parser reads: a provider's response that was passed on.
    Unreadable(String),
    Crashed(Crash),
    /// The dry run reached the first response that it needs.
    DryRun,
}

impl CallEnd {
    /// Its value in spans.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Returned(_) => "returned",
            Self::Refused(_) => "refused",
            Self::TimedOut => "timeout",
            Self::LimitExceeded(_) => "limit_exceeded",
            Self::NoMemory => "no_memory",
            Self::Unreadable(_) => "unreadable_result",
            Self::Crashed(_) => "plugin_crashed",
            Self::DryRun => "dry_run",
        }
    }

    /// Whether the sandbox, rather than the provider, ended the call.
    pub(super) fn is_failure(&self) -> bool {
        match self {
            Self::TimedOut
            | Self::LimitExceeded(_)
            | Self::NoMemory
            | Self::Unreadable(_)
            | Self::Crashed(_) => true,
            Self::Returned(_) | Self::Refused(_) | Self::DryRun => false,
        }
    }
}

/// The plugin's code did not return, or returned something that the contract does not allow.
#[derive(Debug)]
pub struct Crash {
    pub message: String,
    /// The code trapped, and not because of a limit.
    pub trapped: bool,
    /// The message of a panic, with its place. For the log and the plugin's author, never for a caller.
    pub panic: Option<String>,
    /// The plugin's function that it was in, where the file has names. As `panic`.
    pub function: Option<String>,
}

#[derive(Debug)]
pub struct CallOutput {
    pub data: Box<RawValue>,
    pub files: Vec<Blob>,
    pub next_cursor: Option<String>,
    pub summary: Option<String>,
}

/// A plugin's error, as the contract's `tool-error` carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginError {
    pub kind: RefusalKind,
    pub code: Option<String>,
    pub message: String,
    pub retry_after_ms: Option<u64>,
    pub http_status: Option<u16>,
    pub field: Option<String>,
    pub details: Option<Value>,
}

/// The contract's closed list `error-kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    InvalidArguments,
    AuthRequired,
    AuthExpired,
    PermissionDenied,
    NotFound,
    Conflict,
    RateLimited,
    Upstream,
    Unavailable,
    TooLarge,
    Cancelled,
    Internal,
}

/// Cause of the trap that ends a dry run.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("dry run")]
pub(super) struct DryRunEnded;

/// Why a call did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{0} calls are running")]
    Overloaded(usize),
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A plugin's code cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the captured component file cannot be read")]
    Read(#[source] std::io::Error),
    #[error("the captured component file is no longer the one that was approved")]
    Changed,
    #[error("the component cannot be compiled or linked")]
    Compile(#[source] wasmtime::Error),
    #[error("this gateway runs no large plugins; --allow-large-plugins changes that")]
    LargeNotAllowed,
}
