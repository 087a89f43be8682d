//! One request on the wire as operators see it: its count, its span, and the trace that goes on with it.
//!
//! A span says where to, and never a path, a query, a header or a body. The trace context leaves only for
//! origins that the operator has named ([`super::EgressConfig::trace_origins`]): to all others it would
//! tell which requests belong together.

use std::time::{Duration, Instant};

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::dial::{OpenResponse, ReceivedResponse};
use super::grant::Origin;
use super::{EgressFailure, FailureKind};
use toolgate_core::trace::{
    self, Attribute, SpanKind, TRACEPARENT, TRACESTATE, TraceContext, TraceSpan,
};

/// What kind of host a request leaves for. The host itself would be a label without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DestinationClass {
    /// A public host of the plugin's manifest.
    Provider,
    /// An address that the operator named: a service's configuration or an allowed upstream.
    Operator,
    /// A token or revocation endpoint.
    Token,
    Webhook,
    /// The language model.
    Model,
    /// Where members sign in, and documents of MCP clients.
    Identity,
}

impl DestinationClass {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Operator => "operator",
            Self::Token => "token",
            Self::Webhook => "webhook",
            Self::Model => "model",
            Self::Identity => "identity",
        }
    }
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireOutcome {
    /// An answer with this status.
    Answered(u16),
    Failed(FailureKind),
}

/// Counts requests. Called on the threads that serve, so it never waits.
pub trait WireMeter: Send + Sync {
    /// One request that ended on the wire.
    fn sent(&self, class: DestinationClass, outcome: WireOutcome, took: Duration);
    /// One that was not let out.
    fn refused(&self, class: DestinationClass, kind: FailureKind);
}

impl FailureKind {
    /// Its word in the metrics and in spans.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::AuthRequired => "auth_required",
            Self::AuthExpired => "auth_expired",
            Self::ScopeMissing => "scope_missing",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::TooLarge => "too_large",
            Self::BudgetExhausted => "budget_exhausted",
            Self::LeakBlocked => "leak_blocked",
            Self::Cancelled => "cancelled",
            Self::Protocol => "protocol",
        }
    }

    /// Whether it is a decision about a request rather than the outcome of one.
    pub(super) fn is_refusal(self) -> bool {
        match self {
            Self::Denied | Self::BudgetExhausted | Self::LeakBlocked => true,
            Self::AuthRequired
            | Self::AuthExpired
            | Self::ScopeMissing
            | Self::Dns
            | Self::Connect
            | Self::Tls
            | Self::Timeout
            | Self::TooLarge
            | Self::Cancelled
            | Self::Protocol => false,
        }
    }
}

/// Where a request goes and what for.
pub(super) struct Departure<'a> {
    pub(super) class: DestinationClass,
    pub(super) method: &'a http::Method,
    /// As the policy has decided it, also where another address is dialled.
    pub(super) origin: &'a Origin,
    pub(super) credential: bool,
    /// How often it was sent before.
    pub(super) resend: u16,
}

/// A request from its departure to its answer. Dropped before, it was cut off.
pub(super) struct WireRequest<'a> {
    meter: Option<&'a dyn WireMeter>,
    class: DestinationClass,
    span: TraceSpan,
    began: Instant,
    ended: bool,
}

impl<'a> WireRequest<'a> {
    /// Begins, and adds the trace context to `headers` where `trusted` holds the origin.
    pub(super) fn depart(
        meter: Option<&'a dyn WireMeter>,
        trusted: &[Origin],
        departure: &Departure<'_>,
        headers: &mut HeaderMap,
    ) -> Self {
        let Departure {
            class,
            method,
            origin,
            credential,
            resend,
        } = *departure;
        let mut span = TraceSpan::begin(SpanKind::Client, || method.to_string());
        span.note(|span| {
            span.set(Attribute::HttpMethod, method.to_string().into());
            span.set(Attribute::ServerAddress, origin.host.clone().into());
            span.set(Attribute::ServerPort, origin.port.into());
            span.set(Attribute::Credential, credential.into());
            if resend > 0 {
                span.set(Attribute::HttpResend, resend.into());
            }
        });
        if trusted.contains(origin) && trace::is_on() {
            let context = span.context().cloned().or_else(trace::current);
            if let Some(context) = context {
                propagate(&context, headers);
            }
        }
        Self {
            meter,
            class,
            span,
            began: Instant::now(),
            ended: false,
        }
    }

    pub(super) fn exchanged(self, result: &Result<ReceivedResponse, EgressFailure>) {
        self.end(result.as_ref().map(|answer| answer.status));
    }

    pub(super) fn opened(self, result: &Result<OpenResponse, EgressFailure>) {
        self.end(result.as_ref().map(OpenResponse::status));
    }

    fn end(mut self, result: Result<u16, &EgressFailure>) {
        match result {
            Ok(status) => self.note(WireOutcome::Answered(status)),
            Err(failure) if failure.kind.is_refusal() && !failure.sent => {
                // Counted as refused where the refusal is returned.
                self.ended = true;
                self.span
                    .note(|span| span.fail(failure.kind.as_str().into()));
            }
            Err(failure) => self.note(WireOutcome::Failed(failure.kind)),
        }
    }

    fn note(&mut self, outcome: WireOutcome) {
        self.ended = true;
        self.span.note(|span| match outcome {
            WireOutcome::Answered(status) => {
                span.set(Attribute::HttpStatus, status.into());
                if status >= 400 {
                    span.fail(status.to_string().into());
                }
            }
            WireOutcome::Failed(kind) => span.fail(kind.as_str().into()),
        });
        if let Some(meter) = self.meter {
            meter.sent(self.class, outcome, self.began.elapsed());
        }
    }
}

impl Drop for WireRequest<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.note(WireOutcome::Failed(FailureKind::Timeout));
        }
    }
}

/// Replaces what a plugin may have written there.
fn propagate(context: &TraceContext, headers: &mut HeaderMap) {
    let name = HeaderName::from_static;
    headers.remove(name(TRACESTATE));
    if let Ok(parent) = HeaderValue::from_str(&context.to_string()) {
        headers.insert(name(TRACEPARENT), parent);
        if let Some(state) = context.state()
            && let Ok(state) = HeaderValue::from_str(state)
        {
            headers.insert(name(TRACESTATE), state);
        }
    }
}
