//! Compiler processes: some at one time, each asked for one file after the other.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::child::{DONE, NOT_NOW, Priority, SUBCOMMAND};
use super::job::CompileJob;
use super::usage::processor_time;
use crate::size::Size;

/// A process that had nothing to do for this long is ended.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// A job's time is processor time, since a busy machine is not a fault of the file. Its wall-clock time is at most this
/// many times as long.
const STARVED_MAX: u32 = 10;

/// How a job ended.
pub(super) enum JobResult {
    Done,
    /// The file cannot be compiled, and why.
    Refused(String),
    /// The machine failed, and why: a later attempt may succeed.
    NotNow(String),
    /// Its time was over, and the process was ended.
    Late,
    /// The process ended by itself: it reached one of its limits, or crashed.
    Died,
    NoProcess(io::Error),
}

/// Processes that are started when they are needed.
pub(super) struct CompileQueue {
    priority: Priority,
    places: Semaphore,
    idle: Mutex<Vec<Worker>>,
}

struct Worker {
    /// Ended when this is dropped.
    child: Child,
    jobs: ChildStdin,
    answers: BufReader<ChildStdout>,
    idle_since: Instant,
}

impl CompileQueue {
    pub(super) fn new(at_once: usize, priority: Priority) -> Self {
        Self {
            priority,
            places: Semaphore::new(at_once),
            idle: Mutex::default(),
        }
    }

    /// Runs a job when its turn comes; from then on it may take `time_max`.
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
        let start = || Worker::start(program, size, self.priority, &job.dir);
        let used = self.lock().pop();
        let was_used = used.is_some();
        let worker = used.map_or_else(start, Ok);
        let mut worker = match worker {
            Ok(worker) => worker,
            Err(cause) => return JobResult::NoProcess(cause),
        };
        let mut answer = worker.ask(&job.name, time_max).await;
        if was_used && matches!(answer, Some(Err(_))) {
            // The idle process may have ended unnoticed, so a new one decides about the file.
            worker = match start() {
                Ok(worker) => worker,
                Err(cause) => return JobResult::NoProcess(cause),
            };
            answer = worker.ask(&job.name, time_max).await;
        }
        let asked = match answer {
            None => return JobResult::Late,
            Some(Err(cause)) => {
                tracing::warn!(error = %cause, "runtime.compiler_died");
                return JobResult::Died;
            }
            Some(Ok(line)) if line == DONE => JobResult::Done,
            Some(Ok(line)) => match line.strip_prefix(NOT_NOW) {
                Some(why) => JobResult::NotNow(why.to_owned()),
                None => JobResult::Refused(line),
            },
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
    fn start(program: &Path, size: Size, priority: Priority, dir: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(SUBCOMMAND)
            .args([size.as_str(), priority.as_str()])
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
            child,
            jobs,
            answers: BufReader::new(answers),
            idle_since: Instant::now(),
        })
    }

    /// What the process answers, or nothing if it has used its time before.
    async fn ask(&mut self, job: &str, time_max: Duration) -> Option<io::Result<String>> {
        let pid = self.child.id();
        let processor_time = || pid.and_then(processor_time);
        let before = processor_time();
        let last_end = Instant::now() + time_max * STARVED_MAX;
        let mut end = Instant::now() + time_max;
        let mut answer = pin!(self.answer(job));
        loop {
            if let Ok(answer) = timeout_at(end, answer.as_mut()).await {
                return Some(answer);
            }
            let used = processor_time()?.saturating_sub(before?);
            if used >= time_max || end >= last_end {
                return None;
            }
            end = (Instant::now() + (time_max - used)).min(last_end);
        }
    }

    async fn answer(&mut self, job: &str) -> io::Result<String> {
        self.jobs.write_all(format!("{job}\n").as_bytes()).await?;
        let mut line = String::new();
        match self.answers.read_line(&mut line).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}
