//! The request of a tool that is a remote MCP server's: `MCP https://host/mcp` as its `request`, and the server's own
//! name of the tool as the one entry of `with`.
//!
//! All tools of a server have one address, so the address alone says nothing about what a request does. Pure; egress
//! asks [`McpPost::read`] about the body of each one, also of a tool that is declared `read`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::manifest::DescribedRequest;
use toolgate_core::json;

/// In place of a method in `send`.
pub const MCP: &str = "MCP";
/// The header that names a session, which is no part of what a call does.
pub const SESSION_HEADER: &str = "mcp-session-id";
/// The header that names the revision in which both sides speak, which is agreed on when the call is made.
pub const VERSION_HEADER: &str = "mcp-protocol-version";
/// Headers that repeat the method and the tool, so that a proxy need not read the body (MCP 2026-07-28).
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";
const CALL: &str = "tools/call";
/// Members of a message (JSON-RPC 2.0) and of the parameters of a call. Servers read others than these too, some in any
/// letter case: only these are sent.
const OF_MESSAGE: &[&str] = &["jsonrpc", "id", "method", "params"];
const OF_CALL: &[&str] = &["name", "arguments", "_meta"];
/// What begins, keeps and ends a session, and changes nothing of a user's, with the members of its parameters.
const OF_SESSION: &[(&str, &[&str])] = &[
    (
        "initialize",
        &["protocolVersion", "capabilities", "clientInfo", "_meta"],
    ),
    ("notifications/cancelled", &["requestId", "reason", "_meta"]),
    ("notifications/initialized", &["_meta"]),
    ("ping", &["_meta"]),
];
/// Longest message of a session, which nobody is shown.
const SESSION_MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// What a request to an MCP server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpPost {
    /// Opens, keeps or ends a session.
    Session,
    /// Calls the tool.
    Call,
}

/// The server's name of the tool, where the request is one of an MCP server.
pub fn tool_of(request: &DescribedRequest) -> Option<&str> {
    let is_mcp = request.send.split_once(' ').map(|(method, _)| method) == Some(MCP);
    match request.with.as_slice() {
        [tool] if is_mcp => Some(tool),
        _ => None,
    }
}

impl McpPost {
    /// Reads a request of the tool that the server calls `tool`; the error is a sentence about it. `header`: a header of
    /// it, by its name in lower case.
    pub fn read<'h>(
        tool: &str,
        method: &str,
        body: &[u8],
        header: impl Fn(&str) -> Option<&'h str>,
    ) -> Result<Self, String> {
        if method == "DELETE" {
            let ends = body.is_empty() && header(SESSION_HEADER).is_some();
            return match ends {
                true => Ok(Self::Session),
                false => Err("a DELETE to an MCP server ends a session and names it".to_owned()),
            };
        }
        if method != "POST" {
            return Err(format!("{method} is no request of MCP"));
        }
        // Of a key that occurs twice, two readers may see different calls.
        json::check(body).map_err(|problem| format!("the body is no JSON document: {problem}"))?;
        let message: Value = serde_json::from_slice(body).map_err(|problem| problem.to_string())?;
        let asked = message.get("method").and_then(Value::as_str);
        let asked = asked.ok_or("the body is not one message of JSON-RPC with a `method`")?;
        if header(METHOD_HEADER).is_some_and(|named| named != asked) {
            return Err(format!("the header `{METHOD_HEADER}` names another method"));
        }
        only(&message, OF_MESSAGE)?;
        let params = message.get("params");
        if let Some((_, members)) = OF_SESSION.iter().find(|(method, _)| *method == asked) {
            params.map_or(Ok(()), |params| only(params, members))?;
            return match body.len() <= SESSION_MESSAGE_BYTES_MAX {
                true => Ok(Self::Session),
                false => Err(format!(
                    "a message of a session has at most {SESSION_MESSAGE_BYTES_MAX} bytes"
                )),
            };
        }
        if asked != CALL {
            return Err(format!("the tool calls `{CALL}` and no other method"));
        }
        params.map_or(Ok(()), |params| only(params, OF_CALL))?;
        let named = message.pointer("/params/name").and_then(Value::as_str);
        let repeated = header(NAME_HEADER);
        let fits = |text: &str| text == tool || decoded(text).as_deref() == Some(tool);
        if named != Some(tool) || !repeated.is_none_or(fits) {
            return Err(format!(
                "the tool calls `{tool}` of the server and no other"
            ));
        }
        Ok(Self::Call)
    }
}

