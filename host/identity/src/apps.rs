//! Connected apps: MCP clients that members let in by OAuth, with nothing but the gateway's address.
//!
//! The gateway is the authorization server of its own MCP endpoint (OAuth 2.1; MCP 2026-07-28,
//! Authorization). [`clients`] knows who a client is, from its metadata document ([`documents`]) or
//! because it registered itself ([`register`]), or an admin has named it ([`named`]); it proves itself by nothing, a
//! secret, or a key that it publishes ([`client_keys`]). [`redirects`] decides where an answer may go, [`resources`]
//! which address tokens are for, [`scopes`] what of the scopes that are named can be had. [`authorize`] takes the request and the member's decision, [`tokens`] exchanges codes and
//! refresh tokens, [`assertion`] the word of an issuer that the operator trusts ([`issuers`]), [`client_credentials`]
//! a client's secret; [`revoke`] ends tokens, [`enter`] turns an access token into a [`Caller`]. What members and
//! admins do with connected apps is here.

mod assertion;
pub mod authorize;
pub mod client_credentials;
mod client_keys;
pub mod clients;
mod documents;
pub mod enter;
mod issuers;
pub mod named;
pub mod params;
pub mod places;
pub mod redirects;
pub mod refusal;
pub mod register;
mod resources;
pub mod revoke;
mod schemes;
pub mod scopes;
mod token_text;
pub mod tokens;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::AppClientsConfig;
use crate::{Caller, Error, Identity, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::is_toolset_name;
use toolgate_oauth::client_assertion;
use toolgate_operation::audit::{AuditAction, entry};
use toolgate_operation::limits::PerAddress;
use toolgate_store::{AppBlock, AppClient, AppGrant, AuditEntry, AuditedStore, Role};

/// Path of the MCP endpoint: what tokens are for.
pub const MCP_PATH: &str = "/mcp";
/// Below the path of an MCP endpoint, the toolsets.
pub const TOOLSETS_PATH: &str = "/t";
/// Path of the issuer. It has one, so that the addresses at which clients look for the authorization
/// server of a whole host answer 404: an endpoint for keys alone must not lead to a sign-in.
pub const ISSUER_PATH: &str = "/oauth";

/// What an app may be granted: what the tools of the MCP endpoint need. Never what people decide.
pub const APP_SCOPES: [Scope; 4] = [
    Scope::ToolsRead,
    Scope::ToolsExecute,
    Scope::SkillsRead,
    Scope::SkillsWrite,
];
/// Where a protected resource says which authorization server it has (RFC 9728, section 3): the
/// well-known part is between the host and the path.
pub const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";
/// The same for an authorization server (RFC 8414, section 3).
pub const ISSUER_METADATA: &str = "/.well-known/oauth-authorization-server";
/// The same in the form of OpenID Connect (RFC 8414, section 5; Discovery 1.0, section 4).
pub const OPENID_METADATA: &str = "/.well-known/openid-configuration";

/// Requests a minute of one app.
pub const APP_RPM: i64 = 1_000;
/// Connected apps in one list.
const LISTED_MAX: i64 = 500;

/// What this process knows and counts of apps.
pub(crate) struct Apps {
    pub(crate) tokens: enter::KnownTokens,
    config: AppClientsConfig,
    issuers: issuers::TrustedIssuers,
    registrations: PerAddress,
    requests: PerAddress,
    refusals: PerAddress,
    reading: Arc<places::ReadingPlaces>,
    client_keys: client_keys::ClientKeys,
}

impl Apps {
    pub(crate) fn new(config: AppClientsConfig) -> Self {
        Self {
            tokens: enter::KnownTokens::default(),
            issuers: issuers::TrustedIssuers::new(config.id_jag_issuers.clone()),
            config,
            registrations: PerAddress::default(),
            requests: PerAddress::default(),
            refusals: PerAddress::default(),
            reading: Arc::default(),
            client_keys: client_keys::ClientKeys::default(),
        }
    }
}

/// Authorization requests a minute from one address.
pub const REQUESTS_PER_MINUTE: u32 = 60;

/// Where a request of a client comes from.
#[derive(Clone, Debug)]
pub struct AppPeer {
    pub request_id: String,
    pub address: Option<IpAddr>,
}

/// An app that a member has let in.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectedApp {
    pub app_id: String,
    pub client_id: String,
    pub client_name: String,
    /// Whose it is.
    pub member_id: String,
    pub member_name: String,
    pub scopes: Vec<String>,
    /// The toolset whose address it was let in at; absent for the main address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    pub connected_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
    /// When it ends unless it is used before.
    pub expires_at: String,
}

