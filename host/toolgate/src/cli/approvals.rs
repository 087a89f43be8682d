//! `toolgate approvals`: calls that wait for a person's decision.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

use super::gateway_client::{GatewayAddress, KEY_HELP, ListLimit, items, text};
use super::output::{OutputFormat, table};
use toolgate_core::states::ApprovalStatus;

#[derive(Debug, Subcommand)]
pub(super) enum ApprovalsCommand {
    /// List approvals, newest first
    #[command(after_help = KEY_HELP)]
    List {
        /// pending, approved, denied, used or expired [default: all]
        #[arg(long, value_name = "STATUS")]
        status: Option<ApprovalStatus>,
        #[command(flatten)]
        limit: ListLimit,
        #[command(flatten)]
        server: GatewayAddress,
    },
    /// Show what a call would do: its arguments and the requests that it would send
    #[command(after_help = KEY_HELP)]
    Show(OneApproval),
    /// Approve a call; the same call runs once when it is repeated
    #[command(after_help = SCOPE_HELP)]
    Approve(OneApproval),
    /// Deny a call
    #[command(after_help = SCOPE_HELP)]
    Deny(OneApproval),
}

const SCOPE_HELP: &str = "\
The key needs the scope approvals, and cannot decide about its own calls. It is read from the
environment variable TOOLGATE_API_KEY.";

#[derive(Debug, Args)]
pub(super) struct OneApproval {
    /// The id that exec and the list print
    approval_id: String,
    #[command(flatten)]
    server: GatewayAddress,
}

impl ApprovalsCommand {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        match self {
            Self::List {
                status,
                limit,
                server,
            } => {
                let mut query = vec![limit.query()];
                query.extend(status.map(|status| ("status", status.to_string())));
                let page = server
                    .call(Method::GET, &["approvals"], &query, None)
                    .await?;
                output.print(&page, listed)
            }
            Self::Show(one) => {
                let path = ["approvals", &one.approval_id];
                let approval = one.server.call(Method::GET, &path, &[], None).await?;
                output.print(&approval, shown)
            }
            Self::Approve(one) => one.decide("approve", output).await,
            Self::Deny(one) => one.decide("deny", output).await,
        }
    }
}

impl OneApproval {
    async fn decide(self, decision: &str, output: OutputFormat) -> anyhow::Result<()> {
        let path = ["approvals", &self.approval_id];
        let body = json!({ "decision": decision });
        let decided = self
            .server
            .call(Method::POST, &path, &[], Some(body))
            .await?;
        output.print(&decided, |decided| {
            format!(
                "{} for {} is {}.",
                text(decided, "tool_name"),
                text(decided, "user_id"),
                text(decided, "status")
            )
        })
    }
}

fn listed(page: &Value) -> String {
    let rows: Vec<Vec<String>> = items(page, "approvals")
        .iter()
        .map(|one| {
            [
                "approval_id",
                "status",
                "user_id",
                "tool_name",
                "expires_at",
            ]
            .map(|field| text(one, field).to_owned())
            .to_vec()
        })
        .collect();
    match rows.is_empty() {
        true => "No approvals.".to_owned(),
        false => table(&["APPROVAL", "STATUS", "USER", "TOOL", "EXPIRES"], &rows),
    }
}

/// Everything that is bound by the decision.
fn shown(approval: &Value) -> String {
    let account = match text(approval, "account") {
        "" => String::new(),
        account => format!(" as {account}"),
    };
    let mut blocks = vec![
        format!(
            "{} ({}), {}",
            text(approval, "title"),
            text(approval, "tool_name"),
            text(approval, "status")
        ),
        format!(
            "For {}{account}, asked by {}.",
            text(approval, "user_id"),
            text(approval, "asked_by_name")
        ),
    ];
    if approval["annotations"]["destructiveHint"] == true {
        blocks.push("It deletes or overwrites something that may not come back.".to_owned());
    }
    if approval["secrets_masked"] == true {
        blocks.push("A secret of the connection reads [redacted] here.".to_owned());
    }
    blocks.push(text(approval, "arguments_text").to_owned());
    blocks.extend(items(approval, "requests").iter().map(request));
    if approval["requests_complete"] == false {
        blocks.push("More requests may follow from the first answers.".to_owned());
    }
    blocks.join("\n\n")
}

fn request(request: &Value) -> String {
    let mut lines = format!("{} {}", text(request, "method"), text(request, "url"));
    for header in items(request, "headers") {
        let part = |at: usize| header[at].as_str().unwrap_or_default();
        lines.push_str(&format!("\n{}: {}", part(0), part(1)));
    }
    match text(request, "body") {
        "" => lines,
        body => format!("{lines}\n\n{body}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_shown_with_everything_that_is_bound() {
        let approval = json!({
            "title": "Create an issue", "tool_name": "github_create_issue", "status": "pending",
            "user_id": "ada", "account": "ada-l", "asked_by_name": "agent",
            "arguments_text": "{\"title\": \"It jams\"}",
            "annotations": {"destructiveHint": true}, "secrets_masked": true, "requests_complete": false,
            "requests": [{
                "method": "POST", "url": "https://api.github.com/repos", "headers": [["x-mode", "force"]], "body": "{}",
            }],
        });
        let text = shown(&approval);
        for part in [
            "Create an issue (github_create_issue), pending",
            "For ada as ada-l, asked by agent.",
            "It jams",
            "POST https://api.github.com/repos\nx-mode: force\n\n{}",
            "deletes or overwrites",
            "reads [redacted]",
            "More requests may follow",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}
