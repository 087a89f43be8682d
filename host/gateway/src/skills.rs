//! Skills: named, reusable instructions that every agent of a workspace finds in the same place.
//!
//! A Skill is text and nothing more: the gateway keeps it, counts its versions and never runs it.
//! Read [`crate::skills::check`] for what a Skill needs before a user can follow it.

pub mod check;
pub mod review;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::audit::AuditAction;
use crate::stored_quota::Stored;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;
use toolgate_core::visible::shown_name;
use toolgate_store as store;

pub const NAME_CHARS_MAX: usize = 200;
pub const SUMMARY_CHARS_MAX: usize = 2_000;
pub const INSTRUCTIONS_CHARS_MAX: usize = 100_000;
pub const LIST_LIMIT_MAX: usize = 100;
/// Beyond this nobody pages; the database would count rows for nothing.
pub const LIST_OFFSET_MAX: usize = 1_000_000;
pub const QUERY_CHARS_MAX: usize = 1_000;

/// A Skill in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Skill {
    #[schema(format = "uuid")]
    pub skill_id: String,
    pub name: String,
    /// What it does and when to use it.
    pub summary: String,
    pub instructions: String,
    /// 1 when new, one more with each update.
    pub version: i64,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// In the answer to an update: a toolset names the Skill, so the change waits for an admin, and these are the texts
    /// that readers still get.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub change_waits: bool,
}

/// A Skill as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ListedSkill {
    #[schema(format = "uuid")]
    pub skill_id: String,
    pub name: String,
    pub summary: String,
    pub version: i64,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// `GET /v1/skills` and `svc_list_skills`.
