//! Which Skills a server has as files: those of the workspace, or those of a toolset.

use rmcp::RoleServer;
use rmcp::model::{ErrorData, PaginatedRequestParams};
use rmcp::service::RequestContext;

use super::{McpServer, refused};
use crate::operations::Operations;
use crate::skills;
use toolgate_gateway::Error;
use toolgate_gateway::skills::{ListSkills, Skill};
use toolgate_gateway::toolsets::listing::{ToolSource, ToolsetTools};

impl McpServer {
    /// One page of the workspace's Skills in full, newest first, and where the next begins.
    pub(super) async fn skills(
        &self,
        page: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Vec<Skill>, Option<String>), ErrorData> {
        let cursor = page.and_then(|page| page.cursor).unwrap_or_default();
        let offset = match cursor.as_str() {
            "" => Ok(0),
            digits => digits.parse::<usize>(),
        };
        let offset = offset.map_err(|_| ErrorData::invalid_params("invalid cursor", None))?;
        let operations = self.operations(context)?;
        if let Some(listed) = self.toolset(context).await?
            && !listed.generic_tools
        {
            return chosen_skills(&*operations, &listed, offset).await;
        }
        let list = ListSkills {
            query: String::new(),
            limit: skills::PAGE,
            offset,
        };
        let listed = operations.list_skills(list).await.map_err(refused)?;
        let end = offset + listed.skills.len();
        let mut whole = Vec::with_capacity(listed.skills.len());
        for listed in &listed.skills {
            match operations.skill(&listed.skill_id).await {
                Ok(skill) => whole.push(skill),
                // Deleted since the page was read.
                Err(Error::SkillNotFound(_)) => {}
                Err(error) => return Err(refused(error)),
            }
        }
        let next = (end < listed.total && !listed.skills.is_empty()).then(|| end.to_string());
        Ok((whole, next))
    }

    /// The Skill whose current address is `uri`.
    pub(super) async fn skill_at(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Skill>, ErrorData> {
        let Some(id) = skills::id_of(uri) else {
            return Ok(None);
        };
        if let Some(listed) = self.toolset(context).await?
            && !listed.generic_tools
            && !skill_ids(&listed).any(|chosen| chosen == id)
        {
            return Ok(None);
        }
        match self.operations(context)?.skill(id).await {
            Ok(skill) => Ok(Some(skill).filter(|skill| skills::uri(skill) == uri)),
            Err(Error::SkillNotFound(_)) => Ok(None),
            Err(error) => Err(refused(error)),
        }
    }
}

/// The Skills of a toolset, by id.
fn skill_ids(listed: &ToolsetTools) -> impl Iterator<Item = &str> {
    listed.tools.iter().filter_map(|tool| match &tool.source {
        ToolSource::Skill { skill_id } => Some(skill_id.as_str()),
        ToolSource::Tool { .. } => None,
    })
}

/// One page of the Skills of a toolset in full, and where the next begins.
async fn chosen_skills(
    operations: &dyn Operations,
    listed: &ToolsetTools,
    offset: usize,
) -> Result<(Vec<Skill>, Option<String>), ErrorData> {
    let ids: Vec<&str> = skill_ids(listed).skip(offset).collect();
    let mut whole = Vec::new();
    for id in ids.iter().take(skills::PAGE) {
        match operations.skill(id).await {
            Ok(skill) => whole.push(skill),
            // Deleted since the list was read.
            Err(Error::SkillNotFound(_)) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    let more = ids.len() > skills::PAGE;
    Ok((whole, more.then(|| (offset + skills::PAGE).to_string())))
}
