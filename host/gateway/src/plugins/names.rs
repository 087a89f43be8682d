//! Whose a tool's name is: pure, from what the database says of who activated it first.
//!
//! `google` with the tool `calendar_list` and `google_calendar` with the tool `list` have one name for
//! two tools. The service that activated a name first keeps it, also while its file is away, damaged
//! or waiting; and what begins with a service's name belongs to that service, whether it has such a
//! tool by now or not.

use std::collections::HashMap;
use std::fmt;

use toolgate_catalog::Manifest;

/// Services by the full names of their tools.
#[derive(Debug, Default)]
pub struct NameOwners {
    by_tool: HashMap<String, String>,
}

/// A name that a plugin may not have.
#[derive(Debug, PartialEq, Eq)]
pub struct TakenName {
    pub tool_name: String,
    pub owner: String,
}

impl fmt::Display for TakenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool_name, owner } = self;
        write!(
            f,
            "its tool {tool_name} would take a name that belongs to {owner}, which came first; rename the tool, \
             or remove {owner} with `toolgate plugin remove {owner}`"
        )
    }
}

impl NameOwners {
    pub(super) fn new(by_tool: HashMap<String, String>) -> Self {
        Self { by_tool }
    }

    /// The first name of `manifest` that belongs to another service.
    pub fn taken(&self, manifest: &Manifest) -> Option<TakenName> {
        tool_names(manifest).find_map(|tool_name| {
            let owner = match self.by_tool.get(&tool_name) {
                Some(owner) => owner,
                None => self.owner_of_prefix(&tool_name, &manifest.service)?,
            };
            (*owner != manifest.service).then(|| TakenName {
                owner: owner.clone(),
                tool_name,
            })
        })
    }

    pub fn claim(&mut self, manifest: &Manifest) {
        for name in tool_names(manifest) {
            self.by_tool.insert(name, manifest.service.clone());
        }
    }

    /// The service with a longer name than `service` that `tool_name` begins with.
    fn owner_of_prefix(&self, tool_name: &str, service: &str) -> Option<&String> {
        let owners = self.by_tool.values();
        owners
            .filter(|owner| owner.len() > service.len())
            .filter(|owner| {
                tool_name
                    .strip_prefix(owner.as_str())
                    .is_some_and(|rest| rest.starts_with('_'))
            })
            .max_by_key(|owner| owner.len())
    }
}

/// The full names of a plugin's tools.
pub(super) fn tool_names(manifest: &Manifest) -> impl Iterator<Item = String> {
    let tools = manifest.tools.iter();
    tools.map(|tool| format!("{}_{}", manifest.service, tool.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest(service: &str, tools: &[&str]) -> Manifest {
        let tools: Vec<_> = tools
            .iter()
            .map(|name| {
                json!({ "name": name, "description": "Does it.", "input": { "type": "object" }, "effect": "read" })
            })
            .collect();
        let text = json!({
            "manifest": 1, "service": service, "title": service, "version": "1.0.0",
            "description": "A plugin.", "hosts": [], "capabilities": [], "tools": tools,
        });
        Manifest::parse(&text.to_string()).expect("a manifest")
    }

    #[test]
    fn a_name_belongs_to_the_service_that_came_first_and_so_does_what_begins_with_its_own() {
        let mut owners = NameOwners::default();
        owners.claim(&manifest("google_calendar", &["list"]));
        owners.claim(&manifest("mail", &["box_read"]));
        let taken = |service: &str, tool: &str| {
            owners
                .taken(&manifest(service, &["fine", tool]))
                .map(|taken| taken.owner)
        };
        for (service, tool, owner) in [
            ("google", "calendar_list", Some("google_calendar")),
            ("google", "calendar_new", Some("google_calendar")),
            ("google", "calendars_list", None),
            ("google", "calendar", None),
            ("google_calendar", "other", None),
            // A name that was there before the service whose name it begins with.
            ("mail", "box_read", None),
            ("mail_box", "read", Some("mail")),
            ("mail_box", "write", None),
            ("mai", "l_box_read", None),
        ] {
            let found = taken(service, tool);
            assert_eq!(found.as_deref(), owner, "{service} {tool}");
        }
    }
}
