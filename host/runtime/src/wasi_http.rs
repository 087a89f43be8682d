//! `wasi:http` 0.2, the second way to the network, for plugins in languages that bring their own HTTP client.
//!
//! It uses the same egress as the first. A request names no slot here, so the slot is the one whose
//! audience contains the origin.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody,
    WasiHttpHooks,
};

use super::limits;
use toolgate_egress::{CallScope, CredentialChoice, Egress, FailureKind, GuestRequest};

type IoDone = Box<dyn Future<Output = Result<(), Error>> + Send>;
type SendFuture =
    Box<dyn Future<Output = Result<(http::Response<WasiBody>, IoDone), Error>> + Send>;

/// The parts of a call that its `wasi:http` requests need.
pub(super) struct HttpContext {
    pub egress: Egress,
    pub scope: Arc<CallScope>,
    pub deadline: Instant,
    pub response_bytes_max: usize,
    pub body_budget: BodyBudget,
    /// Requests that have not ended, each a task of its own.
    pub under_way: TaskTracker,
}

/// Bytes of request bodies in the memory of the host for one call. A guest may send the next request
/// before it has the response, and only a few are sent at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyBudget(Arc<AtomicUsize>);

/// The part of one body in it, until its request has ended.
struct BodyShare {
    budget: BodyBudget,
    bytes: usize,
}

impl BodyShare {
    fn grow(&mut self, bytes: usize) -> Result<(), Error> {
        let too_large = |most: usize| Error::HttpRequestBodySize(Some(most as u64));
        if self.bytes + bytes > limits::DOOR_BODY_BYTES_MAX {
            return Err(too_large(limits::DOOR_BODY_BYTES_MAX));
        }
        let most = limits::DOOR_BODIES_BYTES_MAX;
        let fits = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= most);
        let used = &self.budget.0;
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)
            .map_err(|_| too_large(most))?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for BodyShare {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The whole body, each piece counted before it is kept.
async fn collected(mut body: WasiBody, part: &mut BodyShare) -> Result<Bytes, Error> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        // Trailers are not sent on.
        if let Ok(data) = frame?.into_data() {
            part.grow(data.len())?;
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.into_boxed_slice().into())
}

impl WasiHttpHooks for HttpContext {
    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(|name| {
            DEFAULT_FORBIDDEN_HEADERS.contains(name)
                || name == http::header::AUTHORIZATION
                || name == http::header::PROXY_AUTHORIZATION
                || name == http::header::COOKIE
        })
    }

    fn is_supported_scheme(&mut self, scheme: &http::uri::Scheme) -> bool {
        *scheme == http::uri::Scheme::HTTPS || *scheme == http::uri::Scheme::HTTP
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        limits::DOOR_CHUNK_BYTES_MAX
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _io: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> SendFuture {
        let (egress, scope) = (self.egress.clone(), self.scope.clone());
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        let timeout = options
            .and_then(|options| options.first_byte_timeout)
            .map_or(remaining, |asked| asked.min(remaining));
        let response_bytes_max = self.response_bytes_max;
        let mut part = BodyShare {
            budget: self.body_budget.clone(),
            bytes: 0,
        };
        Box::new(self.under_way.track_future(async move {
            let (head, body) = request.into_parts();
            let body = collected(body, &mut part).await?;
            let headers = head
                .headers
                .iter()
                .filter(|(name, _)| *name != http::header::HOST)
                .filter_map(|(name, value)| {
                    Some((name.to_string(), value.to_str().ok()?.to_owned()))
                })
                .collect();
            let request = GuestRequest {
                method: head.method,
                url: head.uri.to_string(),
                query: Vec::new(),
                headers,
                body,
                credential: CredentialChoice::ByAudience,
                response_bytes_max,
                timeout,
                idempotency_key: None,
                as_file: false,
            };
            let response = egress
                .send(&scope, request)
                .await
                .map_err(|failure| closed(failure.kind))?;
            let mut answer = http::Response::builder().status(response.status);
            for (name, value) in &response.headers {
                answer = answer.header(name, value);
            }
            let body = Full::new(response.body)
                .map_err(|never| match never {})
                .boxed_unsync();
            let answer = answer.body(body).map_err(|_| Error::HttpProtocolError)?;
            Ok((answer, Box::new(async { Ok(()) }) as IoDone))
        }))
    }
}

fn closed(kind: FailureKind) -> Error {
    match kind {
        FailureKind::Denied
        | FailureKind::AuthRequired
        | FailureKind::AuthExpired
        | FailureKind::ScopeMissing
        | FailureKind::LeakBlocked
        | FailureKind::Cancelled => Error::HttpRequestDenied,
        FailureKind::Dns => Error::DnsError {
            rcode: None,
            info_code: None,
        },
        FailureKind::Connect => Error::ConnectionRefused,
        FailureKind::Tls => Error::TlsProtocolError,
        FailureKind::Timeout => Error::ConnectionTimeout,
        FailureKind::TooLarge => Error::HttpResponseBodySize(None),
        FailureKind::BudgetExhausted => Error::ConnectionLimitReached,
        FailureKind::Protocol => Error::HttpProtocolError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(budget: &BodyBudget) -> BodyShare {
        BodyShare {
            budget: budget.clone(),
            bytes: 0,
        }
    }

    #[test]
    fn bodies_share_the_budget_of_a_call_and_give_it_back() {
        let budget = BodyBudget::default();
        let size = |grown: Result<(), Error>| match grown {
            Ok(()) => None,
            Err(Error::HttpRequestBodySize(most)) => most,
            Err(other) => panic!("{other:?}"),
        };
        let (body, all) = (limits::DOOR_BODY_BYTES_MAX, limits::DOOR_BODIES_BYTES_MAX);
        let mut parts: Vec<BodyShare> = (0..all / body).map(|_| part(&budget)).collect();
        for part in &mut parts {
            assert_eq!(size(part.grow(body)), None, "at the bound");
            assert_eq!(size(part.grow(1)), Some(body as u64), "beyond it");
        }
        let mut one_more = part(&budget);
        assert_eq!(size(one_more.grow(1)), Some(all as u64));
        parts.pop();
        assert_eq!(size(one_more.grow(body)), None, "a request has ended");
        drop((parts, one_more));
        assert_eq!(budget.0.load(Ordering::Relaxed), 0);
    }
}
