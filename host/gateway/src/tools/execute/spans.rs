//! The span of one execution, after the semantic conventions of OpenTelemetry for GenAI (`execute_tool`).

use std::borrow::Cow;

use super::PreparedRun;
use crate::tools::outcome::status_of;
use crate::tools::{Execute, Execution};
use crate::{Error, Gateway};
use toolgate_core::trace::{Attribute, SpanKind, TraceSpan};

pub(super) fn begin(gateway: &Gateway, request: &Execute) -> TraceSpan {
    // A name that no tool has is the caller's text.
    TraceSpan::begin(SpanKind::Internal, || -> Cow<'static, str> {
        match gateway.snapshot().catalog.get(&request.tool_name) {
            Some(tool) => format!("execute_tool {}", tool.name).into(),
            None => "execute_tool".into(),
        }
    })
}

pub(super) fn ready(span: &mut TraceSpan, run: &PreparedRun) {
    span.note(|span| {
        span.set(Attribute::Operation, "execute_tool".into());
        span.set(Attribute::ToolName, run.tool.name.to_string().into());
        span.set(Attribute::ToolType, "extension".into());
        span.set(Attribute::ToolCall, run.execution_id.to_string().into());
        span.set(Attribute::Service, run.serving.service.to_string().into());
        let version = run.serving.version.to_string();
        span.set(Attribute::PluginVersion, version.into());
    });
}

pub(super) fn refused(span: &mut TraceSpan, error: &Error) {
    span.note(|span| span.fail(error.code().into()));
}

/// A call whose tool failed has failed, also where its answer has the status 200.
pub(super) fn ended(span: &mut TraceSpan, ended: &Result<Execution, Error>) {
    match ended {
        Err(error) => refused(span, error),
        Ok(execution) => span.note(|span| {
            let (status, reason) = status_of(&execution.outcome);
            span.set(Attribute::ExecutionStatus, status.into_str().into());
            if let Some(reason) = reason {
                span.fail(reason.into_str().into());
            }
        }),
    }
}
