//! `/internal/audit`: who changed what, when and from where.

use std::sync::Arc;

use axum::extract::State;
use http::Method;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::audit::{EntryPage, LIST_LIMIT_MAX};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::QueryParameters;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/audit", admin, list);
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    mut query: QueryParameters,
) -> Result<Success<EntryPage>, ApiFailure> {
    let limit = query.number("limit", 1..=LIST_LIMIT_MAX, 50)?;
    let cursor = query.id("cursor")?;
    query.finish()?;
    let page = gateway.audit_log(member.caller(), limit, cursor).await?;
    Ok(Success::new(member.caller(), page))
}
