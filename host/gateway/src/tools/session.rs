//! The session that a call belongs to: whose it is, and when its first use begins it.

use super::execute::checked_session_id;
use crate::{Caller, Error, Gateway};
use toolgate_core::ids::UserId;
use toolgate_store as store;

/// What sessions that were created begin with; executions make `tool_` sessions by themselves.
pub(crate) const CREATED: &str = "ses_";

impl Gateway {
    /// A session that is still there. One that only its call knows becomes a row, now that it is used.
    pub(crate) async fn find_session(
        &self,
        caller: &Caller,
        session_id: &str,
    ) -> Result<Option<store::SessionRow>, Error> {
        let (workspace_id, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let found = self.store.find_session(workspace_id, session_id, now_ms);
        if let Some(row) = found.await? {
            return self.opened_session(row).map(Some);
        }
        let of_call = self
            .store
            .session_of_execution(workspace_id, session_id, now_ms);
        let Some(row) = of_call.await? else {
            return Ok(None);
        };
        self.store.keep_session(&row).await?;
        Ok(Some(row))
    }

    /// Refuses a session of another user than the run's: what plugins keep in it is that user's. It
    /// is refused like one that was never created, or is gone. Other names are the caller's own and
    /// begin with their first use, for its user; who may act for one user alone takes up only what
    /// is there.
    pub(crate) async fn check_session(
        &self,
        caller: &Caller,
        user: &UserId,
        session_id: Option<&str>,
    ) -> Result<(), Error> {
        let Some(id) = session_id else {
            return Ok(());
        };
        let now_ms = self.clock.now_ms();
        let mut found = self
            .store
            .find_session(&caller.workspace_id, id, now_ms)
            .await?;
        if found.is_none() {
            // A run that has just ended may have begun it.
            let _ = self.receipts.flush().await;
            found = self.find_session(caller, id).await?;
            if found.is_none() && !caller.confined && !id.starts_with(CREATED) {
                let begun = store::SessionRow {
                    workspace_id: caller.workspace_id.clone(),
                    id: checked_session_id(id.to_owned())?.into(),
                    user_id: user.text(),
                    prompt: None,
                    created_at_ms: now_ms,
                    last_active_at_ms: now_ms,
                };
                found = Some(self.store.open_session(&begun).await?);
            }
        }
        match found {
            Some(row) if row.user_id == user.as_str() => Ok(()),
            _ => Err(unknown(id)),
        }
    }
}

pub(crate) fn unknown(session_id: &str) -> Error {
    Error::SessionNotFound(toolgate_core::visible::shown_name(session_id))
}
