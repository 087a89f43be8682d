//! From a host name to an answer: resolving, the check of every address, connections.
//!
//! Two kinds of clients share all settings but one: the public client's resolver drops every address that is
//! not global ([`super::address`]), so exactly a checked address is dialled, for each new connection
//! of the pool again; the private client serves origins that an operator named. Neither follows
//! redirects, uses a proxy from the environment, keeps cookies or repeats a request by itself. Plain
//! bodies are asked for; compressed ones are opened under the same cap ([`super::decode`]). Connection errors become fixed sentences without addresses.

use std::error::Error as StdError;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_global;
use super::decode::{DecodeError, decode};
use super::inject::Draft;
use super::memory::AnswerMemory;
use super::pools::{Clients, Pools};
use super::{EgressFailure, FailureKind};

/// From a host name to all of its addresses.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// How long one TCP and TLS handshake may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
const IDLE_CONNECTIONS_PER_HOST_MAX: usize = 64;
/// Addresses of one host name that are tried.
const ADDRESSES_MAX: usize = 16;
const HTTP1_HEADERS_MAX: usize = 256;
const HTTP2_HEADER_LIST_BYTES_MAX: u32 = 128 * 1024;

/// Sends requests over kept connections.
#[derive(Clone)]
pub struct Dialler(Pools);

/// Why the dialler cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the outbound HTTP client cannot be built")]
pub struct DialError(#[source] reqwest::Error);

/// An answer whose body is within the cap.
pub struct ReceivedResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// What came over the wire for the body: less, where it was compressed.
    pub wire_bytes: usize,
}

/// An answer whose body is still to come.
pub struct OpenResponse {
    answer: reqwest::Response,
    host: String,
    left: usize,
    body_bytes_max: usize,
}

impl OpenResponse {
    pub fn status(&self) -> u16 {
        self.answer.status().as_u16()
    }

    pub fn headers(&self) -> &HeaderMap {
        self.answer.headers()
    }

    /// The next piece of the body; none at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressFailure> {
        let piece = self.answer.chunk().await;
        let Some(piece) = piece.map_err(|error| failure_of(&error, &self.host))? else {
            return Ok(None);
        };
        self.left = self
            .left
            .checked_sub(piece.len())
            .ok_or_else(|| EgressFailure {
                kind: FailureKind::TooLarge,
                message: format!("the answer is larger than {} bytes", self.body_bytes_max),
                sent: true,
            })?;
        Ok(Some(piece))
    }
}

