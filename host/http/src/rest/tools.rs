//! `/v1/tools`: search, list, describe, execute.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde::de::{self, Deserializer};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, entity_tags, openapi, stream};
use toolgate_core::ids::UserId;
use toolgate_core::trace;
use toolgate_gateway::Gateway;
use toolgate_gateway::tools::results::Budget;
use toolgate_gateway::tools::{
    Arguments, CallListener, Execute, Execution, FoundTools, ListTools, QUERY_CHARS_MAX,
    SearchTools, ToolPage, ToolSchema,
};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::ids;
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, NoQuery, Number, PageLimit, Phrase, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Tools", "Find, describe and run tools.")
        .routes(routes!(search))
        .routes(routes!(list))
        .routes(routes!(schema))
        .routes(routes!(execute))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ToolSearchQuery {
    /// Keywords or natural language; it may name several steps.
    #[param(inline, required = true, example = "open an issue")]
    query: Phrase<{ QUERY_CHARS_MAX }, true>,
    /// Only tools of this service, by its lowercase name.
    #[param(inline, example = "github")]
    service: Id,
    /// How many tools to answer.
    #[param(inline)]
    limit: PageLimit<100>,
    /// For how many of the best tools the schema is included.
    #[param(inline)]
    schema_limit: Number<0, 5, 3>,
    /// The user the tools would run for; the key's default user if absent.
    #[param(inline)]
    user_id: ForUser,
}

