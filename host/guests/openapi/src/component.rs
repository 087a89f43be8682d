//! The component's exports: the contract of `wit/toolgate.wit`, and `init`, which the builder runs.

use std::sync::OnceLock;

use serde_json::{Map, Value};
use toolgate_openapi_table::{Method, Operation, Table};

use crate::answer::{self, Answer, Asked};
use crate::body::Payload;
use crate::body::multipart::{self, OpenFile, PartContent};
use crate::failure::{Fault, Kind};
use crate::local_time;
use crate::names;
use crate::request::{self, Outgoing};

#[allow(unsafe_code, reason = "made by wit-bindgen")]
mod bindings {
    wit_bindgen::generate!({
        inline: r#"
            package toolgate:interpreter;

            world interpreter {
                include toolgate:plugin/plugin@0.1.1;
                /// Stores the manifest and the table, which is JSON. Called once, by the builder.
                export init: func(manifest: string, table: string);
            }
        "#,
        path: "../../../wit/toolgate.wit",
        world: "toolgate:interpreter/interpreter",
        generate_all,
    });
    use super::Interpreter;
    export!(Interpreter);
}

use bindings::exports::toolgate::plugin::integration::{self, Invocation, Output};
use bindings::toolgate::plugin::{blobs, call, egress, types};

/// Largest file sent inside a multipart body, in bytes.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Largest answer read back from a stored blob to explain a failure, in bytes.
const EXPLANATION_BYTES_MAX: u32 = 64 * 1024;
/// Beginning of a file in which an HTML page is searched for, in bytes.
const PAGE_BYTES_MAX: u32 = 16 * 1024;
const CHUNK_BYTES: u32 = 1024 * 1024;

struct Interpreter;

struct Baked {
    manifest: String,
    table: Table,
}

/// Filled by `init` before the component is frozen, never after.
static BAKED: OnceLock<Baked> = OnceLock::new();

impl bindings::Guest for Interpreter {
    fn init(manifest: String, table: String) {
        let parsed = serde_json::from_str(&table).expect("the builder writes a valid table");
        // Freed memory stays in the snapshot, where zeros take no space.
        let mut text = table.into_bytes();
        text.fill(0);
        drop(text);
        let baked = Baked {
            manifest,
            table: parsed,
        };
        assert!(BAKED.set(baked).is_ok(), "init runs once");
    }
}

impl integration::Guest for Interpreter {
    fn describe() -> String {
        BAKED
            .get()
            .map(|baked| baked.manifest.clone())
            .unwrap_or_default()
    }

    fn invoke(call: Invocation) -> Result<Output, types::ToolError> {
        let operation = BAKED
            .get()
            .and_then(|baked| baked.table.operations.get(&call.tool))
            .ok_or_else(|| {
                Fault::new(
                    Kind::Internal,
                    format!("this plugin has no tool {}", call.tool),
                )
            });
        operation
            .and_then(|operation| perform(operation, &call))
            .map_err(tool_error)
    }
}

fn perform(operation: &Operation, call: &Invocation) -> Result<Output, Fault> {
    let mut arguments = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => arguments,
        _ => {
            return Err(Fault::new(
                Kind::InvalidArguments,
                "the arguments are not a JSON object",
            ));
        }
    };
    let mark = mark(operation, call, &mut arguments);
    names::rename(operation, &mut arguments);
    local_time::check(operation, &arguments)?;
    let setting =
        |key: &str| self::call::config(key).and_then(|text| serde_json::from_str(&text).ok());
    let outgoing = request::build(operation, &arguments, mark.as_deref(), &setting)?;
    let response = send(operation, &outgoing)?;
    if operation.download && response.status < 400 {
        return downloaded(operation, response);
    }
    let body = match (&response.stored, response.data.is_empty()) {
        (Some(blob), true) => blob.read(0, EXPLANATION_BYTES_MAX).map_err(unreported)?,
        _ => response.data,
    };
    let answer = Answer {
        status: response.status,
        headers: &response.headers,
        body: &body,
    };
    let asked = Asked {
        arguments: &arguments,
        mark: mark.as_deref(),
        url: &outgoing.url,
        base: &outgoing.base,
    };
    let result = answer::read(operation, &asked, &answer)?;
    Ok(Output {
        data: result.data,
        files: Vec::new(),
        next_cursor: result.next_cursor,
        summary: result.summary,
        meta: None,
    })
}

