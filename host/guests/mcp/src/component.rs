//! The component's exports: the contract of `wit/toolgate.wit`, and `init`, which the builder runs.

mod exchange;

use std::sync::OnceLock;

use serde_json::{Map, Value};
use toolgate_mcp_wire::table::{UpstreamAddress, UpstreamTable};

use crate::content::{self, CallContent};
use crate::fault::{CallFault, FaultKind};

#[allow(unsafe_code, reason = "made by wit-bindgen")]
mod bindings {
    wit_bindgen::generate!({
        inline: r#"
            package toolgate:interpreter;

            world mcp-interpreter {
                include toolgate:plugin/plugin@0.1.1;
                /// Stores the manifest and the table, which is JSON. Called once, by the builder.
                export init: func(manifest: string, table: string);
            }
        "#,
        path: "../../../wit/toolgate.wit",
        world: "toolgate:interpreter/mcp-interpreter",
        generate_all,
    });
    use super::RemoteServer;
    export!(RemoteServer);
}

use bindings::exports::toolgate::plugin::integration::{self, Invocation, Output};
use bindings::toolgate::plugin::{blobs, call, egress, kv, types};

use exchange::CallExchange;

struct RemoteServer;

struct BakedServer {
    manifest: String,
    table: UpstreamTable,
}

/// Filled by `init` before the component is frozen, never after.
static SERVER: OnceLock<BakedServer> = OnceLock::new();

impl bindings::Guest for RemoteServer {
    fn init(manifest: String, table: String) {
        let parsed = serde_json::from_str(&table).expect("the builder writes a valid table");
        // Freed memory stays in the snapshot, where zeros take no space.
        let mut text = table.into_bytes();
        text.fill(0);
        drop(text);
        let baked = BakedServer {
            manifest,
            table: parsed,
        };
        assert!(SERVER.set(baked).is_ok(), "init runs once");
    }
}

impl integration::Guest for RemoteServer {
    fn describe() -> String {
        SERVER
            .get()
            .map(|baked| baked.manifest.clone())
            .unwrap_or_default()
    }

    fn invoke(invocation: Invocation) -> Result<Output, types::ToolError> {
        perform(&invocation).map_err(tool_error)
    }
}

fn perform(invocation: &Invocation) -> Result<Output, CallFault> {
    let missing = || {
        let message = format!("this plugin has no tool {}", invocation.tool);
        CallFault::new(FaultKind::Internal, "unknown_tool", message)
    };
    let table = &SERVER.get().ok_or_else(missing)?.table;
    let tool = table.tools.get(&invocation.tool).ok_or_else(missing)?;
    let arguments: Map<String, Value> =
        serde_json::from_str(&invocation.arguments).map_err(|_| {
            let message = "the arguments are not a JSON object";
            CallFault::new(FaultKind::InvalidArguments, "invalid_arguments", message)
        })?;
    let exchange = CallExchange::new(table, address(table)?, keeps_session(invocation));
    let result = exchange.call(tool, arguments)?;
    output(content::read(tool, result)?)
}

fn address(table: &UpstreamTable) -> Result<String, CallFault> {
    match &table.address {
        UpstreamAddress::Url(url) => Ok(url.clone()),
        UpstreamAddress::Setting(key) => {
            let set = call::config(key).and_then(|text| serde_json::from_str(&text).ok());
            set.ok_or_else(|| {
                let message =
                    format!("the operator has not set `{key}`, the address of the server");
                CallFault::new(FaultKind::Unavailable, "not_configured", message)
            })
        }
    }
}

/// Whether later calls see what this one keeps: the caller has named the gateway's session.
fn keeps_session(invocation: &Invocation) -> bool {
    let meta: Option<Value> = serde_json::from_str(&invocation.meta).ok();
    meta.is_some_and(|meta| meta["session_named"] == true)
}

fn output(content: CallContent) -> Result<Output, CallFault> {
    let mut files = Vec::new();
    for file in content.files {
        let blob = blobs::create(&file.media_type, file.name.as_deref(), &file.bytes);
        files.push(blob.map_err(of_host)?);
    }
    Ok(Output {
        data: content.data.to_string(),
        files,
        next_cursor: None,
        summary: content.summary,
        meta: None,
    })
}

/// A refusal of the host's imports `blobs` and `kv`.
fn of_host(error: types::ToolError) -> CallFault {
    use types::ErrorKind;
    let kind = match error.kind {
        ErrorKind::TooLarge => FaultKind::TooLarge,
        ErrorKind::Cancelled => FaultKind::Cancelled,
        ErrorKind::Unavailable => FaultKind::Unavailable,
        _ => FaultKind::Internal,
    };
    CallFault::new(kind, error.code.as_deref().unwrap_or("host"), error.message)
}

fn tool_error(fault: CallFault) -> types::ToolError {
    use types::ErrorKind;
    let kind = match fault.kind {
        FaultKind::InvalidArguments => ErrorKind::InvalidArguments,
        FaultKind::AuthRequired => ErrorKind::AuthRequired,
        FaultKind::AuthExpired => ErrorKind::AuthExpired,
        FaultKind::PermissionDenied => ErrorKind::PermissionDenied,
        FaultKind::NotFound => ErrorKind::NotFound,
        FaultKind::RateLimited => ErrorKind::RateLimited,
        FaultKind::Upstream => ErrorKind::Upstream,
        FaultKind::Unavailable => ErrorKind::Unavailable,
        FaultKind::TooLarge => ErrorKind::TooLarge,
        FaultKind::Cancelled => ErrorKind::Cancelled,
        FaultKind::Internal => ErrorKind::Internal,
    };
    types::ToolError {
        kind,
        code: fault.code,
        message: fault.message,
        retry_after_ms: fault.retry_after_ms,
        http_status: fault.http_status,
        field: None,
        details: None,
    }
}

impl CallFault {
    fn of_egress(failure: egress::Failure) -> Self {
        use egress::FailureKind;
        let (kind, code) = match failure.kind {
            FailureKind::AuthRequired => (FaultKind::AuthRequired, "auth_required"),
            FailureKind::AuthExpired => (FaultKind::AuthExpired, "auth_expired"),
            // A redirect to another host does not show what the account may do.
            FailureKind::Denied if failure.sent => (FaultKind::Upstream, "redirected"),
            FailureKind::Denied => (FaultKind::PermissionDenied, "denied"),
            FailureKind::ScopeMissing => (FaultKind::PermissionDenied, "scope_missing"),
            FailureKind::LeakBlocked => (FaultKind::PermissionDenied, "leak_blocked"),
            FailureKind::TooLarge => (FaultKind::TooLarge, "too_large"),
            FailureKind::BudgetExhausted => (FaultKind::TooLarge, "budget_exhausted"),
            FailureKind::Cancelled => (FaultKind::Cancelled, "cancelled"),
            FailureKind::Dns | FailureKind::Connect => (FaultKind::Unavailable, "unreachable"),
            FailureKind::Timeout => (FaultKind::Unavailable, "timeout"),
            FailureKind::Tls | FailureKind::Protocol => (FaultKind::Upstream, "transport"),
        };
        Self::new(kind, code, failure.message)
    }
}
