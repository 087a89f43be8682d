//! `toolgate triggers`: reading tools that are polled for new items.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value, json};

use super::arguments;
use super::exit_status::{Unsuccessful, WrongUse};
use super::gateway_client::{GatewayAddress, KEY_HELP, ListLimit, items, text};
use super::output::{OutputFormat, counted, table};

#[derive(Debug, Subcommand)]
pub(super) enum TriggersCommand {
    /// List triggers, newest first
    #[command(after_help = KEY_HELP)]
    List {
        /// Only triggers of this user
        #[arg(long, value_name = "ID")]
        user: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
        #[command(flatten)]
        server: GatewayAddress,
    },
    /// Show a trigger: its arguments, and how it fares
    #[command(after_help = KEY_HELP)]
    Show(OneTrigger),
    /// Make a trigger; new items become events for webhooks
    #[command(after_help = CREATE_HELP)]
    Create(CreateTriggerFlags),
    /// Stop polling; what comes meanwhile is told of later
    #[command(after_help = SCOPES_HELP)]
    Pause(OneTrigger),
    /// Poll again, at once
    #[command(after_help = SCOPES_HELP)]
    Resume(OneTrigger),
    /// Call the tool and show what came of late; no event is sent
    #[command(after_help = SCOPES_HELP)]
    Test {
        #[command(flatten)]
        one: OneTrigger,
        /// Only items from this time on: RFC 3339, at most 30 days ago [default: the last day]
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
    /// Delete a trigger, with what it remembers
    #[command(after_help = KEY_HELP)]
    Delete(OneTrigger),
}

const CREATE_HELP: &str = "\
  toolgate webhooks create https://app.example.com/toolgate --events 'trigger.*'
  toolgate triggers create gitlab new_issue id=acme/website

Make the webhook first: what is found without a subscriber counts as told of. A receiver on this machine gets a name when
the gateway starts: toolgate serve --allow-upstream hook.example=http://127.0.0.1:9000

The key needs the scopes webhooks and tools:execute. It is read from the environment variable TOOLGATE_API_KEY.";

const SCOPES_HELP: &str = "\
The key needs the scopes webhooks and tools:execute. It is read from the environment variable
TOOLGATE_API_KEY.";

#[derive(Debug, Args)]
pub(super) struct OneTrigger {
    /// The id that the list prints
    trigger_id: String,
    #[command(flatten)]
    server: GatewayAddress,
}

#[derive(Debug, Args)]
pub(super) struct CreateTriggerFlags {
    /// Service of the trigger
    service: String,
    /// Name of the trigger in the service's plugin
    trigger: String,
    /// Arguments that are to be chosen: JSON, or else text; NAME=@FILE reads a file
    #[arg(value_name = "NAME=VALUE")]
    pairs: Vec<String>,
    /// The arguments as one JSON object, @FILE or - for standard input
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
    /// User with whose permissions and connection the tool is called [default: the key's]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Connection to use [default: each poll chooses as a call does]
    #[arg(long, value_name = "ID")]
    connection: Option<String>,
    /// Seconds between two polls, 60 to 86400 [default: the plugin's]
    #[arg(long, value_name = "S")]
    interval: Option<u64>,
    /// Tell of items from this time on although they are there already: RFC 3339, at most 30 days ago
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    #[command(flatten)]
    server: GatewayAddress,
}

impl TriggersCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        match self {
            Self::List {
                user,
                limit,
                server,
            } => {
                let mut query = vec![limit.query()];
                query.extend(user.map(|user| ("user_id", user)));
                let page = server
                    .call(Method::GET, &["triggers"], &query, None)
                    .await?;
                output.print(&page, listed)
            }
            Self::Show(one) => {
                let trigger = one.call(Method::GET, &[], None).await?;
                output.print(&trigger, shown)
            }
            Self::Create(create) => create.run(output).await,
            Self::Pause(one) => one.pause(true, output).await,
            Self::Resume(one) => one.pause(false, output).await,
            Self::Test { one, since } => {
                let path = ["triggers", one.trigger_id.as_str(), "test"];
                let query: Vec<_> = since.map(|since| ("since", since)).into_iter().collect();
                let test = one.server.call(Method::POST, &path, &query, None).await?;
                tested(&test, output)
            }
            Self::Delete(one) => {
                let gone = one.call(Method::DELETE, &[], None).await?;
                output.print(&gone, |_| format!("{} is deleted.", one.trigger_id))
            }
        }
    }
}

