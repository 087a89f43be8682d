//! `toolgate plugin run`, `plan` and `test`: a plugin in the real sandbox, without a gateway.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::output::{OutputFormat, ReportedFailure, counted, note};
use super::plugin_failure::FailedRun;
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Manifest;
use toolgate_egress::PlannedRequest;
use toolgate_gateway::connections::services;
use toolgate_plugin_test::log::LogSink;
use toolgate_plugin_test::verdict::{self, TestCriteria, TestVerdict, violations};
use toolgate_plugin_test::{PluginCost, TestCache, TestCall, TestPlugin, plans, record, replay};
use toolgate_runtime::CallEnd;
use toolgate_vault::Secret;

/// Run one tool of a plugin file without a gateway, or show what it would send
#[derive(Debug, Args)]
pub(super) struct RunTool {
    /// The plugin file
    plugin: PathBuf,
    /// Name of the tool, with or without the service
    tool: String,
    /// Arguments as JSON
    #[arg(default_value = "{}")]
    arguments: String,
    /// Send nothing: show the requests up to the first answer that the plugin needs, credentials as their slot
    #[arg(long, conflicts_with_all = ["record", "secret_file"])]
    dry_run: bool,
    /// A connection parameter, KEY=VALUE (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    parameter: Vec<String>,
    /// An operator setting, KEY=VALUE, as of `service configure` (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A field of the credential and the file that holds it, for example secret=token.txt (repeatable)
    #[arg(long, value_name = "FIELD=FILE")]
    secret_file: Vec<String>,
    /// The only slot that is connected [default: every slot whose fields are given]
    #[arg(long, value_name = "NAME")]
    slot: Option<String>,
    /// Continue a list from the `next_cursor` of an earlier run
    #[arg(long)]
    cursor: Option<String>,
    /// Send requests for HOST to URL in its place, for tests (repeatable)
    #[arg(long, value_name = "HOST=URL")]
    allow_upstream: Vec<String>,
    /// Write the call as an example for `plugin test`: requests and answers without credentials
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

impl RunTool {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let cache = test_cache()?;
        let rig = TestPlugin::open(&self.plugin, &self.allow_upstream, &cache).await?;
        let tools = Tool::from_manifest(&rig.manifest, &"".into());
        let tool = tools
            .iter()
            .find(|tool| tool.action() == self.tool || tool.name == self.tool)
            .with_context(|| format!("the plugin has no tool `{}`", self.tool))?;
        let test_call = self.test_call(&rig.manifest, tool)?;
        let violations = violations(tool, &test_call.arguments);
        if !violations.is_empty() {
            bail!("the arguments do not fit: {}", violations.join("; "));
        }
        if self.dry_run {
            return match rig.plan(&test_call).await? {
                (CallEnd::DryRun | CallEnd::Returned(_), planned) => {
                    output.print(&planned, |planned| shown(planned))
                }
                (other, _) => {
                    let sum = replay::shown(&other);
                    let failed = FailedRun::new(other, test_call.log.take());
                    output.print(&failed, FailedRun::text)?;
                    Err(ReportedFailure(sum).into())
                }
            };
        }
        let (ended, exchanges) = rig.run_recorded(&test_call).await?;
        let log = test_call.log.take();
        if let Some(file) = &self.record {
            let sent = exchanges.len();
            let example = record::example(&test_call, &ended, exchanges)
                .with_context(|| format!("nothing to record: {}", replay::shown(&ended)))?;
            let text = serde_json::to_string_pretty(&example)?;
            std::fs::write(file, text + "\n")
                .with_context(|| format!("{} cannot be written", file.display()))?;
            note(&format!(
                "{} holds {sent} exchanges, without credentials; read it before you publish it",
                file.display()
            ));
        }
        match ended {
            CallEnd::Returned(returned) => {
                let data: Value = serde_json::from_str(returned.data.get())?;
                for line in &log {
                    note(&line.to_string());
                }
                let done = LiveResult {
                    result: data,
                    next_cursor: returned.next_cursor,
                };
                output.print(&done, |done| {
                    let next = done.next_cursor.as_ref();
                    let next = next.map(|cursor| format!("\nnext_cursor: {cursor}"));
                    format!("{:#}{}", done.result, next.unwrap_or_default())
                })
            }
            other => {
                let sum = replay::shown(&other);
                output.print(&FailedRun::new(other, log), FailedRun::text)?;
                Err(ReportedFailure(sum).into())
            }
        }
    }

