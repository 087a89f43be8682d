//! The log on standard error. Its reader may be slow or stop: a full pipe, a journal that hangs, a
//! terminal after Ctrl-S. Lines wait for it in a queue of a bounded length, on a thread of their own; what
//! does not fit is dropped and counted, and no request waits.
//!
//! Under load that thread writes many lines at once and pauses in between: waking it for each line cost a call a seventh
//! of its processor time (record 202).
//!
//! That thread alone writes to standard error while the gateway serves, also the line of progress and
//! what a panic says: the lock of [`std::io::stderr`] would hold up every thread behind a stopped reader.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;

use toolgate_core::visible::Lines;

/// Bytes of lines that wait for the reader of standard error; further lines are dropped.
pub(crate) const LOG_WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long the thread pauses after a write, while further lines arrive.
const PAUSE: Duration = Duration::from_millis(5);
/// Bytes that are written at once. A line may be longer.
const WRITTEN_AT_ONCE: usize = 64 << 10;
/// At the end of the process, lines get this long to be read.
const LAST_LINES: Duration = Duration::from_secs(1);
/// Moves to the start of the line and clears it (ECMA-48: CR, EL).
const CLEAR: &[u8] = b"\r\x1b[2K";

enum Output {
    Line(Vec<u8>),
    /// The line of progress as it is now; empty where there is none any more.
    Progress(String),
}

impl Output {
    fn bytes(&self) -> usize {
        match self {
            Self::Line(line) => line.len(),
            Self::Progress(line) => line.len(),
        }
    }
}

#[derive(Default)]
struct Waiting {
    outputs: VecDeque<Output>,
    /// Of what waits and of what is being written.
    bytes: usize,
    writing: bool,
    /// The thread has nothing to write and has to be woken.
    idle: bool,
    /// Somebody waits until everything is written: there is no pause.
    hurried: bool,
}

impl Waiting {
    /// The next outputs to write at once.
    fn take(&mut self) -> Vec<Output> {
        let mut bytes = 0;
        let fits = |output: &&Output| {
            let first = bytes == 0;
            bytes += output.bytes();
            first || bytes <= WRITTEN_AT_ONCE
        };
        let count = self.outputs.iter().take_while(fits).count();
        self.outputs.drain(..count).collect()
    }
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    drained: Condvar,
    /// Lines that were dropped since the start.
    lost: AtomicU64,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, output: Output) {
        let mut waiting = self.waiting();
        if waiting.bytes + output.bytes() > LOG_WAITING_BYTES_MAX {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        waiting.bytes += output.bytes();
        waiting.outputs.push_back(output);
        if std::mem::take(&mut waiting.idle) {
            self.arrived.notify_one();
        }
    }

    /// Waits for the next outputs. Those before, of so many bytes, are written.
    fn next(&self, written: usize) -> Vec<Output> {
        let mut waiting = self.waiting();
        waiting.bytes -= written;
        waiting.writing = false;
        if waiting.outputs.is_empty() {
            self.drained.notify_all();
            let pauses = |waiting: &mut Waiting| !waiting.hurried;
            let paused = self.arrived.wait_timeout_while(waiting, PAUSE, pauses);
            waiting = paused.unwrap_or_else(PoisonError::into_inner).0;
        }
        while waiting.outputs.is_empty() {
            self.drained.notify_all();
            waiting.idle = true;
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        waiting.idle = false;
        waiting.hurried = false;
        waiting.writing = true;
        waiting.take()
    }
}

/// Where lines of the log go. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LogOutput {
    shared: Arc<Shared>,
    json: bool,
}

impl LogOutput {
    /// Starts the thread that writes to standard error. `json`: lines are JSON documents.
    pub(crate) fn start(json: bool) -> io::Result<Self> {
        let to = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        Self::start_to(to, json)
    }

    fn start_to(to: impl Write + Send + 'static, json: bool) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = LogThread {
            shared: shared.clone(),
            to,
            drawn: false,
            reported: 0,
        };
        std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || thread.write_all())?;
        Ok(Self { shared, json })
    }

    /// A writer for one event of `tracing`.
    pub(crate) fn lines(&self) -> Lines<Self> {
        Lines {
            to: self.clone(),
            json: self.json,
        }
    }

    /// Shows this line below the log until the next one; empty: none.
    pub(crate) fn progress(&self, line: &str) {
        self.shared.push(Output::Progress(line.to_owned()));
    }

    /// How many lines were dropped.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Waits until what is queued is written, so that what is printed next comes after it.
    pub(crate) fn flush(&self, within: Duration) {
        let mut waiting = self.shared.waiting();
        waiting.hurried = true;
        self.shared.arrived.notify_one();
        let busy = |waiting: &mut Waiting| waiting.writing || !waiting.outputs.is_empty();
        let _ = self
            .shared
            .drained
            .wait_timeout_while(waiting, within, busy);
    }

    /// Has what a panic says written as a line of the log, in place of the hook that writes to standard
    /// error itself. Not by an event: the panic may have come from within one.
    pub(crate) fn take_panics(&self) {
        let output = self.clone();
        std::panic::set_hook(Box::new(move |panic| output.panicked(panic)));
    }

    fn panicked(&self, panic: &PanicHookInfo<'_>) {
        let thread = std::thread::current();
        let text = format!("thread '{}' {panic}", thread.name().unwrap_or("?"));
        let trace = Backtrace::capture();
        let trace = (trace.status() == BacktraceStatus::Captured).then(|| trace.to_string());
        let line = match self.json {
            true => {
                let fields = json!({ "message": "panic", "panic": text, "backtrace": trace });
                json!({ "level": "ERROR", "fields": fields }).to_string()
            }
            false => text + "\n" + trace.as_deref().unwrap_or_default(),
        };
        for line in line.lines() {
            let _ = self.lines().write_all(format!("{line}\n").as_bytes());
        }
    }
}

