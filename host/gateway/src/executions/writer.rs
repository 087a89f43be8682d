//! Writing receipts, many in one transaction.
//!
//! A call that sent something answers once its receipt is on disk: in the log of this process
//! ([`super::receipt_log`]) or, where there is none, in the database. The receipt of a call that sent
//! nothing may lie in memory for [`GATHERED_FOR`].
//!
//! When the database cannot take them, receipts stay in the queue and are tried again until they
//! are written; a call waits for its own for a few seconds ([`WRITTEN_WITHIN`]). Calls that already sent
//! something answer the outcome, a request that is not written down does not leave, and no new call
//! starts ([`Receipts::behind`]): nothing leaves the process that could not be accounted for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::receipt_log::{LeftReceipt, LogFileIndex, ReceiptLog};
use crate::row_seals::RowSeals;
use toolgate_core::text::Text;
use toolgate_store::{ExecutionRow, RequestAnswer, SessionRow, Store, StoreError};

/// Receipts that wait for the writer; more make the calls wait.
const QUEUE_MAX: usize = 8_192;
/// Receipts of one transaction.
const BATCH_MAX: usize = 4_096;
/// How long receipts that nobody waits for are gathered into one transaction.
const GATHERED_FOR: Duration = Duration::from_millis(100);
/// The status of a receipt that was written before its call ended.
const RUNNING: &str = "running";
/// The status of one whose call was not seen to end, until its end is written after all.
const INTERRUPTED: &str = "interrupted";
/// Between two tries to write; doubled from the first to the last.
const AGAIN_AFTER: Duration = Duration::from_millis(100);
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(5);
/// How long a call waits for its receipt, whatever becomes of those before it.
const WRITTEN_WITHIN: Duration = Duration::from_secs(5);

/// The receipt is not on disk yet: the database did not take it. It is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiptPending;

type WriteResult = oneshot::Sender<Result<(), ReceiptPending>>;

/// The writer's end that calls hold.
#[derive(Clone)]
pub(crate) struct Receipts {
    queue: mpsc::Sender<Item>,
    /// Somebody waits for the writer, or much does.
    hurry: Arc<Notify>,
    behind: Arc<AtomicBool>,
    log: Option<Arc<ReceiptLog>>,
    seals: RowSeals,
    /// [`WRITTEN_WITHIN`], but for tests.
    written_within: Duration,
}

/// A receipt and the session it belongs to, if any; apart, because they pass through many hands.
pub(crate) type QueuedReceipt = Box<(ExecutionRow, Option<SessionRow>)>;

/// A receipt on its way to the disk.
pub(crate) enum Queued {
    /// It is in the log.
    Logged,
    /// Told when the writer has tried it.
    Waits(oneshot::Receiver<Result<(), ReceiptPending>>, Duration),
}

impl Queued {
    /// Returns when it is on disk, was tried in vain once, or has waited for [`WRITTEN_WITHIN`].
    pub(crate) async fn written(self) -> Result<(), ReceiptPending> {
        let Self::Waits(done, within) = self else {
            return Ok(());
        };
        // One that is queued behind a batch that is tried again is not tried itself.
        match timeout(within, done).await {
            Ok(Ok(written)) => written,
            Ok(Err(_)) | Err(_) => Err(ReceiptPending),
        }
    }
}

#[derive(Default)]
struct Item {
    receipt: Option<QueuedReceipt>,
    answer: Option<RequestAnswer>,
    written: Option<WriteResult>,
    logged: Option<LogFileIndex>,
}

/// Rows of one transaction.
#[derive(Default)]
struct Batch {
    receipts: Vec<ExecutionRow>,
    sessions: Vec<SessionRow>,
    answers: Vec<RequestAnswer>,
}

