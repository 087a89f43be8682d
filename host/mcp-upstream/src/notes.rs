//! What a plugin has otherwise than its server says, or not at all.

use std::fmt;

use serde::Serialize;
use toolgate_core::visible::visible_line;

/// Most notes of one build.
const NOTES_MAX: usize = 500;
/// Longest name of a tool in a note, in characters.
const NAME_CHARS_MAX: usize = 80;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerNote {
    /// The server's name of the tool, safe to print; absent for the server as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub message: String,
    /// The tool is no part of the plugin.
    pub left_out: bool,
}

impl fmt::Display for ServerNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "{tool}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Notes in the order of the server's list.
#[derive(Clone, Debug, Default)]
pub struct ServerNotes(pub Vec<ServerNote>);

impl ServerNotes {
    pub fn server(&mut self, message: impl Into<String>) {
        self.push(None, message.into(), false);
    }

    pub fn changed(&mut self, tool: &str, message: impl Into<String>) {
        self.push(Some(tool), message.into(), false);
    }

    pub fn left_out(&mut self, tool: &str, message: impl Into<String>) {
        self.push(Some(tool), message.into(), true);
    }

    fn push(&mut self, tool: Option<&str>, message: String, left_out: bool) {
        if self.0.len() < NOTES_MAX {
            self.0.push(ServerNote {
                tool: tool.map(shown),
                message,
                left_out,
            });
        }
    }
}

/// A name of the server's, safe to print.
pub fn shown(name: &str) -> String {
    let start: String = name.chars().take(NAME_CHARS_MAX).collect();
    visible_line(&start).into_owned()
}
