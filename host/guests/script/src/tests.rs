//! Whole scripts, through `start` and `resume`.

mod errors;
mod hostile;
mod limits;
mod runs;
mod syntax;

use serde_json::{Value, json};

use crate::GuestScript;

/// A script under test.
pub(super) struct Driven {
    script: GuestScript,
    pub(super) turn: Value,
}

impl Driven {
    pub(super) fn start(script: &str) -> Self {
        Self::start_with(script, json!({"name": "toolgate"}))
    }

    pub(super) fn start_with(script: &str, arguments: Value) -> Self {
        let start = json!({
            "script": script, "arguments": arguments, "services": ["github", "slack", "class"],
            "now_ms": 1_700_000_000_000_i64, "seed": "18446744073709551615",
        });
        let mut engine = GuestScript::new().unwrap();
        let turn = serde_json::from_str(&engine.start(&start.to_string())).unwrap();
        Self {
            script: engine,
            turn,
        }
    }

    pub(super) fn give(&mut self, outcome: Value) -> &Value {
        self.turn = serde_json::from_str(&self.script.resume(&outcome.to_string())).unwrap();
        &self.turn
    }

    pub(super) fn give_ok(&mut self, step: u32, ok: Value) -> &Value {
        self.give(json!({"step": step, "now_ms": 1_700_000_001_000_i64, "ok": ok}))
    }

    pub(super) fn give_error(&mut self, step: u32, code: &str) -> &Value {
        let error = json!({"code": code, "message": "it failed", "can_retry": true, "connect_url": "https://c.example"});
        self.give(json!({"step": step, "now_ms": 1_700_000_001_000_i64, "error": error}))
    }

    pub(super) fn logged(&self) -> Vec<String> {
        let logs = self.turn["logs"].as_array().unwrap();
        logs.iter()
            .map(|log| log["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// The result of a script that ends in its first turn.
pub(super) fn result_of(script: &str) -> Value {
    let driven = Driven::start(script);
    let end = &driven.turn["end"];
    assert!(end.get("ok").is_some(), "{}", driven.turn);
    end["ok"].clone()
}

/// The failure of a script that ends in its first turn.
pub(super) fn failure_of(script: &str) -> Value {
    let driven = Driven::start(script);
    let error = &driven.turn["end"]["error"];
    assert!(error.is_object(), "{}", driven.turn);
    error.clone()
}
