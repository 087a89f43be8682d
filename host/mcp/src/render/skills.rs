//! The texts of the five Skill tools (their shapes are part of the contract).

use std::fmt::Write as _;

use super::one_line;
use toolgate_gateway::skills::{DeletedSkill, Skill, SkillPage};

/// `svc_list_skills`.
pub fn skill_page(page: &SkillPage) -> String {
    let mut text = format!(
        "Showing {} of {} skill(s) (offset={})\n",
        page.skills.len(),
        page.total,
        page.offset
    );
    for skill in &page.skills {
        let _ = write!(
            text,
            "\n- **{}** (skill_id: {})\n  {}",
            one_line(&skill.name),
            skill.skill_id,
            one_line(&skill.summary)
        );
    }
    let shown = page.offset + page.skills.len();
    if page.skills.is_empty() {
        text.push_str(
            "\nNext step: call `svc_list_skills` without `query` to see all, or save one with `svc_create_skill`.",
        );
    } else {
        text.push_str(
            "\n\nNext step: call `svc_get_skill` with a `skill_id` to read its instructions",
        );
        if shown < page.total {
            let _ = write!(
                text,
                ", or `svc_list_skills` with `offset` {shown} for more"
            );
        }
        text.push('.');
    }
    text
}

/// `svc_get_skill`.
pub fn skill(skill: &Skill) -> String {
    format!(
        "**{}**\n\n{}\n\nInstructions:\n{}\n\nNext step: follow these instructions yourself; find the \
         tools they name with `svc_search_tools`.",
        one_line(&skill.name),
        skill.summary,
        skill.instructions
    )
}

/// A Skill of a toolset.
pub fn skill_alone(skill: &Skill) -> String {
    format!(
        "**{}**\n\n{}\n\nInstructions:\n{}\n\nNext step: follow these instructions yourself, with the \
         tools that you have.",
        one_line(&skill.name),
        skill.summary,
        skill.instructions
    )
}

/// `svc_create_skill`.
pub fn skill_created(skill: &Skill) -> String {
    format!(
        "Skill created.\nskill_id: {}\nname: {}\n\nRead it later with `svc_get_skill`.",
        skill.skill_id,
        one_line(&skill.name)
    )
}

/// `svc_update_skill`.
pub fn skill_updated(skill: &Skill) -> String {
    if skill.change_waits {
        return format!(
            "The change of the Skill waits for an admin of the workspace, because a toolset names the Skill: until \
             then its readers get the text of before.\nskill_id: {}\nname: {}\nversion: {}",
            skill.skill_id,
            one_line(&skill.name),
            skill.version
        );
    }
    format!(
        "Skill updated.\nskill_id: {}\nname: {}\nversion: {}",
        skill.skill_id,
        one_line(&skill.name),
        skill.version
    )
}

/// `svc_delete_skill`.
pub fn skill_deleted(deleted: &DeletedSkill) -> String {
    format!("Skill deleted: {}", deleted.skill_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_gateway::skills::ListedSkill;

    const ID: &str = "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10";

    fn weekly() -> Skill {
        Skill {
            skill_id: ID.to_owned(),
            name: "Weekly report".to_owned(),
            summary: "Summarises the week; use on Fridays.".to_owned(),
            instructions: "1. List issues.\n2. Write three sentences.".to_owned(),
            version: 2,
            created_at: String::new(),
            updated_at: String::new(),
            change_waits: false,
        }
    }

    fn page(names: &[&str], total: usize, offset: usize) -> SkillPage {
        let listed = names.iter().map(|name| ListedSkill {
            skill_id: ID.to_owned(),
            name: (*name).to_owned(),
            summary: "First line.\nSecond line.".to_owned(),
            version: 1,
            created_at: String::new(),
            updated_at: String::new(),
        });
        SkillPage {
            skills: listed.collect(),
            total,
            limit: 20,
            offset,
        }
    }

    #[test]
    fn the_five_texts_are_as_agreed() {
        let deleted = DeletedSkill {
            skill_id: ID.to_owned(),
            deleted: true,
        };
        let texts = [
            skill_page(&page(&["Weekly report", "Triage"], 2, 0)),
            skill_page(&page(&["Triage"], 5, 3)),
            skill_page(&page(&[], 0, 0)),
            skill(&weekly()),
            skill_created(&weekly()),
            skill_updated(&weekly()),
            skill_updated(&Skill {
                change_waits: true,
                ..weekly()
            }),
            skill_deleted(&deleted),
        ];
        insta::assert_snapshot!("skills", texts.join("\n\n-----\n\n"));
    }
}
