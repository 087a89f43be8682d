//! A call while it runs: what its plugin tells goes to the client as progress notifications, and a client
//! that takes the call back reaches the plugin.
//!
//! A client hears of progress only where its request has a `progressToken`, in the order in which the
//! plugin tells it and before the answer. A client that does not read holds up neither the call nor, for
//! longer than two seconds, its answer. The protocol has no partial results of a tool call: over MCP
//! they are dropped.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{self, Either};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;

use toolgate_gateway::tools::{CallEvent, Execute};

/// How long a call that has ended waits for its client to read the progress that is left. After that it is
/// answered without.
const LAST_PROGRESS_WITHIN: Duration = Duration::from_secs(2);

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
    let listening = events.downgrade();
    execute.listener.events = Some(Arc::new(move |event| {
        // Parts of the result can be larger than all progress of a call, which the runtime bounds.
        if matches!(event, CallEvent::Progress { .. })
            && let Some(events) = listening.upgrade()
        {
            // The client has left.
            let _ = events.send(event);
        }
    }));
    let mut notifier = Notifier {
        peer: &context.peer,
        token,
        last: None,
    };
    let telling = pin!(async move {
        while let Some(event) = heard.recv().await {
            notifier.tell(event).await;
        }
    });
    let work = pin!(start(execute));
    // A notification waits until its client reads. The call's own time limits do not wait for that.
    match future::select(work, telling).await {
        Either::Left((ended, telling)) => {
            // The observer may outlive the work: without this nobody would say that nothing more comes.
            drop(events);
            let _ = tokio::time::timeout(LAST_PROGRESS_WITHIN, telling).await;
            ended
        }
        // Not before `events` is dropped.
        Either::Right(((), work)) => work.await,
    }
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

#[cfg(test)]
mod tests {
    use rmcp::ServerHandler;
    use rmcp::model::RequestId;
    use rmcp::service::{RunningService, serve_directly};
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt as _, DuplexStream};
    use tokio::time::timeout;
    use toolgate_gateway::tools::results::Budget;
    use toolgate_gateway::tools::{Arguments, CallListener};

    use super::*;

    /// Longer than any call of these tests takes.
    const PATIENCE: Duration = Duration::from_secs(60);
    const TOLD: u64 = 20;

    struct QuietHandler;

    impl ServerHandler for QuietHandler {}

    /// A server that sends to `near`, and a call of its client that asks for progress.
    fn serving(
        near: DuplexStream,
    ) -> (
        RunningService<RoleServer, QuietHandler>,
        RequestContext<RoleServer>,
    ) {
        let service = serve_directly::<RoleServer, _, _, _, _>(QuietHandler, near, None);
        let mut context = RequestContext::new(RequestId::Number(1), service.peer().clone());
        let token = ProgressToken(RequestId::Number(7));
        context.meta.set_progress_token(token);
        (service, context)
    }

    fn execute() -> Execute {
        Execute {
            tool_name: "walker_read".to_owned(),
            arguments: Arguments::Object(json!({})),
            session_id: None,
            user_id: None,
            connection_id: None,
            dry_run: false,
            budget: Budget::default(),
            claim: None,
            listener: CallListener::default(),
        }
    }

    fn tell(execute: &Execute, done: u64) {
        let tell = execute.listener.events.as_ref().unwrap();
        tell(CallEvent::Progress {
            done,
            total: Some(TOLD),
            message: format!("page {done}"),
        });
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_holds_up_neither_its_call_nor_the_time_limit_of_it() {
        // Less than one notification.
        let (near, _unread) = tokio::io::duplex(16);
        let (_service, context) = serving(near);
        let work = |execute: Execute| async move {
            tell(&execute, 1);
            tokio::task::yield_now().await;
            tell(&execute, 2);
            let limited = timeout(Duration::from_millis(10), future::pending::<()>());
            assert!(limited.await.is_err());
            "timed out"
        };
        let ended = timeout(PATIENCE, running(&context, execute(), work)).await;
        assert_eq!(ended.ok(), Some("timed out"));
    }

    #[tokio::test]
    async fn a_client_that_reads_is_told_everything_in_order_before_the_answer() {
        let (near, mut far) = tokio::io::duplex(16);
        let (service, context) = serving(near);
        let reading = tokio::spawn(async move {
            let mut read = String::new();
            far.read_to_string(&mut read).await.unwrap();
            read
        });
        let work = |execute: Execute| async move {
            // Not beyond the one before it: not told.
            for done in [1, 2, 2, 1].into_iter().chain(3..=TOLD) {
                tell(&execute, done);
            }
            let tell = execute.listener.events.clone().unwrap();
            // A task that the work leaves behind.
            tokio::spawn(async move {
                future::pending::<()>().await;
                drop(tell);
            });
        };
        let ended = timeout(PATIENCE, running(&context, execute(), work)).await;
        assert!(ended.is_ok(), "{ended:?}");
        drop(service);
        let read = timeout(PATIENCE, reading).await.unwrap().unwrap();
        let told = read.lines().map(|line| {
            let told: Value = serde_json::from_str(line).unwrap();
            assert_eq!(told["params"]["progressToken"], 7, "{told}");
            told["params"]["progress"].as_f64()
        });
        let expected = (1..=TOLD).map(|done| Some(as_number(done)));
        assert!(told.eq(expected), "{read}");
    }
}
