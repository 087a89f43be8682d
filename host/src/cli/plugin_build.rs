//! `toolgate plugin build` and `toolgate plugin new`: from a description to a plugin.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;
use tokio::sync::Semaphore;

use super::output::{Output, Reported, counted};
use super::plugin_new::{self, Lang};
use crate::openapi::{self, Input, Note};

/// Most notes printed without `--notes`.
const NOTES_SHOWN: usize = 12;

/// Make a plugin of an OpenAPI description (2.0, 3.0, 3.1; JSON or YAML)
#[derive(Debug, Args)]
pub struct Build {
    /// The description
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    description: Option<PathBuf>,
    /// OpenAPI Overlay 1.0 document that chooses, renames and completes (repeatable)
    #[arg(long, value_name = "FILE", conflicts_with = "all")]
    overlay: Vec<PathBuf>,
    /// Where the plugin goes [default: SERVICE.wasm]
    #[arg(short, long, value_name = "FILE", conflicts_with = "all")]
    output: Option<PathBuf>,
    /// Service name in place of the derived one
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    service: Option<String>,
    /// Build every DIR/*/openapi.yaml (and openapi.json), strictly and in parallel
    #[arg(long, value_name = "DIR", requires = "out")]
    all: Option<PathBuf>,
    /// Folder for the plugins of --all
    #[arg(
        long,
        value_name = "DIR",
        requires = "all",
        conflicts_with = "description"
    )]
    out: Option<PathBuf>,
    /// An operation that cannot become a tool is a failure
    #[arg(long)]
    strict: bool,
    /// Print every note
    #[arg(long)]
    notes: bool,
}

/// What became of one description.
#[derive(Debug, Serialize)]
pub struct Report {
    service: String,
    file: PathBuf,
    tools: usize,
    bytes: usize,
    duration_ms: u64,
    /// Most memory of this process so far, where the system tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_memory_bytes: Option<u64>,
    notes: Vec<Note>,
}

impl Build {
    pub async fn run(self, output: Output) -> anyhow::Result<()> {
        match (&self.all, &self.out, &self.description) {
            (Some(all), Some(out), _) => build_all(all, out, output).await,
            (_, _, Some(description)) => {
                let input = Input {
                    description: description.clone(),
                    overlays: self.overlay.clone(),
                    service: self.service.clone(),
                };
                let report = build_one(
                    input,
                    |service| {
                        self.output
                            .clone()
                            .unwrap_or_else(|| PathBuf::from(format!("{service}.wasm")))
                    },
                    self.strict,
                )
                .await?;
                output.print(&report, |report| report.text(self.notes))
            }
            _ => bail!("name a description, or a folder with --all and --out"),
        }
    }
}

impl Report {
    fn text(&self, all_notes: bool) -> String {
        let mut lines = vec![format!(
            "{}: {}, {} KB, {:.1} s",
            self.file.display(),
            counted(self.tools, "tool"),
            self.bytes.div_ceil(1000),
            std::time::Duration::from_millis(self.duration_ms).as_secs_f64()
        )];
        let shown = if all_notes {
            self.notes.len()
        } else {
            NOTES_SHOWN
        };
        // What is missing comes first.
        let missing = self.notes.iter().filter(|note| note.left_out);
        let changed = self.notes.iter().filter(|note| !note.left_out);
        for note in missing.chain(changed).take(shown) {
            let what = if note.left_out { "left out" } else { "note" };
            lines.push(format!("  {what} {note}"));
        }
        if self.notes.len() > shown {
            lines.push(format!(
                "  and {} more; --notes prints all",
                self.notes.len() - shown
            ));
        }
        lines.join("\n")
    }
}

async fn build_one(
    input: Input,
    place: impl FnOnce(&str) -> PathBuf,
    strict: bool,
) -> anyhow::Result<Report> {
    let started = Instant::now();
    let handle = tokio::runtime::Handle::current();
    // Reading, expanding and freezing are work for a thread, not for the reactor.
    let built =
        tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input))).await??;
    let missing = built.described.notes.iter().find(|note| note.left_out);
    if let Some(note) = missing.filter(|_| strict) {
        bail!("an operation cannot become a tool: {note}");
    }
    let service = built.described.manifest.service.clone();
    let file = place(&service);
    write(&file, &built.wasm)?;
    Ok(Report {
        service,
        file,
        tools: built.described.manifest.tools.len(),
        bytes: built.wasm.len(),
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        peak_memory_bytes: peak_memory_bytes(),
        notes: built.described.notes,
    })
}

