//! `toolgate exec`: one call of a tool, for a person at a terminal.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use clap::Args;
use http::Method;
use serde_json::{Map, Value, json};

use super::arguments;
use super::exit_status::{Unsuccessful, WrongUse};
use super::gateway_client::{GatewayAddress, KEY_HELP, text};
use super::output::OutputFormat;
use toolgate_gateway::tools::{CallEvent, CallListener};

#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(super) struct Exec {
    /// Exact name, as search prints it
    tool: String,
    /// Arguments; numbers, lists and so on become what the tool's schema says; NAME=@FILE reads a file
    #[arg(value_name = "NAME=VALUE")]
    pairs: Vec<String>,
    /// Arguments as one JSON object, @FILE or - for standard input
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
    /// Send nothing; print the requests that would be sent
    #[arg(long)]
    dry_run: bool,
    /// User to run for [default: the key's]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Connection to use [default: the user's newest active one]
    #[arg(long, value_name = "ID")]
    connection: Option<String>,
    #[command(flatten)]
    server: GatewayAddress,
}

impl Exec {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let mut arguments = match &self.arguments {
            Some(text) => arguments::object(text).map_err(WrongUse::new)?,
            None => Map::new(),
        };
        if !self.pairs.is_empty() {
            let path = ["tools", &self.tool, "schema"];
            let tool = self.server.call(Method::GET, &path, &[], None).await?;
            for pair in &self.pairs {
                arguments::add(&mut arguments, pair, &tool["inputSchema"])
                    .map_err(WrongUse::new)?;
            }
        }
        let mut body = json!({ "arguments": arguments, "dry_run": self.dry_run });
        for (field, value) in [("user_id", self.user), ("connection_id", self.connection)] {
            if let Some(value) = value {
                body[field] = value.into();
            }
        }
        let listener = match !output.json && io::stderr().is_terminal() {
            true => on_the_terminal(),
            false => CallListener::default(),
        };
        let ran = self.server.call_tool(&self.tool, body, &listener).await;
        if listener.events.is_some() {
            let _ = write!(io::stderr(), "{CLEAR_LINE}");
        }
        let ran = ran?;
        // The document has all of it; a person reads the next step on standard error.
        match text(&ran, "status") {
            "success" => output.print(&ran, |ran| pretty(&ran["result"])),
            "dry_run" => output.print(&ran, |ran| pretty(&ran["requests"])),
            _ => {
                if output.json {
                    output.print(&ran, |_| String::new())?;
                }
                Err(Unsuccessful {
                    said: next_step(&ran),
                    is_of_provider: is_of_provider(&ran),
                }
                .into())
            }
        }
    }
}

fn is_of_provider(ran: &Value) -> bool {
    let reason = text(ran, "reason");
    reason.starts_with("provider_") || reason == "timeout"
}

/// Back to the beginning of the line, which is empty then (ECMA-48, `EL`).
pub(super) const CLEAR_LINE: &str = "\r\x1b[K";

/// So that the line is one on a terminal of 80 columns.
const MESSAGE_CHARS_MAX: usize = 60;

/// How far the tool has come, in one line that the next one replaces.
pub(super) fn on_the_terminal() -> CallListener {
    CallListener {
        events: Some(Arc::new(|event| {
            if let CallEvent::Progress {
                done,
                total,
                message,
            } = event
            {
                let of = total.map_or_else(String::new, |total| format!("/{total}"));
                let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
                let _ = write!(io::stderr(), "{CLEAR_LINE}{done}{of} {message}");
            }
        })),
        cancelled: None,
    }
}

pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// Why the tool gave no result, and what to do.
fn next_step(ran: &Value) -> String {
    let message = text(ran, "message");
    match text(ran, "status") {
        "auth_required" | "auth_expired" => match text(ran, "connect_url") {
            "" => message.to_owned(),
            url => {
                format!("{message}\nConnect an account here, then run the command again:\n  {url}")
            }
        },
        "approval_required" => format!(
            "{message}\nDecide here, then run the command again:\n  {}",
            text(ran, "approval_url")
        ),
        _ => {
            let error = &ran["error"];
            let mut said = format!("{} ({})", text(error, "message"), text(error, "code"));
            for fix in [text(error, "suggested_fix")] {
                if !fix.is_empty() {
                    said.push_str(&format!("\nhint: {fix}"));
                }
            }
            said.push_str(&format!("\nReceipt: {}", text(ran, "execution_id")));
            said
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_service_is_told_from_a_refusal_of_the_gateway() {
        for (reason, is_of_provider_expected) in [
            ("provider_error", true),
            ("provider_refused", true),
            ("provider_rate_limited", true),
            ("timeout", true),
            ("auth_required", false),
            ("not_configured", false),
        ] {
            let ran = json!({ "status": "error", "reason": reason });
            assert_eq!(is_of_provider(&ran), is_of_provider_expected, "{reason}");
        }
    }

    #[test]
    fn every_outcome_without_a_result_says_the_next_step() {
        let auth = json!({"status": "auth_required", "message": "Not connected.", "connect_url": "http://x/connect/y"});
        assert!(next_step(&auth).ends_with("http://x/connect/y"));
        let no_url = json!({"status": "auth_required", "message": "Ask the operator."});
        assert_eq!(next_step(&no_url), "Ask the operator.");
        let asks = json!({"status": "approval_required", "message": "Wait.", "approval_url": "http://x/approvals/z"});
        assert!(next_step(&asks).ends_with("http://x/approvals/z"));
        let failed = json!({"status": "error", "execution_id": "exe_1", "error": {"code": "not_found", "message": "No such page.", "suggested_fix": "Check the id."}});
        let said = next_step(&failed);
        for part in ["No such page. (not_found)", "hint: Check the id.", "exe_1"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
