//! `/internal/offered-triggers`: which triggers can be made.

use std::sync::Arc;

use axum::extract::State;
use http::Method;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::triggers::offered::OfferedTriggers;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    let path = "/internal/offered-triggers";
    routes.add(Method::GET, path, admin, offered);
}

async fn offered(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<OfferedTriggers>, ApiFailure> {
    let offered = gateway.offered_triggers(member.caller()).await?;
    Ok(Success::new(member.caller(), offered))
}
