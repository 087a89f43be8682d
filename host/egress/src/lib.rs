//! The only way out of the sandbox.
//!
//! Owns: what one request is ([`GuestRequest`], [`Response`], [`EgressFailure`]), what a call may do
//! ([`CallScope`]) and the fixed order in which a request is decided, dialled, given its credential,
//! capped and scrubbed ([`Egress::send`]). Refuses everything that the plugin's manifest and the
//! operator's grant do not both name. Knows nothing of WebAssembly: `toolgate-runtime` translates.
//!
//! Read [`send`] and `sending` next, then the pure stages in the order in which it calls them: [`grant`] and
//! [`policy`], [`effect`], [`headers`], [`inject`] and [`sigv4`], [`upstream`], [`address`], [`follow`], [`decode`], [`answer`],
//! [`scrub`], [`verdict`]; [`dial`] alone touches the network. [`host`] is the door for the host's own requests.

#![forbid(unsafe_code)]

pub mod address;
mod answer;
mod attempt;
mod cancel_notice;
mod cancellation;
mod capture;
mod charset;
mod config;
mod content_type;
mod decide;
mod declared;
pub mod decode;
pub mod dial;
#[cfg(test)]
mod draw;
pub mod effect;
pub mod follow;
pub mod grant;
pub mod headers;
mod hop;
pub mod host;
pub mod inject;
mod inner;
mod journal;
mod leak;
pub mod memory;
mod parameters;
pub mod payload;
mod plan;
pub mod policy;
mod pools;
mod progress;
mod reasons;
mod receipt;
mod receipt_address;
pub mod scope;
pub mod scrub;
pub mod send;
mod sending;
mod sending_watch;
pub mod sigv4;
mod target;
#[cfg(test)]
mod tests;
pub mod upstream;
mod verdict;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;

use toolgate_catalog::manifest::Placement;

pub use config::{EgressConfig, HostObserver};
pub use declared::Declarations;
pub use dial::{DialError, Lookup, OpenResponse};
pub use effect::{AllowedQueries, DescribedSend};
pub use grant::{Grant, GrantError, Origin};
pub use host::{HostRequest, HostResponse};
pub use journal::{Journal, JournalError};
pub use parameters::fill as fill_parameters;
pub use payload::{Payload, PayloadSide};
pub use progress::{ProgressReport, ServerProgress};
pub use receipt_address::looks_like_key;
pub use scope::{CallLimits, CallScope, ExchangeObserver, Mode, ObservedExchange, PlanDigest};
pub use scrub::{Exposure, LearnedSecrets, Scrubber};
pub use send::Egress;
pub use upstream::{AllowUpstream, AllowUpstreamError};
pub use verdict::{CredentialVerdict, MissingScopes};
pub use wire::{DestinationClass, WireMeter, WireOutcome};

/// A request as the guest asked for it, before any decision.
#[derive(Clone, Debug)]
pub struct GuestRequest {
    pub method: http::Method,
    /// Absolute URL; `{parameter}` in host or path is filled from the connection's parameters.
    pub url: String,
    /// Appended and percent-encoded.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub credential: CredentialChoice,
    pub response_bytes_max: usize,
    pub timeout: Duration,
    /// Present: the request may be repeated even if it is a POST.
    pub idempotency_key: Option<String>,
    /// The answer is kept as a file: its text stays in the charset in which it came.
    pub as_file: bool,
}

/// Which credential a request wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialChoice {
    Anonymous,
    /// A slot of the manifest by name.
    Slot(String),
    /// The slot whose audience holds the origin, none if no slot does (the wasi:http door).
    ByAudience,
}

/// An answer as the guest may see it: capped, without credential-bearing headers, scrubbed.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// Final URL after allowed redirects, without any credential.
    pub url: String,
}

/// Why a request has no answer. `message` names no secret and no address of the private network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EgressFailure {
    pub kind: FailureKind,
    pub message: String,
    /// Whether the provider may have seen the request.
    pub sent: bool,
}

impl EgressFailure {
    /// A failure before anything had left.
    pub fn unsent(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            sent: false,
        }
    }

    /// A request that the plugin may not send.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::unsent(FailureKind::Denied, message)
    }
}

