//! The pipeline: one request of a plugin from the decision to the scrubbed answer.
//!
//! In this order, for every hop: policy ([`super::policy`]), effect ([`super::effect`]), budget ([`super::scope`]), the plugin's
//! own headers ([`super::headers`]), the scan for leaked secrets ([`super::leak`]), injection where the origin is in
//! the slot's audience ([`super::inject`]), dialling a checked address ([`super::dial`]), the cap
//! while reading, scrubbing ([`super::scrub`]). Then [`super::follow`] says whether something comes
//! after. What the host itself calls is in [`super::host`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{HeaderMap, RANGE};
use tokio::time::Instant;
use url::Url;

use super::config::{EgressConfig, HostObserver};
use super::decide::{first_hop, follow_renewal, may_change};
use super::dial::{DialError, Dialler, ReceivedResponse};
use super::follow::{self, REDIRECTS_MAX, RETRIES_MAX};
use super::hop::Hop;
use super::inject::{self, Draft};
use super::policy::{self, Target};
use super::receipt::ReceiptLine;
use super::scope::{CallScope, Journal, Mode, ObservedExchange, TIMEOUT_MAX};
use super::upstream::AllowUpstream;
use super::wire::{Departure, DestinationClass, WireMeter, WireRequest};
use super::{
    CredentialChoice, CredentialVerdict, EgressFailure, FailureKind, GuestRequest, Injection,
    Origin, Response, answer, headers, leak, plan, sigv4,
};

/// The only way out. Cheap to clone; all clones share their connections.
#[derive(Clone)]
pub struct Egress {
    pub(super) inner: Arc<EgressInner>,
    /// Where requests of the host are written down, see [`Egress::with_journal`].
    pub(super) journal: Option<Arc<dyn Journal>>,
}

pub(super) struct EgressInner {
    pub(super) dialler: Dialler,
    pub(super) allow_upstreams: Vec<AllowUpstream>,
    only_upstreams: Option<HostObserver>,
    trace_origins: Vec<Origin>,
    meter: Option<Arc<dyn WireMeter>>,
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
        let deadline = scope
            .deadline
            .min(Instant::now() + request.timeout.min(TIMEOUT_MAX));
        let sent = AtomicBool::new(false);
        let work = Box::pin(self.inner.run(scope, request, deadline, &sent));
        let result = match tokio::time::timeout_at(deadline, work).await {
            Ok(result) => result,
            Err(_) => Err(EgressFailure {
                kind: FailureKind::Timeout,
                message: "no answer within the time allowed".into(),
                sent: false,
            }),
        };
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

    /// Runs several requests at once, within the scope's concurrency; answers in their order.
    pub async fn send_all(
        &self,
        scope: &CallScope,
        requests: Vec<GuestRequest>,
    ) -> Vec<Result<Response, EgressFailure>> {
        futures_util::future::join_all(
            requests
                .into_iter()
                .map(|request| self.send(scope, request)),
        )
        .await
    }
}

