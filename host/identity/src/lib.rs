//! Who calls: keys, members, the apps that members let in, users and the workspaces that they belong to.
//!
//! [`Identity`] turns a credential into a [`Caller`] and does what people do with keys, members and apps. It knows
//! neither tools nor connections: what a caller may reach is decided above it. Start with [`authenticate`] (keys), then
//! [`members`] (people) and [`apps`] (MCP clients). What lasts longer than a request asks [`Identity::renewed`] whether
//! its caller may go on.

#![forbid(unsafe_code)]

pub mod apps;
mod authenticate;
pub mod client_sessions;
pub mod config;
pub mod key_ring;
pub mod keys;
pub mod members;
mod renew;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod upkeep;
pub mod users;
pub mod workspaces;

use std::sync::Arc;

use serde_json::Value;
use tokio_util::task::TaskTracker;
use toolgate_core::clock::Clock;
use toolgate_egress::Egress;
use toolgate_operation::audit::AuditAction;
use toolgate_operation::limits::RequestCounts;
use toolgate_operation::{Caller, Error, Principal, RateLimited, Scope};
use toolgate_store::{AuditedStore, Store};
use toolgate_vault::Vault;

use config::{AppClientsConfig, OidcConfig};

/// What the operations on keys, members and apps work on. One per process.
pub struct Identity {
    store: Store,
    egress: Egress,
    vault: Vault,
    clock: Clock,
    /// Base of links for people, without a trailing slash.
    public_url: String,
    counts: RequestCounts,
    known_keys: authenticate::KnownKeys,
    apps: apps::Apps,
    client_sessions: client_sessions::ClientSessions,
    passwords: members::Passwords,
    oidc: Option<Arc<members::oidc::OidcAccounts>>,
}

/// What [`Identity::new`] is made of.
pub struct IdentityParts {
    pub store: Store,
    pub egress: Egress,
    pub vault: Vault,
    pub clock: Clock,
    /// Base of links for people, without a trailing slash.
    pub public_url: String,
    /// The provider that members sign in with.
    pub oidc: Option<OidcConfig>,
    /// Which MCP clients may ask to be let in.
    pub app_clients: AppClientsConfig,
    /// Requests to the provider go on here when the request that began them has ended.
    pub running: TaskTracker,
}

impl Identity {
    /// Must be called in a tokio runtime: requests to the provider go on there.
    pub fn new(parts: IdentityParts) -> Self {
        let oidc = parts.oidc.map(|config| {
            let accounts = members::oidc::OidcAccountsParts {
                egress: parts.egress.clone(),
                store: parts.store.clone(),
                vault: parts.vault.clone(),
                clock: parts.clock.clone(),
                running: parts.running,
            };
            Arc::new(members::oidc::OidcAccounts::new(config, accounts))
        });
        Self {
            store: parts.store,
            egress: parts.egress,
            vault: parts.vault,
            clock: parts.clock,
            public_url: parts.public_url,
            counts: RequestCounts::default(),
            known_keys: authenticate::KnownKeys::default(),
            apps: apps::Apps::new(parts.app_clients),
            client_sessions: client_sessions::ClientSessions::default(),
            passwords: members::Passwords::default(),
            oidc,
        }
    }

    /// Counts one more request of the caller, as its authentication has counted the first.
    ///
    /// # Errors
    /// `rate_limit_exceeded` beyond a limit of the key, the app or the workspace.
    pub async fn count_request(&self, caller: &Caller) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        self.counts.count(&self.store, &caller.limits, now_ms).await
    }

    /// The store for one change of the caller, which leaves this entry. `details`: an object without secrets.
    fn audited(
        &self,
        caller: &Caller,
        action: AuditAction,
        subject: &str,
        details: Value,
    ) -> AuditedStore {
        caller.audited(&self.store, self.clock.now_ms(), action, subject, details)
    }
}
