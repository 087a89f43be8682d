//! A change at one place of a manifest, and how its sides are written.

use serde_json::Value;

use crate::rights::place::{PathStep, pattern};

/// What is there before and after; `None` is what is not there.
pub(super) struct ManifestChange<'c> {
    pub(super) place: &'c [PathStep],
    pub(super) pattern: Vec<&'c str>,
    pub(super) old: Option<&'c Value>,
    pub(super) new: Option<&'c Value>,
}

impl<'c> ManifestChange<'c> {
    pub(super) fn new(
        place: &'c [PathStep],
        old: Option<&'c Value>,
        new: Option<&'c Value>,
    ) -> Self {
        Self {
            place,
            pattern: pattern(place),
            old,
            new,
        }
    }

    pub(super) fn step(&self, index: usize) -> Option<&'c str> {
        self.place.get(index).map(|step| step.name.as_str())
    }

    /// The name at a step; empty where the place is not as deep.
    pub(super) fn name(&self, index: usize) -> &'c str {
        self.step(index).unwrap_or("")
    }

    pub(super) fn last(&self) -> &'c str {
        self.place.last().map_or("", |step| step.name.as_str())
    }
}

/// The text under a key; empty if it is absent.
pub(super) fn string_at<'v>(value: Option<&'v Value>, key: &str) -> &'v str {
    let found = value.and_then(|value| value.get(key));
    found.and_then(Value::as_str).unwrap_or("")
}

pub(super) fn changed(said: String, old: Option<&Value>) -> String {
    match old {
        Some(old) => format!("{said}; before: {}", text(old)),
        None => said,
    }
}

pub(super) fn pointer(place: &[PathStep]) -> String {
    let names: Vec<&str> = place.iter().map(|step| step.name.as_str()).collect();
    format!("/{}", names.join("/"))
}

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{text}\""),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<String> = items.iter().map(text).collect();
            match items.len() {
                0 => "none".to_owned(),
                _ => items.join(", "),
            }
        }
        other => other.to_string(),
    }
}