    fn test_call(&self, manifest: &Manifest, tool: &Tool) -> anyhow::Result<TestCall> {
        let mut config = BTreeMap::new();
        for (key, text) in pairs(&self.set)? {
            let declared = manifest.config.iter().find(|known| known.key == key);
            let declared =
                declared.with_context(|| format!("{} has no setting `{key}`", manifest.service))?;
            let value = services::parse_value(&text, &declared.schema);
            config.insert(key, value);
        }
        let mut secrets = BTreeMap::new();
        for (field, file) in pairs(&self.secret_file)? {
            let text =
                std::fs::read_to_string(&file).with_context(|| format!("{file} cannot be read"))?;
            secrets.insert(field, Secret::new(text.trim_end().to_owned()));
        }
        Ok(TestCall {
            tool: tool.action().to_owned(),
            arguments: serde_json::from_str(&self.arguments)
                .context("the arguments are not JSON")?,
            cursor: self.cursor.clone(),
            parameters: pairs(&self.parameter)?.into_iter().collect(),
            config,
            connected: self.slot.clone().map(|slot| vec![slot]),
            secrets: (!self.dry_run).then_some(secrets),
            replayed: false,
            log: LogSink::default(),
        })
    }
}

/// What a live run answered.
#[derive(Debug, Serialize)]
struct LiveResult {
    result: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Plugins are compiled as the gateway does it: what it takes too long for is refused here too.
pub(super) fn test_cache() -> anyhow::Result<TestCache> {
    Ok(TestCache::new()?.compile_with(std::env::current_exe()?))
}

fn pairs(texts: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let pair = |text: &String| {
        let (key, value) = text
            .split_once('=')
            .with_context(|| format!("`{text}` is not KEY=VALUE"))?;
        Ok((key.to_owned(), value.to_owned()))
    };
    texts.iter().map(pair).collect()
}

fn shown(planned: &[PlannedRequest]) -> String {
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
}

/// Show what every tool of plugin files would send, for generated arguments and for its examples
///
/// Sends nothing and needs no credential; a slot replaces it. With --json each call has its arguments,
/// so that a checker can hold the requests against the service's own description.
#[derive(Debug, Args)]
pub(super) struct PlanTools {
    /// Plugin files
    #[arg(required = true)]
    plugins: Vec<PathBuf>,
}

impl PlanTools {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let cache = test_cache()?;
        let mut all = Vec::new();
        for plugin in &self.plugins {
            let plans = plans::plan_file(plugin, &cache).await;
            all.push(plans.with_context(|| plugin.display().to_string())?);
        }
        output.print(&all, |all| {
            let tools = all.iter().flat_map(|plans| {
                let service = &plans.service;
                plans.tools.iter().map(move |tool| (service, tool))
            });
            let lines = tools.flat_map(|(service, tool)| {
                tool.calls.iter().map(move |call| {
                    let cause = call.refused.as_ref().or(call.failed.as_ref());
                    let requests = call.requests.iter();
                    let requests = requests.map(|sent| format!("{} {}", sent.method, sent.url));
                    let told = cause
                        .cloned()
                        .unwrap_or_else(|| requests.collect::<Vec<_>>().join(", "));
                    format!("{service}_{} ({}): {told}", tool.tool, call.called)
                })
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

/// Replay a plugin's examples and try every tool with generated arguments
#[derive(Debug, Args)]
pub(super) struct Test {
    /// Plugin files
    #[arg(required = true)]
    plugins: Vec<PathBuf>,
    /// Folder of plugin folders, where NAME/examples/*.json belong to NAME.wasm
    #[arg(long, value_name = "DIR", default_value = "plugins")]
    examples: PathBuf,
    /// Let a plugin pass that has no example: its tools are tried only with generated arguments
    #[arg(long)]
    without_examples: bool,
}

impl Test {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let cache = test_cache()?;
        let demands = TestCriteria {
            examples: self.examples,
            without_examples: self.without_examples,
        };
        let all = verdict::judge_all(&self.plugins, &demands, &cache).await;
        output.print(&all, |all| {
            let lines = all.iter().map(|tested| {
                let state = if tested.failures.is_empty() {
                    "ok"
                } else {
                    "FAILED"
                };
                let head = format!(
                    "{state} {}: {}, {}",
                    tested.plugin.display(),
                    counted(tested.tools, "tool"),
                    counted(tested.examples, "example")
                );
                let head = head
                    + &tested
                        .cost
                        .map(|cost| weight(tested, &cost))
                        .unwrap_or_default();
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
            let sum = format!("{failed} of {} plugins failed", all.len());
            return Err(ReportedFailure(sum).into());
        }
        Ok(())
    }
}

/// `; 12.3 MB, inspected in 9.1 s, first call 60 ms, then 3.0 ms, 12 MiB`
fn weight(tested: &TestVerdict, cost: &PluginCost) -> String {
    let megabytes = tested.wasm_bytes.div_ceil(100_000);
    format!(
        "; {}.{} MB, inspected in {:.1} s, first call {} ms, then {:.1} ms, {} MiB of memory",
        megabytes / 10,
        megabytes % 10,
        Duration::from_millis(cost.inspect_ms).as_secs_f64(),
        cost.first_call_ms,
        Duration::from_micros(cost.call_us).as_secs_f64() * 1_000.0,
        cost.memory_bytes >> 20
    )
}
