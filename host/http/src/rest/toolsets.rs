//! `/v1/toolsets`: named choices of tools that MCP clients are listed by themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, openapi};
use toolgate_gateway::toolsets::listing::ToolsetTools;
use toolgate_gateway::toolsets::read_skills::OverSkills;
use toolgate_gateway::toolsets::{
    CreateToolset, DeletedToolset, Toolset, ToolsetList, UpdateToolset,
};
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::NoQuery;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Toolsets",
        "Named choices of tools, services and Skills, listed to MCP clients at addresses of their own.",
    )
    .routes(routes!(create, list))
    .routes(routes!(read, replace, update, delete))
    .routes(routes!(tools))
}

/// A new toolset. It names at least one tool, service or Skill, and at most 128 together.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct CreateToolsetBody {
    /// The last segment of its address.
    #[schema(min_length = 1, max_length = 64, pattern = "^[a-z0-9][a-z0-9_-]*$")]
    name: String,
    /// What clients show; the name if absent or empty.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    title: Option<String>,
    /// What it is for; clients show it to the model.
    #[schema(max_length = 2000, pattern = r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$")]
    description: Option<String>,
    /// Names of tools.
    #[serde(default)]
    #[schema(max_items = 128)]
    tools: Vec<String>,
    /// Names of services: all their tools, also those that a later version adds.
    #[serde(default)]
    #[schema(max_items = 128)]
    services: Vec<String>,
    /// Ids of Skills, which are listed as tools that answer their instructions.
    #[serde(default)]
    #[schema(max_items = 128)]
    skills: Vec<String>,
    /// Whether the tools of the main address are listed too; then the client can also run tools
    /// outside of the toolset.
    #[serde(default)]
    generic_tools: bool,
    /// Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is stored.
    #[serde(default)]
    skill_versions: BTreeMap<String, i64>,
}

/// What to change; absent fields stay, others are replaced.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdateToolsetBody {
    /// Empty: the name.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    title: Option<String>,
    #[schema(max_length = 2000, pattern = r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$")]
    description: Option<String>,
    /// In place of all tools.
    #[schema(max_items = 128)]
    tools: Option<Vec<String>>,
    /// In place of all services.
    #[schema(max_items = 128)]
    services: Option<Vec<String>>,
    /// In place of all Skills.
    #[schema(max_items = 128)]
    skills: Option<Vec<String>>,
    generic_tools: Option<bool>,
    /// Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is changed.
    #[serde(default)]
    skill_versions: BTreeMap<String, i64>,
}

/// A whole toolset. What is absent is empty.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplaceToolsetBody {
    /// Empty: the name.
    #[serde(default)]
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    title: String,
    #[serde(default)]
    #[schema(max_length = 2000, pattern = r"^[^\x00-\x09\x0b-\x1f\x7f-\x9f]*$")]
    description: String,
    #[serde(default)]
    #[schema(max_items = 128)]
    tools: Vec<String>,
    #[serde(default)]
    #[schema(max_items = 128)]
    services: Vec<String>,
    #[serde(default)]
    #[schema(max_items = 128)]
    skills: Vec<String>,
    #[serde(default)]
    generic_tools: bool,
    /// Versions of Skills that were read, by id: a Skill at another one is a `conflict`, and nothing is changed.
    #[serde(default)]
    skill_versions: BTreeMap<String, i64>,
}

