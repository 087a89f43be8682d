//! The one error a tool answers with.
//!
//! `kind` is the contract's closed list, by which the gateway and the agent decide what to do;
//! the provider's own word goes into `code`, its text into `message`. How a provider's HTTP answer
//! becomes an error is in [`crate::http::problem`].

use std::fmt;

use serde_json::Value;

/// The closed list of the plugin contract (`error-kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    InvalidArguments,
    AuthRequired,
    AuthExpired,
    PermissionDenied,
    NotFound,
    Conflict,
    RateLimited,
    /// The provider answered with an error of its own.
    Upstream,
    /// The provider could not be reached, or asked to come back later.
    Unavailable,
    TooLarge,
    Cancelled,
    /// A fault of the plugin.
    Internal,
}

impl ErrorKind {
    /// The contract's spelling, for example `not-found`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid-arguments",
            Self::AuthRequired => "auth-required",
            Self::AuthExpired => "auth-expired",
            Self::PermissionDenied => "permission-denied",
            Self::NotFound => "not-found",
            Self::Conflict => "conflict",
            Self::RateLimited => "rate-limited",
            Self::Upstream => "upstream",
            Self::Unavailable => "unavailable",
            Self::TooLarge => "too-large",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }
}

/// Why a tool has no result. The host scrubs and cuts every text in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    pub kind: ErrorKind,
    /// Stable provider or plugin code, for example `channel_not_found`.
    pub code: Option<String>,
    /// A sentence for the model.
    pub message: String,
    pub retry_after_ms: Option<u64>,
    pub http_status: Option<u16>,
    /// JSON Pointer into the arguments (RFC 6901).
    pub field: Option<String>,
    pub details: Option<Box<Value>>,
}

impl ToolError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: None,
            message: message.into(),
            retry_after_ms: None,
            http_status: None,
            field: None,
            details: None,
        }
    }

    /// The caller's mistake. `field` is a JSON Pointer into the arguments, empty for all of them.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        let field = field.into();
        Self {
            field: (!field.is_empty()).then_some(field),
            ..Self::new(ErrorKind::InvalidArguments, message)
        }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// The error of a call that its caller has cancelled.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the caller has cancelled the call")
    }

    /// An answer of the provider that cannot be used.
    pub fn upstream(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Upstream, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    #[must_use]
    pub fn retry_after_ms(mut self, wait_ms: u64) -> Self {
        self.retry_after_ms = Some(wait_ms);
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}