/// Search tools
///
/// Finds tools by keywords or by a sentence that says what is to be done, best match first. The
/// first `schema_limit` tools carry their input schema, as long as all of them together stay
/// within 24,000 bytes; the others say where to read it. A search answers the nearest tools, up to ten
/// where fewer match well; `confidence` says whether they fit. A query of several steps is answered
/// with tools for each of them, which take turns and say in `step` which one they serve.
#[utoipa::path(
    get,
    path = "/v1/tools/search",
    operation_id = "search_tools",
    params(ToolSearchQuery),
    responses((status = 200, description = "The nearest tools, best first.", body = inline(Success<FoundTools>), example = json!({
        "query": "open an issue",
        "service": "github",
        "total": 1,
        "tools": [{
            "name": "github_create_issue",
            "service": "github",
            "description": "Opens an issue in a repository.",
            "version": "1.4.0",
            "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true},
            "score": 12.5,
            "confidence": "high",
            "match_reasons": ["name: issue", "keyword: ticket"],
            "connection": "connected",
            "inputSchema": {"type": "object", "required": ["owner", "repo", "title"], "properties": {"owner": {"type": "string"}, "repo": {"type": "string"}, "title": {"type": "string"}}}
        }],
        "confidence": "high",
        "ranking": "hybrid"
    }))),
)]
async fn search(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ToolSearchQuery>,
) -> Result<Success<FoundTools>, ApiFailure> {
    let request = SearchTools {
        query: query.query.0.unwrap_or_default(),
        service: query.service.0,
        limit: query.limit.0,
        schema_limit: query.schema_limit.0,
        schema_address: |tool_name| format!("/v1/tools/{tool_name}/schema"),
        user_id: query.user_id.0,
    };
    if request.query.is_empty() {
        return Err(ApiFailure::field("query", "must say what to search for"));
    }
    let found = gateway.search_tools(&caller, request).await?;
    Ok(Success::new(&caller, found))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ToolsQuery {
    /// Only tools of this service, by its lowercase name.
    #[param(inline, example = "github")]
    service: Id,
    /// How many tools a page holds.
    #[param(inline)]
    limit: Number<1, 500, 100>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
    /// The user the tools would run for; the key's default user if absent.
    #[param(inline)]
    user_id: ForUser,
}

/// List tools
///
/// All tools that the user may use, ordered by name. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/tools/list",
    operation_id = "list_tools",
    params(ToolsQuery),
    responses((status = 200, description = "One page of tools.", body = inline(Success<ToolPage>), example = json!({
        "tools": [{
            "name": "github_create_issue",
            "service": "github",
            "description": "Opens an issue in a repository.",
            "version": "1.4.0",
            "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true}
        }],
        "next_cursor": null
    }))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ToolsQuery>,
) -> Result<Success<ToolPage>, ApiFailure> {
    let request = ListTools {
        service: query.service.0,
        limit: query.limit.0,
        cursor: query.cursor.0,
        user_id: query.user_id.0,
    };
    let page = gateway.list_tools(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ToolSchemaQuery {
    /// The user the tool would run for; the key's default user if absent.
    #[param(inline)]
    user_id: ForUser,
}

/// Describe a tool
///
/// The tool's schemas and what it needs to be connected to. The entity tag changes with the
/// plugin's file alone: send it back in `If-None-Match` to learn cheaply that nothing changed.
#[utoipa::path(
    get,
    path = "/v1/tools/{tool_name}/schema",
    operation_id = "get_tool_schema",
    params(
        ("tool_name" = String, Path, description = "The exact name, as search and list return it.", example = "github_create_issue"),
        ToolSchemaQuery,
        ("If-None-Match" = Option<String>, Header, description = "Entity tags the caller already holds."),
    ),
    responses(
        (status = 200, description = "The tool.", body = inline(Success<ToolSchema>), headers(("ETag" = String, description = "Strong entity tag.")), example = json!({
            "name": "github_create_issue",
            "service": "github",
            "description": "Opens an issue in a repository.",
            "inputSchema": {"type": "object", "required": ["owner", "repo", "title"], "properties": {"owner": {"type": "string"}, "repo": {"type": "string"}, "title": {"type": "string"}}},
            "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true},
            "auth": {"type": "oauth2", "scopes": ["repo"]},
            "examples": [{"owner": "octocat", "repo": "hello-world", "title": "The build fails on Windows"}]
        })),
        (status = 304, description = "One of the entity tags sent is current.", headers(("ETag" = String, description = "Strong entity tag."))),
    ),
)]
async fn schema(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([tool_name]): Segments<1>,
    QueryString(query): QueryString<ToolSchemaQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiFailure> {
    let schema = gateway.tool_schema(&caller, &tool_name, query.user_id.0);
    let schema = schema.await?;
    let etag = format!("\"{}\"", schema.etag);
    let mut answer = if entity_tags::is_current(&headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Success::new(&caller, schema).into_response()
    };
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        let fresh = HeaderValue::from_static("private, no-cache");
        answer.headers_mut().insert(header::ETAG, etag);
        answer.headers_mut().insert(header::CACHE_CONTROL, fresh);
    }
    Ok(answer)
}

/// The body of an execute request.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ExecuteBody {
    /// The tool's arguments: an object, or the same object as JSON text. Absent means none.
    #[serde(default)]
    #[schema(schema_with = arguments_schema)]
    arguments: ArgumentsField,
    /// Continues an earlier execution's session; a new one is made if absent. A session is one
    /// user's: for another one it is `session_not_found`.
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        example = "tool_9f86d081884c7d659a2feaa0c55ad015"
    )]
    session_id: Option<String>,
    /// The user to run for; the key's default user if absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")]
    user_id: Option<UserId>,
    /// Which of the user's connections to use; the newest active one if absent.
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
    )]
    connection_id: Option<String>,
    /// Runs the plugin for real but sends nothing, and answers the requests it would have sent.
    #[serde(default)]
    dry_run: bool,
    /// A larger result is kept for an hour; the answer then holds its first bytes as text and
    /// `truncated` says how to read on.
    #[schema(minimum = 256)]
    max_result_bytes: Option<usize>,
    /// The same in characters; the smaller bound counts where both are given.
    #[schema(minimum = 256)]
    max_result_chars: Option<usize>,
    /// JSON Pointers of the parts of the result to answer, as an object by pointer; all if absent.
    #[serde(default)]
    #[schema(max_items = 100)]
    fields: Vec<String>,
    /// With an `Idempotency-Key`: runs the tool again although the outcome of the first request is
    /// unknown.
    #[serde(default)]
    #[allow(dead_code, reason = "read with the key")]
    retry_unknown: bool,
}

