//! `Forwarded` (RFC 7239) and `X-Forwarded-For`, read from the last hop to the first.
//!
//! Only as many hops are read as the walk may take, and no header longer than
//! [`HEADER_BYTES_MAX`] is read completely: its beginning is the client's own text.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::{HeaderMap, HeaderName, header};

use super::HOPS_MAX;

/// Of all lines of one header together, counted from the end.
pub const HEADER_BYTES_MAX: usize = 8 << 10;

const USUAL: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The sender of the request to one proxy, as that proxy writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedHop {
    Address(IpAddr),
    /// `unknown` or a name of the proxy's own (RFC 7239, section 6.2 and 6.3).
    Hidden,
}

/// A forwarded hop that is neither an IP address nor an obfuscated name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadHeader;

/// The hops of `X-Forwarded-For`, the last one first. `None` without the header.
pub(super) fn usual(headers: &HeaderMap) -> Option<Vec<Result<ForwardedHop, BadHeader>>> {
    let text = joined(headers, &USUAL)?;
    let hops = text.rsplit(|byte| *byte == b',').map(usual_hop);
    Some(hops.take(HOPS_MAX).collect())
}

/// The hops of `Forwarded`, the last one first. `None` without the header.
pub(super) fn standard(headers: &HeaderMap) -> Option<Vec<Result<ForwardedHop, BadHeader>>> {
    let text = joined(headers, &header::FORWARDED)?;
    let hops = elements_from_the_end(&text).into_iter().map(standard_hop);
    Some(hops.collect())
}

/// All lines of a header as one list (RFC 9110, section 5.3); the end of it where it is too long.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<Vec<u8>> {
    let mut joined: Vec<u8> = Vec::new();
    let mut found = false;
    for line in headers.get_all(name) {
        if found {
            joined.push(b',');
        }
        found = true;
        joined.extend_from_slice(line.as_bytes());
    }
    if joined.len() > HEADER_BYTES_MAX {
        joined.drain(..joined.len() - HEADER_BYTES_MAX);
    }
    found.then_some(joined)
}

fn usual_hop(text: &[u8]) -> Result<ForwardedHop, BadHeader> {
    let text = std::str::from_utf8(text).map_err(|_| BadHeader)?.trim();
    if text.eq_ignore_ascii_case("unknown") {
        return Ok(ForwardedHop::Hidden);
    }
    address(text).map(ForwardedHop::Address).ok_or(BadHeader)
}

/// One `forwarded-element`: its `for`.
fn standard_hop(element: &[u8]) -> Result<ForwardedHop, BadHeader> {
    let mut found = None;
    for pair in split(element, b';').ok_or(BadHeader)? {
        let pair = std::str::from_utf8(pair).map_err(|_| BadHeader)?.trim();
        let (name, value) = pair.split_once('=').ok_or(BadHeader)?;
        if name.eq_ignore_ascii_case("for") && found.replace(value).is_some() {
            // RFC 7239, section 4: each parameter once.
            return Err(BadHeader);
        }
    }
    let Some(node) = found else {
        return Ok(ForwardedHop::Hidden);
    };
    let node = match node.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"').ok_or(BadHeader)?,
        None => node,
    };
    let name = node.split(':').next().unwrap_or_default();
    if name.eq_ignore_ascii_case("unknown") || name.starts_with('_') {
        return Ok(ForwardedHop::Hidden);
    }
    address(node).map(ForwardedHop::Address).ok_or(BadHeader)
}

/// An address, with or without brackets and port.
fn address(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(address.ip());
    }
    if let Some(inner) = text.strip_prefix('[') {
        let (address, port) = inner.split_once(']')?;
        // RFC 7239, section 6: a port may be a name of the proxy's own.
        let named = port.is_empty() || port.starts_with(":_");
        let address = address.parse::<Ipv6Addr>().ok()?;
        return named.then_some(address.into());
    }
    let (address, port) = text.split_once(':')?;
    let address = address.parse::<IpAddr>().ok()?;
    port.starts_with('_').then_some(address)
}

/// The last elements of the list, the last one first, split at commas outside of quoted strings.
///
/// Read from the end, because only the end was written by proxies: a quotation mark that a client
/// left open further left changes nothing of it.
fn elements_from_the_end(text: &[u8]) -> Vec<&[u8]> {
    let (mut quoted, mut end) = (false, text.len());
    let mut elements = Vec::new();
    for (n, byte) in text.iter().enumerate().rev() {
        match byte {
            b'"' => {
                let escapes = text[..n].iter().rev().take_while(|byte| **byte == b'\\');
                if escapes.count() % 2 == 0 {
                    quoted = !quoted;
                }
            }
            b',' if !quoted => {
                elements.push(&text[n + 1..end]);
                end = n;
                if elements.len() == HOPS_MAX {
                    return elements;
                }
            }
            _ => {}
        }
    }
    elements.push(&text[..end]);
    elements
}

/// Splits outside of quoted strings. `None`: a quoted string does not end.
fn split(text: &[u8], at: u8) -> Option<Vec<&[u8]>> {
    let (mut quoted, mut escaped, mut start) = (false, false, 0);
    let mut parts = Vec::new();
    for (n, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if *byte == at && !quoted => {
                parts.push(&text[start..n]);
                start = n + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (!quoted).then_some(parts)
}
