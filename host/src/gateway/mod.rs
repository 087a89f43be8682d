//! What the product does, one file per resource.
//!
//! An operation is an `async fn` on [`Gateway`]: the caller first, one typed request, one typed
//! result or an [`Error`]. This module knows neither axum nor rmcp, neither status codes nor
//! JSON-RPC codes: both edges call the same operations and only render differently.

mod caller;
mod error;
pub mod executions;
pub mod tools;

pub use caller::{Caller, Scope};
pub use error::{Error, RateLimited, Violation};
