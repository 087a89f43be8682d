//! Where connections are answered: on one thread for each processor, each with a runtime of its own.
//!
//! A request is parsed, answered and written by the thread that its connection was given to: handed
//! from worker to worker it would wake threads and move between caches. So does the call that it makes
//! of a service. What computes for long does not stay here: the gateway moves it to other threads.

#[cfg(test)]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::inbound::admission::ConnectionPermit;
use crate::inbound::{Inbound, connection};

/// The threads of one address. Dropped, they end with whatever they are doing.
pub struct CoreWorkers {
    accepting: AbortHandle,
    /// No more connections; those that are open end after what they are answering.
    closing: CancellationToken,
    /// Connections that are still open.
    open: TaskTracker,
    over: CancellationToken,
}

/// One thread, as those who accept see it.
struct CoreWorker {
    /// What waits here is bounded by the places that [`Inbound`] has.
    connections: mpsc::UnboundedSender<AcceptedConnection>,
    open: Arc<AtomicUsize>,
}

/// An accepted connection on its way to a worker, who is at its other end, and its place.
type AcceptedConnection = (TcpStream, SocketAddr, ConnectionPermit);

impl CoreWorkers {
    /// Serves `app` on what `listener` accepts and `inbound` admits. Must be called in a tokio runtime,
    /// which accepts.
    pub fn open(listener: TcpListener, app: &Router, inbound: &Inbound) -> io::Result<Self> {
        let (closing, over) = (CancellationToken::new(), CancellationToken::new());
        let still_open = TaskTracker::new();
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let mut workers = Vec::with_capacity(threads);
        for number in 0..threads {
            let (connections, handed) = mpsc::unbounded_channel();
            let open = Arc::new(AtomicUsize::new(0));
            let serving = WorkerContext {
                app: app.clone(),
                inbound: inbound.clone(),
                open: open.clone(),
                closing: closing.clone(),
                still_open: still_open.clone(),
            };
            start(number, handed, serving, over.clone())?;
            workers.push(CoreWorker { connections, open });
        }
        let accepting = tokio::spawn(accept(listener, inbound.clone(), workers)).abort_handle();
        Ok(Self {
            accepting,
            closing,
            open: still_open,
            over,
        })
    }

    /// Accepts no more, and lets connections end after the answer that they are at. Tasks of
    /// requests go on.
    pub fn close(&self) {
        self.accepting.abort();
        self.closing.cancel();
        self.open.close();
    }

    /// As [`Self::close`], and returns once every connection has ended, or after `patience`. The threads go on:
    /// connections to the database belong to the runtimes in which they were opened, and are needed until the
    /// gateway is closed.
    pub async fn drain(&self, patience: Duration) {
        self.close();
        if timeout(patience, self.open.wait()).await.is_err() {
            tracing::debug!("workers.connections_left");
        }
    }
}

impl Drop for CoreWorkers {
    fn drop(&mut self) {
        self.accepting.abort();
        self.over.cancel();
    }
}

/// What a worker needs to serve connections.
struct WorkerContext {
    app: Router,
    inbound: Inbound,
    /// Connections of this worker.
    open: Arc<AtomicUsize>,
    closing: CancellationToken,
    still_open: TaskTracker,
}

impl WorkerContext {
    fn serve(&self, (stream, peer, place): AcceptedConnection) {
        let counted = OpenConnectionCount(self.open.clone());
        let stream = match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => stream,
            Err(cause) => return tracing::debug!(error = %cause, "workers.connection_lost"),
        };
        let (inbound, app, closing) =
            (self.inbound.clone(), self.app.clone(), self.closing.clone());
        self.still_open.spawn(async move {
            connection::serve(&inbound, stream, peer, place, app, closing).await;
            drop(counted);
        });
    }
}

/// Takes one off when it goes.
struct OpenConnectionCount(Arc<AtomicUsize>);

impl Drop for OpenConnectionCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A worker's thread. Its runtime outlives its last connection: a request may have left tasks to it.
fn start(
    number: usize,
    mut handed: mpsc::UnboundedReceiver<AcceptedConnection>,
    serving: WorkerContext,
    over: CancellationToken,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let serve = async move {
        let take = async {
            while let Some(connection) = handed.recv().await {
                serving.serve(connection);
            }
            // Nobody accepts any more: what is open goes on until it ends.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = take => {}
            () = over.cancelled() => {}
        }
    };
    thread::Builder::new()
        .name(format!("worker-{number}"))
        .spawn(move || {
            runtime.block_on(serve);
            runtime.shutdown_background();
        })?;
    Ok(())
}

/// Gives each connection to the worker that has the fewest.
async fn accept(listener: TcpListener, inbound: Inbound, mut workers: Vec<CoreWorker>) {
    while !workers.is_empty() {
        let (stream, peer, place) = inbound.accept(&listener).await;
        if let Ok(stream) = stream.into_std() {
            hand((stream, peer, place), &mut workers);
        }
    }
}

/// A worker that is gone, which only a panic of its thread could bring about, leaves its place to the others.
fn hand(mut connection: AcceptedConnection, workers: &mut Vec<CoreWorker>) {
    loop {
        let open = |worker: &CoreWorker| worker.open.load(Ordering::Relaxed);
        let fewest = (0..workers.len()).min_by_key(|number| open(&workers[*number]));
        let Some(number) = fewest else { return };
        workers[number].open.fetch_add(1, Ordering::Relaxed);
        match workers[number].connections.send(connection) {
            Ok(()) => return,
            Err(back) => {
                tracing::error!(workers.left = workers.len() - 1, "workers.thread_gone");
                connection = back.0;
                workers.remove(number);
            }
        }
    }
}
