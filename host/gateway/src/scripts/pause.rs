//! Why a run waits for a person, and how that is kept. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::wire::EngineStep;
use super::{PauseReason, PlannedScriptCall, ScriptLog, ScriptPause};
use crate::tools::{Connect, Execution, Outcome};

/// What is kept of a paused run. Links for people are secrets and are not in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PauseRecord {
    pub pause: Option<ScriptPause>,
    #[serde(default)]
    pub logs: Vec<ScriptLog>,
    #[serde(default)]
    pub plan: Vec<PlannedScriptCall>,
    /// How often each step has been told to wait. A provider may have refused a write in the middle: its key is used up, and
    /// as the outcome was seen, the next try has another one.
    #[serde(default)]
    pub waited: BTreeMap<u32, u32>,
}

/// What a person has to do before the call can run. `None`: the call has an outcome, also where it is the operator who
/// has to set the service up, which no link helps with.
pub(super) fn pause_of(step: &EngineStep, ran: &Execution) -> Option<ScriptPause> {
    let pause = |reason, message: &str| ScriptPause {
        reason,
        step: step.step,
        line: step.line,
        tool: ran.tool_name.to_string(),
        connect_url: None,
        approval_id: None,
        approval_url: None,
        message: message.to_owned(),
    };
    match &ran.outcome {
        Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect) => {
            let Connect {
                connect_url: Some(link),
                message,
                ..
            } = connect
            else {
                return None;
            };
            Some(ScriptPause {
                connect_url: Some(link.clone()),
                ..pause(PauseReason::Connection, message)
            })
        }
        Outcome::ApprovalRequired(needed) => Some(ScriptPause {
            approval_id: Some(needed.approval_id.clone()),
            approval_url: Some(needed.approval_url.clone()),
            ..pause(PauseReason::Approval, &needed.message)
        }),
        Outcome::Success { .. } | Outcome::Error { .. } | Outcome::DryRun { .. } => None,
    }
}

/// The pause as it may be kept.
pub(super) fn without_link(pause: &ScriptPause) -> ScriptPause {
    ScriptPause {
        connect_url: None,
        ..pause.clone()
    }
}

/// The idempotency key of a call: its own for each step, and for each try whose outcome was to wait.
pub(super) fn key_of(run_id: &str, step: u32, waited: u32) -> String {
    match waited {
        0 => format!("script:{run_id}:{step}"),
        again => format!("script:{run_id}:{step}:{again}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::ApprovalNeeded;

    fn step() -> EngineStep {
        serde_json::from_str(
            r#"{"step":4,"kind":"tool","service":"jira","function":"createIssue","line":9}"#,
        )
        .unwrap()
    }

    fn ran(outcome: Outcome) -> Execution {
        Execution {
            execution_id: "exe_1".into(),
            tool_name: "jira_create_issue".into(),
            service: "jira".into(),
            session_id: "tool_1".into(),
            duration_ms: 1,
            coerced: Vec::new(),
            outcome,
        }
    }

    fn connect(connect_url: Option<&str>) -> Connect {
        Connect {
            reason: "auth_required".to_owned(),
            auth_type: "oauth2".to_owned(),
            message: "Connect an account.".to_owned(),
            connect_url: connect_url.map(str::to_owned),
        }
    }

    #[test]
    fn a_call_that_needs_a_person_pauses_with_what_the_person_opens() {
        for outcome in [Outcome::AuthRequired, Outcome::AuthExpired] {
            let pause = pause_of(&step(), &ran(outcome(connect(Some("https://x/connect/1")))));
            let pause = pause.expect("a person can connect");
            assert_eq!(pause.reason, PauseReason::Connection);
            assert_eq!((pause.step, pause.line), (4, Some(9)));
            assert_eq!(pause.connect_url.as_deref(), Some("https://x/connect/1"));
            let kept = serde_json::to_string(&without_link(&pause)).unwrap();
            assert!(!kept.contains("connect/1"), "{kept}");
        }
        let needed = ApprovalNeeded {
            reason: "approval_required".to_owned(),
            message: "A person has to approve.".to_owned(),
            approval_id: "apr_1".to_owned(),
            approval_url: "https://x/approvals/apr_1".to_owned(),
            expires_at: "2026-11-21T09:30:00.125Z".to_owned(),
            requests: Vec::new(),
        };
        let pause = pause_of(&step(), &ran(Outcome::ApprovalRequired(needed))).unwrap();
        assert_eq!(pause.reason, PauseReason::Approval);
        assert_eq!(pause.approval_id.as_deref(), Some("apr_1"));
    }

    #[test]
    fn what_only_the_operator_can_mend_does_not_pause() {
        let refused = ran(Outcome::AuthRequired(connect(None)));
        assert_eq!(pause_of(&step(), &refused), None);
        let planned = ran(Outcome::DryRun {
            requests: Vec::new(),
        });
        assert_eq!(pause_of(&step(), &planned), None);
    }

    #[test]
    fn each_step_and_each_try_after_a_wait_has_a_key_of_its_own() {
        let keys = [
            key_of("run_1", 0, 0),
            key_of("run_1", 0, 1),
            key_of("run_1", 1, 0),
            key_of("run_2", 0, 0),
        ];
        let different: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(different.len(), keys.len(), "{keys:?}");
        assert_eq!(
            keys[0],
            key_of("run_1", 0, 0),
            "a try is repeated under its own"
        );
    }
}
