//! One request of a plugin, from the decision to the scrubbed answer.
//!
//! In this order, for every hop: policy ([`super::policy`]), effect ([`super::effect`]), budget ([`super::scope`]), the
//! plugin's own headers ([`super::headers`]), the credential where the origin is in the slot's audience; then the
//! attempt itself ([`super::attempt`]). After an answer, [`super::verdict`] and [`super::follow`] say whether another
//! attempt or hop comes, and [`super::answer`] what of the last one the plugin gets.

use bytes::Bytes;
use tokio::time::Instant;
use url::{Position, Url};

use super::attempt::{Attempt, NumberedAnswer};
use super::decide::{first_hop, follow_renewal, may_change};
use super::dial::ReceivedResponse;
use super::follow::{self, REDIRECTS_MAX, RETRIES_MAX, Redirect};
use super::hop::Hop;
use super::inner::EgressInner;
use super::policy::{self, Target};
use super::scope::{CallScope, Mode, ObservedExchange};
use super::sending_watch::SendingWatch;
use super::{
    CredentialChoice, CredentialVerdict, EgressFailure, FailureKind, GuestRequest, Injection,
    Response, answer, headers, inject, leak, plan,
};

/// A request on its way, and how often it was sent.
pub(super) struct Sending<'r> {
    egress: &'r EgressInner,
    scope: &'r CallScope,
    request: &'r GuestRequest,
    deadline: Instant,
    watch: SendingWatch<'r>,
    body_bytes_max: usize,
    /// Whether sending it twice does no harm.
    may_repeat: bool,
    hop: Hop,
    /// The address that the plugin asked for, whatever redirects follow.
    asked: Url,
    /// Whose credential goes along where the origin is in its audience.
    slot: Option<String>,
    injection: Option<Injection>,
    has_renewed: bool,
    repeats: usize,
    redirects: usize,
    /// How often the current hop was sent before.
    resend: u16,
}

impl<'r> Sending<'r> {
    /// Sends the request until there is an answer for the plugin.
    pub(super) async fn run(
        egress: &EgressInner,
        scope: &CallScope,
        request: GuestRequest,
        deadline: Instant,
        watch: SendingWatch<'_>,
    ) -> Result<Response, EgressFailure> {
        scope.take_try()?;
        leak::check_exposure(scope)?;
        let mut sending = Sending::begin(egress, scope, &request, deadline, watch)?;
        if scope.mode == Mode::DryRun {
            return Err(plan::plan(scope, &sending.hop, sending.slot.as_deref()));
        }
        plan::agreed(scope, &sending.hop, sending.slot.as_deref())?;
        let _permit = scope
            .slots
            .acquire()
            .await
            .map_err(|_| EgressFailure::denied("the call has ended"))?;
        loop {
            scope.check_wanted()?;
            sending.fetch_credential().await?;
            let numbered = sending.attempt().await?;
            let verdict = sending.judge(&numbered.answer);
            if sending.renew(verdict.as_ref()).await? || sending.wait(&numbered.answer).await {
                continue;
            }
            match sending.redirect(&numbered.answer) {
                Some(redirect) => sending.follow(redirect)?,
                None => return sending.finish(numbered, verdict.as_ref()),
            }
        }
    }

    /// What the plugin asked for, decided and cleaned.
    fn begin(
        egress: &'r EgressInner,
        scope: &'r CallScope,
        request: &'r GuestRequest,
        deadline: Instant,
        watch: SendingWatch<'r>,
    ) -> Result<Self, EgressFailure> {
        let hop = first_hop(scope, request)?;
        may_change(scope, &hop)?;
        let slot = match &request.credential {
            CredentialChoice::Anonymous => None,
            CredentialChoice::Slot(name) => Some(name.clone()),
            CredentialChoice::ByAudience => scope
                .credentials
                .slot_for_origin(&hop.target.origin.to_string()),
        };
        let has_key = request.idempotency_key.is_some();
        Ok(Self {
            egress,
            scope,
            request,
            deadline,
            watch,
            body_bytes_max: request
                .response_bytes_max
                .min(scope.limits.response_bytes_max),
            may_repeat: scope.repeats && follow::may_repeat(&request.method, has_key),
            asked: hop.target.url.clone(),
            hop,
            slot,
            injection: None,
            has_renewed: false,
            repeats: 0,
            redirects: 0,
            resend: 0,
        })
    }

    /// The slot's credential, where the hop's origin may have it. A slot that the plugin named must be allowed there.
    async fn fetch_credential(&mut self) -> Result<(), EgressFailure> {
        let Some(name) = self.slot.as_deref().filter(|_| self.injection.is_none()) else {
            return Ok(());
        };
        let fetched = self.scope.credentials.fetch(name, None).await?;
        self.follow_renewal()?;
        if self.hop.target.origin.is_in(&fetched.audience) {
            self.injection = Some(fetched);
        } else if let CredentialChoice::Slot(name) = &self.request.credential {
            return Err(EgressFailure::denied(format!(
                "slot `{name}` may not be sent to {}",
                self.hop.target.origin
            )));
        } else {
            self.slot = None;
        }
        Ok(())
    }

    fn follow_renewal(&mut self) -> Result<(), EgressFailure> {
        let redirected = self.redirects > 0;
        follow_renewal(self.scope, self.request, redirected, &mut self.hop)
    }

