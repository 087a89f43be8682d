//! What a resource and its authorization server say of themselves. Pure.

use serde_json::{Map, Value};
use url::Url;

use super::site::same_site;
use crate::address::RemoteAddress;
use crate::notes::shown;

/// Most scopes that are asked for because a server lists them.
const SCOPES_MAX: usize = 50;
const SCOPE_BYTES_MAX: usize = 200;
const ADDRESS_BYTES_MAX: usize = 500;

/// An authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationServer {
    pub issuer: String,
    pub authorize_url: String,
    pub token_url: String,
    pub revoke_url: Option<String>,
    /// Where a client registers itself (RFC 7591).
    pub registration_url: Option<String>,
    /// `token_auth` of the slot.
    pub token_auth: &'static str,
    /// Whether the id of a client may be the address of its metadata document.
    pub client_documents: bool,
    /// The resources for which it gives tokens (RFC 9728, section 4), where it lists them.
    pub resources: Option<Vec<String>>,
}

impl AuthorizationServer {
    /// Refuses one that lists its resources, and this server is not among them.
    pub(super) fn check_resource(&self, address: &RemoteAddress) -> Result<(), String> {
        let listed = self.resources.as_ref();
        let is_listed = |all: &Vec<String>| all.iter().any(|one| holds(one, address.url()));
        if listed.is_none_or(is_listed) {
            return Ok(());
        }
        Err(format!(
            "the authorization server {} lists the resources that it gives tokens for (`protected_resources`), and {} \
             is not among them: its tokens are for others; ask the owner of the authorization server to list this one, \
             or say --auth bearer if users have tokens of their own",
            shown(&self.issuer),
            address.url()
        ))
    }

    /// Refuses a sign-in at another site than the issuer's whose code a third one receives: its users would take it for
    /// their own. An issuer may have its codes redeemed at another site, as Google does.
    pub(super) fn check_sites(&self) -> Result<(), String> {
        let fit = same_site(&self.authorize_url, &self.issuer)
            || same_site(&self.authorize_url, &self.token_url);
        if fit {
            return Ok(());
        }
        Err(format!(
            "users of the authorization server {} would sign in at {}, and {}, which is of another site, would receive \
             what they are given there; build with --allow-foreign-endpoints if one owner says that both are its own",
            shown(&self.issuer),
            shown(&self.authorize_url),
            shown(&self.token_url)
        ))
    }
}

/// What a resource says of itself.
pub(super) struct ResourceDocument {
    pub resource: String,
    pub issuers: Vec<String>,
    pub scopes: Vec<String>,
}

/// Reads the metadata of a resource, which has to be this server or hold it (RFC 9728, section 3.3).
pub(super) fn read_resource(
    address: &RemoteAddress,
    document: &Map<String, Value>,
) -> Result<ResourceDocument, String> {
    let resource = text(document, "resource")
        .ok_or("the metadata of the server as a protected resource has no `resource`")?;
    if !holds(resource, address.url()) {
        return Err(format!(
            "the server says that it is the resource `{}`, which is another one than {}: a token for it would be one for somebody else",
            shown(resource),
            address.url()
        ));
    }
    let issuers = list(document, "authorization_servers");
    if issuers.is_empty() {
        return Err("the server names no authorization server".to_owned());
    }
    Ok(ResourceDocument {
        resource: resource.to_owned(),
        issuers,
        scopes: scopes(document),
    })
}

/// Whether `resource` is the address, or its origin with a path in front of it.
fn holds(resource: &str, address: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let (own, asked) = (
        resource.path().trim_end_matches('/'),
        address.path().trim_end_matches('/'),
    );
    let below = asked
        .strip_prefix(own)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == address.origin()
        && below
        && resource.query().is_none()
        && resource.fragment().is_none()
}

/// Where an issuer describes itself (RFC 8414, section 3; OpenID Connect Discovery, section 4).
pub(super) fn places(issuer: &str) -> Vec<String> {
    let Ok(url) = Url::parse(issuer) else {
        return Vec::new();
    };
    let origin = url.origin().ascii_serialization();
    let path = url.path().trim_end_matches('/');
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}

