//! `toolgate plugin run` and `toolgate plugin test`: a plugin in the real sandbox, without a gateway.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::output::Output;
use crate::catalog::manifest::ToolSpec;
use crate::catalog::{PluginTools, Tool};
use crate::runtime::Ended;
use crate::trial::generate::{Fill, value};
use crate::trial::{Cache, Rig, Trial, replay};

/// Show what one tool of a plugin file would send; credentials show as their slot
#[derive(Debug, Args)]
pub struct Run {
    /// The plugin file
    plugin: PathBuf,
    /// Name of the tool, with or without the service
    tool: String,
    /// Arguments as JSON
    #[arg(default_value = "{}")]
    arguments: String,
    /// Send nothing (the only mode without a gateway, whose connections hold the credentials)
    #[arg(long, required = true)]
    dry_run: bool,
    /// A connection parameter, KEY=VALUE (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    parameter: Vec<String>,
}

impl Run {
    pub async fn run(self, output: Output) -> anyhow::Result<()> {
        let cache = Cache::new()?;
        let rig = Rig::open(&self.plugin, &[], &cache).await?;
        let prefix = format!("{}_", rig.manifest.service);
        let tool = self
            .tool
            .strip_prefix(&prefix)
            .unwrap_or(&self.tool)
            .to_owned();
        let spec = rig
            .manifest
            .tools
            .iter()
            .find(|spec| spec.name == tool || spec.name == self.tool);
        let spec = spec.with_context(|| format!("the plugin has no tool `{}`", self.tool))?;
        let mut trial = Trial {
            tool: spec.name.clone(),
            arguments: serde_json::from_str(&self.arguments)
                .context("the arguments are not JSON")?,
            ..Trial::default()
        };
        for pair in &self.parameter {
            let (key, value) = pair
                .split_once('=')
                .with_context(|| format!("`{pair}` is not KEY=VALUE"))?;
            trial.parameters.insert(key.to_owned(), value.to_owned());
        }
        let violations = violations(&rig, &spec.name, &trial.arguments);
        if !violations.is_empty() {
            bail!("the arguments do not fit: {}", violations.join("; "));
        }
        let (ended, planned) = rig.plan(&trial).await?;
        match ended {
            Ended::DryRun | Ended::Returned(_) => output.print(&planned, |planned| {
                let shown = planned.iter().map(|request| {
                    let headers: Vec<String> = request
                        .headers
                        .iter()
                        .map(|(name, value)| format!("{name}: {value}"))
                        .collect();
                    format!(
                        "{} {}\n{}\n\n{}",
                        request.method,
                        request.url,
                        headers.join("\n"),
                        request.body
                    )
                });
                shown.collect::<Vec<_>>().join("\n\n")
            }),
            other => bail!("{}", replay::shown(&other)),
        }
    }
}

/// Replay a plugin's examples and try every tool with generated arguments
#[derive(Debug, Args)]
pub struct Test {
    /// Plugin files
    #[arg(required = true)]
    plugins: Vec<PathBuf>,
    /// Folder of plugin folders, where NAME/examples/*.json belong to NAME.wasm
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    examples: PathBuf,
}

#[derive(Debug, Serialize)]
struct Tested {
    plugin: PathBuf,
    tools: usize,
    examples: usize,
    failures: Vec<String>,
}

impl Test {
    pub async fn run(self, output: Output) -> anyhow::Result<()> {
        let mut all = Vec::new();
        let cache = Cache::new()?;
        for plugin in &self.plugins {
            all.push(test(plugin, &self.examples, &cache).await);
        }
        output.print(&all, |all| {
            let lines = all.iter().map(|tested| {
                let state = if tested.failures.is_empty() {
                    "ok"
                } else {
                    "FAILED"
                };
                let head = format!(
                    "{state} {}: {} tools, {} examples",
                    tested.plugin.display(),
                    tested.tools,
                    tested.examples
                );
                let failures = tested
                    .failures
                    .iter()
                    .map(|failure| format!("\n  {failure}"));
                head + &failures.collect::<String>()
            });
            lines.collect::<Vec<_>>().join("\n")
        })?;
        let failed = all
            .iter()
            .filter(|tested| !tested.failures.is_empty())
            .count();
        if failed > 0 {
            bail!("{failed} of {} plugins failed", all.len());
        }
        Ok(())
    }
}

