//! A call while it runs: what its plugin tells goes to the client as progress notifications, and a client
//! that takes the call back reaches the plugin.
//!
//! A client hears of progress only where its request has a `progressToken`, in the order in which the
//! plugin tells it and before the answer. The protocol has no partial results of a tool call: over MCP
//! they are dropped.

use std::pin::pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;

use toolgate_gateway::tools::{CallEvent, Execute};

/// Awaits `start(execute)` for the client of `context`.
pub(crate) async fn running<F: Future>(
    context: &RequestContext<RoleServer>,
    mut execute: Execute,
    start: impl FnOnce(Execute) -> F,
) -> F::Output {
    execute.listener.cancelled = Some(context.ct.clone());
    let Some(token) = context.meta.get_progress_token() else {
        return start(execute).await;
    };
    let (events, mut heard) = mpsc::unbounded_channel();
    execute.listener.events = Some(Arc::new(move |event| {
        // The client has left.
        let _ = events.send(event);
    }));
    let mut notifier = Notifier {
        peer: &context.peer,
        token,
        last: None,
    };
    let mut work = pin!(start(execute));
    let ended = loop {
        tokio::select! {
            biased;
            Some(event) = heard.recv() => notifier.tell(event).await,
            ended = &mut work => break ended,
        }
    };
    while let Ok(event) = heard.try_recv() {
        notifier.tell(event).await;
    }
    ended
}

struct Notifier<'a> {
    peer: &'a Peer<RoleServer>,
    token: ProgressToken,
    last: Option<u64>,
}

impl Notifier<'_> {
    async fn tell(&mut self, event: CallEvent) {
        let CallEvent::Progress {
            done,
            total,
            message,
        } = event
        else {
            return;
        };
        // Each notification has to be beyond the one before it.
        if self.last.is_some_and(|last| done <= last) {
            return;
        }
        self.last = Some(done);
        let mut told = ProgressNotificationParam::new(self.token.clone(), as_number(done));
        told.total = total.map(as_number);
        told.message = (!message.is_empty()).then_some(message);
        // A client that is gone does not hear it.
        let _ = self.peer.notify_progress(told).await;
    }
}

/// JSON's numbers are exact up to 2^53; nobody counts further.
#[allow(clippy::cast_precision_loss)]
fn as_number(count: u64) -> f64 {
    count as f64
}
