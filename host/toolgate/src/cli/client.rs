//! `toolgate client`: MCP clients that are named for a workspace; a secret is printed once when it is made.

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::apps::named::{self, NewClient};
use toolgate_gateway::identity::apps::{APP_SCOPES, ISSUER_PATH, MCP_PATH};
use toolgate_gateway::{Caller, Scope};

#[derive(Debug, Subcommand)]
pub(super) enum ClientCommand {
    /// Name a client and print its id and secret; the secret cannot be read again
    Create(CreateClient),
    /// List the clients of a workspace, without their secrets
    List(ClientWorkspace),
    /// Remove a client by id or name; this revokes its tokens
    Remove(RemoveClient),
}

#[derive(Debug, Args)]
pub(super) struct ClientWorkspace {
    /// Name of the workspace [default: the first one]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CreateClient {
    /// What members are shown when it asks to be let in
    #[arg(long)]
    name: String,
    /// Let it get tokens for this user with only its secret (grant type client_credentials): for a machine
    #[arg(long, value_name = "USER", value_parser = |text: &str| UserId::parse(text))]
    acts_for: Option<UserId>,
    /// Where answers to its authorization requests may go (repeatable)
    #[arg(long = "redirect-uri", value_name = "URL")]
    redirect_uris: Vec<String>,
    /// What it may have at most, separated by commas [default: tools:read,tools:execute,skills:read,skills:write]
    #[arg(long, value_delimiter = ',', value_parser = parse_scope)]
    scopes: Vec<Scope>,
    /// Make no secret: for a program on a person's computer
    #[arg(long, conflicts_with = "acts_for")]
    public: bool,
    #[command(flatten)]
    of: ClientWorkspace,
}

#[derive(Debug, Args)]
pub(super) struct RemoveClient {
    /// Id or name
    client: String,
    #[command(flatten)]
    of: ClientWorkspace,
}

impl ClientCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        match self {
            Self::Create(create) => {
                let workspace =
                    super::workspace(&store, create.of.workspace.as_deref(), now_ms).await?;
                let new = NewClient {
                    name: create.name,
                    redirect_uris: create.redirect_uris,
                    acts_for: create.acts_for,
                    scopes: create.scopes,
                    public: create.public,
                };
                let caller = Caller::operator(&workspace);
                let made = named::create(&store, &caller, new, now_ms).await?;
                let base = &config.gateway.public_url;
                let mut document = json!(made.info);
                document["workspace"] = json!(workspace.name);
                document["token_endpoint"] = json!(format!("{base}{ISSUER_PATH}/token"));
                document["resource"] = json!(format!("{base}{MCP_PATH}"));
                if let Some(secret) = &made.secret {
                    document["client_secret"] = json!(secret.expose());
                }
                output.print(&document, |document| {
                    let field = |name: &str| document[name].as_str().unwrap_or_default();
                    let mut text = format!("client_id      {}\n", field("client_id"));
                    if made.secret.is_some() {
                        text += &format!("client_secret  {}\n", field("client_secret"));
                    }
                    text += &format!(
                        "token endpoint {}\nresource       {}\n",
                        field("token_endpoint"),
                        field("resource")
                    );
                    if made.secret.is_some() {
                        text += "\nThe secret is shown once.";
                    }
                    if let Some(user) = document["acts_for"].as_str() {
                        text += &format!(
                            " With grant_type=client_credentials and this resource it gets tokens of an hour for {user}."
                        );
                    }
                    text
                })
            }
            Self::List(of) => {
                let workspace = super::workspace(&store, of.workspace.as_deref(), now_ms).await?;
                let clients = named::list(&store, &workspace.id).await?;
                let document = json!({ "workspace": workspace.name, "clients": clients });
                output.print(&document, |_| {
                    let rows: Vec<Vec<String>> = clients
                        .iter()
                        .map(|client| {
                            let used = client.last_used_at.clone();
                            vec![
                                client.name.clone(),
                                client.acts_for.clone().unwrap_or_else(|| "-".to_owned()),
                                client.scopes.join(","),
                                used.unwrap_or_else(|| "never".to_owned()),
                                client.client_id.clone(),
                            ]
                        })
                        .collect();
                    table(&["NAME", "ACTS FOR", "SCOPES", "LAST USED", "ID"], &rows)
                })
            }
            Self::Remove(remove) => {
                let workspace =
                    super::workspace(&store, remove.of.workspace.as_deref(), now_ms).await?;
                let caller = Caller::operator(&workspace);
                let removed = named::remove(&store, &caller, &remove.client, now_ms).await?;
                output.print(&removed, |removed| {
                    format!("The client {} is removed.", removed.name)
                })
            }
        }
    }
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    let named: Option<Scope> = text.parse().ok();
    named
        .filter(|scope| APP_SCOPES.contains(scope))
        .ok_or_else(|| {
            let known = APP_SCOPES.map(<&str>::from);
            format!("the scopes of a client are {}", known.join(", "))
        })
}
