//! Looks for a secret in its own memory, after having asked for it in every way that it has. Tests
//! send it to services that repeat the credential they were sent.
//!
//! What it looks for it is told in disguise ([`MASK`]), so that it does not find its own orders.

use toolgate_sdk::prelude::*;

toolgate_sdk::plugin! {
    service: "hunter",
    title: "Hunter",
    description: "Looks for a secret in everything that it can read; for tests of what the host lets in.",
    categories: ["testing"],
    hosts: ["api.hunter.test", "elsewhere.hunter.test"],
    capabilities: ["egress", "wasi-http"],
    auth: [{
        slot: "user",
        title: "Bait",
        type: "bearer",
        placement: [
            { header: "authorization", template: "Bearer {secret}" },
            { query: "key" },
            { path: "/bot{secret}" },
        ],
        audience: ["https://api.hunter.test"],
    }],
    tools: [hunt, crash],
}

/// Every byte of the prey is combined with this.
const MASK: u8 = 0x5a;

#[derive(Args)]
pub struct Hunt {
    /// Path to ask for.
    path: String,
    /// Leave by wasi:http.
    #[arg(default = false)]
    second_door: bool,
    /// What to look for: hexadecimal, every byte combined with 0x5a.
    #[arg(min_items = 1, max_items = 20)]
    prey: Vec<String>,
}

/// Asks for a path and counts what of the prey stands in memory then.
#[tool(effect = "read", example = { "path": "/echo", "prey": ["00"] })]
pub fn hunt(args: Hunt, cx: &Context) -> Result<Value, ToolError> {
    let prey: Vec<Vec<u8>> = args.prey.iter().map(|text| bytes_of(text)).collect();
    let surroundings = surroundings();
    // Both live while memory is searched.
    let (answer, said) = if args.second_door {
        let said = second_door(&args.path);
        (None, format!("{said:?}"))
    } else {
        let asked = cx
            .client("https://api.hunter.test")
            .get(Address::encoded(&args.path));
        match asked.send_any() {
            Ok(answer) => {
                let text = format!("{} {:?} {}", answer.status, answer.headers, answer.text());
                (Some(answer), text)
            }
            Err(refusal) => (None, format!("{refusal:?}")),
        }
    };
    let found: Vec<usize> = prey.iter().map(|one| count(one)).collect();
    drop(answer);
    Ok(json!({ "found": found, "said": said, "surroundings": surroundings }))
}

#[derive(Args)]
pub struct Crash {
    /// Path to ask for first.
    path: String,
}

/// Asks for a path and panics with the answer.
#[tool(effect = "read", example = { "path": "/echo" })]
pub fn crash(args: Crash, cx: &Context) -> Result<Value, ToolError> {
    let asked = cx
        .client("https://api.hunter.test")
        .get(Address::encoded(&args.path));
    panic!("{}", asked.send_any()?.text());
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let bytes =
        digits.filter_map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
    bytes.collect()
}

/// What it was started with and in.
#[cfg(target_family = "wasm")]
fn surroundings() -> Vec<String> {
    use wasi::cli::environment::{get_arguments, get_environment};
    let variables = get_environment().into_iter();
    get_arguments()
        .into_iter()
        .chain(variables.map(|(key, value)| format!("{key}={value}")))
        .collect()
}

#[cfg(not(target_family = "wasm"))]
fn surroundings() -> Vec<String> {
    Vec::new()
}

/// How often the prey stands in this instance's whole memory.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "searches its own memory")]
fn count(prey: &[u8]) -> usize {
    let end = core::arch::wasm32::memory_size(0) * 65536;
    // SAFETY: every address below the size of the memory can be read.
    let at = |address: usize| unsafe { core::ptr::read_volatile(address as *const u8) };
    let stands = |from: usize| (0..prey.len()).all(|n| at(from + n) ^ MASK == prey[n]);
    (1..end - prey.len()).filter(|from| stands(*from)).count()
}

/// There is nothing to hunt in outside the sandbox.
#[cfg(not(target_family = "wasm"))]
fn count(prey: &[u8]) -> usize {
    prey.iter().filter(|byte| **byte == MASK).count()
}

#[cfg(target_family = "wasm")]
fn second_door(path: &str) -> Result<(u16, Vec<u8>), String> {
    use wasi::http::outgoing_handler::handle;
    use wasi::http::types::{Fields, OutgoingRequest, Scheme};

    let request = OutgoingRequest::new(Fields::new());
    let set = request.set_scheme(Some(&Scheme::Https)).is_ok()
        && request.set_authority(Some("api.hunter.test")).is_ok()
        && request.set_path_with_query(Some(path)).is_ok();
    if !set {
        return Err("the request cannot be written".to_owned());
    }
    let pending = handle(request, None).map_err(|error| format!("{error:?}"))?;
    pending.subscribe().block();
    let response = match pending.get() {
        Some(Ok(Ok(response))) => response,
        other => return Err(format!("{other:?}")),
    };
    let headers = response.headers().entries();
    let body = response.consume().map_err(|()| "no body".to_owned())?;
    let stream = body.stream().map_err(|()| "no stream".to_owned())?;
    let mut bytes = format!("{headers:?}").into_bytes();
    // A few bytes at a time: a secret must not pass between two reads either.
    while let Ok(chunk) = stream.blocking_read(7) {
        bytes.extend_from_slice(&chunk);
    }
    Ok((response.status(), bytes))
}

/// There is no second door outside the sandbox.
#[cfg(not(target_family = "wasm"))]
fn second_door(path: &str) -> Result<(u16, Vec<u8>), String> {
    Err(format!("{path} can be asked in the sandbox only"))
}
