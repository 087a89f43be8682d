//! Threads for guests that compute for a long time.
//!
//! They have lower priority than those that answer requests, and while more than one workspace is
//! calling only half of the processors, so that a guest without an end costs others next to nothing.
//! Each turn ends with the next tick of the engine's clock; the next is for the claimant that has used
//! least.

use std::future::Future;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use toolgate_core::trace;

use super::CallClaim;
use super::ledger::Ledger;

/// Of 19: what answers requests goes first.
const NICE: i32 = 10;

/// The threads, started with the first work. Dropped, they end after the turn that they are at.
#[derive(Default)]
pub(crate) struct Compute {
    shared: Arc<ComputeState>,
    started: OnceLock<()>,
}

#[derive(Default)]
struct ComputeState {
    queue: Mutex<ComputeQueue>,
    changed: Condvar,
    ledger: Mutex<Ledger>,
}

#[derive(Default)]
struct ComputeQueue {
    ready: Vec<Arc<Work>>,
    computing: usize,
    closed: bool,
}

/// One piece of work and its state.
struct Work {
    claim: CallClaim,
    shared: Arc<ComputeState>,
    /// Timers and sockets of the work belong to it.
    runtime: Handle,
    future: Mutex<Option<BoxFuture<'static, ()>>>,
    state: AtomicU8,
    unwanted: AtomicBool,
}

/// The states of work.
const WAITS: u8 = 0;
const READY: u8 = 1;
const RUNS: u8 = 2;
/// Woken while it runs.
const RUNS_AGAIN: u8 = 3;
const OVER: u8 = 4;

/// The work's result. Dropped before, the work is dropped too.
pub(crate) struct ComputeTask<T> {
    work: Arc<Work>,
    ended: oneshot::Receiver<thread::Result<T>>,
}

impl Compute {
    /// Runs `future` in turns. Must be called in a tokio runtime, to which its timers belong.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        claim: CallClaim,
        future: impl Future<Output = T> + Send + 'static,
    ) -> ComputeTask<T> {
        self.started.get_or_init(|| start(&self.shared));
        let (tell, ended) = oneshot::channel();
        let future = trace::carry(future);
        let future = async move {
            let ended = AssertUnwindSafe(future).catch_unwind().await;
            // Nobody waits for it any more.
            let _ = tell.send(ended);
        };
        let work = Arc::new(Work {
            claim,
            shared: self.shared.clone(),
            runtime: Handle::current(),
            future: Mutex::new(Some(Box::pin(future))),
            state: AtomicU8::new(READY),
            unwanted: AtomicBool::new(false),
        });
        self.shared.push(work.clone());
        ComputeTask { work, ended }
    }

    /// Notes that a call of the claim begins. Returns whether it waits for its turn from the start.
    pub(crate) fn begins(&self, claim: &CallClaim) -> bool {
        let now = Instant::now();
        let mut ledger = self.shared.ledger();
        ledger.note_call(&claim.workspace, now);
        ledger.exceeds_fair_share(claim, now)
    }

    /// Notes processor time that was used on another thread.
    pub(crate) fn charge(&self, claim: &CallClaim, time: Duration) {
        self.shared.ledger().charge(claim, time, Instant::now());
    }
}

impl Drop for Compute {
    fn drop(&mut self) {
        self.shared.queue().closed = true;
        self.shared.changed.notify_all();
    }
}

impl<T> Future for ComputeTask<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match ready!(Pin::new(&mut self.ended).poll(context)) {
            Ok(Ok(result)) => Poll::Ready(result),
            Ok(Err(panic)) => resume_unwind(panic),
            // Work with a waiter is dropped only when the gateway ends.
            Err(_) => Poll::Pending,
        }
    }
}

impl<T> Drop for ComputeTask<T> {
    fn drop(&mut self) {
        if self.work.state.load(Ordering::Acquire) != OVER {
            self.work.unwanted.store(true, Ordering::Release);
            self.work.clone().wake();
        }
    }
}

impl Wake for Work {
    fn wake(self: Arc<Self>) {
        loop {
            let (from, to) = match self.state.load(Ordering::Acquire) {
                WAITS => (WAITS, READY),
                RUNS => (RUNS, RUNS_AGAIN),
                _ => return,
            };
            let changed =
                self.state
                    .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
            if changed.is_ok() {
                if to == READY {
                    self.shared.clone().push(self);
                }
                return;
            }
        }
    }
}

impl Work {
    /// One turn.
    fn step(self: &Arc<Self>) {
        let mut slot = self.future.lock().unwrap_or_else(PoisonError::into_inner);
        let _entered = self.runtime.enter();
        let Some(future) = slot.as_mut() else { return };
        if self.unwanted.load(Ordering::Acquire) {
            *slot = None;
            self.state.store(OVER, Ordering::Release);
            return;
        }
        self.state.store(RUNS, Ordering::Release);
        let waker = Waker::from(self.clone());
        if future
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            *slot = None;
            self.state.store(OVER, Ordering::Release);
            return;
        }
        drop(slot);
        let waits = self
            .state
            .compare_exchange(RUNS, WAITS, Ordering::AcqRel, Ordering::Acquire);
        if waits.is_err() {
            self.state.store(READY, Ordering::Release);
            self.shared.clone().push(self.clone());
        }
    }
}

impl ComputeState {
    fn push(&self, work: Arc<Work>) {
        self.queue().ready.push(work);
        self.changed.notify_one();
    }

    /// Waits for the next turn. `None`: the queue is closed.
    fn next(&self, threads: usize) -> Option<Arc<Work>> {
        let mut queue = self.queue();
        loop {
            if queue.closed {
                return None;
            }
            let now = Instant::now();
            let ledger = self.ledger();
            let contended = ledger.contended(now);
            let at_once = if contended {
                threads.div_ceil(2)
            } else {
                threads
            };
            let least = ledger.least(queue.ready.iter().map(|work| &work.claim), now);
            drop(ledger);
            if let Some(at) = least
                && queue.computing < at_once
            {
                queue.computing += 1;
                // In order: of equals the first is who came first.
                return Some(queue.ready.remove(at));
            }
            // What is contended now may not be so in a while.
            let waited = self.changed.wait_timeout(queue, PATIENCE);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn queue(&self) -> MutexGuard<'_, ComputeQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long an idle thread waits before it looks again.
const PATIENCE: Duration = Duration::from_secs(1);

fn start(shared: &Arc<ComputeState>) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    for number in 0..threads {
        let shared = shared.clone();
        let started = thread::Builder::new()
            .name(format!("compute-{number}"))
            .spawn(move || {
                // Of this thread alone, as Linux counts.
                if let Err(cause) = rustix::process::setpriority_process(None, NICE) {
                    tracing::warn!(error = %cause, "runtime.compute_priority");
                }
                compute(&shared, threads);
            });
        if let Err(cause) = started {
            tracing::error!(error = %cause, "runtime.compute_thread");
        }
    }
}

fn compute(shared: &ComputeState, threads: usize) {
    while let Some(work) = shared.next(threads) {
        let began = Instant::now();
        work.step();
        let now = Instant::now();
        shared.ledger().charge(&work.claim, now - began, now);
        shared.queue().computing -= 1;
        shared.changed.notify_one();
    }
}
