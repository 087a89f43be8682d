//! The queues before the collector: of a bounded length, and every item is counted once as sent, dropped or
//! failed.
//!
//! The SDK's processors gather items and hand them to an exporter on a thread of their own. They are told
//! of no more items than fit, so that what does not fit is counted here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::{Context, InstrumentationScope};
use opentelemetry_otlp::{LogExporter, SpanExporter};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::{self, BatchLogProcessor, LogBatch, LogProcessor, SdkLogRecord};
use opentelemetry_sdk::trace::{self, BatchSpanProcessor, Span, SpanData, SpanProcessor};

use super::{Tally, variable};
use toolgate_gateway::metrics::{TelemetryOutcome, TelemetrySignal};

/// Items of a queue where no variable says another number, as in the specification.
const QUEUE_MAX: usize = 2_048;

/// How many items are under way, and their outcomes.
#[derive(Clone, Debug)]
struct Counted {
    signal: TelemetrySignal,
    tally: Tally,
    queued: Arc<AtomicUsize>,
    queue_max: usize,
    /// Whether the collector did not take the last batch.
    refused: Arc<AtomicBool>,
}

impl Counted {
    fn new(signal: TelemetrySignal, tally: Tally, variable_name: &str) -> Self {
        let queue_max = variable(variable_name).and_then(|text| text.parse().ok());
        Self {
            signal,
            tally,
            queued: Arc::default(),
            refused: Arc::default(),
            queue_max: queue_max.filter(|max| *max > 0).unwrap_or(QUEUE_MAX),
        }
    }

    /// Takes a place for one item. False: the queue is full.
    fn enter(&self) -> bool {
        if self.queued.fetch_add(1, Ordering::Relaxed) < self.queue_max {
            return true;
        }
        self.queued.fetch_sub(1, Ordering::Relaxed);
        self.tally.count(self.signal, TelemetryOutcome::Dropped, 1);
        false
    }

    fn left(&self, count: usize, result: &OTelSdkResult) {
        self.queued.fetch_sub(count, Ordering::Relaxed);
        let outcome = match result {
            Ok(()) => TelemetryOutcome::Sent,
            Err(_) => TelemetryOutcome::Failed,
        };
        self.tally.count(self.signal, outcome, count);
        // Once, not for every batch.
        if self.refused.swap(result.is_err(), Ordering::Relaxed) != result.is_err() {
            let signal = self.signal;
            match result {
                Ok(()) => tracing::info!(?signal, "telemetry.collector_back"),
                Err(cause) => tracing::warn!(?signal, error = %cause, "telemetry.collector_away"),
            }
        }
    }
}

/// Spans on their way.
#[derive(Debug)]
pub(super) struct SpanQueue {
    processor: BatchSpanProcessor,
    counted: Counted,
}

impl SpanQueue {
    pub(super) fn new(exporter: SpanExporter, tally: Tally) -> Self {
        let counted = Counted::new(TelemetrySignal::Spans, tally, "OTEL_BSP_MAX_QUEUE_SIZE");
        let config = trace::BatchConfigBuilder::default()
            .with_max_queue_size(counted.queue_max)
            .build();
        let exporter = CountedSpans {
            exporter,
            counted: counted.clone(),
        };
        Self {
            processor: BatchSpanProcessor::new(exporter, config),
            counted,
        }
    }
}

impl SpanProcessor for SpanQueue {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.processor.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.counted.enter() {
            self.processor.on_end(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.processor.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.processor.set_resource(resource);
    }
}

#[derive(Debug)]
struct CountedSpans {
    exporter: SpanExporter,
    counted: Counted,
}

impl trace::SpanExporter for CountedSpans {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let result = self.exporter.export(batch).await;
        self.counted.left(count, &result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Lines of the log on their way.
#[derive(Debug)]
pub(super) struct LogQueue {
    processor: BatchLogProcessor,
    counted: Counted,
}

impl LogQueue {
    pub(super) fn new(exporter: LogExporter, tally: Tally) -> Self {
        let counted = Counted::new(TelemetrySignal::Logs, tally, "OTEL_BLRP_MAX_QUEUE_SIZE");
        let config = logs::BatchConfigBuilder::default()
            .with_max_queue_size(counted.queue_max)
            .build();
        let exporter = CountedLogs {
            exporter,
            counted: counted.clone(),
        };
        let processor = BatchLogProcessor::builder(exporter).with_batch_config(config);
        Self {
            processor: processor.build(),
            counted,
        }
    }
}

impl LogProcessor for LogQueue {
    fn emit(&self, line: &mut SdkLogRecord, scope: &InstrumentationScope) {
        if self.counted.enter() {
            self.processor.emit(line, scope);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.processor.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.processor.set_resource(resource);
    }
}

#[derive(Debug)]
struct CountedLogs {
    exporter: LogExporter,
    counted: Counted,
}

impl logs::LogExporter for CountedLogs {
    async fn export(&self, batch: LogBatch<'_>) -> OTelSdkResult {
        let count = batch.iter().count();
        let result = self.exporter.export(batch).await;
        self.counted.left(count, &result);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
