//! `toolgate plugin build`: from a description, a GraphQL schema or a remote MCP server to a plugin.

pub(super) mod graphql;
pub(super) mod mcp;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;
use tokio::sync::Semaphore;

use super::output::{OutputFormat, ReportedFailure, counted, note};
use super::plugin_file::write_whole;
use toolgate_openapi::{self as openapi, BuildInput, BuiltPlugin, Note};

/// Most notes printed without `--notes`.
const NOTES_SHOWN: usize = 12;

/// Make a plugin of a description (OpenAPI 2.0 to 3.2, Google discovery, Postman), a GraphQL schema or a remote MCP server
#[derive(Debug, Args)]
pub(super) struct Build {
    /// The description
    #[arg(required_unless_present_any = ["all", "url", "graphql"], conflicts_with = "all")]
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
    #[command(flatten)]
    mcp: mcp::McpArguments,
    #[command(flatten)]
    graphql: graphql::GraphqlArguments,
}

/// The outcome of one description.
#[derive(Debug, Serialize)]
pub(super) struct Report {
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
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        if let Some(url) = self.mcp.url.clone() {
            let (service, file) = (self.service, self.output);
            return self.mcp.run(url, service, file, self.notes, output).await;
        }
        let place = |service: &str| {
            let named = self.output.clone();
            named.unwrap_or_else(|| PathBuf::from(format!("{service}.wasm")))
        };
        let report = match (&self.all, &self.out, &self.description) {
            (Some(all), Some(out), _) => return build_all(all, out, output).await,
            (_, _, Some(description)) => {
                let input = BuildInput {
                    description: description.clone(),
                    overlays: self.overlay.clone(),
                    service: self.service.clone(),
                };
                build_one(input, place, self.strict).await?
            }
            _ => {
                let source = self.graphql.graphql.as_deref();
                let source =
                    source.context("name a description, or a folder with --all and --out")?;
                let (service, overlays) = (self.service.clone(), self.overlay.clone());
                let asked = self.graphql.input(source, &self.mcp, service, overlays);
                build_graphql(asked.await?, place, self.strict).await?
            }
        };
        output.print(&report, |report| report.text(self.notes))
    }
}

impl Report {
    pub(super) fn text(&self, all_notes: bool) -> String {
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
    input: BuildInput,
    place: impl FnOnce(&str) -> PathBuf,
    strict: bool,
) -> anyhow::Result<Report> {
    let started = Instant::now();
    let handle = tokio::runtime::Handle::current();
    // Reading, expanding and freezing are work for a thread, not for the reactor.
    let built =
        tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input))).await??;
    write_built(&built, started, place, strict)
}

pub(super) async fn build_graphql(
    input: openapi::graphql::GraphqlInput,
    place: impl FnOnce(&str) -> PathBuf,
    strict: bool,
) -> anyhow::Result<Report> {
    let started = Instant::now();
    let handle = tokio::runtime::Handle::current();
    let made = move || handle.block_on(openapi::graphql::build(&input));
    let built = tokio::task::spawn_blocking(made).await??;
    write_built(&built, started, place, strict)
}

fn write_built(
    built: &BuiltPlugin,
    started: Instant,
    place: impl FnOnce(&str) -> PathBuf,
    strict: bool,
) -> anyhow::Result<Report> {
    let missing = built.described.notes.iter().find(|note| note.left_out);
    if let Some(note) = missing.filter(|_| strict) {
        bail!("an operation cannot become a tool: {note}");
    }
    let service = built.described.manifest.service.clone();
    let file = place(&service);
    write_whole(&file, &built.wasm)?;
    Ok(Report {
        service,
        file,
        tools: built.described.manifest.tools.len(),
        bytes: built.wasm.len(),
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        peak_memory_bytes: peak_memory_bytes(),
        notes: built.described.notes.clone(),
    })
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

async fn build_all(folder: &Path, out: &Path, output: OutputFormat) -> anyhow::Result<()> {
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
            let input = BuildInput {
                description: description.clone(),
                ..BuildInput::default()
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
                note(&format!(
                    "[{done}/{total}] {}: {}",
                    report.service,
                    counted(report.tools, "tool")
                ));
                reports.push(report);
            }
            (description, Err(cause)) => {
                failed += 1;
                note(&format!(
                    "[{done}/{total}] {} failed: {cause:#}",
                    description.display()
                ));
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
        return Err(ReportedFailure(sum).into());
    }
    Ok(())
}
