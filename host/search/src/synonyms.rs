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

/// Words that stand for others, but not the other way round: what people say, what it is called.
const SAID: &[(f32, &[&str], &[&str])] = &[
    (0.8, &["dm"], &["direct", "message"]),
    (0.8, &["ping", "tell", "inform"], &["send", "message"]),
    (0.8, &["text", "sms"], &["message", "sms"]),
    (0.8, &["tweet"], &["twitter", "post"]),
    (0.8, &["toot"], &["mastodon", "status"]),
    (0.8, &["gpt", "chatgpt"], &["openai"]),
    (0.8, &["claude"], &["anthropic"]),
    (0.8, &["ms"], &["microsoft"]),
    (0.8, &["gcs"], &["storage"]),
    (0.8, &["ci"], &["pipeline", "workflow", "build"]),
    (0.7, &["pass", "passed", "green"], &["run", "status"]),
    (0.7, &["vm", "machine", "instance"], &["server", "droplet"]),
    (0.7, &["spin"], &["create"]),
    (0.7, &["reboot"], &["restart"]),
    (
        0.7,
        &["deployed", "redeploy", "rollout"],
        &["deploy", "deployment"],
    ),
    (0.8, &["flush", "invalidate"], &["purge", "clear"]),
    (0.6, &["cdn"], &["cache"]),
    (0.8, &["movie", "film"], &["movie", "film"]),
    (0.6, &["watch", "stream"], &["watch", "stream"]),
    (
        0.7,
        &["song", "music", "jazz", "tune"],
        &["track", "song", "playback"],
    ),
    (0.7, &["paid", "pay", "pays"], &["payment"]),
    (
        0.7,
        &["owe", "owes", "owed", "debt"],
        &["balance", "owe", "debt"],
    ),
    (
        0.8,
        &["parcel", "package", "delivery"],
        &["shipment", "tracking"],
    ),
    (0.7, &["shop", "store"], &["shop", "store", "order"]),
    (
        0.8,
        &["restaurant", "sushi", "cafe", "bar", "pub", "hotel"],
        &["business", "restaurant", "place"],
    ),
    (
        0.8,
        &["rain", "warm", "cold", "snow", "sunny", "temperature"],
        &["weather", "forecast"],
    ),
    (0.8, &["pollution", "smog"], &["air"]),
    (0.8, &["agenda", "appointments"], &["event", "calendar"]),
    (0.5, &["calendar"], &["event"]),
    (0.7, &["outside", "celsius"], &["weather"]),
    (0.6, &["station", "route"], &["directions"]),
    (0.7, &["remind", "reminder"], &["task", "reminder"]),
    (0.8, &["answers", "answer"], &["response"]),
    (0.7, &["approve", "reject"], &["review", "decline"]),
    (
        0.8,
        &["sign", "signed", "signer"],
        &["signature", "sign", "recipient"],
    ),
    (0.7, &["contract"], &["envelope", "document", "signature"]),
    (0.7, &["picture", "drawing"], &["image", "photo"]),
    (0.8, &["aloud", "voice", "speak"], &["speech"]),
    (0.7, &["headline"], &["news", "article"]),
    (
        0.7,
        &["papers", "paper", "study"],
        &["paper", "scholar", "academic"],
    ),
    (
        0.6,
        &["website", "site", "homepage"],
        &["website", "site", "page"],
    ),
    (
        0.6,
        &["visitor", "visit", "traffic"],
        &["report", "analytics", "session"],
    ),
    (
        0.8,
        &["excel", "spreadsheet", "cell"],
        &["spreadsheet", "values", "sheet"],
    ),
    (0.6, &["row"], &["row", "record", "values"]),
    (0.7, &["applicant", "candidate", "hire"], &["candidate"]),
    (0.7, &["homework"], &["course", "work"]),
    (0.7, &["bitcoin", "ethereum", "crypto"], &["coin", "price"]),
    (0.7, &["concert", "gig"], &["event"]),
    (0.7, &["ticketed"], &["ticket"]),
    (0.7, &["slept"], &["sleep"]),
    (0.7, &["ran", "jog"], &["activity"]),
    (0.7, &["done", "tick", "finished"], &["complete", "close"]),
    (0.7, &["unsolved", "unresolved"], &["ticket", "open"]),
    (
        0.8,
        &["summarise", "summarize"],
        &["completion", "response"],
    ),
    (
        0.7,
        &["overdue", "unpaid"],
        &["invoice", "overdue", "unpaid"],
    ),
    (0.6, &["invitation", "invite"], &["event", "invite"]),
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
        for (weight, said, called) in SAID {
            for from in *said {
                let from = words.stem(from);
                let list = by_stem.entry(from.clone()).or_default();
                // A verb stays one: what it also stands for is an action too.
                let verb = !list.is_empty() && list.iter().all(|known| known.verb);
                for to in called.iter().map(|word| words.stem(word)) {
                    if to != from && list.iter().all(|known| known.stem != to) {
                        list.push(Synonym {
                            stem: to,
                            weight: *weight,
                            verb,
                        });
                    }
                }
            }
        }
        Self {
            by_stem,
            reading: READING.iter().map(|word| words.stem(word)).collect(),
        }
    }

    pub(super) fn get(&self, stem: &str) -> &[Synonym] {
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
