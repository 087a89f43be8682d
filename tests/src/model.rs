//! An OpenAI-compatible server on loopback that says what a test has written for it: whole or as a
//! stream, as it is asked. It also fails in the ways in which such servers fail.
//!
//! Any other such server can take its place in the test that asks for no script: set
//! `TOOLGATE_TEST_MODEL_URL` (for example `http://127.0.0.1:11434/v1`), `TOOLGATE_TEST_MODEL` and,
//! where it wants a key, `TOOLGATE_TEST_MODEL_KEY_FILE`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::Response;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::upstream::{Received, Upstream};

/// One answer of the script.
#[derive(Clone, Debug)]
pub enum Line {
    Text(String),
    /// Function and arguments, one or several in one answer.
    Calls(Vec<(String, Value)>),
    /// The same, with what the server says it cost.
    Tokens(u64, Box<Line>),
    /// A status without a sound body; `Retry-After` in seconds.
    Status(u16, Option<u64>),
    /// A body that is not an answer, with status 200.
    Body(String),
    /// The head of an answer and then nothing.
    Hang,
    /// An answer that comes once [`Model::open_gate`] was called for it.
    Gated(Box<Line>),
}

pub fn text(text: &str) -> Line {
    Line::Text(text.to_owned())
}

pub fn call(function: &str, arguments: Value) -> Line {
    Line::Calls(vec![(function.to_owned(), arguments)])
}

/// A running server.
pub struct Model {
    pub upstream: Upstream,
    gate: Arc<Semaphore>,
}

impl Model {
    /// Says the lines in their order, and the last one again and again.
    pub async fn start(script: impl IntoIterator<Item = Line>) -> Self {
        let script = Mutex::new(script.into_iter().collect::<VecDeque<Line>>());
        let gate = Arc::new(Semaphore::new(0));
        let gated = gate.clone();
        let upstream = Upstream::start(move |request| {
            let mut script = script.lock().expect("no test panics here");
            let line = match script.len() {
                1 => script[0].clone(),
                _ => script.pop_front().expect("a script has a line"),
            };
            answer(request, line, &gated)
        })
        .await;
        Self { upstream, gate }
    }

    /// Base address, as `--model-url` takes it.
    pub fn url(&self) -> String {
        format!("{}/v1", self.upstream.url())
    }

    pub fn open_gate(&self) {
        self.gate.add_permits(1);
    }

    /// The bodies of everything that was asked.
    pub fn asked(&self) -> Vec<Value> {
        let received = self.upstream.received();
        let bodies = received.iter().map(|request| {
            assert_eq!(request.target, "/v1/chat/completions");
            serde_json::from_str(&request.body).expect("the gateway sends JSON")
        });
        bodies.collect()
    }
}

fn answer(request: &Received, line: Line, gate: &Arc<Semaphore>) -> Response<Body> {
    let asked: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let streamed = asked["stream"] == true;
    match line {
        Line::Gated(line) => {
            let gate = gate.clone();
            let (head, body) = answer(request, *line, &gate).into_parts();
            let wait = futures_util::stream::once(async move {
                if let Ok(permit) = gate.acquire().await {
                    permit.forget();
                }
                Ok(Bytes::new())
            });
            Response::from_parts(head, Body::from_stream(wait.chain(body.into_data_stream())))
        }
        Line::Status(status, retry_after) => {
            let mut response = Response::builder().status(status);
            if let Some(seconds) = retry_after {
                response = response.header("retry-after", seconds.to_string());
            }
            response
                .body(Body::from(
                    "{\"error\":{\"message\":\"a-secret-of-the-server\"}}",
                ))
                .expect("a sound response")
        }
        Line::Body(body) => whole("application/json", body),
        Line::Hang => {
            let never = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
            Response::new(Body::from_stream(never))
        }
        Line::Tokens(tokens, line) => said(*line, Some(tokens), streamed),
        line => said(line, None, streamed),
    }
}

fn said(line: Line, tokens: Option<u64>, streamed: bool) -> Response<Body> {
    let (text, calls) = match line {
        Line::Text(text) => (text, Vec::new()),
        Line::Calls(calls) => (String::new(), calls),
        other => panic!("{other:?} says nothing"),
    };
    let calls: Vec<Value> = calls
        .into_iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            json!({
                "index": index,
                "id": format!("call_{index}_{name}"),
                "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()},
            })
        })
        .collect();
    let usage = tokens.map(|tokens| json!({"total_tokens": tokens}));
    if !streamed {
        let mut message = json!({"role": "assistant", "content": text});
        let mut reason = "stop";
        if !calls.is_empty() {
            reason = "tool_calls";
            message["tool_calls"] = calls.into();
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        let body = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": "scripted",
            "choices": [choice],
            "usage": usage,
        });
        return whole("application/json", body.to_string());
    }
    let mut events = vec![json!({"choices": [{"delta": {"role": "assistant", "content": ""}}]})];
    // Two characters at a time.
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks(2) {
        let piece: String = piece.iter().collect();
        events.push(json!({"choices": [{"delta": {"content": piece}}]}));
    }
    for call in &calls {
        let (mut first, mut second) = (call.clone(), json!({"index": call["index"]}));
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let (one, two) = arguments.split_at(arguments.len() / 2);
        first["function"]["arguments"] = one.into();
        second["function"] = json!({"arguments": two});
        for piece in [first, second] {
            events.push(json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
        }
    }
    events.push(json!({"choices": [], "usage": usage}));
    let mut body: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    body.push_str("data: [DONE]\n\n");
    whole("text/event-stream", body)
}

fn whole(kind: &str, body: String) -> Response<Body> {
    Response::builder()
        .header("content-type", kind)
        .body(Body::from(body))
        .expect("a sound response")
}