/// The closed list of the plugin contract (`failure-kind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    Denied,
    AuthRequired,
    AuthExpired,
    ScopeMissing,
    Dns,
    Connect,
    Tls,
    Timeout,
    TooLarge,
    BudgetExhausted,
    LeakBlocked,
    Cancelled,
    Protocol,
}

/// Where credentials come from. The gateway's connections implement it; egress asks once per
/// request and again, with the rejected generation, after an answer that refuses the credential.
pub trait Credentials: Send + Sync {
    /// The values to inject for `slot`. `rejected` is the generation that the provider just
    /// refused: a refresh is due, unless somebody else has already done it.
    fn fetch<'a>(
        &'a self,
        slot: &'a str,
        rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>>;

    /// What the last answer to a request says of the credential that it carried. `resource`: method and address of
    /// the request, without its query.
    fn judged(&self, slot: &str, generation: u64, resource: &str, verdict: &CredentialVerdict) {
        let _ = (slot, generation, resource, verdict);
    }

    /// The connection's parameters, where they are others than those that the call began with: a provider may name
    /// another address with a new token.
    fn moved(&self) -> Option<Arc<BTreeMap<String, String>>> {
        None
    }

    /// Whether the slot is connected for this call.
    fn connected(&self, slot: &str) -> bool;

    /// The slot whose audience holds `origin` (`https://host`), for requests that name none.
    fn slot_for_origin(&self, origin: &str) -> Option<String>;

    /// Whether a field of the slot is to be hidden: each of which nothing else is known.
    fn is_secret(&self, slot: &str, field: &str) -> bool {
        let _ = (slot, field);
        true
    }

    /// Where the slot's credential would be written, for a dry run; nothing is opened or refreshed.
    fn shape(&self, slot: &str) -> Option<SlotShape> {
        let _ = slot;
        None
    }
}

/// Nothing is connected.
#[derive(Clone, Copy, Debug)]
pub struct NoCredentials;

impl Credentials for NoCredentials {
    fn fetch<'a>(
        &'a self,
        slot: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        let failure = EgressFailure::unsent(
            FailureKind::AuthRequired,
            format!("slot `{slot}` is not connected"),
        );
        Box::pin(std::future::ready(Err(failure)))
    }

    fn connected(&self, _slot: &str) -> bool {
        false
    }

    fn slot_for_origin(&self, _origin: &str) -> Option<String> {
        None
    }
}

/// The public half of an [`Injection`].
#[derive(Clone, Debug, PartialEq)]
pub struct SlotShape {
    pub placements: Vec<Placement>,
    /// Origins that may receive it, patterns already filled.
    pub audience: Vec<String>,
}

/// What to write into a request, and where it may go.
#[derive(Debug)]
pub struct Injection {
    pub slot: String,
    /// Changes with every refresh.
    pub generation: u64,
    pub placements: Vec<Placement>,
    /// Field values by name: `secret`, `username`, ...
    pub values: BTreeMap<String, toolgate_vault::Secret>,
    /// Origins that may receive it, patterns already filled.
    pub audience: Vec<String>,
}

/// One request that left the process, as the receipt keeps it: as the plugin made it, before a
/// credential was written into it, and without any credential that the gateway knows.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct RequestRecord {
    pub method: String,
    /// Scheme, host and port.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schema(example = "https://api.github.com")]
    pub origin: String,
    pub host: String,
    /// What may be a credential is `[redacted]`: segments that the manifest does not declare and that are neither short
    /// nor words, numbers or UUIDs, and users in front of an `@`.
    pub path: String,
    /// The query; values that look like credentials, and addresses with a user, are `[redacted]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "page=2&access_token=[redacted]")]
    pub query: Option<String>,
    /// HTTP status; absent when no answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    pub bytes_out: u64,
    /// SHA-256 of the body, hexadecimal; absent without a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_sha256: Option<String>,
    pub bytes_in: u64,
    /// When it began, after the start of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential_slot: Option<String>,
}

/// One request that a dry run would have sent; a credential shows as `[slot NAME]`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct PlannedRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// UTF-8 text, or `[N bytes]` for binary data and for text over 256 KiB.
    pub body: String,
    /// A body that is not text; absent of a longer one than 256 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_base64: Option<String>,
}
