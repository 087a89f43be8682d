//! Keeps the bodies of a call's exchanges, where its workspace wants them.
//!
//! A request's body is taken before a credential is written into it, an answer's as the plugin got
//! it; in both, what is known as a secret is replaced.

use http::header::{CONTENT_TYPE, HeaderMap};

use super::hop::Hop;
use super::payload::{Payload, PayloadSide, Payloads};
use super::scope::CallScope;
use super::{RequestRecord, Response};

/// A media type that is longer is cut.
const MEDIA_TYPE_BYTES_MAX: usize = 200;

impl CallScope {
    /// The same scope, which keeps the bodies of its exchanges.
    pub fn with_payload_capture(mut self) -> Self {
        self.payloads = Some(Payloads::default());
        self
    }

    /// What was kept so far.
    pub fn payloads(&self) -> Vec<Payload> {
        self.payloads.as_ref().map_or_else(Vec::new, Payloads::kept)
    }

    pub(super) fn next_number(&self) -> u32 {
        self.payloads.as_ref().map_or(0, Payloads::next_number)
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
            payloads.keep(payload);
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
