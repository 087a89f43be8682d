//! The engine of scripts, and the places of those that run.

use toolgate_core::ids::UserId;
use toolgate_runtime::ScriptEngine;

use super::limits::{RUNS_MAX, RUNS_PER_USER_MAX, RUNS_PER_WORKSPACE_MAX};
use crate::Error;
use crate::waiters::{WaiterPermit, Waiters};

/// The engine component, embedded when the host was built after it; else empty.
static WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/script-engine.wasm"));

/// What all runs of a process share.
pub(crate) struct Scripts {
    engine: Option<ScriptEngine>,
    of_workspaces: Waiters,
    of_users: Waiters,
}

/// A run's place among those of its workspace and its user.
pub(super) struct ScriptPlace {
    _of_workspace: WaiterPermit,
    _of_user: WaiterPermit,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            engine: (!WASM.is_empty()).then(|| ScriptEngine::embedded(WASM)),
            of_workspaces: Waiters::new(RUNS_MAX, RUNS_PER_WORKSPACE_MAX),
            of_users: Waiters::new(RUNS_MAX, RUNS_PER_USER_MAX),
        }
    }
}

impl Scripts {
    /// # Errors
    /// `invalid_request`: the host was built without the engine.
    pub(super) fn engine(&self) -> Result<&ScriptEngine, Error> {
        self.engine.as_ref().ok_or_else(|| {
            Error::InvalidRequest(
                "this gateway was built without the engine of scripts; call the tools one by one"
                    .to_owned(),
            )
        })
    }

    /// # Errors
    /// `overloaded`: the process, the workspace or the user has no place left.
    pub(super) fn enter(&self, workspace_id: &str, user: &UserId) -> Result<ScriptPlace, Error> {
        // No id of a workspace has a space in it.
        let of_user = format!("{workspace_id} {user}");
        Ok(ScriptPlace {
            _of_user: self.of_users.enter(&of_user)?,
            _of_workspace: self.of_workspaces.enter(workspace_id)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserId {
        UserId::parse(name).unwrap()
    }

    #[test]
    fn a_user_and_a_workspace_that_run_much_leave_places_for_others() {
        let scripts = Scripts::default();
        let enter = |workspace, name: &str| scripts.enter(workspace, &user(name));
        let mut held: Vec<ScriptPlace> = (0..RUNS_PER_USER_MAX)
            .map(|_| enter("ws_1", "ada").unwrap())
            .collect();
        assert!(enter("ws_1", "ada").is_err(), "the user has all of theirs");
        assert!(enter("ws_2", "ada").is_ok(), "another workspace's user");
        for n in RUNS_PER_USER_MAX..RUNS_PER_WORKSPACE_MAX {
            held.push(enter("ws_1", &format!("user{n}")).unwrap());
        }
        let refused = enter("ws_1", "bob").err().map(|error| error.code());
        assert_eq!(refused, Some("overloaded"), "the workspace has all of its");
        assert!(enter("ws_2", "bob").is_ok());
        held.clear();
        assert!(enter("ws_1", "ada").is_ok());
    }
}
