//! `toolgate plugin dev`: an author's loop. Sources are watched, built, judged and put into the folder
//! of a running gateway, and what the plugin then does is told.

mod follow;
mod project;
mod sources;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use super::output::{OutputFormat, document, note};
use super::plugin_test::test_cache;
use crate::config::Config;
use follow::Follower;
use project::DevProject;
use sources::source_files;
use toolgate_core::clock::Clock;
use toolgate_core::visible::visible_json;
use toolgate_gateway::plugins::{self, dev_log::DevEvent};
use toolgate_plugin_test::judge::FileJudge;
use toolgate_runtime::Inspected;
use toolgate_store::{PluginState, Store};

/// How often sources and the gateway are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A gateway takes a file within seconds, a large plugin's after it is compiled.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// Build a plugin's project with every change and hand it to a running gateway, with its logs
///
/// Takes a project in Rust, JavaScript or Python, or a folder with an OpenAPI description. Each build is judged as
/// `plugin check` does before the gateway sees it. Log lines, panics and the requests of calls are printed as they
/// come; credentials in addresses are redacted. The gateway is the one of this data folder; end with Ctrl+C.
#[derive(Debug, Args)]
pub(super) struct DevLoop {
    /// Folder of the project
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Approve what a build changes about the rights of the version that serves; without it such a version waits
    #[arg(long)]
    approve: bool,
    /// Build and hand over once, and end when the gateway serves it
    #[arg(long)]
    once: bool,
}

/// What is told, one line each.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum LoopEvent {
    /// Before the first build.
    Begins {
        project: String,
        /// What builds it.
        tool: &'static str,
        plugins_folder: String,
        data_folder: String,
    },
    Refused {
        reasons: Vec<String>,
    },
    Built {
        service: String,
        version: String,
        tools: usize,
        bytes: u64,
        build_ms: u64,
        warnings: Vec<String>,
    },
    Serving {
        service: String,
        sha256: String,
        /// Since the change was seen.
        after_ms: u64,
    },
    Waiting {
        service: String,
        reason: String,
    },
}

