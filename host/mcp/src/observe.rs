//! One request of the protocol as operators see it: its span and its count, after the semantic conventions
//! of OpenTelemetry for MCP.
//!
//! The client's trace context is in `_meta` (SEP-414). It is the span's parent, and the HTTP request that
//! brought it is linked: one HTTP request may hold several requests of the protocol, and the other way
//! round. What the client calls its request and its session is not recorded.

use std::borrow::Cow;
use std::time::Instant;

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;

use toolgate_core::trace::{self, Attribute, SpanKind, TraceContext, TraceSpan};
use toolgate_gateway::metrics::Metrics;

/// A tool answered `isError: true`.
const TOOL_ERROR: &str = "tool_error";

/// A request that is about to be handled.
pub(crate) struct Observed<'a> {
    pub method: &'static str,
    /// Name of the tool that is called.
    pub tool: Option<&'a str>,
    /// Where requests are counted; a proxy counts none.
    pub metrics: Option<&'a Metrics>,
}

impl Observed<'_> {
    /// Runs `work`, the handling of the request. `failed`: whether a result says that a tool failed.
    pub(crate) async fn run<T>(
        self,
        context: &RequestContext<RoleServer>,
        failed: impl FnOnce(&T) -> bool,
        work: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        let began = Instant::now();
        let sent = sent(context);
        let mut span = self.begin(context, sent.as_ref());
        // A proxy records nothing, and hands the context of its client on.
        let within = span.context().cloned().or(sent);
        let done = trace::adopt(within, work).await;
        let error: Option<Cow<'static, str>> = match &done {
            Err(error) => Some(error.code.0.to_string().into()),
            Ok(result) => failed(result).then(|| TOOL_ERROR.into()),
        };
        span.note(|span| {
            if let Err(error) = &done {
                span.set(Attribute::RpcStatus, error.code.0.to_string().into());
            }
            if let Some(error) = &error {
                span.fail(error.clone());
            }
        });
        if let Some(metrics) = self.metrics {
            let error = error.as_deref().unwrap_or_default();
            metrics.mcp_request(self.method, error, began.elapsed());
        }
        done
    }

    fn begin(
        &self,
        context: &RequestContext<RoleServer>,
        sent: Option<&TraceContext>,
    ) -> TraceSpan {
        if !trace::is_on() {
            return TraceSpan::default();
        }
        let name = || -> Cow<'static, str> {
            match self.tool {
                Some(tool) => format!("{} {tool}", self.method).into(),
                None => self.method.into(),
            }
        };
        let parts = context.extensions.get::<http::request::Parts>();
        let transport = parts.and_then(|parts| parts.extensions.get::<TraceContext>());
        let mut span = match sent {
            Some(sent) => TraceSpan::serve(Some(sent), transport, name),
            None => TraceSpan::begin_below(SpanKind::Server, transport, name),
        };
        span.note(|span| {
            span.set(Attribute::McpMethod, self.method.into());
            if let Some(version) = context.protocol_version() {
                span.set(Attribute::McpVersion, version.as_str().to_owned().into());
            }
            if let Some(tool) = self.tool {
                span.set(Attribute::Operation, "execute_tool".into());
                span.set(Attribute::ToolName, tool.to_owned().into());
            }
        });
        span
    }
}

/// The context that the client sent with the request.
fn sent(context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    let parent = context.meta.get_traceparent()?;
    TraceContext::parse(parent, context.meta.get_tracestate())
}
