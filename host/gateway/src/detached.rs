//! Work that its asker waits for and that goes on without them.
//!
//! It runs where it was asked for, on the thread of its connection, without the cost of a task: handed
//! to another thread it would wait for that thread twice for each thing it waits for. When its asker is
//! gone, or once it has held up its thread for longer than [`STEP_MAX`], it goes on as a task of the
//! workers that all requests share. A panic in it ends the work and nothing else.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::CatchUnwind;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TrackedFuture;
use toolgate_core::trace::{self, InSpan};

type TaskFuture<F> = CatchUnwind<AssertUnwindSafe<TrackedFuture<InSpan<F>>>>;
type TaskResult<T> = Result<T, Box<dyn Any + Send>>;

/// Work that computes for longer between two waits does not stay on the thread of its connection.
const STEP_MAX: Duration = Duration::from_millis(2);

/// See [`detach`].
#[must_use = "the requester wants the answer"]
pub(crate) struct DetachedTask<'a, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    workers: &'a Handle,
    at: TaskState<F>,
}

enum TaskState<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Here(Pin<Box<TaskFuture<F>>>),
    Workers(JoinHandle<TaskResult<F::Output>>),
    End,
}

/// The work did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskFailure {
    /// The hook has told the log.
    #[error("it panicked: {0}")]
    Panicked(String),
    #[error("the process ends")]
    Stopped,
}

/// Counts as running in `running` until it has ended, whether it is waited for or not. `workers`: where it goes
/// on when it computes for long or nobody waits for it.
pub(crate) fn detach<'a, F>(
    running: &TaskTracker,
    workers: &'a Handle,
    work: F,
) -> DetachedTask<'a, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let work = running.track_future(trace::carry(work));
    let work = AssertUnwindSafe(work).catch_unwind();
    DetachedTask {
        workers,
        at: TaskState::Here(Box::pin(work)),
    }
}

impl<F> DetachedTask<'_, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn move_to_workers(&mut self) {
        if let TaskState::Here(work) = std::mem::replace(&mut self.at, TaskState::End) {
            self.at = TaskState::Workers(self.workers.spawn(work));
        }
    }
}

impl<F> Future for DetachedTask<'_, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = Result<F::Output, TaskFailure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = loop {
            match &mut self.at {
                TaskState::Here(work) => {
                    let began = Instant::now();
                    match work.as_mut().poll(context) {
                        Poll::Ready(ended) => break ended.map_err(panicked),
                        Poll::Pending if began.elapsed() < STEP_MAX => return Poll::Pending,
                        Poll::Pending => self.move_to_workers(),
                    }
                }
                TaskState::Workers(task) => {
                    break match ready!(task.poll_unpin(context)) {
                        Ok(ended) => ended.map_err(panicked),
                        Err(_cancelled) => Err(TaskFailure::Stopped),
                    };
                }
                TaskState::End => unreachable!("nobody polls what has ended"),
            }
        };
        self.at = TaskState::End;
        Poll::Ready(ended)
    }
}

impl<F> Drop for DetachedTask<'_, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn drop(&mut self) {
        self.move_to_workers();
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> TaskFailure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    TaskFailure::Panicked(text.unwrap_or("no message").to_owned())
}

#[cfg(test)]
mod tests {
    use std::thread::{self, ThreadId};

    use tokio::sync::oneshot;
    use toolgate_core::trace::TraceContext;

    use super::*;

    #[tokio::test]
    async fn what_is_awaited_is_answered_and_counts_while_it_runs() {
        let running = TaskTracker::new();
        let counted = running.clone();
        let answer = detach(&running, &Handle::current(), async move { counted.len() }).await;
        assert_eq!(answer.unwrap(), 1);
        assert_eq!(running.len(), 0);
    }

    /// Two runtimes: the test's own, and workers on another thread.
    fn workers() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).build().unwrap()
    }

    fn here() -> ThreadId {
        thread::current().id()
    }

    #[tokio::test]
    async fn only_what_computes_for_long_goes_to_the_workers() {
        let workers = workers();
        let (running, me) = (TaskTracker::new(), here());
        let yielding = |computing: Duration| async move {
            let first = here();
            thread::sleep(computing);
            tokio::task::yield_now().await;
            (first, here())
        };
        let brief = detach(&running, workers.handle(), yielding(Duration::ZERO)).await;
        assert_eq!(brief.unwrap(), (me, me));
        let (first, then) = detach(&running, workers.handle(), yielding(STEP_MAX))
            .await
            .unwrap();
        assert_eq!(first, me);
        assert_ne!(then, me, "it goes on elsewhere");
        assert_eq!(running.len(), 0);
        workers.shutdown_background();
    }

    #[tokio::test]
    async fn work_stays_in_its_trace_where_it_goes_on() {
        let workers = workers();
        let caller = TraceContext::new(1, 2, true);
        let work = async {
            thread::sleep(STEP_MAX);
            tokio::task::yield_now().await;
            (here(), trace::current())
        };
        let running = TaskTracker::new();
        let asked = async { detach(&running, workers.handle(), work).await.unwrap() };
        let (there, context) = trace::adopt(Some(caller.clone()), asked).await;
        assert_ne!(there, here(), "it goes on elsewhere");
        assert_eq!(context, Some(caller));
        workers.shutdown_background();
    }

    #[tokio::test]
    async fn work_that_the_workers_will_not_do_is_unfinished() {
        let workers = workers();
        let handle = workers.handle().clone();
        workers.shutdown_background();
        let computing = async {
            thread::sleep(STEP_MAX);
            tokio::task::yield_now().await;
        };
        let ended = detach(&TaskTracker::new(), &handle, computing).await;
        assert!(matches!(ended, Err(TaskFailure::Stopped)), "{ended:?}");
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_goes_on_and_counts() {
        let running = TaskTracker::new();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let workers = Handle::current();
        let mut work = Box::pin(detach(&running, &workers, async move {
            may_go_on.await.unwrap();
            done.send("done").unwrap();
        }));
        assert!(work.as_mut().now_or_never().is_none(), "it waits");
        drop(work);
        assert_eq!(running.len(), 1, "a shutdown waits for it");
        go_on.send(()).unwrap();
        assert_eq!(is_done.await.unwrap(), "done");
        running.close();
        running.wait().await;
    }

    #[tokio::test]
    async fn what_was_asked_for_and_never_awaited_runs_too() {
        let (done, is_done) = oneshot::channel();
        let work = async { done.send(()) };
        drop(detach(&TaskTracker::new(), &Handle::current(), work));
        assert!(is_done.await.is_ok());
    }

    #[tokio::test]
    async fn a_panic_ends_the_work_and_nothing_else() {
        let running = TaskTracker::new();
        let workers = Handle::current();
        let at_once = detach(&running, &workers, async { panic!("oh {}", "no") }).await;
        let later = async {
            tokio::task::yield_now().await;
            panic!("oh {}", "no")
        };
        let later = detach(&running, &workers, later).await;
        for ended in [at_once, later] {
            let Err(panicked): Result<(), _> = ended else {
                panic!("it panicked")
            };
            assert_eq!(panicked.to_string(), "it panicked: oh no");
        }
        assert_eq!(running.len(), 0);
    }
}
