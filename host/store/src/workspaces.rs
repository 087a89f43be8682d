//! Workspaces: the tenants.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr};

use super::changes::bump;
use super::error::inserted;
use super::events::emit;
use super::text::Json;
use super::{Approvers, Event, EventType, Store, StoreError, Topic, Writer, portable};
use crate::columns::{returning, select};
use toolgate_core::ids;

/// What a workspace has subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Plan {
    Free,
    Pro,
    Enterprise,
}

/// What holds where no permission rule says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum DefaultPermission {
    Allow,
    /// Reads run, writes ask.
    ByEffect,
}

/// A tenant. `rpm` (requests a minute) overrides its plan's limit.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct Workspace {
    pub id: String,
    pub name: String,
    #[sqlx(try_from = "&'a str")]
    pub plan: Plan,
    pub rpm: Option<i64>,
    #[sqlx(try_from = "Json<WorkspaceSettings>")]
    pub settings: WorkspaceSettings,
    pub created_at_ms: i64,
}

/// What a workspace decides for itself. Keys that an older row lacks have their default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkspaceSettings {
    /// Keep the arguments and results of executions.
    pub keep_payloads: bool,
    pub default_permission: DefaultPermission,
    /// Who decides where the default asks.
    pub default_approvers: Approvers,
    /// A change of a Skill that a toolset names waits for an admin.
    pub review_skills: bool,
    /// Scripts may run.
    pub code_mode: bool,
}

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self {
            keep_payloads: false,
            default_permission: DefaultPermission::Allow,
            default_approvers: Approvers::Admins,
            review_skills: true,
            code_mode: false,
        }
    }
}

/// What to change of a workspace's settings; `None` keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SettingsChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_payloads: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_permission: Option<DefaultPermission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_approvers: Option<Approvers>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_skills: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_mode: Option<bool>,
}

impl SettingsChange {
    /// What `before` becomes.
    fn changed(self, before: &WorkspaceSettings) -> WorkspaceSettings {
        WorkspaceSettings {
            keep_payloads: self.keep_payloads.unwrap_or(before.keep_payloads),
            default_permission: self.default_permission.unwrap_or(before.default_permission),
            default_approvers: self.default_approvers.unwrap_or(before.default_approvers),
            review_skills: self.review_skills.unwrap_or(before.review_skills),
            code_mode: self.code_mode.unwrap_or(before.code_mode),
        }
    }
}

impl Workspace {
    /// One with a fresh `ws_` id and default settings.
    pub fn new(name: &str, plan: Plan, rpm: Option<i64>, now_ms: i64) -> Self {
        Self {
            id: ids::ulid("ws"),
            name: name.to_owned(),
            plan,
            rpm,
            settings: WorkspaceSettings::default(),
            created_at_ms: now_ms,
        }
    }
}

impl From<Json<WorkspaceSettings>> for WorkspaceSettings {
    fn from(json: Json<Self>) -> Self {
        json.0
    }
}

impl Store {
    /// Makes a workspace with a fresh `ws_` id and default settings.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when the name is in use.
    pub async fn create_workspace(
        &self,
        name: &str,
        plan: Plan,
        rpm: Option<i64>,
        now_ms: i64,
    ) -> Result<Workspace, StoreError> {
        let workspace = Workspace::new(name, plan, rpm, now_ms);
        self.insert_workspace(&workspace).await?;
        Ok(workspace)
    }

    pub async fn find_workspace(&self, id: &str) -> Result<Option<Workspace>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(workspaces, "WHERE id = $1")).bind(id).fetch_optional(db).await?
        }))
    }

    pub async fn find_workspace_by_name(
        &self,
        name: &str,
    ) -> Result<Option<Workspace>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(workspaces, "WHERE name = $1")).bind(name).fetch_optional(db).await?
        }))
    }

    /// Whether scripts may run in a workspace. `false` too for one that does not exist.
    pub async fn code_mode(&self, workspace_id: &str) -> Result<bool, StoreError> {
        let workspace = self.find_workspace(workspace_id).await?;
        Ok(workspace.is_some_and(|workspace| workspace.settings.code_mode))
    }

    /// Oldest first.
    pub async fn list_workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(workspaces, "ORDER BY created_at_ms, id")).fetch_all(db).await?
        }))
    }

    /// The oldest workspace: what the command line means when it names none.
    pub async fn first_workspace(&self) -> Result<Option<Workspace>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(workspaces, "ORDER BY created_at_ms, id LIMIT 1")).fetch_optional(db).await?
        }))
    }
}

