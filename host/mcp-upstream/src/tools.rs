//! A server's tools as tools of a manifest: names, effects and texts.

mod effect;
mod headers;

use std::collections::BTreeMap;

use serde_json::Value;

use self::effect::HintedTool;
use super::notes::ServerNotes;
use super::schema;
use toolgate_catalog::Schema;
use toolgate_catalog::manifest::{DescribedRequest, Effect, ToolSpec};
use toolgate_core::visible;
use toolgate_mcp_wire::table::UpstreamTool;
use toolgate_openapi::{names, words};

/// Longest title, in characters.
const TITLE_CHARS_MAX: usize = 100;
/// Longest description, in characters.
const DESCRIPTION_CHARS_MAX: usize = 4_000;

/// One tool, as the manifest and as the table has it.
#[derive(Clone, Debug)]
pub(super) struct MappedTool {
    pub spec: ToolSpec,
    pub upstream: UpstreamTool,
}

/// What is the same for all tools of a server.
pub(super) struct ToolTerms<'a> {
    pub service: &'a str,
    /// `request.send`.
    pub send: &'a str,
    pub slot: Option<&'a str>,
    /// By the server's name of the tool: what the operator says instead of the server.
    pub effects: &'a BTreeMap<String, Effect>,
    /// Whether arguments are repeated as headers in this version of the protocol.
    pub headers: bool,
}

impl ToolTerms<'_> {
    pub(super) fn map(&self, tools: &[Value], notes: &mut ServerNotes) -> Vec<MappedTool> {
        let mut mapped: Vec<MappedTool> = tools
            .iter()
            .filter_map(|tool| self.one(tool, notes))
            .collect();
        let given = mapped.iter_mut().map(|tool| &mut tool.spec.name);
        names::tell_apart(given, self.service);
        for tool in &mapped {
            if tool.spec.name != tool.upstream.name {
                let message = format!("is called `{}` here", tool.spec.name);
                notes.changed(&tool.upstream.name, message);
            }
        }
        mapped
    }

    fn one(&self, tool: &Value, notes: &mut ServerNotes) -> Option<MappedTool> {
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        let name = text("name")?;
        if name.is_empty() || name.contains(visible::is_hidden) {
            notes.left_out(name, "its name is empty or has invisible characters");
            return None;
        }
        let arguments = schema::of_arguments(tool.get("inputSchema"));
        for change in &arguments.changes {
            notes.changed(name, *change);
        }
        let annotations = tool.get("annotations");
        let title = text("title")
            .or_else(|| annotations?.get("title")?.as_str())
            .filter(|title| !title.trim().is_empty())
            .map(|title| shortened(title, TITLE_CHARS_MAX).unwrap_or_else(|| title.to_owned()));
        let output = schema::of_result(tool.get("outputSchema"));
        let hint = |key: &str| annotations?.get(key)?.as_bool();
        let hinted = HintedTool {
            name,
            title: title.as_deref(),
            description: text("description"),
            input: &arguments.schema,
            annotations,
        };
        let effect = self.effect(hinted, notes);
        let headers = match self.headers {
            true => match headers::argument_headers(&arguments.schema) {
                Ok(headers) => headers,
                Err(why) => {
                    notes.left_out(name, why);
                    return None;
                }
            },
            false => Vec::new(),
        };
        let spec = ToolSpec {
            name: action(name, self.service),
            title,
            description: description(name, text("description"), notes),
            input: Schema::from_value(&arguments.schema),
            output: output.as_ref().map(Schema::from_value),
            effect,
            queries: Vec::new(),
            request: Some(DescribedRequest {
                send: self.send.to_owned(),
                with: vec![name.to_owned()],
            }),
            idempotent: hint("idempotentHint") == Some(true),
            paginated: false,
            auth: self.slot.map(str::to_owned).into_iter().collect(),
            auth_optional: false,
            scopes: Vec::new(),
            keywords: Vec::new(),
            requests: Vec::new(),
            triggers: Vec::new(),
            examples: Vec::new(),
            deprecated: None,
        };
        let upstream = UpstreamTool {
            name: name.to_owned(),
            structured: output.is_some(),
            headers,
        };
        Some(MappedTool { spec, upstream })
    }

    /// The operator's word, else the server's hints.
    fn effect(&self, tool: HintedTool<'_>, notes: &mut ServerNotes) -> Effect {
        if let Some(effect) = self.effects.get(tool.name) {
            return *effect;
        }
        let (effect, note) = tool.effect();
        if let Some(note) = note {
            notes.changed(tool.name, note);
        }
        effect
    }
}

/// The name within the manifest: words in lower case, within what models accept.
fn action(name: &str, service: &str) -> String {
    let words = words::snake(name);
    let words = match words.is_empty() {
        true => "tool".to_owned(),
        false => words,
    };
    words::shorten(&words, names::action_chars_max(service))
}

