//! `/internal/connections/questions`: whether another account is to be used from now on. Only people come here: a key may
//! be the agent's that had the account exchanged.

use std::sync::Arc;

use axum::extract::State;
use http::Method;
use serde::Deserialize;

use super::access::{Access, SignedInMember};
use super::routes::Routes;
use toolgate_gateway::Gateway;
use toolgate_gateway::connections::flow::{AccountAnswer, AccountQuestion, AnsweredQuestion};
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_store::Role;

pub(super) fn routes(routes: &mut Routes) {
    let member = Access::Least(Role::Member);
    let one = "/internal/connections/questions/{code}";
    routes.add(Method::GET, one, member, show);
    routes.add(Method::POST, one, member, answer);
}

async fn show(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([code]): Segments<1>,
) -> Result<Success<AccountQuestion>, ApiFailure> {
    let question = gateway.account_question(member.caller(), &code).await?;
    Ok(Success::new(member.caller(), question))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerBody {
    answer: AccountAnswer,
}

async fn answer(
    State(gateway): State<Arc<Gateway>>,
    member: SignedInMember,
    Segments([code]): Segments<1>,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<Success<AnsweredQuestion>, ApiFailure> {
    let answered = gateway.answer_account_question(member.caller(), &code, body.answer);
    Ok(Success::new(member.caller(), answered.await?))
}
