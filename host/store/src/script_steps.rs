//! Steps of scripts: what a run asked for, and what it was answered, in the order in which it learned it.
//!
//! A step is written before it is done and once more with its outcome, both by the process that holds the lease of its
//! run. A process that goes on with the run tells the script the outcomes again, in their order, and does what has begun
//! and has no outcome.

use super::{Store, StoreError, portable};
use crate::columns::select;

/// One step of a run.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ScriptStepRow {
    pub run_id: String,
    /// From 0, in the order in which the script asked.
    pub step: i64,
    /// `tool`, `search`, `describe`, `skill` or `sleep`.
    pub kind: String,
    /// SHA-256 of what was asked, hexadecimal: a script that asks for something else here is not the same.
    pub fingerprint: String,
    /// The tool's name; empty for the other kinds.
    pub name: String,
    /// From 1, in the script.
    pub line: i64,
    /// The receipt of the call.
    pub execution_id: Option<String>,
    /// The place of the outcome among those of the run, from 0; `None`: it has none yet.
    pub settled_order: Option<i64>,
    /// The time that the script was told with the outcome.
    pub now_ms: Option<i64>,
    /// `ok` or `error`.
    pub status: Option<String>,
    pub began_at_ms: i64,
    pub ended_at_ms: Option<i64>,
    /// What the script was answered, sealed; absent in lists, and once the run is over.
    pub outcome_sealed: Option<String>,
}

impl Store {
    /// Writes down that a step begins, and counts it. One that has begun before stays as it is. `false`: the run was
    /// cancelled or is not this owner's any more, and nothing was written.
    pub async fn begin_script_step(
        &self,
        run_id: &str,
        owner: &str,
        step: &ScriptStepRow,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // Locks the row: another process that claims the run waits, or this finds that it has.
            let held = sqlx::query(
                "UPDATE script_runs SET updated_at_ms = $3, steps = steps + CASE WHEN EXISTS \
                 (SELECT 1 FROM script_steps WHERE run_id = $1 AND step = $4) THEN 0 ELSE 1 END \
                 WHERE id = $1 AND lease_owner = $2 AND state = 'running'",
            )
            .bind(run_id)
            .bind(owner)
            .bind(step.began_at_ms)
            .bind(step.step)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            if held {
                sqlx::query(
                    "INSERT INTO script_steps (workspace_id, run_id, step, kind, fingerprint, name, line, \
                     execution_id, began_at_ms) SELECT workspace_id, $1, $2, $3, $4, $5, $6, $7, $8 \
                     FROM script_runs WHERE id = $1 ON CONFLICT (run_id, step) DO NOTHING",
                )
                .bind(run_id)
                .bind(step.step)
                .bind(&step.kind)
                .bind(&step.fingerprint)
                .bind(&step.name)
                .bind(step.line)
                .bind(&step.execution_id)
                .bind(step.began_at_ms)
                .execute(&mut *tx)
                .await?;
            }
            held
        }))
    }

    /// Writes the outcome of a step, once. `now_ms`: the time that the script is told with it. Of a run that was
    /// cancelled it is noted that the step ended, without the text. `false`: the run is not this owner's any more, or the step has an outcome
    /// or has not begun, and nothing was written.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a column of the row that is written"
    )]
    pub async fn settle_script_step(
        &self,
        run_id: &str,
        owner: &str,
        step: i64,
        settled_order: i64,
        now_ms: i64,
        status: &str,
        outcome_sealed: &str,
        execution_id: Option<&str>,
        ended_at_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // Locks the row: another process that claims the run reads this outcome, or this finds that it has.
            let held = sqlx::query(
                "UPDATE script_runs SET updated_at_ms = $3 WHERE id = $1 AND lease_owner = $2",
            )
            .bind(run_id)
            .bind(owner)
            .bind(ended_at_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            held && sqlx::query(
                "UPDATE script_steps SET settled_order = $3, now_ms = $4, status = $5, \
                 outcome_sealed = CASE WHEN EXISTS (SELECT 1 FROM script_runs WHERE id = $1 AND state = 'running') \
                 THEN $6 ELSE NULL END, execution_id = COALESCE($7, execution_id), ended_at_ms = $8 \
                 WHERE run_id = $1 AND step = $2 AND settled_order IS NULL",
            )
            .bind(run_id)
            .bind(step)
            .bind(settled_order)
            .bind(now_ms)
            .bind(status)
            .bind(outcome_sealed)
            .bind(execution_id)
            .bind(ended_at_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// All steps of a run, by their number. The caller has found the run in its workspace.
    pub async fn script_steps(&self, run_id: &str) -> Result<Vec<ScriptStepRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(script_steps, "WHERE run_id = $1 ORDER BY step"))
                .bind(run_id)
                .fetch_all(db)
                .await?
        }))
    }

    /// The same without what the steps were answered, which may be large.
    pub async fn script_step_list(&self, run_id: &str) -> Result<Vec<ScriptStepRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT run_id, step, kind, fingerprint, name, line, execution_id, settled_order, now_ms, status, \
                 began_at_ms, ended_at_ms, CAST(NULL AS TEXT) AS outcome_sealed \
                 FROM script_steps WHERE run_id = $1 ORDER BY step",
            )
            .bind(run_id)
            .fetch_all(db)
            .await?
        }))
    }
}
