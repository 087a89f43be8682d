//! One verdict on a plugin file: lint, every example replayed, and what every tool would send for
//! generated arguments.
//!
//! A tool passes where its first request is an https address of a granted host without an unfilled
//! template, with the credential slot that the tool names and, where the plugin was made of a
//! description, with the parameters that it requires and a body that is valid against it
//! ([`super::description`]). The sandbox and the egress policy decide the rest, as they do for a call.

use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::Value;

use super::description::Description;
use super::example::{self, Example};
use super::generate::{Fill, value};
use super::replay;
use super::server::ReplayServer;
use super::{PluginCost, TestCache, TestCall, TestPlugin};
use toolgate_catalog::Tool;
use toolgate_egress::PlannedRequest;
use toolgate_runtime::{CallEnd, RefusalKind};

/// What was tested of one plugin, and what failed.
#[derive(Debug, Serialize)]
pub struct TestVerdict {
    pub plugin: PathBuf,
    pub tools: usize,
    pub examples: usize,
    pub wasm_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<PluginCost>,
    pub failures: Vec<String>,
}

/// What a plugin needs in order to pass.
#[derive(Clone, Debug)]
pub struct TestCriteria {
    /// The examples of the service NAME are `examples`/NAME/examples/*.json.
    pub examples: PathBuf,
    /// A plugin without any example passes too.
    pub without_examples: bool,
}

/// Judges several plugins, as many at once as there are cores, in the order given.
pub async fn judge_all(
    plugins: &[PathBuf],
    demands: &TestCriteria,
    cache: &TestCache,
) -> Vec<TestVerdict> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    futures_util::stream::iter(plugins)
        .map(|plugin| judge(plugin, demands, cache))
        .buffered(at_once)
        .collect()
        .await
}

/// Judges the plugin file at `plugin`.
pub async fn judge(plugin: &Path, demands: &TestCriteria, cache: &TestCache) -> TestVerdict {
    let mut verdict = TestVerdict {
        plugin: plugin.to_owned(),
        tools: 0,
        examples: 0,
        wasm_bytes: 0,
        cost: None,
        failures: Vec::new(),
    };
    if let Err(cause) = examine(&mut verdict, plugin, demands, cache).await {
        verdict.failures.push(format!("{cause:#}"));
    }
    verdict
}

async fn examine(
    verdict: &mut TestVerdict,
    plugin: &Path,
    demands: &TestCriteria,
    cache: &TestCache,
) -> anyhow::Result<()> {
    let examples = &demands.examples;
    let inspected = toolgate_runtime::inspect::read(&std::fs::read(plugin)?)
        .map_err(|rejected| anyhow::anyhow!("{}", rejected.reason()))?;
    verdict.wasm_bytes = inspected.size_bytes;
    let folder = examples.join(&inspected.manifest.service).join("examples");
    let mut files = Vec::new();
    let mut read = Vec::new();
    for file in example_files(&folder) {
        verdict.examples += 1;
        match example::read(&file) {
            Ok(example) => {
                files.push(file);
                read.push(example.filled(&inspected.manifest));
            }
            Err(cause) => verdict.failures.push(format!("{cause:#}")),
        }
    }
    if verdict.examples == 0 && !demands.without_examples {
        verdict.failures.push(format!(
            "there is no example: {} has no *.json file. Record one with `toolgate plugin run PLUGIN TOOL ARGUMENTS --record FILE`, \
             name the folder of plugin folders with --examples, or pass --without-examples to try generated arguments alone",
            folder.display()
        ));
    }
    let service = &inspected.manifest.service;
    let description = Description::load(&examples.join(service), service)?;
    let server = ReplayServer::start().await?;
    let rig = TestPlugin::replaying(plugin, &server, &read, cache).await?;
    for tool in Tool::from_manifest(&rig.manifest, &"".into()) {
        verdict.tools += 1;
        verdict
            .failures
            .extend(plans(&rig, &tool, &read, description.as_ref()).await);
    }
    for (file, example) in files.iter().zip(&read) {
        let differences = replay_here(&rig, &server, example).await;
        let place = file.display();
        verdict.failures.extend(
            differences
                .iter()
                .map(|what| format!("{place} ({}): {what}", example.tool)),
        );
    }
    verdict.cost = rig.cost();
    Ok(())
}

async fn replay_here(rig: &TestPlugin, server: &ReplayServer, example: &Example) -> Vec<String> {
    replay::replay(rig, server, example)
        .await
        .unwrap_or_else(|cause| vec![format!("{cause:#}")])
}

fn example_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
}

