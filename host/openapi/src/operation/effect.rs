//! The effect of an operation that declares none: by its method, the words of its names, and its arguments.

use toolgate_catalog::manifest::{Effect, ToolSpec};
use toolgate_catalog::statements::{StatementArgument, statement_argument};
use toolgate_catalog::verbs::{self, CallNames};

use super::OperationLocation;
use crate::document::{Documents, Node};
use crate::keys::{DocumentKeys, OperationKeys};
use crate::words;

/// An effect, and a note for the author where only words decided it.
pub(super) struct DecidedEffect {
    pub(super) effect: Effect,
    pub(super) note: Option<String>,
    /// `x-toolgate` declares it.
    pub(super) declared: bool,
}

/// Decides by method and words. `name` is the name of the tool.
pub(super) fn decide(
    place: &OperationLocation<'_>,
    own: &OperationKeys,
    document: &DocumentKeys,
    name: &str,
) -> DecidedEffect {
    if let Some(effect) = own.effect {
        return DecidedEffect {
            effect,
            note: None,
            declared: true,
        };
    }
    let (effect, note) = match own.graphql.as_deref().map(str::trim_start) {
        Some(document) if document.starts_with("mutation") => (
            verbs::removing_verb(name).map_or(Effect::Write, |_| Effect::Destructive),
            None,
        ),
        Some(_) => (Effect::Read, None),
        None => by_words(place, own, document, name),
    };
    DecidedEffect {
        effect,
        note,
        declared: false,
    }
}

fn by_words(
    place: &OperationLocation<'_>,
    own: &OperationKeys,
    document: &DocumentKeys,
    name: &str,
) -> (Effect, Option<String>) {
    let operation_id = place.node.text("operationId");
    let id = operation_id.unwrap_or(name);
    let constants = document.query.values().chain(own.query.values());
    let constants: Vec<&str> = constants.map(|value| value.0.as_str()).collect();
    let summary = place
        .node
        .text("summary")
        .or_else(|| place.item.text("summary"));
    let call = CallNames {
        id: operation_id,
        path: place.path,
        constants: &constants,
        summary,
    };
    // A name that the author chose counts like an operation id.
    let named = own.name.as_deref().map(|name| CallNames {
        id: Some(name),
        ..CallNames::default()
    });
    let changing = || verbs::changing_verb(&call).or_else(|| verbs::changing_verb(&named?));
    let method = place.method.to_uppercase();
    match place.method {
        "get" | "head" | "options" => {
            let Some(found) = changing() else {
                return (Effect::Read, None);
            };
            let (effect, word) = if found.removes() {
                (Effect::Destructive, "destructive")
            } else {
                (Effect::Write, "write")
            };
            let note = format!(
                "decided from words alone: `{}` in the {} changes something, so this {method} is `{word}`; if it only \
                 reads, write `x-toolgate: {{ effect: read }}`",
                words::clean(&found.verb, 40),
                found.place.as_str()
            );
            (effect, Some(note))
        }
        "delete" => (Effect::Destructive, None),
        _ => {
            let removing = verbs::removing_verb(id).or_else(|| verbs::removing_verb(name));
            if let Some(verb) = removing {
                let note = format!(
                    "decided from words alone: `{verb}` in the name removes something, so this {method} is `destructive`; \
                     write `x-toolgate: {{ effect: write }}` if nothing is lost"
                );
                return (Effect::Destructive, Some(note));
            }
            let asks = place.method == "post"
                && verbs::only_asks(id).is_some()
                && verbs::only_asks(name).is_some()
                && changing().is_none();
            if !asks {
                return (Effect::Write, None);
            }
            let note = format!(
                "decided from words alone: every verb in `{}` reads, so this POST is `read`; write `x-toolgate: \
                 {{ effect: read }}`, or `write` if it changes something",
                words::clean(id, 100)
            );
            (Effect::Read, Some(note))
        }
    }
}

/// Media types of a body that is a statement.
const STATEMENT_TYPES: &[&str] = &[
    "application/sql",
    "text/sql",
    "text/x-sql",
    "application/vnd.flux",
    "application/graphql",
    "application/javascript",
    "application/x-javascript",
    "text/javascript",
    "application/x-sh",
    "text/x-shellscript",
    "application/x-python",
    "text/x-python",
    "application/x-cypher-query",
    "application/sparql-update",
];

/// The media type of a body that is a statement of a language, where it is the first of the body's media types.
pub(super) fn statement_body(docs: &Documents, node: Node<'_>) -> Option<&'static str> {
    let body = docs.resolve(node.get("requestBody")?).ok()?;
    let (media, _) = body.members("content").next()?;
    let media = media.split(';').next().unwrap_or_default().trim();
    let media = media.to_ascii_lowercase();
    STATEMENT_TYPES
        .iter()
        .copied()
        .find(|known| *known == media)
}

/// Makes a tool that would be a read by method and words, or a write that runs something, destructive where an argument
/// is a statement of a language that can change something. `body`: see [`statement_body`]. Returns the note about it.
pub(super) fn by_arguments(tool: &mut ToolSpec, body: Option<&str>) -> Option<String> {
    let runs = tool.effect == Effect::Write && verbs::runs_something(&tool.name);
    if tool.effect != Effect::Read && !runs {
        return None;
    }
    let text = format!(
        "{} {}",
        tool.title.as_deref().unwrap_or_default(),
        tool.description
    );
    let found = statement_argument(&tool.input.value(), &text);
    let what = match (found, body) {
        (Some(StatementArgument { argument, language }), _) => {
            let of = language.map_or_else(String::new, |language| format!(" of {language}"));
            format!("the argument `{argument}` is a statement{of}")
        }
        (None, Some(media)) => format!("the body is a statement, `{media}`"),
        (None, None) => return None,
    };
    tool.effect = Effect::Destructive;
    tool.queries.clear();
    Some(format!(
        "{what}, which can change something, so the effect is `destructive`: say by `pattern` or `enum` which statements \
         are accepted, or write `x-toolgate: {{ effect: read }}` if the service executes only questions"
    ))
}
