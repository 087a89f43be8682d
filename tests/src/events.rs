//! Server-sent events, as the gateway streams them.

use serde_json::Value;

/// Name and data of each event of a stream.
///
/// # Panics
/// Where an event has no name, or data that is not JSON.
pub fn parse(stream: &str) -> Vec<(String, Value)> {
    let events = stream.split("\n\n").filter(|event| event.contains("data:"));
    events
        .map(|event| {
            let field = |name: &str| {
                let line = event.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_else(|| panic!("no {name} in {event}"))
                    .trim()
            };
            let data = serde_json::from_str(field("data:"));
            (field("event:").to_owned(), data.expect("JSON"))
        })
        .collect()
}
