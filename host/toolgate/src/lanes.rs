//! Where connections are answered: on one thread for each processor, each with a runtime of its own.
//!
//! A request is parsed, answered and written by the thread that its connection was given to: handed
//! from worker to worker it would wake threads and move between caches. What may take its time does
//! not stay here: the gateway moves a run to the workers that all requests share as soon as it waits
//! or has used its slice of the processor.

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

use crate::inbound::admission::Place;
use crate::inbound::{Inbound, connection};

/// The threads of one address. Dropped, they end with whatever they are doing.
pub struct Lanes {
    accepting: AbortHandle,
    /// No more connections; those that are open end after what they are answering.
    closing: CancellationToken,
    /// Connections that are still open.
    open: TaskTracker,
    over: CancellationToken,
}

/// One thread, as those who accept see it.
struct Lane {
    /// What waits here is bounded by the places that [`Inbound`] has.
    connections: mpsc::UnboundedSender<Handed>,
    open: Arc<AtomicUsize>,
}

/// An accepted connection on its way to a lane, who is at its other end, and its place.
type Handed = (TcpStream, SocketAddr, Place);

impl Lanes {
    /// Serves `app` on what `listener` accepts and `inbound` admits. Must be called in a tokio runtime,
    /// which accepts.
    pub fn open(listener: TcpListener, app: &Router, inbound: &Inbound) -> io::Result<Self> {
        let (closing, over) = (CancellationToken::new(), CancellationToken::new());
        let still_open = TaskTracker::new();
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let mut lanes = Vec::with_capacity(threads);
        for number in 0..threads {
            let (connections, handed) = mpsc::unbounded_channel();
            let open = Arc::new(AtomicUsize::new(0));
            let serving = Serving {
                app: app.clone(),
                inbound: inbound.clone(),
                open: open.clone(),
                closing: closing.clone(),
                still_open: still_open.clone(),
            };
            start(number, handed, serving, over.clone())?;
            lanes.push(Lane { connections, open });
        }
        let accepting = tokio::spawn(accept(listener, inbound.clone(), lanes)).abort_handle();
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

    /// Ends the threads once every connection has ended, or after `patience`.
    pub async fn end(self, patience: Duration) {
        self.close();
        if timeout(patience, self.open.wait()).await.is_err() {
            tracing::debug!("lanes.connections_cut");
        }
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.accepting.abort();
        self.over.cancel();
    }
}

/// What a lane needs to serve connections.
struct Serving {
    app: Router,
    inbound: Inbound,
    /// Connections of this lane.
    open: Arc<AtomicUsize>,
    closing: CancellationToken,
    still_open: TaskTracker,
}

impl Serving {
    fn serve(&self, (stream, peer, place): Handed) {
        let counted = Counted(self.open.clone());
        let stream = match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => stream,
            Err(cause) => return tracing::debug!(error = %cause, "lanes.connection_lost"),
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
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A lane's thread. Its runtime outlives its last connection: a request may have left tasks to it.
fn start(
    number: usize,
    mut handed: mpsc::UnboundedReceiver<Handed>,
    serving: Serving,
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
        .name(format!("lane-{number}"))
        .spawn(move || {
            runtime.block_on(serve);
            runtime.shutdown_background();
        })?;
    Ok(())
}

/// Gives each connection to the lane that has the fewest.
async fn accept(listener: TcpListener, inbound: Inbound, mut lanes: Vec<Lane>) {
    while !lanes.is_empty() {
        let (stream, peer, place) = inbound.accept(&listener).await;
        if let Ok(stream) = stream.into_std() {
            hand((stream, peer, place), &mut lanes);
        }
    }
}

/// A lane that is gone, which only a panic of its thread could bring about, leaves its place to the others.
fn hand(mut connection: Handed, lanes: &mut Vec<Lane>) {
    loop {
        let open = |lane: &Lane| lane.open.load(Ordering::Relaxed);
        let fewest = (0..lanes.len()).min_by_key(|number| open(&lanes[*number]));
        let Some(number) = fewest else { return };
        lanes[number].open.fetch_add(1, Ordering::Relaxed);
        match lanes[number].connections.send(connection) {
            Ok(()) => return,
            Err(back) => {
                tracing::error!(lanes.left = lanes.len() - 1, "lanes.thread_gone");
                connection = back.0;
                lanes.remove(number);
            }
        }
    }
}
