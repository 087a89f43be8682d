//! What a tool can use during a call: settings, time, its page, log, progress and partial results.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::ToolError;
use crate::host;
pub use crate::log_level::LogLevel;

/// What the host passes for one call in addition to the arguments.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The gateway's session, for tools of several steps.
    pub session: Option<String>,
    /// The cursor of the requested page.
    pub cursor: Option<String>,
}

/// One running call.
#[derive(Debug)]
pub struct Context {
    facts: Facts,
    slots: &'static [&'static str],
    auth_optional: bool,
    chosen: OnceCell<Option<&'static str>>,
}

/// Milliseconds since 1970-01-01 UTC, for code that has no [`Context`] at hand.
pub fn now_ms() -> u64 {
    host::now_ms()
}

impl Context {
    pub(crate) fn new(facts: Facts, slots: &'static [&'static str], auth_optional: bool) -> Self {
        Self {
            facts,
            slots,
            auth_optional,
            chosen: OnceCell::new(),
        }
    }

    /// The credential slot for this call: the first of the tool's slots that is connected. When
    /// none is, the first one, so that the host asks the user to connect it; none for a tool that also
    /// runs without one.
    pub fn slot(&self) -> Option<&'static str> {
        *self
            .chosen
            .get_or_init(|| match (self.slots, self.auth_optional) {
                ([], _) => None,
                ([only], false) => Some(only),
                (slots, optional) => {
                    let connected = slots.iter().copied().find(|slot| host::connected(slot));
                    connected.or(if optional {
                        None
                    } else {
                        slots.first().copied()
                    })
                }
            })
    }

    /// An operator's setting or a connection parameter; none when unset. Never a secret.
    pub fn config<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        let Some(text) = host::config(key) else {
            return Ok(None);
        };
        serde_json::from_str(&text).map_err(|error| {
            ToolError::internal(format!("the setting {key} has an unexpected form: {error}"))
        })
    }

    /// The cursor of the page that the caller asks for; none for the first page.
    pub fn cursor(&self) -> Option<&str> {
        self.facts.cursor.as_deref()
    }

    /// The cursor of a tool whose pages are numbered, `first` for the first page.
    pub fn page_number(&self, first: u64) -> Result<u64, ToolError> {
        match self.cursor() {
            None => Ok(first),
            Some(text) => text.parse().map_err(|_| {
                ToolError::invalid("/cursor", "the cursor is not one that this tool gave out")
            }),
        }
    }

    /// The gateway's session, for tools of several steps.
    pub fn session(&self) -> Option<&str> {
        self.facts.session.as_deref()
    }

    /// Milliseconds since 1970-01-01 UTC.
    pub fn now_ms(&self) -> u64 {
        host::now_ms()
    }

    /// Milliseconds until the call's time limit.
    pub fn remaining_ms(&self) -> u64 {
        host::remaining_ms()
    }

    /// Whether the caller has cancelled the call. A long call checks it between two steps and then ends with
    /// [`ToolError::cancelled`].
    pub fn cancelled(&self) -> bool {
        host::cancelled()
    }

    /// Random bytes of the host.
    pub fn random_bytes(&self, count: u32) -> Vec<u8> {
        host::random_bytes(count)
    }

    /// A line in the gateway's log. Never put arguments, bodies or personal data into it.
    pub fn log(&self, level: LogLevel, message: &str, fields: &Value) {
        host::log(level, message, &fields.to_string());
    }

    /// How far a long call has come. A client over MCP or a stream of REST sees it while the call runs.
    pub fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        host::progress(done, total, message);
    }

    /// A part of the result, sent before the complete one to callers that read a stream of REST. The result
    /// has to contain it too: most callers do not read the stream.
    pub fn partial(&self, data: &Value) {
        host::partial(&data.to_string());
    }
}
