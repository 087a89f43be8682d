//! `/internal/audit`: who changed what, when and from where.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Deserialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::audit::{EntryPage, LIST_LIMIT_MAX};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::{Id, Number, QueryString};
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/audit", admin, list);
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuditQuery {
    limit: Number<1, { LIST_LIMIT_MAX }, 50>,
    cursor: Id,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    QueryString(query): QueryString<AuditQuery>,
) -> Result<Success<EntryPage>, ApiFailure> {
    let page = gateway.audit_log(member.caller(), query.limit.0, query.cursor.0);
    let page = page.await?;
    Ok(Success::new(member.caller(), page))
}
