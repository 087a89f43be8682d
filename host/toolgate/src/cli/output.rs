//! What a command prints: text for people, or one JSON document.
//!
//! A reader that has seen enough closes the pipe (`toolgate plugin list | head`). That ends nothing but
//! the printing: the command has done its work, and a gateway goes on serving.

use std::io::{self, Write};

use serde::Serialize;

use super::exit_status::Unsuccessful;
use toolgate_core::visible::{visible, visible_json, visible_line};
use toolgate_gateway::Error;

/// `1 tool`, `2 tools`.
pub(super) fn counted(count: usize, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputFormat {
    pub json: bool,
}

/// A failure that the printed report tells already: its sum is a message, not a second document.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct ReportedFailure(pub String);

impl OutputFormat {
    /// Prints `value` as JSON, or what `text` makes of it.
    pub(super) fn print<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        if self.json {
            line(
                io::stdout(),
                &visible_json(&serde_json::to_string_pretty(value)?),
            )
        } else {
            line(io::stdout(), &visible(text(value).trim_end()))
        }
    }

    /// Prints a failure with its causes, and the next step where one is known: as the one document of
    /// the command, unless that is printed already.
    pub(super) fn error(self, cause: &anyhow::Error) {
        let known = cause.downcast_ref::<Error>();
        let hint = known.and_then(Error::hint);
        let is_reported = cause.is::<ReportedFailure>() || cause.is::<Unsuccessful>();
        if self.json && !is_reported {
            let code = known.map_or("failed", Error::code);
            let mut document = serde_json::json!({
                "success": false,
                "error": { "code": code, "message": format!("{cause:#}"), "hint": hint },
            });
            if let Some(Error::InvalidArguments { violations, .. }) = known {
                document["error"]["violations"] = serde_json::json!(violations);
            }
            let _ = line(io::stdout(), &visible_json(&document.to_string()));
        } else {
            note(&format!("error: {cause:#}"));
            if let Some(Error::InvalidArguments { violations, .. }) = known {
                for one in violations {
                    note(&format!("  {} {}", one.path, one.message));
                }
            }
            if let Some(hint) = hint {
                note(&format!("hint: {hint}"));
            }
        }
    }
}

/// Prints a text that is a document of its own: a script, a page, a description.
pub(super) fn document(text: &str) -> anyhow::Result<()> {
    line(io::stdout(), text.trim_end())
}

/// Writes a line. That nobody reads it is not a failure; that a file took only a part of it is.
fn line(mut to: impl Write, text: &str) -> anyhow::Result<()> {
    let written = to
        .write_all(text.as_bytes())
        .and_then(|()| to.write_all(b"\n"))
        .and_then(|()| to.flush());
    match written {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => Err(cause.into()),
        _ => Ok(()),
    }
}

/// A line about what is under way, beside what is printed.
pub(super) fn note(text: &str) {
    // With standard error gone there is nobody to tell.
    let _ = line(io::stderr(), &visible(text));
}

/// Rows as columns, each as wide as its widest cell; a cell is one line.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let shown = |cell: &String| visible_line(cell).into_owned();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(shown).collect())
        .collect();
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| {
                format!(
                    "{cell}{}",
                    " ".repeat(width.saturating_sub(cell.chars().count()))
                )
            })
            .collect();
        padded.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(head.to_vec())];
    lines.extend(
        rows.iter()
            .map(|row| line(row.iter().map(String::as_str).collect())),
    );
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends every write with one error.
    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_failure_and_a_full_disk_is() {
        assert!(line(Failing(io::ErrorKind::BrokenPipe), "x").is_ok());
        assert!(line(Failing(io::ErrorKind::StorageFull), "x").is_err());
    }

    #[test]
    fn columns_line_up() {
        let text = table(
            &["NAME", "X"],
            &[
                vec!["a".to_owned(), "1".to_owned()],
                vec!["longer".to_owned(), String::new()],
            ],
        );
        assert_eq!(text, "NAME    X\na       1\nlonger");
    }
}