impl EgressInner {
    async fn run(
        &self,
        scope: &CallScope,
        request: GuestRequest,
        deadline: Instant,
        sent: &AtomicBool,
    ) -> Result<Response, EgressFailure> {
        scope.take_try()?;
        leak::check_exposure(scope)?;
        let body_bytes_max = request
            .response_bytes_max
            .min(scope.limits.response_bytes_max);
        let may_repeat =
            scope.repeats && follow::may_repeat(&request.method, request.idempotency_key.is_some());
        let mut hop = first_hop(scope, &request)?;
        may_change(scope, &hop)?;
        let asked = hop.target.url.clone();
        let mut slot = match request.credential {
            CredentialChoice::Anonymous => None,
            CredentialChoice::Slot(ref name) => Some(name.clone()),
            CredentialChoice::ByAudience => scope
                .credentials
                .slot_for_origin(&hop.target.origin.to_string()),
        };
        let explicit = matches!(request.credential, CredentialChoice::Slot(_));
        if scope.mode == Mode::DryRun {
            return Err(plan::plan(scope, &hop, slot.as_deref()));
        }
        plan::agreed(scope, &hop, slot.as_deref())?;
        let _permit = scope
            .slots
            .acquire()
            .await
            .map_err(|_| denied("the call has ended"))?;
        let mut injection: Option<Injection> = None;
        let (mut refreshed, mut repeats, mut redirects) = (false, 0, 0);
        let mut resend = 0;
        loop {
            scope.check_wanted()?;
            if let Some(name) = &slot
                && injection.is_none()
            {
                let fetched = scope.credentials.fetch(name, None).await?;
                follow_renewal(scope, &request, redirects > 0, &mut hop)?;
                if hop.target.origin.is_in(&fetched.audience) {
                    injection = Some(fetched);
                } else if explicit {
                    return Err(denied(format!(
                        "slot `{name}` may not be sent to {}",
                        hop.target.origin
                    )));
                } else {
                    slot = None;
                }
            }
            let (number, answer) = self
                .attempt(
                    scope,
                    &hop,
                    injection.as_ref(),
                    body_bytes_max,
                    resend,
                    sent,
                )
                .await?;
            resend += 1;
            let verdict = injection
                .as_ref()
                .map(|injection| judge(scope, injection, &answer));
            if let Some(CredentialVerdict::Refused { performed_nothing }) = verdict
                && !refreshed
                && let Some(old) = &injection
            {
                refreshed = true;
                let rejected = Some(old.generation);
                let fresh = scope.credentials.fetch(&old.slot, rejected).await?;
                let again = performed_nothing || may_repeat || scope.reading.is_some();
                if fresh.generation != old.generation && again {
                    follow_renewal(scope, &request, redirects > 0, &mut hop)?;
                    if hop.target.origin.is_in(&fresh.audience) {
                        injection = Some(fresh);
                        continue;
                    }
                }
            }
            if may_repeat
                && repeats < RETRIES_MAX
                && let Some(wait) =
                    follow::retry_after(answer.status, &answer.headers, SystemTime::now())
                && wait < deadline.saturating_duration_since(Instant::now())
            {
                repeats += 1;
                tokio::time::sleep(wait).await;
                continue;
            }
            // A location without a host is meant for the address that was asked.
            let dialled = self.dialled(&hop.target);
            let Some(redirect) =
                follow::redirect(answer.status, &answer.headers, &dialled, &hop.method)
            else {
                if let (Some(injection), Some(verdict)) = (&injection, &verdict) {
                    let place = &hop.target.url[..url::Position::AfterPath];
                    let resource = format!("{} {place}", hop.method);
                    scope.credentials.judged(
                        &injection.slot,
                        injection.generation,
                        &resource,
                        verdict,
                    );
                }
                let in_part = hop.range_for(injection.as_ref()).is_some();
                let terms = answer::AnswerTerms {
                    in_part,
                    as_file: request.as_file,
                    bytes_max: body_bytes_max,
                    now: SystemTime::now(),
                };
                let response = answer::shown(scope, &hop, injection.as_ref(), terms, answer)?;
                scope.answer_payload(number, &hop, &response);
                scope.witness(ObservedExchange {
                    request: &request,
                    url: &asked,
                    response: &response,
                });
                return Ok(response);
            };
            redirects += 1;
            resend = 0;
            if redirects > REDIRECTS_MAX {
                return Err(failed(
                    FailureKind::Protocol,
                    format!("more than {REDIRECTS_MAX} redirects"),
                ));
            }
            let mut location = match self.mapping(&hop.target) {
                Some(mapping) => mapping.restore(redirect.location),
                None => redirect.location,
            };
            if let Some(injection) = &injection {
                inject::strip(&mut location, injection, &scope.parameters());
            }
            let target = policy::decide_redirect(&scope.grant, &scope.parameters(), &location)
                .map_err(|refusal| denied(format!("a redirect was refused: {refusal}")))?;
            if target.origin != hop.target.origin {
                if redirect.keeps_body && !hop.body.is_empty() {
                    return Err(denied(
                        "a redirect to another origin would carry the request's body there",
                    ));
                }
                slot = None;
                injection = None;
            }
            if !redirect.keeps_body {
                hop.body = Bytes::new();
                headers::drop_body_headers(&mut hop.headers);
            }
            hop.target = target;
            hop.method = redirect.method;
            may_change(scope, &hop)?;
        }
    }

