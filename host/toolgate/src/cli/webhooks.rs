//! `toolgate webhooks`: addresses that receive the workspace's events.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::gateway_client::{GatewayAddress, KEY_HELP, ListLimit, items, text};
use super::output::{OutputFormat, table};

#[derive(Debug, Subcommand)]
pub(super) enum WebhooksCommand {
    /// List webhooks, newest first
    #[command(after_help = KEY_HELP)]
    List {
        #[command(flatten)]
        server: GatewayAddress,
    },
    /// Make a webhook and print its secret, which is shown once
    #[command(after_help = CREATE_HELP)]
    Create {
        /// Public https address of the receiver
        #[arg(value_name = "URL")]
        receiver: String,
        /// Types, groups (`tool.*`) or `*`
        #[arg(long, value_name = "TYPE", value_delimiter = ',', default_value = "*")]
        events: Vec<String>,
        #[command(flatten)]
        server: GatewayAddress,
    },
    /// Send a test event at once, also where the webhook is paused
    #[command(after_help = KEY_HELP)]
    Test(OneWebhook),
    /// List what was sent to a webhook, newest first
    #[command(after_help = KEY_HELP)]
    Deliveries {
        #[command(flatten)]
        one: OneWebhook,
        #[command(flatten)]
        limit: ListLimit,
    },
    /// Send an event once more, at once
    #[command(after_help = KEY_HELP)]
    Resend {
        /// The id that the list of deliveries prints
        #[arg(long = "delivery", value_name = "ID")]
        delivery_id: String,
        #[command(flatten)]
        one: OneWebhook,
    },
    /// Switch a webhook on; it forgets earlier failures and sends what waits
    #[command(after_help = KEY_HELP)]
    Enable(OneWebhook),
    /// End the pause after deliveries that failed, and send what waits now
    #[command(after_help = KEY_HELP)]
    Resume(OneWebhook),
    /// Switch a webhook off
    #[command(after_help = KEY_HELP)]
    Disable(OneWebhook),
    /// Delete a webhook
    #[command(after_help = KEY_HELP)]
    Delete(OneWebhook),
}

const CREATE_HELP: &str = "\
The receiver has to be a public https address. A receiver on this machine gets a name when the gateway starts:

  toolgate serve --allow-upstream hook.example=http://127.0.0.1:9000
  toolgate webhooks create https://hook.example/events

The API key is read from the environment variable TOOLGATE_API_KEY.";

#[derive(Debug, Args)]
pub(super) struct OneWebhook {
    /// The id that the list prints
    webhook_id: String,
    #[command(flatten)]
    server: GatewayAddress,
}

impl WebhooksCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        match self {
            Self::List { server } => {
                let list = server.call(Method::GET, &["webhooks"], &[], None).await?;
                output.print(&list, listed)
            }
            Self::Create {
                receiver,
                events,
                server,
            } => {
                let body = json!({ "url": receiver, "events": events });
                let made = server
                    .call(Method::POST, &["webhooks"], &[], Some(body))
                    .await?;
                output.print(&made, |made| {
                    format!(
                        "{} sends to {}.\nIts secret, shown once: {}",
                        text(made, "webhook_id"),
                        text(made, "url"),
                        text(made, "secret")
                    )
                })
            }
            Self::Test(one) => one.post(&["test"], output).await,
            Self::Resend { delivery_id, one } => {
                one.post(&["deliveries", &delivery_id, "resend"], output)
                    .await
            }
            Self::Deliveries { one, limit } => {
                let path = ["webhooks", &one.webhook_id, "deliveries"];
                let page = one
                    .server
                    .call(Method::GET, &path, &[limit.query()], None)
                    .await?;
                output.print(&page, sent)
            }
            Self::Enable(one) => one.switch(true, "is on", output).await,
            Self::Resume(one) => {
                one.switch(true, "goes on: what waits is sent now", output)
                    .await
            }
            Self::Disable(one) => one.switch(false, "is off", output).await,
            Self::Delete(one) => {
                let path = ["webhooks", &one.webhook_id];
                let gone = one.server.call(Method::DELETE, &path, &[], None).await?;
                output.print(&gone, |_| format!("{} is deleted.", one.webhook_id))
            }
        }
    }
}

