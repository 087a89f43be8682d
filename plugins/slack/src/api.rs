//! What all calls share: sending, `ok:false` as an error, and pages.

use toolgate_sdk::http::Request;
use toolgate_sdk::prelude::*;

/// Pages looked through, at most, when a list is filtered here.
const FILTER_PAGES_MAX: usize = 10;
/// Entries asked for on each of those pages; what Slack recommends.
const FILTER_PAGE: u32 = 200;

pub fn slack(cx: &Context) -> Client<'_> {
    cx.client("https://slack.com/api")
}

/// Sends and answers the body, if Slack says that it worked.
pub fn call(request: Request<'_>) -> Result<Value, ToolError> {
    let answer = request.fetch()?;
    if answer["ok"] == true {
        Ok(answer)
    } else {
        Err(problem(&answer))
    }
}

/// Where Slack says that a list goes on.
pub fn next_cursor(answer: &Value) -> Option<String> {
    let cursor = answer.pointer("/response_metadata/next_cursor")?.as_str()?;
    (!cursor.is_empty()).then(|| cursor.to_owned())
}

/// One page of the list under `key`.
pub fn page(
    cx: &Context,
    request: Request<'_>,
    limit: u32,
    key: &str,
    fields: &[&str],
) -> Result<Output, ToolError> {
    let answer = call(request.query("limit", limit).query("cursor", cx.cursor()))?;
    Output::page(pick_each(&answer[key], fields), next_cursor(&answer))
}

/// Entries of the list under `key` in which one of `fields` contains `wanted`, looked for over
/// several pages. Answers at most `limit`.
pub fn filtered(
    cx: &Context,
    request: impl Fn() -> Request<'static>,
    wanted: &str,
    limit: u32,
    key: &str,
    fields: &[&str],
) -> Result<Output, ToolError> {
    let wanted = wanted.trim_start_matches(['#', '@']).to_lowercase();
    let mut found = Vec::new();
    let mut cursor = cx.cursor().map(str::to_owned);
    for _ in 0..FILTER_PAGES_MAX {
        let answer = call(
            request()
                .query("limit", FILTER_PAGE)
                .query("cursor", &cursor),
        )?;
        let Value::Array(all) = pick_each(&answer[key], fields) else {
            break;
        };
        found.extend(all.into_iter().filter(|one| holds(one, &wanted)));
        cursor = next_cursor(&answer);
        if cursor.is_none() || found.len() >= limit as usize {
            break;
        }
    }
    Output::page(found, cursor)
}

fn holds(entry: &Value, wanted: &str) -> bool {
    let texts = entry
        .as_object()
        .into_iter()
        .flat_map(|object| object.values());
    texts
        .filter_map(Value::as_str)
        .any(|text| text.to_lowercase().contains(wanted))
}

/// Slack's own error word as a kind, and as a sentence with the next step where there is one.
fn problem(answer: &Value) -> ToolError {
    let code = answer["error"].as_str().unwrap_or("unknown_error");
    let (kind, text) = match code {
        "invalid_auth" | "not_authed" | "token_revoked" | "token_expired" | "account_inactive" => (
            ErrorKind::AuthExpired,
            "Slack no longer accepts the connection; connect it again",
        ),
        "missing_scope" => (
            ErrorKind::PermissionDenied,
            "the connection lacks a permission",
        ),
        "not_in_channel" => (
            ErrorKind::PermissionDenied,
            "the app is not in that channel; use slack_join_channel, or have somebody invite it",
        ),
        "not_allowed_token_type" => (
            ErrorKind::PermissionDenied,
            "this needs a token of another kind; searching needs a user token (xoxp-)",
        ),
        "no_permission"
        | "restricted_action"
        | "cant_update_message"
        | "cant_delete_message"
        | "edit_window_closed"
        | "access_denied"
        | "ekm_access_denied"
        | "is_archived"
        | "method_not_supported_for_channel_type" => {
            (ErrorKind::PermissionDenied, "Slack does not allow it")
        }
        "channel_not_found" => (
            ErrorKind::NotFound,
            "no such channel, or the app cannot see it; slack_list_channels shows ids",
        ),
        "user_not_found" | "users_not_found" => (
            ErrorKind::NotFound,
            "no such person; slack_list_users shows ids",
        ),
        "message_not_found" | "thread_not_found" => (
            ErrorKind::NotFound,
            "no such message; its ts must be copied exactly",
        ),
        "name_taken" | "already_reacted" | "already_in_channel" | "already_pinned" => {
            (ErrorKind::Conflict, "it is so already")
        }
        "ratelimited" | "rate_limited" => (ErrorKind::RateLimited, "too many requests"),
        "fatal_error" | "internal_error" | "service_unavailable" | "request_timeout" => {
            (ErrorKind::Unavailable, "Slack has a problem of its own")
        }
        "no_text" | "msg_too_long" | "time_in_past" | "time_too_far" | "cant_invite_self"
        | "cant_invite" | "too_many_reactions" => {
            (ErrorKind::InvalidArguments, "Slack refuses these arguments")
        }
        code if code.starts_with("invalid_") || code.starts_with("bad_") => {
            (ErrorKind::InvalidArguments, "Slack refuses these arguments")
        }
        _ => (ErrorKind::Upstream, "Slack refused"),
    };
    let mut message = format!("{text} ({code})");
    if let Some(needed) = answer["needed"].as_str() {
        message.push_str(&format!("; needed: {needed}"));
    }
    if let Some(Value::Array(hints)) = answer.pointer("/response_metadata/messages") {
        for hint in hints.iter().filter_map(Value::as_str) {
            message.push_str(&format!("; {hint}"));
        }
    }
    ToolError::new(kind, message).code(code)
}
