//! The host's state of one running call, and the imports of the call itself (`toolgate:plugin/call`).

mod events;
mod lines;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rand::Rng as _;
use rand::rngs::StdRng;
use tokio::time::Instant;
use wasmtime::component::ResourceTable;

use super::bindings::{call as wit, types};
use super::blob::CallFile;
use super::limits;
use super::listener::{CallListener, EventCounts};
use super::log::CallLog;
use super::meter::BudgetedMeter;
use super::processor_time::ProcessorTime;
use super::random::Random;
use super::wasi::Wasi;
use toolgate_egress::{CallScope, Egress};

/// State that a plugin keeps between calls of one session. The gateway implements it on the store.
pub trait KeyValue: Send + Sync {
    fn get<'a>(&'a self, key: &'a str)
    -> BoxFuture<'a, Result<Option<StoredValue>, KeyValueError>>;
    /// `if_version`: `None` sets always, 0 only where there is no value, else only over that version. Returns the new
    /// version.
    fn set<'a>(
        &'a self,
        key: &'a str,
        value: &'a [u8],
        ttl_seconds: Option<u32>,
        if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>>;
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>>;
    fn list<'a>(
        &'a self,
        prefix: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<KeyPage, KeyValueError>>;
}

/// Keys in order, and the cursor of the next page.
pub(crate) type KeyPage = (Vec<String>, Option<String>);

/// A stored value and its version, which starts at 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    pub value: Vec<u8>,
    pub version: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyValueError {
    #[error("the value was changed by somebody else")]
    Conflict,
    #[error("the session's storage for this service is full")]
    Full,
    #[error("the session's storage cannot be reached")]
    Unavailable,
}

/// The host's side of one call; lives exactly as long as the guest's instance.
pub(crate) struct Guest {
    pub(super) service: Arc<str>,
    pub(super) egress: Egress,
    pub(super) scope: Arc<CallScope>,
    pub(super) kv: Arc<dyn KeyValue>,
    pub(super) config: Arc<BTreeMap<String, String>>,
    pub(super) deadline: Instant,
    pub(super) now_ms: i64,
    pub(super) random: Random,
    pub(super) seeded: Option<StdRng>,
    pub(super) response_bytes_max: usize,
    pub(super) table: ResourceTable,
    pub(super) limiter: BudgetedMeter,
    pub(super) blob_bytes: usize,
    pub(super) files: Arc<[CallFile]>,
    pub(super) processor_time: ProcessorTime,
    /// The tool that runs; empty while a delivery is read.
    pub(super) tool: String,
    pub(super) log: CallLog,
    pub(super) log_lines: u32,
    pub(super) listener: CallListener,
    pub(super) event_counts: EventCounts,
    /// The message of the last panic.
    pub(super) panic: Option<String>,
    pub(super) wasi: Option<Box<Wasi>>,
}

impl Guest {
    pub(super) fn remaining(&self) -> std::time::Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// `text` without control characters and at most `bytes_max` long, cut at a character's border.
pub(super) fn cut(text: &str, bytes_max: usize) -> String {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end]
        .chars()
        .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
        .collect()
}

/// A refusal of the host in the plugin contract's form.
pub(super) fn refused(kind: types::ErrorKind, message: &str) -> types::ToolError {
    types::ToolError {
        kind,
        code: None,
        message: message.to_owned(),
        retry_after_ms: None,
        http_status: None,
        field: None,
        details: None,
    }
}

impl types::Host for Guest {}

impl wit::Host for Guest {
    fn log(
        &mut self,
        level: types::LogLevel,
        message: String,
        fields: String,
    ) -> wasmtime::Result<()> {
        if fields.is_empty() || fields == "{}" {
            self.log_line(level.into(), &message);
        } else {
            self.log_line(level.into(), &format!("{message} {fields}"));
        }
        Ok(())
    }

    fn progress(&mut self, done: u64, total: Option<u64>, message: String) -> wasmtime::Result<()> {
        self.report_progress(done, total, &message);
        Ok(())
    }

    fn partial(&mut self, data: String) -> wasmtime::Result<()> {
        self.report_partial(data);
        Ok(())
    }

    fn cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.listener.is_cancelled() || self.remaining().is_zero())
    }

    fn remaining_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(u64::try_from(self.remaining().as_millis()).unwrap_or(u64::MAX))
    }

    fn now_ms(&mut self) -> wasmtime::Result<u64> {
        Ok(u64::try_from(self.now_ms).unwrap_or(0))
    }

    fn random_bytes(&mut self, len: u32) -> wasmtime::Result<Vec<u8>> {
        let mut bytes = vec![0; len.min(limits::RANDOM_BYTES_MAX) as usize];
        match (self.random, &mut self.seeded) {
            (Random::Seeded(_), Some(seeded)) => seeded.fill_bytes(&mut bytes),
            (Random::System | Random::Seeded(_), _) => rand::rng().fill_bytes(&mut bytes),
            (Random::Counting, _) => bytes
                .iter_mut()
                .zip((0..=u8::MAX).cycle())
                .for_each(|(byte, count)| *byte = count),
        }
        Ok(bytes)
    }

    fn config(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self.config.get(&key).cloned())
    }
}
