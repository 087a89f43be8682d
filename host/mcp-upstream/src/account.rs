//! Whose account a server's tools need, and how it is connected.
//!
//! A server that asks for a sign-in names its authorization server (RFC 9728), which describes itself (RFC 8414, or
//! OpenID Connect Discovery). Both are read once, when the plugin is built, and are rights of its manifest from then on:
//! no call looks them up again.

mod metadata;
mod registration;
mod site;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::address::RemoteAddress;
use super::client::{ServerClient, ServerProblem};
pub use metadata::{AuthorizationServer, read_metadata};
pub use registration::{ClientDescription, UpstreamRegistration, register, serves_document};
pub use site::{SignInPlaces, same_site};
use toolgate_catalog::manifest::Slot;

/// The one slot of a server.
pub const SLOT: &str = "account";
/// Authorization servers of one resource that are tried.
const SERVERS_MAX: usize = 3;
/// Longest value of `resource`, in bytes: one parameter of a token request.
const RESOURCE_BYTES_MAX: usize = 300;

/// What the operator says about accounts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountChoice {
    /// What the server says.
    Discover,
    /// The same, also where the endpoints of its authorization server are of different sites.
    DiscoverForeign,
    None,
    /// A token that each user enters, sent as `Authorization: Bearer`.
    Bearer,
    /// A key that each user enters, sent in this header.
    Header(String),
}

impl AccountChoice {
    /// Whether the server is asked where its users sign in.
    pub fn discovers(&self) -> bool {
        matches!(self, Self::Discover | Self::DiscoverForeign)
    }
}

/// A server that needs a sign-in, with where it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedServer {
    /// As the server publishes it; sent with each request for a token (RFC 8707).
    pub resource: String,
    pub scopes: Vec<String>,
    pub authorization: AuthorizationServer,
}

/// Where users sign in to a server that was not asked for anything yet, by what it publishes (RFC 9728) alone.
pub async fn published(
    client: &mut ServerClient<'_>,
    choice: &AccountChoice,
) -> Result<Option<ProtectedServer>, ServerProblem> {
    for place in resource_places(client.address().url()) {
        if client.document(&place).await?.is_some() {
            return discover(client, None, choice).await;
        }
    }
    Ok(None)
}

/// Asks where users sign in, after the server's challenge. `None`: the server publishes nothing about that. An
/// authorization server that does not list this resource, or whose endpoints are of different sites, is an error.
pub async fn discover(
    client: &mut ServerClient<'_>,
    challenge: Option<&str>,
    choice: &AccountChoice,
) -> Result<Option<ProtectedServer>, ServerProblem> {
    let address = client.address().clone();
    let named = challenge.and_then(|text| challenge_parameter(text, "resource_metadata"));
    let places = match named {
        Some(place) => vec![place],
        None => resource_places(address.url()),
    };
    let mut resource = None;
    for place in places {
        if let Some(document) = client.document(&place).await? {
            resource =
                Some(metadata::read_resource(&address, &document).map_err(ServerProblem::Answer)?);
            break;
        }
    }
    let scopes = challenge.and_then(|text| challenge_parameter(text, "scope"));
    let scopes = scopes.map(|text| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let (name, issuers, published) = match resource {
        Some(found) => (found.resource, found.issuers, found.scopes),
        // Before RFC 9728 the server was its own authorization server (MCP 2025-03-26).
        None => (
            address.url().to_string(),
            vec![address.origin()],
            Vec::new(),
        ),
    };
    if name.len() > RESOURCE_BYTES_MAX {
        return Err(ServerProblem::Answer(format!(
            "the server's `resource` has more than {RESOURCE_BYTES_MAX} bytes"
        )));
    }
    for issuer in issuers.iter().take(SERVERS_MAX) {
        if let Some(authorization) = authorization_server(client, issuer).await? {
            check(&authorization, &address, choice).map_err(ServerProblem::Answer)?;
            return Ok(Some(ProtectedServer {
                resource: name,
                scopes: scopes.unwrap_or(published),
                authorization,
            }));
        }
    }
    Ok(None)
}

impl AuthorizationServer {
    /// Whether users sign in where the slot of a plugin says, and tokens come from there.
    pub fn serves(&self, slot: &Slot) -> bool {
        slot.token_url.as_deref() == Some(self.token_url.as_str())
            && slot.authorize_url.as_deref() == Some(self.authorize_url.as_str())
    }
}

/// What speaks against signing in at an authorization server that a server names.
fn check(
    authorization: &AuthorizationServer,
    address: &RemoteAddress,
    choice: &AccountChoice,
) -> Result<(), String> {
    authorization.check_resource(address)?;
    match choice {
        AccountChoice::DiscoverForeign => Ok(()),
        AccountChoice::Discover
        | AccountChoice::None
        | AccountChoice::Bearer
        | AccountChoice::Header(_) => authorization.check_sites(),
    }
}

/// What an authorization server says of itself, at each place where it may.
pub async fn authorization_server(
    client: &mut ServerClient<'_>,
    issuer: &str,
) -> Result<Option<AuthorizationServer>, ServerProblem> {
    for place in metadata::places(issuer) {
        if let Some(document) = client.document(&place).await? {
            return read_metadata(issuer, &document)
                .map(Some)
                .map_err(ServerProblem::Answer);
        }
    }
    Ok(None)
}

/// Where a resource describes itself (RFC 9728, section 3.1).
fn resource_places(url: &Url) -> Vec<String> {
    let origin = url.origin().ascii_serialization();
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    match url.path() {
        "/" => vec![root],
        path => vec![format!("{root}{}", path.trim_end_matches('/')), root],
    }
}

/// A parameter of a challenge (RFC 9110, section 11.2) that is written in quotes or as a token.
fn challenge_parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back();
        let behind = rest[at + name.len()..].trim_start();
        let starts = before.is_none_or(|c| c == ' ' || c == ',');
        if let Some(value) = behind.strip_prefix('=').filter(|_| starts) {
            let value = value.trim_start();
            let text = match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next()?,
                None => value.split([',', ' ']).next()?,
            };
            return Some(text.to_owned()).filter(|text| !text.is_empty());
        }
        rest = &rest[at + name.len()..];
    }
    None
}

