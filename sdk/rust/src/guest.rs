//! The exported side: one invocation in, one output or error back.

use crate::bindings::exports::toolgate::plugin::integration;
use crate::bindings::toolgate::plugin::types;
use crate::blob::Blob;
use crate::context::Facts;
use crate::error::{ErrorKind, ToolError};
use crate::plugin::Plugin;

pub fn invoke(
    plugin: &'static Plugin,
    call: integration::Invocation,
) -> Result<integration::Output, types::ToolError> {
    let facts = Facts {
        session: call.session,
        cursor: call.cursor,
    };
    match plugin.call(&call.tool, &call.arguments, facts) {
        Ok(output) => Ok(integration::Output {
            data: output.data,
            files: output.files.into_iter().map(Blob::into_handle).collect(),
            next_cursor: output.next_cursor,
            summary: output.summary,
            meta: None,
        }),
        Err(error) => Err(told(error)),
    }
}

fn told(error: ToolError) -> types::ToolError {
    let kind = match error.kind {
        ErrorKind::InvalidArguments => types::ErrorKind::InvalidArguments,
        ErrorKind::AuthRequired => types::ErrorKind::AuthRequired,
        ErrorKind::AuthExpired => types::ErrorKind::AuthExpired,
        ErrorKind::PermissionDenied => types::ErrorKind::PermissionDenied,
        ErrorKind::NotFound => types::ErrorKind::NotFound,
        ErrorKind::Conflict => types::ErrorKind::Conflict,
        ErrorKind::RateLimited => types::ErrorKind::RateLimited,
        ErrorKind::Upstream => types::ErrorKind::Upstream,
        ErrorKind::Unavailable => types::ErrorKind::Unavailable,
        ErrorKind::TooLarge => types::ErrorKind::TooLarge,
        ErrorKind::Cancelled => types::ErrorKind::Cancelled,
        ErrorKind::Internal => types::ErrorKind::Internal,
    };
    types::ToolError {
        kind,
        code: error.code,
        message: error.message,
        retry_after_ms: error.retry_after_ms,
        http_status: error.http_status,
        field: error.field,
        details: error.details.map(|details| details.to_string()),
    }
}