impl Receipts {
    /// Starts the one writer of this process. `log`: where receipts are on disk before they are rows.
    pub(crate) fn start(store: Store, log: Option<Arc<ReceiptLog>>, seals: RowSeals) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (hurry, behind) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let writer = ReceiptWriter {
            store,
            hurry: hurry.clone(),
            behind: behind.clone(),
            log: log.clone(),
        };
        tokio::spawn(writer.write_all(waiting));
        Self {
            queue,
            hurry,
            behind,
            log,
            seals,
            written_within: WRITTEN_WITHIN,
        }
    }

    /// Writes what earlier processes left in their logs.
    pub(crate) async fn write_left(&self, left: Vec<LeftReceipt>, store: &Store) {
        for LeftReceipt {
            mut receipt,
            session,
            logged,
        } in left
        {
            self.seals.seal_receipt(&mut receipt);
            let known = store.find_execution(&receipt.workspace_id, &receipt.id);
            let written = matches!(known.await, Ok(Some(row)) if is_written(&row, &receipt));
            let receipt = (!written).then(|| Box::new((receipt, session)));
            let item = Item {
                receipt,
                logged: Some(logged),
                ..Item::default()
            };
            if self.queue.send(item).await.is_err() {
                return;
            }
        }
    }

    /// How many receipts wait for the writer.
    pub(crate) fn queued(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Whether receipts wait that the database did not take.
    pub(crate) fn behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Queues a receipt; with `durable` returns as [`Queued::written`] does.
    pub(crate) async fn keep(
        &self,
        mut receipt: QueuedReceipt,
        durable: bool,
    ) -> Result<(), ReceiptPending> {
        self.seals.seal_receipt(&mut receipt.0);
        if durable {
            return self.queue(receipt).await?.written().await;
        }
        let item = Item {
            receipt: Some(receipt),
            ..Item::default()
        };
        self.gathered(item).await
    }

    /// Whether a receipt is on disk only once it is a row: then what else its call keeps goes with it.
    pub(crate) fn are_rows_at_once(&self) -> bool {
        self.log.is_none()
    }

    /// Queues a receipt together with the answer of its request, and returns as [`Queued::written`] does.
    pub(crate) async fn keep_answered(
        &self,
        mut receipt: QueuedReceipt,
        answer: RequestAnswer,
    ) -> Result<(), ReceiptPending> {
        self.seals.seal_receipt(&mut receipt.0);
        let answer = self.seals.sealed_answer(answer);
        let queued = self.push(Some(receipt), answer).await?;
        queued.written().await
    }

    /// Queues what nobody waits for.
    async fn gathered(&self, item: Item) -> Result<(), ReceiptPending> {
        self.enqueue(item).await?;
        if self.queue.capacity() < QUEUE_MAX - BATCH_MAX {
            self.hurry.notify_one();
        }
        Ok(())
    }

    /// Waits for room in the queue for at most [`WRITTEN_WITHIN`]; what has none by then gets it later.
    async fn enqueue(&self, item: Item) -> Result<(), ReceiptPending> {
        let item = match self.queue.try_send(item) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Closed(_)) => return Err(ReceiptPending),
            Err(TrySendError::Full(item)) => item,
        };
        let queue = self.queue.clone();
        // A task of its own: the receipt of a call that no longer waits is not lost.
        let queued = tokio::spawn(async move { queue.send(item).await.is_ok() });
        match timeout(self.written_within, queued).await {
            Ok(Ok(true)) => Ok(()),
            _ => Err(ReceiptPending),
        }
    }

    /// Queues a receipt that somebody waits for.
    pub(crate) async fn queue(&self, receipt: QueuedReceipt) -> Result<Queued, ReceiptPending> {
        let Some(logged) = self.log(&receipt) else {
            return self.push(Some(receipt), None).await;
        };
        let item = Item {
            receipt: Some(receipt),
            logged: Some(logged),
            ..Item::default()
        };
        self.gathered(item).await?;
        Ok(Queued::Logged)
    }

    /// `None`: the receipt is on disk only once it is a row. Bodies are not logged.
    fn log(&self, receipt: &QueuedReceipt) -> Option<LogFileIndex> {
        let log = self
            .log
            .as_ref()
            .filter(|_| receipt.0.payloads.is_empty())?;
        let appended = log.append(&receipt.0, receipt.1.as_ref());
        if let Err(cause) = &appended {
            tracing::error!(error = %cause, "receipts.not_logged");
        }
        appended.ok()
    }

    /// Returns when everything queued so far is on disk, or as [`Queued::written`] does.
    pub(crate) async fn flush(&self) -> Result<(), ReceiptPending> {
        self.push(None, None).await?.written().await
    }

    /// As [`Receipts::flush`], but tries for `patience`.
    pub(crate) async fn settle(&self, patience: Duration) -> Result<(), ReceiptPending> {
        let settled = async {
            while self.flush().await.is_err() {
                sleep(AGAIN_AFTER).await;
            }
        };
        timeout(patience, settled).await.map_err(|_| ReceiptPending)
    }

    async fn push(
        &self,
        receipt: Option<QueuedReceipt>,
        answer: Option<RequestAnswer>,
    ) -> Result<Queued, ReceiptPending> {
        let (written, done) = oneshot::channel();
        let item = Item {
            receipt,
            answer,
            written: Some(written),
            logged: None,
        };
        // While the writer is behind, a full queue must not hold up those who only ask.
        if self.behind() && item.receipt.is_none() {
            return Err(ReceiptPending);
        }
        self.enqueue(item).await?;
        self.hurry.notify_one();
        Ok(Queued::Waits(done, self.written_within))
    }
}

struct ReceiptWriter {
    store: Store,
    hurry: Arc<Notify>,
    behind: Arc<AtomicBool>,
    log: Option<Arc<ReceiptLog>>,
}

