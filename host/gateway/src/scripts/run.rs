//! The loop of a run: a turn of the engine, the steps that it asks for, and one outcome at a time back to it.
//!
//! An outcome is in the journal before the script learns it, in the order in which it learns it: that order and the
//! outcomes are all that a script's way depends on. A run that waits for a person begins nothing more, and what has begun
//! is brought to its end and written down.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;

use super::ended::{LoopEnd, ended_by};
use super::journal::{NewOutcome, ScriptJournal};
use super::lease::HeldLease;
use super::limits::{
    ASKED_BYTES_MAX, JOURNAL_BYTES_MAX, MEMORY_BYTES_MAX, PLACE_AGAIN_AFTER, PROCESSOR_TIME_MAX,
    RUN_TIMEOUT, STEPS_AT_ONCE_MAX, STEPS_MAX,
};
use super::records::StepRecord;
use super::replay::{Divergence, Replay};
use super::report::ScriptReport;
use super::steps::{BegunStep, StepContext, StepEnd, run_step};
use super::wire::{EngineEnd, EngineStep, EngineTurn, StepValue, outcome_text, run_error};
use super::{PlannedScriptCall, ScriptCallStatus, ScriptError};
use crate::Error;
use crate::stored_quota::Stored;
use crate::tools::execute::requester;
use toolgate_catalog::Catalog;
use toolgate_runtime::{RunningScript, ScriptEngine, ScriptFailure, ScriptLimits};

/// What the loop leaves of a run. The lease is held until it is written down.
pub(super) struct EndedLoop {
    pub of: Arc<StepContext>,
    pub journal: ScriptJournal,
    pub records: Vec<StepRecord>,
    pub waited: BTreeMap<u32, u32>,
    pub plan: Vec<PlannedScriptCall>,
    pub report: ScriptReport,
    pub end: LoopEnd,
    /// Whether the journal has a step of the run.
    pub has_begun: bool,
    _lease: HeldLease,
}

/// One run, while this process works on it.
pub(super) struct ScriptLoop {
    of: Arc<StepContext>,
    journal: ScriptJournal,
    lease: HeldLease,
    replay: Replay,
    records: Vec<StepRecord>,
    /// Steps that wait for their turn.
    queue: VecDeque<u32>,
    running: FuturesUnordered<BoxFuture<'static, (u32, StepEnd)>>,
    /// Outcomes that the journal has.
    settled: u32,
    journal_bytes: usize,
    asked_bytes: usize,
    told_ms: i64,
    /// How the script's main promise was settled.
    end: Option<EngineEnd>,
    /// Why no further step begins.
    stopping: Option<LoopEnd>,
    /// How often each step had to wait for a person.
    waited: BTreeMap<u32, u32>,
    plan: Vec<PlannedScriptCall>,
    report: ScriptReport,
    until: Instant,
}

impl ScriptLoop {
    pub(super) fn new(
        of: Arc<StepContext>,
        journal: ScriptJournal,
        replay: Replay,
        waited: BTreeMap<u32, u32>,
        report: ScriptReport,
    ) -> Self {
        Self {
            lease: HeldLease::hold(&journal.gateway, &journal.run_id, &journal.owner),
            records: Vec::new(),
            queue: VecDeque::new(),
            running: FuturesUnordered::new(),
            settled: replay.settled(),
            journal_bytes: replay.bytes(),
            asked_bytes: 0,
            told_ms: replay.told_ms().unwrap_or(of.facts.created_at_ms),
            end: None,
            stopping: None,
            plan: Vec::new(),
            until: Instant::now() + RUN_TIMEOUT,
            of,
            journal,
            replay,
            waited,
            report,
        }
    }

    /// Runs until the script has ended, waits for a person or can go no further here.
    pub(super) async fn run(mut self, engine: &ScriptEngine, input: String) -> EndedLoop {
        let end = match self.start(engine, input).await {
            Ok(mut script) => self.go_on(&mut script).await,
            Err(end) => end,
        };
        self.ended(end)
    }

