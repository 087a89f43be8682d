//! Changes of Skills that toolsets name: an admin reads them before the readers of the toolsets do.
//!
//! The text of a Skill is followed by agents of people who did not write it. A key that may write Skills is an agent's,
//! so what it changes is kept apart until an admin has decided, and readers get the text of before. A workspace turns
//! that off (`review_skills`).

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Skill, full, known_shape, unknown};
use crate::audit::AuditAction;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;
use toolgate_core::visible::visible;
use toolgate_store::{SkillChange, SkillProposalRow, SkillUpdate};

/// Proposals that one list shows.
const LISTED_MAX: usize = 500;

/// A change that waits, without its texts.
#[derive(Clone, Debug, Serialize)]
pub struct ListedProposal {
    pub proposal_id: String,
    pub skill_id: String,
    /// The Skill's name as it would be.
    pub name: String,
    /// `key:<id>` or `member:<id>`.
    pub proposed_by: String,
    pub proposed_at: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct ProposalList {
    /// Oldest first.
    pub proposals: Vec<ListedProposal>,
}

/// The texts of a Skill as a person reads them: characters that cannot be seen are escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadableSkill {
    pub name: String,
    pub summary: String,
    pub instructions: String,
}

/// A change that waits, beside what readers get.
#[derive(Clone, Debug, Serialize)]
pub struct SkillProposal {
    pub proposal_id: String,
    pub skill_id: String,
    pub proposed_by: String,
    pub proposed_at: String,
    /// Names of the toolsets with the Skill.
    pub toolsets: Vec<String>,
    pub before: ReadableSkill,
    pub after: ReadableSkill,
}

/// What the admin says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalDecision {
    Approve,
    Reject,
}

/// The outcome of a decision: the Skill as readers get it now.
#[derive(Clone, Debug, Serialize)]
pub struct DecidedProposal {
    pub skill: Skill,
}

impl Gateway {
    /// Whether changes by this caller wait for an admin where a toolset names the Skill. That itself is looked at in the
    /// transaction of the change: an admin may be about to put the Skill into a toolset.
    pub(super) async fn is_reviewed(&self, caller: &Caller) -> Result<bool, Error> {
        if caller.need(Scope::Admin).is_ok() {
            return Ok(false);
        }
        let workspace = self.store.find_workspace(&caller.workspace_id).await?;
        Ok(workspace.is_none_or(|workspace| workspace.settings.review_skills))
    }

    async fn toolsets_with(&self, caller: &Caller, skill_id: &str) -> Result<Vec<String>, Error> {
        let toolsets = self.store.list_toolsets(&caller.workspace_id).await?;
        let named = toolsets
            .into_iter()
            .filter(|row| row.skills.iter().any(|id| id == skill_id));
        Ok(named.map(|row| row.name).collect())
    }

    /// Keeps a change apart; answers the Skill as readers still get it.
    pub(super) async fn propose_skill(
        &self,
        caller: &Caller,
        before: Skill,
        change: &SkillChange<'_>,
    ) -> Result<Skill, Error> {
        let stale = |version: i64| {
            Err(Error::Conflict(format!(
                "the stored version is {version}, not {}",
                change.if_version.unwrap_or(before.version)
            )))
        };
        if change
            .if_version
            .is_some_and(|wanted| wanted != before.version)
        {
            return stale(before.version);
        }
        let text = |new: Option<&str>, old: &str| new.unwrap_or(old).to_owned();
        let row = SkillProposalRow {
            workspace_id: caller.workspace_id.to_string(),
            skill_id: before.skill_id.clone(),
            id: ids::ulid("prp"),
            version: before.version,
            name: text(change.name, &before.name),
            summary: text(change.summary, &before.summary),
            instructions: text(change.instructions, &before.instructions),
            proposed_by: caller.actor(),
            created_at_ms: self.clock.now_ms(),
        };
        let details = json!({ "name": row.name });
        let kept = self
            .audited(
                caller,
                AuditAction::SkillsPropose,
                &before.skill_id,
                details,
            )
            .propose_skill(&row)
            .await?;
        if !kept {
            let now = self.find_skill(caller, &before.skill_id).await?;
            return stale(now.version);
        }
        Ok(Skill {
            change_waits: true,
            ..before
        })
    }

