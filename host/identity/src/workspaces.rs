//! Workspaces: the tenants. The first one runs the installation: its owners and admins change what
//! holds for all.

use serde::Serialize;
use serde_json::json;

use crate::{Caller, Error, Identity};
use toolgate_core::clock::rfc3339;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{DefaultPermission, Plan, Role, SettingsChange, Store, StoreError, Workspace};

const NAME_CHARS_MAX: usize = 100;

/// A workspace as its members see it.
#[derive(Clone, Debug, Serialize)]
pub struct WorkspaceInfo {
    pub workspace_id: String,
    pub name: String,
    pub plan: Plan,
    /// Requests a minute in place of the plan's.
    pub rpm: Option<i64>,
    pub default_permission: DefaultPermission,
    pub keep_payloads: bool,
    /// Whether a change of a Skill that a toolset names waits for an admin.
    pub review_skills: bool,
    pub created_at: String,
}

/// What is to change; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct ChangeWorkspace {
    pub name: Option<String>,
    pub default_permission: Option<DefaultPermission>,
    pub keep_payloads: Option<bool>,
    pub review_skills: Option<bool>,
}

impl From<Workspace> for WorkspaceInfo {
    fn from(row: Workspace) -> Self {
        Self {
            workspace_id: row.id,
            name: row.name,
            plan: row.plan,
            rpm: row.rpm,
            default_permission: row.settings.default_permission,
            keep_payloads: row.settings.keep_payloads,
            review_skills: row.settings.review_skills,
            created_at: rfc3339(row.created_at_ms),
        }
    }
}

/// Makes a workspace, as the operator alone does.
///
/// # Errors
/// `conflict` for a name that is taken.
pub async fn create(
    store: &Store,
    name: &str,
    plan: Plan,
    now_ms: i64,
) -> Result<Workspace, Error> {
    let name = checked_name(name)?;
    let row = Workspace::new(&name, plan, None, now_ms);
    let details = json!({ "name": row.name, "plan": row.plan });
    Caller::operator(&row)
        .audited(
            store,
            now_ms,
            AuditAction::WorkspaceCreate,
            &row.id,
            details,
        )
        .insert_workspace(&row)
        .await
        .map_err(|cause| taken(cause, &name))?;
    Ok(row)
}

/// What a workspace may ask for in a minute; what is absent stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangeLimits {
    pub plan: Option<Plan>,
    pub rpm: Option<WorkspaceRate>,
}

/// Where the requests a minute of a workspace come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceRate {
    OfPlan,
    Own(u32),
}

/// Changes plan and rate of a workspace, as the operator alone does. Running gateways follow at once.
///
/// # Errors
/// `not_found` for a name that no workspace has.
pub async fn set_limits(
    store: &Store,
    name: &str,
    change: ChangeLimits,
    now_ms: i64,
) -> Result<WorkspaceInfo, Error> {
    let missing = || Error::NotFound(format!("the workspace {name}"));
    let found = store.find_workspace_by_name(name).await?;
    let row = found.ok_or_else(missing)?;
    let rpm = change.rpm.map(|rate| match rate {
        WorkspaceRate::OfPlan => None,
        WorkspaceRate::Own(rpm) => Some(i64::from(rpm)),
    });
    let mut details = json!({});
    if let Some(plan) = change.plan {
        details["plan"] = json!(plan);
    }
    if let Some(rpm) = rpm {
        details["rpm"] = json!(rpm);
    }
    let changed = Caller::operator(&row)
        .audited(
            store,
            now_ms,
            AuditAction::WorkspaceChange,
            &row.id,
            details,
        )
        .change_workspace_limits(&row.id, change.plan, rpm)
        .await?;
    Ok(changed.ok_or_else(missing)?.into())
}

/// Oldest first.
pub async fn list(store: &Store) -> Result<Vec<WorkspaceInfo>, Error> {
    let rows = store.list_workspaces().await?;
    Ok(rows.into_iter().map(Into::into).collect())
}

impl Identity {
    /// The caller's workspace.
    pub async fn workspace(&self, caller: &Caller) -> Result<WorkspaceInfo, Error> {
        caller.need_role(Role::Member)?;
        Ok(self.workspace_row(caller).await?.into())
    }

    /// Renames the workspace and changes what holds in it.
    pub async fn change_workspace(
        &self,
        caller: &Caller,
        change: ChangeWorkspace,
    ) -> Result<WorkspaceInfo, Error> {
        caller.need_role(Role::Owner)?;
        let settings = SettingsChange {
            keep_payloads: change.keep_payloads,
            default_permission: change.default_permission,
            default_approvers: None,
            review_skills: change.review_skills,
            code_mode: None,
        };
        let name = change.name.as_deref().map(checked_name).transpose()?;
        let mut details = json!({});
        if let Some(name) = &name {
            details["name"] = json!(name);
        }
        if settings != SettingsChange::default() {
            details["settings"] = json!(settings);
        }
        let (id, now_ms) = (&caller.workspace_id, self.clock.now_ms());
        let changed = self
            .audited(caller, AuditAction::WorkspaceChange, id, details)
            .change_workspace(id, name.as_deref(), &settings, now_ms)
            .await
            .map_err(|cause| taken(cause, name.as_deref().unwrap_or_default()))?;
        Ok(changed.ok_or_else(gone)?.into())
    }

    async fn workspace_row(&self, caller: &Caller) -> Result<Workspace, Error> {
        let found = self.store.find_workspace(&caller.workspace_id).await?;
        found.ok_or_else(gone)
    }
}

fn checked_name(name: &str) -> Result<String, Error> {
    let name = name.trim();
    let chars = name.chars().count();
    if !(1..=NAME_CHARS_MAX).contains(&chars) || name.chars().any(char::is_control) {
        return Err(Error::InvalidRequest(format!(
            "a workspace's name has 1 to {NAME_CHARS_MAX} characters"
        )));
    }
    Ok(name.to_owned())
}

fn gone() -> Error {
    Error::NotFound("the workspace".to_owned())
}

fn taken(cause: StoreError, name: &str) -> Error {
    match cause {
        StoreError::Taken(_) => Error::Conflict(format!("there is a workspace named {name}")),
        other => other.into(),
    }
}
