//! `/internal/audit`: who changed what, when and from where.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Deserialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::audit::{EntryPage, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, ListEntries};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::{Id, Moment, Number, QueryString};
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    routes.add(Method::GET, "/internal/audit", admin, list);
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuditQuery {
    /// Who acted, as an entry says it, for example `operator` or `member:<id>`.
    actor: Id,
    /// What was done, for example `keys.revoke`.
    action: Id,
    from: Moment,
    before: Moment,
    limit: Number<1, { LIST_LIMIT_MAX }, { LIST_LIMIT_DEFAULT }>,
    cursor: Id,
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    QueryString(query): QueryString<AuditQuery>,
) -> Result<Success<EntryPage>, ApiFailure> {
    let request = ListEntries {
        actor: query.actor.0,
        action: query.action.0,
        from_ms: query.from.0,
        before_ms: query.before.0,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.audit_log(member.caller(), request).await?;
    Ok(Success::new(member.caller(), page))
}
