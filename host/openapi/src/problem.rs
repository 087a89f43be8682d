//! What is wrong with a description, and where.

use std::fmt;

/// Why no plugin can be made of a description. Says the file, the place in it and what to write.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    pub file: String,
    /// JSON Pointer; empty for the document.
    pub pointer: String,
    /// Of the place, where the file's text is at hand.
    pub line: Option<u64>,
    pub message: String,
}

impl Problem {
    pub fn new(
        file: impl Into<String>,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            file: file.into(),
            pointer: pointer.into(),
            line: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.pointer.is_empty() {
            write!(f, "#{}", self.pointer)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A part of the description that the plugin does not have, or has in another form.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// JSON Pointer into the description; empty for the document.
    pub pointer: String,
    /// Of the place, where the description's text is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub message: String,
    /// A whole operation is missing.
    pub left_out: bool,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            let comma = if self.pointer.is_empty() { "" } else { ", " };
            write!(f, "line {line}{comma}")?;
        }
        if self.line.is_none() || !self.pointer.is_empty() {
            write!(f, "#{}", self.pointer)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Most notes kept of one build.
pub const NOTES_MAX: usize = 500;

/// Notes of one build, in the order of the description.
#[derive(Debug, Default)]
pub struct Notes(pub Vec<Note>);

impl Notes {
    pub fn changed(&mut self, pointer: &str, message: impl Into<String>) {
        self.push(pointer, message.into(), false);
    }

    /// A note about a line that no JSON pointer into the parsed description can name.
    pub fn at_line(&mut self, line: u64, message: impl Into<String>) {
        self.push("", message.into(), false);
        if let Some(note) = self.0.last_mut() {
            note.line = Some(line);
        }
    }

    pub fn left_out(&mut self, pointer: &str, message: impl Into<String>) {
        self.push(pointer, message.into(), true);
    }

    fn push(&mut self, pointer: &str, message: String, left_out: bool) {
        if self.0.len() < NOTES_MAX {
            self.0.push(Note {
                pointer: pointer.to_owned(),
                line: None,
                message,
                left_out,
            });
        }
    }
}

/// A JSON Pointer with one more segment.
pub fn below(pointer: &str, segment: &str) -> String {
    format!(
        "{pointer}/{}",
        segment.replace('~', "~0").replace('/', "~1")
    )
}
