//! Running and resuming scripts: what is checked first, and the row that a run begins with.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use rand::RngExt as _;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::answer::status_of;
use super::ended::LoopEnd;
use super::engine::ScriptPlace;
use super::finish::finish;
use super::journal::{ScriptJournal, pause_record, sealed_of_run, start_of, steps_of};
use super::limits::{ARGUMENTS_BYTES_MAX, KEPT_MS, LEASE_MS, RETRY_AFTER_S, SCRIPT_BYTES_MAX};
use super::pause::PauseRecord;
use super::replay::{JournaledStep, Replay};
use super::report::ScriptReport;
use super::run::{ScriptLoop, diverged};
use super::steps::{RunFacts, StepContext};
use super::wire::EngineStart;
use super::{RunScript, ScriptRun, ScriptStatus};
use crate::detached::detach;
use crate::stored_quota::Stored;
use crate::tools::CallListener;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids::{self, UserId};
use toolgate_store::{NewScriptRun, ScriptRunRow, SealedColumn};

/// A run whose lease this process has.
struct ClaimedRun {
    facts: RunFacts,
    owner: String,
    /// The input of the engine's `start`.
    input: String,
    /// What the journal has.
    steps: Vec<JournaledStep>,
    pause: PauseRecord,
    listener: CallListener,
    place: ScriptPlace,
}

impl Gateway {
    /// Runs a script for a user, until it ends, waits for a person or meets a limit. Each of its calls is a call of the
    /// caller. It goes on when the caller hangs up; whatever ends it is a [`ScriptRun`] with a receipt.
    ///
    /// # Errors
    /// `permission_denied` where code mode is off; `invalid_request` for a script or arguments beyond their bounds;
    /// `overloaded` where the workspace or the user runs as many as they may; `conflict` where the workspace is full.
    pub async fn run_script(
        self: &Arc<Self>,
        caller: &Caller,
        request: RunScript,
    ) -> Result<ScriptRun, Error> {
        let user = self.may_run(caller, request.user_id.as_ref()).await?;
        check_size(&request)?;
        self.check_session(caller, &user, request.session_id.as_deref())
            .await?;
        let place = self.scripts.enter(&caller.workspace_id, &user)?;
        let run = self.begin_run(caller, user, request, place).await?;
        self.detached_run(caller, run).await
    }

    /// Goes on with a run that waits for a person or whose process has stopped. One that is over is answered as it ended.
    ///
    /// # Errors
    /// `not_found` for a run of another user; `conflict` for one that another key began; `in_progress` while another
    /// request works on it; and those of [`Gateway::run_script`].
    pub async fn resume_script(
        self: &Arc<Self>,
        caller: &Caller,
        run_id: &str,
    ) -> Result<ScriptRun, Error> {
        self.may_run(caller, None).await?;
        let row = self.find_script_run(caller, run_id).await?;
        match status_of(&row)? {
            ScriptStatus::Paused | ScriptStatus::Running => {}
            ScriptStatus::Done
            | ScriptStatus::Failed
            | ScriptStatus::Planned
            | ScriptStatus::Cancelled => {
                // A client that lost the answer asks again.
                return self.script_run(caller, run_id).await;
            }
        }
        // Idempotency keys and approvals are of the key that sent them: for another one a write could be done twice.
        if row.actor != caller.actor() {
            return Err(Error::Conflict(
                "another key or sign-in began this run: resume it with that one, or run the script again"
                    .to_owned(),
            ));
        }
        let user = UserId::parse(&row.user_id).map_err(|cause| Error::Internal(cause.into()))?;
        self.scripts.engine()?;
        let place = self.scripts.enter(&caller.workspace_id, &user)?;
        let owner = ids::ulid("lease");
        let now_ms = self.clock.now_ms();
        let claimed = self.store.claim_script_run(
            &caller.workspace_id,
            run_id,
            &owner,
            now_ms,
            now_ms + LEASE_MS,
        );
        if !claimed.await? {
            return Err(Error::InProgress {
                retry_after_s: RETRY_AFTER_S,
            });
        }
        // Another request may have gone on with it in between.
        let row = self.find_script_run(caller, run_id).await?;
        let run = self.claimed_run(row, user, owner, place).await?;
        self.detached_run(caller, run).await
    }

