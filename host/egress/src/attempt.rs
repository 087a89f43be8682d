//! One request on the wire, and its line in the receipt.
//!
//! In this order: the budget of the call, the scan for leaked secrets ([`super::leak`]), injection ([`super::inject`],
//! [`super::sigv4`]), the journal, dialling a checked address ([`super::dial`]), the cap while reading.

use http::Method;
use http::header::{HeaderMap, RANGE};

use super::cancel_notice::{self, CancelNotice};
use super::dial::ReceivedResponse;
use super::hop::Hop;
use super::inject::{self, Draft};
use super::inner::EgressInner;
use super::progress::ProgressWatch;
use super::receipt::{self, ReceiptLine};
use super::scope::CallScope;
use super::sending_watch::SendingWatch;
use super::wire::{Departure, DestinationClass};
use super::{EgressFailure, Injection, leak, sigv4};

/// One hop, to be sent with its credential.
pub(super) struct Attempt<'r> {
    pub(super) egress: &'r EgressInner,
    pub(super) scope: &'r CallScope,
    pub(super) hop: &'r Hop,
    pub(super) injection: Option<&'r Injection>,
    pub(super) body_bytes_max: usize,
    /// How often the hop was sent before.
    pub(super) resend: u16,
    pub(super) watch: SendingWatch<'r>,
}

/// An answer, and the number of its request in the call.
pub(super) struct NumberedAnswer {
    pub(super) number: u32,
    pub(super) answer: ReceivedResponse,
}

