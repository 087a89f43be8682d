//! What a dry run does with a call. Pure.

use super::PlannedScriptCall;
use super::wire::EngineStep;
use toolgate_catalog::manifest::Effect;

/// How a call of a tool is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallPlan {
    /// Nothing is sent, and the call is listed.
    pub is_held_back: bool,
    /// Under an idempotency key, so that a process that dies in it does not lead to a second write.
    pub has_key: bool,
}

impl CallPlan {
    pub(super) fn new(effect: Effect, dry_run: bool) -> Self {
        let writes = effect != Effect::Read;
        Self {
            is_held_back: dry_run && writes,
            has_key: writes && !dry_run,
        }
    }
}

/// The call as a dry run lists it.
pub(super) fn planned(step: &EngineStep, tool: &str) -> PlannedScriptCall {
    PlannedScriptCall {
        step: step.step,
        tool: tool.to_owned(),
        line: step.line,
        arguments: step.arguments(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_holds_back_what_writes_and_only_a_real_write_needs_a_key() {
        for (effect, dry_run, is_held_back, has_key) in [
            (Effect::Read, false, false, false),
            (Effect::Read, true, false, false),
            (Effect::Write, false, false, true),
            (Effect::Write, true, true, false),
            (Effect::Destructive, false, false, true),
            (Effect::Destructive, true, true, false),
        ] {
            let expected = CallPlan {
                is_held_back,
                has_key,
            };
            assert_eq!(
                CallPlan::new(effect, dry_run),
                expected,
                "{effect:?} {dry_run}"
            );
        }
    }

    #[test]
    fn a_planned_call_is_listed_as_the_script_asked_for_it() {
        let step = r#"{"step":2,"kind":"tool","service":"github","function":"createIssue","arguments":{"title":"x"},"line":5}"#;
        let step = serde_json::from_str(step).unwrap();
        let planned = planned(&step, "github_create_issue");
        assert_eq!((planned.step, planned.line), (2, Some(5)));
        assert_eq!(planned.tool, "github_create_issue");
        assert_eq!(planned.arguments["title"], "x");
    }
}