    /// Whose scripts the caller may run.
    async fn may_run(&self, caller: &Caller, named: Option<&UserId>) -> Result<UserId, Error> {
        caller.need(Scope::ToolsExecute)?;
        let user = caller.user(named)?;
        if !self.store.code_mode(&caller.workspace_id).await? {
            return Err(Error::PermissionDenied {
                user_id: user.to_string(),
                subject: "scripts: code mode is off in this workspace, and an administrator of it can switch it on"
                    .to_owned(),
            });
        }
        if self.stop.is_cancelled() {
            return Err(Error::Stopping);
        }
        // Nothing leaves while receipts cannot be written.
        if self.receipts.behind() {
            return Err(Error::DatabaseUnavailable(None));
        }
        Ok(user)
    }

    /// Writes the row of a new run.
    async fn begin_run(
        &self,
        caller: &Caller,
        user: UserId,
        request: RunScript,
        place: ScriptPlace,
    ) -> Result<ClaimedRun, Error> {
        let now_ms = self.clock.now_ms();
        let script_sha256 = hex::encode(Sha256::digest(request.script.as_bytes()));
        let start = EngineStart {
            script: request.script,
            arguments: request.arguments,
            services: self.script_services(caller, &user).await?,
            now_ms,
            seed: rand::rng().random::<u64>().to_string(),
        };
        let input = serde_json::to_string(&start).map_err(|cause| Error::Internal(cause.into()))?;
        let _stored = self
            .take_stored(Stored::Scripts, &caller.workspace_id, input.len())
            .await?;
        let facts = RunFacts {
            run_id: ids::ulid_at("run", now_ms),
            user,
            session_id: request.session_id,
            dry_run: request.dry_run,
            execution_id: ids::ulid_at("exe", now_ms).into(),
            script_sha256,
            created_at_ms: now_ms,
        };
        let owner = ids::ulid("lease");
        let of = (&*caller.workspace_id, &*facts.run_id);
        let row = NewScriptRun {
            workspace_id: caller.workspace_id.to_string(),
            id: facts.run_id.clone(),
            user_id: facts.user.to_string(),
            session_id: facts.session_id.clone(),
            actor: caller.actor(),
            execution_id: facts.execution_id.to_string(),
            script_sha256: facts.script_sha256.clone(),
            engine_sha256: self.scripts.engine()?.sha256().to_owned(),
            start_sealed: sealed_of_run(self, SealedColumn::ScriptStart, of, &input)?,
            dry_run: facts.dry_run,
            created_at_ms: now_ms,
            expires_at_ms: now_ms + KEPT_MS,
            lease_owner: Some(owner.clone()),
            lease_until_ms: now_ms + LEASE_MS,
        };
        self.store.insert_script_run(&row).await?;
        Ok(ClaimedRun {
            facts,
            owner,
            input,
            steps: Vec::new(),
            pause: PauseRecord::default(),
            listener: request.listener,
            place,
        })
    }

    /// What the rows have of a run that was claimed.
    async fn claimed_run(
        &self,
        row: ScriptRunRow,
        user: UserId,
        owner: String,
        place: ScriptPlace,
    ) -> Result<ClaimedRun, Error> {
        Ok(ClaimedRun {
            input: start_of(self, &row)?,
            steps: steps_of(self, &row).await?,
            pause: pause_record(self, &row)?,
            facts: RunFacts {
                run_id: row.id,
                user,
                session_id: row.session_id,
                dry_run: row.dry_run,
                execution_id: row.execution_id.into(),
                script_sha256: row.script_sha256,
                created_at_ms: row.created_at_ms,
            },
            owner,
            listener: CallListener::default(),
            place,
        })
    }

