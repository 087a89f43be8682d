//! What a toolset lists to a caller: tools and Skills as an MCP client sees them, without those that the
//! caller's user may not use. The list is the same, byte for byte, until something that it is made of
//! changes.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::{GENERIC_TOOLS, TOOLS_LISTED_MAX, ToolsetContents, find};
use crate::tools::Annotations;
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::Tool;
use toolgate_core::text::Text;
use toolgate_store::{SkillRow, ToolsetRow, Topic};

/// What the names of Skills begin with, in a list of tools.
pub const SKILL_TOOL_PREFIX: &str = "skill_";
const _: () = assert!(
    toolgate_catalog::reserved::begins_with_word(
        SKILL_TOOL_PREFIX,
        toolgate_catalog::reserved::SKILL
    ),
    "no plugin may have the name of a Skill's tool"
);
/// Of a Skill's name in the name of its tool.
const SKILL_SLUG_CHARS_MAX: usize = 48;
/// Of a Skill's id where its name alone would not tell it apart.
const SKILL_ID_CHARS: usize = 8;
/// Toolsets remembered at one time.
const KNOWN_MAX: usize = 10_000;

/// `GET /v1/toolsets/{toolset_name}/tools`, and what `/mcp/t/{toolset_name}` lists.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolsetTools {
    #[schema(example = "support")]
    pub name: String,
    pub title: String,
    pub description: String,
    /// Whether an MCP client is listed the tools of the main address too, before these.
    pub generic_tools: bool,
    /// Skills, then tools, each by name.
    pub tools: Vec<ToolsetTool>,
    /// How many more the caller may use, which are neither listed nor callable here.
    pub left_out: usize,
}

/// One tool of a toolset.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ToolsetTool {
    pub name: String,
    pub title: String,
    pub description: String,
    #[serde(rename = "inputSchema")]
    #[schema(value_type = Object)]
    pub input_schema: Arc<RawValue>,
    #[serde(
        rename = "outputSchema",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<Object>)]
    pub output_schema: Option<Arc<RawValue>>,
    pub annotations: Annotations,
    #[serde(flatten)]
    pub source: ToolSource,
}

/// What a tool of a toolset runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolSource {
    /// A tool of a service, run like any other.
    Tool { service: String },
    /// A Skill, which is answered as text.
    Skill {
        #[schema(format = "uuid")]
        skill_id: String,
    },
}

/// Toolsets seen since the last change to any toolset or Skill.
#[derive(Default)]
pub(crate) struct KnownToolsets(Mutex<ToolsetCache>);

#[derive(Default)]
struct ToolsetCache {
    at: i64,
    /// By workspace and name.
    toolsets: HashMap<(Text, String), Arc<LoadedToolset>>,
}

struct LoadedToolset {
    row: ToolsetRow,
    skills: Vec<SkillRow>,
}

impl KnownToolsets {
    fn get(&self, at: i64, key: &(Text, String)) -> Option<Arc<LoadedToolset>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at < at {
            *known = ToolsetCache {
                at,
                ..ToolsetCache::default()
            };
        }
        let current = known.at == at;
        current.then(|| known.toolsets.get(key).cloned())?
    }

    fn put(&self, at: i64, key: (Text, String), toolset: Arc<LoadedToolset>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at == at && known.toolsets.len() < KNOWN_MAX {
            known.toolsets.insert(key, toolset);
        }
    }
}

impl Gateway {
    /// Refuses what is not a toolset of the caller's workspace.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn check_toolset(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        self.loaded_toolset(caller, name).await.map(|_| ())
    }

    /// What a toolset lists to the caller.
    pub async fn toolset_tools(&self, caller: &Caller, name: &str) -> Result<ToolsetTools, Error> {
        caller.need(Scope::ToolsRead)?;
        let loaded = self.loaded_toolset(caller, name).await?;
        let permissions = self.permissions_of(caller, &caller.default_user).await?;
        let snapshot = self.snapshot();
        let row = &loaded.row;
        let skills = match caller.need(Scope::SkillsRead) {
            Ok(()) => &loaded.skills[..],
            Err(_) => &[],
        };
        let mut contents = ToolsetContents::new(row, skills, &snapshot.catalog);
        contents.tools.retain(|tool| permissions.shows(tool));
        Ok(listed(row, contents))
    }

    async fn loaded_toolset(
        &self,
        caller: &Caller,
        name: &str,
    ) -> Result<Arc<LoadedToolset>, Error> {
        let at = caller.changes.get(Topic::Toolsets);
        let key = (caller.workspace_id.clone(), name.to_owned());
        if let Some(loaded) = self.known_toolsets.get(at, &key) {
            return Ok(loaded);
        }
        let row = find(&self.store, &caller.workspace_id, name).await?;
        let skills = self.store.find_skills(&row.workspace_id, &row.skills);
        let skills = skills.await?;
        let loaded = Arc::new(LoadedToolset { row, skills });
        self.known_toolsets.put(at, key, loaded.clone());
        Ok(loaded)
    }
}

/// Whether a result is what a tool has said that its results are.
pub fn fits(output_schema: &RawValue, result: &Value) -> bool {
    toolgate_catalog::is_valid(output_schema, result)
}

