//! Cards: the outcome of a call, for clients that render MCP Apps (extension `io.modelcontextprotocol/ui`,
//! version 2026-01-26).
//!
//! One HTML document serves all calls. It is the same for everybody and holds nothing; what it shows
//! travels beside the answer, in `_meta`, where models do not read it: the link to connect an account, the
//! link to decide about a call, or the receipt. The text of the answer says the same to every client. No
//! card holds more than that text, and none a secret of a connection.

use std::borrow::Cow;

use rmcp::model::{
    ClientCapabilities, ExtensionCapabilities, JsonObject, MetaObject, ResourceContents,
};
use serde_json::{Value, json};

use toolgate_gateway::tools::{Execution, Outcome};

const EXTENSION: &str = "io.modelcontextprotocol/ui";
const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// Where the document is, for `resources/read`.
pub(crate) const URI: &str = "ui://toolgate/call";
/// What the document reads of `_meta`.
const CARD: &str = "toolgate/card";
/// Of a text that a plugin or provider wrote.
const MESSAGE_CHARS_MAX: usize = 300;

const DOCUMENT: &str = include_str!("cards/call.html");

/// What a server says of the extension.
pub(crate) fn offered() -> ExtensionCapabilities {
    ExtensionCapabilities::from([(EXTENSION.to_owned(), JsonObject::new())])
}

/// What a client that renders cards says of the extension.
pub(crate) fn declared() -> ExtensionCapabilities {
    let mut said = JsonObject::new();
    said.insert("mimeTypes".to_owned(), json!([MIME_TYPE]));
    ExtensionCapabilities::from([(EXTENSION.to_owned(), said)])
}

/// Whether a client renders HTML cards.
pub(crate) fn rendered_by(capabilities: Option<&ClientCapabilities>) -> bool {
    let extensions = capabilities.and_then(|client| client.extensions.as_ref());
    let types = extensions.and_then(|all| all.get(EXTENSION)?.get("mimeTypes")?.as_array());
    types.is_some_and(|types| types.iter().any(|one| one == MIME_TYPE))
}

/// What a tool whose calls have cards says. The card itself may call nothing.
pub(crate) fn tool_meta() -> MetaObject {
    let mut meta = MetaObject::new();
    let linked = json!({ "resourceUri": URI, "visibility": ["model"] });
    meta.insert("ui".to_owned(), linked);
    meta
}

/// The document. It asks for no origin, so hosts let it reach none.
pub(crate) fn contents() -> ResourceContents {
    let mut meta = MetaObject::new();
    meta.insert("ui".to_owned(), json!({ "prefersBorder": true }));
    ResourceContents::text(DOCUMENT, URI)
        .with_mime_type(MIME_TYPE)
        .with_meta(meta)
}

/// The card of a call. `public_url`: where the dashboard is, without a trailing slash.
pub(crate) fn card(execution: &Execution, public_url: &str) -> MetaObject {
    let mut card = json!({
        "tool": execution.tool_name.as_str(),
        "service": execution.service.as_str(),
        "title": execution.service.as_str(),
        "execution_id": execution.execution_id.as_str(),
        "duration_ms": execution.duration_ms,
    });
    let more = match &execution.outcome {
        Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect) => json!({
            "kind": "connect",
            "status": connect.reason,
            "message": cut(&connect.message),
            "url": connect.connect_url,
        }),
        Outcome::ApprovalRequired(needed) => json!({
            "kind": "approve",
            "status": needed.reason,
            "message": cut(&needed.message),
            "url": needed.approval_url,
            "expires_at": needed.expires_at,
        }),
        Outcome::Error { error, .. } => receipt(execution, public_url, "error", &error.message),
        Outcome::Success { .. } => receipt(execution, public_url, "success", ""),
        Outcome::DryRun { .. } => receipt(execution, public_url, "dry_run", ""),
    };
    if let (Some(card), Value::Object(more)) = (card.as_object_mut(), more) {
        card.extend(more);
    }
    let mut meta = MetaObject::new();
    meta.insert(CARD.to_owned(), card);
    meta
}

