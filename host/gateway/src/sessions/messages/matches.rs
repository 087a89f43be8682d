//! What matches a message, for a gateway without a model: an honest answer instead of a clever one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use crate::knowledge::{FoundPassage, QUERY_CHARS_MAX, SearchKnowledge};
use crate::skills::{ListSkills, ListedSkill};
use crate::tools::{FoundTool, SearchTools};
use crate::{Caller, Error, Gateway};
use toolgate_core::ids::UserId;

const TOOLS_MAX: usize = 5;
const SKILLS_MAX: usize = 3;
const PASSAGES_MAX: usize = 3;
/// Newest Skills that are looked at.
const SKILLS_SEEN_MAX: usize = 100;
/// Shorter words say too little to find a Skill by.
const WORD_CHARS_MIN: usize = 4;

/// Skills, passages and tools that match a message, best first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Matches {
    pub skills: Vec<ListedSkill>,
    pub passages: Vec<FoundPassage>,
    /// With their input schemas, as search answers them.
    pub tools: Vec<FoundTool>,
    /// What the key has no scope to look into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_searched: Vec<String>,
}

impl Gateway {
    pub(super) async fn matches(
        &self,
        caller: &Caller,
        user_id: &str,
        said: &str,
    ) -> Result<Matches, Error> {
        let mut not_searched = Vec::new();
        let user = UserId::parse(user_id).map_err(|cause| Error::Internal(cause.into()))?;
        let tools = SearchTools {
            query: said
                .chars()
                .take(toolgate_search::QUERY_CHARS_MAX)
                .collect(),
            service: None,
            limit: TOOLS_MAX,
            schema_limit: TOOLS_MAX,
            schema_address: str::to_owned,
            user_id: Some(user),
        };
        let tools = self.search_tools(caller, tools).await;
        let tools = allowed(tools, "tools", &mut not_searched)?;
        let skills = ListSkills {
            query: String::new(),
            limit: SKILLS_SEEN_MAX,
            offset: 0,
        };
        let skills = self.list_skills(caller, skills).await;
        let skills = allowed(skills, "skills", &mut not_searched)?;
        let passages = SearchKnowledge {
            query: said.chars().take(QUERY_CHARS_MAX).collect(),
            limit: PASSAGES_MAX,
        };
        let passages = self.search_knowledge(caller, passages).await;
        let passages = allowed(passages, "knowledge", &mut not_searched)?;
        Ok(Matches {
            skills: skills.map_or_else(Vec::new, |page| fitting(said, page.skills)),
            passages: passages.map_or_else(Vec::new, |found| found.passages),
            tools: tools.map_or_else(Vec::new, |found| found.tools),
            not_searched,
        })
    }
}

/// What the caller may not look into is left out, and said to be.
fn allowed<T>(
    found: Result<T, Error>,
    what: &str,
    not_searched: &mut Vec<String>,
) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::ScopeDenied(_) | Error::RoleDenied(_)) => {
            not_searched.push(what.to_owned());
            Ok(None)
        }
        // A message may begin with white space for longer than a query lasts.
        Err(Error::InvalidRequest(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The Skills that share most words with what was said.
fn fitting(said: &str, skills: Vec<ListedSkill>) -> Vec<ListedSkill> {
    let wanted = words(said);
    let mut rated: Vec<(usize, ListedSkill)> = skills
        .into_iter()
        .map(|skill| {
            let has = words(&format!("{} {}", skill.name, skill.summary));
            (wanted.intersection(&has).count(), skill)
        })
        .filter(|(shared, _)| *shared > 0)
        .collect();
    rated.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let best = rated.into_iter().take(SKILLS_MAX);
    best.map(|(_, skill)| skill).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= WORD_CHARS_MIN)
        .map(|word| word.to_lowercase().trim_end_matches('s').to_owned())
        .collect()
}

impl Matches {
    /// The answer for a person.
    pub fn in_words(&self) -> String {
        let mut text =
            "No model is configured, so nothing was run. This is what matches your message."
                .to_owned();
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                let _ = write!(text, "\n\n{title}\n- {}", lines.join("\n- "));
            }
        };
        let skills = self.skills.iter();
        let skills =
            skills.map(|skill| format!("{} ({}): {}", skill.name, skill.skill_id, skill.summary));
        list("Skills:", skills.collect());
        let passages = self.passages.iter().map(|passage| {
            let place = match passage.position.page {
                Some(page) => format!(", page {page}"),
                None => String::new(),
            };
            format!("{}{place}: {}", passage.title, passage.text)
        });
        list("Passages of the knowledge:", passages.collect());
        let tools = self.tools.iter();
        let tools = tools.map(|tool| format!("{}: {}", tool.name, tool.description));
        list("Tools:", tools.collect());
        if self.skills.is_empty() && self.passages.is_empty() && self.tools.is_empty() {
            text = "No model is configured, so nothing was run, and nothing matches your message."
                .to_owned();
        }
        if !self.not_searched.is_empty() {
            let _ = write!(
                text,
                "\n\nNot looked into, for lack of rights: {}.",
                self.not_searched.join(", ")
            );
        }
        text
    }
}
