//! Skills and their earlier versions.

use serde_json::json;
use sqlx::QueryBuilder;

use super::changes::bump;
use super::error::inserted;
use super::events::emit;
use super::page::one_more;
use super::toolsets::lock_workspace;
use super::{Event, EventType, Store, StoreError, Topic, Writer, portable};
use crate::columns::{returning, select};

/// Words of a filter beyond this are not looked at.
const FILTER_WORDS_MAX: usize = 16;
/// So many versions of one Skill are kept, the current one among them.
pub const SKILL_VERSIONS_MAX: i64 = 200;
/// Text of the versions that one page reads, in bytes; a page holds at least one version.
const VERSIONS_BYTES_MAX: i64 = 4 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SkillRow {
    pub workspace_id: String,
    /// A UUID.
    pub id: String,
    pub name: String,
    pub summary: String,
    /// Empty in lists.
    pub instructions: String,
    /// 1 when new, one more with each update.
    pub version: i64,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
}

/// A Skill as it was at one version.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct SkillVersionRow {
    pub id: String,
    pub version: i64,
    pub name: String,
    pub summary: String,
    pub instructions: String,
    /// When this version began.
    pub created_at_ms: i64,
}

/// Some versions of a Skill, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillVersionPage {
    pub versions: Vec<SkillVersionRow>,
    /// Where there are older ones: the next page's are below this version.
    pub below: Option<i64>,
}

/// What to change; `None` keeps.
#[derive(Clone, Debug, Default)]
pub struct SkillChange<'a> {
    pub name: Option<&'a str>,
    pub summary: Option<&'a str>,
    pub instructions: Option<&'a str>,
    /// Only over this version.
    pub if_version: Option<i64>,
    /// Only while no toolset of the workspace names the Skill.
    pub unless_in_toolset: bool,
}

/// The outcome of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillUpdate {
    Updated(SkillRow),
    /// Not changed: the Skill is at another version than expected.
    Stale {
        version: i64,
    },
    /// Not changed: a toolset names the Skill.
    InToolset,
    NotFound,
}

fn skill_event(kind: EventType, skill: &SkillRow, at_ms: i64) -> Event {
    let data = json!({ "skill_id": skill.id, "name": skill.name, "version": skill.version });
    Event::new(kind, &skill.workspace_id, at_ms, data)
}

/// What a filter is matched against: both texts in lower case, so that letters beyond ASCII fold
/// the same way on both databases.
fn searched(name: &str, summary: &str) -> String {
    format!("{name}\n{summary}").to_lowercase()
}

/// `word` anywhere, its own `%` and `_` taken literally.
fn like(word: &str) -> String {
    let escaped = word
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}

/// Appends what a listed Skill has to fulfil.
macro_rules! push_filter {
    ($query:ident, $workspace_id:expr, $words:expr) => {
        $query
            .push("FROM skills WHERE workspace_id = ")
            .push_bind($workspace_id);
        for word in $words {
            $query
                .push(" AND searched LIKE ")
                .push_bind(like(word))
                .push(" ESCAPE '\\'");
        }
    };
}

