//! REST's shapes, read back: what a flattened or tagged type cannot read by itself, and refusals.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use toolgate_egress::PlannedRequest;
use toolgate_gateway::tools::embeddings::{LexicalReason, Ranking};
use toolgate_gateway::tools::results::Truncated;
use toolgate_gateway::tools::{
    Annotations, ApprovalNeeded, Confidence, Connect, ConnectionState, Execution, FailureReason,
    FoundTool, FoundTools, Outcome, ResultFile, SchemaOrRef, ToolAuth, ToolError, ToolSchema,
};
use toolgate_gateway::{Error, RateLimited, RateWindow, Scope, Violation};

/// Seconds to wait where a refusal does not say.
const RETRY_AFTER_S: u64 = 1;

#[derive(Deserialize)]
pub(super) struct DataEnvelope<T> {
    pub data: T,
}

#[derive(Deserialize)]
pub struct SearchAnswer {
    query: String,
    #[serde(default)]
    service: Option<String>,
    total: usize,
    tools: Vec<FoundOne>,
    /// Absent from a server that always meant its tools to fit.
    #[serde(default = "high")]
    confidence: Confidence,
    #[serde(default)]
    suggestions: Vec<String>,
    ranking: Ranking,
    #[serde(default)]
    lexical_reason: Option<LexicalReason>,
    #[serde(default)]
    plugins_loading: usize,
}

#[derive(Deserialize)]
struct FoundOne {
    name: String,
    service: String,
    description: String,
    version: String,
    annotations: Annotations,
    score: f32,
    /// Absent from the answer of an older gateway.
    #[serde(default = "high")]
    confidence: Confidence,
    match_reasons: Vec<String>,
    #[serde(default)]
    step: Option<String>,
    connection: ConnectionState,
    #[serde(default)]
    also_in: Vec<String>,
}

fn high() -> Confidence {
    Confidence::High
}

