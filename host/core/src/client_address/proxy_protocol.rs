//! The header of the PROXY protocol, version 2 (haproxy.org/download/3.2/doc/proxy-protocol.txt).
//!
//! It comes before the first byte of HTTP and names the client of the proxy. Version 1, a line of
//! text, is not supported.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Signature, version and command, family, length.
pub const HEAD_BYTES: usize = 16;

/// Addresses and what a proxy adds to them (TLS details, a unique id). Proxies send a few hundred.
pub const REST_BYTES_MAX: usize = 4 << 10;

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Why a header is refused. The connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProxyHeader {
    #[error("the connection does not begin with a PROXY protocol header of version 2")]
    NoHeader,
    #[error("the PROXY protocol header names an unknown version, command or family")]
    Unknown,
    #[error("the PROXY protocol header is longer than {REST_BYTES_MAX} bytes")]
    TooLong,
    #[error("the PROXY protocol header is too short for its addresses")]
    TooShort,
}

/// The first bytes, read: how many follow and what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyHeader {
    pub rest_bytes: usize,
    kind: ProxyHeaderKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyHeaderKind {
    /// A connection of the proxy itself, such as a health check.
    Local,
    V4,
    V6,
    /// For a client without an IP address.
    Unspecified,
}

/// Whether a connection may begin with the header, judged by what has arrived of it.
pub fn may_begin(bytes: &[u8]) -> bool {
    let shown = bytes.len().min(SIGNATURE.len());
    bytes[..shown] == SIGNATURE[..shown]
}

impl ProxyHeader {
    pub fn read(bytes: &[u8; HEAD_BYTES]) -> Result<Self, BadProxyHeader> {
        if !may_begin(bytes) {
            return Err(BadProxyHeader::NoHeader);
        }
        let kind = match (bytes[12], bytes[13]) {
            (0x20, _) => ProxyHeaderKind::Local,
            (0x21, 0x11) => ProxyHeaderKind::V4,
            (0x21, 0x21) => ProxyHeaderKind::V6,
            (0x21, 0x00 | 0x31) => ProxyHeaderKind::Unspecified,
            _ => return Err(BadProxyHeader::Unknown),
        };
        let rest_bytes = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
        if rest_bytes > REST_BYTES_MAX {
            return Err(BadProxyHeader::TooLong);
        }
        Ok(Self { rest_bytes, kind })
    }

    /// The client that the rest names. `None`: a connection of the proxy itself.
    pub fn client(&self, rest: &[u8]) -> Result<Option<SocketAddr>, BadProxyHeader> {
        let short = BadProxyHeader::TooShort;
        match self.kind {
            ProxyHeaderKind::Local | ProxyHeaderKind::Unspecified => Ok(None),
            ProxyHeaderKind::V4 => {
                let addresses: &[u8; 12] = rest.first_chunk().ok_or(short)?;
                let [a, b, c, d, _, _, _, _, high, low, _, _] = *addresses;
                let address = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
                Ok(Some((address, u16::from_be_bytes([high, low])).into()))
            }
            ProxyHeaderKind::V6 => {
                let addresses: &[u8; 36] = rest.first_chunk().ok_or(short)?;
                let source: &[u8; 16] = addresses.first_chunk().ok_or(short)?;
                let address = IpAddr::V6(Ipv6Addr::from(*source)).to_canonical();
                let port = u16::from_be_bytes([addresses[32], addresses[33]]);
                Ok(Some((address, port).into()))
            }
        }
    }
}
