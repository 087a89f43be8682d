//! The numbers that connections are held to.

use std::time::Duration;

use crate::config::InboundSettings;

/// Connections at one time, where file descriptors allow as many.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Connections at one time from one address that is not a trusted proxy.
pub const CONNECTIONS_PER_CLIENT: usize = 512;
/// File descriptors that connections leave to the database, to plugins and to requests that leave:
/// a quarter, within these bounds.
pub const RESERVE_MIN: usize = 64;
pub const RESERVE_MAX: usize = 2_048;

/// A PROXY protocol header is there within this.
pub const PROXY_HEADER_TIME: Duration = Duration::from_secs(5);
/// A TLS handshake is complete within this.
pub const TLS_HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// The head of one HTTP/1 request, and what is kept of a body that nobody has asked for yet.
pub const BUFFER_BYTES_MAX: usize = 128 << 10;
/// Requests at one time on one HTTP/2 connection.
pub const STREAMS_MAX: u32 = 100;
/// Header fields of one HTTP/2 request, uncompressed.
pub const HEADER_LIST_BYTES_MAX: u32 = 64 << 10;
/// HTTP/2 requests that were taken back before they were answered (CVE-2023-44487).
pub const RESET_STREAMS_MAX: usize = 20;
/// An HTTP/2 peer that says nothing is asked for a sign of life, and has as long again to give one.
pub const PING_EVERY: Duration = Duration::from_secs(20);

/// A client that takes less than this while its answer waits is stalled.
pub const PROGRESS_BYTES_MIN: usize = 4 << 10;
/// A client that sends less than this of a body within [`Times::body`] is too slow. An upload of 48 MiB in the
/// 300 s that it may take is a hundred times as fast.
pub const BODY_PROGRESS_BYTES_MIN: usize = 64 << 10;

/// How long a connection may be slow.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// From the first byte of a request's head to its last, and from the opening of a connection
    /// to the first request.
    pub head: Duration,
    /// Without a request.
    pub idle: Duration,
    /// While a request's body arrives: until the next [`BODY_PROGRESS_BYTES_MIN`] of it or its end. How long all of
    /// it may take is the handler's limit.
    pub body: Duration,
    /// While an answer waits for its client to take [`PROGRESS_BYTES_MIN`], or to open a window of HTTP/2.
    pub stall: Duration,
    /// How often this is looked at.
    pub sweep: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(40),
            stall: Duration::from_secs(30),
            sweep: Duration::from_secs(1),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    pub connections_max: usize,
    pub connections_per_client: usize,
    pub times: Times,
}

impl ConnectionLimits {
    /// `descriptors`: files that the process may open, if that is bounded.
    pub fn new(settings: &InboundSettings, descriptors: Option<usize>) -> Self {
        let wanted = settings.connections_max.unwrap_or(CONNECTIONS_MAX);
        let possible = descriptors.map_or(wanted, |descriptors| {
            let reserve = (descriptors / 4).clamp(RESERVE_MIN, RESERVE_MAX);
            descriptors.saturating_sub(reserve).max(1)
        });
        if possible < wanted && settings.connections_max.is_some() {
            tracing::warn!(
                connections.wanted = wanted,
                connections.possible = possible,
                "inbound.few_descriptors: the hard limit of open files allows fewer connections"
            );
        }
        let connections_max = wanted.min(possible);
        let per_client = settings.connections_per_client;
        let per_client = per_client.unwrap_or_else(|| {
            // However small the table is, one client does not fill it.
            CONNECTIONS_PER_CLIENT.min((connections_max / 2).max(1))
        });
        Self {
            connections_max,
            connections_per_client: per_client.min(connections_max),
            times: Times::default(),
        }
    }
}
