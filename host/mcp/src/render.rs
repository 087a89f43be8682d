//! How the gateway's answers and errors read over MCP: Markdown text, made by pure functions.
//!
//! One of the two files that map [`toolgate_gateway::Error`] outward; the other is
//! `http-kit/src/envelope.rs`. What a provider or a plugin wrote is kept on its own line
//! ([`one_line`]), so that it cannot pass for a line of ours, a connect link for example.

use std::borrow::Cow;
use std::fmt::Write as _;

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::value::RawValue;

use toolgate_gateway::tools::embeddings::LexicalReason;
use toolgate_gateway::tools::{Confidence, ConnectionState, FoundTools, ToolSchema};
use toolgate_gateway::{Error, Health, HealthStatus, Violation};
use toolgate_http_kit::envelope::hint_of;

/// Characters of a tool's result that one answer holds.
/// About 25,000 tokens, which is what clients take of one answer.
pub const RESULT_CHARS_MAX: usize = 100_000;
/// Bytes that hold them: no character is longer than four.
pub(crate) const PIECE_BYTES: usize = RESULT_CHARS_MAX * 4;

/// Characters kept of a text that is on one line.
const LINE_CHARS_MAX: usize = 2_000;

/// `svc_health_check`.
pub fn health(health: &Health) -> String {
    let Health { version, tools, .. } = health;
    if health.status == HealthStatus::Ok {
        let more = match health.plugins.loading {
            0 => String::new(),
            loading => format!(", {loading} more integrations are being loaded"),
        };
        format!(
            "The remote MCP server is healthy and the API key is valid (toolgate {version}, {tools} tools{more})."
        )
    } else {
        format!(
            "The remote MCP server answers and the API key is valid, but its database does not answer \
             (toolgate {version}). Tools may fail; try again in a minute."
        )
    }
}

/// `svc_search_tools`.
pub fn found_tools(found: &FoundTools) -> String {
    let mut text = format!(
        "Found {} {} for \"{}\" (service: {})",
        found.total,
        if found.total == 1 { "tool" } else { "tools" },
        one_line(&found.query),
        found.service.as_deref().map_or("any".into(), one_line),
    );
    if found.total > found.tools.len() {
        let _ = write!(text, ", the best {} of them:", found.tools.len());
    }
    if found.lexical_reason == Some(LexicalReason::Overloaded) {
        text.push_str(" (ranked by words alone, too many searches run at once)");
    }
    text.push('\n');
    text.push_str(match found.confidence {
        _ if found.tools.is_empty() => "",
        Confidence::High => "",
        Confidence::Low => "\nConfidence: low. Read a description before you use its tool.\n",
        Confidence::None => {
            "\nConfidence: none. No tool seems to do this; these are only the nearest.\n"
        }
    });
    for tool in &found.tools {
        let connection = match tool.connection {
            ConnectionState::Connected | ConnectionState::NotNeeded => "",
            ConnectionState::NotConnected => " - not connected yet",
            ConnectionState::Expired => " - connection expired",
            ConnectionState::NeedsSetup => " - the operator has to set it up first",
        };
        let _ = write!(
            text,
            "\n- **{}** ({}){connection}\n  {}",
            tool.name,
            tool.service,
            one_line(&tool.description)
        );
        if let Some(step) = &tool.step {
            let _ = write!(text, "\n  For: {}", one_line(step));
        }
        if !tool.also_in.is_empty() {
            let _ = write!(text, "\n  {}", also_in(&tool.also_in));
        }
    }
    if found.plugins_loading > 0 {
        let _ = write!(
            text,
            "\n\nThe gateway is still loading {} of its integrations: if the tool you need is missing, \
             search again in a few seconds.\n",
            found.plugins_loading
        );
    }
    if !found.suggestions.is_empty() {
        let _ = write!(
            text,
            "\nNearest services: {}\n",
            found.suggestions.join(", ")
        );
    }
    if found.tools.is_empty() {
        text.push_str(
            "\nNext steps:\n\
             - Call `svc_search_tools` again with other words, or without `service`.\n\
             - Once a tool is found, read it with `svc_get_tool_schema` and run it with `svc_execute_tool`.",
        );
    } else {
        text.push_str(
            "\n\nNext steps:\n\
             - Call `svc_get_tool_schema` with a `tool_name` to see its arguments.\n\
             - Call `svc_execute_tool` with the `tool_name` and its `arguments` as a JSON string.",
        );
    }
    text
}