impl DevLoop {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let project = DevProject::detect(&self.folder)?;
        let store = super::open_store(config).await?;
        // A first build takes a minute.
        tell(output, &LoopEvent::begins(&project, config))?;
        let cache = test_cache()?;
        let scratch = tempfile_beside(&config.gateway.data_dir)?;
        let mut bench = DevBench {
            judge: FileJudge::open(&cache)?,
            scratch: scratch.0.join("plugin.wasm"),
            store,
            config,
            output,
            approve: self.approve,
            follower: None,
        };
        let stop = tokio::signal::ctrl_c();
        tokio::pin!(stop);
        loop {
            let seen = source_files(project.folder());
            let served = tokio::select! {
                served = bench.round(&project) => served?,
                _ = &mut stop => return Ok(()),
            };
            if self.once {
                return match served {
                    true => Ok(()),
                    false => bail!("the plugin does not serve"),
                };
            }
            while source_files(project.folder()) == seen {
                bench.tell_calls()?;
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    _ = &mut stop => {
                        note("The plugin stays in the folder; `toolgate plugin remove` takes it out.");
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// A folder of its own, which goes away with its value.
struct ScratchFolder(PathBuf);

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tempfile_beside(data_dir: &Path) -> anyhow::Result<ScratchFolder> {
    let folder = data_dir
        .join("dev")
        .join(format!("build-{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(ScratchFolder(folder))
}

struct DevBench<'a> {
    judge: FileJudge,
    scratch: PathBuf,
    store: Store,
    config: &'a Config,
    output: OutputFormat,
    approve: bool,
    follower: Option<(String, Follower)>,
}

impl DevBench<'_> {
    /// Builds once and brings it as far as it goes. Answers whether it serves.
    async fn round(&mut self, project: &DevProject) -> anyhow::Result<bool> {
        let began = Instant::now();
        let wasm = match project.build(&self.scratch).await {
            Ok(wasm) => wasm,
            Err(cause) => {
                self.tell(&LoopEvent::Refused {
                    reasons: vec![format!("{cause:#}")],
                })?;
                return Ok(false);
            }
        };
        let build_ms = milliseconds(began);
        let inspected = match self.judge.judge(wasm.clone()).await {
            Ok(inspected) => inspected,
            Err(rejected) => {
                let reasons = match &rejected {
                    toolgate_runtime::Rejected::Lint(found) => {
                        found.errors.iter().map(ToString::to_string).collect()
                    }
                    other => vec![other.reason()],
                };
                self.tell(&LoopEvent::Refused { reasons })?;
                return Ok(false);
            }
        };
        self.tell(&LoopEvent::Built {
            service: inspected.manifest.service.clone(),
            version: inspected.manifest.version.clone(),
            tools: inspected.manifest.tools.len(),
            bytes: inspected.size_bytes,
            build_ms,
            warnings: inspected.warnings.clone(),
        })?;
        self.follow(&inspected.manifest.service)?;
        self.hand_over(&inspected, &wasm).await?;
        self.wait(&inspected, began).await
    }

    fn follow(&mut self, service: &str) -> anyhow::Result<()> {
        if self
            .follower
            .as_ref()
            .is_none_or(|(name, _)| name != service)
        {
            let follower = Follower::start(&self.config.gateway.data_dir, service)?;
            self.follower = Some((service.to_owned(), follower));
        }
        Ok(())
    }

    /// Puts the file where the service comes from, in one step.
    async fn hand_over(&self, inspected: &Inspected, wasm: &[u8]) -> anyhow::Result<()> {
        let row = self.store.find_plugin(&inspected.manifest.service).await?;
        let name = row
            .filter(|row| row.state != PluginState::Removed)
            .and_then(|row| row.file_name)
            .unwrap_or_else(|| format!("{}.wasm", inspected.manifest.service));
        let folder = &self.config.gateway.plugins_dir;
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let part = folder.join(format!(".{name}.{}.part", std::process::id()));
        std::fs::write(&part, wasm)
            .and_then(|()| std::fs::rename(&part, folder.join(&name)))
            .with_context(|| format!("{} cannot be written", folder.join(&name).display()))
    }

    /// Until the gateway serves the file, refuses it or lets it wait.
    async fn wait(&mut self, inspected: &Inspected, began: Instant) -> anyhow::Result<bool> {
        let (service, sha256) = (&inspected.manifest.service, &inspected.sha256);
        let until = Instant::now() + TAKEN_WITHIN;
        while Instant::now() < until {
            self.tell_calls()?;
            let files = self.store.list_plugin_files().await?;
            let file = files
                .into_iter()
                .find(|file| file.sha256.as_deref() == Some(sha256.as_str()));
            match file.map(|file| (file.state, file.reason.unwrap_or_default())) {
                Some((PluginState::Active, _)) => {
                    self.tell(&LoopEvent::Serving {
                        service: service.clone(),
                        sha256: sha256.clone(),
                        after_ms: milliseconds(began),
                    })?;
                    return Ok(true);
                }
                Some((PluginState::PendingApproval, _)) if self.approve => {
                    let now_ms = Clock::system().now_ms();
                    let caller = super::operator(&self.store, now_ms).await?;
                    // What was built here, and no other file.
                    let approved =
                        plugins::approve(&self.store, &caller, service, Some(sha256), now_ms).await;
                    if let Err(cause) = approved {
                        note(&format!("not approved yet: {cause}"));
                    }
                }
                Some((PluginState::Seen, _)) | None => {}
                Some((_, reason)) => {
                    self.tell(&LoopEvent::Waiting {
                        service: service.clone(),
                        reason,
                    })?;
                    return Ok(false);
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        self.tell(&LoopEvent::Waiting {
            service: service.clone(),
            reason: format!(
                "no gateway has taken the file within {} s: does `toolgate serve` run with the plugins folder {} and the data folder {}?",
                TAKEN_WITHIN.as_secs(),
                self.config.gateway.plugins_dir.display(),
                self.config.gateway.data_dir.display()
            ),
        })?;
        Ok(false)
    }

    fn tell_calls(&mut self) -> anyhow::Result<()> {
        let Some((_, follower)) = &mut self.follower else {
            return Ok(());
        };
        for event in follower.read() {
            if self.output.json {
                document(&visible_json(&serde_json::to_string(&event)?))?;
            } else {
                document(&toolgate_core::visible::visible_line(&call_text(&event)))?;
            }
        }
        Ok(())
    }

    fn tell(&self, event: &LoopEvent) -> anyhow::Result<()> {
        tell(self.output, event)
    }
}

/// One line of its own; with `--json` one document a line.
fn tell(output: OutputFormat, event: &LoopEvent) -> anyhow::Result<()> {
    if output.json {
        return document(&visible_json(&serde_json::to_string(event)?));
    }
    document(&toolgate_core::visible::visible(&event.text()))
}

impl LoopEvent {
    fn begins(project: &DevProject, config: &Config) -> Self {
        Self::Begins {
            project: project.folder().display().to_string(),
            tool: project.tool(),
            plugins_folder: config.gateway.plugins_dir.display().to_string(),
            data_folder: config.gateway.data_dir.display().to_string(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Begins {
                project,
                tool,
                plugins_folder,
                data_folder,
            } => format!(
                "building {project} with `{tool}`, and again after every change; a build goes into {plugins_folder}, for the gateway with the \
                 data folder {data_folder}. Ctrl+C ends it."
            ),
            Self::Refused { reasons } => reasons
                .iter()
                .map(|reason| format!("refused: {reason}"))
                .collect::<Vec<_>>()
                .join("\n"),
            Self::Built {
                service,
                version,
                tools,
                bytes,
                build_ms,
                warnings,
            } => {
                let mut lines = vec![format!(
                    "built: {service} {version}, {}, {} KB, {build_ms} ms",
                    super::output::counted(*tools, "tool"),
                    bytes.div_ceil(1000)
                )];
                lines.extend(
                    warnings
                        .iter()
                        .map(|warning| format!("  warning {warning}")),
                );
                lines.join("\n")
            }
            Self::Serving {
                service, after_ms, ..
            } => format!("serving: {service}, {after_ms} ms after the change"),
            Self::Waiting { service, reason } => format!("not serving: {service}: {reason}"),
        }
    }
}

fn call_text(event: &DevEvent) -> String {
    match event {
        DevEvent::Log {
            tool,
            level,
            message,
            ..
        } => format!("{tool}: log {level}: {message}"),
        DevEvent::Request {
            method,
            url,
            status,
            duration_ms,
            ..
        } => {
            let status = status.map_or_else(|| "no answer".to_owned(), |code| code.to_string());
            format!("  {method} {url} {status}, {duration_ms} ms")
        }
        DevEvent::Ended {
            execution_id,
            tool,
            status,
            reason,
            duration_ms,
        } => {
            let reason = reason.as_ref().map(|reason| format!(" ({reason})"));
            format!(
                "{tool}: {status}{}, {duration_ms} ms, {execution_id}",
                reason.unwrap_or_default()
            )
        }
    }
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