/// Keeps the state of a Skill as one of its versions.
macro_rules! keep_version {
    ($tx:ident, $skill:expr) => {
        sqlx::query(
            "INSERT INTO skill_versions (workspace_id, id, version, name, summary, instructions, created_at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(&$skill.workspace_id)
        .bind(&$skill.id)
        .bind($skill.version)
        .bind(&$skill.name)
        .bind(&$skill.summary)
        .bind(&$skill.instructions)
        .bind($skill.updated_at_ms)
        .execute(&mut *$tx)
        .await?
    };
}

impl Store {
    pub async fn find_skill(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<SkillRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(skills, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Those of the Skills that are there, without their instructions, by id.
    pub async fn find_skills(
        &self,
        workspace_id: &str,
        ids: &[String],
    ) -> Result<Vec<SkillRow>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        Ok(portable!(read self, db => {
            let mut select = QueryBuilder::new(
                "SELECT workspace_id, id, name, summary, '' AS instructions, version, created_at_ms, updated_at_ms \
                 FROM skills WHERE workspace_id = ",
            );
            select.push_bind(workspace_id).push(" AND id IN (");
            let mut listed = select.separated(", ");
            for id in ids {
                listed.push_bind(id);
            }
            select.push(") ORDER BY id");
            select.build_query_as().fetch_all(db).await?
        }))
    }

    /// Skills whose name or summary holds every word of `query`, newest first, without their
    /// instructions; and how many there are in all.
    pub async fn list_skills(
        &self,
        workspace_id: &str,
        query: &str,
        limit: usize,
        offset: usize,
    ) -> Result<(Vec<SkillRow>, i64), StoreError> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().take(FILTER_WORDS_MAX).collect();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        portable!(read self, db => {
            let mut select = QueryBuilder::new(
                "SELECT workspace_id, id, name, summary, '' AS instructions, version, created_at_ms, updated_at_ms ",
            );
            push_filter!(select, workspace_id, &words);
            select.push(" ORDER BY created_at_ms DESC, id DESC LIMIT ").push_bind(limit);
            select.push(" OFFSET ").push_bind(offset);
            let mut count = QueryBuilder::new("SELECT COUNT(*) ");
            push_filter!(count, workspace_id, &words);
            let skills = select.build_query_as().fetch_all(db).await?;
            Ok((skills, count.build_query_scalar().fetch_one(db).await?))
        })
    }

    /// Versions below `below`, or from the current one on, newest first: at most `limit`, and no
    /// more than [`VERSIONS_BYTES_MAX`] of text. Empty for an unknown Skill.
    pub async fn skill_versions(
        &self,
        workspace_id: &str,
        id: &str,
        below: Option<i64>,
        limit: usize,
    ) -> Result<SkillVersionPage, StoreError> {
        Ok(portable!(read self, db => {
            // How long the texts are is known without reading them.
            let sizes: Vec<(i64, i64)> = sqlx::query_as(
                "SELECT version, CAST(OCTET_LENGTH(name) + OCTET_LENGTH(summary) + OCTET_LENGTH(instructions) AS BIGINT) \
                 FROM skill_versions WHERE workspace_id = $1 AND id = $2 AND version < $3 \
                 ORDER BY version DESC LIMIT $4",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(below.unwrap_or(i64::MAX))
            .bind(one_more(limit))
            .fetch_all(db)
            .await?;
            let fitting = fitting(&sizes, limit);
            let (Some((newest, _)), Some((oldest, _))) = (fitting.first(), fitting.last()) else {
                return Ok(SkillVersionPage::default());
            };
            let versions = sqlx::query_as(
                select!(
                    skill_versions,
                    "WHERE workspace_id = $1 AND id = $2 AND version BETWEEN $3 AND $4 ORDER BY version DESC"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(oldest)
            .bind(newest)
            .fetch_all(db)
            .await?;
            let below = (fitting.len() < sizes.len()).then_some(*oldest);
            SkillVersionPage { versions, below }
        }))
    }
}

impl Writer {
    /// Keeps a new Skill, version 1.
    pub async fn insert_skill(&self, skill: &SkillRow) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO skills (workspace_id, id, name, summary, instructions, searched, version, \
                 created_at_ms, updated_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                 ON CONFLICT (workspace_id, id) DO NOTHING",
            )
            .bind(&skill.workspace_id)
            .bind(&skill.id)
            .bind(&skill.name)
            .bind(&skill.summary)
            .bind(&skill.instructions)
            .bind(searched(&skill.name, &skill.summary))
            .bind(skill.version)
            .bind(skill.created_at_ms)
            .bind(skill.updated_at_ms)
            .execute(&mut *tx)
            .await?;
            inserted(done.rows_affected(), "Skill id")?;
            keep_version!(tx, skill);
            emit!(tx, self, &[skill_event(EventType::SkillCreated, skill, skill.created_at_ms)]);
        });
        Ok(())
    }

    /// Changes what is given, adds one to the version and keeps the new state in the history, which
    /// loses its oldest beyond [`SKILL_VERSIONS_MAX`].
    pub async fn update_skill(
        &self,
        workspace_id: &str,
        id: &str,
        change: &SkillChange<'_>,
        now_ms: i64,
    ) -> Result<SkillUpdate, StoreError> {
        Ok(portable!(write self, tx => {
            // Writers of toolsets do the same, so that none names the Skill between the look at toolsets and the change.
            // It also gives two updates two versions.
            lock_workspace!(tx, workspace_id);
            if change.unless_in_toolset {
                let named: Option<String> = sqlx::query_scalar(
                    "SELECT name FROM toolsets WHERE workspace_id = $1 AND skills LIKE $2 ESCAPE '\\' LIMIT 1",
                )
                .bind(workspace_id)
                // The column is a JSON array of ids.
                .bind(like(&format!("\"{id}\"")))
                .fetch_optional(&mut *tx)
                .await?;
                if named.is_some() {
                    return Ok(SkillUpdate::InToolset);
                }
            }
            let updated: Option<SkillRow> = sqlx::query_as(
                returning!(
                    skills,
                    "UPDATE skills SET version = version + 1, updated_at_ms = $3, name = COALESCE($4, name), \
                     summary = COALESCE($5, summary), instructions = COALESCE($6, instructions) \
                     WHERE workspace_id = $1 AND id = $2 AND ($7 IS NULL OR version = $7)"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(now_ms)
            .bind(change.name)
            .bind(change.summary)
            .bind(change.instructions)
            .bind(change.if_version)
            .fetch_optional(&mut *tx)
            .await?;
            let Some(skill) = updated else {
                let version: Option<i64> =
                    sqlx::query_scalar("SELECT version FROM skills WHERE workspace_id = $1 AND id = $2")
                        .bind(workspace_id)
                        .bind(id)
                        .fetch_optional(&mut *tx)
                        .await?;
                return Ok(version.map_or(SkillUpdate::NotFound, |version| SkillUpdate::Stale { version }));
            };
            sqlx::query("UPDATE skills SET searched = $3 WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .bind(searched(&skill.name, &skill.summary))
                .execute(&mut *tx)
                .await?;
            keep_version!(tx, skill);
            // What somebody proposed for the version of before is answered by this.
            sqlx::query("DELETE FROM skill_proposals WHERE workspace_id = $1 AND skill_id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?;
            sqlx::query("DELETE FROM skill_versions WHERE workspace_id = $1 AND id = $2 AND version <= $3")
                .bind(workspace_id)
                .bind(id)
                .bind(skill.version - SKILL_VERSIONS_MAX)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Toolsets);
            emit!(tx, self, &[skill_event(EventType::SkillUpdated, &skill, now_ms)]);
            SkillUpdate::Updated(skill)
        }))
    }

    /// Deletes a Skill with its history. `false`: it does not exist.
    pub async fn delete_skill(
        &self,
        workspace_id: &str,
        id: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let gone: Option<SkillRow> =
                sqlx::query_as(returning!(skills, "DELETE FROM skills WHERE workspace_id = $1 AND id = $2"))
                    .bind(workspace_id)
                    .bind(id)
                    .fetch_optional(&mut *tx)
                    .await?;
            if let Some(skill) = &gone {
                bump!(tx, Topic::Toolsets);
                emit!(tx, self, &[skill_event(EventType::SkillDeleted, skill, now_ms)]);
            }
            gone.is_some()
        }))
    }
}

/// The first of `sizes`, each a version and its bytes, that fit on a page of `limit` together.
fn fitting(sizes: &[(i64, i64)], limit: usize) -> &[(i64, i64)] {
    let mut bytes = 0;
    let within = sizes.iter().take(limit).take_while(|(_, size)| {
        bytes += size;
        bytes <= VERSIONS_BYTES_MAX
    });
    let count = within.count().max(1).min(sizes.len());
    &sizes[..count]
}
