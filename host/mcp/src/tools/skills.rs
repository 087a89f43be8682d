//! `svc_list_skills`, `svc_get_skill`, `svc_create_skill`, `svc_update_skill`, `svc_delete_skill`.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolEntry, ToolHints, ToolOutcome, decode, parameters, schema_of};
use crate::render;
use toolgate_gateway::Scope;
use toolgate_gateway::skills::{CreateSkill, ListSkills, UpdateSkill};

/// Skills named in one answer when the client gives no `limit`.
const LIMIT_DEFAULT: usize = 20;

pub(super) const LIST: ToolEntry = ToolEntry {
    name: "svc_list_skills",
    title: "List Skills",
    description: "Lists the workspace's Skills: saved instructions for tasks that come up again. \
        Look here before you start a task, then read the fitting one with svc_get_skill and follow it.",
    effect: ToolHints::Reads,
    scope: Some(Scope::SkillsRead),
    parameters: schema_of::<ListParameters>,
    call: |call| {
        Box::pin(async move {
            let asked: ListParameters = decode(&LIST, call.arguments)?;
            let list = ListSkills {
                query: asked.query.unwrap_or_default(),
                limit: asked.limit.unwrap_or(LIMIT_DEFAULT),
                offset: asked.offset.unwrap_or_default(),
            };
            let page = call.operations.list_skills(list).await?;
            Ok(ToolOutcome::Text(render::skill_page(&page)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct ListParameters {
    /// Words to look for in name and summary: "weekly report". All Skills if left out.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    query: Option<String>,
    /// How many Skills to name, 1 to 100. 20 if left out.
    #[serde(default, deserialize_with = "parameters::whole_number")]
    #[schemars(with = "u32", range(min = 1, max = 100))]
    limit: Option<usize>,
    /// How many Skills to leave out at the front, to read on. 0 if left out.
    #[serde(default, deserialize_with = "parameters::whole_number")]
    #[schemars(with = "u32")]
    offset: Option<usize>,
}

pub(super) const GET: ToolEntry = ToolEntry {
    name: "svc_get_skill",
    title: "Read a Skill",
    description: "Reads one Skill in full. Follow its instructions yourself.",
    effect: ToolHints::Reads,
    scope: Some(Scope::SkillsRead),
    parameters: schema_of::<IdParameter>,
    call: |call| {
        Box::pin(async move {
            let asked: IdParameter = decode(&GET, call.arguments)?;
            let skill = call.operations.skill(&asked.skill_id).await?;
            Ok(ToolOutcome::Text(render::skill(&skill)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct IdParameter {
    /// Id from svc_list_skills or svc_create_skill.
    skill_id: String,
}

pub(super) const CREATE: ToolEntry = ToolEntry {
    name: "svc_create_skill",
    title: "Save a Skill",
    description: "Saves instructions for a task that will come up again, for every agent of the \
        workspace. Ask your user before you save one.",
    effect: ToolHints::Creates,
    scope: Some(Scope::SkillsWrite),
    parameters: schema_of::<CreateParameters>,
    call: |call| {
        Box::pin(async move {
            let asked: CreateParameters = decode(&CREATE, call.arguments)?;
            let create = CreateSkill {
                name: asked.name,
                summary: asked.description,
                instructions: asked.body,
            };
            let skill = call.operations.create_skill(create).await?;
            Ok(ToolOutcome::Text(render::skill_created(&skill)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct CreateParameters {
    /// Short and descriptive, 1 to 200 characters: "Weekly report".
    name: String,
    /// What the Skill does and when to use it, 1 to 2,000 characters.
    #[serde(alias = "summary")]
    description: String,
    /// The steps to follow, 1 to 100,000 characters.
    #[serde(alias = "instructions")]
    body: String,
}

pub(super) const UPDATE: ToolEntry = ToolEntry {
    name: "svc_update_skill",
    title: "Change a Skill",
    description: "Changes a saved Skill. Only the fields you fill change; an empty one keeps what is \
        there. Ask your user before you change one.",
    effect: ToolHints::Overwrites,
    scope: Some(Scope::SkillsWrite),
    parameters: schema_of::<UpdateParameters>,
    call: |call| {
        Box::pin(async move {
            let asked: UpdateParameters = decode(&UPDATE, call.arguments)?;
            let update = UpdateSkill {
                skill_id: asked.skill_id,
                name: asked.name,
                summary: asked.summary,
                instructions: asked.instructions,
                if_version: None,
            };
            let skill = call.operations.update_skill(update).await?;
            Ok(ToolOutcome::Text(render::skill_updated(&skill)))
        })
    },
};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct UpdateParameters {
    /// Id from svc_list_skills or svc_create_skill.
    skill_id: String,
    /// New name. Empty or left out keeps the current one.
    #[serde(default, deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    name: Option<String>,
    /// New summary. Empty or left out keeps the current one.
    #[serde(
        default,
        alias = "description",
        deserialize_with = "parameters::filled"
    )]
    #[schemars(with = "String")]
    summary: Option<String>,
    /// New instructions. Empty or left out keeps the current ones.
    #[serde(default, alias = "body", deserialize_with = "parameters::filled")]
    #[schemars(with = "String")]
    instructions: Option<String>,
}

pub(super) const DELETE: ToolEntry = ToolEntry {
    name: "svc_delete_skill",
    title: "Delete a Skill",
    description: "Deletes a Skill for good, with all its versions. Ask your user before you delete one.",
    effect: ToolHints::Deletes,
    scope: Some(Scope::SkillsWrite),
    parameters: schema_of::<IdParameter>,
    call: |call| {
        Box::pin(async move {
            let asked: IdParameter = decode(&DELETE, call.arguments)?;
            let deleted = call.operations.delete_skill(&asked.skill_id);
            Ok(ToolOutcome::Text(render::skill_deleted(&deleted.await?)))
        })
    },
};