/// What fits into one list: Skills and the tools that are named themselves before those of services.
fn listed(row: &ToolsetRow, contents: ToolsetContents) -> ToolsetTools {
    let ToolsetContents { tools, skills, .. } = contents;
    let generic = if row.generic_tools { GENERIC_TOOLS } else { 0 };
    let room = TOOLS_LISTED_MAX - generic;
    let count = tools.len() + skills.len();
    let mut all = skill_tools(&skills);
    all.truncate(room);
    let mut of_services: Vec<ToolsetTool> = tools
        .iter()
        .take(room - all.len())
        .map(|tool| described(tool))
        .collect();
    of_services.sort_by(|a, b| a.name.cmp(&b.name));
    // No plugin may have a Skill's name. One that was admitted before the names were reserved does not replace it.
    let taken: BTreeSet<String> = all.iter().map(|skill| skill.name.clone()).collect();
    of_services.retain(|tool| !taken.contains(&tool.name));
    all.append(&mut of_services);
    ToolsetTools {
        name: row.name.clone(),
        title: row.title.clone(),
        description: row.description.clone(),
        generic_tools: row.generic_tools,
        left_out: count - all.len(),
        tools: all,
    }
}

fn described(tool: &Tool) -> ToolsetTool {
    let spec = tool.spec();
    let title = spec.title.clone();
    let title = title.unwrap_or_else(|| {
        let action = tool.action().replace('_', " ");
        format!("{}: {action}", tool.manifest().title)
    });
    ToolsetTool {
        name: tool.name.to_string(),
        title,
        description: tool.description().to_owned(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        annotations: Annotations::new(tool.effect(), tool.idempotent()),
        source: ToolSource::Tool {
            service: tool.service().to_owned(),
        },
    }
}

/// Skills as tools without arguments, by name.
fn skill_tools(skills: &[SkillRow]) -> Vec<ToolsetTool> {
    static NO_ARGUMENTS: LazyLock<Arc<RawValue>> = LazyLock::new(|| {
        let schema = serde_json::json!({
            "type": "object", "properties": {}, "additionalProperties": false,
        });
        to_raw_value(&schema).expect("an object is JSON").into()
    });
    let mut names: HashMap<String, usize> = HashMap::new();
    for skill in skills {
        *names.entry(slug(&skill.name)).or_default() += 1;
    }
    let mut tools: Vec<ToolsetTool> = skills
        .iter()
        .map(|skill| {
            let slug = slug(&skill.name);
            let id = skill.id.replace('-', "");
            let short = &id[..id.len().min(SKILL_ID_CHARS)];
            let alone = !slug.is_empty() && names.get(&slug) == Some(&1);
            let name = match (alone, slug.is_empty()) {
                (true, _) => format!("{SKILL_TOOL_PREFIX}{slug}"),
                (false, true) => format!("{SKILL_TOOL_PREFIX}{id}"),
                (false, false) => format!("{SKILL_TOOL_PREFIX}{slug}_{short}"),
            };
            ToolsetTool {
                name,
                title: skill.name.clone(),
                description: format!(
                    "{}\n\nAnswers the instructions of this Skill. Follow them yourself.",
                    skill.summary
                ),
                input_schema: NO_ARGUMENTS.clone(),
                output_schema: None,
                annotations: Annotations {
                    read_only_hint: true,
                    destructive_hint: false,
                    idempotent_hint: true,
                    open_world_hint: false,
                },
                source: ToolSource::Skill {
                    skill_id: skill.id.clone(),
                },
            }
        })
        .collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools.dedup_by(|later, first| later.name == first.name);
    tools
}

/// `a-z`, `0-9` and single underscores; empty for a name without any such character.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if slug.len() >= SKILL_SLUG_CHARS_MAX {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(id: &str, name: &str) -> SkillRow {
        SkillRow {
            workspace_id: "ws".to_owned(),
            id: id.to_owned(),
            name: name.to_owned(),
            summary: "Sorts what came in.".to_owned(),
            instructions: String::new(),
            version: 1,
            created_at_ms: 0,
            updated_at_ms: 0,
        }
    }

    #[test]
    fn skills_have_names_of_their_own_whatever_they_are_called() {
        let skills = [
            skill("aaaaaaaa-63a5-4f0b-9f43-3c1b5b3f9d10", "Weekly report"),
            skill("bbbbbbbb-63a5-4f0b-9f43-3c1b5b3f9d10", "Triage: new!"),
            skill("cccccccc-63a5-4f0b-9f43-3c1b5b3f9d10", "weekly-REPORT"),
            skill("dddddddd-63a5-4f0b-9f43-3c1b5b3f9d10", "\u{5468}\u{5831}"),
            skill("eeeeeeee-63a5-4f0b-9f43-3c1b5b3f9d10", &"x".repeat(200)),
        ];
        let tools = skill_tools(&skills);
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let long = format!("skill_{}", "x".repeat(SKILL_SLUG_CHARS_MAX));
        assert_eq!(
            names,
            [
                "skill_dddddddd63a54f0b9f433c1b5b3f9d10",
                "skill_triage_new",
                "skill_weekly_report_aaaaaaaa",
                "skill_weekly_report_cccccccc",
                &long,
            ]
        );
        assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");
    }
}
