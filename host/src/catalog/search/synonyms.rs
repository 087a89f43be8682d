//! Words that agents and people use for what a tool's author called something else.
//!
//! Verbs are looked up in names and keywords only: in prose they are everywhere. A word may be in
//! several groups; the heaviest link between two words counts.

use std::collections::HashMap;

use super::words::Words;

/// A group of words, how well one stands for another, and whether they are verbs.
struct Group {
    weight: f32,
    verbs: bool,
    words: &'static [&'static str],
}

const fn verbs(weight: f32, words: &'static [&'static str]) -> Group {
    Group {
        weight,
        verbs: true,
        words,
    }
}

const fn nouns(weight: f32, words: &'static [&'static str]) -> Group {
    Group {
        weight,
        verbs: false,
        words,
    }
}

const GROUPS: &[Group] = &[
    verbs(
        0.7,
        &["send", "post", "message", "write", "tell", "notify", "say"],
    ),
    verbs(0.7, &["create", "add", "new", "make", "insert", "start"]),
    verbs(0.45, &["create", "open"]),
    verbs(0.4, &["create", "file", "set"]),
    verbs(0.6, &["create", "schedule", "book", "plan", "arrange"]),
    verbs(0.6, &["create", "draft", "compose", "write"]),
    verbs(
        0.7,
        &[
            "list", "show", "get", "find", "fetch", "view", "see", "read", "display", "retrieve",
            "check",
        ],
    ),
    verbs(0.7, &["search", "find", "look", "lookup", "query", "seek"]),
    verbs(0.4, &["search", "list", "get"]),
    verbs(
        0.8,
        &[
            "delete", "remove", "erase", "drop", "trash", "destroy", "discard",
        ],
    ),
    verbs(0.6, &["delete", "cancel", "archive"]),
    verbs(
        0.75,
        &[
            "update", "edit", "change", "modify", "rename", "patch", "set", "alter",
        ],
    ),
    verbs(0.6, &["update", "move", "transition"]),
    verbs(0.7, &["close", "resolve", "finish", "complete"]),
    verbs(0.7, &["reply", "respond", "answer"]),
    verbs(0.6, &["add", "append", "attach", "put"]),
    verbs(0.7, &["invite", "add"]),
    verbs(0.7, &["run", "execute", "evaluate", "trigger", "query"]),
    verbs(0.7, &["upload", "put", "store", "save"]),
    verbs(0.7, &["download", "get", "fetch", "export"]),
    verbs(0.8, &["assign", "assignee", "assigned"]),
    nouns(0.7, &["email", "mail", "message"]),
    nouns(0.85, &["repo", "repository"]),
    nouns(0.7, &["pr", "pull", "merge"]),
    nouns(0.7, &["issue", "ticket", "bug"]),
    nouns(0.5, &["issue", "task", "todo"]),
    nouns(0.6, &["channel", "room", "conversation", "chat"]),
    nouns(0.7, &["event", "meeting", "appointment"]),
    nouns(0.6, &["document", "doc", "page", "note"]),
    nouns(0.6, &["user", "member", "person", "people", "teammate"]),
    nouns(0.7, &["folder", "directory"]),
    nouns(0.7, &["comment", "note", "remark"]),
    nouns(0.7, &["alert", "alarm", "warning"]),
    nouns(0.6, &["invoice", "bill", "receipt"]),
    nouns(0.6, &["customer", "client", "account"]),
    nouns(0.6, &["contact", "person", "lead"]),
    nouns(0.6, &["table", "database", "spreadsheet", "sheet"]),
    nouns(0.6, &["reaction", "emoji"]),
    nouns(0.6, &["attachment", "file"]),
    nouns(0.7, &["picture", "image", "photo"]),
    nouns(0.6, &["free", "busy", "availability", "available"]),
    nouns(0.6, &["pipeline", "workflow", "build"]),
    nouns(0.6, &["metric", "series", "timeseries"]),
];

/// Verbs that ask to see something; whoever uses one wants nothing changed.
const READING: &[&str] = &[
    "list", "show", "get", "find", "fetch", "view", "see", "read", "display", "retrieve", "search",
    "look", "count",
];

/// What a verb asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// To see something.
    Reads,
    /// Anything else.
    Other,
}

/// A word that may stand for another.
#[derive(Clone, Debug)]
pub(super) struct Synonym {
    pub stem: String,
    pub weight: f32,
    /// Look in names and keywords only.
    pub verb: bool,
}

/// Groups by the stem of each of their words.
pub(super) struct Synonyms {
    by_stem: HashMap<String, Vec<Synonym>>,
    reading: Vec<String>,
}

impl Synonyms {
    pub(super) fn new(words: &mut Words) -> Self {
        let mut by_stem: HashMap<String, Vec<Synonym>> = HashMap::new();
        for group in GROUPS {
            let stems: Vec<String> = group.words.iter().map(|word| words.stem(word)).collect();
            for from in &stems {
                let list = by_stem.entry(from.clone()).or_default();
                for to in stems.iter().filter(|to| *to != from) {
                    match list.iter_mut().find(|known| known.stem == *to) {
                        Some(known) => {
                            known.weight = known.weight.max(group.weight);
                            known.verb &= group.verbs;
                        }
                        None => list.push(Synonym {
                            stem: to.clone(),
                            weight: group.weight,
                            verb: group.verbs,
                        }),
                    }
                }
            }
        }
        Self {
            by_stem,
            reading: READING.iter().map(|word| words.stem(word)).collect(),
        }
    }

    pub(super) fn of(&self, stem: &str) -> &[Synonym] {
        self.by_stem.get(stem).map_or(&[], Vec::as_slice)
    }

    /// Whether a stem is known as a verb and as nothing else: it tells what to do, not with what.
    pub(super) fn verb(&self, stem: &str) -> Option<Verb> {
        if self.reading.iter().any(|reading| reading == stem) {
            return Some(Verb::Reads);
        }
        let list = self.by_stem.get(stem)?;
        list.iter()
            .all(|synonym| synonym.verb)
            .then_some(Verb::Other)
    }
}