/// Writes beside and renames, so that a watched folder never shows half a file.
fn write(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let beside = file.with_extension(format!("wasm.{}.part", std::process::id()));
    std::fs::write(&beside, bytes)
        .with_context(|| format!("{} cannot be written", beside.display()))?;
    std::fs::rename(&beside, file).with_context(|| format!("{} cannot be written", file.display()))
}

fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Every description of a folder of plugins, sorted.
pub(super) fn descriptions(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let place = entry?.path();
        let named = ["openapi.yaml", "openapi.yml", "openapi.json"].map(|name| place.join(name));
        found.extend(named.into_iter().find(|file| file.is_file()));
    }
    found.sort();
    Ok(found)
}

async fn build_all(folder: &Path, out: &Path, output: Output) -> anyhow::Result<()> {
    let started = Instant::now();
    let descriptions = descriptions(folder)?;
    let total = descriptions.len();
    let turns = std::thread::available_parallelism().map_or(1, usize::from);
    let turns = Arc::new(Semaphore::new(turns));
    let mut running = tokio::task::JoinSet::new();
    for description in descriptions {
        let (turns, out) = (turns.clone(), out.to_owned());
        running.spawn(async move {
            let _turn = turns.acquire_owned().await;
            let input = Input {
                description: description.clone(),
                ..Input::default()
            };
            let place = |service: &str| out.join(format!("{service}.wasm"));
            (description, build_one(input, place, true).await)
        });
    }
    let (mut reports, mut failed) = (Vec::new(), 0);
    let mut done = 0;
    while let Some(ended) = running.join_next().await {
        done += 1;
        match ended? {
            (_, Ok(report)) => {
                eprintln!(
                    "[{done}/{total}] {}: {}",
                    report.service,
                    counted(report.tools, "tool")
                );
                reports.push(report);
            }
            (description, Err(cause)) => {
                failed += 1;
                eprintln!(
                    "[{done}/{total}] {} failed: {cause:#}",
                    description.display()
                );
            }
        }
    }
    reports.sort_by(|a, b| a.service.cmp(&b.service));
    let tools: usize = reports.iter().map(|report| report.tools).sum();
    output.print(&reports, |reports| {
        format!(
            "{}, {}, {:.1} s",
            counted(reports.len(), "plugin"),
            counted(tools, "tool"),
            started.elapsed().as_secs_f64()
        )
    })?;
    if failed > 0 {
        let sum = format!("{failed} of {total} descriptions did not become a plugin");
        return Err(Reported(sum).into());
    }
    Ok(())
}

/// Start a plugin folder: from an OpenAPI description, or as a project in JavaScript or Python
///
/// `toolgate plugin new --openapi notes.yaml` keeps the description beside an overlay to choose from.
/// `toolgate plugin new --lang py notes` writes a project that builds as it is: sources, tests, examples.
#[derive(Debug, Args)]
pub struct New {
    /// A description: a file, or an https address that is fetched once
    #[arg(long, value_name = "FILE_OR_URL", required_unless_present = "lang")]
    openapi: Option<String>,
    /// Language of a new project
    #[arg(long, conflicts_with = "openapi", requires = "name")]
    lang: Option<Lang>,
    /// Service name of a new project
    #[arg(requires = "lang")]
    name: Option<String>,
    /// Service name in place of the derived one
    #[arg(long, value_name = "NAME", conflicts_with = "lang")]
    service: Option<String>,
    /// Folder in which the plugin's folder is made
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    into: PathBuf,
}

/// What `plugin new` made.
#[derive(Debug, Serialize)]
struct Made {
    folder: PathBuf,
    description: PathBuf,
    overlay: PathBuf,
    operations: usize,
}

impl New {
    pub async fn run(self, output: Output) -> anyhow::Result<()> {
        if let (Some(lang), Some(name)) = (self.lang, &self.name) {
            let project = plugin_new::write(lang, name, &self.into)?;
            return output.print(&project, plugin_new::Project::text);
        }
        let source = self.openapi.context("name a description with --openapi")?;
        let text = match source.strip_prefix("https://") {
            Some(_) => fetch(&source).await?,
            None if source.contains("://") => {
                bail!("only files and https addresses are read")
            }
            None => std::fs::read_to_string(&source)
                .with_context(|| format!("{source} cannot be read"))?,
        };
        let value = openapi::document::parse(&source, &text)?;
        let title = value
            .pointer("/info/title")
            .and_then(|title| title.as_str())
            .unwrap_or("service");
        let service = self
            .service
            .unwrap_or_else(|| openapi::words::service(title));
        let folder = self.into.join(&service);
        if folder.exists() {
            bail!("{} exists already", folder.display());
        }
        std::fs::create_dir_all(&folder)?;
        let json = text.trim_start().starts_with('{');
        let description = folder.join(if json { "source.json" } else { "source.yaml" });
        std::fs::write(&description, &text)?;
        let overlay = folder.join("overlay.yaml");
        let choices = operations(&value);
        std::fs::write(&overlay, overlay_text(&service, &choices))?;
        let made = Made {
            folder,
            description,
            overlay,
            operations: choices.len(),
        };
        output.print(&made, |made| {
            format!(
                "{} has {} operations.\n1. Keep the ones an agent needs in {}.\n2. toolgate plugin build {} --overlay {} -o plugins/dist/{service}.wasm",
                made.description.display(),
                made.operations,
                made.overlay.display(),
                made.description.display(),
                made.overlay.display(),
            )
        })
    }
}

