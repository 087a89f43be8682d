//! `toolgate executions`: what was executed, and every request that left for it.

use clap::Subcommand;
use http::Method;
use serde_json::Value;

use super::gateway_client::{GatewayAddress, KEY_HELP, ListLimit, items, text};
use super::output::{OutputFormat, table};

#[derive(Debug, Subcommand)]
pub(super) enum ExecutionsCommand {
    /// List executions, newest first
    #[command(after_help = KEY_HELP)]
    List {
        /// Only executions for this user
        #[arg(long, value_name = "ID")]
        user: Option<String>,
        /// Only executions of this tool
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Only executions of this service's tools
        #[arg(long, value_name = "NAME")]
        service: Option<String>,
        /// Only executions with this status: success, error, auth_required, approval_required and so on
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        #[command(flatten)]
        limit: ListLimit,
        #[command(flatten)]
        server: GatewayAddress,
    },
    /// Show a receipt: who ran what, and every request that left
    #[command(after_help = KEY_HELP)]
    Show {
        /// The id that exec and the list print
        execution_id: String,
        #[command(flatten)]
        server: GatewayAddress,
    },
}

impl ExecutionsCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        match self {
            Self::List {
                user,
                tool,
                service,
                status,
                limit,
                server,
            } => {
                let mut query = vec![limit.query()];
                let filters = [
                    ("user_id", user),
                    ("tool_name", tool),
                    ("service", service),
                    ("status", status),
                ];
                query.extend(
                    filters
                        .into_iter()
                        .filter_map(|(name, value)| Some((name, value?))),
                );
                let page = server
                    .call(Method::GET, &["executions"], &query, None)
                    .await?;
                output.print(&page, listed)
            }
            Self::Show {
                execution_id,
                server,
            } => {
                let path = ["executions", &execution_id];
                let receipt = server.call(Method::GET, &path, &[], None).await?;
                output.print(&receipt, shown)
            }
        }
    }
}

fn listed(page: &Value) -> String {
    let rows: Vec<Vec<String>> = items(page, "executions")
        .iter()
        .map(|one| {
            vec![
                text(one, "execution_id").to_owned(),
                text(one, "started_at").to_owned(),
                text(one, "user_id").to_owned(),
                text(one, "tool_name").to_owned(),
                ended(one),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => "No executions.".to_owned(),
        false => table(&["EXECUTION", "STARTED", "USER", "TOOL", "STATUS"], &rows),
    }
}

fn ended(receipt: &Value) -> String {
    match text(receipt, "reason") {
        "" => text(receipt, "status").to_owned(),
        reason => format!("{} ({reason})", text(receipt, "status")),
    }
}

fn shown(receipt: &Value) -> String {
    let mut lines = vec![format!(
        "{} for {}: {}, started {}, {} ms",
        text(receipt, "tool_name"),
        text(receipt, "user_id"),
        ended(receipt),
        text(receipt, "started_at"),
        receipt["duration_ms"]
    )];
    let requests = items(receipt, "requests");
    if requests.is_empty() {
        lines.push("No request left.".to_owned());
    }
    for request in requests {
        let status = match &request["status"] {
            Value::Null => "no answer".to_owned(),
            status => status.to_string(),
        };
        lines.push(format!(
            "  {} {}{} -> {status}, {} ms",
            text(request, "method"),
            text(request, "origin"),
            text(request, "path"),
            request["duration_ms"]
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_receipt_lists_every_request_that_left() {
        let receipt = json!({
            "tool_name": "github_create_issue", "user_id": "ada", "status": "error", "reason": "timeout",
            "started_at": "2026-11-20T09:30:00.125Z", "duration_ms": 30000,
            "requests": [{"method": "POST", "origin": "https://api.github.com", "path": "/repos", "duration_ms": 29990}],
        });
        let text = shown(&receipt);
        assert!(text.contains("error (timeout)"), "{text}");
        assert!(
            text.contains("POST https://api.github.com/repos -> no answer, 29990 ms"),
            "{text}"
        );
        let none = shown(&json!({ "requests": [], "duration_ms": 1 }));
        assert!(none.contains("No request left."), "{none}");
    }
}
