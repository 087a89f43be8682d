//! `/internal/workspace`: the tenant that the member belongs to.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Deserialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::workspaces::{ChangeWorkspace, WorkspaceInfo};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_store::{DefaultPermission, Role};

pub(super) fn routes(routes: &mut Routes) {
    let path = "/internal/workspace";
    routes.add(Method::GET, path, Access::Least(Role::Member), read);
    routes.add(Method::PATCH, path, Access::Least(Role::Owner), change);
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<WorkspaceInfo>, ApiFailure> {
    let workspace = gateway.identity().workspace(member.caller()).await?;
    Ok(Success::new(member.caller(), workspace))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeWorkspaceBody {
    name: Option<String>,
    default_permission: Option<DefaultPermission>,
    keep_payloads: Option<bool>,
    review_skills: Option<bool>,
}

async fn change(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<ChangeWorkspaceBody>,
) -> Result<Success<WorkspaceInfo>, ApiFailure> {
    let change = ChangeWorkspace {
        name: body.name,
        default_permission: body.default_permission,
        keep_payloads: body.keep_payloads,
        review_skills: body.review_skills,
    };
    let workspace = gateway
        .identity()
        .change_workspace(member.caller(), change)
        .await?;
    Ok(Success::new(member.caller(), workspace))
}
