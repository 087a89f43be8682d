//! The functions of the host in a component: the contract's imports, one file for each interface.

mod blobs;
mod call;
mod egress;
mod kv;

pub(crate) use blobs::*;
pub(crate) use call::*;
pub(crate) use egress::*;
pub(crate) use kv::*;

use crate::bindings::toolgate::plugin::types;
use crate::error::{ErrorKind, ToolError};

fn from_wire_error(error: types::ToolError) -> ToolError {
    let kind = match error.kind {
        types::ErrorKind::InvalidArguments => ErrorKind::InvalidArguments,
        types::ErrorKind::AuthRequired => ErrorKind::AuthRequired,
        types::ErrorKind::AuthExpired => ErrorKind::AuthExpired,
        types::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        types::ErrorKind::NotFound => ErrorKind::NotFound,
        types::ErrorKind::Conflict => ErrorKind::Conflict,
        types::ErrorKind::RateLimited => ErrorKind::RateLimited,
        types::ErrorKind::Upstream => ErrorKind::Upstream,
        types::ErrorKind::Unavailable => ErrorKind::Unavailable,
        types::ErrorKind::TooLarge => ErrorKind::TooLarge,
        types::ErrorKind::Cancelled => ErrorKind::Cancelled,
        types::ErrorKind::Internal => ErrorKind::Internal,
    };
    ToolError {
        kind,
        code: error.code,
        message: error.message,
        retry_after_ms: error.retry_after_ms,
        http_status: error.http_status,
        field: error.field,
        details: error
            .details
            .and_then(|text| serde_json::from_str(&text).ok()),
    }
}
