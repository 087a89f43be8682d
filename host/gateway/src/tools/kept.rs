//! What a run left behind is handed out only to who could have it now.
//!
//! The answer that is kept for an `Idempotency-Key` and the rest of a large result are results of a
//! tool: after a deny, or once the connection is gone, they are refused as the call itself would be.

use crate::access::permissions::{self, Permission};
use crate::{Caller, Error, Gateway};
use toolgate_core::ids::UserId;

impl Gateway {
    /// Refuses the result of the execution: the tool or the connection is not the user's any more, or
    /// a person would have to be asked and was not. `asked_for`: the tool as the caller names it.
    pub(super) async fn check_result_access(
        &self,
        caller: &Caller,
        user: &UserId,
        execution_id: &str,
        asked_for: Option<&str>,
    ) -> Result<(), Error> {
        let _ = self.receipts.flush().await;
        let ran = self
            .store
            .find_execution(&caller.workspace_id, execution_id)
            .await?
            .filter(|row| row.user_id.as_str() == user.as_str());
        let tool_name = match (&ran, asked_for) {
            (_, Some(name)) => name,
            (Some(row), None) => row.tool_name.as_str(),
            // Its receipt is gone: whose result it is cannot be told any more.
            (None, None) => return Err(permissions::denied(user, execution_id)),
        };
        let permissions = self.permissions_of(caller, user).await?;
        let snapshot = self.snapshot();
        let tool = snapshot
            .catalog
            .get(tool_name)
            .ok_or_else(|| self.tool_not_found(tool_name, &permissions))?;
        permissions.check(user, tool)?;
        let refused = || permissions::denied(user, &tool.name);
        if permissions.decide(tool).permission == Permission::Ask
            && !permissions.allowed_calls_used_up(tool)
        {
            let approved = self
                .store
                .was_run_with_approval(&caller.workspace_id, execution_id);
            if !approved.await? {
                return Err(refused());
            }
        }
        let ran = ran
            .as_ref()
            .filter(|row| row.tool_name.as_str() == tool_name)
            .ok_or_else(refused)?;
        if let Some(connection_id) = &ran.connection_id {
            let found = self
                .store
                .find_connection(&caller.workspace_id, connection_id)
                .await?;
            found
                .filter(|row| row.user_id == user.as_str())
                .ok_or_else(refused)?;
        }
        Ok(())
    }
}