/// A client that the workspace has switched off.
#[derive(Clone, Debug, Serialize)]
pub struct BlockedClient {
    pub client_id: String,
    pub client_name: String,
    pub blocked_at: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ConnectedApps {
    pub apps: Vec<ConnectedApp>,
    pub blocked: Vec<BlockedClient>,
}

impl Identity {
    /// Which MCP clients may ask to be let in.
    pub fn app_clients(&self) -> &AppClientsConfig {
        &self.apps.config
    }

    /// How the gateway names itself as an authorization server.
    pub fn app_issuer(&self) -> String {
        format!("{}{ISSUER_PATH}", self.public_url)
    }

    /// The same as a client knows it that sends its request to `host`.
    pub fn app_issuer_at(&self, host: Option<&str>) -> String {
        format!("{}{ISSUER_PATH}", self.public_url_at(host))
    }

    /// The public address as a client knows it that sends its request to `host`: names of this computer are one
    /// address.
    pub fn public_url_at(&self, host: Option<&str>) -> String {
        resources::seen_at(&self.public_url, host)
    }

    /// What an assertion of a client may be for.
    fn own_audiences(&self) -> Vec<String> {
        let bases = resources::names_of(&self.public_url).into_iter();
        bases
            .flat_map(|base| {
                let issuer = format!("{base}{ISSUER_PATH}");
                [format!("{issuer}/token"), issuer]
            })
            .collect()
    }

    /// What tokens are for: the address of the MCP endpoint.
    pub fn mcp_resource(&self) -> String {
        format!("{}{MCP_PATH}", self.public_url)
    }

    /// The same for a toolset.
    pub fn toolset_resource(&self, toolset: &str) -> String {
        toolset_address(&self.mcp_resource(), toolset)
    }

    /// Connected apps, newest first: the caller's own, or those of all members for an admin.
    pub async fn connected_apps(&self, caller: &Caller) -> Result<ConnectedApps, Error> {
        caller.need_role(Role::Member)?;
        let workspace_id = &caller.workspace_id;
        let all = caller.need_role(Role::Admin).is_ok();
        let only = (!all).then_some(&*caller.key_id);
        let now_ms = self.clock.now_ms();
        let grants = self
            .store
            .list_app_grants(workspace_id, only, now_ms, LISTED_MAX);
        let grants = grants.await?;
        let members = self.store.list_members(workspace_id).await?;
        let names: HashMap<_, _> = members.into_iter().map(|row| (row.id, row.name)).collect();
        let main = self.mcp_resource();
        let blocked = match all {
            true => self.store.list_app_blocks(workspace_id).await?,
            false => Vec::new(),
        };
        Ok(ConnectedApps {
            apps: grants
                .into_iter()
                .map(|grant| ConnectedApp {
                    member_name: names.get(&grant.member_id).cloned().unwrap_or_default(),
                    toolset: toolset_of(&grant.resource, &main).map(str::to_owned),
                    app_id: grant.id,
                    client_id: grant.client_id,
                    client_name: grant.client_name,
                    member_id: grant.member_id,
                    scopes: grant.scopes,
                    connected_at: rfc3339(grant.created_at_ms),
                    last_used_at: grant.last_used_at_ms.map(rfc3339),
                    expires_at: rfc3339(grant.expires_at_ms),
                })
                .collect(),
            blocked: blocked
                .into_iter()
                .map(|block| BlockedClient {
                    client_id: block.client_id,
                    client_name: block.client_name,
                    blocked_at: rfc3339(block.created_at_ms),
                })
                .collect(),
        })
    }

    /// Ends a connected app with all its tokens, from its next request on. Members end their own.
    ///
    /// # Errors
    /// `not_found` for one that is not there, and for another member's.
    pub async fn revoke_app(&self, caller: &Caller, app_id: &str) -> Result<(), Error> {
        caller.need_role(Role::Member)?;
        let unknown = || Error::NotFound("the connected app".to_owned());
        let found = self.store.find_app_grant(&caller.workspace_id, app_id);
        let grant = found.await?.ok_or_else(unknown)?;
        if *grant.member_id != *caller.key_id && caller.need_role(Role::Admin).is_err() {
            return Err(unknown());
        }
        let action = AuditAction::AppsRevoke;
        let ended = self
            .audited(caller, action, &grant.id, about(&grant))
            .delete_app_grant(&grant.workspace_id, &grant.id)
            .await?;
        if ended { Ok(()) } else { Err(unknown()) }
    }

