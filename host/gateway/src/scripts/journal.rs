//! The rows of a run, with their texts sealed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pause::PauseRecord;
use super::replay::{JournaledStep, SettledStep};
use super::wire::EngineStep;
use super::{PlannedScriptCall, ScriptError, ScriptLog, ScriptStatus};
use crate::row_seals::{RowPlace, RowSeals};
use crate::{Error, Gateway};
use toolgate_core::text::Text;
use toolgate_store::{ScriptRunRow, ScriptStepRow, SealedColumn};

/// How a run ended, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EndRecord {
    pub status: ScriptStatus,
    #[serde(default)]
    pub result: Option<Value>,
    #[serde(default)]
    pub error: Option<ScriptError>,
    #[serde(default)]
    pub plan: Vec<PlannedScriptCall>,
    #[serde(default)]
    pub logs: Vec<ScriptLog>,
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// The journal of one run, as the process writes it that has the run's lease.
pub(super) struct ScriptJournal {
    pub gateway: Arc<Gateway>,
    pub workspace_id: Text,
    pub run_id: String,
    pub owner: String,
}

/// The outcome of a step, to be written.
pub(super) struct NewOutcome<'a> {
    pub step: u32,
    pub order: u32,
    pub now_ms: i64,
    pub is_ok: bool,
    /// The input of the engine.
    pub text: &'a str,
    pub execution_id: Option<&'a str>,
    pub ended_at_ms: i64,
}

impl ScriptJournal {
    /// Notes that a step begins. `name`: the tool's, else empty. `false`: the run is no longer this process's.
    pub(super) async fn begin(
        &self,
        step: &EngineStep,
        fingerprint: &str,
        name: &str,
        began_at_ms: i64,
    ) -> Result<bool, Error> {
        let row = ScriptStepRow {
            run_id: self.run_id.clone(),
            step: i64::from(step.step),
            kind: step.kind.into_str().to_owned(),
            fingerprint: fingerprint.to_owned(),
            name: name.to_owned(),
            line: i64::from(step.line.unwrap_or(0)),
            execution_id: None,
            settled_order: None,
            now_ms: None,
            status: None,
            began_at_ms,
            ended_at_ms: None,
            outcome_sealed: None,
        };
        let store = &self.gateway.store;
        let begun = store.begin_script_step(&self.run_id, &self.owner, &row);
        Ok(begun.await?)
    }

    /// Notes the outcome of a step, before the script learns it. `false`: the run is no longer this process's.
    pub(super) async fn settle(&self, outcome: &NewOutcome<'_>) -> Result<bool, Error> {
        let step = outcome.step.to_string();
        let place = RowPlace::message(
            SealedColumn::ScriptOutcome,
            &self.workspace_id,
            &self.run_id,
            &step,
        );
        let sealed = RowSeals::new(&self.gateway.vault).seal(&place, outcome.text)?;
        let settled = self.gateway.store.settle_script_step(
            &self.run_id,
            &self.owner,
            i64::from(outcome.step),
            i64::from(outcome.order),
            outcome.now_ms,
            if outcome.is_ok { "ok" } else { "error" },
            &sealed,
            outcome.execution_id,
            outcome.ended_at_ms,
        );
        Ok(settled.await?)
    }

    /// Gives the run back in this state. `false`: it is no longer this process's.
    pub(super) async fn end(
        &self,
        state: ScriptStatus,
        pause: Option<&PauseRecord>,
        end: Option<&EndRecord>,
    ) -> Result<bool, Error> {
        let pause = pause.map(|pause| self.sealed(SealedColumn::ScriptPause, pause));
        let end = end.map(|end| self.sealed(SealedColumn::ScriptEnd, end));
        let (pause, end) = (pause.transpose()?, end.transpose()?);
        // A dry run that came to its end is over like any other.
        let state = match state {
            ScriptStatus::Planned => ScriptStatus::Done,
            other => other,
        };
        let ended = self.gateway.store.end_script_run(
            &self.run_id,
            &self.owner,
            state.into_str(),
            pause.as_deref(),
            end.as_deref(),
            self.gateway.clock.now_ms(),
        );
        Ok(ended.await?)
    }

