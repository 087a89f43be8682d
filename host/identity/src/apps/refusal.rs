//! Why a client is refused: the errors of OAuth, with their words.

use strum::IntoStaticStr;

use crate::{Error, RateLimited};
use toolgate_store::StoreError;

/// The `error` of an answer (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707,
/// section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RefusalCode {
    AccessDenied,
    ConsentRequired,
    InvalidClient,
    InvalidClientMetadata,
    InvalidGrant,
    InvalidRedirectUri,
    InvalidRequest,
    InvalidScope,
    InvalidTarget,
    RequestNotSupported,
    TemporarilyUnavailable,
    UnauthorizedClient,
    UnsupportedGrantType,
    UnsupportedResponseType,
}

/// Why a request of a client has no result.
#[derive(Debug, thiserror::Error)]
pub enum AppProblem {
    #[error("{sentence}")]
    Refused { code: RefusalCode, sentence: String },
    #[error("too many requests")]
    Limited(RateLimited),
    #[error("internal error")]
    Internal(#[source] anyhow::Error),
}

impl From<Error> for AppProblem {
    fn from(error: Error) -> Self {
        match error {
            Error::RateLimited(limited) => Self::Limited(limited),
            Error::Internal(cause) => Self::Internal(cause),
            unavailable @ Error::ProviderUnavailable => {
                refused(RefusalCode::TemporarilyUnavailable, unavailable.to_string())
            }
            other => Self::Internal(other.into()),
        }
    }
}

impl From<StoreError> for AppProblem {
    fn from(cause: StoreError) -> Self {
        Self::Internal(cause.into())
    }
}

pub(super) fn refused(code: RefusalCode, sentence: impl Into<String>) -> AppProblem {
    AppProblem::Refused {
        code,
        sentence: sentence.into(),
    }
}