#[derive(Clone, Debug)]
pub struct ListSkills {
    /// Every word must occur in name or summary; empty finds all.
    pub query: String,
    /// 1 to 100.
    pub limit: usize,
    pub offset: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SkillPage {
    /// Newest first.
    pub skills: Vec<ListedSkill>,
    /// Skills that the filter finds, on this page and others.
    pub total: usize,
    pub limit: usize,
    pub offset: usize,
}

/// `POST /v1/skills` and `svc_create_skill`.
#[derive(Clone, Debug)]
pub struct CreateSkill {
    pub name: String,
    pub summary: String,
    pub instructions: String,
}

/// `PUT /v1/skills/{skill_id}` and `svc_update_skill`. Absent and blank fields keep what is there.
#[derive(Clone, Debug, Default)]
pub struct UpdateSkill {
    pub skill_id: String,
    pub name: Option<String>,
    pub summary: Option<String>,
    pub instructions: Option<String>,
    /// Only over this version; any if absent.
    pub if_version: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DeletedSkill {
    #[schema(format = "uuid")]
    pub skill_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

/// `GET /v1/skills/{skill_id}/versions`.
#[derive(Clone, Debug)]
pub struct ListSkillVersions {
    pub skill_id: String,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SkillVersions {
    #[schema(format = "uuid")]
    pub skill_id: String,
    /// Newest first; fewer than `limit` where their texts are long.
    pub versions: Vec<SkillVersion>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A Skill as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct SkillVersion {
    pub version: i64,
    pub name: String,
    pub summary: String,
    pub instructions: String,
    /// When this version began.
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl Gateway {
    /// Skills whose name or summary holds every word of the filter, newest first.
    pub async fn list_skills(
        &self,
        caller: &Caller,
        request: ListSkills,
    ) -> Result<SkillPage, Error> {
        caller.need(Scope::SkillsRead)?;
        let ListSkills {
            query,
            limit,
            offset,
        } = request;
        let chars = query.chars().count();
        if chars > QUERY_CHARS_MAX || query.chars().any(unprintable) {
            return Err(Error::InvalidRequest(format!(
                "query must have at most {QUERY_CHARS_MAX} characters and no control characters"
            )));
        }
        if !(1..=LIST_LIMIT_MAX).contains(&limit) {
            return Err(Error::InvalidRequest(format!(
                "limit must be 1 to {LIST_LIMIT_MAX}, not {limit}"
            )));
        }
        if offset > LIST_OFFSET_MAX {
            return Err(Error::InvalidRequest(format!(
                "offset must be at most {LIST_OFFSET_MAX}, not {offset}"
            )));
        }
        let (rows, total) = self
            .store
            .list_skills(&caller.workspace_id, &query, limit, offset)
            .await?;
        Ok(SkillPage {
            skills: rows.into_iter().map(listed).collect(),
            total: usize::try_from(total).unwrap_or_default(),
            limit,
            offset,
        })
    }

    /// One Skill in full.
    pub async fn skill(&self, caller: &Caller, skill_id: &str) -> Result<Skill, Error> {
        caller.need(Scope::SkillsRead)?;
        self.find_skill(caller, skill_id).await
    }

    pub(crate) async fn find_skill(&self, caller: &Caller, skill_id: &str) -> Result<Skill, Error> {
        let found = self
            .store
            .find_skill(&caller.workspace_id, known_shape(skill_id)?)
            .await?;
        found.map(full).ok_or_else(|| unknown(skill_id))
    }

    /// Keeps a new Skill as its version 1.
    pub async fn create_skill(
        &self,
        caller: &Caller,
        request: CreateSkill,
    ) -> Result<Skill, Error> {
        caller.need(Scope::SkillsWrite)?;
        let now_ms = self.clock.now_ms();
        let row = store::SkillRow {
            workspace_id: caller.workspace_id.to_string(),
            id: ids::uuid(),
            name: checked("name", request.name, NAME_CHARS_MAX)?,
            summary: checked("summary", request.summary, SUMMARY_CHARS_MAX)?,
            instructions: checked("instructions", request.instructions, INSTRUCTIONS_CHARS_MAX)?,
            version: 1,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
        };
        let bytes = row.name.len() + row.summary.len() + row.instructions.len();
        let _place = self
            .take_stored(Stored::Skills, &caller.workspace_id, bytes)
            .await?;
        let details = json!({ "name": row.name });
        self.audited(caller, AuditAction::SkillsCreate, &row.id, details)
            .insert_skill(&row)
            .await?;
        Ok(full(row))
    }

    /// Changes what is given and adds one to the version; of a Skill that a toolset names, a change by who is no admin
    /// waits for one ([`review`]).
    ///
    /// # Errors
    /// `conflict` when the Skill is at another version than `if_version`; nothing is changed then.
    pub async fn update_skill(
        &self,
        caller: &Caller,
        request: UpdateSkill,
    ) -> Result<Skill, Error> {
        caller.need(Scope::SkillsWrite)?;
        let given = |field, value: Option<String>, chars_max| {
            value
                .filter(|text| !text.trim().is_empty())
                .map(|text| checked(field, text, chars_max))
                .transpose()
        };
        let name = given("name", request.name, NAME_CHARS_MAX)?;
        let summary = given("summary", request.summary, SUMMARY_CHARS_MAX)?;
        let instructions = given("instructions", request.instructions, INSTRUCTIONS_CHARS_MAX)?;
        if name.is_none() && summary.is_none() && instructions.is_none() {
            return Err(Error::InvalidRequest(
                "nothing to change: give name, summary or instructions".to_owned(),
            ));
        }
        let change = store::SkillChange {
            name: name.as_deref(),
            summary: summary.as_deref(),
            instructions: instructions.as_deref(),
            if_version: request.if_version,
            unless_in_toolset: self.is_reviewed(caller).await?,
        };
        let id = known_shape(&request.skill_id)?;
        let before = self.find_skill(caller, id).await?;
        let text = |new: &Option<String>, old: &str| new.as_deref().unwrap_or(old).len();
        let bytes = text(&name, &before.name)
            + text(&summary, &before.summary)
            + text(&instructions, &before.instructions);
        let _place = self
            .take_stored(Stored::Skills, &caller.workspace_id, bytes)
            .await?;
        let given = [
            ("name", &name),
            ("summary", &summary),
            ("instructions", &instructions),
        ];
        let given = given.into_iter().filter(|(_, text)| text.is_some());
        let changed: Vec<&str> = given.map(|(field, _)| field).collect();
        let called = name.as_ref().unwrap_or(&before.name);
        let details = json!({ "name": called, "changed": changed });
        let updated = self
            .audited(caller, AuditAction::SkillsUpdate, id, details)
            .update_skill(&caller.workspace_id, id, &change, self.clock.now_ms())
            .await?;
        match updated {
            store::SkillUpdate::Updated(row) => Ok(full(row)),
            store::SkillUpdate::Stale { version } => Err(Error::Conflict(format!(
                "the stored version is {version}, not {}",
                request.if_version.unwrap_or_default()
            ))),
            store::SkillUpdate::InToolset => self.propose_skill(caller, before, &change).await,
            store::SkillUpdate::NotFound => Err(unknown(&request.skill_id)),
        }
    }

    /// Deletes a Skill with its history, for good.
    pub async fn delete_skill(
        &self,
        caller: &Caller,
        skill_id: &str,
    ) -> Result<DeletedSkill, Error> {
        caller.need(Scope::SkillsWrite)?;
        let id = known_shape(skill_id)?;
        let now_ms = self.clock.now_ms();
        let details = json!({ "name": self.find_skill(caller, id).await?.name });
        self.check_skill_deletion(caller, id).await?;
        let audited = self.audited(caller, AuditAction::SkillsDelete, id, details);
        let deleted = audited.delete_skill(&caller.workspace_id, id, now_ms);
        if !deleted.await? {
            return Err(unknown(skill_id));
        }
        self.stored_quotas
            .deleted(Stored::Skills, &caller.workspace_id);
        Ok(DeletedSkill {
            skill_id: id.to_owned(),
            deleted: true,
        })
    }

    /// The versions of a Skill that are kept, the newest [`store::SKILL_VERSIONS_MAX`], the current
    /// one first.
    pub async fn skill_versions(
        &self,
        caller: &Caller,
        request: ListSkillVersions,
    ) -> Result<SkillVersions, Error> {
        caller.need(Scope::SkillsRead)?;
        let ListSkillVersions {
            skill_id,
            limit,
            cursor,
        } = request;
        let id = known_shape(&skill_id)?;
        if !(1..=LIST_LIMIT_MAX).contains(&limit) {
            return Err(Error::InvalidRequest(format!(
                "limit must be 1 to {LIST_LIMIT_MAX}, not {limit}"
            )));
        }
        let below = cursor.as_deref().map(parse_cursor).transpose()?;
        let page = self
            .store
            .skill_versions(&caller.workspace_id, id, below, limit)
            .await?;
        if page.versions.is_empty() {
            // Behind the last one, or no such Skill.
            self.find_skill(caller, id).await?;
        }
        let versions = page.versions.into_iter().map(|row| SkillVersion {
            version: row.version,
            name: row.name,
            summary: row.summary,
            instructions: row.instructions,
            created_at: rfc3339(row.created_at_ms),
        });
        Ok(SkillVersions {
            versions: versions.collect(),
            next_cursor: page.below.map(|version| version.to_string()),
            skill_id,
        })
    }
}

/// The version that a page of versions ended with.
fn parse_cursor(text: &str) -> Result<i64, Error> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let version = text.parse().ok().filter(|_| digits);
    version.ok_or_else(|| Error::InvalidRequest("invalid cursor".to_owned()))
}

/// Only a UUID can name a Skill; other texts never reach the database.
fn known_shape(skill_id: &str) -> Result<&str, Error> {
    if ids::is_uuid(skill_id) {
        Ok(skill_id)
    } else {
        Err(unknown(skill_id))
    }
}

fn unknown(skill_id: &str) -> Error {
    Error::SkillNotFound(shown_name(skill_id))
}

/// Line breaks and tabs are part of a text, other control characters are not.
fn unprintable(c: char) -> bool {
    c.is_control() && !"\n\r\t".contains(c)
}

fn checked(field: &str, text: String, chars_max: usize) -> Result<String, Error> {
    let chars = text.chars().count();
    if text.trim().is_empty() {
        return Err(Error::InvalidRequest(format!("{field} must not be empty")));
    }
    if chars > chars_max {
        return Err(Error::InvalidRequest(format!(
            "{field} must have at most {chars_max} characters, not {chars}"
        )));
    }
    if text.chars().any(unprintable) || (field == "name" && text.contains(char::is_control)) {
        return Err(Error::InvalidRequest(format!(
            "{field} holds a control character"
        )));
    }
    Ok(text)
}

fn full(row: store::SkillRow) -> Skill {
    Skill {
        skill_id: row.id,
        name: row.name,
        summary: row.summary,
        instructions: row.instructions,
        version: row.version,
        created_at: rfc3339(row.created_at_ms),
        updated_at: rfc3339(row.updated_at_ms),
        change_waits: false,
    }
}

fn listed(row: store::SkillRow) -> ListedSkill {
    ListedSkill {
        skill_id: row.id,
        name: row.name,
        summary: row.summary,
        version: row.version,
        created_at: rfc3339(row.created_at_ms),
        updated_at: rfc3339(row.updated_at_ms),
    }
}

#[cfg(test)]
mod tests;
