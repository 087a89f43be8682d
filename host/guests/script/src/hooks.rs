//! What the interpreter asks its host: time, jobs, and whether text may become code.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use boa_engine::builtins::promise::OperationType;
use boa_engine::builtins::promise::Promise;
use boa_engine::context::HostHooks;
use boa_engine::context::time::{Clock, JsInstant};
use boa_engine::job::{GenericJob, Job, JobExecutor, PromiseJob};
use boa_engine::object::JsObject;
use boa_engine::realm::Realm;
use boa_engine::{Context, JsNativeError, JsResult, JsString};

use crate::limits::{BUFFER_BYTES_MAX, UNHANDLED_MAX};

/// The time that the host gave with the last turn.
#[derive(Debug, Default)]
pub(crate) struct GuestClock(Cell<i64>);

impl GuestClock {
    pub(crate) fn set(&self, now_ms: i64) {
        self.0.set(now_ms);
    }
}

impl Clock for GuestClock {
    fn now(&self) -> JsInstant {
        let now = u64::try_from(self.0.get()).unwrap_or_default();
        let nanoseconds = u32::try_from(now % 1000).unwrap_or_default() * 1_000_000;
        JsInstant::new(now / 1000, nanoseconds)
    }

    fn system_time_millis(&self) -> i64 {
        self.0.get()
    }
}

/// Rejected promises that nothing has handled yet.
#[derive(Default)]
pub(crate) struct GuestHooks {
    unhandled: RefCell<Vec<JsObject>>,
}

impl GuestHooks {
    pub(crate) fn take_unhandled(&self) -> Vec<JsObject> {
        self.unhandled.take()
    }
}

impl HostHooks for GuestHooks {
    fn promise_rejection_tracker(
        &self,
        promise: &JsObject<Promise>,
        operation: OperationType,
        _context: &mut Context,
    ) {
        let promise = promise.clone().upcast();
        let mut unhandled = self.unhandled.borrow_mut();
        match operation {
            OperationType::Reject if unhandled.len() < UNHANDLED_MAX => unhandled.push(promise),
            OperationType::Reject => {}
            OperationType::Handle => unhandled.retain(|known| !JsObject::equals(known, &promise)),
        }
    }

    fn ensure_can_compile_strings(
        &self,
        _realm: Realm,
        _parameters: &[JsString],
        _body: &JsString,
        direct: bool,
        _context: &mut Context,
    ) -> JsResult<()> {
        let what = if direct { "eval" } else { "eval and Function" };
        Err(JsNativeError::eval()
            .with_message(format!(
                "a script cannot make code of text: {what} is not available"
            ))
            .into())
    }

    fn local_timezone_offset_seconds(&self, _unix_time_seconds: i64) -> i32 {
        0
    }

    fn max_buffer_size(&self, _context: &mut Context) -> u64 {
        BUFFER_BYTES_MAX
    }
}

enum QueuedJob {
    Promise(PromiseJob),
    Generic(GenericJob),
}

/// Runs jobs in the order in which they were queued. Nothing in a script can queue one that waits for a time.
#[derive(Default)]
pub(crate) struct GuestJobs(RefCell<VecDeque<QueuedJob>>);

impl JobExecutor for GuestJobs {
    fn enqueue_job(self: Rc<Self>, job: Job, _context: &mut Context) {
        match job {
            Job::PromiseJob(job) => self.0.borrow_mut().push_back(QueuedJob::Promise(job)),
            Job::GenericJob(job) => self.0.borrow_mut().push_back(QueuedJob::Generic(job)),
            _ => {}
        }
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        loop {
            let job = self.0.borrow_mut().pop_front();
            match job {
                Some(QueuedJob::Promise(job)) => job.call(context)?,
                Some(QueuedJob::Generic(job)) => job.call(context)?,
                None => return Ok(()),
            };
            context.clear_kept_objects();
        }
    }
}
