//! What the first start makes, and the banner that shows it once.

use serde_json::json;

use super::super::output::{OutputFormat, counted};
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::keys;
use toolgate_gateway::identity::members::links;
use toolgate_gateway::{Caller, Gateway, PluginLoading, Scope};
use toolgate_store::Role;
use toolgate_vault::Secret;

const DEV_PASSWORD_CHARS: usize = 20;

/// The address that `--dev` gives the first owner.
const DEV_EMAIL: &str = "owner@localhost";

/// What is made on the first start and shown once.
#[derive(Default)]
pub(super) struct FirstStart {
    key: Option<Secret>,
    /// With `--dev`: the owner's password.
    password: Option<Secret>,
    /// Otherwise, while there is no member: where the first owner is made.
    setup_url: Option<Secret>,
}

impl FirstStart {
    pub(super) async fn make(
        gateway: &Gateway,
        public_url: &str,
        dev: bool,
    ) -> anyhow::Result<Self> {
        let (store, now_ms) = (gateway.store(), gateway.clock().now_ms());
        // Of processes that start at the same time one makes all of it.
        let _alone = store.lock_set_up().await?;
        let workspace = super::super::first_workspace(store, now_ms).await?;
        if !dev {
            let caller = Caller::operator(&workspace);
            let link = links::first_owner(store, &caller, public_url, now_ms).await?;
            return Ok(Self {
                setup_url: link.map(|link| link.url),
                ..Self::default()
            });
        }
        let key = if store.list_keys(&workspace.id).await?.is_empty() {
            Some(first_key(gateway, &Caller::operator(&workspace)).await?)
        } else {
            None
        };
        let password = if store.has_members().await? {
            None
        } else {
            let password = keys::random_base62(DEV_PASSWORD_CHARS);
            let email = DEV_EMAIL.to_owned();
            let (role, kept) = (Role::Owner, password.clone());
            super::super::member::with_password(
                store, &workspace, email, "Owner", role, kept, now_ms,
            )
            .await?;
            Some(password)
        };
        Ok(Self {
            key,
            password,
            setup_url: None,
        })
    }
}

/// An agent's key: every scope but those of the people who watch over agents.
async fn first_key(gateway: &Gateway, caller: &Caller) -> anyhow::Result<Secret> {
    let new = keys::NewKey {
        name: "dev".to_owned(),
        user: UserId::parse("default")?,
        scopes: Scope::ALL
            .iter()
            .copied()
            .filter(|scope| {
                !matches!(
                    scope,
                    Scope::Approvals | Scope::PermissionsWrite | Scope::Admin
                )
            })
            .collect(),
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let now_ms = gateway.clock().now_ms();
    let created = keys::create(gateway.store(), caller, new, now_ms).await?;
    Ok(created.key)
}

/// Where the gateway is, and what its first start made. A first start's banner fits a terminal of 24 lines.
pub(super) struct Banner<'a> {
    pub output: OutputFormat,
    pub public_url: &'a str,
    pub first: FirstStart,
}

impl Banner<'_> {
    /// `plugins`: what serves by now, where a person has waited for it.
    pub(super) fn print(&self, plugins: Option<PluginLoading>) -> anyhow::Result<()> {
        let shown =
            |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
        let (key, password) = (shown(&self.first.key), shown(&self.first.password));
        let (setup_url, public_url) = (shown(&self.first.setup_url), self.public_url);
        let document = json!({
            "dashboard": format!("{public_url}/"),
            "rest": format!("{public_url}/v1"),
            "mcp": format!("{public_url}/mcp"),
            "docs": format!("{public_url}/docs"),
            "key": key,
            "owner": password.as_ref().map(|password| json!({ "email": DEV_EMAIL, "password": password })),
            "setup_url": setup_url,
        });
        self.output.print(&document, |_| {
            let mut text = format!("toolgate {}", env!("CARGO_PKG_VERSION"));
            if let Some(plugins) = plugins {
                text.push_str(&format!(": {}", plugins_line(plugins)));
            }
            text.push_str(&format!(
                "\n  dashboard  {public_url}/\n  REST       {public_url}/v1\n  MCP        {public_url}/mcp\n  docs       {public_url}/docs\n"
            ));
            if let Some(setup_url) = setup_url {
                text.push_str(&format!(
                    "\nThere is no account yet. Create the owner's account here (the link works once):\n  {setup_url}\n"
                ));
            }
            if let Some(password) = password {
                text.push_str(&format!(
                    "\nSign in to the dashboard (shown once):\n  {DEV_EMAIL}  {password}\n  A new password: toolgate member reset {DEV_EMAIL}\n"
                ));
            }
            if let Some(key) = key {
                text.push_str(&format!(
                    "\nAPI key (shown once; another one: toolgate key create --name NAME):\n  {key}\n\nTry it in another terminal:\n  export TOOLGATE_API_KEY={key}{}\n  toolgate search top stories on hacker news\n  toolgate exec hackernews_list_top_stories\n",
                    url_variable(public_url)
                ));
            }
            if plugins.is_some() {
                text.push_str(
                    "\nOnly warnings are logged (TOOLGATE_LOG=info: every request). Ctrl-C stops.\n",
                );
            }
            text
        })
    }
}

/// What the commands of another terminal need where the gateway is not at their default address.
fn url_variable(public_url: &str) -> String {
    match public_url == super::super::gateway_client::DEFAULT_URL {
        true => String::new(),
        false => format!("\n  export TOOLGATE_URL={public_url}"),
    }
}

fn plugins_line(plugins: PluginLoading) -> String {
    let serving = format!(
        "{} with {}",
        counted(plugins.services, "service"),
        counted(plugins.tools, "tool")
    );
    match (plugins.services, plugins.loading) {
        (0, 0) => "no plugin serves; put *.wasm files into the plugins folder".to_owned(),
        (_, 0) => serving,
        (_, loading) => format!("{serving}, {} still loading", counted(loading, "plugin")),
    }
}