    /// One request on the wire, and its line in the receipt. Answers its number in the call, too.
    async fn attempt(
        &self,
        scope: &CallScope,
        hop: &Hop,
        injection: Option<&Injection>,
        body_bytes_max: usize,
        resend: u16,
        sent: &AtomicBool,
    ) -> Result<(u32, ReceivedResponse), EgressFailure> {
        if let Some(injection) = injection {
            scope.learn(secrets(scope, injection));
        }
        // First, so that a request that is refused counts too: searching costs time.
        scope.take_request(hop.body.len())?;
        leak::check_exposure(scope)?;
        leak::scan(scope, hop)?;
        scope
            .declared
            .refuse_token_endpoints(&hop.target, &scope.parameters())?;
        let mut draft = Draft {
            method: hop.method.clone(),
            url: hop.target.url.clone(),
            headers: hop.headers.clone(),
            body: hop.body.clone(),
        };
        if let Some(range) = hop.range_for(injection) {
            draft.headers.insert(RANGE, range.clone());
        }
        if let Some(injection) = injection {
            let written = inject::write(&mut draft, injection, &scope.parameters(), |field| {
                is_secret(scope, injection, field)
            })
            .map_err(|refusal| denied(refusal.to_string()))?;
            scope.learn(written.iter().map(String::as_bytes));
        }
        let mapping = self.mapping(&hop.target);
        if let Some(mapping) = mapping {
            draft.url = mapping.rewrite(&draft.url);
        } else {
            self.elsewhere(&hop.target)?;
        }
        if let Some(injection) = injection {
            let signature = sigv4::sign(
                &mut draft,
                injection,
                &scope.parameters(),
                SystemTime::now(),
            )
            .map_err(|refusal| denied(refusal.to_string()))?;
            scope.learn(signature.iter().map(String::as_bytes));
        }
        let mut receipt = ReceiptLine::start(scope, sent, hop, injection);
        receipt.left = false;
        let number = scope.next_number();
        let payload = scope.request_payload(number, hop, &receipt.record);
        scope.leaving(&receipt.record, payload.as_ref()).await?;
        if let Some(payload) = payload {
            scope.keep_payload(payload);
        }
        receipt.left = true;
        let private = hop.target.named || mapping.is_some();
        let departure = Departure {
            class: match private {
                true => DestinationClass::Operator,
                false => DestinationClass::Provider,
            },
            method: &hop.method,
            origin: &hop.target.origin,
            credential: injection.is_some(),
            resend,
        };
        let wire = self.depart(&departure, &mut draft.headers);
        let result = self
            .dialler
            .exchange(
                draft,
                &hop.target.origin.host,
                private,
                body_bytes_max,
                |count| {
                    receipt.record.bytes_in += count as u64;
                    scope.take_bytes(count).map_err(|failure| EgressFailure {
                        sent: true,
                        ..failure
                    })
                },
            )
            .await;
        wire.exchanged(&result);
        match &result {
            Ok(answer) => receipt.record.status = Some(answer.status),
            Err(failure) => receipt.left = failure.sent,
        }
        let answer = result?;
        // What was compressed is held as it was opened; the receipt says what came over the wire.
        scope
            .take_bytes(answer.body.len().saturating_sub(answer.wire_bytes))
            .map_err(|failure| EgressFailure {
                sent: true,
                ..failure
            })?;
        Ok((number, answer))
    }

    pub(super) fn depart(
        &self,
        departure: &Departure<'_>,
        headers: &mut HeaderMap,
    ) -> WireRequest<'_> {
        WireRequest::depart(
            self.meter.as_deref(),
            &self.trace_origins,
            departure,
            headers,
        )
    }

    /// Counts a request that was not let out.
    pub(super) fn refused(&self, class: DestinationClass, failure: &EgressFailure) {
        if let Some(meter) = &self.meter
            && failure.kind.is_refusal()
            && !failure.sent
        {
            meter.refused(class, failure.kind);
        }
    }

    /// Refuses what has no allowed upstream, where only those are asked.
    pub(super) fn elsewhere(&self, target: &Target) -> Result<(), EgressFailure> {
        let Some(report) = &self.only_upstreams else {
            return Ok(());
        };
        report(&target.origin.host);
        Err(denied(format!(
            "`{}` is not an allowed upstream, and requests to other hosts are refused here",
            target.origin.host
        )))
    }

    /// The URL that a request to `target` is sent to, without a credential.
    fn dialled(&self, target: &Target) -> Url {
        match self.mapping(target) {
            Some(mapping) => mapping.rewrite(&target.url),
            None => target.url.clone(),
        }
    }

    pub(super) fn mapping(&self, target: &Target) -> Option<&AllowUpstream> {
        self.allow_upstreams
            .iter()
            .find(|mapping| mapping.is_for(&target.origin))
    }
}

/// What the answer says of the credential that was sent.
fn judge(scope: &CallScope, injection: &Injection, answer: &ReceivedResponse) -> CredentialVerdict {
    CredentialVerdict::new(
        scope.declared.manifest(),
        &injection.slot,
        answer.status,
        &answer.headers,
        &answer.body,
    )
}

fn is_secret(scope: &CallScope, injection: &Injection, field: &str) -> bool {
    injection.values.contains_key(field) && scope.credentials.is_secret(&injection.slot, field)
}

fn secrets<'a>(scope: &'a CallScope, injection: &'a Injection) -> impl Iterator<Item = &'a [u8]> {
    let secret = injection
        .values
        .iter()
        .filter(|(field, _)| is_secret(scope, injection, field));
    secret.map(|(_, value)| value.expose().as_bytes())
}

fn denied(message: impl Into<String>) -> EgressFailure {
    failed(FailureKind::Denied, message)
}

fn failed(kind: FailureKind, message: impl Into<String>) -> EgressFailure {
    EgressFailure {
        kind,
        message: message.into(),
        sent: false,
    }
}
