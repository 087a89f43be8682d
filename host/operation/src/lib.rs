//! What every operation takes and answers, whatever it does.
//!
//! An operation has a [`Caller`] first and answers a result or an [`Error`]. A request is counted against [`limits`], a
//! change leaves an entry of [`audit`], and a call of a tool leaves a [`receipt`]. The shapes and their rules are here;
//! who a caller is decides `identity`, what is done for them `gateway`. Neither HTTP nor MCP is known here.

#![forbid(unsafe_code)]

pub mod audit;
pub mod caller;
mod error;
pub mod limits;
pub mod receipt;
mod scope;

pub use caller::{Caller, Principal};
pub use error::{Error, RateLimited, RateWindow, RequiredRole, Violation};
pub use scope::Scope;
