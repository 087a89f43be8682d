//! Changes of Skills that wait for an admin.

use super::{Store, StoreError, Writer, portable};
use crate::columns::select;

/// A Skill as somebody wants it to be.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SkillProposalRow {
    pub workspace_id: String,
    pub skill_id: String,
    /// `prp_<ULID>`: another one than that of an earlier proposal.
    pub id: String,
    /// The version of the Skill that it changes.
    pub version: i64,
    pub name: String,
    pub summary: String,
    pub instructions: String,
    /// `key:<id>` or `member:<id>`.
    pub proposed_by: String,
    pub created_at_ms: i64,
}

impl Store {
    pub async fn skill_proposal(
        &self,
        workspace_id: &str,
        skill_id: &str,
    ) -> Result<Option<SkillProposalRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(skill_proposals, "WHERE workspace_id = $1 AND skill_id = $2"))
                .bind(workspace_id)
                .bind(skill_id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Those of the workspace, oldest first. `limit`: how many at most.
    pub async fn list_skill_proposals(
        &self,
        workspace_id: &str,
        limit: usize,
    ) -> Result<Vec<SkillProposalRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(
                skill_proposals,
                "WHERE workspace_id = $1 ORDER BY created_at_ms, skill_id LIMIT $2"
            ))
            .bind(workspace_id)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(db)
            .await?
        }))
    }
}

impl Writer {
    /// Keeps a proposal in place of an earlier one. `false`: the Skill is not there, or at another version.
    pub async fn propose_skill(&self, proposal: &SkillProposalRow) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "INSERT INTO skill_proposals (workspace_id, skill_id, id, version, name, summary, instructions, \
                 proposed_by, created_at_ms) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 \
                 WHERE EXISTS (SELECT 1 FROM skills WHERE workspace_id = $1 AND id = $2 AND version = $4) \
                 ON CONFLICT (workspace_id, skill_id) DO UPDATE SET id = excluded.id, version = excluded.version, \
                 name = excluded.name, summary = excluded.summary, instructions = excluded.instructions, \
                 proposed_by = excluded.proposed_by, created_at_ms = excluded.created_at_ms",
            )
            .bind(&proposal.workspace_id)
            .bind(&proposal.skill_id)
            .bind(&proposal.id)
            .bind(proposal.version)
            .bind(&proposal.name)
            .bind(&proposal.summary)
            .bind(&proposal.instructions)
            .bind(&proposal.proposed_by)
            .bind(proposal.created_at_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Forgets this very proposal. `false`: it is not there any more.
    pub async fn delete_skill_proposal(
        &self,
        workspace_id: &str,
        skill_id: &str,
        id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM skill_proposals WHERE workspace_id = $1 AND skill_id = $2 AND id = $3")
                .bind(workspace_id)
                .bind(skill_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
