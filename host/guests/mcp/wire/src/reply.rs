//! What the HTTP answer to a request is.

use serde_json::Value;

use super::stream;

/// An HTTP answer.
#[derive(Clone, Copy, Debug)]
pub struct HttpReply<'a> {
    pub status: u16,
    pub content_type: Option<&'a str>,
    pub body: &'a [u8],
}

/// A JSON-RPC error of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Value,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum NoResult {
    /// The server answered the request with an error of the protocol, under this HTTP status.
    Rpc { status: u16, error: RpcError },
    /// The status alone says so.
    Status(u16),
    /// The answer is no message of the protocol.
    NotMessage(String),
    /// The event stream ended before the answer.
    StreamCut,
}

/// Longest media type that is repeated in a sentence, in characters.
const SHOWN_CHARS_MAX: usize = 80;

impl HttpReply<'_> {
    /// The result of the request `id`.
    pub fn result(&self, id: &str) -> Result<Value, NoResult> {
        let found = self.answer(id);
        match found {
            Some(message) => self.of_message(message),
            None if self.status >= 300 => Err(NoResult::Status(self.status)),
            None if self.is_stream() => Err(NoResult::StreamCut),
            None => Err(NoResult::NotMessage(self.describe())),
        }
    }

    /// The message that answers the request: with its id, or an error without any id, which concerns the request as a
    /// whole.
    fn answer(&self, id: &str) -> Option<Value> {
        let text = std::str::from_utf8(self.body).ok()?;
        // Encoders of some platforms write the mark, which JSON does not have (RFC 8259, section 8.1).
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let all: Vec<Value> = if self.is_stream() {
            let events = stream::messages(text);
            events
                .iter()
                .filter_map(|event| serde_json::from_str(event).ok())
                .collect()
        } else {
            match serde_json::from_str(text).ok()? {
                Value::Array(all) => all,
                one => vec![one],
            }
        };
        let answers = |message: &Value| {
            let own = message.get("id").and_then(Value::as_str) == Some(id);
            let nobody = message.get("id").is_none_or(Value::is_null);
            let is_error = message.get("error").is_some_and(Value::is_object);
            (own && (is_error || message.get("result").is_some())) || (nobody && is_error)
        };
        all.into_iter().find(answers)
    }

    fn of_message(&self, mut message: Value) -> Result<Value, NoResult> {
        // Some serializers write the absent one of `result` and `error` as `null`.
        if let Some(error) = message.get_mut("error").filter(|error| error.is_object()) {
            let error = RpcError {
                code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
                message: error
                    .get("message")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                data: error.get_mut("data").map(Value::take).unwrap_or_default(),
            };
            let status = self.status;
            return Err(NoResult::Rpc { status, error });
        }
        match message.get_mut("result").map(Value::take) {
            Some(result @ Value::Object(_)) if self.status < 300 => Ok(result),
            Some(Value::Object(_)) => Err(NoResult::Status(self.status)),
            _ => Err(NoResult::NotMessage(
                "a result that is no object".to_owned(),
            )),
        }
    }

    fn media(&self) -> String {
        let whole = self.content_type.unwrap_or_default();
        let media = whole.split(';').next().unwrap_or_default().trim();
        media.to_ascii_lowercase()
    }

    fn is_stream(&self) -> bool {
        self.media() == "text/event-stream"
    }

    fn describe(&self) -> String {
        let media: String = self.media().chars().take(SHOWN_CHARS_MAX).collect();
        match (self.body.is_empty(), media.as_str()) {
            (true, _) => "an empty answer".to_owned(),
            (false, "application/json") => "JSON without an answer to the request".to_owned(),
            (false, "") => "an answer without a media type".to_owned(),
            (false, media) => format!("an answer of type {media}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(status: u16, media: &str, body: &str) -> Result<Value, NoResult> {
        let reply = HttpReply {
            status,
            content_type: Some(media),
            body: body.as_bytes(),
        };
        reply.result("1")
    }

    const JSON: &str = "application/json; charset=utf-8";
    const STREAM: &str = "text/event-stream";

    #[test]
    fn the_result_is_found_in_json_and_in_a_stream() {
        let answer = r#"{"jsonrpc":"2.0","id":"1","result":{"ok":true}}"#;
        let other = r#"{"jsonrpc":"2.0","id":"2","result":{"ok":false}}"#;
        let asks = r#"{"jsonrpc":"2.0","id":"1","method":"sampling/createMessage"}"#;
        let notes = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
        let stream =
            format!("data: {notes}\n\ndata: {asks}\n\ndata: {other}\n\ndata: {answer}\n\n");
        let with_null = r#"{"jsonrpc":"2.0","id":"1","error":null,"result":{"ok":true}}"#;
        for (media, body) in [
            (JSON, answer.to_owned()),
            (JSON, format!("\u{feff}{answer}")),
            ("Application/JSON;charset=UTF-8", with_null.to_owned()),
            (
                "Text/Event-Stream;charset=UTF-8",
                format!("data:{with_null}\r\n\r\n"),
            ),
            (JSON, format!("[{other},{answer}]")),
            (STREAM, stream),
        ] {
            assert_eq!(read(200, media, &body), Ok(json!({"ok": true})), "{body}");
        }
    }

    #[test]
    fn what_is_no_result_says_why() {
        let error = r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"no","data":1}}"#;
        let nobody = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"gone"}}"#;
        let rpc = |status, code, message: &str, data| NoResult::Rpc {
            status,
            error: RpcError {
                code,
                message: message.to_owned(),
                data,
            },
        };
        for (status, media, body, expected) in [
            (200, JSON, error, rpc(200, -32602, "no", json!(1))),
            (404, JSON, nobody, rpc(404, -32000, "gone", Value::Null)),
            (404, "text/html", "<p>no", NoResult::Status(404)),
            (200, STREAM, "data: {\"jsonrpc\"", NoResult::StreamCut),
            (200, STREAM, "", NoResult::StreamCut),
            (
                200,
                "text/html",
                "<p>Sign in",
                NoResult::NotMessage("an answer of type text/html".to_owned()),
            ),
            (
                200,
                JSON,
                r#"{"id":"1","result":[1]}"#,
                NoResult::NotMessage("a result that is no object".to_owned()),
            ),
            (
                500,
                JSON,
                r#"{"id":"1","result":{"ok":true}}"#,
                NoResult::Status(500),
            ),
        ] {
            assert_eq!(read(status, media, body), Err(expected), "{body}");
        }
    }
}