    /// Refuses to delete a Skill that readers of a toolset follow.
    pub(super) async fn check_skill_deletion(
        &self,
        caller: &Caller,
        skill_id: &str,
    ) -> Result<(), Error> {
        if !self.is_reviewed(caller).await? {
            return Ok(());
        }
        let toolsets = self.toolsets_with(caller, skill_id).await?;
        let Some(toolset) = toolsets.first() else {
            return Ok(());
        };
        Err(Error::Conflict(format!(
            "the Skill is in the toolset {toolset}; an admin deletes it, or takes it out of the toolset"
        )))
    }

    /// What waits in the workspace.
    pub async fn skill_proposals(&self, caller: &Caller) -> Result<ProposalList, Error> {
        caller.need(Scope::Admin)?;
        let rows = self
            .store
            .list_skill_proposals(&caller.workspace_id, LISTED_MAX)
            .await?;
        let proposals = rows.into_iter().map(|row| ListedProposal {
            proposal_id: row.id,
            skill_id: row.skill_id,
            name: visible(&row.name).into_owned(),
            proposed_by: row.proposed_by,
            proposed_at: rfc3339(row.created_at_ms),
        });
        Ok(ProposalList {
            proposals: proposals.collect(),
        })
    }

    /// What waits for one Skill.
    pub async fn skill_proposal(
        &self,
        caller: &Caller,
        skill_id: &str,
    ) -> Result<SkillProposal, Error> {
        caller.need(Scope::Admin)?;
        let id = known_shape(skill_id)?;
        let before = self.find_skill(caller, id).await?;
        let row = self.waiting_proposal(caller, id).await?;
        let readable = |name: &str, summary: &str, instructions: &str| ReadableSkill {
            name: visible(name).into_owned(),
            summary: visible(summary).into_owned(),
            instructions: visible(instructions).into_owned(),
        };
        Ok(SkillProposal {
            proposal_id: row.id,
            proposed_by: row.proposed_by,
            proposed_at: rfc3339(row.created_at_ms),
            toolsets: self.toolsets_with(caller, id).await?,
            before: readable(&before.name, &before.summary, &before.instructions),
            after: readable(&row.name, &row.summary, &row.instructions),
            skill_id: before.skill_id,
        })
    }

    /// Decides the very proposal that was read.
    ///
    /// # Errors
    /// `conflict` where another one has taken its place, or the Skill has changed since.
    pub async fn decide_skill_proposal(
        &self,
        caller: &Caller,
        skill_id: &str,
        proposal_id: &str,
        decision: ProposalDecision,
    ) -> Result<DecidedProposal, Error> {
        caller.need(Scope::Admin)?;
        let id = known_shape(skill_id)?;
        let row = self.waiting_proposal(caller, id).await?;
        let replaced =
            || Error::Conflict("the change is another one by now; read it again".to_owned());
        if row.id != proposal_id {
            return Err(replaced());
        }
        let (workspace_id, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let mut details = json!({ "name": row.name, "proposed_by": row.proposed_by });
        if decision == ProposalDecision::Reject {
            let deleted = self
                .audited(caller, AuditAction::SkillsReject, id, details)
                .delete_skill_proposal(workspace_id, id, proposal_id)
                .await?;
            if !deleted {
                return Err(replaced());
            }
            let skill = self.find_skill(caller, id).await?;
            return Ok(DecidedProposal { skill });
        }
        let change = SkillChange {
            name: Some(&row.name),
            summary: Some(&row.summary),
            instructions: Some(&row.instructions),
            if_version: Some(row.version),
            // An admin has read it.
            unless_in_toolset: false,
        };
        details["changed"] = json!(["name", "summary", "instructions"]);
        let updated = self
            .audited(caller, AuditAction::SkillsUpdate, id, details)
            .update_skill(workspace_id, id, &change, now_ms)
            .await?;
        match updated {
            SkillUpdate::Updated(row) => Ok(DecidedProposal { skill: full(row) }),
            SkillUpdate::Stale { .. } | SkillUpdate::InToolset => Err(replaced()),
            SkillUpdate::NotFound => Err(unknown(skill_id)),
        }
    }

    async fn waiting_proposal(
        &self,
        caller: &Caller,
        skill_id: &str,
    ) -> Result<SkillProposalRow, Error> {
        let found = self.store.skill_proposal(&caller.workspace_id, skill_id);
        let missing = || Error::NotFound("a change of the Skill that waits".to_owned());
        found.await?.ok_or_else(missing)
    }
}
