//! What a plugin asks to be allowed, and what an upgrade changes about it.
//!
//! Everything in a manifest is a right, except what [`rules`] names as harmless: so a field that is
//! added to the manifest later is one too. [`Difference::between`] compares two manifests as JSON
//! documents; a difference waits for the operator unless each change in it is a text, is less than
//! before, or is let through by the operator's setting [`Upgrades`]. [`Rights::from_manifest`] is the same of a
//! plugin that nobody has seen before: everything that it asks for.
//!
//! Read [`rules`] for what each place of a manifest is, [`compare`] for the walk, [`words`] for what
//! people are told.

mod compare;
mod place;
mod rules;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::manifest::Manifest;
use toolgate_core::visible::visible_line;

/// A text that changes by more characters than this is not the same text any more: it waits.
pub const TEXT_CHANGE_CHARS_MAX: usize = 200;
/// All texts of a manifest together may change by this many characters without waiting.
pub const TEXT_CHANGES_CHARS_MAX: usize = 2_000;
/// A summary names this many changes and counts the others.
const SUMMARY_CHANGES_MAX: usize = 6;
/// A change in a summary has at most this many characters; the whole is in the list.
const SUMMARY_CHANGE_CHARS_MAX: usize = 240;

/// Which changes of an upgrade go in without the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Upgrades {
    /// Texts, and less than before.
    #[default]
    Strict,
    /// Also new optional arguments of tools.
    Schemas,
}

impl Upgrades {
    /// The rules by their names in settings.
    pub const NAMES: [&str; 2] = ["strict", "schemas"];
}

impl std::str::FromStr for Upgrades {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "strict" => Ok(Self::Strict),
            "schemas" => Ok(Self::Schemas),
            _ => Err(format!(
                "unknown value `{name}`: use one of {}",
                Self::NAMES.join(", ")
            )),
        }
    }
}

/// What a change is to the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It waits for approval.
    Right,
    /// A text that people or models read: shown, and within the bound it does not wait.
    Text,
    /// Less than before.
    Less,
    /// The operator's setting lets it through.
    Allowed,
}

/// One place of the manifest that is not as before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RightChange {
    /// JSON Pointer in which names replace the indexes of lists: `/tools/create_issue/effect`.
    pub path: String,
    pub weight: Weight,
    /// The change in words. Nothing in it is hidden or left out.
    pub says: String,
    /// Absent: it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// Absent: it is not there any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

/// Everything that is not as before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub changes: Vec<RightChange>,
}

impl Difference {
    /// What `new` changes about `old`, both as [`normal`] writes them. `old` is empty where what was
    /// approved is not known: then everything is new.
    pub fn between(old: &Value, new: &Value, upgrades: Upgrades) -> Self {
        Self {
            changes: compare::changes(old, new, upgrades),
        }
    }

    /// What `new` changes about the version that serves. Where all of that goes in by itself, what it changes about the
    /// version that a person approved last decides: otherwise a text becomes another one in small steps.
    pub fn since_approved(
        approved: &Value,
        served: &Value,
        new: &Value,
        upgrades: Upgrades,
    ) -> Self {
        let step = Self::between(served, new, upgrades);
        if step.waits() || approved == served {
            return step;
        }
        let whole = Self::between(approved, new, upgrades);
        if whole.waits() { whole } else { step }
    }

    /// Whether it waits for the operator.
    pub fn waits(&self) -> bool {
        self.waiting().next().is_some()
    }

    /// Whether both ask for the same in other words.
    pub fn only_texts(&self) -> bool {
        let text = |change: &RightChange| change.weight == Weight::Text;
        self.changes.iter().all(text)
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn waiting(&self) -> impl Iterator<Item = &RightChange> {
        let waits = |change: &&RightChange| change.weight == Weight::Right;
        self.changes.iter().filter(waits)
    }

    /// The changes that wait in one line; what does not fit is counted.
    pub fn summary(&self) -> String {
        let all = self.waiting().count();
        let mut parts: Vec<String> = self
            .waiting()
            .take(SUMMARY_CHANGES_MAX)
            .map(|change| {
                let says = visible_line(&change.says);
                match says.char_indices().nth(SUMMARY_CHANGE_CHARS_MAX) {
                    Some((end, _)) => format!("{}... (cut)", &says[..end]),
                    None => says.into_owned(),
                }
            })
            .collect();
        if all > SUMMARY_CHANGES_MAX {
            parts.push(format!("and {} more changes", all - SUMMARY_CHANGES_MAX));
        }
        parts.join("; ")
    }
}

/// One line a change, those that wait first.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (weight, head) in [
            (Weight::Right, "asks to"),
            (Weight::Allowed, "let in by the setting `upgrades`"),
            (Weight::Text, "texts"),
            (Weight::Less, "less than before"),
        ] {
            let mut changes = self
                .changes
                .iter()
                .filter(|change| change.weight == weight)
                .peekable();
            if changes.peek().is_some() {
                writeln!(f, "{head}:")?;
            }
            for change in changes {
                writeln!(f, "  - {}", visible_line(&change.says))?;
            }
        }
        Ok(())
    }
}

/// Everything that a plugin asks for, in the words of a difference from nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rights {
    pub changes: Vec<RightChange>,
}

impl Rights {
    pub fn from_manifest(manifest: &Manifest) -> Self {
        let mut changes = compare::changes(&json!({}), &normal(manifest), Upgrades::Strict);
        changes.retain(|change| !matches!(change.path.as_str(), "/manifest" | "/service"));
        Self { changes }
    }
}

impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in &self.changes {
            writeln!(f, "  - {}", visible_line(&change.says))?;
        }
        Ok(())
    }
}

/// The one form in which manifests are compared: as this build writes them, without defaults.
pub fn normal(manifest: &Manifest) -> Value {
    serde_json::to_value(manifest).unwrap_or(Value::Null)
}

/// The normal form of a manifest that was accepted once. One that this build reads no more is
/// compared as it was written: what differs waits.
pub fn normal_text(manifest: &str) -> Value {
    match Manifest::recall(manifest) {
        Ok(manifest) => normal(&manifest),
        Err(_) => serde_json::from_str(manifest).unwrap_or_else(|_| json!({})),
    }
}
