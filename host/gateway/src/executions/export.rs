//! Receipts of whole workspaces for a file, read from the database without a running gateway.

use serde::Serialize;

use super::ExecutionReceipt;
use super::receipts::receipt;
use crate::Error;
use toolgate_store::{Cursor, ExecutionFilter, Store, Workspace};

/// Receipts that are in memory at one time.
const PAGE: usize = 500;

/// Which receipts: of executions that began at `from_ms` or later and before `before_ms`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportRange {
    pub from_ms: Option<i64>,
    pub before_ms: Option<i64>,
}

/// One line of an export.
#[derive(Debug, Serialize)]
pub struct ExportedReceipt<'a> {
    /// Name of the workspace.
    pub workspace: &'a str,
    #[serde(flatten)]
    pub receipt: ExecutionReceipt,
}

/// Hands every receipt of a workspace to `write`, those of tools and of connections, newest first; answers how
/// many. Those of calls that go on are among them.
pub async fn export(
    store: &Store,
    workspace: &Workspace,
    range: ExportRange,
    now_ms: i64,
    mut write: impl FnMut(&ExportedReceipt<'_>) -> std::io::Result<()>,
) -> Result<u64, Error> {
    let filter = ExecutionFilter {
        from_ms: range.from_ms,
        before_ms: range.before_ms,
        ..ExecutionFilter::default()
    };
    let mut after: Option<Cursor> = None;
    let mut written = 0;
    loop {
        let page = store.list_executions(&workspace.id, &filter, after.as_ref(), PAGE);
        let page = page.await?;
        for row in page.items {
            let line = ExportedReceipt {
                workspace: &workspace.name,
                receipt: receipt(row, now_ms)?,
            };
            write(&line).map_err(|cause| Error::Internal(cause.into()))?;
            written += 1;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(written),
        }
    }
}
