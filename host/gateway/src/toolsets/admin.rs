//! What an admin does with toolsets: the same in a gateway and at the command line.

use std::sync::Arc;

use serde_json::{Value, json};

use super::check::{checked_entries, checked_name, checked_text};
use super::read_skills::{OverSkills, checked_versions, other_version};
use super::{
    CreateToolset, DeletedToolset, TOOLS_LISTED_MAX, TOOLSETS_MAX, Toolset, ToolsetContents,
    ToolsetList, UpdateToolset, find, unknown,
};
use crate::audit::AuditAction;
use crate::plugins::{self, Snapshot};
use crate::{Caller, Error};
use toolgate_catalog::{Catalog, PluginTools};
use toolgate_core::clock::rfc3339;
use toolgate_identity::apps::toolset_address;
use toolgate_store::{InsertedToolset, Store, ToolsetChange, ToolsetRow, UpdatedToolset};

/// What the operations on toolsets work with, in a gateway and at the command line alike.
pub struct ToolsetAdmin {
    pub(super) store: Store,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) plugins_loading: usize,
    /// The address of the MCP endpoint.
    pub(super) endpoint: String,
}

impl ToolsetAdmin {
    /// For the command line: the plugins that serve according to the database. `endpoint`: the address of
    /// the MCP endpoint.
    pub async fn at_rest(store: Store, endpoint: String) -> Result<Self, Error> {
        let plugins = plugins::manifests(&store).await?.into_iter();
        let plugins = plugins.map(|manifest| PluginTools {
            manifest: Arc::new(manifest),
            sha256: String::new(),
        });
        let catalog = Catalog::build(plugins.collect());
        Ok(Self {
            snapshot: Arc::new(Snapshot::new(catalog, Default::default())),
            plugins_loading: 0,
            store,
            endpoint,
        })
    }

    pub async fn list(&self, caller: &Caller) -> Result<ToolsetList, Error> {
        let rows = self.store.list_toolsets(&caller.workspace_id).await?;
        let mut toolsets = Vec::with_capacity(rows.len());
        for row in rows {
            toolsets.push(self.shown(row).await?);
        }
        Ok(ToolsetList { toolsets })
    }

    pub async fn read(&self, caller: &Caller, name: &str) -> Result<Toolset, Error> {
        self.shown(find(&self.store, &caller.workspace_id, name).await?)
            .await
    }

    pub async fn create(
        &self,
        caller: &Caller,
        request: impl Into<OverSkills<CreateToolset>>,
        now_ms: i64,
    ) -> Result<Toolset, Error> {
        let OverSkills { request, versions } = request.into();
        let name = checked_name(request.name)?;
        let title = request.title.filter(|title| !title.trim().is_empty());
        let row = ToolsetRow {
            workspace_id: caller.workspace_id.to_string(),
            title: checked_text("title", title.unwrap_or_else(|| name.clone()))?,
            description: checked_text("description", request.description.unwrap_or_default())?,
            tools: request.tools,
            services: request.services,
            skills: request.skills,
            generic_tools: request.generic_tools,
            created_at_ms: now_ms,
            updated_at_ms: now_ms,
            name,
        };
        let row = self.with_known_entries(row, None).await?;
        let versions = checked_versions(versions, &row)?;
        let action = AuditAction::ToolsetsCreate;
        let most = i64::try_from(TOOLSETS_MAX).unwrap_or(i64::MAX);
        let inserted = caller
            .audited(&self.store, now_ms, action, &row.name, chosen(&row))
            .insert_toolset(&row, most, &versions)
            .await?;
        match inserted {
            InsertedToolset::Done => self.shown(row).await,
            InsertedToolset::Taken => Err(Error::Conflict(format!(
                "the workspace has a toolset named {}",
                row.name
            ))),
            InsertedToolset::Full => Err(Error::Conflict(format!(
                "a workspace has at most {TOOLSETS_MAX} toolsets; delete one first"
            ))),
            InsertedToolset::OtherVersion(other) => Err(other_version(&other)),
        }
    }