    /// Services with a tool that the user may run.
    async fn script_services(&self, caller: &Caller, user: &UserId) -> Result<Vec<String>, Error> {
        let permissions = self.permissions_of(caller, user).await?;
        let snapshot = self.snapshot();
        let tools = snapshot.catalog.tools().iter();
        let shown = tools.filter(|tool| permissions.shows(tool));
        let services: BTreeSet<String> = shown.map(|tool| tool.service().to_owned()).collect();
        Ok(services.into_iter().collect())
    }

    /// Works on a run to its end, also when its requester hangs up.
    async fn detached_run(
        self: &Arc<Self>,
        caller: &Caller,
        run: ClaimedRun,
    ) -> Result<ScriptRun, Error> {
        let (gateway, caller) = (self.clone(), caller.clone());
        let work = Box::pin(async move { work_on(gateway, caller, run).await });
        let ended = detach(&self.running, &self.workers, work).await;
        ended.map_err(|cause| Error::Internal(anyhow::Error::from(cause).context("the script")))?
    }
}

async fn work_on(
    gateway: Arc<Gateway>,
    caller: Caller,
    run: ClaimedRun,
) -> Result<ScriptRun, Error> {
    let ClaimedRun {
        facts,
        owner,
        input,
        steps,
        pause,
        listener,
        place: _place,
    } = run;
    let journal = ScriptJournal {
        gateway: gateway.clone(),
        workspace_id: caller.workspace_id.clone(),
        run_id: facts.run_id.clone(),
        owner,
    };
    let of = Arc::new(StepContext {
        gateway: gateway.clone(),
        caller,
        looked_ms: AtomicI64::new(gateway.clock.now_ms()),
        facts,
        stopping: CancellationToken::new(),
        cancelled: CancellationToken::new(),
    });
    let report = ScriptReport::new(listener);
    let (replay, broken) = match Replay::new(steps) {
        Ok(replay) => (replay, None),
        Err(divergence) => (Replay::default(), Some(diverged(divergence))),
    };
    let looping = ScriptLoop::new(of, journal, replay, pause.waited, report);
    let ended = match (broken, gateway.scripts.engine()) {
        (Some(end), _) => looping.ended(end),
        (None, Err(error)) => looping.ended(LoopEnd::Interrupted(error)),
        (None, Ok(engine)) => Box::pin(looping.run(engine, input)).await,
    };
    finish(ended).await
}

fn check_size(request: &RunScript) -> Result<(), Error> {
    if request.script.trim().is_empty() {
        return Err(Error::InvalidRequest(
            "script must not be empty: send one module of JavaScript or TypeScript".to_owned(),
        ));
    }
    if request.script.len() > SCRIPT_BYTES_MAX {
        return Err(Error::InvalidRequest(format!(
            "script has at most {SCRIPT_BYTES_MAX} bytes"
        )));
    }
    let arguments = serde_json::to_vec(&request.arguments);
    let arguments = arguments.map_err(|cause| Error::Internal(cause.into()))?;
    if arguments.len() > ARGUMENTS_BYTES_MAX {
        return Err(Error::InvalidRequest(format!(
            "arguments has at most {ARGUMENTS_BYTES_MAX} bytes"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn request(script: &str, arguments: Value) -> RunScript {
        RunScript {
            script: script.to_owned(),
            arguments,
            user_id: None,
            session_id: None,
            dry_run: false,
            listener: CallListener::default(),
        }
    }

    #[test]
    fn a_script_and_its_arguments_have_a_bound() {
        // With its quotes the longest text is as long as the arguments may be.
        let longest = "x".repeat(ARGUMENTS_BYTES_MAX - 2);
        for (script, arguments, fits) in [
            (" ".repeat(2), Value::Null, false),
            ("x".repeat(SCRIPT_BYTES_MAX), Value::Null, true),
            ("x".repeat(SCRIPT_BYTES_MAX + 1), Value::Null, false),
            ("x".to_owned(), Value::from(longest.clone()), true),
            ("x".to_owned(), Value::from(format!("{longest}x")), false),
        ] {
            let checked = check_size(&request(&script, arguments));
            assert_eq!(checked.is_ok(), fits, "{} bytes", script.len());
            if let Err(refused) = checked {
                assert_eq!(refused.code(), "invalid_request");
            }
        }
    }
}
