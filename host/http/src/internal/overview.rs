//! `/internal/overview`: calls over time and what needs attention. `/internal/first-steps`: what a new workspace
//! has still to do.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::{Deserialize, Deserializer};

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::dashboard::first_steps::FirstSteps;
use toolgate_gateway::dashboard::overview::{Overview, Period};
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::query::{QueryString, values};
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let any = Access::Least(Role::Member);
    routes.add(Method::GET, "/internal/overview", any, read);
    routes.add(Method::GET, "/internal/first-steps", any, first_steps);
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OverviewQuery {
    #[serde(deserialize_with = "period")]
    period: Option<Period>,
}

fn period<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Period>, D::Error> {
    values::word(input, &Period::ALL).map(Some)
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    QueryString(query): QueryString<OverviewQuery>,
) -> Result<Success<Overview>, ApiFailure> {
    let period = query.period.unwrap_or(Period::Day);
    let overview = gateway.overview(member.caller(), period).await?;
    Ok(Success::new(member.caller(), overview))
}

async fn first_steps(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<FirstSteps>, ApiFailure> {
    let steps = gateway.first_steps(member.caller()).await?;
    Ok(Success::new(member.caller(), steps))
}
