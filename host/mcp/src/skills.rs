//! Skills as files: the extension `io.modelcontextprotocol/skills` (SEP-2640).
//!
//! A Skill of the workspace is a directory with one file, `skill://<skill_id>/<name>/SKILL.md`: YAML
//! front matter and the instructions. The id keeps the address unique, the name is the Skill's name as
//! the format of Agent Skills wants it (lower case, hyphens). Pure; [`super::server`] serves it.

use rmcp::model::{
    Resource, ResourceContents, Skill as Entry, SkillFrontmatter, SkillResource, SkillResources,
};
use serde_json::json;

use toolgate_gateway::skills::Skill;

/// How long a client may keep what it read. Skills change whenever somebody saves one.
pub const FRESH_MS: u64 = 60_000;

/// Entries of one page of `skills/list` and `resources/list`.
pub const PAGE: usize = 20;

/// Of a name in the format of Agent Skills.
const NAME_CHARS_MAX: usize = 64;
/// Of a description in the format of Agent Skills; a longer summary is cut there.
const DESCRIPTION_CHARS_MAX: usize = 1_024;

const MIME_TYPE: &str = "text/markdown";

/// The Skill's name as one segment of an address: `a-z`, `0-9` and single hyphens. A name without any
/// such character is `skill`.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if slug.len() >= NAME_CHARS_MAX {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "skill" } else { slug }.to_owned()
}

/// Where the Skill's file is.
pub fn uri(skill: &Skill) -> String {
    format!("skill://{}/{}/SKILL.md", skill.skill_id, slug(&skill.name))
}

/// The Skill that an address of ours is about; whether the address is its current one is for [`uri`].
pub fn id_of(uri: &str) -> Option<&str> {
    let (id, _) = uri.strip_prefix("skill://")?.split_once('/')?;
    Some(id)
}

/// What the file's front matter says, in its order.
fn frontmatter(skill: &Skill) -> SkillFrontmatter {
    let cut = skill.summary.char_indices().nth(DESCRIPTION_CHARS_MAX);
    let description = cut.map_or(skill.summary.as_str(), |(end, _)| &skill.summary[..end]);
    let metadata = json!({
        "title": skill.name,
        "skill_id": skill.skill_id,
        "version": skill.version.to_string(),
    });
    SkillFrontmatter::new(slug(&skill.name), description).with_field("metadata", metadata)
}

/// The file itself. YAML reads JSON's texts, so every value is in quotes as JSON has it.
pub fn file(skill: &Skill) -> String {
    let says = frontmatter(skill);
    let mut text = format!(
        "---\nname: {}\ndescription: {}\nmetadata:\n",
        quoted(&says.name),
        quoted(&says.description)
    );
    let metadata = says.extra.get("metadata").and_then(|all| all.as_object());
    for (key, value) in metadata.into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        text.push_str(&format!("  {key}: {}\n", quoted(value)));
    }
    text.push_str("---\n\n");
    text.push_str(&skill.instructions);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A double-quoted scalar (YAML 1.2, section 7.3.1). Beyond what JSON escapes, whatever YAML takes for
/// a line break or does not print.
fn quoted(text: &str) -> String {
    let mut scalar = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => scalar.push_str("\\\""),
            '\\' => scalar.push_str("\\\\"),
            '\n' => scalar.push_str("\\n"),
            '\r' => scalar.push_str("\\r"),
            '\t' => scalar.push_str("\\t"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                scalar.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c if c.is_control() => scalar.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => scalar.push(c),
        }
    }
    scalar.push('"');
    scalar
}

/// The entry of `skills/list` and `skills/get`: front matter, and the file's digest and size.
pub fn entry(skill: &Skill) -> Entry {
    let (uri, file) = (uri(skill), file(skill));
    let manifest = SkillResource::from_bytes(uri.clone(), file.as_bytes());
    Entry::new(
        uri,
        frontmatter(skill),
        SkillResources::Files(vec![manifest]),
    )
}

/// The file as `resources/list` names it.
pub fn resource(skill: &Skill) -> Resource {
    let mut resource = Resource::new(uri(skill), slug(&skill.name));
    resource.title = Some(skill.name.clone());
    resource.description = Some(frontmatter(skill).description);
    resource.mime_type = Some(MIME_TYPE.to_owned());
    resource.size = Some(file(skill).len() as u64);
    resource
}

/// The file as `resources/read` answers it.
pub fn contents(skill: &Skill) -> ResourceContents {
    ResourceContents::text(file(skill), uri(skill)).with_mime_type(MIME_TYPE)
}

#[cfg(test)]
mod tests {
    use rmcp::model::sha256_digest;

    use super::*;

    fn digest(skill: &Skill) -> String {
        sha256_digest(file(skill).as_bytes())
    }

    fn skill(name: &str, summary: &str) -> Skill {
        Skill {
            skill_id: "5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10".to_owned(),
            name: name.to_owned(),
            summary: summary.to_owned(),
            instructions: "1. List issues.\n2. Write three sentences.".to_owned(),
            version: 2,
            created_at: String::new(),
            updated_at: String::new(),
            change_waits: false,
        }
    }

    /// What a client's YAML parser makes of the front matter.
    fn read(file: &str) -> serde_json::Value {
        let rest = file.strip_prefix("---\n").unwrap();
        let (yaml, _) = rest.split_once("\n---\n").unwrap();
        serde_saphyr::from_str(yaml).unwrap()
    }

    #[test]
    fn names_become_segments_of_an_address() {
        for (name, expected) in [
            ("Weekly report", "weekly-report"),
            ("  --Über  Kreuz!  ", "ber-kreuz"),
            ("\u{5468}\u{5831}", "skill"),
            ("A_b.C/d", "a-b-c-d"),
            (&"x".repeat(200), &"x".repeat(64)),
            (&format!("{} y", "x".repeat(63)), &"x".repeat(63)),
        ] {
            assert_eq!(slug(name), expected, "{name}");
        }
    }

    #[test]
    fn entry_and_file_say_the_same_whatever_was_saved() {
        let odd =
            "\"quoted\" \\ back\n---\nname: other # no comment\t\u{2028}\u{85}\u{1f980} 'x': {y}";
        for saved in [
            skill("Weekly report", "Summarises the week."),
            skill("Weekly \"report\": yes", odd),
            skill("\u{5468}", &"long ".repeat(400)),
            skill("true", "~"),
        ] {
            let entry = entry(&saved);
            entry.validate().unwrap();
            let file = file(&saved);
            assert_eq!(
                read(&file),
                serde_json::to_value(&entry.frontmatter).unwrap()
            );
            let SkillResources::Files(files) = &entry.resources else {
                panic!("files have digests");
            };
            files[0].verify(file.as_bytes()).unwrap();
            assert_eq!(files[0].digest, digest(&saved));
            assert!(file.ends_with("2. Write three sentences.\n"));
            assert_eq!(id_of(&entry.uri), Some(&*saved.skill_id));
        }
    }

    #[test]
    fn a_change_changes_the_digest() {
        let before = skill("Weekly report", "Summarises the week.");
        let mut after = before.clone();
        after.version = 3;
        assert_ne!(digest(&before), digest(&after));
    }

    #[test]
    fn other_addresses_are_none_of_ours() {
        for uri in [
            "",
            "skill://",
            "skill://abc",
            "http://abc/x/SKILL.md",
            "SKILL.md",
        ] {
            assert_eq!(id_of(uri), None, "{uri}");
        }
    }
}
