//! Compiler processes: some at one time, each asked for one file after the other.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::child::{DONE, SUBCOMMAND};
use super::job::CompileJob;
use crate::size::Size;

/// A process that had nothing to do for this long is ended.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// How a job ended.
pub(super) enum JobResult {
    Done,
    /// The file cannot be compiled, and why.
    Refused(String),
    /// Its time was over, and the process was ended.
    Late,
    /// The process ended by itself: it met one of its bounds, or broke.
    Died,
    NoProcess(io::Error),
}

/// Processes that are started when they are needed.
pub(super) struct CompileQueue {
    places: Semaphore,
    idle: Mutex<Vec<Worker>>,
}

struct Worker {
    /// Ended when this is dropped.
    _child: Child,
    jobs: ChildStdin,
    answers: BufReader<ChildStdout>,
    idle_since: Instant,
}

impl CompileQueue {
    pub(super) fn new(at_once: usize) -> Self {
        Self {
            places: Semaphore::new(at_once),
            idle: Mutex::default(),
        }
    }

    /// Has a job done, once its turn has come; from then on it may take `time_max`.
    pub(super) async fn ask(
        self: &Arc<Self>,
        program: &Path,
        size: Size,
        job: &CompileJob,
        time_max: Duration,
    ) -> JobResult {
        let Ok(_place) = self.places.acquire().await else {
            return JobResult::Died;
        };
        let end = Instant::now() + time_max;
        let used = self.lock().pop();
        let was_used = used.is_some();
        let worker = used.map_or_else(|| Worker::start(program, size, &job.dir), Ok);
        let mut worker = match worker {
            Ok(worker) => worker,
            Err(cause) => return JobResult::NoProcess(cause),
        };
        let mut answer = tokio::time::timeout_at(end, worker.ask(&job.name)).await;
        if was_used && matches!(answer, Ok(Err(_))) {
            // It may have ended while nobody looked: a fresh one says what the file is worth.
            worker = match Worker::start(program, size, &job.dir) {
                Ok(worker) => worker,
                Err(cause) => return JobResult::NoProcess(cause),
            };
            answer = tokio::time::timeout_at(end, worker.ask(&job.name)).await;
        }
        let asked = match answer {
            Err(_elapsed) => return JobResult::Late,
            Ok(Err(cause)) => {
                tracing::warn!(error = %cause, "runtime.compiler_died");
                return JobResult::Died;
            }
            Ok(Ok(line)) if line == DONE => JobResult::Done,
            Ok(Ok(line)) => JobResult::Refused(line),
        };
        self.rest(worker);
        asked
    }

    /// Keeps a process for the next job.
    fn rest(self: &Arc<Self>, mut worker: Worker) {
        worker.idle_since = Instant::now();
        self.lock().push(worker);
        let queue = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(IDLE_MAX).await;
            if let Some(queue) = queue.upgrade() {
                queue
                    .lock()
                    .retain(|worker| worker.idle_since.elapsed() < IDLE_MAX);
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    fn start(program: &Path, size: Size, dir: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(SUBCOMMAND)
            .arg(size.as_str())
            .current_dir(dir)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let gone = || io::Error::other("the process has no input or no output");
        let jobs = child.stdin.take().ok_or_else(gone)?;
        let answers = child.stdout.take().ok_or_else(gone)?;
        Ok(Self {
            _child: child,
            jobs,
            answers: BufReader::new(answers),
            idle_since: Instant::now(),
        })
    }

    async fn ask(&mut self, job: &str) -> io::Result<String> {
        self.jobs.write_all(format!("{job}\n").as_bytes()).await?;
        let mut line = String::new();
        match self.answers.read_line(&mut line).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}
