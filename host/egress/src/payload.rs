//! Bodies of a call's exchanges, bounded for a body and for a call. [`super::capture`] takes them.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

/// Of one body the first bytes are kept.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
/// Of all bodies of one call together.
pub const CALL_BYTES_MAX: usize = 512 * 1024;

/// Which half of an exchange a body is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PayloadSide {
    Request,
    Answer,
}

/// The beginning of one body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Of the request within its call, from 1 on in the order in which they left; of an answer the
    /// number of its request.
    pub number: u32,
    pub side: PayloadSide,
    pub method: String,
    pub origin: String,
    pub path: String,
    pub media_type: Option<String>,
    /// Of the whole body, secrets replaced.
    pub bytes_total: usize,
    pub content: Bytes,
}

/// What one call keeps.
#[derive(Debug)]
pub(super) struct Payloads {
    numbers: AtomicU32,
    bytes_left: AtomicUsize,
    kept: Mutex<Vec<Payload>>,
}

impl Default for Payloads {
    fn default() -> Self {
        Self {
            numbers: AtomicU32::new(0),
            bytes_left: AtomicUsize::new(CALL_BYTES_MAX),
            kept: Mutex::default(),
        }
    }
}

impl Payloads {
    /// As much of `body` as there is room for.
    pub(super) fn beginning(&self, body: &Bytes) -> Bytes {
        let wanted = body.len().min(BODY_BYTES_MAX);
        let take = |left: usize| Some(left.saturating_sub(wanted));
        let left = self
            .bytes_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .unwrap_or_default();
        // A copy: a slice would hold all of a large body.
        Bytes::copy_from_slice(&body[..wanted.min(left)])
    }

    /// From 1 on, in the order in which requests leave.
    pub(super) fn next_number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn keep(&self, payload: Payload) {
        let kept = self.kept.lock();
        kept.unwrap_or_else(PoisonError::into_inner).push(payload);
    }

    pub(super) fn kept(&self) -> Vec<Payload> {
        let kept = self.kept.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }
}
