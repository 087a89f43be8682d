//! `toolgate run`: one script that calls tools, for a person at a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;
use serde_json::{Map, Value, json};

use super::arguments;
use super::exec::{CLEAR_LINE, on_the_terminal, pretty};
use super::exit_status::{Unsuccessful, WrongUse};
use super::gateway_client::{GatewayAddress, KEY_HELP, items, text};
use super::output::{OutputFormat, note};
use toolgate_gateway::tools::CallListener;

#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(super) struct RunScriptFile {
    /// File with the script, a module in JavaScript or TypeScript, or - for standard input
    #[arg(value_name = "FILE", required_unless_present = "resume")]
    file: Option<String>,
    /// What the script finds in `args`; values are JSON where they can be read as JSON, else text
    #[arg(value_name = "NAME=VALUE")]
    pairs: Vec<String>,
    /// Arguments as one JSON object, @FILE or - for standard input
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
    /// Make the calls that read, and list those that would write
    #[arg(long)]
    dry_run: bool,
    /// Go on with a run that was paused, by its id
    #[arg(long, value_name = "RUN", conflicts_with_all = ["file", "pairs", "arguments", "dry_run", "user", "session"])]
    resume: Option<String>,
    /// User to run for [default: the key's]
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Session of all calls [default: each call has its own]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    #[command(flatten)]
    server: GatewayAddress,
}

impl RunScriptFile {
    pub(super) async fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let run = match &self.resume {
            Some(run_id) => self.server.resume_script(run_id).await?,
            None => {
                let listener = match !output.json && io::stderr().is_terminal() {
                    true => on_the_terminal(),
                    false => CallListener::default(),
                };
                let run = self.server.run_script(self.body()?, &listener).await;
                if listener.events.is_some() {
                    let _ = write!(io::stderr(), "{CLEAR_LINE}");
                }
                run?
            }
        };
        ended(&run, output)
    }

    fn body(&self) -> anyhow::Result<Value> {
        let file = self.file.as_deref().unwrap_or("-");
        let script = arguments::file(file)?;
        let mut given = match &self.arguments {
            Some(text) => arguments::object(text).map_err(WrongUse::new)?,
            None => Map::new(),
        };
        for pair in &self.pairs {
            arguments::add(&mut given, pair, &Value::Null).map_err(WrongUse::new)?;
        }
        let mut body = json!({ "script": script, "arguments": given, "dry_run": self.dry_run });
        for (field, value) in [("user_id", &self.user), ("session_id", &self.session)] {
            if let Some(value) = value {
                body[field] = value.as_str().into();
            }
        }
        Ok(body)
    }
}

/// The document has all of a run; a person reads its log, its result and the next step.
fn ended(run: &Value, output: OutputFormat) -> anyhow::Result<()> {
    if !output.json {
        for line in items(run, "logs") {
            note(&format!("{}: {}", text(line, "level"), text(line, "text")));
        }
        for warning in items(run, "warnings").iter().filter_map(Value::as_str) {
            note(&format!("warning: {warning}"));
        }
    }
    match text(run, "status") {
        "done" => output.print(run, |run| pretty(&run["result"])),
        "planned" => output.print(run, planned),
        _ => {
            if output.json {
                output.print(run, |_| String::new())?;
            }
            Err(Unsuccessful {
                said: next_step(run),
                is_of_provider: false,
            }
            .into())
        }
    }
}

fn planned(run: &Value) -> String {
    let calls = items(run, "plan");
    if calls.is_empty() {
        return "The script would write nothing.".to_owned();
    }
    let line = |call: &Value| format!("{} {}", text(call, "tool"), call["arguments"]);
    let lines: Vec<String> = calls.iter().map(line).collect();
    lines.join("\n")
}

/// Why the run gave no result, and what to do.
fn next_step(run: &Value) -> String {
    let run_id = text(run, "run_id");
    let again = format!("toolgate run --resume {run_id}");
    match text(run, "status") {
        "paused" => {
            let pause = &run["pause"];
            let message = text(pause, "message");
            let link = match text(pause, "connect_url") {
                "" => text(pause, "approval_url"),
                url => url,
            };
            match link {
                "" => format!("{message}\nThen go on with the run:\n  {again}"),
                url => format!(
                    "{message}\nOpen this link:\n  {url}\nThen go on with the run:\n  {again}"
                ),
            }
        }
        "running" => format!("The run is under way. Go on with it later:\n  {again}"),
        "cancelled" => format!("The run {run_id} was cancelled."),
        _ => {
            let error = &run["error"];
            let mut said = format!("{}: {}", text(error, "name"), text(error, "message"));
            if let Some(code) = error["code"].as_str() {
                said.push_str(&format!(" ({code})"));
            }
            if let Some(line) = error["line"].as_u64() {
                said.push_str(&format!("\nLine: {line}"));
            }
            said.push_str(&format!("\nReceipt: {}", text(run, "execution_id")));
            said
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_without_a_result_says_the_next_step() {
        let paused = json!({"run_id": "run_1", "status": "paused", "pause": {"message": "Connect.", "connect_url": "http://x/connect/y"}});
        let said = next_step(&paused);
        for part in ["http://x/connect/y", "toolgate run --resume run_1"] {
            assert!(said.contains(part), "{said}");
        }
        let asks = json!({"run_id": "run_1", "status": "paused", "pause": {"message": "Wait.", "approval_url": "http://x/approvals/z"}});
        assert!(next_step(&asks).contains("http://x/approvals/z"));
        let no_link = json!({"run_id": "run_1", "status": "paused", "pause": {"message": "Wait."}});
        assert!(!next_step(&no_link).contains("Open this link"));
        let failed = json!({"status": "failed", "execution_id": "exe_1", "error": {"name": "ToolError", "message": "No such page.", "code": "not_found", "line": 3}});
        let said = next_step(&failed);
        for part in ["ToolError: No such page. (not_found)", "Line: 3", "exe_1"] {
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn a_plan_has_one_line_for_each_call() {
        let run = json!({"plan": [{"tool": "a_b", "arguments": {"n": 1}}, {"tool": "a_c", "arguments": {}}]});
        assert_eq!(planned(&run), "a_b {\"n\":1}\na_c {}");
        assert_eq!(planned(&json!({})), "The script would write nothing.");
    }
}
