//! Lines of the log, and the span in which each was written.

use std::time::Duration;

use opentelemetry::InstrumentationScope;
use opentelemetry::logs::LogRecord as _;
use opentelemetry::trace::{SpanId, TraceFlags, TraceId};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{LogProcessor, SdkLogRecord, SdkLogger, SdkLoggerProvider};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use toolgate_core::trace;

/// Libraries that send lines to the collector: their own lines would never end.
const SENDERS: [&str; 5] = ["h2", "hyper", "hyper_util", "reqwest", "rustls"];

/// Sends what is logged.
pub(crate) fn lines(provider: &SdkLoggerProvider) -> SentLines {
    SentLines(OpenTelemetryTracingBridge::new(provider))
}

/// The bridge without the lines of [`SENDERS`]. The subscriber that it is added to takes no filter of a layer.
pub(crate) struct SentLines(OpenTelemetryTracingBridge<SdkLoggerProvider, SdkLogger>);

impl<S> Layer<S> for SentLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_event(&self, line: &Event<'_>, context: Context<'_, S>) {
        let target = line.metadata().target();
        let library = target.split("::").next().unwrap_or_default();
        if !SENDERS.contains(&library) {
            self.0.on_event(line, context);
        }
    }
}

/// Writes the current trace into each line.
#[derive(Debug)]
pub(super) struct TraceOfLine;

impl LogProcessor for TraceOfLine {
    fn emit(&self, line: &mut SdkLogRecord, _scope: &InstrumentationScope) {
        if let Some(context) = trace::current() {
            line.set_trace_context(
                TraceId::from(context.trace_id()),
                SpanId::from(context.span_id()),
                Some(TraceFlags::default().with_sampled(context.is_sampled())),
            );
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        Ok(())
    }
}
