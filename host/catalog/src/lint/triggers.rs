//! What a manifest may say of events that the gateway finds by polling: a reading tool, and places that can be read.

use std::collections::{HashMap, HashSet};

use super::{Lint, ManifestPath, NAME_RULE, is_name, text};
use crate::manifest::{Effect, Manifest, ToolSpec, TriggerSpec};

/// Seconds between two polls where neither the manifest nor the user names them.
pub const TRIGGER_INTERVAL_S: u64 = 300;
/// Least and most seconds between two polls.
pub const TRIGGER_INTERVAL_S_MIN: u64 = 60;
pub const TRIGGER_INTERVAL_S_MAX: u64 = 24 * 60 * 60;
/// Triggers of one tool.
const TRIGGERS_MAX: usize = 10;
const NAME_CHARS_MAX: usize = 62;
const TITLE_CHARS_MAX: usize = 100;
const DESCRIPTION_CHARS_MAX: usize = 1_000;
const POINTER_CHARS_MAX: usize = 200;
/// Pointers that identify an item together.
const ID_PARTS_MAX: usize = 4;
/// Arguments of every call, as compact JSON.
const ARGUMENTS_BYTES_MAX: usize = 4_096;

pub(super) fn check(manifest: &Manifest, found: &mut Lint) {
    let root = ManifestPath::Root;
    let tools = root.key("tools");
    let mut names = HashMap::new();
    for (i, tool) in manifest.tools.iter().enumerate() {
        if tool.triggers.is_empty() {
            continue;
        }
        let at = tools.index(i);
        let at = at.key("triggers");
        if tool.effect != Effect::Read {
            found.error(&at, "only a tool declared `read` is polled");
        }
        if tool.triggers.len() > TRIGGERS_MAX {
            found.error(&at, format!("at most {TRIGGERS_MAX} triggers of one tool"));
        }
        for (i, trigger) in tool.triggers.iter().take(TRIGGERS_MAX).enumerate() {
            let at = at.index(i);
            if let Some(other) = names.insert(trigger.name.as_str(), tool.name.as_str()) {
                let message = format!(
                    "the trigger `{}` is declared twice; the other one is of `{}`",
                    text::shown(&trigger.name),
                    text::shown(other)
                );
                found.error(&at.key("name"), message);
            }
            one(tool, trigger, &at, found);
        }
    }
}

fn one(tool: &ToolSpec, trigger: &TriggerSpec, at: &ManifestPath<'_>, found: &mut Lint) {
    if !is_name(&trigger.name) || trigger.name.len() > NAME_CHARS_MAX {
        let name = text::shown(&trigger.name);
        let message = format!(
            "the trigger name `{name}` must {NAME_RULE}, in at most {NAME_CHARS_MAX} characters"
        );
        found.error(&at.key("name"), message);
    }
    let (title, description) = (&trigger.title, &trigger.description);
    let (title_at, description_at) = (at.key("title"), at.key("description"));
    text::check(found, &title_at, "title", title, 1, TITLE_CHARS_MAX);
    let most = DESCRIPTION_CHARS_MAX;
    text::check(found, &description_at, "description", description, 1, most);
    arguments(tool, trigger, &at.key("arguments"), found);
    if !trigger.items.is_empty() {
        is_pointer(&trigger.items, &at.key("items"), found);
    }
    identity(trigger, &at.key("id"), found);
    if let Some(time) = &trigger.time {
        is_pointer(time, &at.key("time"), found);
    }
    let seconds = TRIGGER_INTERVAL_S_MIN..=TRIGGER_INTERVAL_S_MAX;
    if trigger
        .interval_s
        .is_some_and(|one| !seconds.contains(&one))
    {
        let message =
            format!("the interval is {TRIGGER_INTERVAL_S_MIN} to {TRIGGER_INTERVAL_S_MAX} seconds");
        found.error(&at.key("interval_s"), message);
    }
}

fn identity(trigger: &TriggerSpec, at: &ManifestPath<'_>, found: &mut Lint) {
    if !(1..=ID_PARTS_MAX).contains(&trigger.id.len()) {
        found.error(at, format!("1 to {ID_PARTS_MAX} pointers identify an item"));
    }
    let mut seen = HashSet::new();
    for (i, pointer) in trigger.id.iter().take(ID_PARTS_MAX).enumerate() {
        let at = at.index(i);
        is_pointer(pointer, &at, found);
        if !seen.insert(pointer) {
            found.error(&at, format!("`{}` is listed twice", text::shown(pointer)));
        }
    }
}

