//! A pipe between a gateway and its log, whose reader a test stops.

use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::process::Installation;

const PIECE_BYTES_MAX: usize = 16 << 10;
/// What fills a stopped pipe, in lines of nothing: a page, the unit in which Linux counts the room of a pipe.
const FILLING: [u8; 4_096] = [b'\n'; 4_096];
/// A pipe that takes nothing for so long is full.
const FULL_AFTER: Duration = Duration::from_millis(50);

/// Standard error of all processes of an installation, on its way to the log.
pub struct LogPipe {
    end: pipe::Sender,
    is_read: watch::Sender<bool>,
}

impl LogPipe {
    /// Before the installation's first process.
    ///
    /// # Panics
    /// When the pipe cannot be made.
    pub fn before(installation: &mut Installation) -> Self {
        let path = installation.log_into_pipe();
        // For writing too, so that it has no end when a process ends.
        let mut both = pipe::OpenOptions::new();
        let reader = both.read_write(true).open_receiver(&path).expect("a pipe");
        let end = pipe::OpenOptions::new().open_sender(&path);
        let (is_read, seen) = watch::channel(true);
        tokio::spawn(read(reader, installation.log_file(), seen));
        Self {
            end: end.expect("a pipe"),
            is_read,
        }
    }

    /// Returns when the pipe is full and nobody reads it.
    pub async fn stop(&self) {
        self.is_read.send_replace(false);
        while timeout(FULL_AFTER, self.end.writable()).await.is_ok() {
            while self.end.try_write(&FILLING).is_ok() {}
        }
    }

    pub fn go_on(&self) {
        self.is_read.send_replace(true);
    }
}

async fn read(mut reader: pipe::Receiver, mut log: File, mut is_read: watch::Receiver<bool>) {
    let mut piece = vec![0; PIECE_BYTES_MAX];
    loop {
        if is_read.wait_for(|is_read| *is_read).await.is_err() {
            return;
        }
        tokio::select! {
            changed = is_read.changed() => if changed.is_err() {
                return;
            },
            bytes = reader.read(&mut piece) => {
                let bytes = bytes.expect("a pipe is read");
                log.write_all(&piece[..bytes]).expect("the log is written");
            }
        }
    }
}
