//! Who may speak at an address of the edge: keys, the access tokens of connected apps, or both; and
//! what a client without a valid one is told (RFC 6750, section 3; RFC 9728, section 5.1). A toolset has an
//! address of its own below either, and takes what that takes.
//!
//! A client that is refused at [`PATH`] learns where it can sign in. [`KEY_PATH`] takes keys alone and
//! says nothing of it: some clients ignore the header that they are configured with as soon as an
//! address leads them to a sign-in.

use http::{HeaderMap, HeaderValue, header};
use serde::Deserialize;
use std::net::IpAddr;

use super::{cards, tools};
use toolgate_gateway::identity::apps::enter::is_access_token;
use toolgate_gateway::identity::apps::scopes::all_scopes;
use toolgate_gateway::identity::apps::{MCP_PATH, RESOURCE_METADATA, origin_and_path};
use toolgate_gateway::toolsets::listing::SKILL_TOOL_PREFIX;
use toolgate_gateway::{Caller, Error, Gateway, Scope};
use toolgate_http_kit::auth::bearer;

/// Where the edge is mounted.
pub const PATH: &str = MCP_PATH;
/// Where it takes keys alone.
pub const KEY_PATH: &str = "/mcp/key";

/// What [`PATH`] takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpAuth {
    Keys,
    OAuth,
    #[default]
    Both,
}

impl McpAuth {
    /// The choices by their names in settings.
    pub const NAMES: [&str; 3] = ["keys", "oauth", "both"];

    pub fn takes_keys(self) -> bool {
        matches!(self, Self::Keys | Self::Both)
    }

    pub fn takes_tokens(self) -> bool {
        matches!(self, Self::OAuth | Self::Both)
    }
}

impl std::str::FromStr for McpAuth {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "keys" => Ok(Self::Keys),
            "oauth" => Ok(Self::OAuth),
            "both" => Ok(Self::Both),
            _ => Err(format!(
                "unknown value `{name}`: use one of {}",
                Self::NAMES.join(", ")
            )),
        }
    }
}

/// Where it lists a toolset.
pub const TOOLSET_ROUTE: &str = "/mcp/t/{toolset_name}";
/// The same, for keys alone.
pub const KEY_TOOLSET_ROUTE: &str = "/mcp/key/t/{toolset_name}";

/// What one address takes.
#[derive(Clone, Debug)]
pub(crate) struct EndpointCredentials {
    pub route: &'static str,
    keys: bool,
    tokens: Option<TokenAudience>,
    /// The toolset that is listed at the address.
    pub toolset: Option<String>,
}

/// For which address tokens have to be.
#[derive(Clone, Debug)]
struct TokenAudience {
    resource: String,
}

impl TokenAudience {
    fn new(resource: String) -> Self {
        Self { resource }
    }

    /// Where a client learns how to get one that has sent its request to `host`.
    fn metadata_url(&self, gateway: &Gateway, host: Option<&str>) -> String {
        let base = gateway.identity().public_url_at(host);
        let path = origin_and_path(&self.resource).1;
        format!("{}{RESOURCE_METADATA}{path}", origin_and_path(&base).0)
    }
}

impl EndpointCredentials {
    pub(crate) fn for_main(auth: McpAuth, gateway: &Gateway) -> Self {
        Self {
            route: PATH,
            keys: auth.takes_keys(),
            tokens: auth
                .takes_tokens()
                .then(|| TokenAudience::new(gateway.identity().mcp_resource())),
            toolset: None,
        }
    }

    pub(crate) fn for_keys() -> Self {
        Self {
            route: KEY_PATH,
            keys: true,
            tokens: None,
            toolset: None,
        }
    }

    /// The same for the address of a toolset. A token is good for that address alone.
    pub(crate) fn for_toolset(&self, gateway: &Gateway, name: &str) -> Self {
        let tokens = self.tokens.as_ref();
        Self {
            route: match self.route {
                KEY_PATH => KEY_TOOLSET_ROUTE,
                _ => TOOLSET_ROUTE,
            },
            keys: self.keys,
            tokens: tokens.map(|_| TokenAudience::new(gateway.identity().toolset_resource(name))),
            toolset: Some(name.to_owned()),
        }
    }

    /// Names the address, so that a session answers there alone.
    pub(crate) fn endpoint(&self) -> String {
        match &self.toolset {
            Some(name) => self.route.replace("{toolset_name}", name),
            None => self.route.to_owned(),
        }
    }

    pub(crate) async fn authenticate(
        &self,
        gateway: &Gateway,
        headers: &HeaderMap,
        request_id: &str,
        address: Option<IpAddr>,
    ) -> Result<Caller, Error> {
        let given = bearer(headers)?;
        let request_id = request_id.to_owned();
        match (given, &self.tokens) {
            (Some(token), Some(audience)) if is_access_token(token) => {
                let resource = &audience.resource;
                let entering = gateway.authenticate_app(token, resource, request_id, address);
                entering.await
            }
            (None, _) if !self.keys => Err(Error::AccessTokenRequired),
            (Some(_), _) if !self.keys => Err(Error::InvalidAccessToken),
            (key, _) => gateway.authenticate(key, request_id, address).await,
        }
    }

