//! What a client of a remote MCP server sends and reads over Streamable HTTP.
//!
//! Pure, and shared by the builder in the host and the component that performs calls. [`table`] is the data that a
//! plugin carries, [`message`] writes requests, [`stream`] reads event streams, and [`reply`] says what an HTTP answer
//! is. Two generations of the protocol are spoken: sessions (2025-03-26 to 2025-11-25) and independent requests
//! (2026-07-28).

#![forbid(unsafe_code)]

pub mod message;
pub mod reply;
pub mod stream;
pub mod table;

/// The version in which every request stands for itself.
pub const STATELESS_VERSION: &str = "2026-07-28";
/// The versions that begin with `initialize`, newest first.
pub const SESSION_VERSIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26"];

/// Whether a version is one that this client speaks.
pub fn is_spoken(version: &str) -> bool {
    version == STATELESS_VERSION || SESSION_VERSIONS.contains(&version)
}
