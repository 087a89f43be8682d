//! What a plugin was made of, kept in its file so that it can be made again: the address and the operator's choices.
//!
//! Nothing of it is secret, and nothing of it is a right: rights are in the manifest alone.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::account::{self, AccountChoice, ProtectedServer};
use super::address::RemoteAddress;
use super::client::{ServerClient, ServerProblem};
use super::compose::{ComposedServer, ServerChoices, compose};
use super::listing::{self, ServerListing};
use toolgate_catalog::manifest::Effect;
use toolgate_egress::Egress;
use toolgate_vault::Secret;

/// The custom section of a component that holds a [`ServerSource`] as JSON.
pub const SOURCE_SECTION: &str = "toolgate:mcp-source";
/// Largest such section, in bytes.
pub const SOURCE_BYTES_MAX: usize = 1 << 20;

/// The operator's side of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSource {
    pub url: String,
    #[serde(default)]
    pub private: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub only: BTreeSet<String>,
    pub tools_max: usize,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub effects: BTreeMap<String, Effect>,
    pub account: AccountChoice,
}

/// A saved list in place of the server's answer.
#[derive(Clone, Copy, Debug)]
pub struct SavedList<'a> {
    pub text: &'a str,
    /// The version of the protocol that the server speaks.
    pub version: &'a str,
}

impl ServerSource {
    /// Asks the server, or reads the saved list, and composes the plugin. `token` is used for the list alone.
    pub async fn build(
        &self,
        egress: &Egress,
        token: Option<Secret>,
        saved: Option<SavedList<'_>>,
    ) -> anyhow::Result<ComposedServer> {
        self.compose(egress, token, saved, false).await
    }

    /// The same of a plugin that was made before: a chosen tool that the server no longer lists is left out.
    pub async fn build_again(
        &self,
        egress: &Egress,
        token: Option<Secret>,
        saved: Option<SavedList<'_>>,
    ) -> anyhow::Result<ComposedServer> {
        self.compose(egress, token, saved, true).await
    }

    async fn compose(
        &self,
        egress: &Egress,
        token: Option<Secret>,
        saved: Option<SavedList<'_>>,
        again: bool,
    ) -> anyhow::Result<ComposedServer> {
        let address = RemoteAddress::parse(&self.url, self.private)?;
        let header = match &self.account {
            AccountChoice::Header(name) => name.as_str(),
            AccountChoice::Discover
            | AccountChoice::DiscoverForeign
            | AccountChoice::None
            | AccountChoice::Bearer => "authorization",
        };
        let mut client = ServerClient::new(egress, address.clone(), token, header);
        let (listing, protected) = match saved {
            Some(saved) => {
                let listing = listing::from_file(saved.text, saved.version)?;
                (listing, self.account_of_saved(&mut client).await)
            }
            None => self.ask(&mut client).await?,
        };
        let choices = ServerChoices {
            service: self.service.clone(),
            only: self.only.clone(),
            tools_max: self.tools_max,
            effects: self.effects.clone(),
            account: self.account.clone(),
            again,
        };
        Ok(compose(&address, listing, &choices, protected.as_ref())?)
    }

    async fn ask(
        &self,
        client: &mut ServerClient<'_>,
    ) -> Result<(ServerListing, Option<ProtectedServer>), ServerProblem> {
        let discovers = self.account.discovers();
        match listing::from_server(client).await {
            // A server that lists its tools to everybody may still want a sign-in for a call.
            Ok(listing) if discovers => {
                Ok((listing, account::published(client, &self.account).await?))
            }
            Ok(listing) => Ok((listing, None)),
            Err(ServerProblem::SignIn { challenge }) if discovers => {
                let found = account::discover(client, challenge.as_deref(), &self.account).await?;
                Err(match found {
                    Some(_) => ServerProblem::SignIn { challenge },
                    None => ServerProblem::Answer(
                        "the server asks for a credential and does not say where users sign in: say --auth bearer or \
                         --auth header:NAME, and give a key for building with --token-file"
                            .to_owned(),
                    ),
                })
            }
            Err(problem) => Err(problem),
        }
    }

    /// Beside a saved list the server need not be reachable.
    async fn account_of_saved(&self, client: &mut ServerClient<'_>) -> Option<ProtectedServer> {
        match self.account.discovers() {
            true => account::published(client, &self.account)
                .await
                .ok()
                .flatten(),
            false => None,
        }
    }
}
