//! The JSON that goes in and out: `start` and `resume` of `wit/engine.wit`.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::GuestFailure;
use crate::state::GuestState;
use crate::text::json_string;

#[derive(Deserialize)]
pub(crate) struct GuestStart<'a> {
    pub(crate) script: String,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) services: Vec<String>,
    pub(crate) now_ms: i64,
    /// A `u64` in decimal digits.
    pub(crate) seed: String,
}

#[derive(Deserialize)]
pub(crate) struct GuestOutcome<'a> {
    pub(crate) step: u32,
    pub(crate) now_ms: i64,
    #[serde(borrow, default)]
    pub(crate) ok: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) error: Option<OutcomeError>,
}

#[derive(Deserialize)]
pub(crate) struct OutcomeError {
    pub(crate) code: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) can_retry: bool,
    #[serde(default)]
    pub(crate) connect_url: Option<String>,
}

/// Whether a script is over.
pub(crate) enum GuestEnd {
    Waiting,
    /// The result as JSON.
    Done(String),
    Failed(GuestFailure),
}

/// The turn as JSON. Takes what `state` has to tell.
pub(crate) fn turn_text(state: &mut GuestState, end: &GuestEnd) -> String {
    let end = match end {
        GuestEnd::Waiting => "null".to_owned(),
        GuestEnd::Done(result) => {
            let pending: Vec<String> = state.pending_steps().map(|step| step.to_string()).collect();
            format!("{{\"ok\":{result},\"unawaited\":[{}]}}", pending.join(","))
        }
        GuestEnd::Failed(failure) => format!("{{\"error\":{}}}", failure_text(failure)),
    };
    format!("{{{},\"end\":{end}}}", state.take_turn())
}

fn failure_text(failure: &GuestFailure) -> String {
    let number = |value: Option<u32>| value.map_or_else(|| "null".to_owned(), |v| v.to_string());
    format!(
        "{{\"name\":{},\"message\":{},\"line\":{},\"column\":{},\"code\":{},\"step\":{}}}",
        json_string(&failure.name),
        json_string(&failure.message),
        number(failure.place.map(|place| place.line)),
        number(failure.place.map(|place| place.column)),
        failure
            .code
            .as_deref()
            .map_or_else(|| "null".to_owned(), json_string),
        number(failure.step),
    )
}