impl From<SearchAnswer> for FoundTools {
    fn from(found: SearchAnswer) -> Self {
        let tools = found.tools.into_iter().map(|tool| FoundTool {
            // Asked for without schemas, so each is a reference, which no text shows.
            schema: SchemaOrRef::Ref(format!("/v1/tools/{}/schema", tool.name)),
            name: tool.name,
            service: tool.service,
            description: tool.description,
            version: tool.version,
            annotations: tool.annotations,
            score: tool.score,
            confidence: tool.confidence,
            match_reasons: tool.match_reasons,
            step: tool.step,
            connection: tool.connection,
            also_in: tool.also_in,
        });
        Self {
            tools: tools.collect(),
            query: found.query,
            service: found.service,
            total: found.total,
            confidence: found.confidence,
            suggestions: found.suggestions,
            ranking: found.ranking,
            lexical_reason: found.lexical_reason,
            plugins_loading: found.plugins_loading,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SchemaAnswer {
    name: String,
    service: String,
    description: String,
    input_schema: Box<RawValue>,
    #[serde(default)]
    output_schema: Option<Box<RawValue>>,
    annotations: Annotations,
    auth: ToolAuth,
    /// Absent from the answer of an older gateway.
    #[serde(default)]
    examples: Vec<Value>,
}

impl From<SchemaAnswer> for ToolSchema {
    fn from(schema: SchemaAnswer) -> Self {
        #[derive(Default, Deserialize)]
        struct RequiredNames {
            #[serde(default)]
            required: Vec<String>,
        }
        let named: RequiredNames =
            serde_json::from_str(schema.input_schema.get()).unwrap_or_default();
        Self {
            name: schema.name,
            service: schema.service,
            description: schema.description,
            input_schema: schema.input_schema.into(),
            output_schema: schema.output_schema.map(Arc::from),
            annotations: schema.annotations,
            auth: schema.auth,
            examples: schema.examples,
            required: named.required,
            etag: String::new(),
        }
    }
}

/// An execution: the fields of every outcome side by side.
#[derive(Deserialize)]
pub(super) struct ExecutionAnswer {
    execution_id: String,
    tool_name: String,
    service: String,
    session_id: String,
    duration_ms: u64,
    #[serde(default)]
    coerced: Vec<String>,
    status: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    truncated: Option<Truncated>,
    #[serde(default)]
    files: Vec<ResultFile>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    next_cursor: Option<String>,
    #[serde(default)]
    error: Option<ToolError>,
    #[serde(default)]
    auth_type: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    connect_url: Option<String>,
    #[serde(default)]
    requests: Vec<PlannedRequest>,
    #[serde(default)]
    approval_id: String,
    #[serde(default)]
    approval_url: String,
    #[serde(default)]
    expires_at: String,
}

impl ExecutionAnswer {
    pub(super) fn into_execution(self) -> Result<Execution, Error> {
        let strange = |what: &str| Error::Internal(anyhow::anyhow!("an execution without {what}"));
        let connect = || Connect {
            reason: self.reason.clone().unwrap_or_default(),
            auth_type: self.auth_type.clone(),
            message: self.message.clone(),
            connect_url: self.connect_url.clone(),
        };
        let outcome = match self.status.as_str() {
            "success" => Outcome::Success {
                // A result that is null reads as none.
                result: self
                    .result
                    .unwrap_or_else(|| RawValue::NULL.to_owned())
                    .into(),
                truncated: self.truncated,
                files: self.files,
                summary: self.summary,
                next_cursor: self.next_cursor,
            },
            "error" => Outcome::Error {
                reason: self
                    .reason
                    .and_then(|reason| serde_json::from_value::<FailureReason>(reason.into()).ok())
                    .ok_or_else(|| strange("a reason"))?,
                error: self.error.ok_or_else(|| strange("an error"))?,
            },
            "auth_required" => Outcome::AuthRequired(connect()),
            "auth_expired" => Outcome::AuthExpired(connect()),
            "dry_run" => Outcome::DryRun {
                requests: self.requests,
            },
            "approval_required" => Outcome::ApprovalRequired(ApprovalNeeded {
                reason: self.reason.unwrap_or_default(),
                message: self.message,
                approval_id: self.approval_id,
                approval_url: self.approval_url,
                expires_at: self.expires_at,
                requests: self.requests,
            }),
            _ => return Err(strange("a status that this version knows")),
        };
        Ok(Execution {
            execution_id: self.execution_id.into(),
            tool_name: self.tool_name.into(),
            service: self.service.into(),
            session_id: self.session_id.into(),
            duration_ms: self.duration_ms,
            coerced: self.coerced,
            outcome,
        })
    }
}

#[derive(Default, Deserialize)]
struct Refused {
    error: RefusedError,
}

#[derive(Default, Deserialize)]
struct RefusedError {
    code: String,
    message: String,
    #[serde(default)]
    details: FailureDetails,
    #[serde(default)]
    hint: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FailureDetails {
    violations: Vec<Violation>,
    nearest: Vec<String>,
    plugins_loading: usize,
    tool_name: String,
    service: String,
    scope: String,
    user_id: String,
    subject: String,
    execution_id: String,
    window: String,
    limit: u64,
    retry_after_s: Option<u64>,
    reason: String,
}

/// The error that a REST answer describes. An unknown code becomes an invalid request if the status is
/// 4xx, and an internal error otherwise.
pub(super) fn refusal(status: u16, body: &[u8]) -> Error {
    let refused: Refused = serde_json::from_slice(body).unwrap_or_default();
    let RefusedError {
        code,
        message,
        details,
        hint,
    } = refused.error;
    let named = |prefix: &str| message.strip_prefix(prefix).unwrap_or(&message).to_owned();
    let retry_after_s = details.retry_after_s.unwrap_or(RETRY_AFTER_S);
    match code.as_str() {
        "invalid_request" => invalid_request(message, hint),
        "invalid_json" => Error::InvalidJson {
            place: "arguments",
            problem: named("Invalid JSON in arguments: "),
        },
        "invalid_arguments" => Error::InvalidArguments {
            tool_name: details.tool_name,
            violations: details.violations,
        },
        "api_key_required" => Error::ApiKeyRequired,
        "invalid_api_key" => Error::InvalidApiKey,
        "permission_denied" => Error::PermissionDenied {
            user_id: details.user_id,
            subject: details.subject,
        },
        "scope_denied" => match details.scope.parse::<Scope>() {
            Ok(scope) => Error::ScopeDenied(scope),
            // One of a newer server.
            Err(_) => invalid_request(message, hint),
        },
        "ip_not_allowed" => Error::IpNotAllowed,
        "not_found" => match message.strip_suffix(" was not found") {
            Some(what) => Error::NotFound(what.to_owned()),
            None => invalid_request(message, hint),
        },
        "tool_not_found" => tool_not_found(named("Tool not found: "), details),
        "tool_withdrawn" => Error::ToolWithdrawn {
            tool_name: details.tool_name,
            service: details.service,
        },
        "skill_not_found" => Error::SkillNotFound(named("Skill not found: ")),
        "session_not_found" => Error::SessionNotFound(named("Session not found: ")),
        "user_not_found" => Error::UserNotFound(named("User not found: ")),
        "service_not_found" => Error::ServiceNotFound(named("Service not found: ")),
        "conflict" => Error::Conflict(message),
        "idempotency_conflict" => Error::IdempotencyConflict,
        "in_progress" => Error::InProgress { retry_after_s },
        "outcome_unknown" => Error::OutcomeUnknown {
            execution_id: details.execution_id,
            receipt: None,
        },
        "repeated_write" => Error::RepeatedWrite {
            execution_id: details.execution_id,
        },
        "rate_limit_exceeded" => rate_limited(&details, retry_after_s),
        "overloaded" => overloaded(&details.reason, retry_after_s),
        _ if (400..500).contains(&status) && !message.is_empty() => invalid_request(message, hint),
        _ => {
            let request_id = serde_json::from_slice::<Value>(body)
                .map(|body| body["meta"]["request_id"].to_string())
                .unwrap_or_default();
            Error::Internal(anyhow::anyhow!(
                "the gateway answered {status} {code} to {request_id}"
            ))
        }
    }
}

fn tool_not_found(tool_name: String, details: FailureDetails) -> Error {
    match details.plugins_loading {
        0 => Error::ToolNotFound {
            tool_name,
            nearest: details.nearest,
        },
        plugins_loading => Error::ToolNotLoaded {
            tool_name,
            plugins_loading,
        },
    }
}

fn rate_limited(details: &FailureDetails, retry_after_s: u64) -> Error {
    Error::RateLimited(RateLimited {
        window: details.window.parse().unwrap_or(RateWindow::Minute),
        limit: details.limit,
        retry_after_s,
    })
}

fn overloaded(reason: &str, retry_after_s: u64) -> Error {
    match reason {
        "stopping" => Error::Stopping,
        "identity_provider" => Error::ProviderUnavailable,
        "database" => Error::DatabaseUnavailable(None),
        _ => Error::Overloaded { retry_after_s },
    }
}

fn invalid_request(message: String, hint: Option<String>) -> Error {
    Error::InvalidRequest(match hint {
        Some(hint) => format!("{message}. {hint}"),
        None => message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_http_kit::envelope::ApiFailure;

    #[test]
    fn every_refusal_comes_back_as_what_it_was() {
        let errors = || {
            [
                Error::InvalidJson {
                    place: "arguments",
                    problem: "expected value at line 1 column 1".to_owned(),
                },
                Error::InvalidArguments {
                    tool_name: "github_create_issue".to_owned(),
                    violations: vec![Violation {
                        path: "/title".to_owned(),
                        message: "is missing".to_owned(),
                    }],
                },
                Error::ApiKeyRequired,
                Error::InvalidApiKey,
                Error::PermissionDenied {
                    user_id: "ada".to_owned(),
                    subject: "github_create_issue".to_owned(),
                },
                Error::ScopeDenied(Scope::ToolsRead),
                Error::IpNotAllowed,
                Error::NotFound("the result res_1".to_owned()),
                Error::ToolNotFound {
                    tool_name: "github_nope".to_owned(),
                    nearest: vec!["github_create_issue".to_owned()],
                },
                Error::ToolNotLoaded {
                    tool_name: "github_create_issue".to_owned(),
                    plugins_loading: 3,
                },
                Error::SkillNotFound("nope".to_owned()),
                Error::SessionNotFound("ses_1".to_owned()),
                Error::UserNotFound("ada".to_owned()),
                Error::ServiceNotFound("nope".to_owned()),
                Error::Conflict("the stored version is 2, not 1".to_owned()),
                Error::IdempotencyConflict,
                Error::InProgress { retry_after_s: 1 },
                Error::OutcomeUnknown {
                    execution_id: "exe_1".to_owned(),
                    receipt: None,
                },
                Error::RepeatedWrite {
                    execution_id: "exe_1".to_owned(),
                },
                Error::ToolWithdrawn {
                    tool_name: "notes_list".to_owned(),
                    service: "notes".to_owned(),
                },
                Error::RateLimited(RateLimited {
                    window: RateWindow::Day,
                    limit: 10,
                    retry_after_s: 7,
                }),
                Error::Overloaded { retry_after_s: 1 },
                Error::Stopping,
                Error::ProviderUnavailable,
                Error::DatabaseUnavailable(None),
                Error::InvalidRequest("limit must be 1 to 100, not 101".to_owned()),
            ]
        };
        for (sent, same) in errors().into_iter().zip(errors()) {
            let failure = ApiFailure::from(sent);
            let status = failure.status().as_u16();
            let body = serde_json::to_vec(&failure.body("req_1")).unwrap();
            let read = refusal(status, &body);
            assert_eq!(crate::render::error(&read), crate::render::error(&same));
        }
    }

    #[test]
    fn a_refused_request_keeps_its_message_whatever_its_code() {
        for failure in [
            ApiFailure::PayloadTooLarge { bytes_max: 8 },
            ApiFailure::UnsupportedMediaType,
            ApiFailure::MethodNotAllowed,
            ApiFailure::UnknownRoute,
            ApiFailure::CrossSite,
        ] {
            let body = serde_json::to_vec(&failure.body("req_1")).unwrap();
            let read = refusal(failure.status().as_u16(), &body);
            assert_eq!(read.code(), "invalid_request");
            assert!(
                read.to_string().starts_with(&failure.message()),
                "{read} of {failure:?}"
            );
        }
    }

    #[test]
    fn what_is_no_refusal_of_ours_is_a_failure() {
        for body in [
            &b""[..],
            b"<html>",
            b"{}",
            br#"{"error":{"code":"new","message":"x"}}"#,
        ] {
            assert_eq!(refusal(502, body).code(), "internal_error");
        }
        for body in [&b""[..], b"<html>", b"{}"] {
            assert_eq!(refusal(404, body).code(), "internal_error");
        }
    }
}
