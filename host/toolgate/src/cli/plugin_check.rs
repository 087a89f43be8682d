//! `toolgate plugin check`: what would keep a plugin or a description out.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::output::{OutputFormat, ReportedFailure, counted};
use toolgate_openapi::{self as openapi, BuildInput};

/// Judge a plugin file or a description: what would keep it out, and advice
#[derive(Debug, Args)]
pub(super) struct CheckPlugin {
    /// Plugin files (`.wasm`) or OpenAPI descriptions
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Advice is a failure too
    #[arg(long)]
    strict: bool,
}

/// What was found in one file.
#[derive(Debug, Serialize)]
struct CheckedFile {
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    tools: usize,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl CheckPlugin {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let strict = self.strict;
        let checked: Vec<CheckedFile> =
            tokio::task::spawn_blocking(move || self.files.into_iter().map(check).collect())
                .await?;
        output.print(&checked, |all| {
            all.iter()
                .map(CheckedFile::text)
                .collect::<Vec<_>>()
                .join("\n")
        })?;
        let bad =
            |one: &&CheckedFile| !one.errors.is_empty() || (strict && !one.warnings.is_empty());
        let refused = checked.iter().filter(bad).count();
        if refused > 0 {
            let sum = format!("{refused} of {} refused", checked.len());
            return Err(ReportedFailure(sum).into());
        }
        Ok(())
    }
}

impl CheckedFile {
    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {}{}, {}, {}",
            self.file.display(),
            self.service
                .as_ref()
                .map(|s| format!("{s}, "))
                .unwrap_or_default(),
            counted(self.tools, "tool"),
            counted(self.errors.len(), "error"),
            counted(self.warnings.len(), "warning")
        )];
        lines.extend(self.errors.iter().map(|error| format!("  error {error}")));
        lines.extend(
            self.warnings
                .iter()
                .map(|warning| format!("  warning {warning}")),
        );
        lines.join("\n")
    }
}

fn check(file: PathBuf) -> CheckedFile {
    let mut checked = CheckedFile {
        service: None,
        tools: 0,
        errors: Vec::new(),
        warnings: Vec::new(),
        file,
    };
    if checked
        .file
        .extension()
        .is_some_and(|extension| extension == "wasm")
    {
        let bytes = match std::fs::read(&checked.file) {
            Ok(bytes) => bytes,
            Err(cause) => {
                checked.errors.push(format!("cannot be read: {cause}"));
                return checked;
            }
        };
        match toolgate_runtime::inspect::read(&bytes) {
            Ok(inspected) => {
                checked.tools = inspected.manifest.tools.len();
                checked.service = Some(inspected.manifest.service);
                checked.warnings = inspected.warnings;
            }
            Err(toolgate_runtime::Rejected::Lint(found)) => {
                checked.errors = found.errors.iter().map(ToString::to_string).collect();
                checked.warnings = found.warnings.iter().map(ToString::to_string).collect();
            }
            Err(rejected) => checked.errors.push(rejected.reason()),
        }
        return checked;
    }
    match openapi::describe(&BuildInput {
        description: checked.file.clone(),
        ..BuildInput::default()
    }) {
        Ok(described) => {
            let found = toolgate_catalog::lint(&described.manifest);
            checked.tools = described.manifest.tools.len();
            checked.service = Some(described.manifest.service.clone());
            checked.errors = found.errors.iter().map(ToString::to_string).collect();
            checked.warnings = found.warnings.iter().map(ToString::to_string).collect();
            for note in described.notes {
                let list = if note.left_out {
                    &mut checked.errors
                } else {
                    &mut checked.warnings
                };
                list.push(note.to_string());
            }
        }
        Err(problem) => checked.errors.push(problem.to_string()),
    }
    checked
}
