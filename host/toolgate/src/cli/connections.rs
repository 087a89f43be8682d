//! `toolgate connections`: accounts that users have connected.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::Value;

use super::gateway_client::{GatewayAddress, KEY_HELP, ListLimit, items, text};
use super::output::{OutputFormat, table};

#[derive(Debug, Subcommand)]
pub(super) enum ConnectionsCommand {
    /// List connections, newest first
    #[command(after_help = KEY_HELP)]
    List {
        /// Only connections of this user
        #[arg(long, value_name = "ID")]
        user: Option<String>,
        /// Only connections of this service
        #[arg(long, value_name = "NAME")]
        service: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
        #[command(flatten)]
        server: GatewayAddress,
    },
    /// Show the account, scopes and state of a connection
    #[command(after_help = KEY_HELP)]
    Show(OneConnection),
    /// Delete a connection: forget its credential, and have the provider revoke it where it can
    #[command(after_help = KEY_HELP)]
    Delete(OneConnection),
}

#[derive(Debug, Args)]
pub(super) struct OneConnection {
    /// The id that the list prints
    connection_id: String,
    #[command(flatten)]
    server: GatewayAddress,
}

impl ConnectionsCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        match self {
            Self::List {
                user,
                service,
                limit,
                server,
            } => {
                let mut query = vec![limit.query()];
                query.extend(user.map(|user| ("user_id", user)));
                query.extend(service.map(|service| ("service", service)));
                let page = server
                    .call(Method::GET, &["connections"], &query, None)
                    .await?;
                output.print(&page, listed)
            }
            Self::Show(one) => {
                let path = ["connections", &one.connection_id];
                let found = one.server.call(Method::GET, &path, &[], None).await?;
                output.print(&found, shown)
            }
            Self::Delete(one) => {
                let path = ["connections", &one.connection_id];
                let gone = one.server.call(Method::DELETE, &path, &[], None).await?;
                output.print(&gone, |gone| {
                    let at_provider = match gone["revoked_at_provider"].as_bool() {
                        Some(true) => "The provider revoked the credential.",
                        _ => "The provider was not asked, or did not revoke the credential: revoke it there.",
                    };
                    format!("{} is deleted. {at_provider}", one.connection_id)
                })
            }
        }
    }
}

fn listed(page: &Value) -> String {
    let rows: Vec<Vec<String>> = items(page, "connections")
        .iter()
        .map(|one| {
            ["connection_id", "user_id", "service", "account", "state"]
                .map(|field| text(one, field).to_owned())
                .to_vec()
        })
        .collect();
    match rows.is_empty() {
        true => "No connections. Connect an account: toolgate connect SERVICE".to_owned(),
        false => table(
            &["CONNECTION", "USER", "SERVICE", "ACCOUNT", "STATE"],
            &rows,
        ),
    }
}

fn shown(connection: &Value) -> String {
    let scopes: Vec<&str> = items(connection, "scopes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let service = text(connection, "service");
    let mut lines = vec![
        format!(
            "{service} of {}, account {}",
            text(connection, "user_id"),
            match text(connection, "account") {
                "" => "unknown",
                account => account,
            }
        ),
        format!(
            "{} since {}",
            text(connection, "state"),
            text(connection, "state_since")
        ),
    ];
    if !scopes.is_empty() {
        lines.push(format!("scopes: {}", scopes.join(" ")));
    }
    if !text(connection, "last_error").is_empty() {
        lines.push(format!("last error: {}", text(connection, "last_error")));
    }
    if text(connection, "state") == "reauth_needed" {
        lines.push(format!(
            "Connect it again: toolgate connect {service} --connection {}",
            text(connection, "connection_id")
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_connection_that_needs_its_user_says_how() {
        let connection = json!({
            "connection_id": "con_1", "service": "github", "user_id": "ada", "state": "reauth_needed",
            "state_since": "2026-11-20T09:30:00.125Z", "scopes": ["repo"], "last_error": "it was revoked",
        });
        let text = shown(&connection);
        for part in [
            "account unknown",
            "scopes: repo",
            "last error: it was revoked",
            "toolgate connect github --connection con_1",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
