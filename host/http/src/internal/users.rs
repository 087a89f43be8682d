//! `/internal/users`: the users that tools have run for, or may.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::{Deserialize, Serialize};

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::users::{LIST_LIMIT_MAX, UserInfo};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::{Id, Number, QueryString};
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/users", admin, list);
}

#[derive(Serialize)]
struct UsersAnswer {
    users: Vec<UserInfo>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsersQuery {
    /// What their ids begin with.
    query: Id,
    limit: Number<1, { LIST_LIMIT_MAX }, 100>,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    QueryString(query): QueryString<UsersQuery>,
) -> Result<Success<UsersAnswer>, ApiFailure> {
    let begins = query.query.0.unwrap_or_default();
    let users = gateway
        .identity()
        .users(member.caller(), &begins, query.limit.0);
    let users = users.await?;
    Ok(Success::new(member.caller(), UsersAnswer { users }))
}
