//! `toolgate plugin check`: what would keep a plugin or a description out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::finding_groups;
use super::output::{OutputFormat, ReportedFailure, counted};
use super::plugin_test::test_cache;
use toolgate_catalog::manifest::Manifest;
use toolgate_gateway::plugins::NameOwners;
use toolgate_openapi::{self as openapi, BuildInput, BuiltPlugin};
use toolgate_plugin_test::judge::FileJudge;
use toolgate_runtime::{Inspected, Rejected, Size};

/// Judge a plugin file or a description: what would keep it out, and advice
///
/// The judge is the one of the gateway: what it refuses here a gateway quarantines with the same sentence, and what
/// passes here a gateway takes. A description is built first, and every operation of it has to become a tool. Several
/// files are judged as one plugins folder, so that two of one name are told too.
#[derive(Debug, Args)]
pub(super) struct CheckPlugin {
    /// Plugin files (`.wasm`) or OpenAPI descriptions
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Advice is a failure too
    #[arg(long)]
    strict: bool,
    /// Show every finding; more than ten of a file are grouped otherwise
    #[arg(long)]
    all: bool,
}

/// What was found in one file.
#[derive(Debug, Default, Serialize)]
struct CheckedFile {
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    tools: usize,
    errors: Vec<String>,
    warnings: Vec<String>,
    /// What its operator has to know; no fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl CheckPlugin {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let (strict, whole) = (self.strict, self.all);
        let cache = test_cache()?;
        let mut folder = CheckedFolder {
            judge: FileJudge::open(&cache)?,
            names: NameOwners::default(),
            services: BTreeMap::new(),
        };
        let mut checked = Vec::new();
        for file in self.files {
            checked.push(folder.check(file).await);
        }
        output.print(&checked, |all| {
            all.iter()
                .map(|file| file.text(whole))
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
    fn text(&self, whole: bool) -> String {
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
        for (kind, list) in [
            ("error", &self.errors),
            ("warning", &self.warnings),
            ("note", &self.notes),
        ] {
            let shown = finding_groups::lines(list, whole);
            lines.extend(shown.iter().map(|text| format!("  {kind} {text}")));
        }
        lines.join("\n")
    }
}

/// Files as one plugins folder would have them.
struct CheckedFolder {
    judge: FileJudge,
    names: NameOwners,
    /// File by service.
    services: BTreeMap<String, PathBuf>,
}

impl CheckedFolder {
    async fn check(&mut self, file: PathBuf) -> CheckedFile {
        let mut checked = CheckedFile {
            file,
            ..CheckedFile::default()
        };
        let is_component = checked
            .file
            .extension()
            .is_some_and(|extension| extension == "wasm");
        let judged = if is_component {
            match self.judge.judge_file(&checked.file).await {
                Ok(judged) => judged,
                Err(cause) => {
                    checked.errors.push(format!("cannot be read: {cause}"));
                    return checked;
                }
            }
        } else {
            let built = match build(&checked.file).await {
                Ok(built) => built,
                Err(cause) => {
                    checked.errors.push(format!("{cause:#}"));
                    return checked;
                }
            };
            checked.service = Some(built.described.manifest.service.clone());
            checked.tools = built.described.manifest.tools.len();
            for note in built.described.notes {
                let list = if note.left_out {
                    &mut checked.errors
                } else {
                    &mut checked.warnings
                };
                list.push(note.to_string());
            }
            self.judge.judge(built.wasm).await
        };
        self.note(&mut checked, judged);
        checked
    }

    fn note(&mut self, checked: &mut CheckedFile, judged: Result<Inspected, Rejected>) {
        match judged {
            Ok(inspected) => {
                checked.tools = inspected.manifest.tools.len();
                checked.service = Some(inspected.manifest.service.clone());
                checked.warnings.extend(inspected.warnings);
                if Size::for_manifest(&inspected.manifest) == Size::Large {
                    checked.notes.push(
                        "it is a large plugin: a gateway serves it when started with --allow-large-plugins"
                            .to_owned(),
                    );
                }
                self.enter(checked, &inspected.manifest);
            }
            Err(Rejected::Lint(found)) => {
                let texts = |list: &[toolgate_catalog::Finding]| {
                    list.iter().map(ToString::to_string).collect::<Vec<_>>()
                };
                checked.errors.extend(texts(&found.errors));
                checked.warnings.extend(texts(&found.warnings));
            }
            Err(rejected) => checked.errors.push(rejected.reason()),
        }
    }

    /// What another file of the folder keeps a good one from.
    fn enter(&mut self, checked: &mut CheckedFile, manifest: &Manifest) {
        let service = &manifest.service;
        if let Some(other) = self.services.get(service) {
            checked.errors.push(format!(
                "{} already provides {service}; remove one of the two files",
                other.display()
            ));
            return;
        }
        if let Some(taken) = self.names.taken(manifest) {
            checked.errors.push(taken.to_string());
            return;
        }
        self.services.insert(service.clone(), checked.file.clone());
        self.names.claim(manifest);
    }
}

async fn build(description: &Path) -> anyhow::Result<BuiltPlugin> {
    let input = BuildInput {
        description: description.to_owned(),
        ..BuildInput::default()
    };
    let handle = tokio::runtime::Handle::current();
    // Reading, expanding and freezing are work for a thread, not for the reactor.
    tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input))).await?
}