    pub async fn update(
        &self,
        caller: &Caller,
        name: &str,
        request: impl Into<OverSkills<UpdateToolset>>,
        now_ms: i64,
    ) -> Result<Toolset, Error> {
        let OverSkills { request, versions } = request.into();
        let before = find(&self.store, &caller.workspace_id, name).await?;
        let title = request.title.map(|title| match title.trim() {
            "" => before.name.clone(),
            _ => title,
        });
        let title = title.map(|text| checked_text("title", text)).transpose()?;
        let description = request.description;
        let description = description.map(|text| checked_text("description", text));
        let description = description.transpose()?;
        let given = [
            ("title", title.is_some()),
            ("description", description.is_some()),
            ("tools", request.tools.is_some()),
            ("services", request.services.is_some()),
            ("skills", request.skills.is_some()),
            ("generic_tools", request.generic_tools.is_some()),
        ];
        let changed: Vec<&str> = given
            .into_iter()
            .filter_map(|(field, given)| given.then_some(field))
            .collect();
        if changed.is_empty() {
            return Err(Error::InvalidRequest(
                "nothing to change: give title, description, tools, services, skills or generic_tools"
                    .to_owned(),
            ));
        }
        let (of_tools, of_services, of_skills) = (
            request.tools.is_some(),
            request.services.is_some(),
            request.skills.is_some(),
        );
        let wanted = ToolsetRow {
            tools: request.tools.unwrap_or_else(|| before.tools.clone()),
            services: request.services.unwrap_or_else(|| before.services.clone()),
            skills: request.skills.unwrap_or_else(|| before.skills.clone()),
            ..before.clone()
        };
        let wanted = self.with_known_entries(wanted, Some(&before)).await?;
        let versions = checked_versions(versions, &wanted)?;
        let change = ToolsetChange {
            title: title.as_deref(),
            description: description.as_deref(),
            tools: of_tools.then_some(&wanted.tools[..]),
            services: of_services.then_some(&wanted.services[..]),
            skills: of_skills.then_some(&wanted.skills[..]),
            generic_tools: request.generic_tools,
            skill_versions: &versions,
        };
        let mut details = chosen(&wanted);
        details["changed"] = json!(changed);
        let action = AuditAction::ToolsetsUpdate;
        let updated = caller
            .audited(&self.store, now_ms, action, &before.name, details)
            .update_toolset(&caller.workspace_id, &before.name, &change, now_ms)
            .await?;
        match updated {
            UpdatedToolset::Updated(row) => self.shown(row).await,
            UpdatedToolset::OtherVersion(other) => Err(other_version(&other)),
            UpdatedToolset::NotFound => Err(unknown(name)),
        }
    }

    pub async fn delete(
        &self,
        caller: &Caller,
        name: &str,
        now_ms: i64,
    ) -> Result<DeletedToolset, Error> {
        let row = find(&self.store, &caller.workspace_id, name).await?;
        let action = AuditAction::ToolsetsDelete;
        let deleted = caller
            .audited(&self.store, now_ms, action, &row.name, chosen(&row))
            .delete_toolset(&caller.workspace_id, &row.name)
            .await?;
        if !deleted {
            return Err(unknown(name));
        }
        Ok(DeletedToolset {
            name: row.name,
            deleted: true,
        })
    }

    /// The toolset with each entry once. What `before` names already may stay, whether it is there or
    /// not.
    async fn with_known_entries(
        &self,
        mut row: ToolsetRow,
        before: Option<&ToolsetRow>,
    ) -> Result<ToolsetRow, Error> {
        row = checked_entries(row)?;
        let catalog = &self.snapshot.catalog;
        let kept = |of: fn(&ToolsetRow) -> &Vec<String>, name: &String| {
            before.is_some_and(|before| of(before).contains(name))
        };
        for name in &row.tools {
            if catalog.get(name).is_none() && !kept(|row| &row.tools, name) {
                return Err(self.no_tool(name));
            }
        }
        for name in &row.services {
            if catalog.manifest(name).is_none() && !kept(|row| &row.services, name) {
                return Err(match self.plugins_loading {
                    0 => Error::ServiceNotFound(toolgate_core::visible::shown_name(name)),
                    _ => self.no_tool(name),
                });
            }
        }
        let skills = self.store.find_skills(&row.workspace_id, &row.skills);
        let skills = skills.await?;
        for id in &row.skills {
            let there = skills.iter().any(|skill| skill.id == *id);
            if !there && !kept(|row| &row.skills, id) {
                let id = toolgate_core::visible::shown_name(id);
                return Err(Error::SkillNotFound(id));
            }
        }
        Ok(row)
    }

    fn no_tool(&self, name: &str) -> Error {
        let tool_name = toolgate_core::visible::shown_name(name);
        match self.plugins_loading {
            0 => Error::ToolNotFound {
                nearest: self.snapshot.search.nearest_names(name, &|_| true),
                tool_name,
            },
            plugins_loading => Error::ToolNotLoaded {
                tool_name,
                plugins_loading,
            },
        }
    }

    async fn shown(&self, row: ToolsetRow) -> Result<Toolset, Error> {
        let skills = self.store.find_skills(&row.workspace_id, &row.skills);
        let contents = ToolsetContents::new(&row, &skills.await?, &self.snapshot.catalog);
        let count = contents.count(row.generic_tools);
        Ok(Toolset {
            mcp_url: toolset_address(&self.endpoint, &row.name),
            listed: count.min(TOOLS_LISTED_MAX),
            left_out: count.saturating_sub(TOOLS_LISTED_MAX),
            missing: contents.missing,
            name: row.name,
            title: row.title,
            description: row.description,
            tools: row.tools,
            services: row.services,
            skills: row.skills,
            generic_tools: row.generic_tools,
            created_at: rfc3339(row.created_at_ms),
            updated_at: rfc3339(row.updated_at_ms),
        })
    }
}

/// What the audit log says of a toolset.
fn chosen(row: &ToolsetRow) -> Value {
    json!({
        "title": row.title,
        "tools": row.tools,
        "services": row.services,
        "skills": row.skills,
        "generic_tools": row.generic_tools,
    })
}
