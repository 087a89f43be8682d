//! The process that compiles: `toolgate __compile ordinary|large quick|long`, started by the gateway alone.
//!
//! It reads the name of a job's folder from standard input, compiles the file there, writes the code
//! beside it and answers with a line, until its input ends. It sets its own limits before it reads
//! anything.

use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, setrlimit};
use wasmtime::Engine;

use super::job::{INPUT, OUTPUT, write_new};
use crate::engine;
use crate::size::Size;

/// The name of the subcommand.
pub const SUBCOMMAND: &str = "__compile";
/// The answer to a file that was compiled; any other line says why not.
pub(super) const DONE: &str = "done";
/// Begins the answer to a file that could not be compiled because of this machine: no space, no permission.
pub(super) const NOT_NOW: &str = "not now: ";
/// Processor time of one process, in case the gateway does not end it.
const CPU_SECONDS_MAX: u64 = 1_800;
/// What a process may write into one file.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// How often it looks whether the gateway is there.
const PARENT_EVERY: Duration = Duration::from_secs(1);
/// How willingly the kernel ends this process where memory is short (`proc_pid_oom_score_adj(5)`).
const OOM_SCORE: &str = "/proc/self/oom_score_adj";
const OOM_SCORE_MOST: &str = "1000";
/// Nice value of a process of the long queue.
const NICE: i32 = 10;

/// The priority on a busy machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// That of the gateway: a small file takes little time, and a request waits for it.
    Quick,
    /// The gateway goes first.
    Long,
}

impl Priority {
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Quick, Self::Long]
            .into_iter()
            .find(|priority| priority.as_str() == word)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Long => "long",
        }
    }
}

/// Answers jobs until the input ends. The current folder contains the folders of the jobs.
pub fn run(size: Size, priority: Priority) -> anyhow::Result<()> {
    // Where memory is short, the kernel ends this process before the gateway. Without it the largest one is ended.
    let _ = fs::write(OOM_SCORE, OOM_SCORE_MOST);
    limit(size)?;
    if priority == Priority::Long {
        // Without it the process is only slower.
        let _ = rustix::process::nice(NICE);
    }
    // Serving and the other queue's processes need the other half.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = rayon::ThreadPoolBuilder::new().num_threads((cores / 2).max(1));
    threads.build_global()?;
    let engine = engine::for_compiling(size)?;
    end_with(rustix::process::getppid());
    let mut answers = io::stdout().lock();
    for job in io::stdin().lock().lines() {
        let job = job?;
        let answer = match compile(&engine, &job) {
            Ok(()) => DONE.to_owned(),
            Err(cause) => {
                let root = cause.root_cause();
                let of_machine = if root.is::<io::Error>() { NOT_NOW } else { "" };
                format!("{of_machine}{}", one_line(&root.to_string()))
            }
        };
        writeln!(answers, "{answer}")?;
        answers.flush()?;
    }
    Ok(())
}

/// Ends this process, in the middle of a file too, once the one that started it is gone.
fn end_with(parent: Option<Pid>) {
    std::thread::spawn(move || {
        while rustix::process::getppid() == parent {
            std::thread::sleep(PARENT_EVERY);
        }
        std::process::exit(1);
    });
}

fn compile(engine: &Engine, job: &str) -> anyhow::Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    anyhow::ensure!(!job.is_empty() && job.bytes().all(plain), "no job");
    let folder = Path::new(job);
    let bytes = fs::read(folder.join(INPUT))?;
    let code = engine.precompile_component(&bytes)?;
    write_new(&folder.join(OUTPUT), &code)?;
    Ok(())
}

fn limit(size: Size) -> io::Result<()> {
    let memory = size.bounds().compile_bytes_max as u64;
    for (resource, most) in [
        (Resource::As, memory),
        (Resource::Cpu, CPU_SECONDS_MAX),
        (Resource::Fsize, FILE_BYTES_MAX),
        (Resource::Core, 0),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)?;
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.chars()
        .take(1_000)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