impl OneWebhook {
    /// Makes a delivery.
    async fn post(self, rest: &[&str], output: OutputFormat) -> anyhow::Result<()> {
        let path = [&["webhooks", self.webhook_id.as_str()][..], rest].concat();
        let delivery = self.server.call(Method::POST, &path, &[], None).await?;
        output.print(&delivery, |delivery| {
            format!(
                "{} ({}) is {}. Its outcome: toolgate webhooks deliveries {}",
                text(delivery, "delivery_id"),
                text(delivery, "type"),
                text(delivery, "status"),
                self.webhook_id
            )
        })
    }

    /// Switched on, a webhook forgets earlier failures. `done` says what it does now.
    async fn switch(self, enabled: bool, done: &str, output: OutputFormat) -> anyhow::Result<()> {
        let path = ["webhooks", &self.webhook_id];
        let body = json!({ "enabled": enabled });
        let changed = self
            .server
            .call(Method::PATCH, &path, &[], Some(body))
            .await?;
        output.print(&changed, |_| format!("{} {done}.", self.webhook_id))
    }
}

fn listed(list: &Value) -> String {
    let rows: Vec<Vec<String>> = items(list, "webhooks")
        .iter()
        .map(|one| {
            let events: Vec<&str> = items(one, "events")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            vec![
                text(one, "webhook_id").to_owned(),
                state(one),
                text(one, "url").to_owned(),
                events.join(","),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => "No webhooks. Make one: toolgate webhooks create URL".to_owned(),
        false => table(&["WEBHOOK", "STATE", "URL", "EVENTS"], &rows),
    }
}

/// On, off, or paused after deliveries that failed.
fn state(webhook: &Value) -> String {
    match (
        webhook["enabled"].as_bool(),
        webhook["paused_until"].as_str(),
    ) {
        (Some(true), Some(until)) => format!("paused until {until}"),
        (Some(true), None) => "on".to_owned(),
        _ => "off".to_owned(),
    }
}

fn sent(page: &Value) -> String {
    let rows: Vec<Vec<String>> = items(page, "deliveries")
        .iter()
        .map(|one| {
            vec![
                text(one, "delivery_id").to_owned(),
                text(one, "created_at").to_owned(),
                text(one, "type").to_owned(),
                text(one, "status").to_owned(),
                one["attempts"].to_string(),
                text(one, "execution_id").to_owned(),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => "Nothing was sent in the last seven days.".to_owned(),
        false => table(
            &[
                "DELIVERY",
                "CREATED",
                "TYPE",
                "STATUS",
                "ATTEMPTS",
                "EXECUTION",
            ],
            &rows,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_listed_with_its_state_and_events() {
        let list = json!({"webhooks": [{
            "webhook_id": "whk_1", "url": "https://app.example.com/toolgate", "enabled": false, "events": ["tool.*", "skill.created"],
        }]});
        let text = listed(&list);
        assert!(
            text.ends_with(
                "whk_1    off    https://app.example.com/toolgate  tool.*,skill.created"
            ),
            "{text}"
        );
        assert!(listed(&json!({"webhooks": []})).contains("toolgate webhooks create"));
    }

    #[test]
    fn a_paused_webhook_says_until_when_and_a_delivery_which_execution_it_tells_of() {
        let until = "2026-11-20T09:30:00.125Z";
        for (webhook, expected) in [
            (json!({"enabled": true}), "on"),
            (json!({"enabled": false, "paused_until": until}), "off"),
            (
                json!({"enabled": true, "paused_until": until}),
                "paused until 2026-11-20T09:30:00.125Z",
            ),
        ] {
            assert_eq!(state(&webhook), expected, "{webhook}");
        }
        let page = json!({"deliveries": [{
            "delivery_id": "dlv_1", "created_at": until, "type": "tool.failed", "status": "pending", "attempts": 0,
            "execution_id": "exe_1",
        }]});
        assert!(sent(&page).ends_with("0         exe_1"), "{}", sent(&page));
    }
}
