//! Which tools exist: manifests in, an immutable catalog with a search index out.

pub mod manifest;
