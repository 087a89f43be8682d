//! Compiling component files to machine code without one delaying another.
//!
//! Compiling cannot be interrupted and its time and memory depend on an untrusted file, so a process of
//! its own does it ([`child`]): it bounds its own memory, and this process ends it when it has used its
//! processor time. There are two queues ([`CompileQueue`]). A small file ([`CompileCost`]) is compiled by
//! the quick process; a large one, or one that used up its time there, goes to the long queue and does
//! not delay the others. A quick process goes on from file to file, because most plugins share most
//! of their functions ([`super::functions`]).
//!
//! Without a program ([`Compiler::program`]) it is done here, in the same two queues and without
//! bounds: for tests of plugins on their author's machine. Each queue has threads of its own, since
//! a function that is being compiled gives its thread to nobody. Where there is a program and no
//! process can be started, this is for small files alone; others are refused.

pub mod child;
mod cost;
mod job;
mod queue;
mod usage;

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::Component;

use super::machine::process_bytes;
use super::size::Size;
use child::Priority;
pub use cost::CompileCost;
pub use job::CompileJob;
use job::{INPUT, OUTPUT, write_new};
use queue::{CompileQueue, JobResult};
use toolgate_core::ids;

/// Processor time that a file may take of the quick process.
const QUICK_TIME_MAX: Duration = Duration::from_secs(5);
/// Processes of the long queue, where there is memory for them.
const LONG_AT_ONCE: usize = 2;
/// Where this process may have less, one large file is compiled at a time.
const LONG_MEMORY_BYTES_MIN: u64 = 4 << 30;
/// Folders that a killed process left are removed after this time.
const LEFT_BEHIND_FOR: Duration = Duration::from_secs(60 * 60);

/// Compiles for one engine.
pub struct Compiler {
    engine: Engine,
    size: Size,
    /// Jobs are folders in here.
    dir: PathBuf,
    /// The program whose subcommand `__compile` is [`child::run`].
    program: Arc<OnceLock<PathBuf>>,
    quick: Arc<CompileQueue>,
    long: Arc<CompileQueue>,
    quick_here: InProcessQueue,
    long_here: InProcessQueue,
}

/// One queue of this process: a lock, and the threads of the file that holds it.
#[derive(Clone)]
struct InProcessQueue {
    turn: Arc<Semaphore>,
    threads: Arc<OnceLock<rayon::ThreadPool>>,
}

impl InProcessQueue {
    fn new() -> Self {
        Self {
            turn: Arc::new(Semaphore::new(1)),
            threads: Arc::default(),
        }
    }

    /// Compiles on the threads of the queue, which are made for its first file.
    fn compile(&self, engine: &Engine, bytes: &[u8]) -> wasmtime::Result<Component> {
        let threads = match self.threads.get() {
            Some(threads) => threads,
            None => {
                let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
                let made = rayon::ThreadPoolBuilder::new().num_threads(cores);
                let made = made.build().map_err(wasmtime::Error::new)?;
                self.threads.get_or_init(|| made)
            }
        };
        threads.install(|| Component::from_binary(engine, bytes))
    }
}