fn receipt(execution: &Execution, public_url: &str, status: &str, message: &str) -> Value {
    json!({
        "kind": "receipt",
        "status": status,
        "message": cut(message),
        "url": format!("{public_url}/executions/{}", execution.execution_id),
    })
}

fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_gateway::tools::{ApprovalNeeded, Connect, FailureReason, ToolError};

    fn ended(outcome: Outcome) -> Value {
        let execution = Execution {
            execution_id: "exe_1".into(),
            tool_name: "github_create_issue".into(),
            service: "github".into(),
            session_id: "tool_1".into(),
            duration_ms: 120,
            coerced: Vec::new(),
            outcome,
        };
        card(&execution, "https://tools.example.com")[CARD].clone()
    }

    #[test]
    fn a_client_renders_cards_if_it_says_so() {
        let client = |extensions: Value| {
            let capabilities: ClientCapabilities =
                serde_json::from_value(json!({ "extensions": extensions })).unwrap();
            rendered_by(Some(&capabilities))
        };
        assert!(client(
            json!({ EXTENSION: { "mimeTypes": ["text/x", MIME_TYPE] } })
        ));
        for other in [
            json!({ EXTENSION: { "mimeTypes": ["text/html"] } }),
            json!({ EXTENSION: { "mimeTypes": MIME_TYPE } }),
            json!({ EXTENSION: {} }),
            json!({ "other": { "mimeTypes": [MIME_TYPE] } }),
            json!({}),
        ] {
            assert!(!client(other.clone()), "{other}");
        }
        assert!(!rendered_by(None));
    }

    #[test]
    fn a_card_says_what_a_person_has_to_do_and_no_more_than_the_answer() {
        let connect = Connect {
            reason: "auth_required".to_owned(),
            auth_type: "oauth2".to_owned(),
            message: "Connect GitHub.".to_owned(),
            connect_url: Some("https://tools.example.com/connect/abc".to_owned()),
        };
        let needed = ApprovalNeeded {
            reason: "approval_required".to_owned(),
            message: "A person decides.".to_owned(),
            approval_id: "apr_1".to_owned(),
            approval_url: "https://tools.example.com/approvals/apr_1".to_owned(),
            expires_at: "2026-11-20T09:30:00Z".to_owned(),
            requests: Vec::new(),
        };
        let error = ToolError {
            code: "not_found".to_owned(),
            message: "x".repeat(5_000),
            can_retry: false,
            retry_after_ms: None,
            suggested_fix: None,
            provider_status: Some(404),
            provider_body: Some(json!({ "secret": "of the provider" })),
        };
        let failed = Outcome::Error {
            reason: FailureReason::ProviderError,
            error,
        };
        let result = serde_json::value::to_raw_value(&json!({ "private": "of the user" })).unwrap();
        let success = Outcome::Success {
            result: result.into(),
            truncated: None,
            files: Vec::new(),
            summary: Some("private too".to_owned()),
            next_cursor: None,
        };
        let cards: Vec<Value> = [
            Outcome::AuthRequired(connect),
            Outcome::ApprovalRequired(needed),
            failed,
            success,
        ]
        .into_iter()
        .map(ended)
        .collect();
        let text = serde_json::to_string(&cards).unwrap();
        assert!(
            !text.contains("private") && !text.contains("secret"),
            "{text}"
        );
        assert!(text.len() < 2_000, "{}", text.len());
        insta::assert_json_snapshot!("cards", cards);
    }

    #[test]
    fn the_document_holds_what_it_needs_and_reaches_nothing() {
        for outside in [
            "http://",
            "https://",
            "src=",
            "href=",
            "fetch(",
            "innerHTML",
            "eval(",
        ] {
            // What it compares a link with is not an address.
            let text = DOCUMENT.replace(r"/^https?:\/\//", "");
            assert!(!text.contains(outside), "{outside}");
        }
        assert!(DOCUMENT.starts_with("<!doctype html>"));
    }
}