    /// Refuses a message for which the scopes of an app do not suffice. For the other callers, and
    /// beside this, the operations decide.
    pub(crate) fn check_scope(&self, caller: &Caller, message: Option<&[u8]>) -> Result<(), Error> {
        let in_toolset = self.toolset.is_some();
        let message = message.filter(|_| caller.is_app());
        match message.and_then(|message| scope_of(message, in_toolset)) {
            Some(scope) => caller.need(scope),
            None => Ok(()),
        }
    }

    /// Says in the header of a refusal how to be let in. All scopes are named at once, so that one
    /// more round at the sign-in suffices.
    pub(crate) fn challenge(
        &self,
        gateway: &Gateway,
        host: Option<&str>,
        error: &Error,
        headers: &mut HeaderMap,
    ) {
        let Some(audience) = &self.tokens else {
            return;
        };
        let problem = match error {
            Error::ApiKeyRequired | Error::AccessTokenRequired => "",
            Error::InvalidApiKey | Error::InvalidAccessToken => "error=\"invalid_token\", ",
            Error::ScopeDenied(_) => "error=\"insufficient_scope\", ",
            _ => return,
        };
        let challenge = format!(
            "Bearer {problem}resource_metadata=\"{}\", scope=\"{}\"",
            audience.metadata_url(gateway, host),
            all_scopes()
        );
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
    }
}

#[derive(Deserialize)]
struct CalledMethod {
    method: Option<String>,
    params: Option<CalledParams>,
}

impl CalledMethod {
    fn names(&self, uri: &str) -> bool {
        let params = self.params.as_ref();
        params.is_some_and(|params| params.uri.as_deref() == Some(uri))
    }
}

#[derive(Deserialize)]
struct CalledParams {
    name: Option<String>,
    uri: Option<String>,
}

/// The scope without which a message is refused, `in_toolset`: at the address of one. `None`: it needs
/// none, or it is not a message.
fn scope_of(message: &[u8], in_toolset: bool) -> Option<Scope> {
    let called: CalledMethod = serde_json::from_slice(message).ok()?;
    match called.method.as_deref()? {
        "tools/list" if in_toolset => Some(Scope::ToolsRead),
        "tools/call" => {
            let name = called.params?.name?;
            match tools::find(&name) {
                Some(row) => row.scope,
                None if !in_toolset => None,
                None if name.starts_with(SKILL_TOOL_PREFIX) => Some(Scope::SkillsRead),
                None => Some(Scope::ToolsExecute),
            }
        }
        // The document of all cards holds nothing of anybody.
        "resources/read" if called.names(cards::URI) => None,
        "resources/list" | "resources/read" | "skills/list" | "skills/get" => {
            Some(Scope::SkillsRead)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_needs_the_scope_of_its_tool() {
        for (message, expected) in [
            (
                r#"{"method":"tools/call","params":{"name":"svc_execute_tool"}}"#,
                Some(Scope::ToolsExecute),
            ),
            (
                r#"{"params":{"name":"svc_delete_skill"},"method":"tools\/call"}"#,
                Some(Scope::SkillsWrite),
            ),
            (
                r#"{"method":"tools/call","params":{"name":"svc_health_check"}}"#,
                None,
            ),
            (r#"{"method":"tools/call","params":{"name":"nope"}}"#, None),
            (r#"{"method":"skills/list"}"#, Some(Scope::SkillsRead)),
            (r#"{"method":"resources/read"}"#, Some(Scope::SkillsRead)),
            (
                r#"{"method":"resources/read","params":{"uri":"ui://toolgate/other"}}"#,
                Some(Scope::SkillsRead),
            ),
            (
                r#"{"method":"resources/read","params":{"uri":"ui://toolgate/call"}}"#,
                None,
            ),
            (r#"{"method":"tools/list"}"#, None),
            (r#"{"method":7}"#, None),
            ("[]", None),
            ("", None),
        ] {
            assert_eq!(scope_of(message.as_bytes(), false), expected, "{message}");
        }
        for (message, expected) in [
            (r#"{"method":"tools/list"}"#, Some(Scope::ToolsRead)),
            (
                r#"{"method":"tools/call","params":{"name":"github_create_issue"}}"#,
                Some(Scope::ToolsExecute),
            ),
            (
                r#"{"method":"tools/call","params":{"name":"skill_triage"}}"#,
                Some(Scope::SkillsRead),
            ),
            (
                r#"{"method":"tools/call","params":{"name":"svc_search_tools"}}"#,
                Some(Scope::ToolsRead),
            ),
            (r#"{"method":"tools/call"}"#, None),
        ] {
            assert_eq!(scope_of(message.as_bytes(), true), expected, "{message}");
        }
    }

    #[test]
    fn settings_name_every_choice() {
        for name in McpAuth::NAMES {
            let auth: McpAuth = name.parse().unwrap();
            assert!(auth.takes_keys() || auth.takes_tokens());
        }
        assert!("none".parse::<McpAuth>().is_err() && "".parse::<McpAuth>().is_err());
        assert_eq!(McpAuth::default(), McpAuth::Both);
    }
}
