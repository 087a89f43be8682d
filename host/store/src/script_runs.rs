//! Runs of scripts: what each began with, which process runs it, and how it ended. Their steps are in
//! [`super::script_steps`].
//!
//! One process runs a script at a time: it holds the row's lease, under a name that no other run of a script has. It
//! changes the row only as the holder, so a process that was held up changes nothing once another one has gone on.

use super::{Store, StoreError, Writer, portable};
use crate::columns::select;

/// Sorts after every id.
const AFTER_ALL: &str = "~";

/// States of a run that may be run again.
const GOES_ON: [&str; 2] = ["running", "paused"];

/// Drops what a run that is over was started with and what its steps were answered.
macro_rules! forget_journal {
    ($tx:ident, $id:expr) => {
        sqlx::query("UPDATE script_runs SET start_sealed = '' WHERE id = $1")
            .bind($id)
            .execute(&mut *$tx)
            .await?;
        sqlx::query("UPDATE script_steps SET outcome_sealed = NULL WHERE run_id = $1")
            .bind($id)
            .execute(&mut *$tx)
            .await?;
    };
}

/// One run. Its texts are sealed.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ScriptRunRow {
    pub workspace_id: String,
    /// `run_<ULID>`.
    pub id: String,
    pub user_id: String,
    pub session_id: Option<String>,
    /// The key that asked.
    pub actor: String,
    /// The receipt of the run itself.
    pub execution_id: String,
    /// Hexadecimal.
    pub script_sha256: String,
    /// Hexadecimal: another engine may not repeat what this one did.
    pub engine_sha256: String,
    /// `running`, `paused`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// Steps that have begun.
    pub steps: i64,
    pub dry_run: bool,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
    /// From then on it may be deleted.
    pub expires_at_ms: i64,
    /// Who runs it; `None`: no process.
    pub lease_owner: Option<String>,
    /// 0 without a holder.
    pub lease_until_ms: i64,
    /// What a paused run waits for; absent in lists.
    pub pause_sealed: Option<String>,
    /// The script and what it was started with; empty in lists, and once the run is over.
    pub start_sealed: String,
    /// The outcome of a run that is over; absent in lists.
    pub end_sealed: Option<String>,
}

/// A run that begins, in the state `running`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewScriptRun {
    pub workspace_id: String,
    /// `run_<ULID>`.
    pub id: String,
    pub user_id: String,
    pub session_id: Option<String>,
    pub actor: String,
    pub execution_id: String,
    pub script_sha256: String,
    pub engine_sha256: String,
    pub start_sealed: String,
    pub dry_run: bool,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
    /// Who runs it from the start; `None`: it is claimed later.
    pub lease_owner: Option<String>,
    /// 0 without a holder.
    pub lease_until_ms: i64,
}

/// A page of runs before `$2`, without the texts that may be large.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            "SELECT workspace_id, id, user_id, session_id, actor, execution_id, script_sha256, engine_sha256, state, \
             steps, dry_run, created_at_ms, updated_at_ms, expires_at_ms, lease_owner, lease_until_ms, \
             CAST(NULL AS TEXT) AS pause_sealed, CAST('' AS TEXT) AS start_sealed, CAST(NULL AS TEXT) AS end_sealed \
             FROM script_runs WHERE workspace_id = $1 AND id < $2",
            $filter,
            " ORDER BY id DESC LIMIT $3"
        )
    };
}

impl Store {
    pub async fn insert_script_run(&self, run: &NewScriptRun) -> Result<(), StoreError> {
        portable!(one self, db => {
            sqlx::query(
                "INSERT INTO script_runs (workspace_id, id, user_id, session_id, actor, execution_id, script_sha256, \
                 engine_sha256, state, steps, dry_run, created_at_ms, updated_at_ms, expires_at_ms, lease_owner, \
                 lease_until_ms, start_sealed) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', 0, $9, $10, $10, $11, $12, $13, $14)",
            )
            .bind(&run.workspace_id)
            .bind(&run.id)
            .bind(&run.user_id)
            .bind(&run.session_id)
            .bind(&run.actor)
            .bind(&run.execution_id)
            .bind(&run.script_sha256)
            .bind(&run.engine_sha256)
            .bind(run.dry_run)
            .bind(run.created_at_ms)
            .bind(run.expires_at_ms)
            .bind(&run.lease_owner)
            .bind(run.lease_until_ms)
            .bind(&run.start_sealed)
            .execute(db)
            .await?
            .rows_affected()
        });
        Ok(())
    }

