//! Judging plugin files exactly as a gateway's intake does: `toolgate_runtime` decides in both places.

use std::path::Path;

use super::TestCache;
use toolgate_egress::{Egress, EgressConfig};
use toolgate_runtime::{Inspected, Rejected, Runtime};

/// Judges files; functions that they share are compiled once.
pub struct FileJudge {
    runtime: Runtime,
}

impl FileJudge {
    /// Also judges large plugins, which a gateway takes where its operator allows them.
    pub fn open(cache: &TestCache) -> anyhow::Result<Self> {
        Ok(Self {
            runtime: cache.runtime(Egress::new(EgressConfig::default())?)?,
        })
    }

    /// Whether the file may become a plugin; one that is too large is not read.
    pub async fn judge_file(&self, file: &Path) -> std::io::Result<Result<Inspected, Rejected>> {
        let bytes = tokio::fs::metadata(file).await?.len();
        if bytes > self.runtime.component_bytes_max() {
            return Ok(Err(Rejected::by_file_size(bytes)));
        }
        self.runtime.inspect_file(file).await
    }

    /// The same, of a component that is in memory.
    pub async fn judge(&self, bytes: Vec<u8>) -> Result<Inspected, Rejected> {
        self.runtime.inspect(bytes).await
    }
}