    /// Switches a client off for the workspace: what members have granted it ends, and so do the tokens
    /// that it got by itself; nobody can let it in again.
    ///
    /// # Errors
    /// `not_found` for one that is not there, and for one that another workspace's admin has named.
    pub async fn block_app(&self, caller: &Caller, client_id: &str) -> Result<(), Error> {
        caller.need_role(Role::Admin)?;
        let found = self.store.find_app_client(client_id).await?;
        let known = |client: &AppClient| {
            let whose = client.workspace_id.as_deref();
            whose.is_none_or(|whose| whose == &*caller.workspace_id)
        };
        let client = found
            .filter(known)
            .ok_or_else(|| Error::NotFound("the app".to_owned()))?;
        let details = json!({ "client": client.name, "client_id": client.id });
        let block = AppBlock {
            workspace_id: caller.workspace_id.to_string(),
            client_id: client.id,
            client_name: client.name,
            created_at_ms: self.clock.now_ms(),
        };
        self.audited(caller, AuditAction::AppsBlock, &block.client_id, details)
            .block_app_client(&block)
            .await?;
        Ok(())
    }

    /// Lets members let a client in again.
    pub async fn unblock_app(&self, caller: &Caller, client_id: &str) -> Result<(), Error> {
        caller.need_role(Role::Admin)?;
        let details = json!({ "client_id": client_id });
        let unblocked = self
            .audited(caller, AuditAction::AppsUnblock, client_id, details)
            .unblock_app_client(&caller.workspace_id, client_id)
            .await?;
        if unblocked {
            Ok(())
        } else {
            Err(Error::NotFound("the app".to_owned()))
        }
    }

    /// The store for a change that a client brings about by itself.
    fn audited_app(
        &self,
        grant: &AppGrant,
        action: AuditAction,
        details: Value,
        peer: &AppPeer,
    ) -> AuditedStore {
        self.store
            .audited(self.app_entry(grant, action, details, peer))
    }

    fn app_entry(
        &self,
        grant: &AppGrant,
        action: AuditAction,
        details: Value,
        peer: &AppPeer,
    ) -> AuditEntry {
        let actor = format!("app:{}", grant.id);
        let now_ms = self.clock.now_ms();
        AuditEntry {
            address: peer.address.map(|address| address.to_string()),
            request_id: Some(peer.request_id.clone()),
            ..entry(
                &grant.workspace_id,
                actor,
                now_ms,
                action,
                &grant.id,
                details,
            )
        }
    }
}

/// The address of a toolset for MCP clients, below that of an MCP endpoint.
pub fn toolset_address(endpoint: &str, name: &str) -> String {
    format!("{endpoint}{TOOLSETS_PATH}/{name}")
}

/// The toolset that a resource is the address of; `main` is the main MCP endpoint's.
pub(crate) fn toolset_of<'a>(resource: &'a str, main: &str) -> Option<&'a str> {
    let name = resource.strip_prefix(main)?.strip_prefix(TOOLSETS_PATH)?;
    name.strip_prefix('/').filter(|name| is_toolset_name(name))
}

/// The algorithms that assertions of clients may be signed with, by their names in metadata.
pub fn client_assertion_algorithms() -> Vec<String> {
    client_assertion::algorithms()
}

/// An address, parted after its host.
pub fn origin_and_path(url: &str) -> (&str, &str) {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    url.split_at(end)
}

/// What the audit log says of a grant.
fn about(grant: &AppGrant) -> Value {
    json!({
        "client": grant.client_name,
        "client_id": grant.client_id,
        "member_id": grant.member_id,
        "scopes": grant.scopes,
    })
}

/// What a scope lets an app do, in words for the member who is asked.
pub(crate) fn scope_words(scope: Scope) -> &'static str {
    match scope {
        Scope::ToolsRead => "Search the workspace's tools and read how they are used",
        Scope::ToolsExecute => {
            "Run tools with the accounts that you have connected, within your permissions"
        }
        Scope::SkillsRead => "Read the workspace's Skills",
        Scope::SkillsWrite => "Create, change and delete Skills of the workspace",
        Scope::PermissionsRead
        | Scope::PermissionsWrite
        | Scope::Approvals
        | Scope::ConnectionsFirst
        | Scope::Connections
        | Scope::Sessions
        | Scope::Webhooks
        | Scope::Knowledge
        | Scope::UsersAny
        | Scope::Admin => "Nothing that an app can be granted",
    }
}

#[cfg(test)]
mod tests;
