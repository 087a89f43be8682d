//! The manifest: what a plugin says it is, needs and offers.
//!
//! One JSON document (`"manifest": 1`), returned by the component's `describe` and stored in its
//! custom section [`SECTION`]. This file is its shape and nothing else; whether a manifest may be
//! accepted is decided in [`super::lint()`], what it may do at run time by the operator's grant.

mod hooks;
mod oauth;
mod placement;
mod triggers;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use hooks::{HookChallenge, HookEvent, HookSignature, HookSpec, HookTimestamp, HookValue};
pub use oauth::{Pointers, TokenAnswer, TokenAuth, TokenBody, TokenStep};
pub use placement::{AwsSigv4, BasicTemplate, CLIENT_ID, CLIENT_SECRET, Placement};
pub use triggers::{TriggerOrder, TriggerSpec};

use placement::one_or_many;

use super::Schema;

/// The custom section that carries the manifest inside a component file.
pub const SECTION: &str = "toolgate:manifest";

/// The one manifest schema version this build reads.
pub const MANIFEST_VERSION: u32 = 1;

/// A plugin's manifest. Unknown keys are refused, so that a right can never be asked for unseen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the manifest's form: 1.
    #[cfg_attr(test, schemars(range(min = 1, max = 1)))]
    pub manifest: u32,
    /// Integration name: lowercase, `[a-z][a-z0-9_]*`, the prefix of every tool name.
    #[cfg_attr(
        test,
        schemars(regex(pattern = r"^[a-z][a-z0-9_]*$"), length(max = 40))
    )]
    pub service: String,
    pub title: String,
    /// Semantic version of the integration.
    pub version: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Host patterns: `api.example.com`, `{subdomain}.example.com` (a connection parameter) or
    /// `*.example.com` (one or more labels). Default port only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Headers that requests carry beside those that every plugin may set; `x-meta-*` is a family.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub request_headers: Vec<String>,
    /// Headers that the plugin reads of answers beside those that every plugin may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_headers: Vec<String>,
    /// Media types that the plugin reads of answers beside JSON, XML and text: `application/pdf`,
    /// `image/*` or `*/*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_types: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Capability>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth: Vec<Slot>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<ConfigKey>,
    #[serde(default, skip_serializing_if = "DeclaredLimits::is_default")]
    pub limits: DeclaredLimits,
    /// Events that the provider sends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<HookSpec>,
    pub tools: Vec<ToolSpec>,
}

/// What a component may import beyond `call` and `types`, which need no grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Capability {
    #[serde(rename = "egress")]
    Egress,
    #[serde(rename = "blobs")]
    Blobs,
    #[serde(rename = "kv")]
    Kv,
    /// The second door to egress, for languages that bring their own HTTP client.
    #[serde(rename = "wasi-http")]
    WasiHttp,
}

impl Capability {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Egress => "egress",
            Self::Blobs => "blobs",
            Self::Kv => "kv",
            Self::WasiHttp => "wasi-http",
        }
    }
}

/// One credential a user can connect. The plugin names the slot; only the host sees the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Slot {
    pub slot: String,
    pub title: String,
    #[serde(rename = "type")]
    pub kind: AuthKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorize_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoke_url: Option<String>,
    /// How the authorization server names itself (RFC 9207), where that is on neither the host of
    /// `authorize_url` nor that of `token_url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// Send PKCE S256 (RFC 7636). Off only for a provider that refuses the parameter.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub pkce: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    #[serde(default = "space", skip_serializing_if = "is_space")]
    pub scope_separator: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub authorize_params: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "TokenAuth::is_default")]
    pub token_auth: TokenAuth,
    /// Where the provider renews tokens, if that is not `token_url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_url: Option<String>,
    /// More parameters of each token request. `{parameter}` is a value of the connection; see
    /// [`super::token_requests`] for the names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub token_params: BTreeMap<String, String>,
    /// In place of `token_params` in the request that renews a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_params: Option<BTreeMap<String, String>>,
    /// Name of the parameter `client_id` at this provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id_param: Option<String>,
    /// Name of the parameter `client_secret` at this provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_param: Option<String>,
    /// Name of the parameter `redirect_uri` at this provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri_param: Option<String>,
    /// What the provider calls the name that it gives to the callback address, as eBay its RuName. The operator
    /// registers that name, and it is sent where others take the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_name: Option<String>,
    /// What `{tenant}` in the paths of the slot's addresses is, unless the operator registers an application of one
    /// organization: `common` at Microsoft Entra.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Name of the parameter `scope` of the authorization request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_param: Option<String>,
    /// Token requests of a user's sign-in that name the scopes too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope_with: Vec<TokenStep>,
    #[serde(default, skip_serializing_if = "TokenBody::is_default")]
    pub token_body: TokenBody,
    /// Where a token answer holds what is not at its standard place.
    #[serde(default, skip_serializing_if = "TokenAnswer::is_default")]
    pub token_answer: TokenAnswer,
    /// Life of an access token, in seconds, where the provider does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_lifetime_s: Option<u64>,
    /// Name of the revocation's parameter `token`. With another name the access token is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoke_param: Option<String>,
    /// What the user fills in for a slot without OAuth. Empty means one field, `secret`
    /// (for `basic`: `username` and `password`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<SecretField>,
    /// Where the credential goes. Several where a provider wants several.
    #[serde(deserialize_with = "one_or_many")]
    #[cfg_attr(test, schemars(schema_with = "crate::manifest_schema::one_or_many"))]
    pub placement: Vec<Placement>,
    /// Origins (`https://host`, the host may be a pattern of `hosts`) that may receive it, and
    /// `{setting}` for the address that the operator writes into that setting. No other does.
    pub audience: Vec<String>,
    /// Error codes by which the provider says that the credential has ended, where the status does not say it:
    /// `ExpiredToken`, `token_expired`; a status such as `419` counts too. A request that is answered with one of
    /// them has not been performed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expired: Vec<String>,
    /// How to read the account's name once connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountProbe>,
    /// Connection parameters read from the token answer: parameter key to JSON Pointer. Only places
    /// and values of the forms in [`super::token_parameters`] are read; nothing of them is secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub token_parameters: BTreeMap<String, String>,
}

