//! The lines that a plugin writes into the log, each with the call that it belongs to.
//!
//! One record is one line, with any content: a panic has its place and its message, a traceback of
//! Python has all its frames.

use super::{Guest, cut};
use crate::limits;
use crate::log::LineLevel;

/// Begins the message of a panic, in every language of plugins that panics.
const PANICKED: &str = "panicked at ";

impl Guest {
    /// Writes one line to the log: scrubbed, cut, at most [`limits::LOG_LINES_MAX`] a call.
    pub(crate) fn log_line(&mut self, level: LineLevel, message: &str) {
        self.log_lines = self.log_lines.saturating_add(1);
        if self.log_lines > limits::LOG_LINES_MAX {
            return;
        }
        let line = one_line(&self.scope.scrub(message));
        let line = cut(&line, limits::LOG_LINE_BYTES_MAX);
        if level == LineLevel::Error && line.starts_with(PANICKED) {
            self.panic = Some(line.clone());
        }
        if let Some(observer) = &self.log.observer {
            observer(level, &line);
        }
        let (service, tool) = (&*self.service, self.tool.as_str());
        let execution_id = self.log.execution_id.as_deref().unwrap_or("-");
        // A level is part of a place in the code.
        macro_rules! write_at {
            ($level:ident) => {
                tracing::$level!(target: "plugin", { plugin.service = service, plugin.tool = tool, execution_id }, "{line}")
            };
        }
        match level {
            LineLevel::Debug => write_at!(debug),
            LineLevel::Info => write_at!(info),
            LineLevel::Warn => write_at!(warn),
            LineLevel::Error => write_at!(error),
        }
    }

    /// What the guest printed, for the log.
    pub(crate) fn flush_stdio(&mut self) {
        let Some(wasi) = &self.wasi else { return };
        let printed = wasi.stdio.contents();
        let text = String::from_utf8_lossy(&printed);
        for (level, record) in records(&text)
            .into_iter()
            .take(limits::LOG_LINES_MAX as usize)
        {
            self.log_line(level, &record);
        }
    }
}

/// Lines as one: a line after a colon follows it directly, other lines are separated.
fn one_line(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if whole.ends_with(':') {
            whole.push(' ');
        } else if !whole.is_empty() {
            whole.push_str(" | ");
        }
        whole.push_str(line);
    }
    whole
}

/// The printed lines, grouped into records.
fn records(text: &str) -> Vec<(LineLevel, String)> {
    /// Whether the next line is still part of the record before it.
    enum Open {
        No,
        /// The message of a panic follows its place.
        OneMore,
        /// Frames are indented; the exception after them is not.
        Frames,
    }
    let mut found: Vec<(LineLevel, String)> = Vec::new();
    let mut open = Open::No;
    for line in text.lines() {
        if let (Open::OneMore | Open::Frames, Some((_, record))) = (&open, found.last_mut()) {
            record.push('\n');
            record.push_str(line);
            let goes_on = matches!(open, Open::Frames) && line.starts_with([' ', '\t']);
            if !goes_on {
                open = Open::No;
            }
        } else if line.starts_with("Traceback (most recent call last):") {
            found.push((LineLevel::Error, line.to_owned()));
            open = Open::Frames;
        } else if let Some((_, place)) = line
            .split_once(PANICKED)
            .filter(|(thread, _)| thread.starts_with("thread '"))
        {
            found.push((LineLevel::Error, format!("{PANICKED}{place}")));
            open = Open::OneMore;
        } else {
            found.push((LineLevel::Info, line.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_and_a_traceback_are_one_record_each() {
        let printed = "started\n\
            Traceback (most recent call last):\n  File \"/notes.py\", line 7, in list_notes\n    \
            raise ValueError(\"no notes\")\nValueError: no notes\n\
            thread '<unnamed>' panicked at src/lib.rs:4:5:\nno step\nnote: set RUST_BACKTRACE\n";
        let lines: Vec<(LineLevel, String)> = records(printed)
            .into_iter()
            .map(|(level, record)| (level, one_line(&record)))
            .collect();
        let expected = [
            (LineLevel::Info, "started"),
            (
                LineLevel::Error,
                "Traceback (most recent call last): File \"/notes.py\", line 7, in list_notes | raise ValueError(\"no notes\") | ValueError: no notes",
            ),
            (LineLevel::Error, "panicked at src/lib.rs:4:5: no step"),
            (LineLevel::Info, "note: set RUST_BACKTRACE"),
        ];
        let expected = expected.map(|(level, text)| (level, text.to_owned()));
        assert_eq!(lines, expected);
    }
}
