//! Executes a tool over REST with a stream of server-sent events, so that progress arrives while it runs.
//!
//! A client that stops waiting closes the stream, and that cancels the call at the gateway.

use std::pin::pin;

use futures_util::StreamExt as _;
use http::{Method, header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sse_stream::SseStream;

use super::{ANSWER_BYTES_MAX, Remote, data, sent, wire, with_body};
use toolgate_gateway::Error;
use toolgate_gateway::tools::{CallEvent, CallListener};

const EVENTS: &str = "text/event-stream";

#[derive(Deserialize)]
struct ProgressEvent {
    done: u64,
    total: Option<u64>,
    message: String,
}

impl Remote {
    /// Executes a tool, answered as it is documented, without its envelope. What the tool tells goes to
    /// `listener`.
    pub async fn call_tool(
        &self,
        tool_name: &str,
        body: Value,
        listener: &CallListener,
    ) -> Result<Value, Error> {
        let path = ["tools", tool_name, "execute"];
        let request = with_body(self.request(Method::POST, &path, &[])?, Some(body));
        self.watch(request, listener).await
    }

    /// The answer to `request`. What its tool tells goes to `listener`.
    pub(super) async fn watch<T: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
        listener: &CallListener,
    ) -> Result<T, Error> {
        let answer = sent(request.header(header::ACCEPT, EVENTS)).await?;
        let kind = answer.headers().get(header::CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENTS.as_bytes())) {
            return self.whole(answer).await;
        }
        let mut left = ANSWER_BYTES_MAX;
        let bounded = answer.bytes_stream().map(move |chunk| {
            let chunk = chunk.map_err(|cause| std::io::Error::other(cause.without_url()))?;
            let fits = left.checked_sub(chunk.len());
            left = fits.ok_or_else(|| std::io::Error::other("the answer is too large"))?;
            Ok::<_, std::io::Error>(chunk)
        });
        let mut events = pin!(SseStream::from_bytes_stream(bounded));
        while let Some(event) = events.next().await {
            let event = event.map_err(|cause| anyhow::anyhow!("the stream broke off: {cause}"))?;
            let text = event.data.unwrap_or_default();
            match event.event.as_deref() {
                Some("reply") => return data(text.as_bytes()),
                Some("error") => return Err(wire::refusal(500, text.as_bytes())),
                Some(name) => {
                    if let (Some(events), Some(event)) = (&listener.events, call_event(name, text))
                    {
                        events(event);
                    }
                }
                None => {}
            }
        }
        Err(anyhow::anyhow!("the gateway ended the stream without a reply").into())
    }
}

/// An event that this version knows.
fn call_event(name: &str, text: String) -> Option<CallEvent> {
    match name {
        "progress" => {
            let ProgressEvent {
                done,
                total,
                message,
            } = serde_json::from_str(&text).ok()?;
            Some(CallEvent::Progress {
                done,
                total,
                message,
            })
        }
        "partial" => serde_json::from_str(&text).ok().map(CallEvent::Partial),
        _ => None,
    }
}