/// Refuses an object with other members.
fn only(value: &Value, members: &[&str]) -> Result<(), String> {
    let object = value
        .as_object()
        .ok_or("the message has no object where MCP has one")?;
    match object.keys().find(|key| !members.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("a message of MCP has no `{key}` there")),
    }
}

/// The text of a header that was written in base64.
fn decoded(text: &str) -> Option<String> {
    let inner = text.strip_prefix("=?base64?")?.strip_suffix("?=")?;
    String::from_utf8(STANDARD.decode(inner).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(method: &str, body: &str, headers: &[(&str, &str)]) -> Result<McpPost, String> {
        McpPost::read("note.add", method, body.as_bytes(), |name| {
            let found = headers.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| *value)
        })
    }

    fn message(method: &str, name: &str) -> String {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": name}}).to_string()
    }

    #[test]
    fn a_tool_calls_itself_and_keeps_a_session() {
        let call = message("tools/call", "note.add");
        assert_eq!(read("POST", &call, &[]), Ok(McpPost::Call));
        let named = [("mcp-method", "tools/call"), ("mcp-name", "note.add")];
        assert_eq!(read("POST", &call, &named), Ok(McpPost::Call));
        let encoded = [("mcp-name", "=?base64?bm90ZS5hZGQ=?=")];
        assert_eq!(read("POST", &call, &encoded), Ok(McpPost::Call));
        for (method, members) in OF_SESSION {
            let params: serde_json::Map<String, Value> = members
                .iter()
                .map(|name| ((*name).to_owned(), json!({})))
                .collect();
            let whole = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            for body in [whole, json!({"jsonrpc": "2.0", "method": method})] {
                let read = read("POST", &body.to_string(), &[]);
                assert_eq!(read, Ok(McpPost::Session), "{body}");
            }
        }
        let session = [("mcp-session-id", "s")];
        assert_eq!(read("DELETE", "", &session), Ok(McpPost::Session));
    }

    #[test]
    fn no_other_tool_and_no_other_method_is_called() {
        let call = message("tools/call", "note.add");
        let other = message("tools/call", "note.delete");
        let twice = r#"{"method":"ping","method":"tools/call","params":{"name":"note.delete"}}"#;
        // Some servers read members in any letter case.
        let folded = r#"{"method":"ping","Method":"tools/call","params":{}}"#;
        let renamed =
            r#"{"method":"tools/call","params":{"name":"note.add","NAME":"note.delete"}}"#;
        let reason = json!({"reason": "x".repeat(SESSION_MESSAGE_BYTES_MAX)});
        let long = json!({"method": "notifications/cancelled", "params": reason}).to_string();
        let batch = format!("[{call},{other}]");
        for (method, body, headers) in [
            ("POST", other.as_str(), &[][..]),
            ("POST", &message("resources/read", "note.add"), &[]),
            ("POST", &message("tools/list", "note.add"), &[]),
            ("POST", &message("completion/complete", "note.add"), &[]),
            ("POST", twice, &[]),
            ("POST", folded, &[]),
            ("POST", renamed, &[]),
            ("POST", &message("ping", "note.delete"), &[]),
            ("POST", &long, &[]),
            ("POST", &batch, &[]),
            ("POST", "", &[]),
            ("POST", "{}", &[]),
            ("POST", &call, &[("mcp-name", "note.delete")]),
            ("POST", &call, &[("mcp-method", "resources/read")]),
            ("PUT", &call, &[]),
            ("DELETE", "", &[]),
            ("DELETE", "x", &[("mcp-session-id", "s")]),
        ] {
            assert!(read(method, body, headers).is_err(), "{method} {body}");
        }
    }

    #[test]
    fn the_request_of_a_manifest_names_one_tool() {
        let request = |send: &str, with: &[&str]| DescribedRequest {
            send: send.to_owned(),
            with: with.iter().map(|text| (*text).to_owned()).collect(),
        };
        let one = request("MCP https://mcp.example.com/mcp", &["note.add"]);
        assert_eq!(tool_of(&one), Some("note.add"));
        for other in [
            request("POST https://mcp.example.com/mcp", &["note.add"]),
            request("MCP https://mcp.example.com/mcp", &[]),
            request("MCP https://mcp.example.com/mcp", &["a", "b"]),
        ] {
            assert_eq!(tool_of(&other), None, "{other:?}");
        }
    }
}
