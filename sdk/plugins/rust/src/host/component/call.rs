//! The running call: settings, time, log, progress and partial results.

use crate::bindings::toolgate::plugin::{call, types};
use crate::log_level::LogLevel;

pub(crate) fn config(key: &str) -> Option<String> {
    call::config(key)
}

pub(crate) fn now_ms() -> u64 {
    call::now_ms()
}

pub(crate) fn remaining_ms() -> u64 {
    call::remaining_ms()
}

pub(crate) fn cancelled() -> bool {
    call::cancelled()
}

pub(crate) fn random_bytes(count: u32) -> Vec<u8> {
    call::random_bytes(count)
}

pub(crate) fn log(level: LogLevel, message: &str, fields: &str) {
    let level = match level {
        LogLevel::Debug => types::LogLevel::Debug,
        LogLevel::Info => types::LogLevel::Info,
        LogLevel::Warn => types::LogLevel::Warn,
        LogLevel::Error => types::LogLevel::Error,
    };
    call::log(level, message, fields);
}

pub(crate) fn progress(done: u64, total: Option<u64>, message: &str) {
    call::progress(done, total, message);
}

pub(crate) fn partial(data: &str) {
    call::partial(data);
}
