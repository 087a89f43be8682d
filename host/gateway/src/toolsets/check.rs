//! What a toolset may be: its name, its texts and how much it names. Pure.

use std::collections::BTreeSet;

use crate::Error;
use toolgate_core::ids::{self, TOOLSET_NAME_CHARS_MAX, is_toolset_name};
use toolgate_core::visible::is_hidden;
use toolgate_store::ToolsetRow;

use super::TOOLS_LISTED_MAX;

pub const TITLE_CHARS_MAX: usize = 200;
pub const DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Tools, services and Skills that one toolset names, together.
pub const ENTRIES_MAX: usize = TOOLS_LISTED_MAX;
/// Of one name of a tool or service, or id of a Skill; the catalog has none that is longer.
pub const ENTRY_CHARS_MAX: usize = 128;

pub(super) fn checked_name(name: String) -> Result<String, Error> {
    if is_toolset_name(&name) {
        return Ok(name);
    }
    Err(Error::InvalidRequest(format!(
        "name must be 1 to {TOOLSET_NAME_CHARS_MAX} of a-z, 0-9, - and _, and begin with a letter or digit"
    )))
}

/// `field`: `title`, on one line, or `description`.
pub(super) fn checked_text(field: &'static str, text: String) -> Result<String, Error> {
    let (chars_max, breaks) = match field {
        "title" => (TITLE_CHARS_MAX, ""),
        _ => (DESCRIPTION_CHARS_MAX, "\n"),
    };
    let chars = text.chars().count();
    if chars > chars_max {
        return Err(Error::InvalidRequest(format!(
            "{field} must have at most {chars_max} characters, not {chars}"
        )));
    }
    if text.chars().any(|c| is_hidden(c) && !breaks.contains(c)) {
        return Err(Error::InvalidRequest(format!(
            "{field} holds a character that cannot be seen"
        )));
    }
    Ok(text)
}

/// The same toolset with each entry once, in the order given.
pub(super) fn checked_entries(row: ToolsetRow) -> Result<ToolsetRow, Error> {
    let count = row.tools.len() + row.services.len() + row.skills.len();
    if count > ENTRIES_MAX {
        return Err(Error::InvalidRequest(format!(
            "a toolset can hold at most {ENTRIES_MAX} tools, services and Skills in all; {count} were given"
        )));
    }
    if count == 0 {
        return Err(Error::InvalidRequest(
            "a toolset needs at least one tool, service or Skill".to_owned(),
        ));
    }
    let mut all = row.tools.iter().chain(&row.services);
    if all.any(|name| name.is_empty() || name.chars().count() > ENTRY_CHARS_MAX) {
        return Err(Error::InvalidRequest(format!(
            "tools and services are names of 1 to {ENTRY_CHARS_MAX} characters"
        )));
    }
    if let Some(other) = row.skills.iter().find(|id| !ids::is_uuid(id)) {
        let id = toolgate_core::visible::shown_name(other);
        return Err(Error::SkillNotFound(id));
    }
    Ok(ToolsetRow {
        tools: each_once(row.tools),
        services: each_once(row.services),
        skills: each_once(row.skills),
        ..row
    })
}

fn each_once(names: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    names.retain(|name| seen.insert(name.clone()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_hold_what_a_reader_sees() {
        let check = |field, text: &str| checked_text(field, text.to_owned()).is_ok();
        assert!(check("title", "Support \u{1f980}") && check("title", ""));
        assert!(check("description", "One\nTwo") && !check("title", "One\nTwo"));
        assert!(check("title", &"t".repeat(TITLE_CHARS_MAX)));
        assert!(!check("title", &"t".repeat(TITLE_CHARS_MAX + 1)));
        assert!(check("description", &"d".repeat(DESCRIPTION_CHARS_MAX)));
        assert!(!check(
            "description",
            &"d".repeat(DESCRIPTION_CHARS_MAX + 1)
        ));
        for hidden in ["a\0b", "\u{200b}", "\u{202e}abc", "\u{1b}[31m", "\u{e0041}"] {
            assert!(
                !check("title", hidden) && !check("description", hidden),
                "{hidden:?}"
            );
        }
    }
}
