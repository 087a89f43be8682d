//! The only way out: what a plugin's requests are sent by.
//!
//! One request runs through [`super::sending`]. What the host itself calls is in [`super::host`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::time::Instant;

use super::cancel_notice::CallUnderWay;
use super::cancellation::unwanted;
use super::config::EgressConfig;
use super::dial::{DialError, Dialler};
use super::inner::EgressInner;
use super::journal::Journal;
use super::progress::ProgressReport;
use super::scope::{CallScope, TIMEOUT_MAX};
use super::sending::Sending;
use super::sending_watch::SendingWatch;
use super::wire::DestinationClass;
use super::{EgressFailure, FailureKind, GuestRequest, Response};

/// The only way out. Cheap to clone; all clones share their connections.
#[derive(Clone)]
pub struct Egress {
    pub(super) inner: Arc<EgressInner>,
    /// Where requests of the host are written down, see [`Egress::with_journal`].
    pub(super) journal: Option<Arc<dyn Journal>>,
}

impl Egress {
    pub fn new(config: EgressConfig) -> Result<Self, DialError> {
        let dialler = Dialler::new(&config.user_agent, config.lookup, &config.extra_roots_pem)?;
        Ok(Self {
            inner: Arc::new(EgressInner {
                dialler,
                allow_upstreams: config.allow_upstreams,
                only_upstreams: config.only_upstreams,
                trace_origins: config.trace_origins,
                meter: config.meter,
                clock: config.clock,
            }),
            journal: None,
        })
    }

    /// Runs one request of a plugin within its scope. Every text of the result is scrubbed.
    pub async fn send(
        &self,
        scope: &CallScope,
        request: GuestRequest,
    ) -> Result<Response, EgressFailure> {
        self.send_with(scope, request, None).await
    }

    /// The same. `progress` receives what an MCP server reports while its answer arrives, not scrubbed.
    pub async fn send_reporting(
        &self,
        scope: &CallScope,
        request: GuestRequest,
        progress: ProgressReport<'_>,
    ) -> Result<Response, EgressFailure> {
        self.send_with(scope, request, Some(progress)).await
    }

    async fn send_with(
        &self,
        scope: &CallScope,
        request: GuestRequest,
        progress: Option<ProgressReport<'_>>,
    ) -> Result<Response, EgressFailure> {
        let deadline = scope
            .deadline
            .min(Instant::now() + request.timeout.min(TIMEOUT_MAX));
        let sent = AtomicBool::new(false);
        let under_way = CallUnderWay::default();
        let watch = SendingWatch {
            sent: &sent,
            progress,
            under_way: &under_way,
        };
        let result = self.send_or_cancel(scope, request, deadline, watch).await;
        if result.is_err() && !sent.load(Ordering::Relaxed) {
            // A request that is refused at once waits for nothing. Many of them in a row would hold the thread, and no
            // timeout could end them.
            tokio::task::yield_now().await;
        }
        result.map_err(|mut failure| {
            self.inner.refused(DestinationClass::Provider, &failure);
            failure.sent |= sent.load(Ordering::Relaxed);
            scope.clean(failure)
        })
    }

    /// Sends until there is an answer, the time is over or the caller cancels. When this returns nothing of the request is
    /// under way any more, and `watch.sent` is final.
    async fn send_or_cancel(
        &self,
        scope: &CallScope,
        request: GuestRequest,
        deadline: Instant,
        watch: SendingWatch<'_>,
    ) -> Result<Response, EgressFailure> {
        let work = Sending::run(&self.inner, scope, request, deadline, watch);
        let mut work = Box::pin(tokio::time::timeout_at(deadline, work));
        let late =
            || EgressFailure::unsent(FailureKind::Timeout, "no answer within the time allowed");
        tokio::select! {
            biased;
            result = &mut work => result.unwrap_or_else(|_| Err(late())),
            () = scope.cancellation.heard() => {
                let told = self.tell(scope, watch.under_way);
                if scope.cancellation.ends_requests() {
                    drop(work);
                    told.await;
                    Err(unwanted())
                } else {
                    let (result, ()) = tokio::join!(work, told);
                    result.unwrap_or_else(|_| Err(late()))
                }
            }
        }
    }

    /// Tells the server that works on a call of a session, if there is one, that nobody wants the result any more.
    async fn tell(&self, scope: &CallScope, under_way: &CallUnderWay) {
        if let Some(notice) = under_way.take() {
            notice.send(&self.inner, scope).await;
        }
    }
}
