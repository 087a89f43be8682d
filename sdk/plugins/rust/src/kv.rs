//! Small state per plugin and connection: cursors, caches. Needs the capability `kv`.

use crate::error::ToolError;
use crate::host;

/// A stored value and its version, which grows with every change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub value: Vec<u8>,
    pub version: u64,
}

/// When a write may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Always,
    Absent,
    Version(u64),
}

pub fn get(key: &str) -> Result<Option<Entry>, ToolError> {
    let found = host::kv_get(key)?;
    Ok(found.map(|(value, version)| Entry { value, version }))
}

/// Stores and returns the new version; a condition that does not hold is a conflict.
pub fn set(
    key: &str,
    value: &[u8],
    ttl_seconds: Option<u32>,
    condition: Condition,
) -> Result<u64, ToolError> {
    let if_version = match condition {
        Condition::Always => None,
        Condition::Absent => Some(0),
        Condition::Version(version) => Some(version),
    };
    host::kv_set(key, value, ttl_seconds, if_version)
}

pub fn delete(key: &str) -> Result<(), ToolError> {
    host::kv_delete(key)
}

/// Keys with the prefix, and where to go on.
pub fn list_keys(
    prefix: &str,
    cursor: Option<&str>,
) -> Result<(Vec<String>, Option<String>), ToolError> {
    host::kv_list(prefix, cursor)
}