    /// Without running the script.
    pub(super) fn ended(self, end: LoopEnd) -> EndedLoop {
        let has_begun = |record: &StepRecord| record.is_begun;
        EndedLoop {
            has_begun: !self.replay.is_empty() || self.records.iter().any(has_begun),
            of: self.of,
            journal: self.journal,
            records: self.records,
            waited: self.waited,
            plan: self.plan,
            report: self.report,
            end,
            _lease: self.lease,
        }
    }

    /// Starts the script and tells it what it has been told before.
    async fn start(
        &mut self,
        engine: &ScriptEngine,
        input: String,
    ) -> Result<RunningScript, LoopEnd> {
        let limits = ScriptLimits {
            memory_bytes_max: MEMORY_BYTES_MAX,
            processor_time_max: PROCESSOR_TIME_MAX,
        };
        let (gateway, by) = (self.of.gateway.clone(), requester(&self.of.caller));
        let started = gateway.runtime.start_script(engine, by, limits, input);
        let (mut script, first) = Box::pin(started).await.map_err(ended_by)?;
        self.absorb(EngineTurn::parse(&first).map_err(LoopEnd::Failed)?, true)?;
        while self.end.is_none()
            && let Some(outcome) = self.replay.next_outcome().map_err(diverged)?
        {
            let turn = next_turn(&mut script, outcome, self.until).await?;
            self.absorb(turn, true)?;
        }
        self.replay.check_all_asked().map_err(diverged)?;
        Ok(script)
    }

    async fn go_on(&mut self, script: &mut RunningScript) -> LoopEnd {
        loop {
            if let Err(end) = self.begin_queued().await {
                self.stop(end);
            }
            let Some((step, ended)) = self.next_end().await else {
                return self.at_rest();
            };
            let outcome = match self.take(step, ended).await {
                Ok(outcome) => outcome,
                Err(end) => {
                    self.stop(end);
                    continue;
                }
            };
            // The journal has it; a script that has ended or stops does not get it.
            let Some(outcome) = outcome.filter(|_| self.end.is_none() && self.stopping.is_none())
            else {
                continue;
            };
            let went_on = match next_turn(script, outcome, self.until).await {
                Ok(turn) => self.absorb(turn, false),
                Err(end) => Err(end),
            };
            if let Err(end) = went_on {
                self.stop(end);
            }
        }
    }

    /// Nothing runs any more.
    fn at_rest(&mut self) -> LoopEnd {
        if let Some(end) = self.stopping.take() {
            return end;
        }
        match self.end.take() {
            Some(EngineEnd {
                error: Some(error), ..
            }) => LoopEnd::Thrown(error.into()),
            Some(end) if self.plan.is_empty() => LoopEnd::Done(end.ok),
            Some(end) => LoopEnd::Planned(Some(end.ok)),
            None if !self.plan.is_empty() => LoopEnd::Planned(None),
            None => LoopEnd::Failed(run_error(
                "never_settles",
                "the script waits for something that no step of it brings",
            )),
        }
    }

    /// The first reason counts, unless the run is no longer this process's.
    fn stop(&mut self, end: LoopEnd) {
        self.of.stopping.cancel();
        // A run that can be resumed needs the outcomes of what has begun.
        if !matches!(end, LoopEnd::Paused(_) | LoopEnd::Interrupted(_)) {
            self.of.cancelled.cancel();
        }
        if self.stopping.is_none() || matches!(end, LoopEnd::Lost) {
            self.stopping = Some(end);
        }
    }

