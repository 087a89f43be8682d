//! The border inside a component: the contract's imports.

use crate::bindings::toolgate::plugin::{blobs, call, egress, kv, types};
use crate::blob::Blob;
use crate::context::LogLevel;
use crate::error::{ErrorKind, ToolError};
use crate::http::{Body, Failure, FailureKind, Method, Outgoing, Response};
use crate::kv::Entry;

/// A handle to a blob of the host.
pub(crate) type BlobHandle = blobs::Blob;

pub(crate) fn send(outgoing: Outgoing<'_>) -> Result<Response, Failure> {
    answered(egress::send(&request(outgoing)))
}

pub(crate) fn send_all(outgoing: Vec<Outgoing<'_>>) -> Vec<Result<Response, Failure>> {
    let requests: Vec<_> = outgoing.into_iter().map(request).collect();
    egress::send_all(&requests)
        .into_iter()
        .map(answered)
        .collect()
}

fn request(outgoing: Outgoing<'_>) -> egress::Request<'_> {
    egress::Request {
        method: match outgoing.method {
            Method::Get => egress::Method::Get,
            Method::Head => egress::Method::Head,
            Method::Post => egress::Method::Post,
            Method::Put => egress::Method::Put,
            Method::Patch => egress::Method::Patch,
            Method::Delete => egress::Method::Delete,
            Method::Options => egress::Method::Options,
        },
        url: outgoing.url,
        query: outgoing.query,
        headers: outgoing.headers,
        body: match outgoing.body {
            Body::Empty => egress::Body::Empty,
            Body::Bytes(bytes) => egress::Body::Bytes(bytes),
            Body::Blob(blob) => egress::Body::Blob(blob.handle()),
        },
        auth: outgoing.auth,
        mode: if outgoing.stored {
            egress::ResponseMode::Stored
        } else {
            egress::ResponseMode::Buffered
        },
        timeout_ms: outgoing.timeout_ms,
        idempotency_key: outgoing.idempotency_key,
    }
}

fn answered(answer: Result<egress::Response, egress::Failure>) -> Result<Response, Failure> {
    match answer {
        Ok(response) => Ok(Response {
            status: response.status,
            headers: response.headers,
            body: response.data,
            stored: response.stored.map(Blob::from_handle),
            url: response.url,
        }),
        Err(failure) => Err(Failure {
            kind: failure_kind(failure.kind),
            message: failure.message,
            sent: failure.sent,
        }),
    }
}

pub(crate) fn connected(slot: &str) -> bool {
    egress::connected(slot)
}

pub(crate) fn config(key: &str) -> Option<String> {
    call::config(key)
}

pub(crate) fn now_ms() -> u64 {
    call::now_ms()
}

pub(crate) fn remaining_ms() -> u64 {
    call::remaining_ms()
}

pub(crate) fn cancelled() -> bool {
    call::cancelled()
}

pub(crate) fn random_bytes(count: u32) -> Vec<u8> {
    call::random_bytes(count)
}

pub(crate) fn log(level: LogLevel, message: &str, fields: &str) {
    let level = match level {
        LogLevel::Debug => types::LogLevel::Debug,
        LogLevel::Info => types::LogLevel::Info,
        LogLevel::Warn => types::LogLevel::Warn,
        LogLevel::Error => types::LogLevel::Error,
    };
    call::log(level, message, fields);
}

pub(crate) fn progress(done: u64, total: Option<u64>, message: &str) {
    call::progress(done, total, message);
}

pub(crate) fn partial(data: &str) {
    call::partial(data);
}

pub(crate) fn blob_create(
    media_type: &str,
    name: Option<&str>,
    data: &[u8],
) -> Result<BlobHandle, ToolError> {
    blobs::create(media_type, name, data).map_err(error)
}

pub(crate) fn blob_open(reference: &str) -> Result<BlobHandle, ToolError> {
    blobs::open(reference).map_err(error)
}

pub(crate) fn blob_size(blob: &BlobHandle) -> u64 {
    blob.size()
}

pub(crate) fn blob_media_type(blob: &BlobHandle) -> String {
    blob.media_type()
}

pub(crate) fn blob_name(blob: &BlobHandle) -> Option<String> {
    blob.name()
}

pub(crate) fn blob_read(blob: &BlobHandle, offset: u64, len: u32) -> Result<Vec<u8>, ToolError> {
    blob.read(offset, len).map_err(error)
}

pub(crate) fn blob_append(blob: &mut BlobHandle, data: &[u8]) -> Result<(), ToolError> {
    blob.append(data).map_err(error)
}

pub(crate) fn kv_get(key: &str) -> Result<Option<Entry>, ToolError> {
    let found = kv::get(key).map_err(error)?;
    Ok(found.map(|entry| Entry {
        value: entry.value,
        version: entry.version,
    }))
}

pub(crate) fn kv_set(
    key: &str,
    value: &[u8],
    ttl_seconds: Option<u32>,
    if_version: Option<u64>,
) -> Result<u64, ToolError> {
    kv::set(key, value, ttl_seconds, if_version).map_err(error)
}

pub(crate) fn kv_delete(key: &str) -> Result<(), ToolError> {
    kv::delete(key).map_err(error)
}

pub(crate) fn kv_list(
    prefix: &str,
    cursor: Option<&str>,
) -> Result<(Vec<String>, Option<String>), ToolError> {
    kv::list_keys(prefix, cursor).map_err(error)
}

fn failure_kind(kind: egress::FailureKind) -> FailureKind {
    match kind {
        egress::FailureKind::Denied => FailureKind::Denied,
        egress::FailureKind::AuthRequired => FailureKind::AuthRequired,
        egress::FailureKind::AuthExpired => FailureKind::AuthExpired,
        egress::FailureKind::ScopeMissing => FailureKind::ScopeMissing,
        egress::FailureKind::Dns => FailureKind::Dns,
        egress::FailureKind::Connect => FailureKind::Connect,
        egress::FailureKind::Tls => FailureKind::Tls,
        egress::FailureKind::Timeout => FailureKind::Timeout,
        egress::FailureKind::TooLarge => FailureKind::TooLarge,
        egress::FailureKind::BudgetExhausted => FailureKind::BudgetExhausted,
        egress::FailureKind::LeakBlocked => FailureKind::LeakBlocked,
        egress::FailureKind::Cancelled => FailureKind::Cancelled,
        egress::FailureKind::Protocol => FailureKind::Protocol,
    }
}

fn error(error: types::ToolError) -> ToolError {
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
