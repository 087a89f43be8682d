//! A call while it runs: what its plugin tells goes to the client as progress notifications, and a client
//! that takes the call back reaches the plugin.
//!
//! A client hears of progress only where its request has a `progressToken`, in the order in which the
//! plugin tells it and before the answer. Where nothing was told for ten seconds, it hears that the call
//! still runs, until the call ends. A client that does not read holds up neither the call nor, for
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
use tokio::time::{Instant, timeout_at};

use toolgate_gateway::tools::{CallEvent, CallListener, Execute};

/// How long a call that has ended waits for its client to read the progress that is left. After that it is
/// answered without.
const LAST_PROGRESS_WITHIN: Duration = Duration::from_secs(2);
/// How long a client that asked for progress hears nothing.
const BEAT: Duration = Duration::from_secs(10);

/// Awaits `start(execute)` for the client of `context`.
pub(crate) async fn running<F: Future>(
    context: &RequestContext<RoleServer>,
    execute: Execute,
    start: impl FnOnce(Execute) -> F,
) -> F::Output {
    heard_each(BEAT, context, execute, start).await
}

/// The same for other work that tells how far it is.
pub(crate) async fn listened<F: Future>(
    context: &RequestContext<RoleServer>,
    start: impl FnOnce(CallListener) -> F,
) -> F::Output {
    heard(BEAT, context, start).await
}

async fn heard_each<F: Future>(
    beat: Duration,
    context: &RequestContext<RoleServer>,
    execute: Execute,
    start: impl FnOnce(Execute) -> F,
) -> F::Output {
    let start = |listener| {
        start(Execute {
            listener,
            ..execute
        })
    };
    heard(beat, context, start).await
}

async fn heard<F: Future>(
    beat: Duration,
    context: &RequestContext<RoleServer>,
    start: impl FnOnce(CallListener) -> F,
) -> F::Output {
    let mut listener = CallListener {
        events: None,
        cancelled: Some(context.ct.clone()),
    };
    let Some(token) = context.meta.get_progress_token() else {
        return start(listener).await;
    };
    let (events, mut heard) = mpsc::unbounded_channel();
    let listening = events.downgrade();
    listener.events = Some(Arc::new(move |event| {
        // Parts of the result can be larger than all progress of a call, which the runtime bounds.
        if matches!(event, CallEvent::Progress { .. })
            && let Some(events) = listening.upgrade()
        {
            // The client has left.
            let _ = events.send(event);
        }
    }));
    let mut notifier = Notifier::new(&context.peer, token);
    let telling = pin!(async move {
        loop {
            match timeout_at(notifier.told_at + beat, heard.recv()).await {
                Ok(Some(event)) => notifier.tell(event).await,
                Ok(None) => break,
                Err(_) => notifier.beat().await,
            }
        }
    });
    let work = pin!(start(listener));
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
    began: Instant,
    told_at: Instant,
    /// As the plugin counts.
    done: Option<u64>,
    total: Option<u64>,
    /// Beats since then.
    beats: u32,
}

impl<'a> Notifier<'a> {
    fn new(peer: &'a Peer<RoleServer>, token: ProgressToken) -> Self {
        let now = Instant::now();
        Self {
            peer,
            token,
            began: now,
            told_at: now,
            done: None,
            total: None,
            beats: 0,
        }
    }

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
        if self.done.is_some_and(|last| done <= last) {
            return;
        }
        self.done = Some(done);
        self.total = total;
        // Beats before a count of nothing are beyond it.
        if done > 0 {
            self.beats = 0;
        } else if self.beats > 0 {
            self.beats += 1;
        }
        self.notify(message).await;
    }

    async fn beat(&mut self) {
        self.beats += 1;
        let ran = self.began.elapsed().as_secs();
        self.notify(format!("running for {ran} s")).await;
    }

    async fn notify(&mut self, message: String) {
        let progress = between(self.done.unwrap_or_default(), self.beats);
        let mut told = ProgressNotificationParam::new(self.token.clone(), progress);
        let total = self.total.map(as_number);
        told.total = total.filter(|total| progress <= *total);
        told.message = (!message.is_empty()).then_some(message);
        // A client that is gone does not hear it.
        let _ = self.peer.notify_progress(told).await;
        self.told_at = Instant::now();
    }
}

/// A number for each beat after `done`: beyond the one before it and below the next count.
fn between(done: u64, beats: u32) -> f64 {
    let beats = f64::from(beats);
    as_number(done) + beats / (beats + 1.0)
}

/// JSON's numbers are exact up to 2^53; nobody counts further.
fn as_number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use rmcp::ServerHandler;
    use rmcp::model::RequestId;
    use rmcp::service::{RunningService, serve_directly};
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, DuplexStream};
    use tokio::time::timeout;
    use toolgate_gateway::tools::Arguments;
    use toolgate_gateway::tools::results::Budget;

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
            parent_execution_id: None,
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

    #[tokio::test]
    async fn a_silent_call_is_heard_of_again_and_again_until_it_ends() {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (service, context) = serving(near);
        let (lines, mut heard) = mpsc::unbounded_channel();
        let reading = tokio::spawn(async move {
            let mut read = BufReader::new(far).lines();
            while let Ok(Some(line)) = read.next_line().await {
                let mut told: Value = serde_json::from_str(&line).unwrap();
                lines.send(told["params"].take()).unwrap();
            }
        });
        let mut told: Vec<Value> = Vec::new();
        let work = async |execute: Execute| {
            for _ in 0..2 {
                told.push(heard.recv().await.unwrap());
            }
            for done in [0, 1, 1] {
                tell(&execute, done);
            }
            while told.last().unwrap()["message"] != "page 1" {
                told.push(heard.recv().await.unwrap());
            }
            told.push(heard.recv().await.unwrap());
        };
        let beat = Duration::from_millis(20);
        let ended = timeout(PATIENCE, heard_each(beat, &context, execute(), work)).await;
        assert!(ended.is_ok(), "{ended:?}");
        drop(service);
        reading.await.unwrap();
        while let Some(last) = heard.recv().await {
            told.push(last);
        }
        let beats = told
            .iter()
            .filter(|told| told["message"] == "running for 0 s");
        assert!(beats.count() >= 3, "{told:?}");
        for page in ["page 0", "page 1"] {
            assert_eq!(
                told.iter().filter(|told| told["message"] == page).count(),
                1
            );
        }
        let progress: Vec<f64> = told
            .iter()
            .map(|told| told["progress"].as_f64().unwrap())
            .collect();
        assert!(progress.windows(2).all(|two| two[0] < two[1]), "{told:?}");
        assert!(
            told.iter().all(|told| told["progressToken"] == 7),
            "{told:?}"
        );
    }

    #[test]
    fn beats_are_between_two_counts() {
        assert_eq!(between(3, 0), 3.0);
        let beats: Vec<f64> = (0..1_000).map(|beats| between(1 << 32, beats)).collect();
        assert!(beats.windows(2).all(|two| two[0] < two[1]));
        assert!(beats[999] < as_number((1 << 32) + 1));
    }
}
