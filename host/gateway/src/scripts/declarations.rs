//! What a script sees, as TypeScript.

use std::sync::Arc;

use super::limits::TYPES_MAX;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::Tool;
use toolgate_catalog::typescript::declarations;
use toolgate_core::ids::UserId;

impl Gateway {
    /// TypeScript declarations of these tools, and of what else a script sees.
    ///
    /// # Errors
    /// `tool_not_found` for a name that no tool has; `permission_denied` for a tool that the user may not use;
    /// `invalid_request` beyond 600 names.
    pub async fn typescript_of(
        &self,
        caller: &Caller,
        user_id: Option<&UserId>,
        names: &[String],
    ) -> Result<String, Error> {
        caller.need(Scope::ToolsRead)?;
        if names.len() > TYPES_MAX {
            return Err(Error::InvalidRequest(format!(
                "at most {TYPES_MAX} tools are declared at once"
            )));
        }
        let user = caller.user(user_id)?;
        let permissions = self.permissions_of(caller, &user).await?;
        let snapshot = self.snapshot();
        let mut tools: Vec<&Arc<Tool>> = Vec::with_capacity(names.len());
        for name in names {
            let tool = snapshot.catalog.get(name);
            let tool = tool.ok_or_else(|| self.tool_not_found(name, &permissions))?;
            permissions.check(&user, tool)?;
            tools.push(tool);
        }
        Ok(declarations(tools.into_iter().map(|tool| &**tool)))
    }
}
