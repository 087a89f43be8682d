//! Why a call failed, in the words of the plugin contract.

use serde_json::Value;

/// `error-kind` of the contract, as far as this component tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    InvalidArguments,
    AuthRequired,
    AuthExpired,
    PermissionDenied,
    NotFound,
    RateLimited,
    Upstream,
    Unavailable,
    TooLarge,
    Cancelled,
    Internal,
}

/// A failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallFault {
    pub kind: FaultKind,
    pub code: Option<String>,
    pub message: String,
    pub http_status: Option<u16>,
    pub retry_after_ms: Option<u64>,
}

/// Longest text of a server that is handed on, in characters.
const MESSAGE_CHARS_MAX: usize = 4_000;

impl CallFault {
    pub fn new(kind: FaultKind, code: &str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: Some(code.to_owned()),
            message: shortened(&message.into()),
            http_status: None,
            retry_after_ms: None,
        }
    }
}

/// A tool that says itself that it failed.
pub fn of_tool(result: &Value) -> CallFault {
    let blocks = result.get("content").and_then(Value::as_array);
    let texts: Vec<&str> = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .collect();
    let said = texts.join("\n");
    let message = match said.trim() {
        "" => "the tool failed and gave no reason",
        said => said,
    };
    CallFault::new(FaultKind::Upstream, "tool_error", message)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_that_failed_says_why_in_its_own_words() {
        let said = json!({"isError": true, "content": [{"type": "text", "text": "no such note"}]});
        assert_eq!(of_tool(&said).message, "no such note");
        let silent = json!({"isError": true, "content": []});
        assert!(of_tool(&silent).message.contains("no reason"));
        let long = json!({"content": [{"type": "text", "text": "x".repeat(10_000)}]});
        assert!(of_tool(&long).message.len() < 5_000);
    }
}
