//! Why the loop of a run ended.

use serde_json::Value;

use super::wire::run_error;
use super::{ScriptError, ScriptPause};
use crate::Error;
use toolgate_runtime::ScriptFailure;

/// How far a run has come in this process.
#[derive(Debug)]
pub(super) enum LoopEnd {
    /// With the script's result.
    Done(Value),
    /// A dry run has come as far as it can; with the result where the script did not wait for what was held back.
    Planned(Option<Value>),
    /// The gateway ended it: a limit, a crash.
    Failed(ScriptError),
    /// The script threw; what the error says is the script's.
    Thrown(ScriptError),
    Paused(Box<ScriptPause>),
    /// The requester took the run back.
    Cancelled,
    /// The gateway cannot go on at the moment. The run can be resumed.
    Interrupted(Error),
    /// The run was cancelled, or another process has it.
    Lost,
}

/// What the end of the engine means for the run.
pub(super) fn ended_by(failure: ScriptFailure) -> LoopEnd {
    match failure {
        ScriptFailure::TimedOut => LoopEnd::Failed(run_error("timeout", failure.to_string())),
        ScriptFailure::LimitExceeded(message) => {
            LoopEnd::Failed(run_error("limit_exceeded", message))
        }
        ScriptFailure::Crashed(message) => LoopEnd::Failed(run_error("script_crashed", message)),
        ScriptFailure::NoMemory | ScriptFailure::Overloaded(_) => {
            LoopEnd::Interrupted(Error::Overloaded { retry_after_s: 1 })
        }
        ScriptFailure::Load(cause) => LoopEnd::Interrupted(Error::Internal(cause.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_does_fails_it_and_what_the_gateway_lacks_does_not() {
        for (failure, code) in [
            (ScriptFailure::TimedOut, "timeout"),
            (
                ScriptFailure::LimitExceeded("memory".to_owned()),
                "limit_exceeded",
            ),
            (ScriptFailure::Crashed("trap".to_owned()), "script_crashed"),
        ] {
            let LoopEnd::Failed(error) = ended_by(failure) else {
                panic!("{code} is the script's own");
            };
            assert_eq!(error.code.as_deref(), Some(code));
        }
        for failure in [ScriptFailure::NoMemory, ScriptFailure::Overloaded(3)] {
            let end = ended_by(failure);
            assert!(
                matches!(end, LoopEnd::Interrupted(Error::Overloaded { .. })),
                "{end:?}"
            );
        }
    }
}
