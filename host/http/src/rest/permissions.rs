//! `/v1/permissions`: who may use what, by rules that allow, deny or ask.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{RestState, openapi};
use toolgate_core::ids::UserId;
use toolgate_gateway::Gateway;
use toolgate_gateway::access::permission_default::DefaultPermissionBody;
use toolgate_gateway::access::permission_rules::{
    Change, ChangePermissions, PermissionExplanation, PermissionServices, PermissionSummary,
    Setting, UserPermissions,
};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{Id, NoQuery, QueryString};
use toolgate_store::Approvers;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Permissions",
        "Which tools a user may use: a rule for a tool beats one for its service, which beats the workspace's default.",
    )
    .routes(routes!(services))
    .routes(routes!(read_default, change_default))
    .routes(routes!(read))
    .routes(routes!(change_tool))
    .routes(routes!(change_service))
    .routes(routes!(summary))
    .routes(routes!(explain))
    .routes(routes!(batch))
}

/// List services for permissions
///
/// The services that rules can be about, by name.
#[utoipa::path(
    get,
    path = "/v1/permissions/services",
    operation_id = "list_permission_services",
    responses((status = 200, description = "The services.", body = inline(Success<PermissionServices>), example = json!({"services": [{"service": "github", "display_name": "GitHub", "tools": 38, "auth_type": "oauth2"}]}))),
)]
async fn services(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<PermissionServices>, ApiFailure> {
    let services = gateway.permission_services(&caller).await?;
    Ok(Success::new(&caller, services))
}

/// Read the default permission
///
/// What holds for every user of the workspace where no rule says otherwise.
#[utoipa::path(
    get,
    path = "/v1/permissions/default",
    operation_id = "get_default_permission",
    responses((status = 200, description = "The default.", body = inline(Success<DefaultPermissionBody>), example = json!({"default": "allow"}))),
)]
async fn read_default(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<DefaultPermissionBody>, ApiFailure> {
    let default = gateway.default_permission(&caller).await?;
    Ok(Success::new(&caller, default))
}

/// Change the default permission
///
/// `allow`, or `by_effect`: tools that only read are allowed, all others ask. Holds from the next
/// request on.
#[utoipa::path(
    patch,
    path = "/v1/permissions/default",
    operation_id = "change_default_permission",
    request_body(content = DefaultPermissionBody, description = "The default.", example = json!({"default": "by_effect"})),
    responses((status = 200, description = "The default as it is now.", body = inline(Success<DefaultPermissionBody>), example = json!({"default": "by_effect"}))),
)]
async fn change_default(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    JsonBody(body): JsonBody<DefaultPermissionBody>,
) -> Result<Success<DefaultPermissionBody>, ApiFailure> {
    let changed = gateway.change_default_permission(&caller, body);
    Ok(Success::new(&caller, changed.await?))
}

