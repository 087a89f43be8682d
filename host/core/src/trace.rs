//! Traces: the steps of a call, for a recorder that the program may install.
//!
//! Other crates begin a [`TraceSpan`] where something takes time and run a future in it with
//! [`TraceSpan::scope`]. Spans that begin inside are its children, on any thread that the future moves to. Without
//! a recorder a span is empty, and to begin one costs one load of a pointer.
//!
//! A span holds only what [`Attribute`] lists: no argument, no result, no path, no identifier of a user.

mod attribute;
mod context;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::RefCell;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pub use attribute::{Attribute, AttributeValue};
pub use context::{TRACEPARENT, TRACESTATE, TraceContext};

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Answers a request from outside.
    Server,
    /// Sends a request to the outside and waits for its answer.
    Client,
    Internal,
}

/// A span about to begin.
#[derive(Debug)]
pub struct NewSpan<'a> {
    pub name: Cow<'static, str>,
    pub kind: SpanKind,
    /// `None`: it begins a trace.
    pub parent: Option<&'a TraceContext>,
    /// Whether the parent is another process's.
    pub remote: bool,
    /// A span of another trace that it belongs to as well.
    pub link: Option<&'a TraceContext>,
}

/// Records spans. Called on the threads that serve, so it never waits.
pub trait Recorder: Send + Sync {
    /// Begins a span. Without a [`RecordedSpan`] the trace is not sampled.
    fn begin(&self, span: NewSpan<'_>) -> (TraceContext, Option<Box<dyn RecordedSpan>>);
}

/// A span that is recorded. It ends when it is dropped.
pub trait RecordedSpan: Send + Sync {
    fn set(&mut self, attribute: Attribute, value: AttributeValue);
    /// Marks it as failed. `error_type`: one of few words (`error.type`).
    fn fail(&mut self, error_type: Cow<'static, str>);
}

static RECORDER: OnceLock<Box<dyn Recorder>> = OnceLock::new();

thread_local! {
    static CURRENT: RefCell<Option<TraceContext>> = const { RefCell::new(None) };
}

/// Installs the process's recorder. `false`: there is one already.
pub fn install(recorder: Box<dyn Recorder>) -> bool {
    RECORDER.set(recorder).is_ok()
}

/// Whether the process has a recorder.
pub fn is_on() -> bool {
    RECORDER.get().is_some()
}

/// The innermost span that runs on this thread now.
pub fn current() -> Option<TraceContext> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Keeps `future` in the current trace when it moves to another task or thread.
pub fn carry<F: Future>(future: F) -> InSpan<F> {
    adopt(current(), future)
}

/// Runs `future` below a span of another process, without a span of its own.
pub fn adopt<F: Future>(parent: Option<TraceContext>, future: F) -> InSpan<F> {
    InSpan {
        future,
        context: parent,
    }
}

/// A step of a call, from its beginning until it is dropped. Empty where nothing is recorded.
#[must_use = "a span ends when it is dropped"]
#[derive(Default)]
pub struct TraceSpan(Option<Box<LiveSpan>>);

struct LiveSpan {
    context: TraceContext,
    recorded: Option<Box<dyn RecordedSpan>>,
}

impl TraceSpan {
    /// Begins a span below the current one. Empty outside of a request, and where its trace is not
    /// sampled.
    pub fn begin<N: Into<Cow<'static, str>>>(kind: SpanKind, name: impl FnOnce() -> N) -> Self {
        if !is_on() {
            return Self(None);
        }
        CURRENT.with(|current| Self::begin_below(kind, current.borrow().as_ref(), name))
    }

    /// The same below a span of this process that is not the current one.
    pub fn begin_below<N: Into<Cow<'static, str>>>(
        kind: SpanKind,
        parent: Option<&TraceContext>,
        name: impl FnOnce() -> N,
    ) -> Self {
        match (RECORDER.get(), parent) {
            (Some(recorder), Some(parent)) if parent.is_sampled() => Self::record(
                &**recorder,
                NewSpan {
                    name: name().into(),
                    kind,
                    parent: Some(parent),
                    remote: false,
                    link: None,
                },
            ),
            _ => Self(None),
        }
    }

    /// Begins the first span of this process for a request: below that of the client, where it sent
    /// one. `link`: the transport's, where the request has a context of its own.
    pub fn serve<N: Into<Cow<'static, str>>>(
        parent: Option<&TraceContext>,
        link: Option<&TraceContext>,
        name: impl FnOnce() -> N,
    ) -> Self {
        let Some(recorder) = RECORDER.get() else {
            return Self(None);
        };
        let new = NewSpan {
            name: name().into(),
            kind: SpanKind::Server,
            parent,
            remote: true,
            link,
        };
        Self::record(&**recorder, new)
    }

    fn record(recorder: &dyn Recorder, new: NewSpan<'_>) -> Self {
        let (context, recorded) = recorder.begin(new);
        Self(Some(Box::new(LiveSpan { context, recorded })))
    }

    /// The context of a span that is or could have been recorded.
    pub fn context(&self) -> Option<&TraceContext> {
        self.0.as_ref().map(|live| &live.context)
    }

    /// Adds to the span; not called where nothing records it.
    pub fn note(&mut self, add: impl FnOnce(&mut dyn RecordedSpan)) {
        if let Some(live) = &mut self.0
            && let Some(recorded) = &mut live.recorded
        {
            add(&mut **recorded);
        }
    }

    /// Runs `future` in the span: what begins inside is below it.
    pub fn scope<F: Future>(&self, future: F) -> InSpan<F> {
        InSpan {
            future,
            context: self.context().cloned(),
        }
    }

    /// Runs `step` in the span: lines that it logs belong to it.
    pub fn within<T>(&self, step: impl FnOnce() -> T) -> T {
        let mut context = self.context().cloned();
        if context.is_none() {
            return step();
        }
        let _entered = Entered::swap(&mut context);
        step()
    }
}

pin_project! {
    /// See [`TraceSpan::scope`]. Without a context it only passes polls on.
    #[must_use = "futures do nothing unless polled"]
    pub struct InSpan<F> {
        #[pin]
        future: F,
        context: Option<TraceContext>,
    }
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if this.context.is_none() {
            return this.future.poll(task);
        }
        let _entered = Entered::swap(this.context);
        this.future.poll(task)
    }
}

/// The thread's context is that of the span until this is dropped, also by a panic.
struct Entered<'a>(&'a mut Option<TraceContext>);

impl<'a> Entered<'a> {
    fn swap(context: &'a mut Option<TraceContext>) -> Self {
        exchange(context);
        Self(context)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        exchange(self.0);
    }
}

fn exchange(context: &mut Option<TraceContext>) {
    CURRENT.with(|current| std::mem::swap(&mut *current.borrow_mut(), context));
}
