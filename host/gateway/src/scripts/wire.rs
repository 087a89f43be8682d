//! What goes to the engine of scripts and what comes back. What comes back was written by a hostile script as far as its
//! texts go, and is bounded by who uses it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{ScriptError, ScriptLog};
use crate::tools::idempotency::canonical;

/// The input of `start`. The journal keeps its text, which a resumed run gives to the engine again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EngineStart {
    pub script: String,
    pub arguments: Value,
    /// Services whose tools the user may run.
    pub services: Vec<String>,
    pub now_ms: i64,
    /// Of `Math.random`: a 64-bit number as decimal text.
    pub seed: String,
}

/// What a turn answers.
#[derive(Debug, Deserialize)]
pub(super) struct EngineTurn {
    #[serde(default)]
    pub steps: Vec<EngineStep>,
    #[serde(default)]
    pub logs: Vec<ScriptLog>,
    #[serde(default)]
    pub progress: Vec<EngineProgress>,
    /// Present once the script's main promise is settled.
    #[serde(default)]
    pub end: Option<EngineEnd>,
}

impl EngineTurn {
    /// # Errors
    /// The engine answered something else: a script has broken it.
    pub(super) fn parse(text: &str) -> Result<Self, ScriptError> {
        serde_json::from_str(text).map_err(|_| {
            run_error(
                "script_crashed",
                "the engine of scripts gave no readable answer",
            )
        })
    }
}

/// One thing that the script asks for.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct EngineStep {
    pub step: u32,
    pub kind: EngineStepKind,
    #[serde(default)]
    pub service: String,
    #[serde(default)]
    pub function: String,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
    #[serde(default)]
    pub line: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub(super) enum EngineStepKind {
    Tool,
    Search,
    Describe,
    Skill,
    Sleep,
}

impl EngineStep {
    /// The arguments as the script wrote them; empty where there are none.
    pub(super) fn arguments_text(&self) -> &str {
        match self.arguments.as_deref().map(RawValue::get) {
            None | Some("null") => "",
            Some(text) => text,
        }
    }

    /// The arguments; null where there are none or they are too deep to be read.
    pub(super) fn arguments(&self) -> Value {
        serde_json::from_str(self.arguments_text()).unwrap_or_default()
    }

    /// SHA-256 of all that decides what the step does, hexadecimal: a resumed script has to ask for the same.
    pub(super) fn fingerprint(&self) -> String {
        let arguments: Value = match serde_json::from_str(self.arguments_text()) {
            Ok(arguments) => arguments,
            // Absent, or deeper than a parser goes: compared as they are written.
            Err(_) => Value::String(self.arguments_text().to_owned()),
        };
        let asked = serde_json::json!([self.kind, self.service, self.function, arguments]);
        hex::encode(Sha256::digest(canonical(&asked).as_bytes()))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct EngineProgress {
    #[serde(default)]
    pub done: Option<f64>,
    #[serde(default)]
    pub total: Option<f64>,
    #[serde(default)]
    pub message: Option<String>,
}

/// How the script's main promise was settled: with an error where there is one.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct EngineEnd {
    #[serde(default)]
    pub ok: Value,
    /// Steps that the script did not wait for.
    #[serde(default)]
    pub unawaited: Vec<u32>,
    #[serde(default)]
    pub error: Option<EngineError>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct EngineError {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    column: Option<u32>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    step: Option<u32>,
}

impl From<EngineError> for ScriptError {
    fn from(error: EngineError) -> Self {
        Self {
            name: error.name.unwrap_or_else(|| "Error".to_owned()),
            message: error.message.unwrap_or_default(),
            code: error.code,
            line: error.line,
            column: error.column,
            step: error.step,
        }
    }
}

/// An error of the gateway's own.
pub(super) fn run_error(code: &str, message: impl Into<String>) -> ScriptError {
    ScriptError {
        name: "RunError".to_owned(),
        message: message.into(),
        code: Some(code.to_owned()),
        line: None,
        column: None,
        step: None,
    }
}

/// Why a step failed, as the script catches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct StepFailure {
    pub code: String,
    pub message: String,
    pub can_retry: bool,
    pub connect_url: Option<String>,
}

impl StepFailure {
    pub(super) fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            can_retry: false,
            connect_url: None,
        }
    }
}

