//! The steps of a run as its loop knows them.

use std::sync::Arc;

use super::ScriptCallStatus;
use super::replay::JournaledStep;
use super::wire::{EngineStep, EngineStepKind};
use toolgate_catalog::script_names::find_script_function;
use toolgate_catalog::{Catalog, Tool};

/// A step as the loop knows it. Its place in the list is its number.
pub(super) struct StepRecord {
    pub step: EngineStep,
    pub fingerprint: String,
    pub tool: Option<Arc<Tool>>,
    /// The tool that an earlier process began, as the journal has it.
    pub begun_as: Option<String>,
    /// Whether the journal has it.
    pub is_begun: bool,
    pub began_at_ms: Option<i64>,
    pub ended_at_ms: Option<i64>,
    pub status: ScriptCallStatus,
    pub execution_id: Option<String>,
}

impl StepRecord {
    /// `known`: what the journal has of it.
    pub(super) fn new(
        catalog: &Catalog,
        step: EngineStep,
        fingerprint: String,
        known: Option<JournaledStep>,
    ) -> Self {
        let settled = known.as_ref().and_then(|known| known.settled.as_ref());
        let begun = known.as_ref().map(|known| known.name.as_str());
        // The kind is where a name is that no tool had.
        let begun = begun.filter(|name| *name != EngineStepKind::Tool.into_str());
        Self {
            tool: find_tool(catalog, &step),
            begun_as: match step.kind {
                EngineStepKind::Tool => begun.map(str::to_owned),
                _ => None,
            },
            is_begun: known.is_some(),
            began_at_ms: known.as_ref().map(|known| known.began_at_ms),
            ended_at_ms: settled.map(|settled| settled.ended_at_ms),
            status: match (settled, &known) {
                (Some(settled), _) if settled.is_ok => ScriptCallStatus::Ok,
                (Some(_), _) => ScriptCallStatus::Error,
                (None, Some(_)) => ScriptCallStatus::Open,
                (None, None) => ScriptCallStatus::NotBegun,
            },
            execution_id: known.as_ref().and_then(|known| known.execution_id.clone()),
            fingerprint,
            step,
        }
    }

    /// The tool's name, or the kind of the step.
    pub(super) fn name(&self) -> &str {
        match (&self.begun_as, &self.tool) {
            (Some(begun), _) => begun,
            (None, Some(tool)) => &tool.name,
            (None, None) => self.step.kind.into_str(),
        }
    }

    /// The same with its line.
    pub(super) fn shown(&self) -> String {
        match self.step.line {
            Some(line) => format!("{} (line {line})", self.name()),
            None => self.name().to_owned(),
        }
    }
}

/// The tool of its service that a step calls.
fn find_tool(catalog: &Catalog, step: &EngineStep) -> Option<Arc<Tool>> {
    if step.kind != EngineStepKind::Tool {
        return None;
    }
    let tools = catalog.tools().iter();
    let of_service = tools.filter(|tool| tool.service() == step.service);
    let names = of_service.map(|tool| tool.name.as_str());
    let name = find_script_function(&step.service, names, &step.function)?;
    catalog.get(name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_a_tool_of_its_own_service() {
        let catalog = toolgate_catalog::fixture::catalog();
        let find = |service: &str, function: &str| {
            let step = serde_json::json!({
                "step": 0, "kind": "tool", "service": service, "function": function,
            });
            let step = serde_json::from_str(&step.to_string()).unwrap();
            find_tool(&catalog, &step).map(|tool| tool.name.to_string())
        };
        for function in ["createIssue", "create_issue", "github_create_issue"] {
            let found = find("github", function);
            assert_eq!(found.as_deref(), Some("github_create_issue"), "{function}");
        }
        assert_eq!(find("jira", "github_create_issue"), None);
        assert_eq!(find("github", "createIsue"), None);
    }

    #[test]
    fn a_step_that_had_begun_is_the_tool_that_it_began() {
        let catalog = toolgate_catalog::fixture::catalog();
        let record = |kind: &str, name: &str| {
            let step = serde_json::json!({
                "step": 0, "kind": kind, "service": "github", "function": "goneSince",
            });
            let step = serde_json::from_str(&step.to_string()).unwrap();
            let known = JournaledStep {
                step: 0,
                fingerprint: "print".to_owned(),
                name: name.to_owned(),
                line: None,
                began_at_ms: 1,
                execution_id: None,
                settled: None,
            };
            StepRecord::new(&catalog, step, "print".to_owned(), Some(known))
        };
        let gone = record("tool", "github_gone_since");
        assert!(gone.tool.is_none());
        assert_eq!(gone.begun_as.as_deref(), Some("github_gone_since"));
        assert_eq!(gone.name(), "github_gone_since");
        assert_eq!(record("tool", "tool").begun_as, None, "there was none");
        assert_eq!(record("search", "search").begun_as, None);
    }
}
