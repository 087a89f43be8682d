//! The second door out: `wasi:http` 0.2 for plugins in languages that bring their own HTTP client.
//!
//! It leads into the same pipeline. A request names no slot here, so the slot is the one whose
//! audience holds the origin.

use std::future::Future;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full, Limited};
use tokio::time::Instant;
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions, WasiBody,
    WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use super::guest::Guest;
use super::limits;
use crate::egress::{Credential, Egress, FailureKind, Request, Scope};

type IoDone = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sending = Box<dyn Future<Output = Result<(http::Response<WasiBody>, IoDone), Error>> + Send>;

/// What a `wasi:http` request needs of its call.
pub(super) struct Door {
    pub egress: Egress,
    pub scope: Arc<Scope>,
    pub deadline: Instant,
    pub response_bytes_max: usize,
}

impl WasiHttpHooks for Door {
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

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _io: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Sending {
        let (egress, scope) = (self.egress.clone(), self.scope.clone());
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        let timeout = options
            .and_then(|options| options.first_byte_timeout)
            .map_or(remaining, |asked| asked.min(remaining));
        let response_bytes_max = self.response_bytes_max;
        Box::new(async move {
            let (head, body) = request.into_parts();
            let body = Limited::new(body, limits::HOSTCALL_BYTES_MAX)
                .collect()
                .await
                .map_err(|_| Error::HttpRequestBodySize(Some(limits::HOSTCALL_BYTES_MAX as u64)))?
                .to_bytes();
            let headers = head
                .headers
                .iter()
                .filter(|(name, _)| *name != http::header::HOST)
                .filter_map(|(name, value)| {
                    Some((name.to_string(), value.to_str().ok()?.to_owned()))
                })
                .collect();
            let request = Request {
                method: head.method,
                url: head.uri.to_string(),
                query: Vec::new(),
                headers,
                body,
                credential: Credential::ByAudience,
                response_bytes_max,
                timeout,
                idempotency_key: None,
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
        })
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

impl WasiHttpView for Guest {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            hooks: &mut self.door,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}
