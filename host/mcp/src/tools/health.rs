//! `svc_health_check`.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolEntry, ToolHints, ToolOutcome, schema_of};
use crate::render;
use toolgate_gateway::HealthStatus;

pub(super) const ROW: ToolEntry = ToolEntry {
    name: "svc_health_check",
    title: "Check the gateway",
    description: "Says whether the gateway answers and accepts your API key. Takes no arguments. \
        Call it first when other calls fail.",
    effect: ToolHints::Reads,
    scope: None,
    parameters: schema_of::<HealthParameters>,
    call: |call| {
        Box::pin(async move {
            let health = call.operations.health().await?;
            let text = render::health(&health);
            Ok(if health.status == HealthStatus::Ok {
                ToolOutcome::Text(text)
            } else {
                ToolOutcome::Failure(text)
            })
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct HealthParameters {}
