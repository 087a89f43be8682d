//! The outcome of a call of a tool.

use std::fmt::Write as _;

use super::files::push_files;
use super::results::{ReadingOn, push_head};
use super::{RESULT_CHARS_MAX, ToolNaming, one_line};
use toolgate_gateway::tools::{
    ApprovalNeeded, Connect, Execution, FailureReason, Outcome, ToolError,
};

/// A call, whatever its outcome.
pub fn execution(execution: &Execution, called: ToolNaming) -> String {
    match &execution.outcome {
        Outcome::Success {
            result,
            truncated,
            files,
            summary,
            next_cursor,
        } => {
            let mut text = head(execution);
            if let Some(summary) = summary {
                let _ = writeln!(text, "Summary: {}", one_line(summary));
            }
            if let Some(cursor) = next_cursor {
                let _ = writeln!(text, "Next cursor: {}", one_line(cursor));
            }
            let reading = match called.has_generic_tools() {
                true => ReadingOn::Tool,
                false => ReadingOn::Resource,
            };
            push_files(&mut text, files, reading);
            text.push_str("\nResult:\n");
            match truncated {
                Some(truncated) => {
                    let tool = tool_called(execution, called);
                    push_head(&mut text, result, truncated, reading, tool);
                }
                None => {
                    let (paged, tool) = (next_cursor.is_some(), tool_called(execution, called));
                    push_cut(&mut text, result.get(), paged, tool);
                }
            }
            text
        }
        Outcome::Error { reason, error } => failure(execution, *reason, error, called),
        Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect) => {
            authentication(execution, connect, called)
        }
        Outcome::ApprovalRequired(needed) => approval(execution, needed, called),
        Outcome::DryRun { requests } => {
            let requests = serde_json::to_string_pretty(requests)
                .expect("planned requests are strings and numbers");
            format!(
                "{}\nNothing was sent. The requests this call would make:\n{requests}",
                head(execution)
            )
        }
    }
}

fn head(execution: &Execution) -> String {
    let mut text = format!(
        "Tool: {}\nDuration: {}ms\nSession: {}\n",
        execution.tool_name, execution.duration_ms, execution.session_id
    );
    if !execution.coerced.is_empty() {
        let places = execution.coerced.join(", ");
        let _ = writeln!(
            text,
            "Coerced: {} (texts that were taken as the kind of value that the tool asks for)",
            one_line(&places)
        );
    }
    text
}

fn failure(
    execution: &Execution,
    reason: FailureReason,
    error: &ToolError,
    called: ToolNaming,
) -> String {
    let reason = match reason {
        FailureReason::ProviderError => "provider_error",
        FailureReason::ProviderRateLimited => "provider_rate_limited",
        FailureReason::ProviderRefused => "provider_refused",
        FailureReason::NotConfigured => "not_configured",
        FailureReason::Timeout => "timeout",
        FailureReason::LimitExceeded => "limit_exceeded",
        FailureReason::PluginCrashed => "plugin_crashed",
        FailureReason::Cancelled => "cancelled",
    };
    let mut text = format!(
        "## Tool Failed\n\n{}Service: {}\nExecution: {}\nReason: {reason}\nCode: {}\nMessage: {}\n",
        head(execution),
        execution.service,
        execution.execution_id,
        one_line(&error.code),
        one_line(&error.message),
    );
    if let Some(status) = error.provider_status {
        let _ = writeln!(text, "Provider Status: {status}");
    }
    match (error.can_retry, error.retry_after_ms) {
        (true, Some(after_ms)) => {
            let _ = writeln!(text, "Can Retry: yes, after {after_ms}ms");
        }
        (true, None) => text.push_str("Can Retry: yes\n"),
        (false, _) => text.push_str("Can Retry: no\n"),
    }
    if let Some(fix) = &error.suggested_fix {
        let _ = writeln!(text, "Suggested Fix: {}", one_line(fix));
    }
    if let Some(body) = &error.provider_body {
        text.push_str("\nProvider Answer:\n");
        let tool = tool_called(execution, called);
        push_cut(&mut text, &body.to_string(), false, tool);
    }
    text
}

fn authentication(execution: &Execution, connect: &Connect, called: ToolNaming) -> String {
    let mut text = format!(
        "## Authentication Required\n\nTool: {}\nService: {}\nReason: {}\nAuth Type: {}\n\n{}\n\n",
        execution.tool_name,
        execution.service,
        connect.reason,
        connect.auth_type,
        one_line(&connect.message),
    );
    match &connect.connect_url {
        Some(url) => {
            let _ = write!(
                text,
                "Connect Link: {url}\n\n\
                 Ask the user to visit this link. When they have finished, call `{}` \
                 again with the same arguments.",
                tool_called(execution, called)
            );
        }
        None => text.push_str(
            "There is no link to visit yet. Tell the user what is missing and try again later.",
        ),
    }
    text
}

fn approval(execution: &Execution, needed: &ApprovalNeeded, called: ToolNaming) -> String {
    format!(
        "## Approval Required\n\nTool: {}\nService: {}\nReason: {}\nApproval: {}\nExpires: {}\n\n{}\n\n\
         Approval Link: {}\n\n\
         Nothing was sent. Ask the user to have this call approved. When it is, call \
         `{}` again with the same arguments; it then runs once.",
        execution.tool_name,
        execution.service,
        needed.reason,
        needed.approval_id,
        needed.expires_at,
        one_line(&needed.message),
        needed.approval_url,
        tool_called(execution, called),
    )
}

/// A call whose result is not what the tool's output schema says, or is too long to be given whole.
pub fn unfit_result(execution: &Execution, called: ToolNaming, why: &str) -> String {
    let text = self::execution(execution, called);
    format!(
        "## Result Without Structure\n\nThe call has run and has this result, but {why}. Do not repeat it \
         because of that.\n\n{text}"
    )
}

/// The name by which the client calls it again.
fn tool_called(execution: &Execution, called: ToolNaming) -> &str {
    match called {
        ToolNaming::Generic => "svc_execute_tool",
        ToolNaming::Itself { .. } => execution.tool_name.as_str(),
    }
}

/// Appends `json`, or its first [`RESULT_CHARS_MAX`] characters and how to get at the rest.
fn push_cut(text: &mut String, json: &str, paged: bool, tool: &str) {
    let end = if json.len() <= RESULT_CHARS_MAX {
        None
    } else {
        json.char_indices()
            .nth(RESULT_CHARS_MAX)
            .map(|(end, _)| end)
    };
    let Some(end) = end else {
        text.push_str(json);
        return;
    };
    text.push_str(&json[..end]);
    let _ = write!(
        text,
        "\n\n[Cut: these are the first {RESULT_CHARS_MAX} of {} characters. To read on, call \
         `{tool}` again with arguments that ask for less: a filter, fewer fields or a \
         smaller page{}.]",
        json.chars().count(),
        if paged { ", then the next page" } else { "" }
    );
}
