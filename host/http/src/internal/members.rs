//! `/internal/members`: who may sign in to the workspace.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_core::clock::rfc3339;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::members::{Invitation, MemberInfo};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    let one = "/internal/members/{member_id}";
    routes.add(Method::GET, "/internal/members", admin, list);
    routes.add(Method::POST, "/internal/members", admin, invite);
    routes.add(Method::PATCH, one, admin, change);
    routes.add(Method::DELETE, one, admin, remove);
    let reset_path = "/internal/members/{member_id}/reset";
    routes.add(Method::POST, reset_path, admin, reset);
    let invitation = "/internal/invitations/{invitation_id}";
    routes.add(Method::DELETE, invitation, admin, uninvite);
}

#[derive(Serialize)]
struct ShownMember {
    #[serde(flatten)]
    info: MemberInfo,
    /// Whether it is the signed-in person.
    you: bool,
}

#[derive(Serialize)]
struct MembersAnswer {
    members: Vec<ShownMember>,
    invitations: Vec<Invitation>,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<MembersAnswer>, ApiFailure> {
    let caller = member.caller();
    let list = gateway.identity().members(caller).await?;
    let shown = |info: MemberInfo| ShownMember {
        you: info.member_id == caller.key_id,
        info,
    };
    let list = MembersAnswer {
        members: list.members.into_iter().map(shown).collect(),
        invitations: list.invitations,
    };
    Ok(Success::new(caller, list))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InviteBody {
    email: String,
    role: Role,
}

async fn invite(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<InviteBody>,
) -> Result<Response, ApiFailure> {
    let caller = member.caller();
    let made = gateway
        .identity()
        .invite_member(caller, &body.email, body.role)
        .await?;
    let invitation = json!({
        "invitation_id": made.id,
        "email": body.email.trim().to_lowercase(),
        "role": body.role,
        "join_url": made.url.expose(),
        "expires_at": rfc3339(made.expires_at_ms),
    });
    Ok((StatusCode::CREATED, Success::new(caller, invitation)).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeMemberBody {
    role: Role,
}

async fn change(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([member_id]): Segments<1>,
    JsonBody(body): JsonBody<ChangeMemberBody>,
) -> Result<Success<ShownMember>, ApiFailure> {
    let caller = member.caller();
    let info = gateway
        .identity()
        .change_member(caller, &member_id, body.role)
        .await?;
    let you = info.member_id == caller.key_id;
    Ok(Success::new(caller, ShownMember { info, you }))
}

async fn remove(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([member_id]): Segments<1>,
) -> Result<Response, ApiFailure> {
    gateway
        .identity()
        .remove_member(member.caller(), &member_id)
        .await?;
    let gone = json!({ "member_id": member_id, "removed": true });
    Ok(Success::new(member.caller(), gone).into_response())
}

async fn reset(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([member_id]): Segments<1>,
) -> Result<Response, ApiFailure> {
    let made = gateway
        .identity()
        .reset_member(member.caller(), &member_id)
        .await?;
    let link = json!({
        "join_url": made.url.expose(),
        "expires_at": rfc3339(made.expires_at_ms),
    });
    Ok(Success::new(member.caller(), link).into_response())
}

async fn uninvite(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([invitation_id]): Segments<1>,
) -> Result<Response, ApiFailure> {
    gateway
        .identity()
        .delete_invitation(member.caller(), &invitation_id)
        .await?;
    let gone = json!({ "invitation_id": invitation_id, "deleted": true });
    Ok(Success::new(member.caller(), gone).into_response())
}
