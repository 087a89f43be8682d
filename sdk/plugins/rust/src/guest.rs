//! The exported side: one invocation in, one output or error back; one delivery in, its events back.

use crate::bindings::exports::toolgate::plugin::integration;
use crate::bindings::toolgate::plugin::types;
use crate::bindings::webhook::exports::toolgate::plugin::webhook;
use crate::blob::Blob;
use crate::context::{Facts, LogLevel};
use crate::error::{ErrorKind, ToolError};
use crate::host;
use crate::plugin::Plugin;
use crate::webhook::{Delivery, Event, Normalize};

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
        Err(error) => Err(to_wire_error(error)),
    }
}

pub fn normalize(
    read: Normalize,
    delivery: webhook::Delivery,
) -> Result<Vec<webhook::Event>, types::ToolError> {
    // The host verifies a delivery before it calls this; one that is not verified is refused.
    if !delivery.verified {
        let refused = ToolError::new(ErrorKind::PermissionDenied, "the delivery is not verified");
        return Err(to_wire_error(refused));
    }
    let events = read(&Delivery::new(delivery.headers, delivery.body)).map_err(to_wire_error)?;
    let sent = |event: Event| webhook::Event {
        kind: event.name,
        id: event.id.unwrap_or_default(),
        data: event.data.to_string(),
    };
    Ok(events.into_iter().map(sent).collect())
}

/// Writes the message of a panic to the host's log. With WASI that is not necessary: the host logs what
/// is printed to standard error.
pub fn log_panics() {
    if !cfg!(target_os = "wasi") {
        std::panic::set_hook(Box::new(|panic| {
            host::log(LogLevel::Error, &panic.to_string(), "");
        }));
    }
}

fn to_wire_error(error: ToolError) -> types::ToolError {
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