impl CreateTriggerFlags {
    async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let mut config = match &self.arguments {
            Some(text) => arguments::object(text).map_err(WrongUse::new)?,
            None => Map::new(),
        };
        for pair in &self.pairs {
            // Which tool the trigger calls is not known here, and with it no schema.
            arguments::add(&mut config, pair, &Value::Null).map_err(WrongUse::new)?;
        }
        let mut body =
            json!({ "service": self.service, "trigger": self.trigger, "config": config });
        for (field, value) in [
            ("user_id", self.user),
            ("connection_id", self.connection),
            ("since", self.since),
        ] {
            if let Some(value) = value {
                body[field] = value.into();
            }
        }
        if let Some(interval) = self.interval {
            body["interval_s"] = interval.into();
        }
        let made = self
            .server
            .call(Method::POST, &["triggers"], &[], Some(body))
            .await?;
        output.print(&made, |made| {
            format!(
                "{} polls {} every {} s. Its events: {}",
                text(made, "trigger_id"),
                text(made, "service"),
                made["interval_s"],
                text(made, "event")
            )
        })
    }
}

impl OneTrigger {
    async fn call(
        &self,
        method: Method,
        rest: &[&str],
        body: Option<Value>,
    ) -> anyhow::Result<Value> {
        let path = [&["triggers", self.trigger_id.as_str()][..], rest].concat();
        self.server.call(method, &path, &[], body).await
    }

    async fn pause(self, paused: bool, output: OutputFormat) -> anyhow::Result<()> {
        let body = json!({ "paused": paused });
        let changed = self.call(Method::PATCH, &[], Some(body)).await?;
        output.print(&changed, |_| match paused {
            true => format!("{} is paused.", self.trigger_id),
            false => format!("{} is polled now.", self.trigger_id),
        })
    }
}

fn listed(page: &Value) -> String {
    let rows: Vec<Vec<String>> = items(page, "triggers")
        .iter()
        .map(|one| {
            vec![
                text(one, "trigger_id").to_owned(),
                text(one, "state").to_owned(),
                text(one, "user_id").to_owned(),
                text(one, "event").to_owned(),
                one["items_found"].to_string(),
                match text(one, "next_poll_at") {
                    "" => "-".to_owned(),
                    at => at.to_owned(),
                },
            ]
        })
        .collect();
    match rows.is_empty() {
        true => "No triggers. Make one: toolgate triggers create SERVICE TRIGGER".to_owned(),
        false => table(
            &["TRIGGER", "STATE", "USER", "EVENT", "ITEMS", "NEXT POLL"],
            &rows,
        ),
    }
}

fn shown(trigger: &Value) -> String {
    let mut lines = vec![format!(
        "{} for {}: {}, every {} s",
        text(trigger, "event"),
        text(trigger, "user_id"),
        text(trigger, "state"),
        trigger["interval_s"]
    )];
    for (field, says) in [
        ("last_error", "Last failure: "),
        ("connection_id", "Connection: "),
        ("watching_since", "Watches since "),
        ("last_poll_at", "Last poll: "),
        ("last_item_at", "Last item: "),
        ("next_poll_at", "Next poll: "),
    ] {
        match text(trigger, field) {
            "" => {}
            value => lines.push(format!("{says}{value}")),
        }
    }
    lines.push(format!(
        "Items that were told of: {}",
        trigger["items_found"]
    ));
    lines.push(format!("Arguments: {}", trigger["config"]));
    lines.join("\n")
}

/// What came of late. That nothing could be read is a failure of the command.
fn tested(test: &Value, output: OutputFormat) -> anyhow::Result<()> {
    if text(test, "status") == "found" {
        return output.print(test, found);
    }
    if output.json {
        output.print(test, |_| String::new())?;
    }
    let link = text(&test["connect"], "connect_url");
    let next = match link {
        "" => String::new(),
        link => format!("\nConnect the account first: {link}"),
    };
    let said = format!("nothing was read: {}{next}", text(test, "message"));
    Err(Unsuccessful {
        said,
        is_of_provider: text(test, "status") == "error",
    }
    .into())
}

