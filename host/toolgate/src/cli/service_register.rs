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
use toolgate_catalog::manifest::{AuthKind, Manifest, Slot};
use toolgate_core::clock::Clock;
use toolgate_egress::Egress;
use toolgate_gateway::Caller;
use toolgate_gateway::connections::apps;
use toolgate_gateway::connections::callback::{self, CallbackAddress};
use toolgate_gateway::connections::client_document::client_document_url;
use toolgate_gateway::jobs::master_key::open_vault;
use toolgate_gateway::plugins;
use toolgate_mcp_upstream::account::{self, AuthorizationServer, ClientDescription};
use toolgate_mcp_upstream::address::RemoteAddress;
use toolgate_mcp_upstream::client::ServerClient;
use toolgate_store::{ALL_WORKSPACES, Store};
use toolgate_vault::Secret;

/// Register this gateway as a client of a service, where its authorization server takes clients by themselves
///
/// An authorization server that takes client metadata documents knows the gateway by its own, where the public address
/// of the gateway is https and not private. Any other one is asked for a registration.
///
/// The registration is kept like one that `service configure` sets, and takes its place. A gateway asks for it again by
/// itself, once a day at most, when the server has forgotten it or cannot read the document, unless the server needs an
/// initial access token.
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
    /// Ask for a registration also where the authorization server takes the gateway's client metadata document, for one
    /// that cannot read it
    #[arg(long)]
    no_document: bool,
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
        let place = RegistrationPlace {
            config,
            store,
            manifest: &manifest,
            caller: Caller::operator(&workspace),
            workspace_id: match &self.workspace {
                Some(_) => &workspace.id,
                None => ALL_WORKSPACES,
            },
            now_ms,
            by_itself: self.token_file.is_none(),
        };
        let egress = way_out(config.gateway.allow_upstreams.clone(), &[])?;
        let token = self.token_file.as_deref().map(read_secret).transpose()?;
        let wants_document = token.is_none() && !self.no_document;
        let address = RemoteAddress::parse(issuer, false)?;
        let mut client = ServerClient::new(&egress, address, token, "authorization");
        let server = account::authorization_server(&mut client, issuer).await?;
        let server = server.with_context(|| format!("{issuer} does not describe itself"))?;
        check_unchanged(slot, &server)?;
        let reader = wants_document.then_some(&egress);
        let client_id = place.register(&server, slot, &mut client, reader).await?;
        let document = json!({
            "service": self.service,
            "workspace": self.workspace,
            "issuer": issuer,
            "client_id": client_id,
            "callback_url": callback::callback_url(&config.gateway.public_url, &self.service, None),
        });
        output.print(&document, |_| {
            format!(
                "{}: registered at {issuer} as {client_id}; users can connect their accounts.",
                self.service
            )
        })
    }
}

/// Where a registration is kept.
struct RegistrationPlace<'a> {
    config: &'a Config,
    store: &'a Store,
    manifest: &'a Manifest,
    caller: Caller,
    workspace_id: &'a str,
    now_ms: i64,
    /// No initial access token was needed, so the gateway can ask again.
    by_itself: bool,
}

impl RegistrationPlace<'_> {
    /// Registers the gateway by its document, where `reader` is to read it, or by a request. Where neither succeeds, the
    /// registration that was there before stays: the connections that were made with it need it.
    async fn register(
        &self,
        server: &AuthorizationServer,
        slot: &Slot,
        client: &mut ServerClient<'_>,
        reader: Option<&Egress>,
    ) -> anyhow::Result<String> {
        let (store, service) = (self.store, &self.manifest.service);
        let earlier = store.find_oauth_app(self.workspace_id, service).await?;
        let earlier = earlier.filter(|app| app.workspace_id == self.workspace_id);
        let registered = self.by_either(server, slot, client, reader).await;
        if registered.is_err() {
            let (caller, place) = (&self.caller, self.workspace_id);
            apps::put_back(store, caller, service, place, earlier.as_ref(), self.now_ms).await?;
        }
        registered
    }

    async fn by_either(
        &self,
        server: &AuthorizationServer,
        slot: &Slot,
        client: &mut ServerClient<'_>,
        reader: Option<&Egress>,
    ) -> anyhow::Result<String> {
        if let Some(egress) = reader
            && let Some(id) = self.by_document(server, egress).await?
        {
            return Ok(id);
        }
        self.by_request(server, slot, client).await
    }

    /// Registers the gateway by its client metadata document. `None`: the authorization server takes no such clients, or
    /// cannot read the document, and takes registrations.
    async fn by_document(
        &self,
        server: &AuthorizationServer,
        egress: &Egress,
    ) -> anyhow::Result<Option<String>> {
        let base = &self.config.gateway.public_url;
        let id = client_document_url(base, &self.manifest.service);
        let Some(id) = id.filter(|_| server.client_documents) else {
            return Ok(None);
        };
        // A gateway answers the documents of registrations alone, so this one comes first.
        self.keep(id.clone(), None).await?;
        let address = RemoteAddress::parse(&id, false)?;
        let mut reader = ServerClient::new(egress, address, None, "authorization");
        // What the authorization server sees is not known before a user is sent there. It is not more than this.
        let is_there = account::serves_document(&mut reader, &id).await;
        match is_there {
            Ok(true) => Ok(Some(id)),
            Ok(false) | Err(_) if server.registration_url.is_some() => Ok(None),
            Ok(false) => bail!(
                "there is no client metadata document at {id}: start a gateway with this database at its public address, \
                 then register again"
            ),
            Err(problem) => bail!(
                "the client metadata document at {id} cannot be read ({problem}): start a gateway with this database at \
                 its public address, then register again"
            ),
        }
    }

    /// Asks the authorization server for a registration.
    async fn by_request(
        &self,
        server: &AuthorizationServer,
        slot: &Slot,
        client: &mut ServerClient<'_>,
    ) -> anyhow::Result<String> {
        let callback = CallbackAddress::Service;
        let base = &self.config.gateway.public_url;
        let callback_url = callback.url(base, &self.manifest.service);
        let description = ClientDescription {
            redirect_uri: &callback_url,
            scopes: &slot.scopes,
            token_auth: server.token_auth,
        };
        let registered = account::register(client, server, &description).await?;
        let client_id = registered.client_id.clone();
        self.keep(registered.client_id, registered.client_secret)
            .await?;
        Ok(client_id)
    }

    async fn keep(&self, client_id: String, client_secret: Option<Secret>) -> anyhow::Result<()> {
        let new = apps::NewApp {
            client_id,
            client_secret,
            scopes: None,
            scopes_max: Vec::new(),
            base_url: None,
            redirect_name: None,
            tenant: None,
            callback: Some(CallbackAddress::Service),
        };
        let (store, caller) = (self.store, &self.caller);
        let vault = open_vault(store, &self.config.gateway.master_key_file).await?;
        let (manifest, place) = (self.manifest, self.workspace_id);
        let now_ms = self.now_ms;
        if self.by_itself {
            apps::register_by_itself(store, &vault, caller, manifest, place, new, now_ms).await?;
        } else {
            apps::register(store, &vault, caller, manifest, place, new, now_ms).await?;
        }
        Ok(())
    }
}

/// A server whose addresses are others than those that the operator approved gets no registration.
fn check_unchanged(slot: &Slot, server: &AuthorizationServer) -> anyhow::Result<()> {
    if !server.serves(slot) {
        bail!(
            "the authorization server names other addresses than the plugin: build the plugin again (toolgate plugin refresh)"
        );
    }
    Ok(())
}
