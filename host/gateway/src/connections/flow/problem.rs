//! Why a page cannot be had, in sentences for the person before the browser.

use crate::Error;
use toolgate_oauth::callback::BadCallback;
use toolgate_store::{ConnectFlow, FlowState, StoreError};

/// Why a page cannot be had. The sentences are for the person before the browser.
#[derive(Debug, thiserror::Error)]
pub enum ConnectProblem {
    #[error("This link does not exist. Ask for a new one.")]
    UnknownLink,
    #[error("This link has been used. Ask for a new one if the connection is not there.")]
    Used,
    #[error("This link has expired: it is good for 15 minutes. Ask for a new one.")]
    Expired,
    #[error("This link has ended without a connection ({0}). Ask for a new one.")]
    Failed(String),
    #[error(
        "This link has ended, because the service refused what was entered too many times. Ask for a new one."
    )]
    LinkRefused,
    #[error(
        "The service refused too many keys or passwords. Try again in {}.",
        minutes(*retry_after_s)
    )]
    TooManyRefused { retry_after_s: u64 },
    #[error("The service is not available here at the moment.")]
    NotServing,
    #[error("The operator of this gateway has not set the service up yet.")]
    NotSetUp,
    #[error("This answer belongs to no link of this gateway, or to one that was started again.")]
    UnknownState,
    #[error(
        "This answer belongs to a link that was opened in another browser. Open the link here and start again."
    )]
    OtherBrowser,
    #[error("The provider's answer cannot be read: {0}.")]
    BadAnswer(#[from] BadCallback),
    #[error(
        "The answer came from another provider than the one that this link leads to. Ask for a new link to try again."
    )]
    OtherProvider,
    /// The title of the service.
    #[error("You did not agree at {0}, so nothing was connected. You can try again.")]
    Denied(String),
    #[error("The provider refused the connection ({0}). Ask for a new link to try again.")]
    Refused(String),
    #[error(
        "The provider did not know this gateway any more. It has registered again, so you can try again."
    )]
    RegisteredAgain,
    #[error("The provider does not answer at the moment. Try again in a few minutes.")]
    Away,
    #[error("Something went wrong here. Ask for a new link to try again.")]
    Internal(#[source] Error),
}

impl ConnectProblem {
    /// Why a flow has ended: the provider's word for it, or ours.
    pub(super) fn why(&self) -> &str {
        match self {
            Self::Refused(word) => word,
            other => other.code(),
        }
    }

    /// Whether another try with the same link may well succeed. What else a provider's answer says
    /// ends the link: it may be somebody else's answer.
    pub(super) fn passes(&self) -> bool {
        matches!(self, Self::Denied(_) | Self::Away | Self::RegisteredAgain)
    }

    /// For the log.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownLink => "unknown_link",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Failed(_) => "failed",
            Self::LinkRefused => "link_refused",
            Self::TooManyRefused { .. } => "too_many_refused",
            Self::NotServing => "not_serving",
            Self::NotSetUp => "not_set_up",
            Self::UnknownState => "unknown_state",
            Self::OtherBrowser => "other_browser",
            Self::BadAnswer(_) => "bad_answer",
            Self::OtherProvider => "other_provider",
            Self::Denied(_) => "denied",
            Self::Refused(_) => "refused",
            Self::RegisteredAgain => "registered_again",
            Self::Away => "provider_away",
            Self::Internal(_) => "internal",
        }
    }
}

fn minutes(seconds: u64) -> String {
    match seconds.div_ceil(60) {
        1 => "a minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    }
}

impl From<Error> for ConnectProblem {
    fn from(cause: Error) -> Self {
        Self::Internal(cause)
    }
}

impl From<StoreError> for ConnectProblem {
    fn from(cause: StoreError) -> Self {
        Self::Internal(cause.into())
    }
}

/// Why a callback moved nothing.
pub(super) fn why_not(flow: Option<&ConnectFlow>, now_ms: i64) -> ConnectProblem {
    match flow {
        None => ConnectProblem::UnknownState,
        Some(flow) => match flow.state {
            FlowState::Started if flow.expires_at_ms <= now_ms => ConnectProblem::Expired,
            FlowState::Started => ConnectProblem::OtherBrowser,
            FlowState::Failed => {
                ConnectProblem::Failed(flow.last_error.clone().unwrap_or_default())
            }
            _ => ConnectProblem::Used,
        },
    }
}
