//! The typed client of the contract's `egress`, the only way to send requests.
//!
//! A [`Client`] holds what all requests of a service share; a [`Request`] is built fluently and
//! sent; an answer that is not a success becomes a [`ToolError`](crate::ToolError) by
//! [`problem::from_response`] or by the plugin's own function. TLS, redirects, retries, credentials
//! and limits are the host's. Read [`request`], [`response`], [`problem`], then [`address`] and
//! [`query`]; [`Client::graphql`], [`form_data`] and [`google`] are there for the services that need them.

pub mod address;
pub mod form_data;
pub mod google;
mod graphql;
pub(crate) mod outgoing;
pub mod page;
pub mod problem;
pub mod query;
pub mod request;
pub mod response;

pub use address::Address;
#[doc(hidden)]
pub use address::{is_rooted, placeholders};
pub use outgoing::{Body, Method, Outgoing};
pub use query::QueryValue;
pub use request::{Client, Request, send_all};
pub use response::Response;

/// What the host's egress refused or failed to do; the contract's `failure-kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A request without an answer.
#[derive(Clone, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub message: String,
    /// Whether the provider may have seen the request.
    pub sent: bool,
}
