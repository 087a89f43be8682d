//! Reading, listing and cancelling runs, and the setting that lets a workspace run scripts.

use serde_json::json;

use super::answer::{stored_run, summary};
use super::limits::LIST_LIMIT_MAX;
use super::steps::RunFacts;
use super::{ScriptRun, ScriptRunPage, ScriptRunSummary, ScriptStatus};
use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::ids::UserId;
use toolgate_core::visible::shown_name;
use toolgate_store::ScriptRunRow;

impl Gateway {
    /// One run as it is now. The link of one that waits for a connection is not kept; resuming it answers a new one.
    ///
    /// # Errors
    /// `not_found` for a run of another workspace, and of a user for whom the caller does not act.
    pub async fn script_run(&self, caller: &Caller, run_id: &str) -> Result<ScriptRun, Error> {
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_script_run(caller, run_id).await?;
        let read = [(&*row.id, &*row.user_id)];
        self.record_reading(caller, AuditAction::ScriptsRead, &read)
            .await?;
        let steps = self.store.script_step_list(&row.id).await?;
        stored_run(self, row, steps)
    }

    /// Runs of a user, or of all where none is named and the caller acts for all; newest first, without what they say.
    ///
    /// # Errors
    /// `invalid_request` for a cursor that no page has given, and a limit beyond 100.
    pub async fn script_runs(
        &self,
        caller: &Caller,
        user: Option<UserId>,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<ScriptRunPage, Error> {
        caller.need(Scope::ToolsExecute)?;
        let user = caller.listed_user(user)?;
        if !(1..=LIST_LIMIT_MAX).contains(&limit) {
            return Err(Error::InvalidRequest(format!(
                "limit must be 1 to {LIST_LIMIT_MAX}, not {limit}"
            )));
        }
        if cursor.is_some_and(|cursor| !is_run_id(cursor)) {
            return Err(Error::InvalidRequest(
                "invalid cursor: pass the next_cursor of the previous page".to_owned(),
            ));
        }
        let limit = limit as usize;
        let user = user.as_ref().map(UserId::as_str);
        let listed = self
            .store
            .list_script_runs(&caller.workspace_id, user, cursor, limit + 1);
        let mut rows = listed.await?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| more);
        let next_cursor = last.map(|row| row.id.clone());
        let items: Result<Vec<ScriptRunSummary>, Error> = rows.iter().map(summary).collect();
        Ok(ScriptRunPage {
            items: items?,
            next_cursor,
        })
    }

    /// Ends a run that is not over: nothing further begins, and a call that has begun is brought to its end.
    ///
    /// # Errors
    /// `not_found` as of [`Gateway::script_run`]; `conflict` for a run that is over.
    pub async fn cancel_script(&self, caller: &Caller, run_id: &str) -> Result<ScriptRun, Error> {
        caller.need(Scope::ToolsExecute)?;
        let row = self.find_script_run(caller, run_id).await?;
        let now_ms = self.clock.now_ms();
        let cancelled = self
            .store
            .cancel_script_run(&caller.workspace_id, run_id, now_ms);
        if !cancelled.await? {
            return Err(Error::Conflict(
                "the run is over: read it to see how it ended".to_owned(),
            ));
        }
        let facts = facts_of(&row)?;
        self.keep_cancelled_receipt(caller, &facts).await;
        let steps = self.store.script_step_list(&row.id).await?;
        let row = ScriptRunRow {
            state: ScriptStatus::Cancelled.into_str().to_owned(),
            pause_sealed: None,
            ..row
        };
        stored_run(self, row, steps)
    }

    /// The run with this id, if it is of a user for whom the caller acts and has not expired.
    pub(super) async fn find_script_run(
        &self,
        caller: &Caller,
        run_id: &str,
    ) -> Result<ScriptRunRow, Error> {
        let now_ms = self.clock.now_ms();
        let found = match is_run_id(run_id) {
            true => self.store.script_run(&caller.workspace_id, run_id).await?,
            false => None,
        };
        found
            .filter(|row| caller.acts_for(&row.user_id) && row.expires_at_ms > now_ms)
            .ok_or_else(|| Error::NotFound(format!("the script run {}", shown_name(run_id))))
    }

    /// Whether scripts run in the caller's workspace.
    ///
    /// # Errors
    /// `scope_denied` without the scope that lists tools.
    pub async fn code_mode(&self, caller: &Caller) -> Result<bool, Error> {
        caller.need(Scope::ToolsRead)?;
        Ok(self.store.code_mode(&caller.workspace_id).await?)
    }

    /// Lets scripts run in the caller's workspace, or not any more. Runs that are under way go on; those that wait are
    /// not resumed.
    ///
    /// # Errors
    /// `scope_denied` and `role_denied` for all but administrators.
    pub async fn set_code_mode(&self, caller: &Caller, enabled: bool) -> Result<(), Error> {
        caller.need(Scope::Admin)?;
        let (id, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let details = json!({ "enabled": enabled });
        let changed = self
            .audited(caller, AuditAction::WorkspaceCodeMode, id, details)
            .set_code_mode(id, enabled, now_ms)
            .await?;
        match changed {
            true => Ok(()),
            false => Err(Error::InvalidApiKey),
        }
    }
}

/// `run_` and a ULID, as ids and cursors are.
fn is_run_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    text.strip_prefix("run_")
        .is_some_and(|number| number.len() == 26 && number.bytes().all(plain))
}

fn facts_of(row: &ScriptRunRow) -> Result<RunFacts, Error> {
    Ok(RunFacts {
        run_id: row.id.clone(),
        user: UserId::parse(&row.user_id).map_err(|cause| Error::Internal(cause.into()))?,
        session_id: row.session_id.clone(),
        dry_run: row.dry_run,
        execution_id: row.execution_id.as_str().into(),
        script_sha256: row.script_sha256.clone(),
        created_at_ms: row.created_at_ms,
    })
}