/// The other services that have such a tool, the first few by name.
fn also_in(services: &[String]) -> String {
    const NAMED: usize = 5;
    let named = services.iter().take(NAMED).map(String::as_str);
    let mut text = format!("Also in: {}", named.collect::<Vec<_>>().join(", "));
    if services.len() > NAMED {
        let _ = write!(text, " and {} more", services.len() - NAMED);
    }
    text
}

/// `svc_get_tool_schema`.
pub fn tool_schema(tool: &ToolSchema) -> String {
    let mut text = format!(
        "**{}**\n\n{}\n\nInput Schema:\n```json\n{}\n```\n\nRequired arguments:\n",
        tool.name,
        one_line(&tool.description),
        indented(&tool.input_schema),
    );
    if tool.required.is_empty() {
        text.push_str("- none\n");
    }
    for name in &tool.required {
        let _ = writeln!(text, "- {}", one_line(name));
    }
    let _ = write!(
        text,
        "\nNext step: call `svc_execute_tool` with `tool_name` \"{}\" and `arguments` as a JSON string",
        tool.name
    );
    // Compact JSON escapes line breaks, so an example is one line.
    match tool.examples.first() {
        Some(example) => {
            let _ = write!(text, ", for example:\n{example}");
        }
        None => text.push('.'),
    }
    text
}

/// By which name a tool is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolNaming {
    /// As an argument of `svc_execute_tool`.
    Generic,
    /// By its own, at the address of a toolset.
    Itself {
        /// Whether the client has `svc_execute_tool` too.
        generic_tools: bool,
    },
}

impl ToolNaming {
    fn has_generic_tools(self) -> bool {
        match self {
            Self::Generic => true,
            Self::Itself { generic_tools } => generic_tools,
        }
    }
}

fn tool_not_found(tool_name: &str, nearest: &[String]) -> String {
    let mut text = format!("Tool not found: {}\n\n", one_line(tool_name));
    if !nearest.is_empty() {
        let _ = writeln!(text, "Nearest: {}\n", nearest.join(", "));
    }
    text.push_str("Use `svc_search_tools` to find the exact name.");
    text
}

/// An operation's refusal. Every text ends with the error's code, as REST's `error.code` has it.
pub fn error(error: &Error) -> String {
    let said = match error {
        Error::ToolNotFound { tool_name, nearest } => tool_not_found(tool_name, nearest),
        Error::ToolNotLoaded {
            tool_name,
            plugins_loading,
        } => format!(
            "Tool not found: {}\n\nPlugins still being loaded: {plugins_loading}. Call again in a few seconds.",
            one_line(tool_name)
        ),
        Error::SkillNotFound(id) => format!(
            "Skill not found: {}\n\nUse `svc_list_skills` to see the ids.",
            one_line(id)
        ),
        Error::InvalidJson { place, problem } => format!(
            "Invalid JSON in {place}: {}\n\n\
             Expected a JSON-encoded string holding one object, for example \
             '{{\"owner\":\"octocat\",\"repo\":\"hello-world\"}}', or '{{}}' for no arguments.",
            one_line(problem)
        ),
        Error::InvalidArguments {
            tool_name,
            violations,
        } => format!(
            "{}\nRead the schema with `svc_get_tool_schema`, correct every point and call again.",
            named_violations(tool_name, violations)
        ),
        Error::InProgress { .. }
        | Error::TurnInProgress { .. }
        | Error::Overloaded { .. }
        | Error::Stopping
        | Error::ProviderUnavailable
        | Error::DatabaseUnavailable(_) => {
            let retry_after_s = error.retry_after_s().unwrap_or_default();
            format!("{}. Call again after {retry_after_s} s.", sentence(error))
        }
        Error::RateLimited(limited) => format!(
            "Too many requests: the limit of {} a {} is reached. Call again after {} s.",
            limited.limit, limited.window, limited.retry_after_s
        ),
        Error::PermissionDenied { .. } | Error::OwnQuestion => format!(
            "{}. Ask the user or the workspace's owner to allow it; calling again changes nothing.",
            sentence(error)
        ),
        Error::ScopeDenied(_) | Error::IpNotAllowed => format!(
            "{}. Only the workspace's owner can change that.",
            sentence(error)
        ),
        Error::Internal(_) => {
            "The gateway failed on its side. Try again; if it happens again, report \
             the time and the tool to the gateway's operator."
                .to_owned()
        }
        // The errors of signing in belong to the dashboard; no tool meets them.
        Error::InvalidRequest(_)
        | Error::SignInRequired
        | Error::InvalidCredentials
        | Error::ChooseWorkspace(_)
        | Error::RoleDenied(_)
        | Error::ApiKeyRequired
        | Error::InvalidApiKey
        | Error::AccessTokenRequired
        | Error::InvalidAccessToken
        | Error::NotFound(_)
        | Error::ToolWithdrawn { .. }
        | Error::SessionNotFound(_)
        | Error::UserNotFound(_)
        | Error::ServiceNotFound(_)
        | Error::Conflict(_)
        | Error::IdempotencyConflict
        | Error::RepeatedWrite { .. }
        | Error::OutcomeUnknown { .. } => match hint_of(error) {
            Some(hint) => format!("{}. {hint}", sentence(error)),
            None => sentence(error),
        },
    };
    format!("{said}\n\nError Code: {}", error.code())
}