    pub async fn script_run(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<ScriptRunRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(script_runs, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first, of one user or of all, without its texts. `before`: the last id of the page
    /// before.
    pub async fn list_script_runs(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ScriptRunRow>, StoreError> {
        let statement = match user_id {
            None => page_of!(""),
            Some(_) => page_of!(" AND user_id = $4"),
        };
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(before.unwrap_or(AFTER_ALL))
                .bind(i64::try_from(limit).unwrap_or(i64::MAX));
            if let Some(user_id) = user_id {
                query = query.bind(user_id);
            }
            query.fetch_all(db).await?
        }))
    }

    /// Takes the lease of a run that is not over and that no process runs, and sets it running. A lease that is longer
    /// than one can be is of a clock that was ahead. `false`: another process runs it, it is over, or it does not
    /// exist.
    pub async fn claim_script_run(
        &self,
        workspace_id: &str,
        id: &str,
        owner: &str,
        now_ms: i64,
        until_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(one self, db => {
            sqlx::query(
                "UPDATE script_runs SET state = 'running', lease_owner = $3, lease_until_ms = $5, updated_at_ms = $4 \
                 WHERE workspace_id = $1 AND id = $2 AND state IN ('running', 'paused') \
                 AND (lease_owner IS NULL OR lease_until_ms <= $4 OR lease_until_ms - 3600000 > $4)",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(owner)
            .bind(now_ms)
            .bind(until_ms)
            .execute(db)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Holds the lease on. `false`: the run was cancelled, or is not this owner's any more.
    pub async fn renew_script_lease(
        &self,
        id: &str,
        owner: &str,
        until_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(one self, db => {
            sqlx::query(
                "UPDATE script_runs SET lease_until_ms = $3 \
                 WHERE id = $1 AND lease_owner = $2 AND state = 'running'",
            )
            .bind(id)
            .bind(owner)
            .bind(until_ms)
            .execute(db)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Notes how a run ended or for what it waits, and gives the lease back. Of one that is over nothing is run again: what
    /// it began with and what its steps were answered goes. `false`: the run was cancelled, or is not this owner's any
    /// more, and nothing was stored.
    pub async fn end_script_run(
        &self,
        id: &str,
        owner: &str,
        state: &str,
        pause_sealed: Option<&str>,
        end_sealed: Option<&str>,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let ended = sqlx::query(
                "UPDATE script_runs SET state = $3, pause_sealed = $4, end_sealed = $5, updated_at_ms = $6, \
                 lease_owner = NULL, lease_until_ms = 0 \
                 WHERE id = $1 AND lease_owner = $2 AND state = 'running'",
            )
            .bind(id)
            .bind(owner)
            .bind(state)
            .bind(pause_sealed)
            .bind(end_sealed)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            if ended && !GOES_ON.contains(&state) {
                forget_journal!(tx, id);
            }
            ended
        }))
    }

    /// Deletes runs that have expired and that no process holds, with their steps: at most `limit`, so that no writer
    /// waits long. Call again while it answers `limit`.
    pub async fn delete_expired_script_runs(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM script_runs WHERE (workspace_id, id) IN (SELECT workspace_id, id FROM script_runs \
                 WHERE expires_at_ms <= $1 AND lease_until_ms <= $1 ORDER BY expires_at_ms LIMIT $2)",
            )
            .bind(now_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}

impl Writer {
    /// Ends a run that is not over, and drops its journal as [`Store::end_script_run`] does. The process that runs it
    /// begins no further step, and may still note how those ended that have begun. `false`: it is over, or does not exist.
    pub async fn cancel_script_run(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let cancelled = sqlx::query(
                "UPDATE script_runs SET state = 'cancelled', pause_sealed = NULL, updated_at_ms = $3 \
                 WHERE workspace_id = $1 AND id = $2 AND state IN ('running', 'paused')",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            if cancelled {
                forget_journal!(tx, id);
            }
            cancelled
        }))
    }
}