/// The page to continue from: the call's own, or the argument `cursor`.
fn mark(
    operation: &Operation,
    call: &Invocation,
    arguments: &mut Map<String, Value>,
) -> Option<String> {
    operation.pages.as_ref()?;
    let argument = match arguments.remove("cursor") {
        Some(Value::String(mark)) if !mark.is_empty() => Some(mark),
        Some(Value::Number(mark)) => Some(mark.to_string()),
        _ => None,
    };
    call.cursor
        .clone()
        .filter(|mark| !mark.is_empty())
        .or(argument)
}

fn send(operation: &Operation, outgoing: &Outgoing) -> Result<egress::Response, Fault> {
    let mut headers = outgoing.headers.clone();
    let file;
    let body = match &outgoing.payload {
        Payload::Empty => egress::Body::Empty,
        Payload::Bytes(bytes) => egress::Body::Bytes(bytes.clone()),
        Payload::File(reference) => {
            file = blobs::open(reference).map_err(unreported)?;
            egress::Body::Blob(&file)
        }
        Payload::Multipart(parts) => {
            let mut files = Vec::new();
            for part in parts {
                if let PartContent::File(reference) = &part.content {
                    files.push(open(reference)?);
                }
            }
            let boundary = multipart::boundary(parts, &files);
            headers.push((
                "content-type".to_owned(),
                format!("multipart/form-data; boundary={boundary}"),
            ));
            egress::Body::Bytes(multipart::write(parts, files, &boundary))
        }
    };
    let request = egress::Request {
        method: match outgoing.method {
            Method::Get => egress::Method::Get,
            Method::Head => egress::Method::Head,
            Method::Post => egress::Method::Post,
            Method::Put => egress::Method::Put,
            Method::Patch => egress::Method::Patch,
            Method::Delete => egress::Method::Delete,
            Method::Options => egress::Method::Options,
        },
        url: outgoing.url.clone(),
        query: Vec::new(),
        headers,
        body,
        auth: slot(operation),
        mode: if operation.download {
            egress::ResponseMode::Stored
        } else {
            egress::ResponseMode::Buffered
        },
        timeout_ms: None,
        idempotency_key: None,
    };
    egress::send(&request).map_err(unsent)
}

/// The first connected slot, else the best one, so that the host names it as the one to connect.
fn slot(operation: &Operation) -> Option<String> {
    let slots = &operation.auth;
    if slots.len() == 1 && !operation.auth_optional {
        return slots.first().cloned();
    }
    let connected = slots.iter().find(|slot| egress::connected(slot));
    match connected {
        None if operation.auth_optional => None,
        None => slots.first().cloned(),
        Some(slot) => Some(slot.clone()),
    }
}

fn open(reference: &str) -> Result<OpenFile, Fault> {
    let blob = blobs::open(reference).map_err(unreported)?;
    let size = blob.size();
    if size > FILE_BYTES_MAX {
        return Err(Fault::new(
            Kind::TooLarge,
            format!("the file has {size} bytes; at most {FILE_BYTES_MAX} can be sent in a form"),
        ));
    }
    let mut data = Vec::new();
    while (data.len() as u64) < size {
        let chunk = blob
            .read(data.len() as u64, CHUNK_BYTES)
            .map_err(unreported)?;
        if chunk.is_empty() {
            break;
        }
        data.extend(chunk);
    }
    Ok(OpenFile {
        name: blob.name(),
        media_type: blob.media_type(),
        data,
    })
}