/// The value of a step, or why it has none.
pub(super) type StepValue = Result<Box<RawValue>, StepFailure>;

/// The input of `resume`: the outcome of one step.
pub(super) fn outcome_text(
    step: u32,
    now_ms: i64,
    value: &StepValue,
) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct OutcomeText<'a> {
        step: u32,
        now_ms: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        ok: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a StepFailure>,
    }
    serde_json::to_string(&OutcomeText {
        step,
        now_ms,
        ok: value.as_deref().ok(),
        error: value.as_ref().err(),
    })
}

/// A value of our own as the outcome of a step.
pub(super) fn step_value(value: &impl Serialize) -> StepValue {
    let written = serde_json::to_string(value).and_then(RawValue::from_string);
    written.map_err(|_| StepFailure::new("internal_error", "the outcome cannot be written as JSON"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(text: &str) -> EngineStep {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_turn_reads_as_the_engine_writes_it() {
        let turn = r#"{"steps":[{"step":0,"kind":"tool","service":"github","function":"createIssue",
            "arguments":{"n":36893488147419103232},"line":3}],"logs":[{"level":"info","text":"a"}],
            "progress":[{"done":1,"total":3,"message":"m"}],"end":null}"#;
        let turn = EngineTurn::parse(turn).unwrap();
        assert_eq!(turn.steps[0].kind, EngineStepKind::Tool);
        assert_eq!(
            turn.steps[0].arguments_text(),
            r#"{"n":36893488147419103232}"#,
            "digits stay"
        );
        assert_eq!(turn.steps[0].line, Some(3));
        assert!(turn.end.is_none());
        let end = r#"{"steps":[],"logs":[],"progress":[],"end":{"ok":null,"unawaited":[4]}}"#;
        let end = EngineTurn::parse(end).unwrap().end.unwrap();
        assert!(end.error.is_none());
        assert_eq!((end.ok, end.unawaited), (Value::Null, vec![4]));
        let failed = r#"{"end":{"error":{"name":"ToolError","message":"m","line":2,"column":7,"code":"not_found","step":1}}}"#;
        let end = EngineTurn::parse(failed).unwrap().end.unwrap();
        let error = ScriptError::from(end.error.unwrap());
        assert_eq!((error.line, error.step), (Some(2), Some(1)));
        for broken in ["", "null", r#"{"steps":[{"step":0,"kind":"fetch"}]}"#] {
            let refused = EngineTurn::parse(broken).unwrap_err();
            assert_eq!(refused.code.as_deref(), Some("script_crashed"), "{broken}");
        }
    }

    #[test]
    fn a_fingerprint_is_of_what_the_step_does() {
        let one = step(
            r#"{"step":0,"kind":"tool","service":"a","function":"b","arguments":{"x":1,"y":2},"line":1}"#,
        );
        let same = step(
            r#"{"step":7,"kind":"tool","service":"a","function":"b","arguments":{"y":2,"x":1},"line":9}"#,
        );
        assert_eq!(one.fingerprint(), same.fingerprint());
        for other in [
            r#"{"step":0,"kind":"tool","service":"a","function":"b","arguments":{"x":1,"y":3}}"#,
            r#"{"step":0,"kind":"tool","service":"a","function":"c","arguments":{"x":1,"y":2}}"#,
            r#"{"step":0,"kind":"search","service":"a","function":"b","arguments":{"x":1,"y":2}}"#,
            r#"{"step":0,"kind":"tool","service":"a","function":"b"}"#,
        ] {
            assert_ne!(one.fingerprint(), step(other).fingerprint(), "{other}");
        }
        assert_eq!(one.fingerprint().len(), 64);
    }

    #[test]
    fn an_outcome_is_written_as_the_engine_reads_it() {
        let value = step_value(&json!({ "number": 7 }));
        let text = outcome_text(3, 12, &value).unwrap();
        assert_eq!(text, r#"{"step":3,"now_ms":12,"ok":{"number":7}}"#);
        let failed = Err(StepFailure::new("not_found", "gone"));
        assert_eq!(
            outcome_text(0, 12, &failed).unwrap(),
            r#"{"step":0,"now_ms":12,"error":{"code":"not_found","message":"gone","can_retry":false,"connect_url":null}}"#
        );
    }
}
