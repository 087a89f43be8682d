//! `svc_health_check`.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{Answer, Effect, Row, schema_of};
use crate::render;

pub(super) const ROW: Row = Row {
    name: "svc_health_check",
    title: "Check the gateway",
    description: "Says whether the gateway answers and accepts your API key. Takes no arguments. \
        Call it first when other calls fail.",
    effect: Effect::Reads,
    parameters: schema_of::<Parameters>,
    call: |call| {
        Box::pin(async move {
            let health = call.operations.health().await?;
            let text = render::health(&health);
            Ok(if health.status == "ok" {
                Answer::Text(text)
            } else {
                Answer::Failure(text)
            })
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Parameters {}
