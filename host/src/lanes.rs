//! Where connections are answered: on one thread for each processor, each with a runtime of its own.
//!
//! A request is parsed, answered and written by the thread that its connection was given to: handed
//! from worker to worker it would wake threads and move between caches. What may take its time does
//! not stay here: the gateway moves a run to the workers that all requests share as soon as it waits
//! or has used its slice of the processor.

mod connection;
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
use axum::serve::{Listener, ListenerExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use connection::Connection;

/// The threads of one address. Dropped, they end with whatever they are doing.
pub struct Lanes {
    accepting: AbortHandle,
    /// No more connections; those that are open end after what they are answering.
    closing: CancellationToken,
    /// Lanes that still have connections.
    open: TaskTracker,
    over: CancellationToken,
}

/// One thread, as those who accept see it.
struct Lane {
    /// What waits here is bounded by the file descriptors that the process may hold.
    connections: mpsc::UnboundedSender<Handed>,
    open: Arc<AtomicUsize>,
}

/// An accepted connection on its way to a lane, and who is at its other end.
type Handed = (TcpStream, SocketAddr);

impl Lanes {
    /// Serves `app` on what `listener` accepts. Must be called in a tokio runtime, which accepts.
    pub fn open(listener: TcpListener, app: &Router) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (closing, over) = (CancellationToken::new(), CancellationToken::new());
        let still_open = TaskTracker::new();
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let mut lanes = Vec::with_capacity(threads);
        for number in 0..threads {
            let (connections, handed) = mpsc::unbounded_channel();
            let open = Arc::new(AtomicUsize::new(0));
            let ends = Ends {
                closing: closing.clone(),
                over: over.clone(),
                open: still_open.token(),
            };
            let inlet = Inlet {
                handed,
                open: open.clone(),
                address,
            };
            start(number, inlet, app.clone(), ends)?;
            lanes.push(Lane { connections, open });
        }
        still_open.close();
        let accepting = tokio::spawn(accept(listener, lanes)).abort_handle();
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

/// When a lane ends.
struct Ends {
    closing: CancellationToken,
    over: CancellationToken,
    open: TaskTrackerToken,
}

/// A lane's thread. Its runtime outlives its last connection: a request may have left tasks to it.
fn start(number: usize, inlet: Inlet, app: Router, ends: Ends) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let serve = async move {
        // An event stream is many small writes: held back for one another, each would cost 40 ms.
        let inlet = inlet.tap_io(|connection: &mut Connection| connection.send_at_once());
        let app = app.into_make_service_with_connect_info::<SocketAddr>();
        let served =
            axum::serve(inlet, app).with_graceful_shutdown(ends.closing.clone().cancelled_owned());
        tokio::select! {
            // Serving has no other end than the one it was told.
            _ = served => drop(ends.open),
            () = ends.over.cancelled() => {}
        }
        ends.over.cancelled().await;
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
async fn accept(mut listener: TcpListener, mut lanes: Vec<Lane>) {
    while !lanes.is_empty() {
        // Tries again after an error, and waits first when there are no file descriptors left.
        let (stream, peer) = Listener::accept(&mut listener).await;
        if let Ok(stream) = stream.into_std() {
            hand((stream, peer), &mut lanes);
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

/// A lane's end of the channel, in the place of a socket that listens.
struct Inlet {
    handed: mpsc::UnboundedReceiver<Handed>,
    open: Arc<AtomicUsize>,
    address: SocketAddr,
}

impl Listener for Inlet {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        while let Some((stream, peer)) = self.handed.recv().await {
            match Connection::new(stream, self.open.clone()) {
                Ok(connection) => return (connection, peer),
                Err(cause) => tracing::debug!(error = %cause, "lanes.connection_lost"),
            }
        }
        // Nobody accepts any more: what is open goes on until it ends.
        std::future::pending().await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