impl Slot {
    /// Every address of the slot's authorization server.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let all = [
            &self.authorize_url,
            &self.token_url,
            &self.refresh_url,
            &self.revoke_url,
            &self.issuer,
        ];
        all.into_iter().flatten().map(String::as_str)
    }
}

/// Whether a text may be the tenant of an address: an identifier or a domain, one segment of a path.
pub fn is_tenant(text: &str) -> bool {
    const BYTES_MAX: usize = 200;
    (1..=BYTES_MAX).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
}

/// The kinds of credential, as `auth_type` in public answers names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    Oauth2,
    Oauth2ClientCredentials,
    ApiKey,
    Bearer,
    Basic,
}

impl AuthKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Oauth2 => "oauth2",
            Self::Oauth2ClientCredentials => "oauth2_client_credentials",
            Self::ApiKey => "api_key",
            Self::Bearer => "bearer",
            Self::Basic => "basic",
        }
    }
}

/// One input of the connect form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecretField {
    pub key: String,
    pub title: String,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub secret: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// A request whose answer names the connected account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccountProbe {
    /// Method and URL, for example `GET https://api.github.com/user`.
    pub request: String,
    /// JSON Pointer to the name in the answer.
    pub label: String,
}

/// A value of a connection that is not secret, filled in by the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub key: String,
    pub title: String,
    /// Anchored regular expression; a parameter used in a host may match one DNS label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// An operator's setting. With `adds_host` its value is an address that is granted as that origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfigKey {
    pub key: String,
    pub title: String,
    pub schema: Value,
    #[serde(default, skip_serializing_if = "is_no")]
    pub adds_host: bool,
}

/// Bounds the plugin asks for; the gateway's own bounds hold where they are smaller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeclaredLimits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_mib: Option<u32>,
}

impl DeclaredLimits {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// One tool of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Action name without the service prefix.
    #[cfg_attr(
        test,
        schemars(regex(pattern = r"^[a-z][a-z0-9_]*$"), length(max = 62))
    )]
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    /// JSON Schema 2020-12 of the arguments, an object schema.
    pub input: Schema,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Schema>,
    pub effect: Effect,
    /// What a tool declared `read` sends besides GET and HEAD, see [`super::queries`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<String>,
    /// The one request of a tool that is built from a description. Its plugin sends no other that may change something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<DescribedRequest>,
    #[serde(default, skip_serializing_if = "is_no")]
    pub idempotent: bool,
    #[serde(default, skip_serializing_if = "is_no")]
    pub paginated: bool,
    /// Slots this tool can run with, best first. Empty: the tool needs no credential.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth: Vec<String>,
    /// The tool also runs, with less, when no slot is connected.
    #[serde(default, skip_serializing_if = "is_no")]
    pub auth_optional: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// What people say when they want this tool, for the search alone: "what do I have to pay this month".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// Events that the gateway finds by calling this tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<TriggerSpec>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

/// What a tool sends, as its description says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DescribedRequest {
    /// Method and address, with braces where something is filled in, see [`super::described`].
    pub send: String,
    /// What else the request holds: constants, and arguments at places that are not named like them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
}

/// What a tool does to the provider's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes.
    Write,
    /// Removes, or cannot be taken back.
    Destructive,
}

fn yes() -> bool {
    true
}
fn is_yes(value: &bool) -> bool {
    *value
}
fn is_no(value: &bool) -> bool {
    !*value
}
fn space() -> String {
    " ".to_owned()
}
fn is_space(value: &str) -> bool {
    value == " "
}
