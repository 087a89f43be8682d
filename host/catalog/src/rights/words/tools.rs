//! What a change of a tool means, in words.

use serde_json::Value;

use super::change::{ManifestChange, changed, pointer, string_at, text};

impl ManifestChange<'_> {
    /// A tool: whether there is one, what it does, what it sends and with what.
    pub(super) fn tool(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let (tool, last) = (self.name(1), self.last());
        Some(match (self.pattern.as_slice(), old, new) {
            (["tools", "*"], None, new) => {
                format!(
                    "offer a new tool `{tool}`, declared {}",
                    string_at(new, "effect")
                )
            }
            (["tools", "*"], ..) => format!("no longer offer the tool `{tool}`"),
            (["tools", "*", "effect"], Some(old), Some(new)) => format!(
                "declare the tool `{tool}` {} in place of {}",
                text(new),
                text(old)
            ),
            (["tools", "*", "queries", _], None, _) => {
                format!("let the reading tool `{tool}` send {last}")
            }
            (["tools", "*", "request"], None, Some(new)) => {
                format!("have the tool `{tool}` send only {}", sent(new))
            }
            (["tools", "*", "request"], Some(old), None) => format!(
                "have the tool `{tool}` send any request to its hosts; before: only {}",
                sent(old)
            ),
            (["tools", "*", "request", "send"], Some(old), Some(new)) => format!(
                "have the tool `{tool}` send {} in place of {}",
                text(new),
                text(old)
            ),
            (["tools", "*", "request", "with"], old, new) => {
                let listed = |side: Option<&Value>| side.map_or_else(|| "nothing".to_owned(), text);
                format!(
                    "have the tool `{tool}` fill its request in another way, with {}; before: {}",
                    listed(new),
                    listed(old)
                )
            }
            (["tools", "*", "scopes", _], None, _) => {
                format!("ask users for the scope {last} for the tool `{tool}`")
            }
            (["tools", "*", "triggers", "*"], None, _) => {
                format!("let users have the reading tool `{tool}` polled for new items as `{last}`")
            }
            (["tools", "*", "triggers", "*"], ..) => {
                format!("no longer poll the tool `{tool}` for `{last}`")
            }
            (["tools", "*", "auth"], old, Some(new)) => changed(
                format!("run the tool `{tool}` with the credentials {}", text(new)),
                old,
            ),
            _ => return None,
        })
    }

    /// What a tool takes as its arguments.
    pub(super) fn input(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let tool = self.name(1);
        Some(match (self.pattern.as_slice(), old, new) {
            (["tools", "*", "input"], None, Some(new)) => {
                format!("take the arguments of `{tool}` as {}", text(new))
            }
            (["tools", "*", "input", ..], None, Some(new)) => format!(
                "take as {} of the arguments of `{tool}`: {}",
                pointer(&self.place[3..]),
                text(new)
            ),
            (["tools", "*", "input", ..], Some(old), None) => format!(
                "no longer take as {} of the arguments of `{tool}`: {}",
                pointer(&self.place[3..]),
                text(old)
            ),
            _ => return None,
        })
    }
}

/// A described request in one line.
fn sent(request: &Value) -> String {
    let send = request.get("send").map(text).unwrap_or_default();
    match request.get("with") {
        Some(with) => format!("{send} with {}", text(with)),
        None => send,
    }
}
