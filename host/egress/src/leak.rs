//! Requests that would carry a credential which the gateway did not write, or help to guess one.

use super::hop::Hop;
use super::scope::CallScope;
use super::scrub::SearchDepth;
use super::{EgressFailure, FailureKind};

/// Refuses a request into which the plugin, or the agent behind it, has written a known secret. It
/// runs before injection, so that it cannot trip over the host's own. Only whole values of the call's own
/// user count: a refusal of pieces would confirm guesses one character at a time.
pub(super) fn scan(scope: &CallScope, hop: &Hop) -> Result<(), EgressFailure> {
    let scrubber = scope.scrubber();
    if scrubber.is_empty() {
        return Ok(());
    }
    let finds = |bytes: &[u8]| scrubber.finds_to(SearchDepth::OwnWholes, bytes);
    let in_headers = || {
        hop.headers
            .iter()
            .any(|(name, value)| finds(name.as_str().as_bytes()) || finds(value.as_bytes()))
    };
    let place = if finds(hop.target.url.as_str().as_bytes()) {
        "URL"
    } else if in_headers() {
        "headers"
    } else if finds(&hop.body) {
        "body"
    } else {
        return Ok(());
    };
    Err(leak_blocked(format!(
        "the request's {place} contains a credential; credentials are added by the gateway"
    )))
}

impl CallScope {
    /// `text`, which the caller may have written itself, as it is shown: without whole values of the call's own user, as
    /// no request may have them. Pieces stay: to remove one would tell who wrote it that the guess was right.
    pub fn scrub_wholes(&self, text: &str) -> String {
        let scrubber = self.scrubber();
        scrubber.text_to(SearchDepth::OwnWholes, text).into_owned()
    }
}

/// Refuses every request once so many pieces of the credential came back that the next ones could complete it.
pub(super) fn check_exposure(scope: &CallScope) -> Result<(), EgressFailure> {
    if !scope.scrubber().is_exposed() {
        return Ok(());
    }
    Err(leak_blocked(
        "pieces of the user's credential have come back several times; the user has to connect the service again"
            .to_owned(),
    ))
}

fn leak_blocked(message: String) -> EgressFailure {
    EgressFailure::unsent(FailureKind::LeakBlocked, message)
}