/// List toolsets
///
/// Toolsets of the workspace, by name.
#[utoipa::path(
    get,
    path = "/v1/toolsets",
    operation_id = "list_toolsets",
    responses((status = 200, description = "The toolsets.", body = inline(Success<ToolsetList>), example = json!({"toolsets": [{
        "name": "support",
        "title": "Support",
        "description": "What the support team needs.",
        "tools": ["github_create_issue", "slack_post_message"],
        "services": [],
        "skills": ["5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"],
        "generic_tools": false,
        "mcp_url": "https://tools.example.com/mcp/t/support",
        "listed": 3,
        "left_out": 0,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }]}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<ToolsetList>, ApiFailure> {
    let list = gateway.list_toolsets(&caller).await?;
    Ok(Success::new(&caller, list))
}

/// Create a toolset
///
/// A toolset grants nothing: each user is listed what their permissions allow. An unknown tool is
/// refused with the nearest names. Needs the scope `admin`.
#[utoipa::path(
    post,
    path = "/v1/toolsets",
    operation_id = "create_toolset",
    request_body(content = CreateToolsetBody, description = "Its name and what it names.", example = json!({
        "name": "support",
        "title": "Support",
        "description": "What the support team needs.",
        "tools": ["github_create_issue", "slack_post_message"],
        "skills": ["5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"]
    })),
    responses((status = 201, description = "The toolset.", body = inline(Success<Toolset>), example = json!({
        "name": "support",
        "title": "Support",
        "description": "What the support team needs.",
        "tools": ["github_create_issue", "slack_post_message"],
        "services": [],
        "skills": ["5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10"],
        "generic_tools": false,
        "mcp_url": "https://tools.example.com/mcp/t/support",
        "listed": 3,
        "left_out": 0,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn create(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<CreateToolsetBody>,
) -> Result<Response, ApiFailure> {
    let request = CreateToolset {
        name: body.name,
        title: body.title,
        description: body.description,
        tools: body.tools,
        services: body.services,
        skills: body.skills,
        generic_tools: body.generic_tools,
    };
    let request = OverSkills {
        request,
        versions: body.skill_versions,
    };
    let create = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.create_toolset(&caller, request).await
    };
    let toolset = gateway.once(&caller, Scope::Admin, attempt, create).await?;
    Ok((StatusCode::CREATED, Success::new(&caller, toolset)).into_response())
}

/// Read a toolset
///
/// What it names, and how many tools that comes to now for a user who may use all of them.
#[utoipa::path(
    get,
    path = "/v1/toolsets/{toolset_name}",
    operation_id = "get_toolset",
    params(("toolset_name" = String, Path, description = "Its name.", example = "support")),
    responses((status = 200, description = "The toolset.", body = inline(Success<Toolset>), example = json!({
        "name": "support",
        "title": "Support",
        "description": "",
        "tools": ["github_create_issue", "github_old_tool"],
        "services": [],
        "skills": [],
        "generic_tools": false,
        "mcp_url": "https://tools.example.com/mcp/t/support",
        "listed": 1,
        "left_out": 0,
        "missing": ["github_old_tool"],
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([name]): Segments<1>,
    _: NoQuery,
) -> Result<Success<Toolset>, ApiFailure> {
    let toolset = gateway.toolset(&caller, &name).await?;
    Ok(Success::new(&caller, toolset))
}

/// Change a toolset
///
/// Fields that are given replace the stored ones. Connected clients are told that their list has changed.
/// Needs the scope `admin`.
#[utoipa::path(
    patch,
    path = "/v1/toolsets/{toolset_name}",
    operation_id = "update_toolset",
    params(("toolset_name" = String, Path, description = "Its name.", example = "support")),
    request_body(content = UpdateToolsetBody, description = "What to change.", example = json!({"services": ["github"], "tools": []})),
    responses((status = 200, description = "The toolset as it is now.", body = inline(Success<Toolset>), example = json!({
        "name": "support",
        "title": "Support",
        "description": "",
        "tools": [],
        "services": ["github"],
        "skills": [],
        "generic_tools": false,
        "mcp_url": "https://tools.example.com/mcp/t/support",
        "listed": 58,
        "left_out": 0,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T10:02:11.000Z"
    }))),
)]
async fn update(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([name]): Segments<1>,
    _: NoQuery,
    JsonBody(body): JsonBody<UpdateToolsetBody>,
) -> Result<Success<Toolset>, ApiFailure> {
    let request = UpdateToolset {
        title: body.title,
        description: body.description,
        tools: body.tools,
        services: body.services,
        skills: body.skills,
        generic_tools: body.generic_tools,
    };
    let request = OverSkills {
        request,
        versions: body.skill_versions,
    };
    let toolset = gateway.update_toolset(&caller, &name, request).await?;
    Ok(Success::new(&caller, toolset))
}

/// Replace a toolset
///
/// The toolset is what the body says; what is absent is empty. Connected clients are told that their list has changed.
/// Needs the scope `admin`.
#[utoipa::path(
    put,
    path = "/v1/toolsets/{toolset_name}",
    operation_id = "replace_toolset",
    params(("toolset_name" = String, Path, description = "Its name.", example = "support")),
    request_body(content = ReplaceToolsetBody, description = "All that it names.", example = json!({"title": "Support", "services": ["github"]})),
    responses((status = 200, description = "The toolset as it is now.", body = inline(Success<Toolset>), example = json!({
        "name": "support",
        "title": "Support",
        "description": "",
        "tools": [],
        "services": ["github"],
        "skills": [],
        "generic_tools": false,
        "mcp_url": "https://tools.example.com/mcp/t/support",
        "listed": 58,
        "left_out": 0,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T10:02:11.000Z"
    }))),
)]
async fn replace(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([name]): Segments<1>,
    _: NoQuery,
    JsonBody(body): JsonBody<ReplaceToolsetBody>,
) -> Result<Success<Toolset>, ApiFailure> {
    let request = UpdateToolset {
        title: Some(body.title),
        description: Some(body.description),
        tools: Some(body.tools),
        services: Some(body.services),
        skills: Some(body.skills),
        generic_tools: Some(body.generic_tools),
    };
    let request = OverSkills {
        request,
        versions: body.skill_versions,
    };
    let toolset = gateway.update_toolset(&caller, &name, request).await?;
    Ok(Success::new(&caller, toolset))
}

/// Delete a toolset
///
/// Its address answers 404 from the next request on. Needs the scope `admin`.
#[utoipa::path(
    delete,
    path = "/v1/toolsets/{toolset_name}",
    operation_id = "delete_toolset",
    params(("toolset_name" = String, Path, description = "Its name.", example = "support")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedToolset>), example = json!({"name": "support", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([name]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedToolset>, ApiFailure> {
    let deleted = gateway.delete_toolset(&caller, &name).await?;
    Ok(Success::new(&caller, deleted))
}

/// List a toolset's tools
///
/// What an MCP client with this key is listed at the toolset's address: Skills, then tools, each by
/// name, without those that the key's user may not use.
#[utoipa::path(
    get,
    path = "/v1/toolsets/{toolset_name}/tools",
    operation_id = "list_toolset_tools",
    params(("toolset_name" = String, Path, description = "Its name.", example = "support")),
    responses((status = 200, description = "The tools.", body = inline(Success<ToolsetTools>), example = json!({
        "name": "support",
        "title": "Support",
        "description": "",
        "generic_tools": false,
        "tools": [{
            "name": "github_create_issue",
            "title": "GitHub: create issue",
            "description": "Creates an issue in a repository.",
            "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
            "annotations": {"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true},
            "kind": "tool",
            "service": "github"
        }],
        "left_out": 0
    }))),
)]
async fn tools(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([name]): Segments<1>,
    _: NoQuery,
) -> Result<Success<ToolsetTools>, ApiFailure> {
    let tools = gateway.toolset_tools(&caller, &name).await?;
    Ok(Success::new(&caller, tools))
}
