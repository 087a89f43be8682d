//! Spans of [`toolgate_core::trace`] as spans of the SDK, which samples them.

use std::borrow::Cow;

use opentelemetry::trace::{
    Link, Span as _, SpanBuilder, SpanContext, SpanId, Status, TraceContextExt as _, TraceFlags,
    TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use toolgate_core::trace::{
    Attribute, AttributeValue, NewSpan, RecordedSpan, Recorder, SpanKind, TraceContext,
};

pub(super) struct SpanRecorder(SdkTracer);

impl SpanRecorder {
    pub(super) fn new(tracer: SdkTracer) -> Self {
        Self(tracer)
    }
}

impl Recorder for SpanRecorder {
    fn begin(&self, span: NewSpan<'_>) -> (TraceContext, Option<Box<dyn RecordedSpan>>) {
        let mut builder = SpanBuilder::from_name(span.name).with_kind(match span.kind {
            SpanKind::Server => opentelemetry::trace::SpanKind::Server,
            SpanKind::Client => opentelemetry::trace::SpanKind::Client,
            SpanKind::Internal => opentelemetry::trace::SpanKind::Internal,
        });
        if let Some(link) = span.link {
            builder = builder.with_links(vec![Link::with_context(context(link, false))]);
        }
        let parent = match span.parent {
            Some(parent) => Context::new().with_remote_span_context(context(parent, span.remote)),
            None => Context::new(),
        };
        let begun = self.0.build_with_context(builder, &parent);
        let of_span = begun.span_context();
        let state = span.parent.and_then(TraceContext::state).cloned();
        let trace_id = u128::from_be_bytes(of_span.trace_id().to_bytes());
        let span_id = u64::from_be_bytes(of_span.span_id().to_bytes());
        let context = TraceContext::new(trace_id, span_id, of_span.is_sampled()).with_state(state);
        let recorded: Option<Box<dyn RecordedSpan>> = match begun.is_recording() {
            true => Some(Box::new(SentSpan(begun))),
            false => None,
        };
        (context, recorded)
    }
}

/// Ends when it is dropped.
struct SentSpan(Span);

impl RecordedSpan for SentSpan {
    fn set(&mut self, attribute: Attribute, value: AttributeValue) {
        let value: Value = match value {
            AttributeValue::Text(Cow::Borrowed(text)) => text.into(),
            AttributeValue::Text(Cow::Owned(text)) => text.into(),
            AttributeValue::Number(number) => number.into(),
            AttributeValue::Flag(flag) => flag.into(),
        };
        self.0.set_attribute(KeyValue::new(attribute.name(), value));
    }

    fn fail(&mut self, error_type: Cow<'static, str>) {
        self.0.set_status(Status::error(""));
        self.0
            .set_attribute(KeyValue::new("error.type", error_type.into_owned()));
    }
}

fn context(of: &TraceContext, remote: bool) -> SpanContext {
    // Spans below the first would only repeat it.
    let state = of.state().filter(|_| remote);
    let state = state.and_then(|state| state.parse::<TraceState>().ok());
    SpanContext::new(
        TraceId::from(of.trace_id()),
        SpanId::from(of.span_id()),
        TraceFlags::default().with_sampled(of.is_sampled()),
        remote,
        state.unwrap_or_default(),
    )
}