impl Attempt<'_> {
    pub(super) async fn run(&self) -> Result<NumberedAnswer, EgressFailure> {
        let (scope, hop, injection) = (self.scope, self.hop, self.injection);
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
        let draft = self.draft(hop)?;
        let notice = self.cancel_notice();
        if notice.is_some() {
            scope.cancellation.check_only_request()?;
        }
        let mut receipt = ReceiptLine::start(scope, self.watch.sent, hop, injection);
        receipt.left = false;
        let number = self.enter_journal(&receipt).await?;
        if notice.is_some() {
            // Who heard of it while the journal was written had nothing yet to tell the server.
            scope.cancellation.check_only_request()?;
        }
        receipt.left = true;
        self.watch.under_way.set(notice);
        let answer = self.exchange(draft, &mut receipt).await;
        self.watch.under_way.set(None);
        let answer = answer?;
        // What was compressed counts as it was decompressed; the receipt says what came over the wire.
        let opened = answer.body.len().saturating_sub(answer.wire_bytes);
        scope.take_bytes(opened).map_err(after_sending)?;
        Ok(NumberedAnswer { number, answer })
    }

    /// The request as it leaves: at the address that it is sent to, with its credential and signature.
    fn draft(&self, hop: &Hop) -> Result<Draft, EgressFailure> {
        let scope = self.scope;
        let mut draft = Draft {
            method: hop.method.clone(),
            url: hop.target.url.clone(),
            headers: hop.headers.clone(),
            body: hop.body.clone(),
        };
        let Some(injection) = self.injection else {
            self.address(&mut draft)?;
            return Ok(draft);
        };
        if let Some(range) = hop.range_for(Some(injection)) {
            draft.headers.insert(RANGE, range.clone());
        }
        let parameters = scope.parameters();
        let written = inject::write(&mut draft, injection, &parameters, |field| {
            is_secret(scope, injection, field)
        })
        .map_err(|refusal| EgressFailure::denied(refusal.to_string()))?;
        scope.learn(written.iter().map(String::as_bytes));
        self.address(&mut draft)?;
        let now = self.egress.clock.now();
        let signature = sigv4::sign(&mut draft, injection, &parameters, now)
            .map_err(|refusal| EgressFailure::denied(refusal.to_string()))?;
        scope.learn(signature.iter().map(String::as_bytes));
        Ok(draft)
    }

    /// The address of an allowed upstream, where the operator mapped the origin to one.
    fn address(&self, draft: &mut Draft) -> Result<(), EgressFailure> {
        match self.egress.mapping(&self.hop.target) {
            Some(mapping) => draft.url = mapping.rewrite(&draft.url),
            None => self.egress.elsewhere(&self.hop.target)?,
        }
        Ok(())
    }

    /// Reads the progress of an MCP server out of the answer, where the caller hears of it.
    fn progress_watch(&self) -> Option<ProgressWatch<'_>> {
        let described = self.scope.described.as_ref()?;
        let report = self.watch.progress.filter(|_| described.is_of_mcp())?;
        ProgressWatch::new(report, &self.hop.body)
    }

    /// What the server is told if the caller cancels the call. `None`: nobody can cancel, or the request is no call in a
    /// session of an MCP server.
    fn cancel_notice(&self) -> Option<CancelNotice> {
        let scope = self.scope;
        let described = scope.described.as_ref()?;
        if !described.is_of_mcp() || !scope.cancellation.is_possible() {
            return None;
        }
        let hop = Hop {
            target: self.hop.target.clone(),
            method: Method::POST,
            headers: self.hop.headers.clone(),
            body: cancel_notice::message(&self.hop.headers, &self.hop.body)?,
            range: None,
        };
        let slot = self.injection.map(|injection| injection.slot.as_str());
        Some(CancelNotice {
            draft: self.draft(&hop).ok()?,
            origin: hop.target.origin.clone(),
            private: self.is_private(),
            credential: self.injection.is_some(),
            record: receipt::record(
                &hop.method,
                &hop.target.url,
                &hop.body,
                slot,
                Some(described),
                &scope.scrubber(),
            ),
        })
    }

    /// Whether the operator named the origin, or an address in its place.
    fn is_private(&self) -> bool {
        self.hop.target.named || self.egress.mapping(&self.hop.target).is_some()
    }

    /// Writes down that the request leaves, before it does. The request's number in the call.
    async fn enter_journal(&self, receipt: &ReceiptLine<'_>) -> Result<u32, EgressFailure> {
        let number = self.scope.next_number();
        let payload = self
            .scope
            .request_payload(number, self.hop, &receipt.record);
        self.scope
            .leaving(&receipt.record, payload.as_ref())
            .await?;
        if let Some(payload) = payload {
            self.scope.keep_payload(payload);
        }
        Ok(number)
    }

    async fn exchange(
        &self,
        mut draft: Draft,
        receipt: &mut ReceiptLine<'_>,
    ) -> Result<ReceivedResponse, EgressFailure> {
        let (egress, hop) = (self.egress, self.hop);
        let private = self.is_private();
        let departure = Departure {
            class: match private {
                true => DestinationClass::Operator,
                false => DestinationClass::Provider,
            },
            method: &hop.method,
            origin: &hop.target.origin,
            credential: self.injection.is_some(),
            resend: self.resend,
        };
        let wire = egress.depart(&departure, &mut draft.headers);
        let host = &hop.target.origin.host;
        let mut progress = self.progress_watch();
        let on_part = |status: u16, headers: &HeaderMap, part: &[u8]| {
            receipt.record.bytes_in += part.len() as u64;
            if let Some(progress) = &mut progress {
                progress.read(status, headers, part);
            }
            self.scope.take_bytes(part.len()).map_err(after_sending)
        };
        let result = egress
            .dialler
            .exchange(
                draft,
                host,
                private,
                self.body_bytes_max,
                &self.scope.memory,
                on_part,
            )
            .await;
        wire.exchanged(&result);
        match &result {
            Ok(answer) => receipt.record.status = Some(answer.status),
            Err(failure) => receipt.left = failure.sent,
        }
        result
    }
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

/// A failure after the request had left.
fn after_sending(failure: EgressFailure) -> EgressFailure {
    EgressFailure {
        sent: true,
        ..failure
    }
}