impl Compiler {
    /// `dir` (0700, made anew) is for this process alone.
    pub fn open(
        engine: &Engine,
        size: Size,
        dir: &Path,
        program: Arc<OnceLock<PathBuf>>,
    ) -> io::Result<Self> {
        forget_old(dir);
        let dir = dir.join(ids::ulid("compiling"));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&dir)?;
        Ok(Self {
            engine: engine.clone(),
            size,
            dir,
            program,
            quick: Arc::new(CompileQueue::new(1, Priority::Quick)),
            long: Arc::new(CompileQueue::new(
                long_at_once(process_bytes()),
                Priority::Long,
            )),
            quick_here: InProcessQueue::new(),
            long_here: InProcessQueue::new(),
        })
    }

    /// Writes the file to disk for the process that will compile it, so that it does not wait in memory.
    pub async fn job(&self, bytes: Vec<u8>) -> io::Result<CompileJob> {
        let job = CompileJob {
            dir: self.dir.clone(),
            name: ids::ulid("job"),
            cost: CompileCost::measure(&bytes),
        };
        let written = tokio::task::spawn_blocking(move || {
            fs::DirBuilder::new().mode(0o700).create(job.folder())?;
            write_new(&job.folder().join(INPUT), &bytes)?;
            Ok(job)
        });
        written.await.map_err(io::Error::other)?
    }

    /// The compiled component.
    pub async fn compile(&self, job: CompileJob) -> wasmtime::Result<Component> {
        let Some(program) = self.program.get() else {
            return self.compile_here(job).await;
        };
        if job.cost.is_small(self.size) {
            match self
                .quick
                .ask(program, self.size, &job, QUICK_TIME_MAX)
                .await
            {
                JobResult::Done => return self.take(job).await,
                JobResult::Refused(why) => return Err(wasmtime::Error::msg(why)),
                JobResult::NotNow(why) => return Err(not_now(why)),
                JobResult::NoProcess(cause) => return self.without_process(job, &cause).await,
                JobResult::Late | JobResult::Died => {}
            }
        }
        let bounds = self.size.bounds();
        let time_max = bounds.compile_time_max;
        match self.long.ask(program, self.size, &job, time_max).await {
            JobResult::Done => self.take(job).await,
            JobResult::Refused(why) => Err(wasmtime::Error::msg(why)),
            JobResult::NotNow(why) => Err(not_now(why)),
            JobResult::NoProcess(cause) => self.without_process(job, &cause).await,
            JobResult::Late => Err(wasmtime::Error::msg(format!(
                "compiling it took more than {} s of processor time",
                time_max.as_secs()
            ))),
            JobResult::Died => Err(wasmtime::Error::msg(format!(
                "the compiler stopped; it gets at most {} MiB of memory",
                bounds.compile_bytes_max >> 20
            ))),
        }
    }

    async fn without_process(
        &self,
        job: CompileJob,
        cause: &io::Error,
    ) -> wasmtime::Result<Component> {
        // In this process the memory and time of a large file would not be bounded.
        if !job.cost.is_small(self.size) {
            return Err(not_now(format!(
                "compiling this file needs a separate process, which could not be started ({cause})"
            )));
        }
        tracing::warn!(error = %cause, "runtime.no_compiler_process: compiled in this one");
        self.compile_here(job).await
    }

    async fn compile_here(&self, job: CompileJob) -> wasmtime::Result<Component> {
        let here = match job.cost.is_small(self.size) {
            true => self.quick_here.clone(),
            false => self.long_here.clone(),
        };
        let turn = here.turn.clone().acquire_owned().await;
        let engine = self.engine.clone();
        let compiling = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let bytes = fs::read(job.folder().join(INPUT))?;
            here.compile(&engine, &bytes)
        });
        // After its time nothing waits for the result, but the queue stays occupied until it is done.
        let time_max = self.size.bounds().compile_time_max;
        match tokio::time::timeout(time_max, compiling).await {
            Ok(Ok(compiled)) => compiled,
            Ok(Err(cause)) => Err(wasmtime::Error::msg(format!(
                "the compiler stopped: {cause}"
            ))),
            Err(_elapsed) => Err(wasmtime::Error::msg(format!(
                "compiling it took more than {} s",
                time_max.as_secs()
            ))),
        }
    }

    /// Maps the file that the process wrote.
    async fn take(&self, job: CompileJob) -> wasmtime::Result<Component> {
        let engine = self.engine.clone();
        let mapped = tokio::task::spawn_blocking(move || {
            // SAFETY: the file is the output of `Engine::precompile_component` of this very program,
            // written a moment ago by the process that was started for it, in a folder that only this
            // user can enter and that was made for this one job; nothing changes it while it is mapped,
            // for its name is gone when `job` is.
            #[expect(unsafe_code, reason = "maps code that this program compiled")]
            unsafe {
                Component::deserialize_file(&engine, job.folder().join(OUTPUT))
            }
        });
        mapped
            .await
            .map_err(|cause| wasmtime::Error::msg(cause.to_string()))?
    }
}

/// A large file takes hundreds of MiB while it is compiled.
fn long_at_once(process_bytes: Option<u64>) -> usize {
    match process_bytes {
        Some(bytes) if bytes < LONG_MEMORY_BYTES_MIN => 1,
        _ => LONG_AT_ONCE,
    }
}

/// The cause is the machine, not the file.
fn not_now(why: String) -> wasmtime::Error {
    wasmtime::Error::new(io::Error::other(why))
}

impl Drop for Compiler {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn forget_old(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > LEFT_BEHIND_FOR) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;

    #[test]
    fn a_small_machine_compiles_one_large_file_at_a_time() {
        assert_eq!(long_at_once(Some(512 << 20)), 1);
        assert_eq!(long_at_once(Some(LONG_MEMORY_BYTES_MIN)), LONG_AT_ONCE);
        assert_eq!(long_at_once(None), LONG_AT_ONCE);
    }

    #[tokio::test]
    async fn where_no_process_can_be_started_a_large_file_is_refused_and_a_small_one_compiled() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine::for_compiling(Size::Ordinary).unwrap();
        let program = Arc::new(OnceLock::from(folder.path().join("nothing")));
        let compiler = Compiler::open(&engine, Size::Ordinary, folder.path(), program).unwrap();
        let component = |constants: usize| {
            let function = format!("(func {})", "(drop (i32.const 1))".repeat(constants));
            wat::parse_str(format!("(component (core module {function}))")).unwrap()
        };
        let small = compiler.job(component(10)).await.unwrap();
        compiler.compile(small).await.unwrap();
        let large = compiler.job(component(60_000)).await.unwrap();
        let refused = compiler.compile(large).await.err().unwrap().to_string();
        assert!(refused.contains("needs a separate process"), "{refused}");
    }
}
