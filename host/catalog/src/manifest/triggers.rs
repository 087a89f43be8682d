//! Triggers: events that the gateway finds by calling a reading tool from time to time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event of a tool: what its result lists, and what makes two of the listed items the same one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TriggerSpec {
    /// The event is `trigger.<service>.<name>`; lowercase, `[a-z][a-z0-9_]*`, once in a manifest.
    #[cfg_attr(
        test,
        schemars(regex(pattern = r"^[a-z][a-z0-9_]*$"), length(max = 62))
    )]
    pub name: String,
    pub title: String,
    pub description: String,
    /// Arguments of every call. A user chooses the others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Value>,
    /// JSON Pointer to the list in the tool's result; empty where the result is the list.
    pub items: String,
    /// JSON Pointers within an item that identify it together.
    pub id: Vec<String>,
    /// JSON Pointer within an item to the time at which it came to be: RFC 3339, or seconds or milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The order in which the provider lists. Absent: none that can be relied on, so that every page is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<TriggerOrder>,
    /// Seconds between two polls where the user names none; 300 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<u64>,
}

/// An order of items in which a page without a new one ends the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TriggerOrder {
    NewestFirst,
}
