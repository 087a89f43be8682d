//! Whether the caller still wants the result of a call, and what follows where not.

use tokio_util::sync::CancellationToken;

use super::{EgressFailure, FailureKind};

/// By default nobody cancels.
#[derive(Debug, Default)]
pub(super) enum Cancellation {
    #[default]
    Never,
    /// Of a call that only reads: no further request leaves, and those under way are dropped.
    Ends(CancellationToken),
    /// Of a call that may write: requests go on, and an MCP server is notified.
    IsPassedOn(CancellationToken),
}

impl Cancellation {
    fn token(&self) -> Option<&CancellationToken> {
        match self {
            Self::Never => None,
            Self::Ends(token) | Self::IsPassedOn(token) => Some(token),
        }
    }

    /// Whether the caller can cancel at all.
    pub(super) fn is_possible(&self) -> bool {
        self.token().is_some()
    }

    /// Whether requests under way end with it.
    pub(super) fn ends_requests(&self) -> bool {
        matches!(self, Self::Ends(_))
    }

    /// Refuses a request of a call that has ended.
    pub(super) fn check(&self) -> Result<(), EgressFailure> {
        match self {
            Self::Ends(token) if token.is_cancelled() => Err(unwanted()),
            Self::Ends(_) | Self::IsPassedOn(_) | Self::Never => Ok(()),
        }
    }

    /// Refuses a request that is all that the call does, and that nobody wants any more.
    pub(super) fn check_only_request(&self) -> Result<(), EgressFailure> {
        match self.token() {
            Some(token) if token.is_cancelled() => Err(unwanted()),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns once the caller does not want the result any more.
    pub(super) async fn heard(&self) {
        match self.token() {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

pub(super) fn unwanted() -> EgressFailure {
    EgressFailure::unsent(FailureKind::Cancelled, "the caller has cancelled the call")
}
