//! What the HTTP edges share: bounded bodies, strict decoding, the request layer, the envelope of
//! failures.

#![forbid(unsafe_code)]

pub mod answer;
pub mod auth;
pub mod body;
pub mod client;
pub mod cookies;
pub mod envelope;
pub mod ids;
pub mod layer;
pub mod memory;
pub mod path;
pub mod query;
pub mod span;
pub mod stream_text;

/// Largest request body.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
