//! Answers that arrive piece by piece: server-sent events with the deltas of a message, or one JSON
//! document where a server does not stream.

use serde_json::Value;

use super::wire::{self, CALLS_MAX, Reply, ToolCall};
use super::{ModelError, failed};
use toolgate_egress::OpenResponse;

type OnText<'a, 'b> = Option<&'a mut (dyn FnMut(&str) + Send + 'b)>;

/// Reads an answer to its end. Its size is bounded by how it was opened.
pub(super) async fn read(
    opened: &mut OpenResponse,
    on_text: &mut OnText<'_, '_>,
) -> Result<Reply, ModelError> {
    let kind = opened.headers().get(http::header::CONTENT_TYPE);
    let events = kind
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
    let mut whole = Vec::new();
    let mut deltas = Deltas::default();
    while let Some(piece) = opened.chunk().await.map_err(|failure| failed(&failure))? {
        whole.extend_from_slice(&piece);
        if !events {
            continue;
        }
        while let Some(end) = whole.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = whole.drain(..=end).collect();
            if deltas.line(&line, on_text)? {
                return wire::finished(deltas.reply);
            }
        }
    }
    if events {
        deltas.line(&whole, on_text)?;
        return wire::finished(deltas.reply);
    }
    let reply = wire::reply(&whole)?;
    if let Some(on_text) = on_text
        && !reply.text.is_empty()
    {
        on_text(&reply.text);
    }
    Ok(reply)
}

/// An answer as far as it has arrived.
#[derive(Default)]
struct Deltas {
    reply: Reply,
}

impl Deltas {
    /// Takes one line of the stream. `true`: it was the last one.
    fn line(&mut self, line: &[u8], on_text: &mut OnText<'_, '_>) -> Result<bool, ModelError> {
        let line = line.trim_ascii();
        // Comments, event names and ids say nothing here; every event's data is one line.
        let Some(data) = line.strip_prefix(b"data:") else {
            return Ok(false);
        };
        let data = data.trim_ascii();
        if data == b"[DONE]" {
            return Ok(true);
        }
        let event: Value =
            serde_json::from_slice(data).map_err(|_| ModelError::Answer("an event is not JSON"))?;
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ModelError::Answer("the stream ended with an error"));
        }
        if let Some(usage) = wire::usage(&event) {
            self.reply.usage = Some(usage);
        }
        let Some(delta) = event.pointer("/choices/0/delta").and_then(Value::as_object) else {
            return Ok(false);
        };
        let text = wire::text(delta);
        if !text.is_empty() {
            if let Some(on_text) = on_text {
                on_text(&text);
            }
            self.reply.text.push_str(&text);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (n, call) in calls.into_iter().flatten().enumerate() {
            let index = call.get("index").and_then(Value::as_u64);
            let index = index.map_or(n, |index| usize::try_from(index).unwrap_or(usize::MAX));
            if index >= CALLS_MAX {
                continue;
            }
            let made = &mut self.reply.calls;
            if made.len() <= index {
                made.resize(index + 1, ToolCall::default());
            }
            wire::merge(&mut made[index], call);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<(Reply, String), ModelError> {
        let (mut deltas, mut heard) = (Deltas::default(), String::new());
        let mut listen = |text: &str| heard.push_str(text);
        let mut on_text: OnText<'_, '_> = Some(&mut listen);
        for line in lines {
            if deltas.line(line.as_bytes(), &mut on_text)? {
                break;
            }
        }
        let reply = wire::finished(deltas.reply)?;
        Ok((reply, heard))
    }

    #[test]
    fn pieces_become_one_answer() {
        let (reply, heard) = read(&[
            ": hello",
            r#"data: {"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
            r#"data: {"choices":[{"delta":{"content":"Look"}}]}"#,
            r#"data:{"choices":[{"delta":{"content":"ing"}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"n","arguments":"{\"a\""}}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":900,"id":"x"}]}}]}"#,
            r#"data: {"choices":[],"usage":{"total_tokens":9}}"#,
            "data: [DONE]",
            "data: never read",
        ])
        .unwrap();
        assert_eq!(
            (reply.text.as_str(), heard.as_str()),
            ("Looking", "Looking")
        );
        assert_eq!(reply.calls.len(), 1);
        assert_eq!(reply.calls[0].arguments, r#"{"a":1}"#);
        assert_eq!(reply.usage.unwrap().total_tokens, 9);
    }

    #[test]
    fn garbage_in_a_stream_ends_it() {
        for lines in [
            &["data: {"][..],
            &[r#"data: {"error":{"message":"overloaded"}}"#],
            &["data: [DONE]"],
            &[],
        ] {
            assert!(
                matches!(read(lines), Err(ModelError::Answer(_))),
                "{lines:?}"
            );
        }
    }
}