/// Read a user's permissions
///
/// The user's own rules that hold now, and what holds without one.
#[utoipa::path(
    get,
    path = "/v1/permissions/users/{user_id}",
    operation_id = "get_user_permissions",
    params(("user_id" = String, Path, description = "The user.", min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")),
    responses((status = 200, description = "The rules.", body = inline(Success<UserPermissions>), example = json!({"user_id": "ada@example.com", "default": "allow", "services": {"slack": "deny"}, "tools": {"github_create_issue": "ask"}}))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([user_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<UserPermissions>, ApiFailure> {
    let permissions = gateway.user_permissions(&caller, &user(&user_id)?).await?;
    Ok(Success::new(&caller, permissions))
}

/// One rule.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct RuleBody {
    permission: Setting,
    /// With `ask`: who decides about a call. `admins` (the default): owners, admins and keys with the
    /// scope `approvals`; `members`: also the member whose user the call is for; `self`: also the
    /// member who asked for it. A key never decides about its own calls.
    approvers: Option<Approvers>,
    /// The rule counts until this time, in UTC; afterwards it is as if it were not there.
    #[schema(
        example = "2027-01-01T00:00:00Z",
        pattern = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$"
    )]
    expires_at: Option<String>,
    /// The rule counts for this many calls; afterwards it is as if it were not there.
    #[schema(minimum = 1, maximum = 1000000000)]
    max_calls: Option<i64>,
}

impl From<RuleBody> for Change {
    fn from(body: RuleBody) -> Self {
        Self {
            setting: body.permission,
            approvers: body.approvers,
            expires_at: body.expires_at,
            max_calls: body.max_calls,
        }
    }
}

/// Change a tool's permission
///
/// Sets the user's rule for one tool; `inherit` removes it. Answers the user's rules.
#[utoipa::path(
    patch,
    path = "/v1/permissions/users/{user_id}/tools/{tool_name}",
    operation_id = "change_tool_permission",
    params(
        ("user_id" = String, Path, description = "The user.", min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com"),
        ("tool_name" = String, Path, description = "Exact name of the tool.", example = "github_create_issue"),
    ),
    request_body(content = RuleBody, description = "The rule.", example = json!({"permission": "deny"})),
    responses((status = 200, description = "The user's rules.", body = inline(Success<UserPermissions>), example = json!({"user_id": "ada@example.com", "default": "allow", "services": {}, "tools": {"github_create_issue": "deny"}}))),
)]
async fn change_tool(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([user_id, tool_name]): Segments<2>,
    _: NoQuery,
    JsonBody(body): JsonBody<RuleBody>,
) -> Result<Success<UserPermissions>, ApiFailure> {
    let request = ChangePermissions {
        tools: BTreeMap::from([(tool_name, body.into())]),
        ..ChangePermissions::default()
    };
    let user = user(&user_id)?;
    let changed = gateway.change_permissions(&caller, &user, request);
    Ok(Success::new(&caller, changed.await?))
}

/// Change a service's permission
///
/// Sets the user's rule for all tools of a service that have no rule of their own; `inherit`
/// removes it. Answers the user's rules.
#[utoipa::path(
    patch,
    path = "/v1/permissions/users/{user_id}/services/{service_name}",
    operation_id = "change_service_permission",
    params(
        ("user_id" = String, Path, description = "The user.", min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com"),
        ("service_name" = String, Path, description = "Lowercase name of the service.", example = "github"),
    ),
    request_body(content = RuleBody, description = "The rule.", example = json!({"permission": "ask", "approvers": "members", "expires_at": "2027-01-01T00:00:00Z"})),
    responses((status = 200, description = "The user's rules.", body = inline(Success<UserPermissions>), example = json!({"user_id": "ada@example.com", "default": "allow", "services": {"github": "ask"}, "tools": {}, "approvers": {"services": {"github": "members"}}, "limited": [{"service": "github", "permission": "ask", "expires_at": "2027-01-01T00:00:00.000Z"}]}))),
)]
async fn change_service(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([user_id, service_name]): Segments<2>,
    _: NoQuery,
    JsonBody(body): JsonBody<RuleBody>,
) -> Result<Success<UserPermissions>, ApiFailure> {
    let request = ChangePermissions {
        services: BTreeMap::from([(service_name, body.into())]),
        ..ChangePermissions::default()
    };
    let user = user(&user_id)?;
    let changed = gateway.change_permissions(&caller, &user, request);
    Ok(Success::new(&caller, changed.await?))
}

