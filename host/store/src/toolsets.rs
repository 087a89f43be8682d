//! Toolsets: named choices of tools, services and Skills.

use sqlx::QueryBuilder;

use super::changes::bump;
use super::text::Json;
use super::{Store, StoreError, Topic, Writer, portable};
use crate::columns::{returning, select};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct ToolsetRow {
    pub workspace_id: String,
    pub name: String,
    pub title: String,
    pub description: String,
    /// Names of tools.
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub tools: Vec<String>,
    /// Names of services, all of whose tools are meant.
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub services: Vec<String>,
    /// Ids of Skills.
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub skills: Vec<String>,
    /// Whether the tools of the main MCP address are listed too.
    pub generic_tools: bool,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
}

/// What to change; `None` keeps.
#[derive(Clone, Debug, Default)]
pub struct ToolsetChange<'a> {
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    pub tools: Option<&'a [String]>,
    pub services: Option<&'a [String]>,
    pub skills: Option<&'a [String]>,
    pub generic_tools: Option<bool>,
    /// Only over these versions of Skills, by id.
    pub skill_versions: &'a [(String, i64)],
}

/// A Skill that is at another version than the one that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherVersion {
    pub skill_id: String,
    /// The version that was read.
    pub read: i64,
    /// `None`: it is not there any more.
    pub version: Option<i64>,
}

/// The outcome of a new toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InsertedToolset {
    Done,
    /// Not kept: the workspace has one of this name.
    Taken,
    /// Not kept: the workspace has as many as it may.
    Full,
    /// Not kept: a Skill has changed since it was read.
    OtherVersion(OtherVersion),
}

/// The outcome of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdatedToolset {
    Updated(ToolsetRow),
    /// Not changed: a Skill has changed since it was read.
    OtherVersion(OtherVersion),
    NotFound,
}

/// Locks a workspace's row until the transaction ends, so that its other writers that begin so wait. What is read
/// after it is what they have committed.
macro_rules! lock_workspace {
    ($tx:ident, $workspace_id:expr) => {
        sqlx::query("UPDATE workspaces SET plan = plan WHERE id = $1")
            .bind($workspace_id)
            .execute(&mut *$tx)
            .await?
    };
}
pub(super) use lock_workspace;

/// The first Skill that is at another version than `$read` says. Updates of Skills lock the workspace too, so that it
/// stays as it is found here until the transaction ends.
macro_rules! other_version {
    ($tx:ident, $workspace_id:expr, $read:expr) => {
        if $read.is_empty() {
            None
        } else {
            let mut select =
                QueryBuilder::new("SELECT id, version FROM skills WHERE workspace_id = ");
            select.push_bind($workspace_id).push(" AND id IN (");
            let mut listed = select.separated(", ");
            for (id, _) in $read {
                listed.push_bind(id);
            }
            select.push(")");
            let found: Vec<(String, i64)> = select.build_query_as().fetch_all(&mut *$tx).await?;
            first_other(&found, $read)
        }
    };
}

impl Store {
    pub async fn find_toolset(
        &self,
        workspace_id: &str,
        name: &str,
    ) -> Result<Option<ToolsetRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(toolsets, "WHERE workspace_id = $1 AND name = $2"))
                .bind(workspace_id)
                .bind(name)
                .fetch_optional(db)
                .await?
        }))
    }

    /// By name.
    pub async fn list_toolsets(&self, workspace_id: &str) -> Result<Vec<ToolsetRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(toolsets, "WHERE workspace_id = $1 ORDER BY name"))
                .bind(workspace_id)
                .fetch_all(db)
                .await?
        }))
    }
}

