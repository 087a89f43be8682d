//! `/internal/overview`: calls over time and what needs attention.

use std::sync::Arc;

use axum::extract::State;
use http::Method;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::dashboard::overview::{Overview, Period};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::QueryParameters;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let any = Access::Least(Role::Member);
    routes.add(Method::GET, "/internal/overview", any, read);
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    mut query: QueryParameters,
) -> Result<Success<Overview>, ApiFailure> {
    let period = query.word("period", &Period::ALL)?.unwrap_or(Period::Day);
    query.finish()?;
    let overview = gateway.overview(member.caller(), period).await?;
    Ok(Success::new(member.caller(), overview))
}