/// Summarise a user's permissions
///
/// For how many tools of each service the user is allowed, denied or asked.
#[utoipa::path(
    get,
    path = "/v1/permissions/users/{user_id}/summary",
    operation_id = "summarise_user_permissions",
    params(("user_id" = String, Path, description = "The user.", min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")),
    responses((status = 200, description = "The counts.", body = inline(Success<PermissionSummary>), example = json!({"user_id": "ada@example.com", "services": {"github": {"allow": 37, "deny": 1, "ask": 0}}, "total": {"allow": 37, "deny": 1, "ask": 0}}))),
)]
async fn summary(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([user_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<PermissionSummary>, ApiFailure> {
    let user = user(&user_id)?;
    let summary = gateway.permission_summary(&caller, &user);
    Ok(Success::new(&caller, summary.await?))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ExplainQuery {
    /// Exact name of the tool.
    #[param(inline, required = true, example = "github_create_issue")]
    tool_name: Id<true>,
}

/// Explain a permission
///
/// What holds for one tool, and which rule or default made it so.
#[utoipa::path(
    get,
    path = "/v1/permissions/users/{user_id}/explain",
    operation_id = "explain_permission",
    params(
        ("user_id" = String, Path, description = "The user.", min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com"),
        ExplainQuery,
    ),
    responses((status = 200, description = "The decision.", body = inline(Success<PermissionExplanation>), example = json!({"user_id": "ada@example.com", "tool_name": "github_create_issue", "service": "github", "effect": "write", "permission": "ask", "decided_by": "service_rule", "approvers": "admins"}))),
)]
async fn explain(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([user_id]): Segments<1>,
    QueryString(query): QueryString<ExplainQuery>,
) -> Result<Success<PermissionExplanation>, ApiFailure> {
    let missing = || ApiFailure::field("tool_name", "must name the tool to explain");
    let tool_name = query.tool_name.0.ok_or_else(missing)?;
    let user = user(&user_id)?;
    let told = gateway.explain_permission(&caller, &user, &tool_name);
    Ok(Success::new(&caller, told.await?))
}

/// Rules of services and tools.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct BatchBody {
    /// By name of the service.
    #[serde(default)]
    services: BTreeMap<String, Setting>,
    /// By name of the tool.
    #[serde(default)]
    tools: BTreeMap<String, Setting>,
    /// Who decides, for all rules of the batch that are `ask`; `admins` if absent.
    approvers: Option<Approvers>,
}

/// Change permissions in a batch
///
/// Sets up to 1,000 of the user's rules at once, all or none; `inherit` removes one. Answers the
/// user's rules.
#[utoipa::path(
    patch,
    path = "/v1/permissions/users/{user_id}/batch",
    operation_id = "change_permissions",
    params(("user_id" = String, Path, description = "The user.", min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")),
    request_body(content = BatchBody, description = "The rules.", example = json!({"services": {"slack": "deny"}, "tools": {"github_create_issue": "ask"}, "approvers": "members"})),
    responses((status = 200, description = "The user's rules.", body = inline(Success<UserPermissions>), example = json!({"user_id": "ada@example.com", "default": "allow", "services": {"slack": "deny"}, "tools": {"github_create_issue": "ask"}, "approvers": {"tools": {"github_create_issue": "members"}}}))),
)]
async fn batch(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([user_id]): Segments<1>,
    _: NoQuery,
    JsonBody(body): JsonBody<BatchBody>,
) -> Result<Success<UserPermissions>, ApiFailure> {
    let asks = |rules: &BTreeMap<_, Setting>| rules.values().any(|rule| *rule == Setting::Ask);
    if body.approvers.is_some() && !asks(&body.services) && !asks(&body.tools) {
        let message = "is only valid with `ask`, and no rule of the batch is `ask`";
        return Err(ApiFailure::field("approvers", message));
    }
    let changes = |rules: BTreeMap<String, Setting>| {
        rules
            .into_iter()
            .map(|(name, setting)| {
                let approvers = body.approvers.filter(|_| setting == Setting::Ask);
                let change = Change {
                    approvers,
                    ..setting.into()
                };
                (name, change)
            })
            .collect()
    };
    let request = ChangePermissions {
        services: changes(body.services),
        tools: changes(body.tools),
    };
    let user = user(&user_id)?;
    let changed = gateway.change_permissions(&caller, &user, request);
    Ok(Success::new(&caller, changed.await?))
}

fn user(text: &str) -> Result<UserId, ApiFailure> {
    UserId::parse(text).map_err(|bad| ApiFailure::field("user_id", bad.to_string()))
}