impl Writer {
    /// # Errors
    /// [`StoreError::Taken`] when the name is in use.
    pub async fn insert_workspace(&self, workspace: &Workspace) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO workspaces (id, name, plan, rpm, settings, created_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING",
            )
            .bind(&workspace.id)
            .bind(&workspace.name)
            .bind(workspace.plan.into_str())
            .bind(workspace.rpm)
            .bind(Json(&workspace.settings))
            .bind(workspace.created_at_ms)
            .execute(&mut *tx)
            .await?;
            inserted(done.rows_affected(), "workspace name")?;
            bump!(tx, Topic::Keys);
        });
        Ok(())
    }

    /// Changes what is given of plan and own limit; of the limit `Some(None)` takes it away. `None`: no such
    /// workspace.
    pub async fn change_workspace_limits(
        &self,
        id: &str,
        plan: Option<Plan>,
        rpm: Option<Option<i64>>,
    ) -> Result<Option<Workspace>, StoreError> {
        Ok(portable!(write self, tx => {
            let changed: Option<Workspace> = sqlx::query_as(returning!(
                workspaces,
                "UPDATE workspaces SET plan = COALESCE($2, plan), rpm = CASE WHEN $3 THEN $4 ELSE rpm END \
                 WHERE id = $1"
            ))
            .bind(id)
            .bind(plan.map(|plan| plan.into_str()))
            .bind(rpm.is_some())
            .bind(rpm.flatten())
            .fetch_optional(&mut *tx)
            .await?;
            bump!(tx, Topic::Keys);
            changed
        }))
    }

    /// Renames a workspace and changes what is given of its settings, and tells of another default permission.
    /// `None`: no such workspace.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when another workspace has the name.
    pub async fn change_workspace(
        &self,
        id: &str,
        name: Option<&str>,
        change: &SettingsChange,
        now_ms: i64,
    ) -> Result<Option<Workspace>, StoreError> {
        Ok(portable!(write self, tx => {
            if let Some(name) = name {
                let other: Option<String> =
                    sqlx::query_scalar("SELECT id FROM workspaces WHERE name = $2 AND id <> $1")
                        .bind(id)
                        .bind(name)
                        .fetch_optional(&mut *tx)
                        .await?;
                if other.is_some() {
                    return Err(StoreError::Taken("workspace name"));
                }
            }
            // The write comes first: it locks the row, so that of two changes the second is made to what the first
            // left.
            let before: Option<Workspace> = sqlx::query_as(returning!(
                workspaces,
                "UPDATE workspaces SET name = COALESCE($2, name) WHERE id = $1"
            ))
            .bind(id)
            .bind(name)
            .fetch_optional(&mut *tx)
            .await?;
            let Some(before) = before else {
                return Ok(None);
            };
            let settings = change.changed(&before.settings);
            sqlx::query("UPDATE workspaces SET settings = $2 WHERE id = $1")
                .bind(id)
                .bind(Json(&settings))
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Keys);
            let default = settings.default_permission;
            if before.settings.default_permission != default {
                let data = json!({ "default": default.into_str() });
                emit!(tx, self, &[Event::new(EventType::PermissionChanged, id, now_ms, data)]);
            }
            Some(Workspace { settings, ..before })
        }))
    }

    /// Lets scripts run in a workspace, or not any more. `false`: no such workspace.
    pub async fn set_code_mode(
        &self,
        workspace_id: &str,
        enabled: bool,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let change = SettingsChange {
            code_mode: Some(enabled),
            ..SettingsChange::default()
        };
        let changed = self.change_workspace(workspace_id, None, &change, now_ms);
        Ok(changed.await?.is_some())
    }
}