    /// Takes in what a turn has answered. `is_replay`: the requester has heard of it before.
    fn absorb(&mut self, turn: EngineTurn, is_replay: bool) -> Result<(), LoopEnd> {
        self.report.log(turn.logs);
        if !is_replay {
            self.report.progress(turn.progress);
        }
        let snapshot = self.of.gateway.snapshot();
        for step in turn.steps {
            self.ask(&snapshot.catalog, step)?;
        }
        if let Some(end) = turn.end {
            let unawaited = end.unawaited.iter();
            let unawaited = unawaited.filter_map(|step| self.records.get(*step as usize));
            let unawaited: Vec<String> = unawaited.map(StepRecord::shown).collect();
            self.report.note_unawaited(&unawaited);
            if end.error.is_some() {
                // What has not begun is not begun for a script that has failed.
                self.queue.clear();
            }
            self.end = Some(end);
        }
        Ok(())
    }

    /// The script asks for a step.
    fn ask(&mut self, catalog: &Catalog, step: EngineStep) -> Result<(), LoopEnd> {
        let number = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        if step.step != number {
            let broken = run_error("script_crashed", "the engine of scripts has lost count");
            return Err(LoopEnd::Failed(broken));
        }
        self.asked_bytes += step.arguments_text().len() + step.service.len() + step.function.len();
        if number >= STEPS_MAX || self.asked_bytes > ASKED_BYTES_MAX {
            let message = format!(
                "a script makes at most {STEPS_MAX} calls, with arguments of {ASKED_BYTES_MAX} bytes together"
            );
            return Err(LoopEnd::Failed(run_error("limit_exceeded", message)));
        }
        let fingerprint = step.fingerprint();
        let known = self.replay.ask(number, &fingerprint).map_err(diverged)?;
        if known.as_ref().is_none_or(|known| known.settled.is_none()) {
            self.queue.push_back(number);
        }
        self.records
            .push(StepRecord::new(catalog, step, fingerprint, known));
        Ok(())
    }

    /// Begins steps for which there is a place, each after the journal says so.
    async fn begin_queued(&mut self) -> Result<(), LoopEnd> {
        while self.stopping.is_none()
            && self.running.len() < STEPS_AT_ONCE_MAX
            && let Some(number) = self.queue.pop_front()
        {
            let now_ms = self.of.gateway.clock.now_ms();
            let Some(record) = self.records.get_mut(number as usize) else {
                continue;
            };
            let name = record.tool.as_ref().map_or("", |tool| tool.name.as_str());
            // One that has begun before stays as it is in the journal; the run may have been cancelled or taken since.
            let begun = self
                .journal
                .begin(&record.step, &record.fingerprint, name, now_ms);
            if !begun.await.map_err(LoopEnd::Interrupted)? {
                return Err(LoopEnd::Lost);
            }
            record.is_begun = true;
            record.began_at_ms = record.began_at_ms.or(Some(now_ms));
            record.status = ScriptCallStatus::Open;
            let asked = BegunStep {
                step: record.step.clone(),
                tool: record.tool.clone(),
                begun_as: record.begun_as.clone(),
                began_at_ms: record.began_at_ms.unwrap_or(now_ms),
                waited: self.waited.get(&number).copied().unwrap_or(0),
            };
            let of = self.of.clone();
            self.running
                .push(async move { (number, run_step(&of, &asked).await) }.boxed());
        }
        Ok(())
    }

    /// The next step that ends. `None`: none runs.
    async fn next_end(&mut self) -> Option<(u32, StepEnd)> {
        let taken_back = self.report.taken_back();
        loop {
            let goes_on = self.stopping.is_none();
            let stop = tokio::select! {
                ended = self.running.next() => return ended,
                () = self.lease.lost(), if !matches!(self.stopping, Some(LoopEnd::Lost)) => LoopEnd::Lost,
                () = tokio::time::sleep_until(self.until), if goes_on => {
                    let message = format!("the run took longer than {} s", RUN_TIMEOUT.as_secs());
                    LoopEnd::Failed(run_error("timeout", message))
                }
                () = self.of.gateway.stop.cancelled(), if goes_on => {
                    LoopEnd::Interrupted(Error::Stopping)
                }
                () = taken_back.cancelled(), if goes_on => LoopEnd::Cancelled,
            };
            self.stop(stop);
        }
    }

