//! Requests and their answers.

use crate::bindings::toolgate::plugin::egress;
use crate::blob::Blob;
use crate::http::outgoing::{Body, Method, Outgoing};
use crate::http::response::Response;
use crate::http::{Failure, FailureKind};

pub(crate) fn send(outgoing: Outgoing<'_>) -> Result<Response, Failure> {
    to_response(egress::send(&request(outgoing)))
}

pub(crate) fn send_all(outgoing: Vec<Outgoing<'_>>) -> Vec<Result<Response, Failure>> {
    let requests: Vec<_> = outgoing.into_iter().map(request).collect();
    egress::send_all(&requests)
        .into_iter()
        .map(to_response)
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

fn to_response(answer: Result<egress::Response, egress::Failure>) -> Result<Response, Failure> {
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
