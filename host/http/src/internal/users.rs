//! `/internal/users`: whoever tools have run for, or may.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Serialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::users::{LIST_LIMIT_MAX, UserInfo};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::QueryParameters;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/users", admin, list);
}

#[derive(Serialize)]
struct UsersAnswer {
    users: Vec<UserInfo>,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    mut query: QueryParameters,
) -> Result<Success<UsersAnswer>, ApiFailure> {
    let begins = query.id("query")?.unwrap_or_default();
    let limit = query.number("limit", 1..=LIST_LIMIT_MAX, 100)?;
    query.finish()?;
    let users = gateway.users(member.caller(), &begins, limit).await?;
    Ok(Success::new(member.caller(), UsersAnswer { users }))
}