    async fn attempt(&mut self) -> Result<NumberedAnswer, EgressFailure> {
        let attempt = Attempt {
            egress: self.egress,
            scope: self.scope,
            hop: &self.hop,
            injection: self.injection.as_ref(),
            body_bytes_max: self.body_bytes_max,
            resend: self.resend,
            watch: self.watch,
        };
        let answered = attempt.run().await?;
        self.resend += 1;
        Ok(answered)
    }

    /// What the answer says of the credential that was sent.
    fn judge(&self, answer: &ReceivedResponse) -> Option<CredentialVerdict> {
        let injection = self.injection.as_ref()?;
        Some(CredentialVerdict::new(
            self.scope.declared.manifest(),
            &injection.slot,
            answer.status,
            &answer.headers,
            &answer.body,
        ))
    }

    /// Renews a refused credential, once. Whether the request is sent again with the fresh one.
    async fn renew(&mut self, verdict: Option<&CredentialVerdict>) -> Result<bool, EgressFailure> {
        let Some(CredentialVerdict::Refused { performed_nothing }) = verdict else {
            return Ok(false);
        };
        let Some(refused) = self.injection.as_ref().filter(|_| !self.has_renewed) else {
            return Ok(false);
        };
        self.has_renewed = true;
        let generation = refused.generation;
        let fresh = self
            .scope
            .credentials
            .fetch(&refused.slot, Some(generation))
            .await?;
        let again = *performed_nothing || self.may_repeat || self.scope.reading.is_some();
        if fresh.generation == generation || !again {
            return Ok(false);
        }
        self.follow_renewal()?;
        if !self.hop.target.origin.is_in(&fresh.audience) {
            return Ok(false);
        }
        self.injection = Some(fresh);
        Ok(true)
    }

    /// Waits as long as a busy server asks for. Whether the request is sent again then.
    async fn wait(&mut self, answer: &ReceivedResponse) -> bool {
        if !self.may_repeat || self.repeats >= RETRIES_MAX {
            return false;
        }
        let now = self.egress.clock.now();
        let Some(wait) = follow::retry_after(answer.status, &answer.headers, now) else {
            return false;
        };
        if wait >= self.deadline.saturating_duration_since(Instant::now()) {
            return false;
        }
        self.repeats += 1;
        tokio::time::sleep(wait).await;
        true
    }

    /// A location without a host is meant for the address that was dialled.
    fn redirect(&self, answer: &ReceivedResponse) -> Option<Redirect> {
        let dialled = self.egress.dialled(&self.hop.target);
        follow::redirect(answer.status, &answer.headers, &dialled, &self.hop.method)
    }

    /// Moves to where a redirect leads. The credential and the body stay with the origin.
    fn follow(&mut self, redirect: Redirect) -> Result<(), EgressFailure> {
        self.redirects += 1;
        self.resend = 0;
        if self.redirects > REDIRECTS_MAX {
            return Err(EgressFailure::unsent(
                FailureKind::Protocol,
                format!("more than {REDIRECTS_MAX} redirects"),
            ));
        }
        let target = self.decide_redirect(redirect.location)?;
        if target.origin != self.hop.target.origin {
            if redirect.keeps_body && !self.hop.body.is_empty() {
                return Err(EgressFailure::denied(
                    "a redirect to another origin would carry the request's body there",
                ));
            }
            self.slot = None;
            self.injection = None;
        }
        if !redirect.keeps_body {
            self.hop.body = Bytes::new();
            headers::drop_body_headers(&mut self.hop.headers);
        }
        self.hop.target = target;
        self.hop.method = redirect.method;
        may_change(self.scope, &self.hop)
    }

    fn decide_redirect(&self, location: Url) -> Result<Target, EgressFailure> {
        let scope = self.scope;
        let mut location = match self.egress.mapping(&self.hop.target) {
            Some(mapping) => mapping.restore(location),
            None => location,
        };
        if let Some(injection) = &self.injection {
            inject::strip(&mut location, injection, &scope.parameters());
        }
        policy::decide_redirect(&scope.grant, &scope.parameters(), &location)
            .map_err(|refusal| EgressFailure::denied(format!("a redirect was refused: {refusal}")))
    }

    /// The last answer, as the plugin may see it.
    fn finish(
        self,
        numbered: NumberedAnswer,
        verdict: Option<&CredentialVerdict>,
    ) -> Result<Response, EgressFailure> {
        let (scope, hop, injection) = (self.scope, &self.hop, self.injection.as_ref());
        if let (Some(injection), Some(verdict)) = (injection, verdict) {
            let place = &hop.target.url[..Position::AfterPath];
            let resource = format!("{} {place}", hop.method);
            let (slot, generation) = (&injection.slot, injection.generation);
            scope
                .credentials
                .judged(slot, generation, &resource, verdict);
        }
        let terms = answer::AnswerTerms {
            in_part: hop.range_for(injection).is_some(),
            as_file: self.request.as_file,
            bytes_max: self.body_bytes_max,
            now: self.egress.clock.now(),
        };
        let response = answer::shown(scope, hop, injection, terms, numbered.answer)?;
        scope.answer_payload(numbered.number, hop, &response);
        scope.witness(ObservedExchange {
            request: self.request,
            url: &self.asked,
            response: &response,
        });
        Ok(response)
    }
}
