//! The effect of a tool by the server's hints.
//!
//! A `read` runs without asking anyone. So a hint that a tool only reads counts where neither its name nor an argument
//! speaks against it. These are guesses from words, which only ever make a tool more than a read. Pure.

use serde_json::Value;

use crate::notes::shown;
use toolgate_catalog::manifest::Effect;
use toolgate_catalog::statements::statement_argument;
use toolgate_catalog::verbs::{CallNames, changing_verb};
use toolgate_core::visible;
use toolgate_openapi::words;

/// Verbs that change something in names of tools, beside those of [`toolgate_catalog::verbs`]. In names of published
/// descriptions most of them are nouns, so they are not in the list of those.
const CHANGING: &[&str] = &["eval", "exec", "execute", "place", "push", "run", "shell"];
/// Such verbs after which something is gone.
const REMOVING: &[&str] = &["del", "nuke", "rm"];
/// Words that make a noun of one of them behind: `get_workflow_run`.
const ASKING: &[&str] = &[
    "check", "count", "describe", "fetch", "find", "get", "list", "lookup", "query", "read",
    "search", "show", "view",
];
/// Words behind which a verb is one again: `get_and_run`.
const JOINING: &[&str] = &["and", "or", "then"];

/// What a server says of a tool, as far as the effect depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HintedTool<'a> {
    /// The server's name.
    pub name: &'a str,
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    /// The schema of the arguments.
    pub input: &'a Value,
    pub annotations: Option<&'a Value>,
}

/// What speaks against a hint that a tool only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Objection {
    why: String,
    /// In place of `read`.
    effect: Effect,
}

impl HintedTool<'_> {
    /// The effect, and a note for the operator where it is not the one of the hint.
    pub(super) fn effect(&self) -> (Effect, Option<String>) {
        if self.hint("readOnlyHint") {
            let Some(Objection { why, effect }) = self.objection() else {
                return (Effect::Read, None);
            };
            let decided = match effect {
                Effect::Destructive => "destructive",
                Effect::Read | Effect::Write => "a write",
            };
            let note = format!(
                "is said to only read, but {why}; it is {decided} here, unless you say --effect {}=read",
                shown(self.name)
            );
            return (effect, Some(note));
        }
        match self.hint("destructiveHint") {
            true => (Effect::Destructive, None),
            false => (Effect::Write, None),
        }
    }

    fn hint(&self, key: &str) -> bool {
        let hint = self.annotations.and_then(|hints| hints.get(key));
        hint.and_then(Value::as_bool) == Some(true)
    }

    /// The gravest objection.
    fn objection(&self) -> Option<Objection> {
        let all = [
            self.statement(),
            self.changing(),
            self.changing_here(),
            self.mixed(),
        ];
        let mut all: Vec<Objection> = all.into_iter().flatten().collect();
        let gravest = all
            .iter()
            .position(|one| one.effect == Effect::Destructive)
            .unwrap_or_default();
        (!all.is_empty()).then(|| all.swap_remove(gravest))
    }

    /// An argument that the server executes decides what the call does.
    fn statement(&self) -> Option<Objection> {
        let text = format!(
            "{} {}",
            self.title.unwrap_or_default(),
            self.description.unwrap_or_default()
        );
        let found = statement_argument(self.input, &text)?;
        Some(Objection {
            why: format!(
                "its argument `{}` is a statement, which can change something",
                shown(&found.argument)
            ),
            effect: Effect::Destructive,
        })
    }

    /// A verb of descriptions, also where the letter case hides it: `dElEtE_note`.
    fn changing(&self) -> Option<Objection> {
        let verb = |name: &str, title: Option<&str>| {
            changing_verb(&CallNames {
                id: Some(name),
                summary: title,
                ..CallNames::default()
            })
        };
        let folded_title = self.title.map(str::to_lowercase);
        let found = verb(self.name, self.title)
            .or_else(|| verb(&self.name.to_lowercase(), folded_title.as_deref()))?;
        Some(Objection {
            why: changes(&found.verb),
            effect: match found.removes() {
                true => Effect::Destructive,
                false => Effect::Write,
            },
        })
    }

    /// A verb of [`CHANGING`] or [`REMOVING`].
    fn changing_here(&self) -> Option<Objection> {
        let spelled = words::snake(self.name);
        let folded = self.name.to_ascii_lowercase();
        let split = |c: char| !c.is_ascii_alphanumeric();
        let verb = own_verb(&spelled.split('_').collect::<Vec<_>>())
            .or_else(|| own_verb(&folded.split(split).collect::<Vec<_>>()))?;
        Some(Objection {
            why: changes(verb),
            effect: match REMOVING.contains(&verb) {
                true => Effect::Destructive,
                false => Effect::Write,
            },
        })
    }

    /// Letters that look like those of ASCII hide a verb.
    fn mixed(&self) -> Option<Objection> {
        let ascii_letters = self.name.contains(|c: char| c.is_ascii_alphabetic());
        (!self.name.is_ascii() && ascii_letters).then(|| Objection {
            why: "its name mixes ASCII letters with other characters, so its verbs cannot be read"
                .to_owned(),
            effect: Effect::Write,
        })
    }
}