    /// Takes the end of a step. What the engine is to be told; nothing where the step has no outcome.
    async fn take(&mut self, step: u32, ended: StepEnd) -> Result<Option<String>, LoopEnd> {
        match ended {
            StepEnd::Settled {
                value,
                execution_id,
            } => self.settle(step, &value, execution_id).await.map(Some),
            StepEnd::Waits(pause) => {
                *self.waited.entry(step).or_default() += 1;
                Err(LoopEnd::Paused(Box::new(pause)))
            }
            StepEnd::Planned(call) => {
                self.plan.push(call);
                self.plan.sort_by_key(|call| call.step);
                Ok(None)
            }
            StepEnd::Left => Ok(None),
            StepEnd::Stopped(error) => Err(LoopEnd::Interrupted(error)),
        }
    }

    /// Writes the outcome of a step into the journal.
    async fn settle(
        &mut self,
        step: u32,
        value: &StepValue,
        execution_id: Option<String>,
    ) -> Result<String, LoopEnd> {
        let gateway = self.of.gateway.clone();
        let ended_at_ms = gateway.clock.now_ms();
        // The script's clock goes one way, whatever that of the machine does.
        self.told_ms = self.told_ms.max(ended_at_ms);
        let text = outcome_text(step, self.told_ms, value);
        let text = text.map_err(|cause| LoopEnd::Interrupted(Error::Internal(cause.into())))?;
        self.journal_bytes += text.len();
        if self.journal_bytes > JOURNAL_BYTES_MAX {
            let message = format!(
                "the outcomes of a run's calls have at most {JOURNAL_BYTES_MAX} bytes together; ask for less"
            );
            return Err(LoopEnd::Failed(run_error("limit_exceeded", message)));
        }
        let workspace_id = &self.journal.workspace_id;
        let place = gateway.take_stored(Stored::Scripts, workspace_id, text.len());
        let _place = place.await.map_err(|error| match error {
            Error::Conflict(message) => LoopEnd::Failed(run_error("workspace_full", message)),
            other => LoopEnd::Interrupted(other),
        })?;
        let outcome = NewOutcome {
            step,
            order: self.settled,
            now_ms: self.told_ms,
            is_ok: value.is_ok(),
            text: &text,
            execution_id: execution_id.as_deref(),
            ended_at_ms,
        };
        let settled = self.journal.settle(&outcome).await;
        if !settled.map_err(LoopEnd::Interrupted)? {
            return Err(LoopEnd::Lost);
        }
        self.settled += 1;
        if let Some(record) = self.records.get_mut(step as usize) {
            record.status = match value {
                Ok(_) => ScriptCallStatus::Ok,
                Err(_) => ScriptCallStatus::Error,
            };
            record.execution_id = execution_id;
            record.ended_at_ms = Some(ended_at_ms);
        }
        Ok(text)
    }
}

/// One more turn of the engine; waits for a place.
async fn next_turn(
    script: &mut RunningScript,
    outcome: String,
    until: Instant,
) -> Result<EngineTurn, LoopEnd> {
    loop {
        match script.resume(outcome.clone()).await {
            Ok(text) => return EngineTurn::parse(&text).map_err(LoopEnd::Failed),
            Err(ScriptFailure::Overloaded(_)) if Instant::now() < until => {
                tokio::time::sleep(PLACE_AGAIN_AFTER).await;
            }
            Err(failure) => return Err(ended_by(failure)),
        }
    }
}

pub(super) fn diverged(divergence: Divergence) -> LoopEnd {
    let error = run_error("script_diverged", divergence.sentence());
    LoopEnd::Failed(ScriptError {
        step: divergence.step(),
        ..error
    })
}