/// Reads the metadata of the authorization server that was asked for as `issuer`.
pub fn read_metadata(
    issuer: &str,
    document: &Map<String, Value>,
) -> Result<AuthorizationServer, String> {
    let said = text(document, "issuer").unwrap_or_default();
    if said.trim_end_matches('/') != issuer.trim_end_matches('/') {
        return Err(format!(
            "the authorization server at {} says that it is `{}`; its metadata is not used",
            shown(issuer),
            shown(said)
        ));
    }
    let endpoint = |key: &str| -> Result<Option<String>, String> {
        let Some(url) = text(document, key) else {
            return Ok(None);
        };
        let good = url.starts_with("https://")
            && url.len() <= ADDRESS_BYTES_MAX
            && Url::parse(url).is_ok_and(|parsed| parsed.username().is_empty());
        match good {
            true => Ok(Some(url.to_owned())),
            false => Err(format!(
                "`{key}` of the authorization server is no https address: `{}`",
                shown(url)
            )),
        }
    };
    let needed = |key: &str| -> Result<String, String> {
        endpoint(key)?.ok_or_else(|| format!("the authorization server names no `{key}`"))
    };
    let pkce = list(document, "code_challenge_methods_supported");
    if !pkce.iter().any(|method| method == "S256") {
        return Err(
            "the authorization server does not offer PKCE with S256, which MCP requires".to_owned(),
        );
    }
    let documents = document.get("client_id_metadata_document_supported");
    Ok(AuthorizationServer {
        issuer: said.to_owned(),
        authorize_url: needed("authorization_endpoint")?,
        token_url: needed("token_endpoint")?,
        revoke_url: endpoint("revocation_endpoint")?,
        registration_url: endpoint("registration_endpoint")?,
        token_auth: token_auth(&list(document, "token_endpoint_auth_methods_supported")),
        client_documents: documents == Some(&Value::Bool(true)),
        resources: document
            .contains_key("protected_resources")
            .then(|| list(document, "protected_resources")),
    })
}

/// How a client proves itself; a server that does not say takes `client_secret_basic` (RFC 8414, section 2).
fn token_auth(offered: &[String]) -> &'static str {
    let offers = |method: &str| offered.iter().any(|one| one == method);
    if offered.is_empty() || offers("client_secret_basic") {
        "basic"
    } else if offers("client_secret_post") {
        "post"
    } else {
        "none"
    }
}

fn text<'v>(document: &'v Map<String, Value>, key: &str) -> Option<&'v str> {
    document.get(key).and_then(Value::as_str)
}

