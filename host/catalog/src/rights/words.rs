//! A change in words: what the operator allows by saying yes.

mod change;
mod credentials;
mod settings;
mod tools;

use serde_json::Value;

use super::place::PathStep;
use change::{ManifestChange, changed, pointer, text};

/// Whether the sentence about a new object says this key of it.
pub(super) fn says_already(place: &[&str]) -> bool {
    matches!(
        place,
        ["auth", "*", "slot" | "type"]
            | ["tools", "*", "name" | "effect"]
            | ["tools", "*", "triggers", "*", "name"]
            | ["parameters" | "config", "*", "key" | "title" | "adds_host"]
            | ["auth", "*", "fields", "*", "key" | "title" | "secret"]
    )
}

/// What changes at a place. `None` is what is not there.
pub(super) fn describe(place: &[PathStep], old: Option<&Value>, new: Option<&Value>) -> String {
    let change = ManifestChange::new(place, old, new);
    change
        .setting()
        .or_else(|| change.credential())
        .or_else(|| change.sign_in())
        .or_else(|| change.token_request())
        .or_else(|| change.token_answer())
        .or_else(|| change.tool())
        .or_else(|| change.input())
        .unwrap_or_else(|| any(place, old, new))
}

/// A change at a place that has no sentence of its own.
fn any(place: &[PathStep], old: Option<&Value>, new: Option<&Value>) -> String {
    match (old, new) {
        (old, Some(new)) => changed(format!("have {} as {}", pointer(place), text(new)), old),
        (Some(old), None) => {
            format!("have no {} any more; before: {}", pointer(place), text(old))
        }
        (None, None) => pointer(place),
    }
}
