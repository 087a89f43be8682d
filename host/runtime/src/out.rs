//! The guest's `egress` import: translates to [`toolgate_egress`], which makes all decisions.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};

use super::bindings::egress as wit;
use super::blob::Blob;
use super::guest::Guest;
use super::limits;
use super::outcome::DryRunEnded;
use toolgate_core::file_name;
use toolgate_egress::{
    CallScope, CredentialChoice, Egress, EgressFailure, FailureKind, GuestRequest, Response,
};

/// Requests of one `send-all` under way at one time.
const FAN_OUT_MAX: usize = 8;

impl Guest {
    fn translate(
        &mut self,
        request: wit::Request,
    ) -> wasmtime::Result<(GuestRequest, wit::ResponseMode)> {
        let body = match request.body {
            wit::Body::Empty => Bytes::new(),
            wit::Body::Bytes(bytes) => bytes.into(),
            wit::Body::Blob(blob) => self.table.get(&blob)?.data.clone(),
        };
        let remaining = self.remaining();
        let timeout = request.timeout_ms.map_or(remaining, |ms| {
            remaining.min(Duration::from_millis(u64::from(ms)))
        });
        let translated = GuestRequest {
            method: match request.method {
                wit::Method::Get => http::Method::GET,
                wit::Method::Head => http::Method::HEAD,
                wit::Method::Post => http::Method::POST,
                wit::Method::Put => http::Method::PUT,
                wit::Method::Patch => http::Method::PATCH,
                wit::Method::Delete => http::Method::DELETE,
                wit::Method::Options => http::Method::OPTIONS,
            },
            url: request.url,
            query: request.query,
            headers: request.headers,
            body,
            credential: request
                .auth
                .map_or(CredentialChoice::Anonymous, CredentialChoice::Slot),
            response_bytes_max: self.response_bytes_max,
            timeout,
            idempotency_key: request.idempotency_key,
            as_file: matches!(request.mode, wit::ResponseMode::Stored),
        };
        Ok((translated, request.mode))
    }

    fn answer(
        &mut self,
        response: Response,
        mode: wit::ResponseMode,
    ) -> wasmtime::Result<wit::Response> {
        let (data, stored) = match mode {
            wit::ResponseMode::Buffered => (response.body.into(), None),
            wit::ResponseMode::Stored => {
                let media_type = header(&response.headers, "content-type")
                    .filter(|text| text.len() <= limits::BLOB_WORD_BYTES_MAX)
                    .unwrap_or("application/octet-stream")
                    .to_owned();
                let name = header(&response.headers, "content-disposition")
                    .and_then(file_name::from_disposition);
                let blob = self.keep_blob(Blob::new(media_type, name, response.body))?;
                (Vec::new(), Some(blob))
            }
        };
        Ok(wit::Response {
            status: response.status,
            headers: response.headers,
            data,
            stored,
            url: response.url,
        })
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

impl wit::Host for Guest {
    async fn send(
        &mut self,
        request: wit::Request,
    ) -> wasmtime::Result<Result<wit::Response, wit::Failure>> {
        let (request, mode) = self.translate(request)?;
        let sent = self.send_reporting(request).await;
        end_dry_run(&self.scope, &sent)?;
        Ok(match sent {
            Ok(response) => Ok(self.answer(response, mode)?),
            Err(failure) => Err(failure.into()),
        })
    }

    async fn send_all(
        &mut self,
        requests: Vec<wit::Request>,
    ) -> wasmtime::Result<Vec<Result<wit::Response, wit::Failure>>> {
        let mut translated = Vec::with_capacity(requests.len());
        for request in requests {
            translated.push(self.translate(request)?);
        }
        let (requests, modes): (Vec<_>, Vec<_>) = translated.into_iter().unzip();
        let (egress, scope) = (self.egress.clone(), self.scope.clone());
        let mut sent = std::pin::pin!(fan_out(&egress, &scope, requests));
        let mut answers = Vec::with_capacity(modes.len());
        let mut dry_run = Ok(());
        let mut data_bytes = 0;
        for mode in modes {
            let Some(sent) = sent.next().await else {
                break;
            };
            dry_run = end_dry_run(&scope, &sent);
            answers.push(match sent {
                Ok(response) => {
                    let answer = self.answer(response, mode)?;
                    // The guest cannot receive more, so the rest is not awaited: it would only use memory here.
                    data_bytes += answer.data.len();
                    self.limiter.meter.fits(data_bytes)?;
                    Ok(answer)
                }
                Err(failure) => Err(failure.into()),
            });
        }
        dry_run?;
        Ok(answers)
    }

    fn connected(&mut self, slot: String) -> wasmtime::Result<bool> {
        Ok(self.scope.connected(&slot))
    }
}

/// Answers in the order of the requests, few of which are under way at one time.
fn fan_out<'a>(
    egress: &'a Egress,
    scope: &'a CallScope,
    requests: Vec<GuestRequest>,
) -> impl Stream<Item = Result<Response, EgressFailure>> + Send + 'a {
    futures_util::stream::iter(requests)
        .map(|request| egress.send(scope, request))
        .buffered(FAN_OUT_MAX)
}

/// In a dry run the guest stops at the first response that it needs. A request that only opens a session is not planned:
/// the guest receives `cancelled` for it and continues to the request that is shown.
fn end_dry_run(scope: &CallScope, sent: &Result<Response, EgressFailure>) -> wasmtime::Result<()> {
    match sent {
        Err(failure)
            if scope.is_dry_run()
                && failure.kind == FailureKind::Cancelled
                && !scope.planned().is_empty() =>
        {
            Err(DryRunEnded.into())
        }
        _ => Ok(()),
    }
}

impl From<EgressFailure> for wit::Failure {
    fn from(failure: EgressFailure) -> Self {
        let kind = match failure.kind {
            FailureKind::Denied => wit::FailureKind::Denied,
            FailureKind::AuthRequired => wit::FailureKind::AuthRequired,
            FailureKind::AuthExpired => wit::FailureKind::AuthExpired,
            FailureKind::ScopeMissing => wit::FailureKind::ScopeMissing,
            FailureKind::Dns => wit::FailureKind::Dns,
            FailureKind::Connect => wit::FailureKind::Connect,
            FailureKind::Tls => wit::FailureKind::Tls,
            FailureKind::Timeout => wit::FailureKind::Timeout,
            FailureKind::TooLarge => wit::FailureKind::TooLarge,
            FailureKind::BudgetExhausted => wit::FailureKind::BudgetExhausted,
            FailureKind::LeakBlocked => wit::FailureKind::LeakBlocked,
            FailureKind::Cancelled => wit::FailureKind::Cancelled,
            FailureKind::Protocol => wit::FailureKind::Protocol,
        };
        Self {
            kind,
            message: failure.message,
            sent: failure.sent,
        }
    }
}
