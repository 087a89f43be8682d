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
    auth: [{
        slot: "key", title: "Key", type: "api_key",
        placement: { header: "x-api-key" },
        audience: ["https://door.example.com"],
    }],
    tools: [fetch, flood, me],
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
#[tool(effect = "read", auth = [], example = { "path": "/" })]
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

/// Asks the host whose key it is.
#[tool(effect = "read", example = {})]
pub fn me(_cx: &Context) -> Result<Value, ToolError> {
    let args = Fetch {
        host: "door.example.com".to_owned(),
        path: "/me".to_owned(),
        plain: false,
    };
    match ask(&args) {
        Ok((401, body)) => Err(ToolError::new(ErrorKind::AuthRequired, body)),
        Ok((status, body)) => Ok(json!({ "status": status, "body": body })),
        Err(refusal) => Ok(json!({ "refused": refusal })),
    }
}

#[derive(Args)]
pub struct Flood {
    /// Requests that are under way at one time.
    requests: u32,
    /// Size of each body.
    mib: u32,
}

/// Sends many large bodies at once, waits for no answer and says which requests were refused.
#[tool(effect = "write", auth = [], example = { "requests": 1, "mib": 1 })]
pub fn flood(args: Flood, _cx: &Context) -> Result<Value, ToolError> {
    Ok(json!({ "refused": pour(args.requests, args.mib) }))
}

/// A body that is not taken to its end has been refused, so the wait for that answer is short.
#[cfg(target_os = "wasi")]
fn pour(requests: u32, mib: u32) -> Vec<String> {
    use wasi::http::outgoing_handler::handle;
    use wasi::http::types::{Fields, Method, OutgoingBody, OutgoingRequest, Scheme};

    let mut pending = Vec::new();
    let mut refused = Vec::new();
    let piece = [b'a'; 4096];
    for _ in 0..requests {
        let request = OutgoingRequest::new(Fields::new());
        let set = request.set_method(&Method::Post).is_ok()
            && request.set_scheme(Some(&Scheme::Https)).is_ok()
            && request.set_authority(Some("door.example.com")).is_ok()
            && request.set_path_with_query(Some("/")).is_ok();
        let (true, Ok(body)) = (set, request.body()) else {
            return vec!["the request cannot be written".to_owned()];
        };
        let answer = match handle(request, None) {
            Ok(answer) => answer,
            Err(error) => return vec![format!("{error:?}")],
        };
        let taken = body.write().is_ok_and(|stream| {
            (0..mib * 256).all(|_| stream.blocking_write_and_flush(&piece).is_ok())
        });
        if taken && OutgoingBody::finish(body, None).is_ok() {
            pending.push(answer);
            continue;
        }
        answer.subscribe().block();
        refused.push(match answer.get() {
            Some(Ok(Err(error))) => format!("{error:?}"),
            _ => "something else".to_owned(),
        });
    }
    // One whose end was still on its way when the next began.
    for answer in pending {
        if let Some(Ok(Err(error))) = answer.get() {
            refused.push(format!("{error:?}"));
        }
    }
    refused
}

/// There is no second door outside the sandbox.
#[cfg(not(target_os = "wasi"))]
fn pour(requests: u32, mib: u32) -> Vec<String> {
    vec![format!(
        "{requests} of {mib} MiB can be sent in the sandbox only"
    )]
}

/// There is no second door outside the sandbox.
#[cfg(not(target_os = "wasi"))]
fn ask(args: &Fetch) -> Result<(u16, String), String> {
    Err(format!(
        "{}{} can be asked in the sandbox only (plain: {})",
        args.host, args.path, args.plain
    ))
}
