//! Scripts over REST: their runs read back, with progress while they run.

use std::time::Duration;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Remote, bounded, sent, wire, with_body};
use toolgate_core::clock::parse_rfc3339;
use toolgate_gateway::Error;
use toolgate_gateway::scripts::{
    PlannedScriptCall, RunScript, ScriptCall, ScriptCallStatus, ScriptError, ScriptLog,
    ScriptPause, ScriptRun, ScriptStatus,
};
use toolgate_gateway::tools::CallListener;

/// Longer than any run of a script.
const RUN_TIMEOUT: Duration = Duration::from_secs(200);

#[derive(Deserialize)]
struct ScriptRunAnswer {
    run_id: String,
    status: ScriptStatus,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<ScriptError>,
    #[serde(default)]
    pause: Option<ScriptPause>,
    #[serde(default)]
    plan: Vec<PlannedScriptCall>,
    #[serde(default)]
    logs: Vec<ScriptLog>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    calls: Vec<ScriptCallAnswer>,
    execution_id: String,
}

#[derive(Deserialize)]
struct ScriptCallAnswer {
    step: u32,
    tool: String,
    #[serde(default)]
    line: Option<u32>,
    status: ScriptCallStatus,
    #[serde(default)]
    execution_id: Option<String>,
    #[serde(default)]
    started_at: Option<String>,
    #[serde(default)]
    duration_ms: Option<u64>,
}

impl From<ScriptCallAnswer> for ScriptCall {
    fn from(call: ScriptCallAnswer) -> Self {
        Self {
            step: call.step,
            tool: call.tool,
            line: call.line,
            status: call.status,
            execution_id: call.execution_id,
            started_at_ms: call.started_at.as_deref().and_then(parse_rfc3339),
            duration_ms: call.duration_ms,
        }
    }
}

impl From<ScriptRunAnswer> for ScriptRun {
    fn from(run: ScriptRunAnswer) -> Self {
        Self {
            run_id: run.run_id,
            status: run.status,
            result: run.result,
            error: run.error,
            pause: run.pause,
            plan: run.plan,
            logs: run.logs,
            warnings: run.warnings,
            calls: run.calls.into_iter().map(ScriptCall::from).collect(),
            execution_id: run.execution_id,
        }
    }
}

#[derive(Deserialize)]
struct CodeModeAnswer {
    enabled: bool,
}

impl Remote {
    /// Runs a script, answered as it is documented, without its envelope. What it tells goes to `listener`.
    pub async fn call_script(&self, body: Value, listener: &CallListener) -> Result<Value, Error> {
        let request = self.request(Method::POST, &["scripts", "run"], &[])?;
        let request = with_body(request, Some(body)).timeout(RUN_TIMEOUT);
        self.watch(request, listener).await
    }

    /// Resumes a run, answered in the same way.
    pub async fn call_resume(&self, run_id: &str) -> Result<Value, Error> {
        let path = ["scripts", "runs", run_id, "resume"];
        let request = self.request(Method::POST, &path, &[])?;
        self.answer(request.timeout(RUN_TIMEOUT)).await
    }

    pub(super) async fn workspace_code_mode(&self) -> Result<bool, Error> {
        let mode: CodeModeAnswer = self.get(&["code-mode"], &[]).await?;
        Ok(mode.enabled)
    }

    pub(super) async fn ran_script(&self, request: RunScript) -> Result<ScriptRun, Error> {
        let mut body = json!({
            "script": request.script,
            "arguments": request.arguments,
            "dry_run": request.dry_run,
        });
        if let Some(session_id) = request.session_id {
            body["session_id"] = session_id.into();
        }
        script_run(self.call_script(body, &request.listener).await?)
    }

    pub(super) async fn resumed_script(&self, run_id: &str) -> Result<ScriptRun, Error> {
        script_run(self.call_resume(run_id).await?)
    }

    /// The declarations of tools in TypeScript, which come without an envelope.
    pub async fn declared_types(&self, query: &[(&str, String)]) -> Result<String, Error> {
        let request = self.request(Method::GET, &["tools", "types"], query)?;
        let answer = sent(request).await?;
        let status = answer.status();
        let body = bounded(answer).await?;
        match status.is_success() {
            true => Ok(String::from_utf8_lossy(&body).into_owned()),
            false => Err(wire::refusal(status.as_u16(), &body)),
        }
    }
}

fn script_run(answer: Value) -> Result<ScriptRun, Error> {
    let run: ScriptRunAnswer = serde_json::from_value(answer).map_err(anyhow::Error::from)?;
    Ok(run.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_comes_back_as_what_it_was() {
        let sent = json!({
            "run_id": "run_1", "status": "paused",
            "pause": {
                "reason": "approval", "step": 1, "tool": "demo_write", "approval_id": "apr_1",
                "approval_url": "https://gateway.example.com/approvals/apr_1", "message": "Wait.",
            },
            "plan": [],
            "warnings": [],
            "logs": [{ "level": "warn", "text": "slow" }],
            "calls": [{
                "step": 0, "tool": "demo_read", "line": 2, "status": "ok", "execution_id": "exe_2",
                "started_at": "2026-11-20T09:30:00.125Z", "duration_ms": 7,
            }],
            "execution_id": "exe_1",
        });
        let run = script_run(sent.clone()).unwrap();
        assert_eq!(serde_json::to_value(&run).unwrap(), sent);
        assert!(script_run(json!({ "run_id": "run_1" })).is_err());
    }
}
