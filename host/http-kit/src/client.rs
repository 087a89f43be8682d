//! The client's address, decided once for each request and kept with it.
//!
//! Everything that looks at who asks (allow lists, lock-outs, limits of strangers, the audit log)
//! takes it from here: [`address_of`].

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{Extensions, HeaderMap, Uri, header};

use super::answer::write_headers;
use super::envelope::{ApiFailure, failure_response};
use toolgate_core::client_address::TrustedProxies;
use toolgate_core::ids;

/// Whom a request counts against. Nothing that arrives over the network can carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// The layer around every route of every edge: decides the address.
pub async fn around(
    State(proxies): State<Arc<TrustedProxies>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        match proxies.client(peer.ip(), request.headers()) {
            Ok(client) => {
                request.extensions_mut().insert(ClientAddress(client));
            }
            Err(ambiguous) => return refused(&ambiguous.to_string()),
        }
    }
    next.run(request).await
}

/// The client's address; the peer's where no layer has decided.
pub fn address_of(extensions: &Extensions) -> Option<IpAddr> {
    if let Some(ClientAddress(client)) = extensions.get() {
        return Some(*client);
    }
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map(|ConnectInfo(peer)| peer.ip().to_canonical())
}

/// The host that a request was sent to, as the client names it.
pub fn host_of(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let authority = uri.authority().map(|authority| authority.as_str());
    let named = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    authority.or(named).map(str::to_owned)
}

fn refused(sentence: &str) -> Response {
    let failure = ApiFailure::Request {
        field: None,
        message: sentence.to_owned(),
        hint: Some(
            "Have the proxy remove the one of these headers that it does not write.".to_owned(),
        ),
    };
    let request_id = ids::ulid("req");
    tracing::warn!(request_id, "client_address.ambiguous");
    let mut answer = failure_response(&failure, &request_id);
    write_headers(answer.headers_mut(), &request_id);
    answer
}
