//! The answer as the plugin may see it.
//!
//! Pure. Where a credential rode on the request, or could have, what comes back is decided by its form
//! before it is scrubbed: listed and declared headers, listed and declared media types, no part of an
//! answer that was not asked for in parts. A refusal of the credential itself (401, 403) is handed over
//! as the few fields in which providers say why, since its body may well repeat what was refused.

use std::borrow::Cow;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode};

use super::charset::{self, DecodedText};
use super::content_type::ContentType;
use super::dial::ReceivedResponse;
use super::hop::Hop;
use super::reasons::reasons;
use super::scope::CallScope;
use super::scrub::{Scrubber, SearchDepth};
use super::{EgressFailure, FailureKind, Injection, Response, follow, headers};
use toolgate_catalog::manifest::Placement;
use toolgate_catalog::wire;

/// How an answer was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerTerms {
    /// The request asked for the start of it only.
    pub in_part: bool,
    /// It is kept as a file: its bytes stay in their charset.
    pub as_file: bool,
    pub bytes_max: usize,
    pub now: SystemTime,
}

/// What of an answer the plugin gets.
pub(super) fn shown(
    scope: &CallScope,
    hop: &Hop,
    injection: Option<&Injection>,
    terms: AnswerTerms,
    answer: ReceivedResponse,
) -> Result<Response, EgressFailure> {
    let declared = &scope.declared;
    let is_head = hop.method == Method::HEAD;
    let given = headers::incoming(&answer.headers, is_head, declared)
        .ok_or_else(|| refused(FailureKind::TooLarge, "the answer's headers are too large"))?;
    let origin = hop.target.origin.to_string();
    let guarded = !declared.is_open()
        && (injection.is_some() || scope.credentials.slot_for_origin(&origin).is_some());
    let mut body = DecodedBody::read(&answer, terms)?;
    if guarded {
        body = body.guard(scope, &answer, terms)?;
    }
    // A server that never has the credential cannot repeat pieces of it. It can send guesses, and what is removed would
    // say which of them were right.
    let knows = guarded || declared.is_audience(&hop.target, &scope.parameters());
    let depth = match knows {
        true => SearchDepth::Pieces,
        false => SearchDepth::Wholes,
    };
    let scrubber = scope.scrubber();
    let body = body.scrub_file(&scrubber, depth);
    let mut headers = clean_headers(given, &answer, &body, injection, &scrubber, depth, terms);
    if terms.in_part && guarded {
        headers.extend(content_range(&answer.headers));
    }
    Ok(Response {
        status: answer.status,
        headers,
        body: scrubber.bytes_to(depth, body.bytes),
        url: scrubber
            .text_to(depth, hop.target.url.as_str())
            .into_owned(),
    })
}

/// A body whose text is UTF-8, unless it is kept as a file.
struct DecodedBody {
    bytes: Bytes,
    content_type: Option<ContentType>,
    /// What the body is as text.
    text: DecodedText,
    /// The media type as the plugin gets it, where it is not what the server wrote.
    written_type: Option<String>,
    /// The text of a file, which itself keeps its charset.
    file_text: Option<Bytes>,
}

impl DecodedBody {
    fn read(answer: &ReceivedResponse, terms: AnswerTerms) -> Result<Self, EgressFailure> {
        let content_type = ContentType::from_headers(&answer.headers);
        let text = text(content_type.as_ref(), &answer.body, terms.bytes_max);
        let in_utf8 = || content_type.as_ref().map(ContentType::in_utf8);
        let (mut bytes, mut written_type, mut file_text) = (answer.body.clone(), None, None);
        match &text {
            // Nothing that is read out of a part says in which charset the rest of it is.
            _ if terms.in_part => {}
            DecodedText::TooLarge if !terms.as_file => {
                let message = "the answer is larger than allowed";
                return Err(refused(FailureKind::TooLarge, message));
            }
            DecodedText::Decoded(text) if terms.as_file => file_text = Some(text.clone()),
            DecodedText::Decoded(text) => {
                bytes = text.clone();
                written_type = in_utf8();
            }
            DecodedText::Relabelled => written_type = in_utf8(),
            DecodedText::AsItCame | DecodedText::NotRead | DecodedText::TooLarge => {}
        }
        if let Some(found) = content_type.as_ref().filter(|found| found.is_doubled()) {
            written_type.get_or_insert_with(|| found.in_one());
        }
        Ok(Self {
            bytes,
            content_type,
            text,
            written_type,
            file_text,
        })
    }

    /// What is handed over where a credential could come back: reasons of a refusal, declared media types, no part that
    /// was not asked for.
    fn guard(
        mut self,
        scope: &CallScope,
        answer: &ReceivedResponse,
        terms: AnswerTerms,
    ) -> Result<Self, EgressFailure> {
        let is_part = answer.status == StatusCode::PARTIAL_CONTENT.as_u16()
            || answer.headers.contains_key(CONTENT_RANGE);
        if !terms.in_part && is_part {
            return Err(refused(
                FailureKind::Protocol,
                "the provider answered with a part that was not asked for",
            ));
        }
        if matches!(answer.status, 401 | 403 | 407) {
            self.bytes = reasons(&self.bytes).into();
            return Ok(self);
        }
        let media = readable(scope, self.content_type.as_ref(), &self.text, &self.bytes);
        match media {
            Err(media) if answer.status < 400 => Err(refused(
                FailureKind::Protocol,
                format!(
                    "the provider answered with {media}, which the plugin does not declare in `response_types`"
                ),
            )),
            Err(_) => {
                self.bytes = Bytes::new();
                Ok(self)
            }
            Ok(()) => Ok(self),
        }
    }