/// The same where the tool was called in this way: what the client does not have is not named.
pub fn error_as(error: &Error, called: ToolNaming) -> String {
    let said = match (called, error) {
        (
            ToolNaming::Itself { .. },
            Error::InvalidArguments {
                tool_name,
                violations,
            },
        ) => format!(
            "{}\nCorrect every point and call again.",
            named_violations(tool_name, violations)
        ),
        (ToolNaming::Itself { .. }, Error::ToolNotFound { tool_name, .. }) => format!(
            "Tool not found: {}\n\nList the tools again: it is no longer one of them.",
            one_line(tool_name)
        ),
        (ToolNaming::Itself { .. } | ToolNaming::Generic, _) => return self::error(error),
    };
    format!("{said}\n\nError Code: {}", error.code())
}

fn named_violations(tool_name: &str, violations: &[Violation]) -> String {
    let mut text = format!("Invalid arguments for {}:\n", one_line(tool_name));
    for violation in violations {
        let place = if violation.path.is_empty() {
            "the arguments".into()
        } else {
            one_line(&violation.path)
        };
        let _ = writeln!(text, "- {place}: {}", one_line(&violation.message));
    }
    text
}

/// An operation's refusal where the protocol has no result to put it in.
pub fn protocol_error(error: &Error) -> ErrorData {
    let kind = match error {
        Error::SkillNotFound(_) | Error::NotFound(_) | Error::InvalidRequest(_) => {
            ErrorCode::INVALID_PARAMS
        }
        Error::Internal(_) | Error::DatabaseUnavailable(_) => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    let which = serde_json::json!({ "code": error.code() });
    ErrorData::new(kind, sentence_of(error), Some(which))
}

fn sentence_of(said: &Error) -> String {
    let text = error(said);
    text.split("\n\nError Code: ")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// A tool of this edge called with parameters that do not fit it.
pub fn bad_parameters(tool: &str, problem: &str, sent: &[String], known: &[&str]) -> String {
    let mut text = format!("Invalid parameters for {tool}: {}", one_line(problem));
    let mut unknown = sent.iter().filter(|name| !known.contains(&name.as_str()));
    if let Some(first) = unknown.next() {
        let rest: String = unknown
            .map(|name| format!(", {}", one_line(name)))
            .collect();
        let _ = write!(text, ". Not a parameter: {}{rest}", one_line(first));
    }
    let _ = write!(text, ". Its parameters: {}", known.join(", "));
    text
}

fn sentence(error: &Error) -> String {
    let text = error.to_string();
    let mut rest = text.chars();
    match rest.next() {
        Some(first) => {
            let said: String = first.to_uppercase().chain(rest).collect();
            one_line(&said).into_owned()
        }
        None => text,
    }
}

/// `text` without line breaks and control characters, at most [`LINE_CHARS_MAX`] characters.
fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let text = text.trim();
    if text.len() <= LINE_CHARS_MAX && !text.contains(breaks) {
        return text.into();
    }
    let mut line = String::with_capacity(text.len().min(LINE_CHARS_MAX));
    let words = text.split(|c: char| breaks(c) || c == ' ');
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &line[..end]).into(),
        None => line.into(),
    }
}

fn indented(schema: &RawValue) -> String {
    serde_json::from_str::<serde_json::Value>(schema.get())
        .and_then(|schema| serde_json::to_string_pretty(&schema))
        .unwrap_or_else(|_| schema.get().to_owned())
}

mod execution;
mod files;
mod results;
mod scripts;
mod skills;

pub use execution::{execution, unfit_result};
pub(crate) use files::{READ_FILE, file_at, file_links};
pub use files::{file_piece, read_file_schema};
pub(crate) use results::{READ_RESULT, result_at};
pub use results::{ReadingOn, read_result_schema, result_piece};
pub use scripts::{script_run, tool_types};
pub use skills::{skill, skill_alone, skill_created, skill_deleted, skill_page, skill_updated};

#[cfg(test)]
mod tests;