fn description(name: &str, given: Option<&str>, notes: &mut ServerNotes) -> String {
    let given = given.filter(|text| !text.trim().is_empty());
    let Some(given) = given else {
        return format!("Calls the tool `{name}` of the server, which does not describe it.");
    };
    match shortened(given, DESCRIPTION_CHARS_MAX) {
        Some(cut) => {
            let message = format!("its description is cut to {DESCRIPTION_CHARS_MAX} characters");
            notes.changed(name, message);
            cut
        }
        None => given.to_owned(),
    }
}

/// The text cut to `chars_max` characters, where it is longer.
fn shortened(text: &str, chars_max: usize) -> Option<String> {
    let (end, _) = text.char_indices().nth(chars_max)?;
    Some(text[..end].trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(tools: &Value, effects: &[(&str, Effect)]) -> (Vec<MappedTool>, ServerNotes) {
        let effects = effects
            .iter()
            .map(|(name, effect)| ((*name).to_owned(), *effect));
        let terms = ToolTerms {
            service: "notes",
            send: "MCP https://mcp.example.com/mcp",
            slot: None,
            effects: &effects.collect(),
            headers: true,
        };
        let mut notes = ServerNotes::default();
        let tools = terms.map(tools.as_array().expect("a list"), &mut notes);
        (tools, notes)
    }

    #[test]
    fn names_are_mapped_and_the_servers_own_is_sent() {
        let long = "a".repeat(100);
        let names = json!([{"name": "addNote"}, {"name": "add-note"}, {"name": "ADD_NOTE"}, {"name": long}, {"name": "日本"}]);
        let (tools, _) = map(&names, &[]);
        let mut seen = std::collections::HashSet::new();
        for (tool, given) in tools.iter().zip(names.as_array().expect("a list")) {
            assert_eq!(tool.upstream.name, given["name"]);
            assert_eq!(
                tool.spec.request.as_ref().expect("a request").with,
                [tool.upstream.name.as_str()]
            );
            assert!(
                tool.spec.name.len() + "notes_".len() <= 64,
                "{}",
                tool.spec.name
            );
            assert!(
                seen.insert(tool.spec.name.clone()),
                "{} twice",
                tool.spec.name
            );
        }
        assert_eq!(tools.len(), 5);
    }

    #[test]
    fn hints_become_effects_and_none_is_a_write() {
        let hinted = |name: &str, hints: Value| json!({"name": name, "annotations": hints});
        let tools = json!([
            hinted(
                "list_notes",
                json!({"readOnlyHint": true, "destructiveHint": true})
            ),
            hinted("note_status", json!({"readOnlyHint": false})),
            hinted("wipe", json!({"destructiveHint": true})),
            hinted("add", json!({})),
            hinted("delete_note", json!({"readOnlyHint": true})),
            hinted("create_note", json!({"readOnlyHint": true})),
        ]);
        let effects = |given: &[(&str, Effect)]| -> Vec<Effect> {
            map(&tools, given)
                .0
                .iter()
                .map(|tool| tool.spec.effect)
                .collect()
        };
        use Effect::{Destructive, Read, Write};
        assert_eq!(
            effects(&[]),
            [Read, Write, Destructive, Write, Destructive, Write]
        );
        let corrected = effects(&[("create_note", Read), ("list_notes", Write)]);
        assert_eq!(
            corrected,
            [Write, Write, Destructive, Write, Destructive, Read]
        );
    }

    #[test]
    fn hidden_names_are_left_out_and_long_texts_are_cut() {
        let long = "word ".repeat(2_000);
        let tools = json!([{"name": "a\u{200b}b"}, {"name": "c", "description": long, "title": "t".repeat(500)}]);
        let (tools, notes) = map(&tools, &[]);
        assert_eq!(tools.len(), 1);
        assert!(tools[0].spec.description.chars().count() <= DESCRIPTION_CHARS_MAX);
        assert_eq!(
            tools[0].spec.title.as_ref().map(String::len),
            Some(TITLE_CHARS_MAX)
        );
        assert!(notes.0.iter().any(|note| note.left_out), "{notes:?}");
    }

    #[test]
    fn a_tool_with_a_header_against_the_rules_is_left_out_where_headers_are_sent() {
        let tools = json!([
            {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}}},
            {"name": "bad", "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": ""}}}},
        ]);
        let (kept, notes) = map(&tools, &[]);
        let names: Vec<&str> = kept.iter().map(|tool| &*tool.upstream.name).collect();
        assert_eq!(names, ["good"], "{notes:?}");
        assert!(notes.0.iter().any(|note| note.left_out), "{notes:?}");
    }
}
