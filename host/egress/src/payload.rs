//! Bodies of a call's exchanges, where its workspace keeps them.
//!
//! A request's body is taken before a credential is written into it, an answer's as the plugin got
//! it; of both what is known as a secret is replaced. Bounded for a body and for a call.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};

use super::scope::CallScope;
use super::send::Hop;
use super::{RequestRecord, Response};

/// Of one body the first bytes are kept.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
/// Of all bodies of one call together.
pub const CALL_BYTES_MAX: usize = 512 * 1024;
/// A media type that is longer is cut.
const MEDIA_TYPE_BYTES_MAX: usize = 200;

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
    fn beginning(&self, body: &Bytes) -> Bytes {
        let wanted = body.len().min(BODY_BYTES_MAX);
        let take = |left: usize| Some(left.saturating_sub(wanted));
        let left = self
            .bytes_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .unwrap_or_default();
        // A copy: a slice would hold all of a large body.
        Bytes::copy_from_slice(&body[..wanted.min(left)])
    }
}

impl CallScope {
    /// The same scope, which keeps the bodies of its exchanges.
    pub fn keeping_payloads(mut self) -> Self {
        self.payloads = Some(Payloads::default());
        self
    }

    /// What was kept so far.
    pub fn payloads(&self) -> Vec<Payload> {
        let Some(payloads) = &self.payloads else {
            return Vec::new();
        };
        let kept = payloads.kept.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn next_number(&self) -> u32 {
        let payloads = self.payloads.as_ref();
        payloads.map_or(0, |payloads| {
            payloads.numbers.fetch_add(1, Ordering::Relaxed) + 1
        })
    }

    /// The body of a request that is about to leave.
    pub(super) fn request_payload(
        &self,
        number: u32,
        hop: &Hop,
        record: &RequestRecord,
    ) -> Option<Payload> {
        let payloads = self.payloads.as_ref()?;
        if hop.body.is_empty() {
            return None;
        }
        let body = self.scrub_bytes(hop.body.clone());
        Some(Payload {
            number,
            side: PayloadSide::Request,
            method: record.method.clone(),
            origin: record.origin.clone(),
            path: record.path.clone(),
            media_type: media_type(&hop.headers).map(|media| self.scrub(&media)),
            bytes_total: body.len(),
            content: payloads.beginning(&body),
        })
    }

    pub(super) fn answer_payload(&self, number: u32, hop: &Hop, response: &Response) {
        let Some(payloads) = &self.payloads else {
            return;
        };
        if response.body.is_empty() {
            return;
        }
        let media = response
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(CONTENT_TYPE.as_str()));
        self.keep_payload(Payload {
            number,
            side: PayloadSide::Answer,
            method: hop.method.to_string(),
            origin: hop.target.url.origin().ascii_serialization(),
            path: super::receipt::cut(self.scrub(hop.target.url.path())),
            media_type: media.map(|(_, value)| shortened(value)),
            bytes_total: response.body.len(),
            content: payloads.beginning(&response.body),
        });
    }

    pub(super) fn keep_payload(&self, payload: Payload) {
        if let Some(payloads) = &self.payloads {
            let kept = payloads.kept.lock();
            kept.unwrap_or_else(PoisonError::into_inner).push(payload);
        }
    }
}

fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(shortened(value))
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(MEDIA_TYPE_BYTES_MAX)].to_owned()
}
