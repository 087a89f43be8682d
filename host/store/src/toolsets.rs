//! Toolsets: named choices of tools, services and Skills.

use super::changes::bump;
use super::text::Json;
use super::{Store, StoreError, Topic, portable};
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
}

/// What became of a new toolset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertedToolset {
    Done,
    /// Not kept: the workspace has one of this name.
    Taken,
    /// Not kept: the workspace has as many as it may.
    Full,
}

impl Store {
    /// Keeps a new toolset unless the workspace has its name, or `most`, already.
    pub async fn insert_toolset(
        &self,
        toolset: &ToolsetRow,
        most: i64,
    ) -> Result<InsertedToolset, StoreError> {
        Ok(portable!(write self, tx => {
            // The workspace's row is locked by this first, so that two writers count in turn.
            sqlx::query("UPDATE workspaces SET plan = plan WHERE id = $1")
                .bind(&toolset.workspace_id)
                .execute(&mut *tx)
                .await?;
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

    /// Changes what is given. `None`: there is no such toolset.
    pub async fn update_toolset(
        &self,
        workspace_id: &str,
        name: &str,
        change: &ToolsetChange<'_>,
        now_ms: i64,
    ) -> Result<Option<ToolsetRow>, StoreError> {
        Ok(portable!(write self, tx => {
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
            if updated.is_some() {
                bump!(tx, Topic::Toolsets);
            }
            updated
        }))
    }

    /// `false`: there is none.
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
