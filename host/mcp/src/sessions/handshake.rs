//! What a client said when its session began, as it travels in the session's id: what this server asks
//! clients about, and no more, so that the id stays short.

use rmcp::model::{ClientCapabilities, Implementation, InitializeRequestParams, ProtocolVersion};
use rmcp::transport::streamable_http_server::session::{
    SessionState, SessionStore, SessionStoreError,
};
use serde::{Deserialize, Serialize};

use super::REQUEST;
use crate::cards;

/// What the client calls itself and the revision that it asks for are cut after so many characters. A revision that is
/// longer is unknown, and so is what is left of it.
const NAME_CHARS_MAX: usize = 40;

#[derive(Serialize, Deserialize)]
struct Handshake {
    #[serde(rename = "v")]
    version: ProtocolVersion,
    /// Name and version of the client.
    #[serde(rename = "n")]
    client: (String, String),
    /// Whether it asks its user with a form, and with an address to open.
    #[serde(rename = "f", default, skip_serializing_if = "std::ops::Not::not")]
    asks_by_form: bool,
    #[serde(rename = "u", default, skip_serializing_if = "std::ops::Not::not")]
    asks_by_url: bool,
    /// Whether it renders cards.
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    renders_cards: bool,
}

fn cut(text: &str) -> String {
    let plain = text.chars().filter(|char| !char.is_control());
    plain.take(NAME_CHARS_MAX).collect()
}

/// As the session's id holds it.
pub(super) fn write(said: &InitializeRequestParams) -> String {
    let elicitation = said.capabilities.elicitation.as_ref();
    let handshake = Handshake {
        version: serde_json::from_value(cut(said.protocol_version.as_str()).into())
            .unwrap_or_default(),
        client: (cut(&said.client_info.name), cut(&said.client_info.version)),
        asks_by_form: elicitation.is_some_and(|asks| asks.form.is_some()),
        asks_by_url: elicitation.is_some_and(|asks| asks.url.is_some()),
        renders_cards: cards::rendered_by(Some(&said.capabilities)),
    };
    serde_json::to_string(&handshake).unwrap_or_default()
}

/// What the client said, as far as it was written.
pub(crate) fn read(written: &str) -> Option<InitializeRequestParams> {
    let handshake: Handshake = serde_json::from_str(written).ok()?;
    let mut capabilities = ClientCapabilities::default();
    if handshake.asks_by_form || handshake.asks_by_url {
        let mut elicitation = rmcp::model::ElicitationCapability::new();
        if handshake.asks_by_form {
            elicitation = elicitation.with_form(rmcp::model::FormElicitationCapability::default());
        }
        if handshake.asks_by_url {
            elicitation = elicitation.with_url(rmcp::model::UrlElicitationCapability::default());
        }
        capabilities.elicitation = Some(elicitation);
    }
    if handshake.renders_cards {
        capabilities.extensions = Some(cards::declared());
    }
    let (name, version) = handshake.client;
    let said = InitializeRequestParams::new(capabilities, Implementation::new(name, version));
    Some(said.with_protocol_version(handshake.version))
}

/// What the client says in a request that begins a session.
pub(crate) fn parse_initialize(body: &[u8]) -> Option<InitializeRequestParams> {
    #[derive(Deserialize)]
    struct Initialize {
        method: String,
        params: InitializeRequestParams,
    }
    let initialize: Initialize = serde_json::from_slice(body).ok()?;
    (initialize.method == "initialize").then_some(initialize.params)
}

/// The library's store of sessions: each request brings what there is to load.
#[derive(Debug)]
pub(crate) struct SealedHandshakes;

#[async_trait::async_trait]
impl SessionStore for SealedHandshakes {
    async fn load(&self, _session_id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let said = REQUEST.try_with(|request| {
            let opened = request.session_id.is_some();
            request.handshake.clone().filter(|_| opened)
        });
        Ok(said.ok().flatten().map(SessionState::new))
    }

    async fn store(
        &self,
        _session_id: &str,
        _state: &SessionState,
    ) -> Result<(), SessionStoreError> {
        Ok(())
    }

    async fn delete(&self, _session_id: &str) -> Result<(), SessionStoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use toolgate_gateway::identity::client_sessions::HANDSHAKE_BYTES_MAX;

    fn said(capabilities: Value) -> InitializeRequestParams {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "x".repeat(10_000), "version": "1\n2", "title": "y" },
            "_meta": { "z": "z".repeat(10_000) },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        parse_initialize(body.to_string().as_bytes()).expect("an initialize")
    }

    #[test]
    fn what_the_server_asks_about_comes_back_and_little_else() {
        let large = json!({
            "elicitation": { "url": {} },
            "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } },
            "experimental": { "large": { "x": "x".repeat(10_000) } },
            "roots": { "listChanged": true },
        });
        let written = write(&said(large));
        assert!(written.len() < 120, "{written}");
        let back = read(&written).expect("what was written");
        assert_eq!(back.protocol_version.as_str(), "2025-11-25");
        assert_eq!(back.client_info.name, "x".repeat(NAME_CHARS_MAX));
        assert_eq!(back.client_info.version, "12");
        assert!(cards::rendered_by(Some(&back.capabilities)));
        let elicitation = back.capabilities.elicitation.expect("declared");
        assert!(elicitation.url.is_some() && elicitation.form.is_none());
        let none = read(&write(&said(json!({})))).expect("what was written");
        assert!(none.capabilities.elicitation.is_none());
        assert!(!cards::rendered_by(Some(&none.capabilities)));
    }

    #[test]
    fn whatever_a_client_says_of_itself_fits_into_the_id() {
        let long = "\"\u{1f600}".repeat(10_000);
        let params = json!({
            "protocolVersion": long,
            "capabilities": {},
            "clientInfo": { "name": long, "version": long },
        });
        let body = json!({ "method": "initialize", "params": params }).to_string();
        let written = write(&parse_initialize(body.as_bytes()).expect("an initialize"));
        assert!(written.len() <= HANDSHAKE_BYTES_MAX, "{}", written.len());
        assert!(read(&written).is_some());
        for (chars, kept) in [
            (NAME_CHARS_MAX, NAME_CHARS_MAX),
            (NAME_CHARS_MAX + 1, NAME_CHARS_MAX),
        ] {
            let mut said = said(json!({}));
            said.protocol_version =
                serde_json::from_value("2".repeat(chars).into()).expect("a text");
            let back = read(&write(&said)).expect("what was written");
            assert_eq!(back.protocol_version.as_str().len(), kept);
        }
    }

    #[test]
    fn other_requests_begin_no_session() {
        for body in [
            json!({ "method": "tools/list", "params": {} }),
            json!({ "method": "initialize", "params": {} }),
            json!([]),
        ] {
            let said = parse_initialize(body.to_string().as_bytes());
            assert!(said.is_none(), "{body}");
        }
    }
}
