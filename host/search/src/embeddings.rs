//! What a text means, as a vector: the semantic half of search.
//!
//! [`model`] turns text into vectors ([`matrix`] multiplies, [`attention`] does the rest), [`embedder`] runs
//! it off the async workers behind a bounded queue, [`vectors`] compares a query with all tools after
//! [`sayings`] has moved it toward what tools call such wishes. [`files`] says which files the model is and
//! [`quantize`](mod@quantize) makes the one with the weights. Knows neither database nor catalog: the gateway
//! stores the vectors of tools and decides when search may use them.

mod attention;
pub mod embedder;
pub mod files;
pub mod matrix;
pub mod model;
pub mod quantize;
pub mod sayings;
pub mod vectors;

pub use embedder::{EmbedError, Embedder, Vector};
pub use vectors::{Similarity, Vectors};
