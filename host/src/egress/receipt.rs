//! What a call's receipt says about one request on the wire.
//!
//! Paths are those before injection, without query: no credential and no argument of a query is kept.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::scope::Scope;
use super::send::Hop;
use super::{Injection, RequestRecord};

/// How much of a path the receipt keeps.
pub const RECEIPT_PATH_BYTES_MAX: usize = 1024;

/// One line of the receipt, written when it is dropped: a call that is cut off leaves it too.
pub(super) struct Receipt<'a> {
    scope: &'a Scope,
    sent: &'a AtomicBool,
    started: Instant,
    pub(super) record: RequestRecord,
    /// Whether the provider may have seen the request.
    pub(super) left: bool,
}

impl<'a> Receipt<'a> {
    pub(super) fn start(
        scope: &'a Scope,
        sent: &'a AtomicBool,
        hop: &Hop,
        injection: Option<&Injection>,
    ) -> Self {
        let path = hop.target.url.path();
        let record = RequestRecord {
            method: hop.method.to_string(),
            host: hop.target.origin.host.clone(),
            // ASCII, as every path of a parsed URL.
            path: path[..path.len().min(RECEIPT_PATH_BYTES_MAX)].to_owned(),
            status: None,
            bytes_out: hop.body.len() as u64,
            bytes_in: 0,
            duration_ms: 0,
            credential_slot: injection.map(|injection| injection.slot.clone()),
        };
        Self {
            scope,
            sent,
            started: Instant::now(),
            record,
            left: true,
        }
    }
}

impl Drop for Receipt<'_> {
    fn drop(&mut self) {
        if self.left {
            self.sent.store(true, Ordering::Relaxed);
            self.record.duration_ms =
                u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.scope.record(self.record.clone());
        }
    }
}