async fn test(plugin: &Path, examples: &Path, cache: &Cache) -> Tested {
    let mut tested = Tested {
        plugin: plugin.to_owned(),
        tools: 0,
        examples: 0,
        failures: Vec::new(),
    };
    let rig = match Rig::open(plugin, &[], cache).await {
        Ok(rig) => rig,
        Err(cause) => {
            tested.failures.push(format!("{cause:#}"));
            return tested;
        }
    };
    for spec in &rig.manifest.tools {
        tested.tools += 1;
        for fill in [Fill::Required, Fill::All] {
            let arguments = arguments(&rig, spec, fill);
            for failure in plan(&rig, &spec.name, arguments).await {
                tested
                    .failures
                    .push(format!("{} with {fill:?} arguments: {failure}", spec.name));
            }
        }
    }
    let folder = examples.join(&rig.manifest.service).join("examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| {
            entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .collect()
        })
        .unwrap_or_default();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    for file in files {
        tested.examples += 1;
        match replay::replay(plugin, &file, cache).await {
            Ok(differences) => {
                tested.failures.extend(
                    differences
                        .iter()
                        .map(|what| format!("{}: {what}", file.display())),
                );
            }
            Err(cause) => tested
                .failures
                .push(format!("{}: {cause:#}", file.display())),
        }
    }
    tested
}

/// Generated arguments, with the values of the tool's own example where it has them. An optional
/// one that cannot be guessed is left out.
fn arguments(rig: &Rig, spec: &ToolSpec, fill: Fill) -> Value {
    let mut made = value(&spec.input, fill);
    let Some(map) = made.as_object_mut() else {
        return made;
    };
    for (name, value) in spec.examples.iter().filter_map(Value::as_object).flatten() {
        // A file is generated as the data URL that it has to be.
        let is_file = |slot: &Value| slot.to_string().contains("\"data:");
        if let Some(slot) = map.get_mut(name).filter(|slot| !is_file(slot)) {
            *slot = value.clone();
        }
    }
    let required = spec.input.get("required").cloned().unwrap_or_default();
    let required: Vec<&str> = required
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for violation in violations(rig, &spec.name, &Value::from(map.clone())) {
        let name = violation
            .trim_start_matches('/')
            .split(['/', ' '])
            .next()
            .unwrap_or_default();
        if !required.contains(&name) {
            map.remove(name);
        }
    }
    made
}

/// What is wrong with the first request that a tool sends for generated arguments.
async fn plan(rig: &Rig, tool: &str, arguments: Value) -> Vec<String> {
    let violations = violations(rig, tool, &arguments);
    if !violations.is_empty() {
        return vec![format!(
            "the generated arguments do not fit their schema: {}",
            violations.join("; ")
        )];
    }
    let spec = rig.manifest.tools.iter().find(|spec| spec.name == tool);
    let trial = Trial {
        tool: tool.to_owned(),
        arguments,
        ..Trial::default()
    };
    let (ended, planned) = match rig.plan(&trial).await {
        Ok(done) => done,
        Err(cause) => return vec![format!("{cause:#}")],
    };
    let mut wrong = Vec::new();
    match ended {
        Ended::DryRun => {}
        Ended::Refused(refusal) if refusal.code.is_some() || refusal.field.is_some() => {}
        other => wrong.push(replay::shown(&other)),
    }
    for request in planned {
        if !request.url.starts_with("https://") {
            wrong.push(format!("{} is no https address", request.url));
        }
        let path = request.url.split('?').next().unwrap_or_default();
        if path.contains(['{', '}']) || path.contains("%7B") {
            wrong.push(format!("{path} has an unfilled template"));
        }
        let needs = spec.is_some_and(|spec| !spec.auth.is_empty() && !spec.auth_optional);
        let named = request.url.contains("[slot ")
            || request.url.contains("%5Bslot")
            || request.body.contains("[slot ")
            || request
                .headers
                .iter()
                .any(|(_, value)| value.contains("[slot "));
        if needs && !named {
            wrong.push("the request names no credential slot".to_owned());
        }
    }
    wrong
}

fn violations(rig: &Rig, tool: &str, arguments: &Value) -> Vec<String> {
    let plugin = PluginTools {
        manifest: rig.manifest.clone(),
        sha256: String::new(),
    };
    let tools = Tool::of_plugin(&plugin.manifest, &plugin.sha256.as_str().into());
    let found = tools.iter().find(|known| known.action() == tool);
    let violations = found
        .map(|tool| tool.validate(arguments))
        .unwrap_or_default();
    violations
        .iter()
        .map(|violation| format!("{} {}", violation.path, violation.message))
        .collect()
}
