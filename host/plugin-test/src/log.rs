//! What a plugin wrote into its log during a test call.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use toolgate_runtime::LogObserver;

/// One line as in the gateway's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoggedLine {
    pub level: String,
    pub message: String,
}

impl fmt::Display for LoggedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log {}: {}", self.level, self.message)
    }
}

/// Takes the lines of a call.
#[derive(Clone, Debug, Default)]
pub struct LogSink(Arc<Mutex<Vec<LoggedLine>>>);

impl LogSink {
    pub(super) fn observer(&self) -> LogObserver {
        let lines = Arc::clone(&self.0);
        Arc::new(move |level, message| {
            let line = LoggedLine {
                level: level.to_string(),
                message: message.to_owned(),
            };
            lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line);
        })
    }

    /// Takes the lines so far.
    pub fn take(&self) -> Vec<LoggedLine> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