fn found(test: &Value) -> String {
    let count = |field: &str| {
        let count = test[field].as_u64();
        count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    };
    let listed = counted(count("listed").unwrap_or_default(), "item");
    let mut said = match (count("found"), text(test, "since")) {
        (Some(found), since) if !since.is_empty() => {
            format!("{} since {since}, of {listed} read", counted(found, "item"))
        }
        // The service gives no times.
        _ => format!("{listed} on the first page"),
    };
    if test["complete"] == json!(false) {
        said += "; there may be more on further pages";
    }
    let mut blocks = vec![format!("{said}. No event was sent.")];
    blocks.extend(items(test, "items").iter().map(|item| {
        let time = match text(item, "time") {
            "" => String::new(),
            time => format!(" {time}"),
        };
        format!("{}{time}\n{:#}", text(item, "event_id"), item["event"])
    }));
    blocks.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_listed_with_how_it_fares() {
        let list = json!({"triggers": [
            {"trigger_id": "trg_1", "state": "paused", "user_id": "ada", "event": "trigger.github.new_issue", "items_found": 3},
            {"trigger_id": "trg_2", "state": "active", "user_id": "bob", "event": "trigger.gitlab.new_issue", "items_found": 0,
             "next_poll_at": "2026-11-20T09:35:01.250Z"},
        ]});
        let said = listed(&list);
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[1].ends_with("trigger.github.new_issue  3      -"),
            "{said}"
        );
        assert!(
            lines[2].ends_with("0      2026-11-20T09:35:01.250Z"),
            "{said}"
        );
        assert!(listed(&json!({"triggers": []})).contains("toolgate triggers create"));
    }

    #[test]
    fn a_trigger_shows_its_arguments_and_why_it_failed() {
        let said = shown(&json!({
            "event": "trigger.github.new_issue", "user_id": "ada", "state": "failing", "interval_s": 300,
            "last_error": "the service answered 502", "items_found": 3, "config": {"repo": "widgets"},
        }));
        assert!(
            said.starts_with(
                "trigger.github.new_issue for ada: failing, every 300 s\nLast failure: the service"
            ),
            "{said}"
        );
        assert!(
            said.ends_with("Items that were told of: 3\nArguments: {\"repo\":\"widgets\"}"),
            "{said}"
        );
    }

    #[test]
    fn a_test_shows_what_is_listed_or_fails_with_the_reason() {
        let text = OutputFormat { json: false };
        let good = json!({
            "status": "found",
            "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
            "listed": 3,
            "since": "2026-11-19T09:30:00.000Z",
            "found": 1,
            "complete": true,
            "items": [{
                "event_id": "evt_5TQ0C1Z8H5G6W2N7RXJ3VBD4MA",
                "time": "2026-11-20T09:12:44.000Z",
                "event": {"id": 4711, "title": "The printer is on fire"}
            }]
        });
        assert_eq!(
            found(&good),
            "1 item since 2026-11-19T09:30:00.000Z, of 3 items read. No event was sent.\n\n\
             evt_5TQ0C1Z8H5G6W2N7RXJ3VBD4MA 2026-11-20T09:12:44.000Z\n\
             {\n  \"id\": 4711,\n  \"title\": \"The printer is on fire\"\n}"
        );
        let timeless = json!({"status": "found", "listed": 2, "complete": false, "items": []});
        assert_eq!(
            found(&timeless),
            "2 items on the first page; there may be more on further pages. No event was sent."
        );
        assert!(tested(&good, text).is_ok());
        for (test, is_of_provider, said) in [
            (
                json!({"status": "error", "message": "502"}),
                true,
                "nothing was read: 502",
            ),
            (
                json!({"status": "auth_required", "message": "not connected", "connect": {"connect_url": "https://a/connect/x"}}),
                false,
                "nothing was read: not connected\nConnect the account first: https://a/connect/x",
            ),
        ] {
            let refused = tested(&test, text).expect_err("nothing was read");
            let refused: &Unsuccessful = refused.downcast_ref().expect("its own type");
            assert_eq!(
                (refused.is_of_provider, refused.said.as_str()),
                (is_of_provider, said)
            );
        }
    }
}
