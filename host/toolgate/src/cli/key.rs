//! `toolgate key`: API keys, printed once when they are made.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use ipnet::IpNet;
use serde_json::json;

use super::output::{OutputFormat, table};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::keys;
use toolgate_gateway::{Caller, Scope};

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Make a key and print it; it cannot be read again
    Create(CreateKey),
    /// List keys, without their secrets
    List(KeyWorkspace),
    /// Revoke a key by id, prefix or name: its next request is refused, and there is no way back
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(super) struct KeyWorkspace {
    /// Name of the workspace [default: the first one]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CreateKey {
    /// What the key is for, so that you recognise it later
    #[arg(long)]
    name: String,
    /// User that the key acts for
    #[arg(long, default_value = "default", value_parser = |text: &str| UserId::parse(text))]
    user: UserId,
    /// Scopes, separated by commas [default: tools:read,tools:execute,skills:read,connections:first]
    #[arg(long, value_delimiter = ',', value_parser = parse_scope)]
    scopes: Vec<Scope>,
    /// Let it act for every user of the workspace, who is then named in each request: for a program
    /// that serves several people. The same as the scope users:any
    #[arg(long)]
    users_any: bool,
    /// Requests a minute, 1 to 1,000
    #[arg(long, value_name = "N")]
    rpm: Option<u32>,
    /// Requests a day, 1 to 1,000,000
    #[arg(long, value_name = "N")]
    rpd: Option<u32>,
    /// How long the key is good: 12h, 30d, 52w
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms)]
    expires: Option<i64>,
    /// Network that may use the key (repeatable), for example 10.0.0.0/8
    #[arg(long = "ip", value_name = "CIDR", value_parser = parse_network)]
    networks: Vec<IpNet>,
    #[command(flatten)]
    of: KeyWorkspace,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// Id, prefix or name
    key: String,
    #[command(flatten)]
    of: KeyWorkspace,
}

impl KeyCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        match self {
            Self::Create(create) => {
                let workspace =
                    super::workspace(&store, create.of.workspace.as_deref(), now_ms).await?;
                let mut scopes = if create.scopes.is_empty() {
                    keys::DEFAULT_SCOPES.to_vec()
                } else {
                    create.scopes
                };
                if create.users_any && !scopes.contains(&Scope::UsersAny) {
                    scopes.push(Scope::UsersAny);
                }
                let new = keys::NewKey {
                    name: create.name,
                    user: create.user,
                    scopes,
                    rpm: create.rpm,
                    rpd: create.rpd,
                    expires_at_ms: create.expires.map(|ms| now_ms.saturating_add(ms)),
                    networks: create.networks,
                };
                let created =
                    keys::create(&store, &Caller::operator(&workspace), new, now_ms).await?;
                let mut document = json!(created.info);
                document["key"] = json!(created.key.expose());
                document["workspace"] = json!(workspace.name);
                output.print(&document, |_| {
                    format!(
                        "{}\n\nThis key is shown once. Send it as: Authorization: Bearer <key>\nIt acts for {}.",
                        created.key.expose(),
                        acts_for(&created.info)
                    )
                })
            }
            Self::List(of) => {
                let workspace = super::workspace(&store, of.workspace.as_deref(), now_ms).await?;
                let keys = keys::list(&store, &workspace.id).await?;
                output.print(
                    &json!({ "workspace": workspace.name, "keys": keys }),
                    |_| {
                        let rows: Vec<_> = keys.iter().map(key_row).collect();
                        table(
                            &["NAME", "KEY", "ACTS FOR", "STATE", "LAST USED", "ID"],
                            &rows,
                        )
                    },
                )
            }
            Self::Revoke(revoke) => {
                let workspace =
                    super::workspace(&store, revoke.of.workspace.as_deref(), now_ms).await?;
                let caller = Caller::operator(&workspace);
                let key = keys::revoke(&store, &caller, &revoke.key, now_ms).await?;
                output.print(&key, |key| {
                    format!("The key {} ({}…) is revoked.", key.name, key.prefix)
                })
            }
        }
    }
}

fn key_row(key: &keys::KeyInfo) -> Vec<String> {
    let state = match (&key.revoked_at, &key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) => format!("until {at}"),
        (None, None) => "active".to_owned(),
    };
    let used = key.last_used_at.as_deref().unwrap_or("never");
    vec![
        key.name.clone(),
        format!("{}{}…", keys::KEY_PREFIX, key.prefix),
        acts_for(key),
        state,
        used.to_owned(),
        key.key_id.clone(),
    ]
}

/// Whose calls a key makes, for people.
fn acts_for(key: &keys::KeyInfo) -> String {
    if key.users_any {
        format!("any user, {} unless named", key.user_id)
    } else {
        key.user_id.clone()
    }
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    text.parse().map_err(|_| {
        let known: Vec<&str> = Scope::ALL.iter().map(|scope| scope.into_str()).collect();
        format!("the scopes are {}", known.join(", "))
    })
}

fn parse_network(text: &str) -> Result<IpNet, String> {
    text.parse::<IpNet>()
        .or_else(|_| text.parse::<std::net::IpAddr>().map(IpNet::from))
        .map_err(|_| "a network is an address or CIDR, for example 192.0.2.0/24".to_owned())
}

fn parse_duration_ms(text: &str) -> anyhow::Result<i64> {
    let split = text.len().saturating_sub(1);
    anyhow::ensure!(
        text.is_ascii() && !text.is_empty(),
        "invalid duration: write for example 12h, 30d or 52w"
    );
    let (number, unit) = text.split_at(split);
    let unit_ms: i64 = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => anyhow::bail!("invalid duration: write for example 12h, 30d or 52w"),
    };
    let number: i64 = number
        .parse()
        .context("invalid duration: write for example 12h, 30d or 52w")?;
    anyhow::ensure!(number > 0, "invalid duration: must be greater than zero");
    number
        .checked_mul(unit_ms)
        .context("that duration is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration_ms("2d").expect("two days"), 172_800_000);
        for bad in [
            "",
            "d",
            "2",
            "0d",
            "-1d",
            "2y",
            "9223372036854775807w",
            "2ü",
        ] {
            assert!(parse_duration_ms(bad).is_err(), "{bad}");
        }
    }
}