fn list(document: &Map<String, Value>, key: &str) -> Vec<String> {
    let values = document.get(key).and_then(Value::as_array);
    let texts = values.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn scopes(document: &Map<String, Value>) -> Vec<String> {
    let mut scopes = list(document, "scopes_supported");
    scopes.retain(|scope| scope.len() <= SCOPE_BYTES_MAX && toolgate_catalog::is_scope(scope));
    scopes.truncate(SCOPES_MAX);
    scopes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().expect("an object").clone()
    }

    fn good() -> Value {
        json!({
            "issuer": "https://id.example.com",
            "authorization_endpoint": "https://id.example.com/authorize",
            "token_endpoint": "https://id.example.com/token",
            "registration_endpoint": "https://id.example.com/register",
            "code_challenge_methods_supported": ["S256"],
        })
    }

    #[test]
    fn an_issuer_is_who_it_was_asked_for_and_speaks_https_and_pkce() {
        let read =
            |issuer: &str, document: &Value| read_metadata(issuer, &object(document.clone()));
        let found = read("https://id.example.com", &good()).expect("good");
        assert_eq!((found.token_auth, found.client_documents), ("basic", false));
        assert!(read("https://id.example.com/", &good()).is_ok());
        for issuer in [
            "https://other.example.com",
            "https://id.example.com/tenant",
            "",
        ] {
            let said = read(issuer, &good()).expect_err(issuer);
            assert!(said.contains("says that it is"), "{said}");
        }
        for (key, bad) in [
            ("issuer", json!(null)),
            (
                "authorization_endpoint",
                json!("http://id.example.com/authorize"),
            ),
            ("token_endpoint", json!("javascript:x")),
            ("token_endpoint", json!(null)),
            ("revocation_endpoint", json!("http://10.0.0.1/")),
            (
                "registration_endpoint",
                json!("https://user@id.example.com/"),
            ),
            ("code_challenge_methods_supported", json!(["plain"])),
            ("code_challenge_methods_supported", json!(null)),
        ] {
            let mut document = good();
            document[key] = bad.clone();
            assert!(
                read("https://id.example.com", &document).is_err(),
                "{key} {bad}"
            );
        }
    }

    #[test]
    fn users_sign_in_at_the_issuers_site_or_at_the_one_that_receives_the_code() {
        let said = |authorize: &str, token: &str| {
            let mut document = good();
            document["authorization_endpoint"] = authorize.into();
            document["token_endpoint"] = token.into();
            let found = read_metadata("https://id.example.com", &object(document));
            found.expect("metadata").check_sites()
        };
        for (authorize, token) in [
            ("https://id.example.com/a", "https://id.example.com/t"),
            ("https://example.com/a", "https://eu.id.example.com/t"),
            ("https://login.example.net/a", "https://login.example.net/t"),
            ("https://id.example.com/a", "https://tokens.example.net/t"),
        ] {
            assert_eq!(said(authorize, token), Ok(()), "{authorize} {token}");
        }
        for (authorize, token) in [
            ("https://bank.example/a", "https://id.example.com/t"),
            ("https://bank.example/a", "https://evil.example/t"),
        ] {
            let why = said(authorize, token).expect_err(authorize);
            assert!(why.contains("--allow-foreign-endpoints"), "{why}");
        }
    }

    #[test]
    fn an_authorization_server_that_lists_its_resources_lists_this_one() {
        let address = RemoteAddress::parse("https://mcp.example.com/mcp", false).expect("public");
        let said = |resources: Value| {
            let mut document = good();
            document["protected_resources"] = resources;
            let found = read_metadata("https://id.example.com", &object(document));
            found.expect("metadata").check_resource(&address)
        };
        for resources in [
            json!(["https://api.example.com", "https://mcp.example.com/mcp"]),
            json!(["https://mcp.example.com"]),
        ] {
            assert_eq!(said(resources.clone()), Ok(()), "{resources}");
        }
        for resources in [json!(["https://api.example.com"]), json!([]), json!(null)] {
            let why = said(resources.clone()).expect_err("not listed");
            assert!(why.contains("protected_resources"), "{resources} {why}");
        }
        let silent = read_metadata("https://id.example.com", &object(good()));
        assert_eq!(silent.expect("metadata").check_resource(&address), Ok(()));
    }

    #[test]
    fn the_resource_is_the_server_itself() {
        let address =
            RemoteAddress::parse("https://mcp.example.com/v1/mcp", false).expect("public");
        let read = |resource: &str| {
            let document = json!({"resource": resource, "authorization_servers": ["https://id.example.com"],
                "scopes_supported": ["notes", "a b", 1]});
            read_resource(&address, &object(document)).map(|found| found.scopes)
        };
        for own in [
            "https://mcp.example.com/v1/mcp",
            "https://mcp.example.com/v1/mcp/",
            "https://mcp.example.com/v1",
            "https://mcp.example.com",
        ] {
            assert_eq!(read(own), Ok(vec!["notes".to_owned()]), "{own}");
        }
        for other in [
            "https://bank.example.com/v1/mcp",
            "https://mcp.example.com/v1/m",
            "https://mcp.example.com/v2",
            "https://mcp.example.com:8443/v1/mcp",
            "http://mcp.example.com/v1/mcp",
            "https://mcp.example.com/v1/mcp?x",
            "mcp",
        ] {
            assert!(read(other).is_err(), "{other}");
        }
        let none = json!({"resource": "https://mcp.example.com", "authorization_servers": []});
        assert!(read_resource(&address, &object(none)).is_err());
    }

    #[test]
    fn an_issuer_with_a_path_is_looked_for_at_three_places() {
        assert_eq!(
            places("https://id.example.com/tenant"),
            [
                "https://id.example.com/.well-known/oauth-authorization-server/tenant",
                "https://id.example.com/.well-known/openid-configuration/tenant",
                "https://id.example.com/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(places("https://id.example.com/").len(), 2);
        assert_eq!(places("nothing").len(), 0);
    }

    #[test]
    fn the_proof_of_a_client_is_one_that_the_server_takes() {
        let auth = |offered: &[&str]| {
            token_auth(
                &offered
                    .iter()
                    .map(|one| (*one).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(auth(&[]), "basic");
        assert_eq!(auth(&["client_secret_post", "none"]), "post");
        assert_eq!(auth(&["none"]), "none");
        assert_eq!(auth(&["private_key_jwt"]), "none");
    }
}
