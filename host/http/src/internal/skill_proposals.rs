//! `/internal/skill-proposals`: changes of Skills that wait for an admin, because toolsets name these.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Deserialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::skills::review::{
    DecidedProposal, ProposalDecision, ProposalList, SkillProposal,
};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let admin = Access::Least(Role::Admin);
    let (all, one) = (
        "/internal/skill-proposals",
        "/internal/skill-proposals/{skill_id}",
    );
    routes.add(Method::GET, all, admin, list);
    routes.add(Method::GET, one, admin, read);
    routes.add(Method::POST, one, admin, decide);
}

async fn list(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
) -> Result<Success<ProposalList>, ApiFailure> {
    let list = gateway.skill_proposals(member.caller()).await?;
    Ok(Success::new(member.caller(), list))
}

async fn read(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([skill_id]): Segments<1>,
) -> Result<Success<SkillProposal>, ApiFailure> {
    let proposal = gateway.skill_proposal(member.caller(), &skill_id).await?;
    Ok(Success::new(member.caller(), proposal))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecideProposalBody {
    /// The one that was read.
    proposal_id: String,
    decision: ProposalDecision,
}

async fn decide(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([skill_id]): Segments<1>,
    JsonBody(body): JsonBody<DecideProposalBody>,
) -> Result<Success<DecidedProposal>, ApiFailure> {
    let (caller, id) = (member.caller(), &body.proposal_id);
    let decided = gateway.decide_skill_proposal(caller, &skill_id, id, body.decision);
    Ok(Success::new(caller, decided.await?))
}
