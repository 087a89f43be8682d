//! Work that its asker waits for and that goes on without them.
//!
//! It runs where it is asked for, without the cost of a task; when the asker is gone before its end,
//! it becomes a task. A panic in it ends the work and nothing else.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::FutureExt as _;
use futures_util::future::CatchUnwind;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TrackedFuture;

type Work<F> = CatchUnwind<AssertUnwindSafe<TrackedFuture<F>>>;

/// See [`outlive`].
#[must_use = "whoever asked wants the answer"]
pub(super) struct Outlive<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// None once it has ended.
    work: Option<Pin<Box<Work<F>>>>,
}

/// The work panicked; the hook has told the log.
#[derive(Debug, thiserror::Error)]
#[error("it panicked: {0}")]
pub(super) struct Panicked(String);

/// Counts as running in `running` until it has ended, whoever waits for it.
pub(super) fn outlive<F>(running: &TaskTracker, work: F) -> Outlive<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let work = AssertUnwindSafe(running.track_future(work)).catch_unwind();
    Outlive {
        work: Some(Box::pin(work)),
    }
}

impl<F> Future for Outlive<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let work = self.work.as_mut().expect("nobody polls what has ended");
        let ended = ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(ended.map_err(|panic| Panicked(words(&*panic))))
    }
}

impl<F> Drop for Outlive<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_is_awaited_is_answered_and_counts_while_it_runs() {
        let running = TaskTracker::new();
        let counted = running.clone();
        let answer = outlive(&running, async move { counted.len() }).await;
        assert_eq!(answer.unwrap(), 1);
        assert_eq!(running.len(), 0);
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_more_goes_on_and_counts() {
        let running = TaskTracker::new();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let mut work = Box::pin(outlive(&running, async move {
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
        drop(outlive(&TaskTracker::new(), async { done.send(()) }));
        assert!(is_done.await.is_ok());
    }

    #[tokio::test]
    async fn a_panic_ends_the_work_and_nothing_else() {
        let running = TaskTracker::new();
        let ended = outlive(&running, async { panic!("oh {}", "no") }).await;
        let Err(panicked): Result<(), _> = ended else {
            panic!("it panicked")
        };
        assert_eq!(panicked.to_string(), "it panicked: oh no");
        assert_eq!(running.len(), 0);
    }
}