/// The credential slot of the manifest.
pub(super) fn slot(
    address: &RemoteAddress,
    choice: &AccountChoice,
    protected: Option<&ProtectedServer>,
    title: &str,
) -> Result<Option<Slot>, ServerProblem> {
    let bearer = json!({"header": "authorization", "template": "Bearer {secret}"});
    let mut made = json!({
        "slot": SLOT,
        "title": format!("Account at {title}"),
        "audience": address.audience(),
        "placement": bearer,
    });
    match (choice, protected) {
        (AccountChoice::None, _)
        | (AccountChoice::Discover | AccountChoice::DiscoverForeign, None) => return Ok(None),
        (AccountChoice::Bearer, _) => made["type"] = "bearer".into(),
        (AccountChoice::Header(name), _) => {
            made["type"] = "api_key".into();
            made["placement"] = json!({"header": name.to_ascii_lowercase()});
        }
        (AccountChoice::Discover | AccountChoice::DiscoverForeign, Some(found)) => {
            with_oauth(&mut made, found);
        }
    }
    let slot = serde_json::from_value(made);
    slot.map(Some).map_err(|why| {
        ServerProblem::Answer(format!("the slot of the server is not usable: {why}"))
    })
}

fn with_oauth(made: &mut Value, found: &ProtectedServer) {
    let server = &found.authorization;
    let resource = json!({"resource": found.resource});
    made["type"] = "oauth2".into();
    made["issuer"] = server.issuer.as_str().into();
    made["authorize_url"] = server.authorize_url.as_str().into();
    made["token_url"] = server.token_url.as_str().into();
    if let Some(url) = &server.revoke_url {
        made["revoke_url"] = url.as_str().into();
    }
    made["scopes"] = found.scopes.iter().map(String::as_str).collect();
    made["token_auth"] = server.token_auth.into();
    // RFC 8707, also when a token is renewed.
    made["authorize_params"] = resource.clone();
    made["token_params"] = resource;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_challenge_are_read() {
        let text = r#"Bearer realm="x", resource_metadata="https://mcp.example.com/.well-known/p", scope="a b", error=invalid_token"#;
        for (name, expected) in [
            (
                "resource_metadata",
                Some("https://mcp.example.com/.well-known/p"),
            ),
            ("scope", Some("a b")),
            ("error", Some("invalid_token")),
            ("meta", None),
            ("metadata", None),
        ] {
            assert_eq!(
                challenge_parameter(text, name).as_deref(),
                expected,
                "{name}"
            );
        }
        assert_eq!(challenge_parameter("Bearer", "scope"), None);
        assert_eq!(challenge_parameter("Bearer scope=\"\"", "scope"), None);
    }

    #[test]
    fn a_resource_describes_itself_below_its_path_and_at_the_root() {
        let url = Url::parse("https://mcp.example.com/v1/mcp").expect("an address");
        assert_eq!(
            resource_places(&url),
            [
                "https://mcp.example.com/.well-known/oauth-protected-resource/v1/mcp",
                "https://mcp.example.com/.well-known/oauth-protected-resource",
            ]
        );
    }

    #[test]
    fn the_slot_sends_the_resource_with_each_request_for_a_token() {
        let address = RemoteAddress::parse("https://mcp.example.com/mcp", false).expect("public");
        let protected = ProtectedServer {
            resource: "https://mcp.example.com/mcp".to_owned(),
            scopes: vec!["notes".to_owned()],
            authorization: AuthorizationServer {
                issuer: "https://id.example.com".to_owned(),
                authorize_url: "https://id.example.com/authorize".to_owned(),
                token_url: "https://id.example.com/token".to_owned(),
                revoke_url: None,
                registration_url: None,
                token_auth: "none",
                client_documents: false,
                resources: None,
            },
        };
        let made = slot(
            &address,
            &AccountChoice::Discover,
            Some(&protected),
            "Notes",
        );
        let made = made.expect("usable").expect("a slot");
        for params in [&made.authorize_params, &made.token_params] {
            assert_eq!(params["resource"], "https://mcp.example.com/mcp");
        }
        // The same parameters when a token is renewed.
        assert_eq!(made.refresh_params, None);
        assert_eq!(made.audience, ["https://mcp.example.com"]);
        for choice in [
            AccountChoice::Bearer,
            AccountChoice::Header("X-Key".to_owned()),
        ] {
            let made = slot(&address, &choice, Some(&protected), "Notes");
            let made = made.expect("usable").expect("a slot");
            assert_eq!((made.token_url, made.audience.len()), (None, 1));
        }
        let none = slot(&address, &AccountChoice::None, Some(&protected), "Notes");
        assert_eq!(none, Ok(None));
    }
}
