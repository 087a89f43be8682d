//! Toolsets: named choices of tools, services and Skills, each of which an MCP client sees as tools with
//! names of their own, at an address of its own (`/mcp/t/{name}`).
//!
//! A toolset grants nothing: its user sees and runs what their permissions allow. Here is what an
//! admin does with toolsets, in a gateway or at the command line ([`ToolsetAdmin`]); [`check`] says what
//! one may be, [`listing`] what it lists to a caller, [`watch`] when that list has changed.

mod admin;
pub mod check;
pub mod listing;
pub mod read_skills;
#[cfg(test)]
mod tests;
pub mod watch;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::{Caller, Error, Gateway, Scope};
pub use admin::ToolsetAdmin;
use read_skills::OverSkills;
use toolgate_catalog::{Catalog, Tool};
use toolgate_core::ids::is_toolset_name;
pub use toolgate_identity::apps::TOOLSETS_PATH;
use toolgate_store::{SkillRow, Store, ToolsetRow};

/// Toolsets of one workspace.
pub const TOOLSETS_MAX: usize = 100;
/// Tools that one list holds: beyond it several clients refuse a server or drop tools.
pub const TOOLS_LISTED_MAX: usize = 128;
/// How many tools the main MCP address has where code mode is on. A toolset may list them too.
pub const GENERIC_TOOLS: usize = 10;

/// A toolset, and how many tools it lists now for a user who may use all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = ToolsetInfo)]
pub struct Toolset {
    #[schema(example = "support")]
    pub name: String,
    /// What clients show; the name where none is given.
    pub title: String,
    /// What it is for; clients show it to the model.
    pub description: String,
    /// Names of tools.
    pub tools: Vec<String>,
    /// Names of services: all their tools.
    pub services: Vec<String>,
    /// Ids of Skills.
    pub skills: Vec<String>,
    /// Whether the tools of the main address are listed too.
    pub generic_tools: bool,
    /// The address for MCP clients.
    #[schema(example = "https://tools.example.com/mcp/t/support")]
    pub mcp_url: String,
    /// How many tools its list holds, at most 128.
    pub listed: usize,
    /// How many more there are, which are neither listed nor callable.
    pub left_out: usize,
    /// What was chosen and is not there any more, or not yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub missing: Vec<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ToolsetList {
    /// By name.
    pub toolsets: Vec<Toolset>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedToolset {
    pub name: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

/// `POST /v1/toolsets`.
#[derive(Clone, Debug, Default)]
pub struct CreateToolset {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub tools: Vec<String>,
    pub services: Vec<String>,
    pub skills: Vec<String>,
    pub generic_tools: bool,
}

/// `PATCH /v1/toolsets/{toolset_name}`: fields that are given replace the stored ones.
#[derive(Clone, Debug, Default)]
pub struct UpdateToolset {
    pub title: Option<String>,
    pub description: Option<String>,
    pub tools: Option<Vec<String>>,
    pub services: Option<Vec<String>>,
    pub skills: Option<Vec<String>>,
    pub generic_tools: Option<bool>,
}

/// What a toolset names and is there.
pub(crate) struct ToolsetContents {
    /// The tools that are named themselves, then those of services, each once.
    pub tools: Vec<Arc<Tool>>,
    /// Without their instructions.
    pub skills: Vec<SkillRow>,
    pub missing: Vec<String>,
}

impl ToolsetContents {
    pub(crate) fn new(row: &ToolsetRow, skills: &[SkillRow], catalog: &Catalog) -> Self {
        let mut seen = BTreeSet::new();
        let (mut tools, mut missing) = (Vec::new(), Vec::new());
        for name in &row.tools {
            match catalog.get(name) {
                Some(tool) if seen.insert(tool.name.clone()) => tools.push(tool.clone()),
                Some(_) => {}
                None => missing.push(name.clone()),
            }
        }
        let known = |service: &&String| catalog.manifest(service).is_some();
        missing.extend(row.services.iter().filter(|one| !known(one)).cloned());
        let of_services = catalog.tools().iter().filter(|tool| {
            let mut services = row.services.iter();
            services.any(|service| service == tool.service())
        });
        for tool in of_services {
            if seen.insert(tool.name.clone()) {
                tools.push(tool.clone());
            }
        }
        let there = |id: &&String| skills.iter().any(|skill| skill.id == **id);
        missing.extend(row.skills.iter().filter(|one| !there(one)).cloned());
        Self {
            tools,
            skills: skills.to_vec(),
            missing,
        }
    }

    fn count(&self, generic_tools: bool) -> usize {
        let generic = if generic_tools { GENERIC_TOOLS } else { 0 };
        self.tools.len() + self.skills.len() + generic
    }
}

impl Gateway {
    fn toolset_admin(&self) -> ToolsetAdmin {
        ToolsetAdmin {
            store: self.store.clone(),
            // Counted first: what becomes ready in between is then in the snapshot.
            plugins_loading: self.plugins_loading(),
            snapshot: self.snapshot(),
            endpoint: self.identity.mcp_resource(),
        }
    }

    /// All toolsets of the workspace.
    pub async fn list_toolsets(&self, caller: &Caller) -> Result<ToolsetList, Error> {
        caller.need(Scope::ToolsRead)?;
        self.toolset_admin().list(caller).await
    }

    /// One toolset.
    pub async fn toolset(&self, caller: &Caller, name: &str) -> Result<Toolset, Error> {
        caller.need(Scope::ToolsRead)?;
        self.toolset_admin().read(caller, name).await
    }

    /// Keeps a new toolset.
    ///
    /// # Errors
    /// `tool_not_found` with the nearest names, `service_not_found`, `skill_not_found` for what is not
    /// there; `conflict` for a name that is taken, beyond [`TOOLSETS_MAX`], and for a Skill at another version than the
    /// one that was read.
    pub async fn create_toolset(
        &self,
        caller: &Caller,
        request: impl Into<OverSkills<CreateToolset>>,
    ) -> Result<Toolset, Error> {
        caller.need(Scope::Admin)?;
        let now_ms = self.clock.now_ms();
        self.toolset_admin().create(caller, request, now_ms).await
    }

    /// Changes what is given.
    ///
    /// # Errors
    /// As of [`Gateway::create_toolset`], and `not_found`.
    pub async fn update_toolset(
        &self,
        caller: &Caller,
        name: &str,
        request: impl Into<OverSkills<UpdateToolset>>,
    ) -> Result<Toolset, Error> {
        caller.need(Scope::Admin)?;
        let now_ms = self.clock.now_ms();
        let admin = self.toolset_admin();
        admin.update(caller, name, request, now_ms).await
    }

    /// Deletes a toolset; its address answers 404 from the next request on.
    pub async fn delete_toolset(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<DeletedToolset, Error> {
        caller.need(Scope::Admin)?;
        let now_ms = self.clock.now_ms();
        self.toolset_admin().delete(caller, name, now_ms).await
    }
}

pub(crate) async fn find(
    store: &Store,
    workspace_id: &str,
    name: &str,
) -> Result<ToolsetRow, Error> {
    // Other texts never reach the database.
    if !is_toolset_name(name) {
        return Err(unknown(name));
    }
    let found = store.find_toolset(workspace_id, name).await?;
    found.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let name = toolgate_core::visible::shown_name(name);
    Error::NotFound(format!("the toolset {name}"))
}
