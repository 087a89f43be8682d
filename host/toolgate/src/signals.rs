//! The signals of a serving process.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind, signal};

/// Lets a write beyond a limit on the size of files (`ulimit -f`, `LimitFSIZE=`) fail as on a full disk.
/// Otherwise the system ends the process.
pub(crate) fn survive_file_limit() {
    // The handler stays after what it would wake is dropped.
    if let Err(cause) = signal(SignalKind::from_raw(Signal::XFSZ.as_raw())) {
        tracing::warn!(error = %cause, "signals.file_limit_ends_the_process");
    }
}

/// SIGTERM and SIGINT. From its making on they do not end the process, and none that comes between two
/// waits is lost.
pub(crate) struct StopSignals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
}

impl StopSignals {
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
