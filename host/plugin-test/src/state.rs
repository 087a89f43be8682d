//! The state of a test: a plugin's session state for one call, compiled code for one run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use toolgate_egress::Egress;
use toolgate_runtime::{KeyValue, KeyValueError, Runtime, StoredValue};

/// State for one call.
#[derive(Default)]
pub(super) struct Memory {
    entries: Mutex<BTreeMap<String, StoredValue>>,
}

impl KeyValue for Memory {
    fn get<'a>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, KeyValueError>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        std::future::ready(Ok(entries.get(key).cloned())).boxed()
    }

    fn set<'a>(
        &'a self,
        key: &'a str,
        value: &'a [u8],
        _ttl_seconds: Option<u32>,
        if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let version = entries.get(key).map_or(0, |entry| entry.version);
        let outcome = if if_version.is_some_and(|wanted| wanted != version) {
            Err(KeyValueError::Conflict)
        } else {
            entries.insert(
                key.to_owned(),
                StoredValue {
                    value: value.to_vec(),
                    version: version + 1,
                },
            );
            Ok(version + 1)
        };
        std::future::ready(outcome).boxed()
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
        std::future::ready(Ok(())).boxed()
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        _cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<String>, Option<String>), KeyValueError>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = entries
            .keys()
            .filter(|key| key.starts_with(prefix))
            .cloned()
            .collect();
        std::future::ready(Ok((keys, None))).boxed()
    }
}

/// Compiled code of one test run: a folder that goes away with its value.
pub struct TestCache {
    folder: PathBuf,
    compiler: Option<PathBuf>,
}

impl TestCache {
    pub fn new() -> std::io::Result<Self> {
        let name = format!(
            "toolgate-plugin-test-{}-{:016x}",
            std::process::id(),
            rand::random::<u64>()
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path)?;
        Ok(Self {
            folder: path,
            compiler: None,
        })
    }

    /// Compiles as a gateway does: in bounded processes of `program`, the toolgate program. Without
    /// it, this process compiles without bounds.
    #[must_use]
    pub fn compile_with(mut self, program: PathBuf) -> Self {
        self.compiler = Some(program);
        self
    }

    /// A runtime that runs large plugins too.
    pub(super) fn runtime(&self, egress: Egress) -> anyhow::Result<Runtime> {
        let runtime = Runtime::open(&self.folder, [7; 32], egress)?;
        runtime.allow_large_plugins()?;
        if let Some(program) = &self.compiler {
            runtime.compile_with(program.clone());
        }
        Ok(runtime)
    }
}

impl Drop for TestCache {
    fn drop(&mut self) {
        // If this fails, compiled code is left in the temporary folder of the system.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
