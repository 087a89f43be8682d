//! What a call's receipt says about one request on the wire.
//!
//! Everything is as it was before injection, so no credential of the gateway is in it. What a plugin or its caller put
//! into the address and may be a credential is not kept ([`super::receipt_address`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sha2::{Digest as _, Sha256};
use url::Url;

use super::effect::DescribedSend;
use super::hop::Hop;
use super::receipt_address::{masked_path, masked_query};
use super::scope::CallScope;
use super::scrub::Scrubber;
use super::{Injection, RequestRecord};

/// How much of a path the receipt keeps, and of a query.
pub(crate) const RECEIPT_PATH_BYTES_MAX: usize = 1024;
/// The line of one request, without what its answer adds. `described`: what the tool's manifest declares of it.
pub(super) fn record(
    method: &http::Method,
    url: &Url,
    body: &[u8],
    slot: Option<&str>,
    described: Option<&DescribedSend>,
    scrubber: &Scrubber,
) -> RequestRecord {
    let template = described.and_then(|own| own.template_of(method, url));
    let path = masked_path(&scrubber.text(url.path()), template, scrubber);
    RequestRecord {
        method: method.to_string(),
        origin: url.origin().ascii_serialization(),
        host: url.host_str().unwrap_or_default().to_owned(),
        path: cut(path),
        query: url
            .query()
            .filter(|query| !query.is_empty())
            .map(|query| cut(masked_query(query, scrubber))),
        status: None,
        bytes_out: body.len() as u64,
        body_sha256: (!body.is_empty()).then(|| sha256(body)),
        bytes_in: 0,
        started_ms: None,
        duration_ms: 0,
        credential_slot: slot.map(str::to_owned),
    }
}

fn sha256(body: &[u8]) -> String {
    hex::encode(Sha256::digest(body))
}

pub(super) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(RECEIPT_PATH_BYTES_MAX));
    text
}

/// One line of the receipt, written when it is dropped: a call that is cut off leaves it too.
pub(super) struct ReceiptLine<'a> {
    scope: &'a CallScope,
    sent: &'a AtomicBool,
    started: Instant,
    pub(super) record: RequestRecord,
    /// Whether the provider may have seen the request.
    pub(super) left: bool,
}

impl<'a> ReceiptLine<'a> {
    pub(super) fn start(
        scope: &'a CallScope,
        sent: &'a AtomicBool,
        hop: &Hop,
        injection: Option<&Injection>,
    ) -> Self {
        let mut record = record(
            &hop.method,
            &hop.target.url,
            &hop.body,
            injection.map(|injection| injection.slot.as_str()),
            scope.described.as_ref(),
            &scope.scrubber(),
        );
        record.started_ms = Some(scope.age_ms());
        Self {
            scope,
            sent,
            started: Instant::now(),
            record,
            left: true,
        }
    }
}

impl Drop for ReceiptLine<'_> {
    fn drop(&mut self) {
        if self.left {
            self.sent.store(true, Ordering::Relaxed);
            self.record.duration_ms =
                u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.scope.record(self.record.clone());
        }
    }
}