    fn sealed(&self, column: SealedColumn, record: &impl Serialize) -> Result<String, Error> {
        let text = serde_json::to_string(record).map_err(|cause| Error::Internal(cause.into()))?;
        sealed_of_run(
            &self.gateway,
            column,
            (&self.workspace_id, &self.run_id),
            &text,
        )
    }
}

/// A text of the row of a run. `of`: workspace and run.
pub(super) fn sealed_of_run(
    gateway: &Gateway,
    column: SealedColumn,
    of: (&str, &str),
    text: &str,
) -> Result<String, Error> {
    RowSeals::new(&gateway.vault).seal(&RowPlace::new(column, of.0, of.1), text)
}

fn opened_of_run(
    gateway: &Gateway,
    column: SealedColumn,
    row: &ScriptRunRow,
    sealed: &str,
) -> Result<String, Error> {
    let place = RowPlace::new(column, &row.workspace_id, &row.id);
    RowSeals::new(&gateway.vault).open(&place, sealed.to_owned())
}

/// What the engine was started with.
pub(super) fn start_of(gateway: &Gateway, row: &ScriptRunRow) -> Result<String, Error> {
    opened_of_run(gateway, SealedColumn::ScriptStart, row, &row.start_sealed)
}

/// What the run has waited for.
pub(super) fn pause_record(gateway: &Gateway, row: &ScriptRunRow) -> Result<PauseRecord, Error> {
    let Some(sealed) = &row.pause_sealed else {
        return Ok(PauseRecord::default());
    };
    let text = opened_of_run(gateway, SealedColumn::ScriptPause, row, sealed)?;
    serde_json::from_str(&text).map_err(|cause| Error::Internal(cause.into()))
}

pub(super) fn end_record(
    gateway: &Gateway,
    row: &ScriptRunRow,
) -> Result<Option<EndRecord>, Error> {
    let Some(sealed) = &row.end_sealed else {
        return Ok(None);
    };
    let text = opened_of_run(gateway, SealedColumn::ScriptEnd, row, sealed)?;
    serde_json::from_str(&text).map_err(|cause| Error::Internal(cause.into()))
}

/// The steps of a run with their outcomes.
pub(super) async fn steps_of(
    gateway: &Gateway,
    row: &ScriptRunRow,
) -> Result<Vec<JournaledStep>, Error> {
    let steps = gateway.store.script_steps(&row.id).await?;
    let opened = steps.into_iter();
    opened.map(|step| opened_step(gateway, row, step)).collect()
}

fn opened_step(
    gateway: &Gateway,
    run: &ScriptRunRow,
    row: ScriptStepRow,
) -> Result<JournaledStep, Error> {
    let broken = || Error::Internal(anyhow::anyhow!("a stored step of a script is broken"));
    let step = u32::try_from(row.step).map_err(|_| broken())?;
    let settled = match row.settled_order {
        None => None,
        Some(order) => {
            let number = step.to_string();
            let place = RowPlace::message(
                SealedColumn::ScriptOutcome,
                &run.workspace_id,
                &run.id,
                &number,
            );
            let sealed = row.outcome_sealed.ok_or_else(broken)?;
            Some(SettledStep {
                order: u32::try_from(order).map_err(|_| broken())?,
                now_ms: row.now_ms.ok_or_else(broken)?,
                is_ok: row.status.as_deref() == Some("ok"),
                outcome: RowSeals::new(&gateway.vault).open(&place, sealed)?,
                ended_at_ms: row.ended_at_ms.unwrap_or(row.began_at_ms),
            })
        }
    };
    Ok(JournaledStep {
        step,
        fingerprint: row.fingerprint,
        name: match row.name.is_empty() {
            true => row.kind,
            false => row.name,
        },
        line: u32::try_from(row.line).ok().filter(|line| *line > 0),
        began_at_ms: row.began_at_ms,
        execution_id: row.execution_id,
        settled,
    })
}
