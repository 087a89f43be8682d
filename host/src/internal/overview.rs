//! `/internal/overview`: calls over time and what needs attention.

use std::sync::Arc;

use axum::extract::State;
use http::Method;

use super::access::{Access, Member};
use super::routes::Routes;
use crate::gateway::Gateway;
use crate::gateway::overview::{Overview, Period};
use crate::rest::envelope::{Failure, Success};
use crate::rest::query::Query;
use crate::store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let any = Access::Least(Role::Member);
    routes.add(Method::GET, "/internal/overview", any, read);
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: Member,
    mut query: Query,
) -> Result<Success<Overview>, Failure> {
    let period = query.word("period", &Period::ALL)?.unwrap_or(Period::Day);
    query.finish()?;
    let overview = gateway.overview(member.caller(), period).await?;
    Ok(Success::new(member.caller(), overview))
}