fn changes(verb: &str) -> String {
    format!("`{}` changes something", visible::visible_line(verb))
}

/// The first verb of [`CHANGING`] or [`REMOVING`], unless a word that asks is in front of it.
fn own_verb<'w>(words: &[&'w str]) -> Option<&'w str> {
    let is_verb = |at: usize| {
        let known = CHANGING.contains(&words[at]) || REMOVING.contains(&words[at]);
        let asked = words[..at].iter().any(|before| ASKING.contains(before));
        let joined = at > 0 && JOINING.contains(&words[at - 1]);
        known && (joined || !asked)
    };
    let at = (0..words.len()).find(|at| is_verb(*at))?;
    Some(words[at])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The effect of a tool that is said to only read, and the note about it.
    fn reads(name: &str, input: &Value) -> (Effect, Option<String>) {
        let hints = json!({"readOnlyHint": true});
        let tool = HintedTool {
            name,
            title: None,
            description: Some("Does what it says."),
            input,
            annotations: Some(&hints),
        };
        tool.effect()
    }

    fn plain() -> Value {
        json!({"type": "object"})
    }

    #[test]
    fn a_hint_to_only_read_is_taken_where_nothing_speaks_against_it() {
        for name in [
            "list_notes",
            "searchNotes",
            "add-numbers",
            "get_workflow_run",
            "github_list_push_events",
            "find_place",
            "日本",
        ] {
            assert_eq!(reads(name, &plain()), (Effect::Read, None), "{name}");
        }
    }

    #[test]
    fn a_verb_in_odd_letters_counts_against_the_hint() {
        for (name, effect) in [
            ("dElEtE_note", Effect::Destructive),
            ("DeLeTe", Effect::Destructive),
            ("cReAtE-note", Effect::Write),
            // The second letter is Cyrillic.
            ("d\u{435}lete_note", Effect::Write),
            ("dele\u{301}te", Effect::Write),
        ] {
            let (decided, note) = reads(name, &plain());
            assert_eq!(decided, effect, "{name}");
            let note = note.expect("a note");
            assert!(
                note.contains("--effect") && note.contains("=read"),
                "{note}"
            );
        }
    }

    #[test]
    fn verbs_of_programs_count_against_the_hint() {
        for (name, effect) in [
            ("exec", Effect::Write),
            ("executeQuery", Effect::Write),
            ("eval_js", Effect::Write),
            ("shell", Effect::Write),
            ("run_command", Effect::Write),
            ("RuN", Effect::Write),
            ("git_push", Effect::Write),
            ("place_order", Effect::Write),
            ("get_and_run", Effect::Write),
            ("rm", Effect::Destructive),
            ("note.del", Effect::Destructive),
            ("nuke", Effect::Destructive),
        ] {
            assert_eq!(reads(name, &plain()).0, effect, "{name}");
        }
    }

    #[test]
    fn a_statement_among_the_arguments_counts_against_the_hint() {
        let input = json!({"type": "object", "properties": {"sql": {"type": "string"}}});
        let (effect, note) = reads("query", &input);
        assert_eq!(effect, Effect::Destructive);
        let note = note.expect("a note");
        assert!(note.contains("`sql` is a statement"), "{note}");
        let bounded = json!({"type": "object", "properties": {"sql": {"type": "string", "enum": ["SHOW TABLES"]}}});
        assert_eq!(reads("query", &bounded), (Effect::Read, None));
    }
}
