//! Writing receipts, many in one transaction, and reading them back.
//!
//! A call that sent something waits until its receipt is on disk before it answers; a call that
//! sent nothing does not wait. Reading first writes what is queued, so a receipt can be read as
//! soon as its id is known.

use std::collections::BTreeMap;

use tokio::sync::{mpsc, oneshot};

use super::executions::{
    ExecutionPage, ExecutionReceipt, ExecutionStatus, ListExecutions, PluginVersion, ReceiptKey,
};
use super::{Caller, Error, Gateway, Scope};
use crate::ids::UserId;
use crate::store::{Cursor, ExecutionFilter, ExecutionRow, Session, Store};

/// Receipts that wait for the writer; more make the calls wait.
const QUEUE_MAX: usize = 4_096;
/// Receipts of one transaction.
const BATCH_MAX: usize = 256;

/// The writer's end that calls hold.
pub(super) struct Receipts {
    queue: mpsc::Sender<Item>,
}

struct Item {
    receipt: Option<(ExecutionRow, Session)>,
    written: Option<oneshot::Sender<()>>,
}

impl Receipts {
    /// Starts the one writer of this process.
    pub(super) fn start(store: Store) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(write_all(store, waiting));
        Self { queue }
    }

    /// Queues a receipt; with `durable` returns when it is on disk.
    pub(super) async fn keep(&self, row: ExecutionRow, session: Session, durable: bool) {
        let (written, done) = if durable {
            let (written, done) = oneshot::channel();
            (Some(written), Some(done))
        } else {
            (None, None)
        };
        if self
            .queue
            .send(Item {
                receipt: Some((row, session)),
                written,
            })
            .await
            .is_err()
        {
            tracing::error!("receipts.writer_gone");
            return;
        }
        if let Some(done) = done {
            let _ = done.await;
        }
    }

    /// Returns when everything queued so far is on disk.
    pub(super) async fn flush(&self) {
        let (written, done) = oneshot::channel();
        if self
            .queue
            .send(Item {
                receipt: None,
                written: Some(written),
            })
            .await
            .is_ok()
        {
            let _ = done.await;
        }
    }
}

async fn write_all(store: Store, mut waiting: mpsc::Receiver<Item>) {
    let mut items = Vec::with_capacity(BATCH_MAX);
    while waiting.recv_many(&mut items, BATCH_MAX).await > 0 {
        let mut rows = Vec::with_capacity(items.len());
        let mut sessions = BTreeMap::new();
        let mut tell = Vec::new();
        for item in items.drain(..) {
            if let Some((row, session)) = item.receipt {
                rows.push(row);
                sessions.insert((session.workspace_id.clone(), session.id.clone()), session);
            }
            tell.extend(item.written);
        }
        if !rows.is_empty() {
            let sessions: Vec<Session> = sessions.into_values().collect();
            if let Err(cause) = store.record_executions(&rows, &sessions).await {
                tracing::error!(error = %cause, receipts.lost = rows.len(), "receipts.write_failed");
            }
        }
        for written in tell {
            let _ = written.send(());
        }
    }
}

impl Gateway {
    /// One receipt.
    pub async fn execution(&self, caller: &Caller, id: &str) -> Result<ExecutionReceipt, Error> {
        caller.need(Scope::ToolsRead)?;
        self.receipts.flush().await;
        let row = self.store.find_execution(&caller.workspace_id, id).await?;
        row.map_or_else(
            || Err(Error::NotFound(format!("the execution {id}"))),
            receipt,
        )
    }

    /// Receipts, newest first.
    pub async fn executions(
        &self,
        caller: &Caller,
        request: ListExecutions,
    ) -> Result<ExecutionPage, Error> {
        caller.need(Scope::ToolsRead)?;
        let cursor = match &request.cursor {
            None => None,
            Some(text) => Some(Cursor::parse(text).ok_or_else(|| {
                Error::InvalidRequest("cursor is none that a page handed out".to_owned())
            })?),
        };
        self.receipts.flush().await;
        let filter = ExecutionFilter {
            user_id: request.user_id.as_ref().map(UserId::as_str),
            tool_name: request.tool_name.as_deref(),
            status: request.status.map(ExecutionStatus::as_str),
        };
        let page = self
            .store
            .list_executions(
                &caller.workspace_id,
                &filter,
                cursor.as_ref(),
                request.limit,
            )
            .await?;
        Ok(ExecutionPage {
            executions: page
                .items
                .into_iter()
                .map(receipt)
                .collect::<Result<_, _>>()?,
            next_cursor: page.next.map(|cursor| cursor.to_string()),
        })
    }
}

fn receipt(row: ExecutionRow) -> Result<ExecutionReceipt, Error> {
    let broken =
        |what: &'static str| Error::Internal(anyhow::anyhow!("a stored receipt has a bad {what}"));
    Ok(ExecutionReceipt {
        execution_id: row.id,
        tool_name: row.tool_name,
        user_id: UserId::parse(&row.user_id).map_err(|_| broken("user"))?,
        key: ReceiptKey {
            name: row.key_name,
            prefix: row.key_prefix,
        },
        status: ExecutionStatus::parse(&row.status).ok_or_else(|| broken("status"))?,
        reason: row
            .reason
            .map(|reason| serde_json::from_value(reason.into()).map_err(|_| broken("reason")))
            .transpose()?,
        started_at_ms: row.started_at_ms,
        duration_ms: row.duration_ms.unsigned_abs(),
        connection_id: row.connection_id,
        plugin: PluginVersion {
            service: row.service,
            version: row.plugin_version,
            sha256: row.plugin_sha256,
        },
        requests: serde_json::from_str(&row.requests).map_err(|_| broken("list of requests"))?,
    })
}
