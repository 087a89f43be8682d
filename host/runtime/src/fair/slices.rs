//! Where a call runs: where it was asked for while it is short, in turns once it is long.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::Claim;
use super::compute::{Compute, Running};

/// Less than this of a whole call is not worth a line in the ledger.
const CHARGED: Duration = Duration::from_micros(200);

/// Who has computed for this long without waiting goes on in turns.
const SLICE: Duration = Duration::from_millis(4);

/// See [`slices`].
pub(crate) struct Slices<T> {
    compute: Arc<Compute>,
    claim: Claim,
    /// Used on the thread of whoever asked.
    used: Duration,
    at: At<T>,
}

enum At<T> {
    Here(BoxFuture<'static, T>),
    InTurns(Running<T>),
    End,
}

/// Runs `work` for `claim`. Must be polled in a tokio runtime.
pub(crate) fn slices<T: Send + 'static>(
    compute: &Arc<Compute>,
    claim: Claim,
    work: impl Future<Output = T> + Send + 'static,
) -> Slices<T> {
    let at = if compute.begins(&claim) {
        At::InTurns(compute.run(claim.clone(), work))
    } else {
        At::Here(Box::pin(work))
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
        if let At::Here(work) = &mut this.at {
            let began = Instant::now();
            let polled = work.as_mut().poll(context);
            let took = began.elapsed();
            this.used += took;
            if polled.is_ready() {
                this.at = At::End;
                return polled;
            }
            if took < SLICE {
                return Poll::Pending;
            }
            if let At::Here(work) = std::mem::replace(&mut this.at, At::End) {
                this.at = At::InTurns(this.compute.run(this.claim.clone(), work));
            }
        }
        match &mut this.at {
            At::InTurns(running) => running.poll_unpin(context),
            At::Here(_) | At::End => Poll::Pending,
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