fn downloaded(operation: &Operation, response: egress::Response) -> Result<Output, Fault> {
    let header = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.clone())
    };
    let media_type =
        header("content-type").unwrap_or_else(|| "application/octet-stream".to_owned());
    let blob = match response.stored {
        Some(blob) => blob,
        None => blobs::create(&media_type, None, &response.data).map_err(unreported)?,
    };
    let begin = blob.read(0, PAGE_BYTES_MAX).map_err(unreported)?;
    if let Some(fault) = answer::unexpected_page(operation, response.status, &media_type, &begin) {
        return Err(fault);
    }
    let data = serde_json::json!({"bytes": blob.size(), "media_type": media_type}).to_string();
    Ok(Output {
        data,
        files: vec![blob],
        next_cursor: None,
        summary: None,
        meta: None,
    })
}

fn unsent(failure: egress::Failure) -> Fault {
    use egress::FailureKind;
    let kind = match failure.kind {
        FailureKind::AuthRequired => Kind::AuthRequired,
        FailureKind::AuthExpired => Kind::AuthExpired,
        // A redirect to another host does not show what the account may do.
        FailureKind::Denied if failure.sent => Kind::Upstream,
        FailureKind::Denied | FailureKind::ScopeMissing | FailureKind::LeakBlocked => {
            Kind::PermissionDenied
        }
        FailureKind::TooLarge | FailureKind::BudgetExhausted => Kind::TooLarge,
        FailureKind::Cancelled => Kind::Cancelled,
        FailureKind::Dns | FailureKind::Connect | FailureKind::Timeout => Kind::Unavailable,
        FailureKind::Tls | FailureKind::Protocol => Kind::Upstream,
    };
    let message = match kind {
        Kind::Upstream if failure.kind == FailureKind::Denied => format!(
            "the service redirected elsewhere, as for a sign-in: {}",
            failure.message
        ),
        _ => failure.message,
    };
    Fault::new(kind, message)
}

fn unreported(error: types::ToolError) -> Fault {
    use types::ErrorKind;
    let kind = match error.kind {
        ErrorKind::InvalidArguments => Kind::InvalidArguments,
        ErrorKind::AuthRequired => Kind::AuthRequired,
        ErrorKind::AuthExpired => Kind::AuthExpired,
        ErrorKind::PermissionDenied => Kind::PermissionDenied,
        ErrorKind::NotFound => Kind::NotFound,
        ErrorKind::Conflict => Kind::Conflict,
        ErrorKind::RateLimited => Kind::RateLimited,
        ErrorKind::Upstream => Kind::Upstream,
        ErrorKind::Unavailable => Kind::Unavailable,
        ErrorKind::TooLarge => Kind::TooLarge,
        ErrorKind::Cancelled => Kind::Cancelled,
        ErrorKind::Internal => Kind::Internal,
    };
    Fault {
        code: error.code,
        ..Fault::new(kind, error.message)
    }
}

fn tool_error(fault: Fault) -> types::ToolError {
    use types::ErrorKind;
    let kind = match fault.kind {
        Kind::InvalidArguments => ErrorKind::InvalidArguments,
        Kind::AuthRequired => ErrorKind::AuthRequired,
        Kind::AuthExpired => ErrorKind::AuthExpired,
        Kind::PermissionDenied => ErrorKind::PermissionDenied,
        Kind::NotFound => ErrorKind::NotFound,
        Kind::Conflict => ErrorKind::Conflict,
        Kind::RateLimited => ErrorKind::RateLimited,
        Kind::Upstream => ErrorKind::Upstream,
        Kind::Unavailable => ErrorKind::Unavailable,
        Kind::TooLarge => ErrorKind::TooLarge,
        Kind::Cancelled => ErrorKind::Cancelled,
        Kind::Internal => ErrorKind::Internal,
    };
    types::ToolError {
        kind,
        code: fault.code,
        message: fault.message,
        retry_after_ms: fault.retry_after_ms,
        http_status: fault.http_status,
        field: fault.field,
        details: fault.details,
    }
}
