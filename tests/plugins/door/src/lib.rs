//! Leaves by the second door: `wasi:http` 0.2, as a language with an HTTP client of its own does.
//! Tests send it to hosts that it may reach and to hosts that it may not.

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "door",
    title: "Second door",
    description: "Fetches an address through wasi:http; for tests of what the host allows there.",
    categories: ["testing"],
    hosts: ["door.example.com"],
    capabilities: ["wasi-http"],
    tools: [fetch],
}

#[derive(Args)]
pub struct Fetch {
    /// Host to ask.
    #[arg(default = "door.example.com")]
    host: String,
    /// Path and query.
    #[arg(default = "/")]
    path: String,
    /// Ask by http instead of https.
    #[arg(default = false)]
    plain: bool,
}

/// Asks a host and answers status and body, or what went wrong.
#[tool(effect = "read", example = { "path": "/" })]
pub fn fetch(args: Fetch, _cx: &Context) -> Result<Value, ToolError> {
    Ok(match ask(&args) {
        Ok((status, body)) => json!({ "status": status, "body": body }),
        Err(refusal) => json!({ "refused": refusal }),
    })
}

#[cfg(target_os = "wasi")]
fn ask(args: &Fetch) -> Result<(u16, String), String> {
    use wasi::http::outgoing_handler::handle;
    use wasi::http::types::{Fields, OutgoingRequest, Scheme};

    let headers = Fields::new();
    // Forbidden here: the host must refuse to take it from a guest.
    let smuggled = headers.append("authorization", b"Bearer made-up");
    let request = OutgoingRequest::new(headers);
    let scheme = if args.plain {
        Scheme::Http
    } else {
        Scheme::Https
    };
    let set = request.set_scheme(Some(&scheme)).is_ok()
        && request.set_authority(Some(&args.host)).is_ok()
        && request.set_path_with_query(Some(&args.path)).is_ok();
    if !set {
        return Err("the request cannot be written".to_owned());
    }
    if smuggled.is_ok() {
        return Err("an authorization header was accepted".to_owned());
    }
    let pending = handle(request, None).map_err(|error| format!("{error:?}"))?;
    pending.subscribe().block();
    let response = match pending.get() {
        Some(Ok(Ok(response))) => response,
        Some(Ok(Err(error))) => return Err(format!("{error:?}")),
        _ => return Err("no answer".to_owned()),
    };
    let status = response.status();
    let body = response
        .consume()
        .map_err(|()| "the body is gone".to_owned())?;
    let stream = body
        .stream()
        .map_err(|()| "the stream is gone".to_owned())?;
    let mut bytes = Vec::new();
    while let Ok(chunk) = stream.blocking_read(64 << 10) {
        bytes.extend_from_slice(&chunk);
    }
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

/// There is no second door outside the sandbox.
#[cfg(not(target_os = "wasi"))]
fn ask(args: &Fetch) -> Result<(u16, String), String> {
    Err(format!(
        "{}{} can be asked in the sandbox only (plain: {})",
        args.host, args.path, args.plain
    ))
}
