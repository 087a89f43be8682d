//! Small state.

use super::from_wire_error;
use crate::bindings::toolgate::plugin::kv;
use crate::error::ToolError;

/// The value, and its version.
pub(crate) fn kv_get(key: &str) -> Result<Option<(Vec<u8>, u64)>, ToolError> {
    let found = kv::get(key).map_err(from_wire_error)?;
    Ok(found.map(|entry| (entry.value, entry.version)))
}

pub(crate) fn kv_set(
    key: &str,
    value: &[u8],
    ttl_seconds: Option<u32>,
    if_version: Option<u64>,
) -> Result<u64, ToolError> {
    kv::set(key, value, ttl_seconds, if_version).map_err(from_wire_error)
}

pub(crate) fn kv_delete(key: &str) -> Result<(), ToolError> {
    kv::delete(key).map_err(from_wire_error)
}

pub(crate) fn kv_list(
    prefix: &str,
    cursor: Option<&str>,
) -> Result<(Vec<String>, Option<String>), ToolError> {
    kv::list_keys(prefix, cursor).map_err(from_wire_error)
}