impl Write for LogOutput {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.shared.push(Output::Line(line.to_vec()));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives the last lines their time when the command ends, however it ends.
pub(crate) struct LastLines(pub LogOutput);

impl Drop for LastLines {
    fn drop(&mut self) {
        self.0.flush(LAST_LINES);
    }
}

struct LogThread<W> {
    shared: Arc<Shared>,
    to: W,
    /// Whether the line of progress is on the screen.
    drawn: bool,
    /// Lost lines that the log has reported.
    reported: u64,
}

impl<W: Write> LogThread<W> {
    fn write_all(mut self) {
        let mut written = 0;
        loop {
            let outputs = self.shared.next(written);
            written = outputs.iter().map(Output::bytes).sum();
            let bytes = self.printed(&outputs);
            if self
                .to
                .write_all(&bytes)
                .and_then(|()| self.to.flush())
                .is_err()
            {
                let lost = outputs.len() as u64;
                self.shared.lost.fetch_add(lost, Ordering::Relaxed);
            } else {
                self.report();
            }
        }
    }

    /// The outputs as they are written, with the line of progress always below the others.
    fn printed(&mut self, outputs: &[Output]) -> Vec<u8> {
        let mut printed = Vec::new();
        for output in outputs {
            if std::mem::take(&mut self.drawn) {
                printed.extend_from_slice(CLEAR);
            }
            match output {
                Output::Line(line) => printed.extend_from_slice(line),
                Output::Progress(line) => {
                    printed.extend_from_slice(line.as_bytes());
                    self.drawn = !line.is_empty();
                }
            }
        }
        printed
    }

    /// The reader reads again.
    fn report(&mut self) {
        let lost = self.shared.lost.load(Ordering::Relaxed);
        // Half the queue is free: the report is not lost itself.
        if lost > self.reported && self.shared.waiting().bytes < LOG_WAITING_BYTES_MAX / 2 {
            tracing::warn!(lines = lost - self.reported, "log.lines_lost");
            self.reported = lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const SOON: Duration = Duration::from_secs(30);

    /// A reader that reads what it is let.
    struct Slow {
        may: mpsc::Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Once nobody can let it any more, everything is read.
            let _ = self.may.recv();
            self.read.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn slow() -> (LogOutput, mpsc::Sender<()>, Arc<Mutex<Vec<u8>>>) {
        let (lets, may) = mpsc::channel();
        let read = Arc::new(Mutex::new(Vec::new()));
        let to = Slow {
            may,
            read: read.clone(),
        };
        (LogOutput::start_to(to, false).unwrap(), lets, read)
    }

    #[test]
    fn lines_do_not_wait_for_a_reader_that_stops_and_the_lost_ones_are_counted() {
        let (output, lets, read) = slow();
        let line = [b'x'; 1_000];
        let lines = LOG_WAITING_BYTES_MAX / line.len() + 7;
        for _ in 0..lines {
            output.clone().write_all(&line).unwrap();
        }
        assert_eq!(output.lost(), 7);
        // The end of the process is bounded too.
        output.flush(Duration::from_millis(1));
        assert!(read.lock().unwrap().is_empty());
        drop(lets);
        output.flush(SOON);
        assert_eq!(read.lock().unwrap().len(), (lines - 7) * line.len());
        output.clone().write_all(b"again").unwrap();
        output.flush(SOON);
        assert!(read.lock().unwrap().ends_with(b"again"));
        assert_eq!(output.lost(), 7);
    }

    /// Counts writes.
    struct WriteCount(Arc<AtomicU64>);

    impl Write for WriteCount {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn many_lines_are_written_at_once() {
        let writes = Arc::new(AtomicU64::new(0));
        let output = LogOutput::start_to(WriteCount(writes.clone()), false).unwrap();
        let lines = 1_000;
        for _ in 0..lines {
            output.clone().write_all(b"line\n").unwrap();
        }
        output.flush(SOON);
        let writes = writes.load(Ordering::Relaxed);
        assert!((1..lines / 10).contains(&writes), "{writes} writes");
    }

    #[test]
    fn lines_come_in_order_above_the_line_of_progress() {
        let (output, lets, read) = slow();
        drop(lets);
        output.progress("1 of 2");
        output.lines().write_all(b"one\n").unwrap();
        output.progress("2 of 2");
        output.progress("");
        output.lines().write_all(b"two\n").unwrap();
        output.flush(SOON);
        let read = String::from_utf8(read.lock().unwrap().clone()).unwrap();
        assert_eq!(read, "1 of 2\r\x1b[2Kone\n2 of 2\r\x1b[2Ktwo\n");
    }

    #[test]
    fn a_panic_is_a_line_of_the_log() {
        let (output, lets, read) = slow();
        drop(lets);
        let before = std::panic::take_hook();
        let of_this = std::thread::current().id();
        let taken = output.clone();
        // Other tests panic meanwhile.
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == of_this {
                taken.panicked(panic);
            } else {
                before(panic);
            }
        }));
        assert!(std::panic::catch_unwind(|| panic!("oh\u{202e} no")).is_err());
        output.flush(SOON);
        let read = String::from_utf8(read.lock().unwrap().clone()).unwrap();
        assert!(
            read.contains("panicked at") && read.contains("oh\\u{202e} no"),
            "{read}"
        );
        let _ = std::panic::take_hook();
    }
}
