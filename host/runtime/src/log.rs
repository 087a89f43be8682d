//! What the lines that a plugin writes into the log belong to, and who sees them too.

use std::fmt;
use std::sync::Arc;

use super::bindings::types;
use toolgate_core::text::Text;

/// How loud a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLevel {
    Debug,
    Info,
    Warn,
    Error,
}

impl fmt::Display for LineLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        })
    }
}

impl From<types::LogLevel> for LineLevel {
    fn from(level: types::LogLevel) -> Self {
        match level {
            types::LogLevel::Debug => Self::Debug,
            types::LogLevel::Info => Self::Info,
            types::LogLevel::Warn => Self::Warn,
            types::LogLevel::Error => Self::Error,
        }
    }
}

/// Is given each line of a call too, scrubbed and cut.
pub type LogObserver = Arc<dyn Fn(LineLevel, &str) + Send + Sync>;

/// What the lines of one call carry.
#[derive(Clone, Default)]
pub struct CallLog {
    /// Id of the call's receipt; none where there will be none.
    pub execution_id: Option<Text>,
    pub observer: Option<LogObserver>,
}
