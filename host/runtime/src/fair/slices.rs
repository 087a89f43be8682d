//! Where a call runs: on the caller's thread while it is short, in turns once it is long.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::CallClaim;
use super::compute::{Compute, ComputeTask};

/// Less than this of a whole call is not worth a line in the ledger.
const CHARGED: Duration = Duration::from_micros(200);

/// A call that has computed for this long without waiting continues in turns.
const SLICE: Duration = Duration::from_millis(4);

/// See [`slices`].
pub(crate) struct Slices<T> {
    compute: Arc<Compute>,
    claim: CallClaim,
    /// Processor time used on the caller's thread.
    used: Duration,
    at: SliceState<T>,
}

enum SliceState<T> {
    Here(BoxFuture<'static, T>),
    InTurns(ComputeTask<T>),
    End,
}

/// Runs `work` for `claim`. Must be polled in a tokio runtime.
pub(crate) fn slices<T: Send + 'static>(
    compute: &Arc<Compute>,
    claim: CallClaim,
    work: impl Future<Output = T> + Send + 'static,
) -> Slices<T> {
    let at = if compute.begins(&claim) {
        SliceState::InTurns(compute.run(claim.clone(), work))
    } else {
        SliceState::Here(Box::pin(work))
    };
    Slices {
        compute: compute.clone(),
        claim,
        used: Duration::ZERO,
        at,
    }
}

impl<T: Send + 'static> Future for Slices<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if let SliceState::Here(work) = &mut this.at {
            let began = Instant::now();
            let polled = work.as_mut().poll(context);
            let took = began.elapsed();
            this.used += took;
            if polled.is_ready() {
                this.at = SliceState::End;
                return polled;
            }
            if took < SLICE {
                return Poll::Pending;
            }
            if let SliceState::Here(work) = std::mem::replace(&mut this.at, SliceState::End) {
                this.at = SliceState::InTurns(this.compute.run(this.claim.clone(), work));
            }
        }
        match &mut this.at {
            SliceState::InTurns(running) => running.poll_unpin(context),
            SliceState::Here(_) | SliceState::End => Poll::Pending,
        }
    }
}

impl<T> Drop for Slices<T> {
    fn drop(&mut self) {
        if self.used >= CHARGED {
            self.compute.charge(&self.claim, self.used);
        }
    }
}