/// Arguments in either of the two forms that a body may carry, as they are written.
#[derive(Debug)]
struct ArgumentsField(String);

impl Default for ArgumentsField {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

impl<'de> Deserialize<'de> for ArgumentsField {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Box::<RawValue>::deserialize(from)?;
        match written.get().as_bytes().first() {
            Some(b'{') => Ok(Self(written.get().to_owned())),
            Some(b'"') => {
                let text = serde_json::from_str(written.get());
                text.map(Self).map_err(de::Error::custom)
            }
            _ => Err(de::Error::custom(
                "must be an object or an object as JSON text",
            )),
        }
    }
}

fn arguments_schema() -> Schema {
    let object = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("What the tool's input schema asks for."));
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("The same object as JSON text."));
    OneOfBuilder::new()
        .item(object)
        .item(text)
        .description(Some("The tool's arguments; none if absent."))
        .into()
}

/// Execute a tool
///
/// Runs the tool with the user's own connection. Whatever the provider says, the status is 200
/// and `data.status` tells the outcome of the call: `success`, `error` with a `reason`,
/// `auth_required` or `auth_expired` with a link for the user to open, `approval_required` while a
/// person has to allow the call (the same call then runs once), or `dry_run` with the
/// requests that were held back. With `Accept: text/event-stream` progress and partial results are sent
/// while the tool runs: events `progress` (`done`, `total` or null, `message`) and `partial`
/// (a part of the result), and at last `reply`, which holds the same envelope, or `error`. While there
/// is no other event, the last `progress` is sent again every ten seconds. Closing
/// that stream cancels the call, unless the request has an `Idempotency-Key`: then the call goes on
/// and the same request answers its outcome. Where the gateway failed in the middle of a call with that key, the
/// same request is refused as `outcome_unknown`, unless the tool's `annotations.idempotentHint` is true: such a
/// tool runs again, and its provider may see the call twice.
#[utoipa::path(
    post,
    path = "/v1/tools/{tool_name}/execute",
    operation_id = "execute_tool",
    params(("tool_name" = String, Path, description = "The exact name, as search and list return it.", example = "github_create_issue")),
    request_body(content = ExecuteBody, description = "Arguments and, where wanted, session, user and connection.", example = json!({
        "arguments": {"owner": "ada", "repo": "engine", "title": "The mill jams on card 12"},
        "user_id": "ada@example.com"
    })),
    responses((status = 200, description = "The outcome of the call.", body = inline(Success<Execution>), examples(
        ("success" = (summary = "The tool ran", value = json!({"execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "tool_name": "github_create_issue", "service": "github", "session_id": "tool_9f86d081884c7d659a2feaa0c55ad015", "duration_ms": 212, "status": "success", "result": {"number": 7}}))),
        ("error" = (summary = "The provider refused", value = json!({"execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "tool_name": "github_create_issue", "service": "github", "session_id": "tool_9f86d081884c7d659a2feaa0c55ad015", "duration_ms": 180, "status": "error", "reason": "provider_error", "error": {"code": "not_found", "message": "The repository does not exist or is private.", "can_retry": false, "suggested_fix": "Check owner and repo.", "provider_status": 404}}))),
        ("auth_required" = (summary = "The user has to connect an account", value = json!({"execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "tool_name": "github_create_issue", "service": "github", "session_id": "tool_9f86d081884c7d659a2feaa0c55ad015", "duration_ms": 1, "status": "auth_required", "reason": "auth_required", "auth_type": "oauth2", "message": "Connect a GitHub account to use this tool.", "connect_url": "https://gateway.example.com/connect/abc"}))),
        ("approval_required" = (summary = "A person has to allow the call", value = json!({"execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "tool_name": "github_create_issue", "service": "github", "session_id": "tool_9f86d081884c7d659a2feaa0c55ad015", "duration_ms": 2, "status": "approval_required", "reason": "approval_required", "message": "A person has to approve this call of github_create_issue for the user ada@example.com first.", "approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "approval_url": "https://gateway.example.com/approvals/apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "expires_at": "2026-11-21T09:30:00.125Z", "requests": []}))),
        ("dry_run" = (summary = "Nothing was sent", value = json!({"execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "tool_name": "github_create_issue", "service": "github", "session_id": "tool_9f86d081884c7d659a2feaa0c55ad015", "duration_ms": 2, "status": "dry_run", "requests": [{"method": "POST", "url": "https://api.github.com/repos/ada/engine/issues", "headers": [["authorization", "[slot user]"]], "body": "{\"title\":\"The mill jams on card 12\"}"}]}))),
    ))),
)]
async fn execute(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([tool_name]): Segments<1>,
    _: NoQuery,
    headers: HeaderMap,
    KeyedBody { body, attempt }: KeyedBody<ExecuteBody>,
) -> Result<Response, ApiFailure> {
    for (field, value) in [
        ("session_id", &body.session_id),
        ("connection_id", &body.connection_id),
    ] {
        if let Some(value) = value {
            ids::check(field, value)?;
        }
    }
    let mut request = Execute {
        tool_name,
        arguments: Arguments::Text(body.arguments.0),
        session_id: body.session_id,
        user_id: body.user_id,
        connection_id: body.connection_id,
        dry_run: body.dry_run,
        budget: Budget {
            bytes_max: body.max_result_bytes,
            chars_max: body.max_result_chars,
            fields: body.fields,
        },
        claim: None,
        parent_execution_id: None,
        listener: CallListener::default(),
    };
    if !stream::wanted(&headers) {
        let execution = gateway.execute_once(&caller, attempt, request).await?;
        return Ok(Success::new(&caller, execution).into_response());
    }
    let (events, heard) = mpsc::unbounded_channel();
    request.listener.events = Some(Arc::new(move |event| {
        // The client has left.
        let _ = events.send(event);
    }));
    // A requester with a key comes back for the outcome.
    let leaving = attempt.is_none().then(|| {
        let token = CancellationToken::new();
        request.listener.cancelled = Some(token.clone());
        token.drop_guard()
    });
    let revoked = gateway.clone().revoked(caller.clone());
    let owned = caller.clone();
    let work = async move { gateway.execute_once(&owned, attempt, request).await };
    let work = tokio::spawn(trace::carry(work));
    stream::answer(caller, StatusCode::OK, heard, work, leaving, revoked).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_http_kit::body;

    #[test]
    fn arguments_come_as_an_object_or_as_text() {
        let read = |text: &str| body::decode::<ExecuteBody>(text.as_bytes());
        let arguments = |text| read(text).unwrap().arguments.0;
        for (body, expected) in [
            ("{}", "{}"),
            (r#"{"arguments":{"a":[1]}}"#, r#"{"a":[1]}"#),
            (r#"{"arguments":"{\"a\":1}"}"#, r#"{"a":1}"#),
            (
                r#"{"arguments":{"id":36893488147419103232}}"#,
                r#"{"id":36893488147419103232}"#,
            ),
        ] {
            assert_eq!(arguments(body), expected);
        }
        for other in ["null", "1", "[]", "true", " [{}]"] {
            let failure = read(&format!(r#"{{"arguments":{other}}}"#)).unwrap_err();
            let body = serde_json::to_value(failure.body("req_1")).unwrap();
            assert_eq!(body["error"]["code"], "invalid_request", "{other}");
            assert_eq!(body["error"]["details"]["field"], "arguments", "{other}");
        }
    }

    #[test]
    fn a_user_id_of_another_shape_is_refused_by_name() {
        for user in ["", "a b", "a\\u0000"] {
            let text = format!(r#"{{"user_id":"{user}"}}"#);
            let failure = body::decode::<ExecuteBody>(text.as_bytes()).unwrap_err();
            let body = serde_json::to_value(failure.body("req_1")).unwrap();
            assert_eq!(body["error"]["details"]["field"], "user_id", "{text}");
        }
    }
}
