//! Connections from the network: how many, how long, how slow.
//!
//! Nothing here needs a key to be spent, so nothing here may be spent by someone without one:
//!
//! - [`limits`]: the numbers, and [`descriptors`]: how many files this process may open;
//! - [`admission`]: the table of open connections. When it is full, or one client has its share, the
//!   connection that has waited longest for its client's next byte makes room;
//! - [`activity`]: what one connection is doing; [`sweeper`] ends those that are too slow;
//! - [`connection`]: the PROXY protocol header, TLS ([`tls`]), then HTTP/1 and HTTP/2 with their own limits;
//! - [`unread`] reads what a handler leaves of a request's body, so that the connection can go on;
//! - [`stream`] notes bytes in and writes that a client does not take.
//!
//! Which thread serves a connection is not this module's concern.

pub mod activity;
pub mod admission;
pub mod connection;
pub mod descriptors;
pub mod limits;
mod refuse;
mod stream;
mod sweeper;
#[cfg(test)]
mod tests;
pub mod tls;
mod unread;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::config::InboundSettings;
use admission::{Admission, ConnectionPermit};
use limits::ConnectionLimits;
use toolgate_core::client_address::TrustedProxies;

/// What all connections of one listener share; cheap to clone.
#[derive(Clone)]
pub struct Inbound(Arc<InboundState>);

struct InboundState {
    limits: ConnectionLimits,
    proxies: TrustedProxies,
    proxy_protocol: bool,
    tls: Option<tls::ServerTls>,
    admission: Arc<Admission>,
}

/// After an error that is not the connection's own, such as no file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

impl Inbound {
    /// Must be called in a tokio runtime, which sweeps slow connections out.
    pub fn open(settings: &InboundSettings) -> Self {
        Self::open_with_tls(settings, None)
    }

    /// The same, and every connection begins with a handshake if there is a certificate.
    pub fn open_with_tls(settings: &InboundSettings, tls: Option<tls::ServerTls>) -> Self {
        let limits = ConnectionLimits::new(settings, descriptors::limit());
        Self::with(settings, limits, tls)
    }

    fn with(
        settings: &InboundSettings,
        limits: ConnectionLimits,
        tls: Option<tls::ServerTls>,
    ) -> Self {
        let admission = Arc::new(Admission::new(&limits));
        tokio::spawn(sweeper::run(Arc::downgrade(&admission), limits.times));
        Self(Arc::new(InboundState {
            limits,
            proxies: settings.trusted_proxies.clone(),
            proxy_protocol: settings.proxy_protocol,
            tls,
            admission,
        }))
    }

    pub fn limits(&self) -> &ConnectionLimits {
        &self.0.limits
    }

    /// How many are open now.
    pub fn connections(&self) -> usize {
        self.0.admission.len()
    }

    /// Waits for the next connection that may stay. One that may not is told so.
    pub async fn accept(
        &self,
        listener: &TcpListener,
    ) -> (TcpStream, SocketAddr, ConnectionPermit) {
        loop {
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(cause) if ended_by_peer(&cause) => continue,
                Err(cause) => {
                    tracing::error!(error = %cause, "inbound.accept_failed");
                    self.0.admission.make_room();
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            // A trusted proxy speaks for many clients.
            let client = (!self.0.proxies.contains(peer.ip())).then(|| peer.ip());
            match self.0.admission.admit(client) {
                Some(place) => return (stream, peer, place),
                // Without a handshake there is no way to say so.
                None if self.0.tls.is_some() => drop(stream),
                None => refuse::overloaded(stream),
            }
        }
    }

    /// Accepts and serves on this runtime until `closing`.
    pub async fn serve(&self, listener: TcpListener, app: Router, closing: CancellationToken) {
        loop {
            let (stream, peer, place) = tokio::select! {
                accepted = self.accept(&listener) => accepted,
                () = closing.cancelled() => return,
            };
            let (inbound, app, closing) = (self.clone(), app.clone(), closing.clone());
            tokio::spawn(async move {
                connection::serve(&inbound, stream, peer, place, app, closing).await;
            });
        }
    }
}

fn ended_by_peer(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
