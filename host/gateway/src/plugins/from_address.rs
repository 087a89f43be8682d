//! An operator has pasted an address: what is there, and which plugin it would be. Nothing is installed here: the file that
//! is answered goes the way of every uploaded plugin, with its rights shown before.
//!
//! The request goes out under the address policy of every other one. A server at a private address is built at the
//! command line, where its operator names the address.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::Serialize;
use serde_json::json;

use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::manifest::Effect;
use toolgate_egress::{DestinationClass, HostRequest};
use toolgate_mcp_upstream::account::{AccountChoice, SignInPlaces};
use toolgate_mcp_upstream::address::RemoteAddress;
use toolgate_mcp_upstream::client::ServerProblem;
use toolgate_mcp_upstream::compose::TOOLS_DEFAULT_MAX;
use toolgate_mcp_upstream::{ComposedServer, ServerNote, ServerSource, bake_beside};
use toolgate_vault::Secret;

/// Largest description that is read from an address, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 12 << 20;
/// Longest wait for it.
const DESCRIPTION_TIME_MAX: Duration = Duration::from_secs(20);
/// Seconds after which an operator may try again while another one asks.
const BUSY_S: u64 = 5;

/// What an operator asks.
#[derive(Debug)]
pub struct AskedAddress {
    pub url: String,
    /// Name of the service in place of the server's own.
    pub service: Option<String>,
    /// Whether each user enters a token, in place of what the server says of its sign-in.
    pub enters_token: bool,
    /// Used for the list of tools alone.
    pub token: Option<Secret>,
}

/// What is at an address.
#[derive(Debug)]
pub enum FoundAddress {
    Server(Box<ServerPlugin>),
    /// No MCP server, for this reason. Its text may be a description.
    Text {
        text: String,
        problem: String,
    },
}

/// The plugin of an MCP server.
#[derive(Debug)]
pub struct ServerPlugin {
    pub about: ServerSummary,
    pub wasm: Vec<u8>,
}

/// What a plugin of an MCP server would be, beside its rights.
#[derive(Clone, Debug, Serialize)]
pub struct ServerSummary {
    pub service: String,
    pub title: String,
    /// The version of MCP.
    pub protocol: String,
    pub tools: Vec<ServerTool>,
    /// `oauth2`, `bearer` or `none`.
    pub auth: &'static str,
    /// Where users sign in and where the token is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_in: Option<String>,
    /// That these are different sites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_in_warning: Option<String>,
    pub notes: Vec<ServerNote>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ServerTool {
    pub name: String,
    /// The server's own name.
    pub upstream: String,
    pub effect: Effect,
}

impl Gateway {
    /// Asks an address as an MCP server is asked, and reads what is there where that fails.
    ///
    /// # Errors
    /// `invalid_request` with the reason where nothing can be made of it; `overloaded` while another address is asked.
    pub async fn ask_address(
        &self,
        caller: &Caller,
        asked: AskedAddress,
    ) -> Result<FoundAddress, Error> {
        caller.need_operator()?;
        let address = RemoteAddress::parse(&asked.url, false).map_err(invalid)?;
        if address.is_setting() {
            return Err(Error::InvalidRequest(format!(
                "{} is not a public https address: build its plugin with `toolgate plugin build --mcp {}`, and upload \
                 the file",
                address.origin(),
                address.url()
            )));
        }
        let asking = self.plugins.asking_address().try_lock_owned();
        let _one = asking.map_err(|_| Error::Overloaded {
            retry_after_s: BUSY_S,
        })?;
        let details = json!({ "url": address.url().as_str() });
        let action = AuditAction::PluginsAskServer;
        self.record_act(caller, action, address.host(), details)
            .await?;
        let source = ServerSource {
            url: address.url().to_string(),
            private: false,
            service: asked.service,
            only: Default::default(),
            tools_max: TOOLS_DEFAULT_MAX,
            effects: Default::default(),
            account: match asked.enters_token {
                true => AccountChoice::Bearer,
                false => AccountChoice::Discover,
            },
        };
        let built = Box::pin(source.build(&self.egress, asked.token, None)).await;
        let problem = match built {
            Ok(composed) => return server_plugin(composed, source).await,
            Err(cause) => cause,
        };
        let is_sign_in = matches!(
            problem.downcast_ref::<ServerProblem>(),
            Some(ServerProblem::SignIn { .. })
        );
        if is_sign_in {
            return Err(Error::InvalidRequest(
                "the server asks for a sign-in before it lists its tools: enter a token of your own, which is used for \
                 this list alone"
                    .to_owned(),
            ));
        }
        match self.text_at(&source.url).await {
            Some(text) => Ok(FoundAddress::Text {
                text,
                problem: problem.to_string(),
            }),
            None => Err(invalid(problem)),
        }
    }

    /// What a GET answers, where that is text.
    async fn text_at(&self, url: &str) -> Option<String> {
        let request = HostRequest {
            method: Method::GET,
            class: DestinationClass::Provider,
            url: url.to_owned(),
            headers: vec![("accept".to_owned(), "application/json, */*".to_owned())],
            body: Bytes::new(),
            origins: Vec::new(),
            response_bytes_max: DESCRIPTION_BYTES_MAX,
            timeout: DESCRIPTION_TIME_MAX,
        };
        let answer = self.egress.send_for_host(request).await.ok()?;
        let text = String::from_utf8(answer.body.to_vec()).ok()?;
        (answer.status == 200).then_some(text)
    }
}

async fn server_plugin(
    composed: ComposedServer,
    source: ServerSource,
) -> Result<FoundAddress, Error> {
    let about = ServerSummary::new(&composed, &source);
    let wasm = bake_beside(composed, source)
        .await
        .map_err(Error::Internal)?;
    Ok(FoundAddress::Server(Box::new(ServerPlugin { about, wasm })))
}

impl ServerSummary {
    fn new(composed: &ComposedServer, source: &ServerSource) -> Self {
        let manifest = &composed.manifest;
        let slot = manifest.auth.first();
        let sign_in = slot.and_then(|slot| SignInPlaces::from_slot(slot, &source.url));
        let tools = manifest.tools.iter().map(|tool| ServerTool {
            name: format!("{}_{}", manifest.service, tool.name),
            upstream: composed.table.tools[&tool.name].name.clone(),
            effect: tool.effect,
        });
        Self {
            service: manifest.service.clone(),
            title: manifest.title.clone(),
            protocol: composed.table.version.clone(),
            tools: tools.collect(),
            auth: slot.map_or("none", |slot| slot.kind.as_str()),
            sign_in: sign_in.as_ref().map(SignInPlaces::sentence),
            sign_in_warning: sign_in.as_ref().and_then(SignInPlaces::warning),
            notes: composed.notes.clone(),
            warnings: composed.warnings.clone(),
        }
    }
}

fn invalid(problem: impl std::fmt::Display) -> Error {
    Error::InvalidRequest(format!("{problem:#}"))
}
