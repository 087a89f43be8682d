//! Which triggers can be made, for the form of the dashboard.

use serde::Serialize;

use super::declared::CURSOR;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::Tool;
use toolgate_catalog::lint::TRIGGER_INTERVAL_S;
use toolgate_catalog::manifest::TriggerSpec;

/// `GET /internal/offered-triggers`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferedTriggers {
    /// By the names of their tools.
    pub triggers: Vec<OfferedTrigger>,
    /// Whether the workspace's log of events is on: events are read there without a webhook.
    pub events_logged: bool,
}

/// A trigger that a serving plugin declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfferedTrigger {
    pub service: String,
    /// Its name in the service's plugin.
    pub trigger: String,
    pub title: String,
    pub description: String,
    /// The tool whose arguments a user chooses.
    pub tool_name: String,
    /// Arguments of the tool that the trigger sets itself, sorted.
    pub sets: Vec<String>,
    /// Seconds between two polls where the user names none.
    pub interval_s: u64,
    /// Whether the provider gives the times of the items, which `since` needs.
    pub has_times: bool,
}

impl OfferedTrigger {
    fn new(tool: &Tool, spec: &TriggerSpec) -> Self {
        let mut sets: Vec<String> = spec.arguments.keys().cloned().collect();
        if tool.spec().paginated {
            sets.push(CURSOR.to_owned());
        }
        sets.sort_unstable();
        Self {
            service: tool.service().to_owned(),
            trigger: spec.name.clone(),
            title: spec.title.clone(),
            description: spec.description.clone(),
            tool_name: tool.name.to_string(),
            sets,
            interval_s: spec.interval_s.unwrap_or(TRIGGER_INTERVAL_S),
            has_times: spec.time.is_some(),
        }
    }
}

impl Gateway {
    /// The triggers of all plugins that serve, also of tools that no user may run, and whether events are logged.
    pub async fn offered_triggers(&self, caller: &Caller) -> Result<OfferedTriggers, Error> {
        caller.need(Scope::Webhooks)?;
        let snapshot = self.snapshot();
        let mut triggers: Vec<OfferedTrigger> = Vec::new();
        for tool in snapshot.catalog.tools() {
            let declared = tool.spec().triggers.iter();
            triggers.extend(declared.map(|spec| OfferedTrigger::new(tool, spec)));
        }
        let events_logged = self.store.is_event_log_on(&caller.workspace_id).await?;
        Ok(OfferedTriggers {
            triggers,
            events_logged,
        })
    }
}
