//! Which network address a request counts against: the peer's, or the one that a trusted proxy names.
//!
//! Pure. A header is believed only as far as a chain of trusted proxies reaches: the walk begins at
//! the peer, goes from the last hop to the first and stops at the first address outside the trusted
//! networks. Everything left of that was written by the client and is not read.
//!
//! [`forwarded`] reads `Forwarded` and `X-Forwarded-For`, [`proxy_protocol`] the header of the PROXY
//! protocol. Both edges ask `toolgate_http_kit::client`, which keeps the result with the request.

pub mod forwarded;
pub mod proxy_protocol;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use http::HeaderMap;
use ipnet::{IpNet, Ipv4Net};

use forwarded::{BadHeader, ForwardedHop};

/// Hops that are read, from the last one; a chain of this many trusted proxies ends the walk.
pub const HOPS_MAX: usize = 32;

/// `X-Forwarded-For` and `Forwarded` name different clients: one of them was not written by the
/// proxy, and nothing says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Forwarded and X-Forwarded-For name different clients")]
pub struct Ambiguous;

/// The proxies whose headers about a client are believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// IPv4 networks written as IPv4-mapped IPv6 become IPv4 networks.
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().map(unmapped).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The client behind a request that came from `peer`.
    ///
    /// # Errors
    /// When both headers are there and disagree.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Result<IpAddr, Ambiguous> {
        let peer = peer.to_canonical();
        // Most gateways have no proxy, and most proxies are the peer.
        if !self.contains(peer) {
            return Ok(peer);
        }
        let standard = forwarded::standard(headers).map(|hops| self.walk(peer, hops));
        let usual = forwarded::usual(headers).map(|hops| self.walk(peer, hops));
        match (standard, usual) {
            (Some(standard), Some(usual)) if standard != usual => Err(Ambiguous),
            (Some(client), _) | (None, Some(client)) => Ok(client),
            (None, None) => Ok(peer),
        }
    }

    /// From the last hop to the first. A hop that cannot be read ends the walk at the proxy that
    /// wrote it.
    fn walk(&self, peer: IpAddr, hops: Vec<Result<ForwardedHop, BadHeader>>) -> IpAddr {
        let mut client = peer;
        for hop in hops {
            match hop {
                Ok(ForwardedHop::Address(address)) => client = address.to_canonical(),
                Ok(ForwardedHop::Hidden) | Err(BadHeader) => break,
            }
            if !self.contains(client) {
                break;
            }
        }
        client
    }
}

fn unmapped(network: IpNet) -> IpNet {
    if let IpNet::V6(mapped) = network
        && let Some(address) = mapped.addr().to_ipv4_mapped()
        && let Some(length) = mapped.prefix_len().checked_sub(96)
        && let Ok(plain) = Ipv4Net::new(address, length)
    {
        return IpNet::V4(plain.trunc());
    }
    network.trunc()
}

/// One client for rate limits: an IPv4 address, or the 2^64 addresses of an IPv6 network, which
/// usually belong to one subscriber.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let prefix = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(prefix.into())
        }
    }
}