/// Generated arguments, with the values of the tool's own example where it has them. An optional
/// one that cannot be guessed is left out.
pub(super) fn arguments(tool: &Tool, fill: Fill) -> Value {
    let spec = tool.spec();
    let mut made = value(&spec.input.value(), fill);
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
    let required: Vec<&str> = spec.input.required().collect();
    for violation in violations(tool, &Value::from(map.clone())) {
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

/// The faults of the requests of a tool for generated arguments and for its own examples. A plugin may refuse generated
/// arguments by a rule that no schema expresses; then those of an example file count.
async fn plans(
    rig: &TestPlugin,
    tool: &Tool,
    examples: &[Example],
    description: Option<&Description>,
) -> Vec<String> {
    let generated = [Fill::Required, Fill::All].map(|fill| {
        let called = format!("{fill:?} arguments").to_lowercase();
        (called, arguments(tool, fill))
    });
    let own = tool.spec().examples.iter().enumerate();
    let own = own.map(|(n, example)| (format!("its example {}", n + 1), example.clone()));
    let (mut wrong, mut refusals, mut sent) = (Vec::new(), Vec::new(), false);
    let place = |called: &str, what: String| format!("{} with {called}: {what}", tool.action());
    for (called, arguments) in generated {
        match plan(rig, tool, arguments, description).await {
            PlanOutcome::Sent(failures) => {
                sent = true;
                wrong.extend(failures.into_iter().map(|what| place(&called, what)));
            }
            PlanOutcome::Refused(why) => refusals.push(place(&called, why)),
            PlanOutcome::Failed(why) => wrong.push(place(&called, why)),
        }
    }
    for (called, arguments) in own {
        match plan(rig, tool, arguments, description).await {
            PlanOutcome::Sent(failures) => {
                sent = true;
                wrong.extend(failures.into_iter().map(|what| place(&called, what)));
            }
            PlanOutcome::Refused(why) | PlanOutcome::Failed(why) => wrong.push(place(&called, why)),
        }
    }
    let replayed = examples
        .iter()
        .filter(|example| example.tool == tool.action() && example.result.is_some())
        .filter_map(|example| example.arguments.clone());
    for arguments in replayed {
        if sent {
            break;
        }
        sent = matches!(plan(rig, tool, arguments, description).await, PlanOutcome::Sent(wrong) if wrong.is_empty());
    }
    if !sent && wrong.is_empty() {
        wrong = refusals;
    }
    wrong
}

/// How a planned call ended.
enum PlanOutcome {
    /// Its request, and what is wrong with it.
    Sent(Vec<String>),
    /// The plugin refused these arguments.
    Refused(String),
    Failed(String),
}

async fn plan(
    rig: &TestPlugin,
    tool: &Tool,
    arguments: Value,
    description: Option<&Description>,
) -> PlanOutcome {
    let violations = violations(tool, &arguments);
    if !violations.is_empty() {
        let all = violations.join("; ");
        return PlanOutcome::Failed(format!("the arguments do not fit their schema: {all}"));
    }
    let test_call = TestCall {
        tool: tool.action().to_owned(),
        arguments,
        ..TestCall::default()
    };
    match rig.plan(&test_call).await {
        Ok((CallEnd::DryRun, requests)) => PlanOutcome::Sent(
            requests
                .iter()
                .flat_map(|request| {
                    let mut wrong = judge_request(tool, request);
                    if let Some(description) = description {
                        wrong.extend(description.judge(tool.action(), request));
                    }
                    wrong
                })
                .collect(),
        ),
        Ok((CallEnd::Refused(refusal), _)) if refusal.kind == RefusalKind::InvalidArguments => {
            PlanOutcome::Refused(refusal.message)
        }
        Ok((ended, _)) => PlanOutcome::Failed(replay::shown(&ended)),
        Err(cause) => PlanOutcome::Failed(format!("{cause:#}")),
    }
}

/// What is wrong with a request that the egress policy let pass.
fn judge_request(tool: &Tool, request: &PlannedRequest) -> Vec<String> {
    let mut wrong = Vec::new();
    if !request.url.starts_with("https://") {
        wrong.push(format!("{} is not an https URL", request.url));
    }
    let path = request.url.split('?').next().unwrap_or_default();
    if path.contains(['{', '}']) || path.contains("%7B") {
        wrong.push(format!("{path} has an unfilled template"));
    }
    let spec = tool.spec();
    let needs = !spec.auth.is_empty() && !spec.auth_optional;
    let named = request.url.contains("[slot ")
        || request.url.contains("%5Bslot")
        || request.body.contains("[slot ")
        || request
            .headers
            .iter()
            .any(|(_, value)| value.contains("[slot "));
    if needs && !named {
        wrong.push(format!("{path} names no credential slot"));
    }
    wrong
}

/// What is wrong with the arguments of a tool, each with its place.
pub fn violations(tool: &Tool, arguments: &Value) -> Vec<String> {
    tool.validate(arguments)
        .iter()
        .map(|violation| format!("{} {}", violation.path, violation.message))
        .collect()
}
