//! `/internal/users`: whoever tools have run for, or may.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Serialize;

use super::access::{Access, Member};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::identity::users::{LIST_LIMIT_MAX, UserInfo};
use toolgate_http_kit::envelope::{Failure, Success};
use toolgate_http_kit::query::Query;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/users", admin, list);
}

#[derive(Serialize)]
struct List {
    users: Vec<UserInfo>,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: Member,
    mut query: Query,
) -> Result<Success<List>, Failure> {
    let begins = query.id("query")?.unwrap_or_default();
    let limit = query.number("limit", 1..=LIST_LIMIT_MAX, 100)?;
    query.finish()?;
    let users = gateway.users(member.caller(), &begins, limit).await?;
    Ok(Success::new(member.caller(), List { users }))
}