    /// A file keeps its bytes unless its text holds a secret.
    fn scrub_file(mut self, scrubber: &Scrubber, depth: SearchDepth) -> Self {
        if let Some(text) = self.file_text.take() {
            let clean = scrubber.bytes_to(depth, text.clone());
            if clean != text {
                self.bytes = clean;
                self.written_type = self.content_type.as_ref().map(ContentType::in_utf8);
            }
        }
        self
    }
}

/// The headers without secrets: media type and wait as they are written for the plugin, none that may hold a
/// credential.
fn clean_headers(
    given: Vec<(String, String)>,
    answer: &ReceivedResponse,
    body: &DecodedBody,
    injection: Option<&Injection>,
    scrubber: &Scrubber,
    depth: SearchDepth,
    terms: AnswerTerms,
) -> Vec<(String, String)> {
    let wait = waiting(answer.status, &answer.headers, terms.now);
    let written: Vec<(String, String)> = [
        (CONTENT_TYPE.as_str(), body.written_type.clone()),
        (RETRY_AFTER.as_str(), wait),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect();
    let replaced = |name: &str| written.iter().any(|(written, _)| written == name);
    let is_clean = |text: &str| matches!(scrubber.text_to(depth, text), Cow::Borrowed(_));
    let kept = given.into_iter().filter(|(name, _)| !replaced(name));
    let kept: Vec<_> = kept.collect();
    kept.into_iter()
        .chain(written)
        .filter(|(name, _)| !is_placement(injection, name) && is_clean(name))
        .filter(|(name, value)| name != WWW_AUTHENTICATE.as_str() || is_clean(value))
        .map(|(name, value)| (name, scrubber.text_to(depth, &value).into_owned()))
        .collect()
}

/// The text that a body is, by what its `Content-Type` says. A body without one is bytes.
fn text(content_type: Option<&ContentType>, body: &bytes::Bytes, bytes_max: usize) -> DecodedText {
    let Some(content_type) = content_type.filter(|_| !body.is_empty()) else {
        return DecodedText::AsItCame;
    };
    let media = content_type.media.first().map_or("", String::as_str);
    let label = content_type.charset.as_deref();
    if !wire::is_text(media) {
        // Of bytes that are no text a charset says nothing, but one that is not read is no good sign.
        return match charset::is_not_read(label) {
            true => DecodedText::NotRead,
            false => DecodedText::AsItCame,
        };
    }
    let json = media.ends_with("json");
    charset::decode(label, json, body, bytes_max)
}

/// Whether the body is of a media type that the plugin may read; else its name.
fn readable(
    scope: &CallScope,
    content_type: Option<&ContentType>,
    text: &DecodedText,
    body: &[u8],
) -> Result<(), String> {
    if body.is_empty() {
        return Ok(());
    }
    let manifest = scope.declared.manifest();
    let Some(content_type) = content_type else {
        let text = std::str::from_utf8(body).is_ok();
        let open = text || wire::may_read_type(manifest, "application/octet-stream");
        return match open {
            true => Ok(()),
            false => Err("bytes of no named type".to_owned()),
        };
    };
    if *text == DecodedText::NotRead {
        return Err("text in an encoding that is not read".to_owned());
    }
    if content_type.media.is_empty() {
        return Err("no valid media type".to_owned());
    }
    for media in &content_type.media {
        if !wire::may_read_type(manifest, media) {
            return Err(match wire::check_type(media).is_ok() {
                true => format!("`{media}`"),
                false => "no valid media type".to_owned(),
            });
        }
    }
    Ok(())
}

/// The `Retry-After` that a plugin gets: seconds, whichever way the server writes it.
fn waiting(status: u16, headers: &HeaderMap, now: SystemTime) -> Option<String> {
    let wait = match headers.get(RETRY_AFTER) {
        Some(value) => follow::wait(value.to_str().ok()?, now)?,
        None if status == StatusCode::TOO_MANY_REQUESTS.as_u16() => {
            follow::wait_for_limit(headers, now)?
        }
        None => return None,
    };
    Some(follow::in_seconds(wait))
}

/// `bytes 0-9/100`, where the plugin asked for the start of a file.
fn content_range(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let plain = value.len() <= 64
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"bytes -/*".contains(&byte));
    plain.then(|| (CONTENT_RANGE.as_str().to_owned(), value.to_owned()))
}

fn is_placement(injection: Option<&Injection>, name: &str) -> bool {
    injection.is_some_and(|injection| {
        injection
            .placements
            .iter()
            .any(|placement| match placement {
                Placement::Header { header, .. } => header.eq_ignore_ascii_case(name),
                _ => false,
            })
    })
}

fn refused(kind: FailureKind, message: impl Into<String>) -> EgressFailure {
    EgressFailure {
        kind,
        message: message.into(),
        sent: true,
    }
}
