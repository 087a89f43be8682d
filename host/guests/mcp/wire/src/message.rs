//! Requests of a client: bodies and headers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::STATELESS_VERSION;
use super::table::ArgumentHeader;

pub const SESSION_HEADER: &str = "mcp-session-id";
pub const VERSION_HEADER: &str = "mcp-protocol-version";
pub const METHOD_HEADER: &str = "mcp-method";
pub const NAME_HEADER: &str = "mcp-name";
pub const PARAM_HEADER_PREFIX: &str = "mcp-param-";
/// How this client names itself.
const CLIENT: &str = "toolgate";

/// One message, ready to be posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostedMessage {
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Who speaks, in which version, in which session.
#[derive(Clone, Copy, Debug)]
pub struct Speaker<'a> {
    pub version: &'a str,
    pub client_version: &'a str,
    pub session: Option<&'a str>,
}

impl Speaker<'_> {
    fn is_stateless(&self) -> bool {
        self.version == STATELESS_VERSION
    }

    /// A request with this id. `params` may have a `_meta`, to which the later protocol adds its own.
    pub fn request(&self, id: &str, method: &str, params: Map<String, Value>) -> PostedMessage {
        let mut params = params;
        let mut headers = self.headers();
        if self.is_stateless() {
            headers.push((METHOD_HEADER.to_owned(), method.to_owned()));
            if let Some(name) = params.get("name").and_then(Value::as_str) {
                headers.push((NAME_HEADER.to_owned(), header_text(name)));
            }
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.extend(self.meta());
            }
        }
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        PostedMessage {
            headers,
            body: body.to_string(),
        }
    }

    /// The beginning of a session, in which nothing is offered that a server could ask this client for: no sampling, no
    /// elicitation, no roots.
    pub fn initialize(&self, id: &str) -> PostedMessage {
        let params = json!({
            "protocolVersion": self.version,
            "capabilities": {},
            "clientInfo": self.client(),
        });
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params});
        PostedMessage {
            headers: base_headers(),
            body: body.to_string(),
        }
    }

    /// The client's word that the session has begun.
    pub fn initialized(&self) -> PostedMessage {
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        PostedMessage {
            headers: self.headers(),
            body: body.to_string(),
        }
    }

    /// Headers of every message after the handshake.
    pub fn headers(&self) -> Vec<(String, String)> {
        let mut headers = base_headers();
        headers.push((VERSION_HEADER.to_owned(), self.version.to_owned()));
        if let Some(session) = self.session {
            headers.push((SESSION_HEADER.to_owned(), session.to_owned()));
        }
        headers
    }

    fn client(&self) -> Value {
        json!({"name": CLIENT, "version": self.client_version})
    }

    fn meta(&self) -> Map<String, Value> {
        let keys = [
            ("protocolVersion", json!(self.version)),
            ("clientInfo", self.client()),
            ("clientCapabilities", json!({})),
        ];
        keys.map(|(key, value)| (format!("io.modelcontextprotocol/{key}"), value))
            .into_iter()
            .collect()
    }
}

fn base_headers() -> Vec<(String, String)> {
    vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        (
            "accept".to_owned(),
            "application/json, text/event-stream".to_owned(),
        ),
    ]
}

/// The headers that repeat arguments. An argument that is absent, or no text, number or truth value, has none.
pub fn argument_headers(wanted: &[ArgumentHeader], arguments: &Value) -> Vec<(String, String)> {
    let header = |one: &ArgumentHeader| {
        let value = match arguments.pointer(&one.pointer)? {
            Value::String(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        let name = format!("{PARAM_HEADER_PREFIX}{}", one.name.to_ascii_lowercase());
        Some((name, header_text(&value)))
    };
    wanted.iter().filter_map(header).collect()
}

/// A text as a header's value: as it is where that is printable ASCII, else in base64 with a mark around it.
pub fn header_text(text: &str) -> String {
    let plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    match plain {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speaker<'a>(version: &'a str, session: Option<&'a str>) -> Speaker<'a> {
        Speaker {
            version,
            client_version: "1.2.3",
            session,
        }
    }

    fn call() -> Map<String, Value> {
        let params = json!({"name": "größe", "arguments": {"a": 1}});
        params.as_object().expect("an object").clone()
    }

    #[test]
    fn an_independent_request_names_its_version_method_and_tool() {
        let posted = speaker(STATELESS_VERSION, None).request("7", "tools/call", call());
        let header = |name: &str| {
            let found = posted.headers.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(header(VERSION_HEADER), Some(STATELESS_VERSION));
        assert_eq!(header(METHOD_HEADER), Some("tools/call"));
        assert_eq!(header(NAME_HEADER), Some("=?base64?Z3LDtsOfZQ==?="));
        assert_eq!(header(SESSION_HEADER), None);
        let body: Value = serde_json::from_str(&posted.body).expect("JSON");
        let meta = &body["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            STATELESS_VERSION
        );
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({})
        );
    }

    #[test]
    fn a_progress_token_stays_beside_what_the_later_protocol_adds() {
        for (version, keys) in [(STATELESS_VERSION, 4), ("2025-11-25", 1)] {
            let mut params = call();
            params.insert("_meta".to_owned(), json!({"progressToken": "7"}));
            let posted = speaker(version, None).request("7", "tools/call", params);
            let body: Value = serde_json::from_str(&posted.body).expect("JSON");
            let meta = &body["params"]["_meta"];
            assert_eq!(meta["progressToken"], "7", "{version}");
            assert_eq!(meta.as_object().map(Map::len), Some(keys), "{version}");
        }
    }

    #[test]
    fn a_request_of_a_session_names_the_session_and_nothing_of_the_later_protocol() {
        let posted = speaker("2025-06-18", Some("s-1")).request("7", "tools/call", call());
        assert!(
            posted
                .headers
                .contains(&(SESSION_HEADER.to_owned(), "s-1".to_owned()))
        );
        assert!(!posted.headers.iter().any(|(name, _)| name == METHOD_HEADER));
        let body: Value = serde_json::from_str(&posted.body).expect("JSON");
        assert_eq!(
            body,
            json!({"jsonrpc": "2.0", "id": "7", "method": "tools/call", "params": call()})
        );
    }

    #[test]
    fn the_handshake_offers_nothing_that_a_server_could_ask_for() {
        let posted = speaker("2025-11-25", None).initialize("1");
        let body: Value = serde_json::from_str(&posted.body).expect("JSON");
        assert_eq!(body["params"]["capabilities"], json!({}));
    }

    #[test]
    fn arguments_are_repeated_as_headers_where_the_server_wants_that() {
        let wanted = |pointer: &str, name: &str| ArgumentHeader {
            pointer: pointer.to_owned(),
            name: name.to_owned(),
        };
        let all = [
            wanted("/region", "Region"),
            wanted("/deep/count", "Count"),
            wanted("/absent", "Absent"),
            wanted("/list", "List"),
        ];
        let arguments = json!({"region": "eu\nX-Evil: 1", "deep": {"count": 3}, "list": [1]});
        let headers = argument_headers(&all, &arguments);
        assert_eq!(
            headers,
            [
                (
                    "mcp-param-region".to_owned(),
                    format!("=?base64?{}?=", STANDARD.encode("eu\nX-Evil: 1"))
                ),
                ("mcp-param-count".to_owned(), "3".to_owned()),
            ]
        );
    }
}
