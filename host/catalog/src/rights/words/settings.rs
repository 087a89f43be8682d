//! What a change of hosts, capabilities, parameters, settings and limits means, in words.

use serde_json::Value;

use super::change::{ManifestChange, changed, string_at, text};

impl ManifestChange<'_> {
    /// What the integration reaches and asks of users and operators.
    pub(super) fn setting(&self) -> Option<String> {
        let (old, new) = (self.old, self.new);
        let last = self.last();
        Some(match (self.pattern.as_slice(), old, new) {
            (["hosts", _], None, _) => format!("reach {last}"),
            (["hosts", _], ..) => format!("no longer reach {last}"),
            (["capabilities", _], None, _) => format!("import {last}"),
            (["capabilities", _], ..) => format!("no longer import {last}"),
            (["parameters", "*"], None, Some(new)) => format!(
                "ask users for the value `{last}`, under the title \"{}\"",
                string_at(Some(new), "title")
            ),
            (["config", "*"], None, Some(new)) => {
                let title = string_at(Some(new), "title");
                if new.get("adds_host") == Some(&Value::Bool(true)) {
                    format!("reach the address set by the operator in {last} (\"{title}\")")
                } else {
                    format!("take the operator's setting {last} (\"{title}\")")
                }
            }
            (["config", "*", "adds_host"], _, Some(Value::Bool(true))) => {
                format!("reach the address set by the operator in {}", self.name(1))
            }
            (["limits", _], old, Some(new)) => {
                changed(format!("have a limit {last} of {}", text(new)), old)
            }
            (["webhook"], None, Some(new)) => format!("take events, verified by {}", text(new)),
            _ => return None,
        })
    }
}
