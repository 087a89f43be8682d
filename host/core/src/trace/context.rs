//! The context of a request in a trace, as it is passed between processes (W3C Trace Context, level 2).

use std::fmt;
use std::sync::Arc;

/// Name of the header, and of the field of `_meta` in MCP.
pub const TRACEPARENT: &str = "traceparent";
/// The header with the data of tracing systems.
pub const TRACESTATE: &str = "tracestate";

/// Longer values of `tracestate` are left out.
const STATE_BYTES_MAX: usize = 512;
/// Of version 00.
const TRACEPARENT_BYTES: usize = 55;
const SAMPLED: u8 = 1;

/// A span by its ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: u128,
    span_id: u64,
    sampled: bool,
    state: Option<Arc<str>>,
}

impl TraceContext {
    pub fn new(trace_id: u128, span_id: u64, sampled: bool) -> Self {
        Self {
            trace_id,
            span_id,
            sampled,
            state: None,
        }
    }

    /// Reads the two values. `None`: `traceparent` is not valid, and the request begins a trace. A
    /// `tracestate` that is not valid is left out.
    pub fn parse(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        let bytes = traceparent.as_bytes();
        if bytes.len() < TRACEPARENT_BYTES || !traceparent.is_ascii() {
            return None;
        }
        let version = hexadecimal(&traceparent[..2])?;
        let whole = match bytes.get(TRACEPARENT_BYTES) {
            None => true,
            // A later version may add a field.
            Some(next) => version != 0 && *next == b'-',
        };
        let dashes = [2, 35, 52].iter().all(|at| bytes[*at] == b'-');
        if version == 0xff || !whole || !dashes {
            return None;
        }
        let trace_id = hexadecimal(&traceparent[3..35])?;
        let span_id = u64::try_from(hexadecimal(&traceparent[36..52])?).ok()?;
        let flags = u8::try_from(hexadecimal(&traceparent[53..55])?).ok()?;
        if trace_id == 0 || span_id == 0 {
            return None;
        }
        let state = tracestate.filter(|state| is_state(state)).map(Arc::from);
        Some(Self {
            trace_id,
            span_id,
            sampled: flags & SAMPLED != 0,
            state,
        })
    }

    /// Reads the headers of a request.
    pub fn from_headers(headers: &http::HeaderMap) -> Option<Self> {
        let mut parents = headers.get_all(TRACEPARENT).iter();
        let (parent, None) = (parents.next()?, parents.next()) else {
            return None;
        };
        let lines: Vec<&str> = headers
            .get_all(TRACESTATE)
            .iter()
            .filter_map(|line| line.to_str().ok())
            .collect();
        let state = (!lines.is_empty()).then(|| lines.join(","));
        Self::parse(parent.to_str().ok()?, state.as_deref())
    }

    /// The same context with the `tracestate` of tracing systems.
    pub fn with_state(mut self, state: Option<Arc<str>>) -> Self {
        self.state = state;
        self
    }

    pub fn trace_id(&self) -> u128 {
        self.trace_id
    }

    pub fn span_id(&self) -> u64 {
        self.span_id
    }

    pub fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// The value of `tracestate`.
    pub fn state(&self) -> Option<&Arc<str>> {
        self.state.as_ref()
    }
}

/// The value of `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace_id, span_id) = (self.trace_id, self.span_id);
        let flags = u8::from(self.sampled);
        write!(f, "00-{trace_id:032x}-{span_id:016x}-{flags:02x}")
    }
}

/// Only lower-case digits, as the standard requires.
fn hexadecimal(digits: &str) -> Option<u128> {
    let plain = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if !digits.bytes().all(plain) {
        return None;
    }
    u128::from_str_radix(digits, 16).ok()
}

fn is_state(state: &str) -> bool {
    let printable = |byte: u8| matches!(byte, b' '..=b'~');
    !state.is_empty() && state.len() <= STATE_BYTES_MAX && state.bytes().all(printable)
}
