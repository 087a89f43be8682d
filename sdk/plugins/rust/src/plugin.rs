//! A plugin as a table of tools, and how one call finds its function.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::{Context, Facts};
use crate::error::ToolError;
use crate::output::Output;
use crate::schema::Parts;
use crate::webhook::{Delivery, Event, Normalize};

/// Everything that `plugin!` knows at compile time.
#[derive(Debug)]
pub struct Plugin {
    pub manifest: &'static str,
    /// Names of the credential slots, in the manifest's order.
    pub slots: &'static [&'static str],
    pub tools: &'static [Entry],
    /// Reads the deliveries of the provider's webhook.
    pub normalize: Option<Normalize>,
}

/// One tool of a plugin.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    /// The slots it can run with, best first; none: all slots of the plugin.
    pub slots: Option<&'static [&'static str]>,
    pub paginated: bool,
    pub auth_optional: bool,
    run: fn(Value, &Context) -> Result<Output, ToolError>,
}

impl Plugin {
    /// Runs the tool `name` on the JSON text `arguments`.
    pub fn call(
        &'static self,
        name: &str,
        arguments: &str,
        facts: Facts,
    ) -> Result<Output, ToolError> {
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .ok_or_else(|| ToolError::internal(format!("this plugin has no tool {name}")))?;
        let mut arguments: Value = serde_json::from_str(arguments)
            .map_err(|error| ToolError::invalid("", format!("arguments are not JSON: {error}")))?;
        let mut facts = facts;
        if tool.paginated
            && let Some(map) = arguments.as_object_mut()
            && let Some(Value::String(cursor)) = map.remove("cursor")
        {
            facts.cursor.get_or_insert(cursor);
        }
        let slots = tool.slots.unwrap_or(self.slots);
        (tool.run)(arguments, &Context::new(facts, slots, tool.auth_optional))
    }

    /// The events of a delivery of the provider.
    pub fn normalize(&self, delivery: &Delivery) -> Result<Vec<Event>, ToolError> {
        let read = self
            .normalize
            .ok_or_else(|| ToolError::internal("this plugin names no `normalize`"))?;
        read(delivery)
    }
}

/// The arguments of a tool that takes none.
#[derive(Debug, toolgate_sdk_macros::Args)]
pub struct NoArgs {}

/// What `#[tool]` makes of a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    note = "`tools: [...]` names functions that have `#[tool(effect = \"...\")]`"
)]
pub trait Tool {
    const NAME: &'static str;
    const SLOTS: Option<&'static [&'static str]>;
    /// The manifest member for `SLOTS`, with its leading comma.
    const AUTH: Option<&'static str>;
    const PAGINATED: bool;
    const AUTH_OPTIONAL: bool;
    /// The manifest entry without `auth` and the closing brace.
    const SPEC: Parts;
    fn run(arguments: Value, cx: &Context) -> Result<Output, ToolError>;
}

pub const fn entry<T: Tool>() -> Entry {
    Entry {
        name: T::NAME,
        slots: T::SLOTS,
        paginated: T::PAGINATED,
        auth_optional: T::AUTH_OPTIONAL,
        run: T::run,
    }
}

/// Compiles for what a tool can take.
pub const fn takes<T: crate::schema::Args>() {}

/// Whether the plugin has every slot that a tool names.
pub const fn has_slots(own: Option<&'static [&'static str]>, known: &[&str]) -> bool {
    if let Some(own) = own {
        let mut index = 0;
        while index < own.len() {
            if !holds(known, own[index]) {
                return false;
            }
            index += 1;
        }
    }
    true
}

const fn holds(all: &[&str], word: &str) -> bool {
    let mut index = 0;
    while index < all.len() {
        if same(all[index].as_bytes(), word.as_bytes()) {
            return true;
        }
        index += 1;
    }
    false
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// The bytes of `text`, whose length is `N`.
pub const fn bytes_of<const N: usize>(text: &str) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(text.as_bytes());
    out
}

/// Reads a tool's arguments, which the host has checked against the schema already.
pub fn arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_json::from_value(arguments).map_err(|error| ToolError::invalid("", error.to_string()))
}

/// A word of an enum, before it is known to be one.
pub fn word<'de, D: serde::Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    serde::Deserialize::deserialize(input)
}

pub fn unknown_word<E: serde::de::Error>(word: &str, expected: &str) -> E {
    E::custom(format_args!("`{word}` is not {expected}"))
}