/// How `x-toolgate: operations` names each operation, with its summary.
fn operations(value: &serde_json::Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, item) in value
        .get("paths")
        .and_then(|paths| paths.as_object())
        .into_iter()
        .flatten()
    {
        for method in ["get", "post", "put", "patch", "delete"] {
            if let Some(operation) = item.get(method) {
                let text = |key: &str| operation.get(key).and_then(|text| text.as_str());
                let name = text("operationId").map_or_else(
                    || format!("{} {path}", method.to_uppercase()),
                    str::to_owned,
                );
                found.push((
                    name,
                    openapi::words::clean(text("summary").unwrap_or_default(), 80),
                ));
            }
        }
    }
    found
}

fn overlay_text(service: &str, operations: &[(String, String)]) -> String {
    let mut text = format!(
        "overlay: 1.0.0\ninfo: {{ title: {service} for toolgate, version: 1.0.0 }}\nactions:\n  - target: $\n    update:\n      x-toolgate:\n        service: {service}\n        operations:\n"
    );
    for (name, summary) in operations {
        let quoted = serde_json::Value::from(name.as_str());
        let comment = if summary.is_empty() {
            String::new()
        } else {
            format!("  # {summary}")
        };
        text.push_str(&format!("          - {quoted}{comment}\n"));
    }
    text
}

async fn fetch(url: &str) -> anyhow::Result<String> {
    let max = usize::try_from(openapi::document::FILE_BYTES_MAX)?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .https_only(true)
        .timeout(std::time::Duration::from_secs(60))
        .redirect(reqwest::redirect::Policy::limited(3))
        .build()?;
    let mut answer = client.get(url).send().await?.error_for_status()?;
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > max {
            bail!("{url} is larger than {max} bytes");
        }
    }
    String::from_utf8(bytes).with_context(|| format!("{url} is not UTF-8 text"))
}

/// Judge a plugin file or a description: what would keep it out, and advice
#[derive(Debug, Args)]
pub struct Check {
    /// Plugin files (`.wasm`) or OpenAPI descriptions
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Advice is a failure too
    #[arg(long)]
    strict: bool,
}

/// What was found in one file.
#[derive(Debug, Serialize)]
struct Checked {
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    tools: usize,
    errors: Vec<String>,
    warnings: Vec<String>,
}

impl Check {
    pub async fn run(self, output: Output) -> anyhow::Result<()> {
        let strict = self.strict;
        let checked: Vec<Checked> =
            tokio::task::spawn_blocking(move || self.files.into_iter().map(check).collect())
                .await?;
        output.print(&checked, |all| {
            all.iter().map(Checked::text).collect::<Vec<_>>().join("\n")
        })?;
        let bad = |one: &&Checked| !one.errors.is_empty() || (strict && !one.warnings.is_empty());
        let refused = checked.iter().filter(bad).count();
        if refused > 0 {
            let sum = format!("{refused} of {} refused", checked.len());
            return Err(Reported(sum).into());
        }
        Ok(())
    }
}

impl Checked {
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

fn check(file: PathBuf) -> Checked {
    let mut checked = Checked {
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
        match crate::runtime::inspect::read(&bytes) {
            Ok(inspected) => {
                checked.tools = inspected.manifest.tools.len();
                checked.service = Some(inspected.manifest.service);
                checked.warnings = inspected.warnings;
            }
            Err(crate::runtime::Rejected::Lint(found)) => {
                checked.errors = found.errors.iter().map(ToString::to_string).collect();
                checked.warnings = found.warnings.iter().map(ToString::to_string).collect();
            }
            Err(rejected) => checked.errors.push(rejected.reason()),
        }
        return checked;
    }
    match openapi::describe(&Input {
        description: checked.file.clone(),
        ..Input::default()
    }) {
        Ok(described) => {
            let found = crate::catalog::lint(&described.manifest);
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