/// The operating system's resolver.
pub fn system_lookup() -> Lookup {
    Arc::new(|host| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

impl Dialler {
    /// `extra_roots_pem`: certificate authorities trusted beside the system's.
    pub fn new(
        user_agent: &str,
        lookup: Lookup,
        extra_roots_pem: &[Vec<u8>],
    ) -> Result<Self, DialError> {
        // A second call finds the provider installed, which is just as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let user_agent = user_agent.to_owned();
        let extra_roots_pem = extra_roots_pem.to_vec();
        let pools = Pools::new(move || {
            Ok(Clients {
                public: client(&user_agent, &lookup, &extra_roots_pem, true)?,
                private: client(&user_agent, &lookup, &extra_roots_pem, false)?,
            })
        });
        pools.map(Self).map_err(DialError)
    }

    /// Sends `draft` and answers once the head is there; the body is read piece by piece, at most
    /// `body_bytes_max` bytes of it. `host`: whom it is meant for, the name that failures give: the address of an
    /// allowed upstream is not for the plugin's eyes.
    pub async fn open(
        &self,
        draft: Draft,
        host: &str,
        private: bool,
        body_bytes_max: usize,
    ) -> Result<OpenResponse, EgressFailure> {
        let client = self.0.client(private);
        let mut request = reqwest::Request::new(draft.method, draft.url);
        *request.headers_mut() = draft.headers;
        *request.body_mut() = Some(draft.body.into());
        let answer = client
            .execute(request)
            .await
            .map_err(|error| failure_of(&error, host))?;
        let encoding = answer.headers().get(CONTENT_ENCODING);
        if encoding.is_some_and(|encoding| encoding != "identity") {
            return Err(EgressFailure {
                kind: FailureKind::Protocol,
                message: "the answer is compressed, which was not asked for".to_owned(),
                sent: true,
            });
        }
        Ok(OpenResponse {
            answer,
            host: host.to_owned(),
            left: body_bytes_max,
            body_bytes_max,
        })
    }

    /// Sends `draft` and reads the answer into `memory`. `on_part` is asked before each part of the body is kept, with the
    /// answer's status and headers.
    pub async fn exchange(
        &self,
        draft: Draft,
        host: &str,
        private: bool,
        body_bytes_max: usize,
        memory: &AnswerMemory,
        mut on_part: impl FnMut(u16, &HeaderMap, &[u8]) -> Result<(), EgressFailure>,
    ) -> Result<ReceivedResponse, EgressFailure> {
        let client = self.0.client(private);
        let head = draft.method == http::Method::HEAD;
        let mut request = reqwest::Request::new(draft.method, draft.url);
        *request.headers_mut() = draft.headers;
        if !draft.body.is_empty() {
            *request.body_mut() = Some(draft.body.into());
        }
        let mut answer = client
            .execute(request)
            .await
            .map_err(|error| failure_of(&error, host))?;
        let status = answer.status().as_u16();
        let too_large = || EgressFailure {
            kind: FailureKind::TooLarge,
            message: format!("the answer is larger than {body_bytes_max} bytes"),
            sent: true,
        };
        let stated = answer.content_length();
        if !head && stated.is_some_and(|length| length > body_bytes_max as u64) {
            return Err(too_large());
        }
        let stated = stated.and_then(|length| usize::try_from(length).ok());
        let headers = std::mem::take(answer.headers_mut());
        let mut body = memory.body(stated.unwrap_or(body_bytes_max));
        while let Some(part) = answer
            .chunk()
            .await
            .map_err(|error| failure_of(&error, host))?
        {
            if body.len() + part.len() > body_bytes_max {
                return Err(too_large());
            }
            on_part(status, &headers, &part)?;
            body.extend(&part).await?;
        }
        let wire_bytes = body.len();
        let encoding = headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
        let open = |encoding, body| {
            decode(encoding, body, body_bytes_max).map_err(|error| match error {
                DecodeError::TooLarge => too_large(),
                other => EgressFailure {
                    kind: FailureKind::Protocol,
                    message: other.to_string(),
                    sent: true,
                },
            })
        };
        let body = match encoding {
            Some(encoding) if wire_bytes > 0 => body.opened(|body| open(encoding, body)).await?,
            _ => body.whole(),
        };
        Ok(ReceivedResponse {
            status,
            headers,
            body,
            wire_bytes,
        })
    }
}

/// One pool of connections. `public_only`: its resolver drops every address that is not global.
fn client(
    user_agent: &str,
    lookup: &Lookup,
    extra_roots_pem: &[Vec<u8>],
    public_only: bool,
) -> reqwest::Result<reqwest::Client> {
    let mut roots = Vec::new();
    for pem in extra_roots_pem {
        roots.extend(reqwest::Certificate::from_pem_bundle(pem)?);
    }
    let builder = || {
        let resolver = Resolver {
            lookup: Arc::clone(lookup),
            public_only,
        };
        reqwest::Client::builder()
            .user_agent(user_agent)
            .default_headers(HeaderMap::from_iter([(
                ACCEPT_ENCODING,
                HeaderValue::from_static("identity"),
            )]))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .dns_resolver(resolver)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_PER_HOST_MAX)
            .http1_max_headers(HTTP1_HEADERS_MAX)
            .http2_max_header_list_size(HTTP2_HEADER_LIST_BYTES_MAX)
    };
    match builder().tls_certs_merge(roots.clone()).build() {
        Ok(client) => Ok(client),
        Err(error) => {
            // A machine without certificate authorities can still serve named http origins.
            tracing::warn!(error = %chain(&error), "the system's certificate authorities cannot be loaded");
            builder().tls_certs_only(roots).build()
        }
    }
}

/// The resolver of one pool.
struct Resolver {
    lookup: Lookup,
    public_only: bool,
}

/// No address of the name is a public one.
#[derive(Debug, thiserror::Error)]
#[error("no public address")]
struct NoPublicAddress;

/// The name has no address at all, or nobody could say.
#[derive(Debug, thiserror::Error)]
#[error("lookup failed")]
struct LookupFailed(#[source] io::Error);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.lookup)(name.as_str().to_owned());
        let public_only = self.public_only;
        Box::pin(async move {
            let found = found.await.map_err(LookupFailed)?;
            let addresses = allowed(found, public_only)?;
            Ok(Box::new(addresses.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

fn allowed(found: Vec<IpAddr>, public_only: bool) -> Result<Vec<IpAddr>, NoPublicAddress> {
    let any = !found.is_empty();
    let kept: Vec<IpAddr> = found
        .into_iter()
        .filter(|ip| !public_only || is_global(*ip))
        .take(ADDRESSES_MAX)
        .collect();
    if any && kept.is_empty() {
        Err(NoPublicAddress)
    } else {
        Ok(kept)
    }
}

/// What a plugin gets to read. reqwest's own text would name the URL with its credential.
fn failure_of(error: &reqwest::Error, host: &str) -> EgressFailure {
    let unresolved = || in_chain::<LookupFailed>(error) || error.is_dns();
    let (kind, message, sent) = if in_chain::<NoPublicAddress>(error) {
        (
            FailureKind::Denied,
            format!("host `{host}` has no public address"),
            false,
        )
    } else if let Some(tls) = find_in_chain::<rustls::Error>(error) {
        (
            FailureKind::Tls,
            format!("no trusted TLS connection to `{host}`: {tls}"),
            !error.is_connect(),
        )
    } else if error.is_timeout() {
        (
            FailureKind::Timeout,
            format!("`{host}` did not answer in time"),
            !error.is_connect(),
        )
    } else if unresolved() {
        (
            FailureKind::Dns,
            format!("host `{host}` cannot be resolved"),
            false,
        )
    } else if error.is_connect() {
        (
            FailureKind::Connect,
            format!("no connection to `{host}`"),
            false,
        )
    } else {
        (
            FailureKind::Protocol,
            format!("the exchange with `{host}` broke off"),
            true,
        )
    };
    EgressFailure {
        kind,
        message,
        sent,
    }
}

fn in_chain<E: StdError + 'static>(error: &(dyn StdError + 'static)) -> bool {
    find_in_chain::<E>(error).is_some()
}

/// Looks through sources, and into the errors that `io::Error` wraps without calling them sources.
fn find_in_chain<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        if let Some(inner) = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            && let Some(found) = find_in_chain::<E>(inner)
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(": ");
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_of_a_name_are_dialled() {
        let parse = |texts: &[&str]| {
            texts
                .iter()
                .map(|t| t.parse().expect("an address"))
                .collect::<Vec<IpAddr>>()
        };
        for (found, kept) in [
            (vec!["1.1.1.1", "10.0.0.1", "::1"], Some(vec!["1.1.1.1"])),
            (vec!["127.0.0.1"], None),
            (vec!["::ffff:1.1.1.1", "169.254.169.254"], None),
            (vec![], Some(vec![])),
        ] {
            assert_eq!(
                allowed(parse(&found), true).ok(),
                kept.map(|kept| parse(&kept)),
                "{found:?}"
            );
            assert_eq!(
                allowed(parse(&found), false).ok(),
                Some(parse(&found)),
                "{found:?}"
            );
        }
        let many = vec![IpAddr::from([1, 1, 1, 1]); ADDRESSES_MAX + 1];
        assert_eq!(
            allowed(many, true).map(|kept| kept.len()).ok(),
            Some(ADDRESSES_MAX)
        );
    }
}