/// Arguments that the tool has. The page to continue from is the gateway's own.
fn arguments(tool: &ToolSpec, trigger: &TriggerSpec, at: &ManifestPath<'_>, found: &mut Lint) {
    let bytes = serde_json::to_string(&trigger.arguments).map_or(usize::MAX, |text| text.len());
    if bytes > ARGUMENTS_BYTES_MAX {
        found.error(
            at,
            format!("at most {ARGUMENTS_BYTES_MAX} bytes of arguments"),
        );
        return;
    }
    for name in trigger.arguments.keys() {
        let is_own = tool.input.properties().any(|own| own == name);
        if !is_own || (tool.paginated && name == "cursor") {
            let message = format!("`{}` is not an argument of the tool", text::shown(name));
            found.error(&at.key(name), message);
        }
    }
}

fn is_pointer(pointer: &str, at: &ManifestPath<'_>, found: &mut Lint) {
    let escapes = |part: &str| part.starts_with(['0', '1']);
    let is_escaped = pointer.split('~').skip(1).all(escapes);
    let chars = pointer.chars().count();
    if !pointer.starts_with('/') || !is_escaped || chars > POINTER_CHARS_MAX {
        let shown = text::shown(pointer);
        found.error(at, format!("`{shown}` is not a JSON Pointer such as /id"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn errors(tool: Value) -> Vec<String> {
        let mut manifest: Manifest =
            serde_json::from_str(include_str!("../testdata/slack.json")).unwrap();
        manifest.tools = vec![serde_json::from_value(tool).unwrap()];
        let mut found = Lint::default();
        check(&manifest, &mut found);
        found.errors.iter().map(|one| one.path.clone()).collect()
    }

    fn good() -> Value {
        json!({
            "name": "history", "description": "Reads messages.", "effect": "read", "paginated": true,
            "input": {"type": "object", "properties": {"channel": {"type": "string"}, "limit": {"type": "integer"}}},
            "triggers": [{
                "name": "new_message", "title": "New message", "description": "A message was posted.",
                "arguments": {"limit": 100}, "items": "/messages", "id": ["/ts"], "time": "/ts",
                "order": "newest_first", "interval_s": 60,
            }],
        })
    }

    #[test]
    fn what_can_be_polled_passes_and_nothing_else() {
        assert_eq!(errors(good()), Vec::<String>::new());
        let mut whole = good();
        whole["triggers"][0]["items"] = json!("");
        assert_eq!(
            errors(whole),
            Vec::<String>::new(),
            "the result is the list"
        );
        for (place, value, path) in [
            ("/effect", json!("write"), ""),
            ("/triggers/0/name", json!("New"), "/0/name"),
            ("/triggers/0/title", json!(""), "/0/title"),
            ("/triggers/0/items", json!("messages"), "/0/items"),
            ("/triggers/0/items", json!("/a~b"), "/0/items"),
            ("/triggers/0/id", json!([]), "/0/id"),
            ("/triggers/0/id", json!([""]), "/0/id/0"),
            ("/triggers/0/id", json!(["/a", "/a"]), "/0/id/1"),
            ("/triggers/0/time", json!("ts"), "/0/time"),
            ("/triggers/0/interval_s", json!(59), "/0/interval_s"),
            ("/triggers/0/interval_s", json!(86_401), "/0/interval_s"),
            (
                "/triggers/0/arguments",
                json!({"user": 1}),
                "/0/arguments/user",
            ),
            (
                "/triggers/0/arguments",
                json!({"cursor": "x"}),
                "/0/arguments/cursor",
            ),
        ] {
            let mut bad = good();
            *bad.pointer_mut(place).unwrap() = value;
            assert_eq!(errors(bad), [format!("/tools/0/triggers{path}")], "{place}");
        }
    }

    #[test]
    fn an_event_has_one_tool() {
        let mut twice = good();
        let first = twice["triggers"][0].clone();
        twice["triggers"].as_array_mut().unwrap().push(first);
        assert_eq!(errors(twice), ["/tools/0/triggers/1/name"]);
        let mut many = good();
        let named = |n: usize| {
            let mut one = good()["triggers"][0].take();
            one["name"] = json!(format!("event{n}"));
            one
        };
        many["triggers"] = (0..=TRIGGERS_MAX).map(named).collect();
        assert_eq!(errors(many), ["/tools/0/triggers"]);
    }
}
