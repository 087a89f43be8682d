//! Chat completions as JSON. Pure.
//!
//! Written as the API's reference asks; read by the few fields that are needed, wherever a server
//! leaves the rest out or writes it in another way.

use serde_json::{Map, Value, json};

use super::{ANSWER_TOKENS_MAX, ModelError, Request};

/// Calls of one answer that are looked at.
pub(crate) const CALLS_MAX: usize = 8;

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Chat {
    System(String),
    User(String),
    Assistant { text: String, calls: Vec<ToolCall> },
    Tool { call_id: String, text: String },
}

/// A function that the model wants called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// JSON text as the model wrote it; nobody has looked at it yet.
    pub arguments: String,
}

/// What the model answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: Option<Usage>,
}

/// What the server counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub total_tokens: u64,
}

pub(super) fn body(model: &str, request: &Request, streamed: bool) -> String {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let mut body = json!({
        "model": model,
        "messages": messages,
        "tools": request.tools,
        "max_completion_tokens": ANSWER_TOKENS_MAX,
        "stream": streamed,
    });
    if streamed {
        body["stream_options"] = json!({ "include_usage": true });
    }
    body.to_string()
}

fn message(chat: &Chat) -> Value {
    match chat {
        Chat::System(text) => json!({ "role": "system", "content": text }),
        Chat::User(text) => json!({ "role": "user", "content": text }),
        Chat::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Chat::Assistant { text, calls } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    json!({
                        "id": call.id,
                        "type": "function",
                        "function": { "name": call.name, "arguments": call.arguments },
                    })
                })
                .collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Chat::Tool { call_id, text } => {
            json!({ "role": "tool", "tool_call_id": call_id, "content": text })
        }
    }
}

/// A whole answer.
pub(super) fn reply(body: &[u8]) -> Result<Reply, ModelError> {
    let body: Value =
        serde_json::from_slice(body).map_err(|_| ModelError::Answer("it is not JSON"))?;
    let message = body
        .pointer("/choices/0/message")
        .and_then(Value::as_object)
        .ok_or(ModelError::Answer("it has no message"))?;
    let mut calls = Vec::new();
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .take(CALLS_MAX)
    {
        let mut made = ToolCall::default();
        merge(&mut made, call);
        calls.push(made);
    }
    finished(Reply {
        text: text(message),
        calls,
        usage: usage(&body),
    })
}

/// The text of a message or of a piece of one: a string, or a list of parts that hold strings.
pub(super) fn text(message: &Map<String, Value>) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    }
}

pub(super) fn usage(body: &Value) -> Option<Usage> {
    let total_tokens = body.pointer("/usage/total_tokens")?.as_u64()?;
    Some(Usage { total_tokens })
}

/// Adds what a call, or a piece of one, says.
pub(super) fn merge(made: &mut ToolCall, call: &Value) {
    let function = call.get("function");
    let field = |of: Option<&Value>, key: &str| {
        let text = of.and_then(|of| of.get(key)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    if made.id.is_empty() {
        made.id = field(Some(call), "id");
    }
    if made.name.is_empty() {
        made.name = field(function, "name");
    }
    match function.and_then(|function| function.get("arguments")) {
        Some(Value::String(text)) => made.arguments.push_str(text),
        // Some servers send the object itself.
        Some(object @ Value::Object(_)) => made.arguments = object.to_string(),
        _ => {}
    }
}

/// An answer as the rest of the program may rely on it: it says something, and every call has a
/// name and an id of its own.
pub(super) fn finished(mut reply: Reply) -> Result<Reply, ModelError> {
    reply.calls.retain(|call| !call.name.is_empty());
    for n in 0..reply.calls.len() {
        let id = reply.calls[n].id.clone();
        let taken = reply.calls[..n].iter().any(|call| call.id == id);
        let plain = id.len() <= 128 && id.bytes().all(|byte| byte.is_ascii_graphic());
        if id.is_empty() || taken || !plain {
            reply.calls[n].id = format!("call_{}", n + 1);
        }
        let arguments = &mut reply.calls[n].arguments;
        if arguments.trim().is_empty() {
            *arguments = "{}".to_owned();
        }
    }
    if reply.text.trim().is_empty() && reply.calls.is_empty() {
        return Err(ModelError::Answer("it says nothing"));
    }
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_many_servers_are_read() {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.to_owned(),
            name: "search".to_owned(),
            arguments: arguments.to_owned(),
        };
        for (body, text, calls, tokens) in [
            (
                r#"{"choices":[{"message":{"content":"hi"}}],"usage":{"total_tokens":7}}"#,
                "hi",
                vec![],
                Some(7),
            ),
            (
                r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"},{}]}}]}"#,
                "ab",
                vec![],
                None,
            ),
            (
                r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","function":{"name":"search","arguments":"{\"q\":1}"}}]}}]}"#,
                "",
                vec![call("c1", r#"{"q":1}"#)],
                None,
            ),
            (
                r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"search","arguments":{"q":1}}},{"id":"","function":{"name":"search"}},{"function":{}}]}}]}"#,
                "",
                vec![call("call_1", r#"{"q":1}"#), call("call_2", "{}")],
                None,
            ),
        ] {
            let read = reply(body.as_bytes()).unwrap();
            assert_eq!((read.text.as_str(), &read.calls), (text, &calls), "{body}");
            assert_eq!(read.usage.map(|usage| usage.total_tokens), tokens, "{body}");
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for body in [
            "",
            "<html>",
            "{}",
            "[]",
            r#"{"choices":[]}"#,
            r#"{"choices":[{}]}"#,
            r#"{"choices":[{"message":"hi"}]}"#,
            r#"{"choices":[{"message":{"content":" "}}]}"#,
            r#"{"error":{"message":"no"}}"#,
        ] {
            let refused = reply(body.as_bytes());
            assert!(matches!(refused, Err(ModelError::Answer(_))), "{body}");
        }
    }

    #[test]
    fn the_conversation_is_written_as_the_api_asks() {
        let request = Request {
            messages: vec![
                Chat::System("s".to_owned()),
                Chat::Assistant {
                    text: String::new(),
                    calls: vec![ToolCall {
                        id: "c".to_owned(),
                        name: "n".to_owned(),
                        arguments: "{}".to_owned(),
                    }],
                },
                Chat::Tool {
                    call_id: "c".to_owned(),
                    text: "r".to_owned(),
                },
            ],
            tools: json!([]),
        };
        let body: Value = serde_json::from_str(&body("m", &request, true)).unwrap();
        assert_eq!(
            body["messages"][1]["tool_calls"][0]["function"]["name"],
            "n"
        );
        assert_eq!(body["messages"][2]["tool_call_id"], "c");
        assert_eq!(body["stream_options"]["include_usage"], true);
    }
}
