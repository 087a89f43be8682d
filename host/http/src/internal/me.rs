//! `/internal/me`: the signed-in person.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::{Deserialize, Serialize};

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::members::account::{Me, SignInInfo};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;
use toolgate_vault::Secret;

pub(super) fn routes(routes: &mut Routes) {
    let any = Access::Least(Role::Member);
    routes.add(Method::GET, "/internal/me", any, read);
    routes.add(Method::PATCH, "/internal/me", any, change);
    routes.add(Method::POST, "/internal/me/password", any, password);
    routes.add(Method::GET, "/internal/me/sign-ins", any, sign_ins);
    let one = "/internal/me/sign-ins/{sign_in_id}";
    routes.add(Method::DELETE, one, any, revoke);
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<Me>, ApiFailure> {
    let me = gateway
        .identity()
        .me(member.caller(), &member.0.sign_in_id)
        .await?;
    Ok(Success::new(member.caller(), me))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeMeBody {
    name: Option<String>,
}

async fn change(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<ChangeMeBody>,
) -> Result<Success<Me>, ApiFailure> {
    let changed =
        gateway
            .identity()
            .change_me(member.caller(), &member.0.sign_in_id, body.name.as_deref());
    Ok(Success::new(member.caller(), changed.await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PasswordBody {
    #[serde(default)]
    current_password: String,
    new_password: String,
}

#[derive(Serialize)]
struct Changed {
    changed: bool,
}

async fn password(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    JsonBody(body): JsonBody<PasswordBody>,
) -> Result<Success<Changed>, ApiFailure> {
    let (current, new) = (
        Secret::new(body.current_password),
        Secret::new(body.new_password),
    );
    let (caller, id) = (member.caller(), &member.0.sign_in_id);
    gateway
        .identity()
        .change_password(caller, id, current, new)
        .await?;
    Ok(Success::new(caller, Changed { changed: true }))
}

#[derive(Serialize)]
struct SignIns {
    sign_ins: Vec<SignInInfo>,
}

async fn sign_ins(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<SignIns>, ApiFailure> {
    let (caller, id) = (member.caller(), &member.0.sign_in_id);
    let sign_ins = gateway.identity().sign_ins(caller, id).await?;
    Ok(Success::new(caller, SignIns { sign_ins }))
}

#[derive(Serialize)]
struct RevokedSignIn {
    sign_in_id: String,
    revoked: bool,
}

async fn revoke(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([sign_in_id]): Segments<1>,
) -> Result<Success<RevokedSignIn>, ApiFailure> {
    gateway
        .identity()
        .revoke_sign_in(member.caller(), &sign_in_id)
        .await?;
    let revoked = RevokedSignIn {
        sign_in_id,
        revoked: true,
    };
    Ok(Success::new(member.caller(), revoked))
}
