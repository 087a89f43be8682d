//! The gateway as a client of authorization servers that know a client by its metadata document
//! (draft-ietf-oauth-client-id-metadata-document): the address of the document is the client's id.
//!
//! Each service has a document of its own, because each has a redirect address of its own: a document of all services
//! would let the code of one be sent to the address of another, and would name to strangers which services there are.

use serde::Serialize;

use super::callback::CallbackAddress;
use crate::{Error, Gateway};
use toolgate_mcp_upstream::address::RemoteAddress;

/// The documents are below it, as `SERVICE.json`.
pub const CLIENT_DOCUMENTS_PATH: &str = "/oauth/client";
/// Longest name of a service, in bytes.
const SERVICE_BYTES_MAX: usize = 64;

/// What the gateway says of itself as a client of one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientDocument {
    pub client_id: String,
    pub client_name: &'static str,
    pub client_uri: String,
    pub redirect_uris: [String; 1],
    pub grant_types: [&'static str; 2],
    pub response_types: [&'static str; 1],
    /// It has no secret, and proves itself by PKCE.
    pub token_endpoint_auth_method: &'static str,
}

/// The address of the document, where authorization servers can read it: `base`, the gateway's public address, is https
/// on the default port, with a public name.
pub fn client_document_url(base: &str, service: &str) -> Option<String> {
    let address = RemoteAddress::parse(base, false).ok()?;
    (!address.is_setting()).then(|| format!("{base}{CLIENT_DOCUMENTS_PATH}/{service}.json"))
}

impl Gateway {
    /// The document of a service whose registration is by it. `None` says nothing of whether the service is there.
    pub async fn client_document(&self, service: &str) -> Result<Option<ClientDocument>, Error> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if service.len() > SERVICE_BYTES_MAX || !service.bytes().all(is_word) {
            return Ok(None);
        }
        let Some(client_id) = client_document_url(&self.public_url, service) else {
            return Ok(None);
        };
        if !self.store.has_oauth_client(&client_id).await? {
            return Ok(None);
        }
        Ok(Some(document(&self.public_url, service, client_id)))
    }
}

fn document(base: &str, service: &str, client_id: String) -> ClientDocument {
    ClientDocument {
        client_id,
        client_name: "toolgate",
        client_uri: base.to_owned(),
        redirect_uris: [CallbackAddress::Service.url(base, service)],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_is_at_its_own_address_and_names_one_callback() {
        let base = "https://gate.example.com";
        let id = client_document_url(base, "notes").unwrap();
        assert_eq!(id, "https://gate.example.com/oauth/client/notes.json");
        let said = serde_json::to_value(document(base, "notes", id.clone())).unwrap();
        assert_eq!(said["client_id"], id);
        assert_eq!(
            said["redirect_uris"],
            json!(["https://gate.example.com/oauth/callback/notes"])
        );
        assert_eq!(said["token_endpoint_auth_method"], "none");
    }

    #[test]
    fn a_gateway_that_strangers_cannot_reach_has_no_document() {
        for base in [
            "http://gate.example.com",
            "https://gate.internal",
            "https://localhost",
            "https://10.0.0.7",
            "https://gate.example.com:8443",
        ] {
            assert_eq!(client_document_url(base, "notes"), None, "{base}");
        }
    }
}