impl ReceiptWriter {
    async fn write_all(self, mut waiting: mpsc::Receiver<Item>) {
        let mut items = Vec::with_capacity(BATCH_MAX);
        while gather(&mut waiting, &self.hurry, &mut items).await {
            let mut batch = Batch::default();
            let (mut tell, mut logged) = (Vec::new(), Vec::new());
            for item in items.drain(..) {
                if let Some((row, session)) = item.receipt.map(|receipt| *receipt) {
                    batch.receipts.push(row);
                    batch.sessions.extend(session);
                }
                batch.answers.extend(item.answer);
                tell.extend(item.written);
                logged.extend(item.logged);
            }
            // Bodies come with the receipt that was written as their request left.
            keep_latest(
                &mut batch.receipts,
                |row| (&row.workspace_id, &row.id),
                |older, latest| latest.payloads.append(&mut older.payloads),
            );
            keep_latest(
                &mut batch.sessions,
                |session| (&session.workspace_id, &session.id),
                |_, _| {},
            );
            self.write(batch, tell).await;
            if let Some(log) = &self.log
                && !logged.is_empty()
            {
                log.release(&logged);
            }
        }
    }

    /// Writes one batch, however long that takes.
    async fn write(&self, batch: Batch, mut tell: Vec<WriteResult>) {
        let receipts = batch.receipts.len();
        let mut again_after = AGAIN_AFTER;
        while !batch.receipts.is_empty() {
            let Batch {
                receipts: rows,
                sessions,
                answers,
            } = &batch;
            let Err(cause) = self.store.record_answered(rows, sessions, answers).await else {
                break;
            };
            if unstorable(&cause) {
                tracing::error!(error = %cause, receipts, "receipts.one_is_unstorable");
                if self.write_each(&batch).await {
                    break;
                }
            } else {
                tracing::error!(error = %cause, receipts.waiting = receipts, "receipts.write_failed");
            }
            self.behind.store(true, Ordering::Relaxed);
            for written in tell.drain(..) {
                let _ = written.send(Err(ReceiptPending));
            }
            sleep(again_after).await;
            again_after = (again_after * 2).min(AGAIN_AFTER_MAX);
        }
        self.behind.store(false, Ordering::Relaxed);
        for written in tell {
            let _ = written.send(Ok(()));
        }
    }

    /// One row of the batch cannot be stored at all; the others must not go with it. `false`: the
    /// database takes none.
    async fn write_each(&self, batch: &Batch) -> bool {
        for row in &batch.receipts {
            let session = batch.sessions.iter().filter(|one| {
                row.session_id.as_ref() == Some(&one.id) && one.workspace_id == row.workspace_id
            });
            let session: Vec<SessionRow> = session.cloned().collect();
            let answer = batch
                .answers
                .iter()
                .filter(|one| *one.execution_id == *row.id && one.workspace_id == row.workspace_id);
            let answer: Vec<RequestAnswer> = answer.cloned().collect();
            let one = std::slice::from_ref(row);
            match self.store.record_answered(one, &session, &answer).await {
                Ok(()) => {}
                Err(cause) if unstorable(&cause) => {
                    tracing::error!(error = %cause, execution_id = %row.id, "receipts.lost");
                }
                Err(_) => return false,
            }
        }
        true
    }
}

/// Whether the row holds what the log still holds. That of a call that ended does: it was written and not
/// released, and its subscribers have been told. The end of one that is `interrupted` may be in this log
/// alone: another process gave it up while nobody read the log.
fn is_written(row: &ExecutionRow, logged: &ExecutionRow) -> bool {
    let ended =
        |receipt: &ExecutionRow| receipt.status != *RUNNING && receipt.status != *INTERRUPTED;
    if ended(row) || ended(logged) {
        return ended(row);
    }
    // Requests are only added while a call runs.
    logged.requests.len() <= row.requests.len()
}

/// Waits for work. What nobody waits for lies in the queue for a while, so that it does not wake the
/// writer one by one.
async fn gather(waiting: &mut mpsc::Receiver<Item>, hurry: &Notify, items: &mut Vec<Item>) -> bool {
    if waiting.recv_many(items, BATCH_MAX).await == 0 {
        return false;
    }
    if items.iter().all(|item| item.written.is_none()) {
        let _ = timeout(GATHERED_FOR, hurry.notified()).await;
    }
    while items.len() < BATCH_MAX
        && let Ok(item) = waiting.try_recv()
    {
        items.push(item);
    }
    true
}

/// Of what came under one key only the last stays: the receipt that was left when a call began gives
/// way to the one of its end, after `hand_on`, and a statement that writes a row twice is an error to PostgreSQL. In
/// order, so that two processes lock rows the same way round.
fn keep_latest<T>(
    list: &mut Vec<T>,
    key: impl Fn(&T) -> (&Text, &Text),
    hand_on: impl Fn(&mut T, &mut T),
) {
    list.sort_by(|a, b| key(a).cmp(&key(b)));
    list.dedup_by(|later, kept| {
        let same = key(later) == key(kept);
        if same {
            std::mem::swap(later, kept);
            hand_on(later, kept);
        }
        same
    });
}

/// Trying again would not help: it is the row, not the database.
fn unstorable(cause: &StoreError) -> bool {
    matches!(cause, StoreError::NoSuchParent | StoreError::UnstorableText)
}

#[cfg(test)]
mod tests;
