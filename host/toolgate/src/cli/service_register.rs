//! `toolgate service register`: this gateway as a client of a service's authorization server, where that takes clients
//! by themselves.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::json;

use super::output::OutputFormat;
use super::plugin_build::mcp::way_out;
use super::secret_file::read_secret;
use crate::config::Config;
use toolgate_catalog::manifest::{AuthKind, Slot};
use toolgate_core::clock::Clock;
use toolgate_gateway::Caller;
use toolgate_gateway::connections::apps;
use toolgate_gateway::connections::callback::{self, CallbackAddress};
use toolgate_gateway::jobs::master_key::open_vault;
use toolgate_gateway::plugins;
use toolgate_mcp_upstream::account::{self, AuthorizationServer, ClientDescription};
use toolgate_mcp_upstream::address::RemoteAddress;
use toolgate_mcp_upstream::client::ServerClient;
use toolgate_store::{ALL_WORKSPACES, Store};

/// Register this gateway as a client of a service, where its authorization server takes clients by themselves
///
/// The registration is kept like one that `service configure` sets, and takes its place. Run it again when the server
/// has forgotten the client.
#[derive(Debug, Args)]
pub(super) struct RegisterService {
    /// Name of the service, as `toolgate plugin list` shows it
    service: String,
    /// Only for this workspace [default: for all]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
    /// File with the initial access token, where the authorization server asks for one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl RegisterService {
    pub(super) async fn run(
        self,
        config: &Config,
        store: &Store,
        output: OutputFormat,
    ) -> anyhow::Result<()> {
        let now_ms = Clock::system().now_ms();
        let manifest = plugins::manifest(store, &self.service).await?;
        let slot = manifest
            .auth
            .iter()
            .find(|slot| slot.kind == AuthKind::Oauth2);
        let slot = slot.with_context(|| format!("{} does not use OAuth", self.service))?;
        let issuer = slot.issuer.as_deref().with_context(|| {
            format!(
                "the plugin of {} names no issuer, so nobody can be asked: register the gateway by hand",
                self.service
            )
        })?;
        let workspace = super::workspace(store, self.workspace.as_deref(), now_ms).await?;
        let workspace_id = match &self.workspace {
            Some(_) => &*workspace.id,
            None => ALL_WORKSPACES,
        };
        let egress = way_out(config.gateway.allow_upstreams.clone(), &[])?;
        let token = self.token_file.as_deref().map(read_secret).transpose()?;
        let address = RemoteAddress::parse(issuer, false)?;
        let mut client = ServerClient::new(&egress, address, token, "authorization");
        let server = account::authorization_server(&mut client, issuer).await?;
        let server = server.with_context(|| format!("{issuer} does not describe itself"))?;
        check_unchanged(slot, &server)?;
        let callback = CallbackAddress::Service;
        let callback_url = callback.url(&config.gateway.public_url, &self.service);
        let description = ClientDescription {
            redirect_uri: &callback_url,
            scopes: &slot.scopes,
            token_auth: server.token_auth,
        };
        let registered = account::register(&mut client, &server, &description).await?;
        let new = apps::NewApp {
            client_id: registered.client_id.clone(),
            client_secret: registered.client_secret,
            scopes: None,
            scopes_max: Vec::new(),
            base_url: None,
            redirect_name: None,
            tenant: None,
            callback: Some(callback),
        };
        let vault = open_vault(store, &config.gateway.master_key_file).await?;
        let caller = Caller::operator(&workspace);
        apps::register(store, &vault, &caller, &manifest, workspace_id, new, now_ms).await?;
        let document = json!({
            "service": self.service,
            "workspace": self.workspace,
            "issuer": issuer,
            "client_id": registered.client_id,
            "callback_url": callback::callback_url(&config.gateway.public_url, &self.service, None),
        });
        output.print(&document, |_| {
            format!(
                "{}: registered at {issuer} as {}; users can connect their accounts.",
                self.service, registered.client_id
            )
        })
    }
}

/// A server whose addresses are others than those that the operator approved gets no registration.
fn check_unchanged(slot: &Slot, server: &AuthorizationServer) -> anyhow::Result<()> {
    let same = slot.token_url.as_deref() == Some(server.token_url.as_str())
        && slot.authorize_url.as_deref() == Some(server.authorize_url.as_str());
    if !same {
        bail!(
            "the authorization server names other addresses than the plugin: build the plugin again (toolgate plugin refresh)"
        );
    }
    Ok(())
}
