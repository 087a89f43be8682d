//! A language model behind an OpenAI-compatible chat API.
//!
//! Owns: what is asked and answered ([`Request`], [`Reply`]), how that looks on the wire ([`wire`]),
//! also while it streams ([`stream`]). What the server sends is a stranger's text: bounded in bytes
//! and time and read tolerantly, because "compatible" means many things. Every request goes out
//! through [`toolgate_egress`]; the operator named the address, so exactly that origin is granted.

#![forbid(unsafe_code)]

mod stream;
mod wire;

use std::time::Duration;

use bytes::Bytes;
use http::{Method, header};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use toolgate_egress::{
    DestinationClass, Egress, EgressFailure, FailureKind, HostRequest, OpenResponse,
};
use toolgate_vault::Secret;

pub use wire::{Chat, Reply, ToolCall, Usage};

/// Bytes of one answer, with everything around its text.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Tokens that one answer may have.
pub const ANSWER_TOKENS_MAX: u32 = 8_192;
/// Repetitions after 429 and 503.
const REPEATS_MAX: u32 = 2;
/// No repetition waits longer, whatever the server asks for.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// One model of one server.
pub struct Model {
    egress: Egress,
    /// Without a trailing slash.
    base_url: String,
    name: String,
    key: Option<Secret>,
}

/// What the model is asked.
#[derive(Clone, Debug)]
pub struct Request {
    pub messages: Vec<Chat>,
    /// Functions it may call, in the API's form.
    pub tools: Value,
}

/// Why there is no answer. Says nothing of addresses, keys or bodies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    #[error("the model did not answer in time")]
    TimedOut,
    #[error("the model's server cannot be reached")]
    Unreachable,
    #[error("the model's server answered with status {0}")]
    Status(u16),
    #[error("the model's answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("the model's answer is not that of an OpenAI-compatible chat API: {0}")]
    Answer(&'static str),
}

impl Model {
    pub fn new(egress: Egress, base_url: String, name: String, key: Option<Secret>) -> Self {
        Self {
            egress,
            base_url,
            name,
            key,
        }
    }

    /// Asks the model. With `on_text` the answer is asked for as a stream, and every piece of its
    /// text is handed on as it arrives.
    pub async fn ask(
        &self,
        request: &Request,
        until: Instant,
        mut on_text: Option<&mut (dyn FnMut(&str) + Send)>,
    ) -> Result<Reply, ModelError> {
        let mut repeats = 0;
        loop {
            let streamed = on_text.is_some();
            let attempt = self.attempt(request, streamed, until);
            let opened = timeout_at(until, attempt)
                .await
                .map_err(|_| ModelError::TimedOut)?;
            let mut opened = opened.map_err(|failure| failed(&failure))?;
            let status = opened.status();
            if (200..300).contains(&status) {
                // What was asked for as a stream may come whole, and the other way round.
                let read = stream::read(&mut opened, &mut on_text);
                return timeout_at(until, read)
                    .await
                    .map_err(|_| ModelError::TimedOut)?;
            }
            let wait = wait_for(&opened, repeats);
            let may_repeat = matches!(status, 429 | 503) && repeats < REPEATS_MAX;
            if !may_repeat || Instant::now() + wait >= until {
                return Err(ModelError::Status(status));
            }
            repeats += 1;
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(
        &self,
        request: &Request,
        streamed: bool,
        until: Instant,
    ) -> Result<OpenResponse, EgressFailure> {
        let body = wire::body(&self.name, request, streamed);
        let accept = if streamed {
            "text/event-stream, application/json"
        } else {
            "application/json"
        };
        let mut headers = vec![
            (header::ACCEPT.to_string(), accept.to_owned()),
            (
                header::CONTENT_TYPE.to_string(),
                "application/json".to_owned(),
            ),
        ];
        if let Some(key) = &self.key {
            headers.push((
                header::AUTHORIZATION.to_string(),
                format!("Bearer {}", key.expose()),
            ));
        }
        self.egress
            .open_for_host(HostRequest {
                method: Method::POST,
                class: DestinationClass::Model,
                url: format!("{}/chat/completions", self.base_url),
                headers,
                body: Bytes::from(body),
                origins: vec![self.base_url.clone()],
                response_bytes_max: ANSWER_BYTES_MAX,
                timeout: until.saturating_duration_since(Instant::now()),
            })
            .await
    }
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3), else a second and then two.
fn wait_for(opened: &OpenResponse, repeats: u32) -> Duration {
    let asked = opened
        .headers()
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(Duration::from_secs);
    asked
        .unwrap_or_else(|| Duration::from_secs(1 << repeats.min(4)))
        .min(WAIT_MAX)
}

fn failed(failure: &EgressFailure) -> ModelError {
    tracing::warn!(error = %failure, "model.request_failed");
    match failure.kind {
        FailureKind::Timeout => ModelError::TimedOut,
        FailureKind::TooLarge => ModelError::TooLarge,
        _ => ModelError::Unreachable,
    }
}