impl Writer {
    /// Keeps a new toolset unless the workspace has its name, or `most`, already. `skill_versions`: only over these
    /// versions of Skills, by id.
    pub async fn insert_toolset(
        &self,
        toolset: &ToolsetRow,
        most: i64,
        skill_versions: &[(String, i64)],
    ) -> Result<InsertedToolset, StoreError> {
        Ok(portable!(write self, tx => {
            // So that two writers count in turn.
            lock_workspace!(tx, &toolset.workspace_id);
            if let Some(other) = other_version!(tx, &toolset.workspace_id, skill_versions) {
                return Ok(InsertedToolset::OtherVersion(other));
            }
            let done = sqlx::query(
                "INSERT INTO toolsets (workspace_id, name, title, description, tools, services, skills, \
                 generic_tools, created_at_ms, updated_at_ms) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $9 \
                 WHERE (SELECT COUNT(*) FROM toolsets WHERE workspace_id = $1) < $10 \
                 ON CONFLICT (workspace_id, name) DO NOTHING",
            )
            .bind(&toolset.workspace_id)
            .bind(&toolset.name)
            .bind(&toolset.title)
            .bind(&toolset.description)
            .bind(Json(&toolset.tools))
            .bind(Json(&toolset.services))
            .bind(Json(&toolset.skills))
            .bind(toolset.generic_tools)
            .bind(toolset.created_at_ms)
            .bind(most)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 0 {
                let taken: Option<i64> = sqlx::query_scalar(
                    "SELECT created_at_ms FROM toolsets WHERE workspace_id = $1 AND name = $2",
                )
                .bind(&toolset.workspace_id)
                .bind(&toolset.name)
                .fetch_optional(&mut *tx)
                .await?;
                return Ok(taken.map_or(InsertedToolset::Full, |_| InsertedToolset::Taken));
            }
            bump!(tx, Topic::Toolsets);
            InsertedToolset::Done
        }))
    }

    /// Changes what is given.
    pub async fn update_toolset(
        &self,
        workspace_id: &str,
        name: &str,
        change: &ToolsetChange<'_>,
        now_ms: i64,
    ) -> Result<UpdatedToolset, StoreError> {
        Ok(portable!(write self, tx => {
            // A Skill is not changed between its being looked at and its being named.
            lock_workspace!(tx, workspace_id);
            if let Some(other) = other_version!(tx, workspace_id, change.skill_versions) {
                return Ok(UpdatedToolset::OtherVersion(other));
            }
            let updated: Option<ToolsetRow> = sqlx::query_as(
                returning!(
                    toolsets,
                    "UPDATE toolsets SET title = COALESCE($3, title), description = COALESCE($4, description), \
                     tools = COALESCE($5, tools), services = COALESCE($6, services), skills = COALESCE($7, skills), \
                     generic_tools = COALESCE($8, generic_tools), updated_at_ms = $9 \
                     WHERE workspace_id = $1 AND name = $2"
                ),
            )
            .bind(workspace_id)
            .bind(name)
            .bind(change.title)
            .bind(change.description)
            .bind(change.tools.map(Json))
            .bind(change.services.map(Json))
            .bind(change.skills.map(Json))
            .bind(change.generic_tools)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            match updated {
                Some(row) => {
                    bump!(tx, Topic::Toolsets);
                    UpdatedToolset::Updated(row)
                }
                None => UpdatedToolset::NotFound,
            }
        }))
    }

    /// `false`: it does not exist.
    pub async fn delete_toolset(&self, workspace_id: &str, name: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let deleted = sqlx::query("DELETE FROM toolsets WHERE workspace_id = $1 AND name = $2")
                .bind(workspace_id)
                .bind(name)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1;
            if deleted {
                bump!(tx, Topic::Toolsets);
            }
            deleted
        }))
    }
}

/// The first of `read` whose version is another one among `found`.
fn first_other(found: &[(String, i64)], read: &[(String, i64)]) -> Option<OtherVersion> {
    read.iter().find_map(|(skill_id, read)| {
        let there = found.iter().find(|(id, _)| id == skill_id);
        let version = there.map(|(_, version)| *version);
        (version != Some(*read)).then(|| OtherVersion {
            skill_id: skill_id.clone(),
            read: *read,
            version,
        })
    })
}
