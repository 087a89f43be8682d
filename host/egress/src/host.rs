//! Requests of the host itself: token endpoints, webhooks, the model.
//!
//! They have no manifest and no budget, but the same address policy, the same allowed upstreams and
//! the same caps. Redirects are not followed: none of these callers may be sent elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use tokio::time::timeout;
use url::Url;

use super::dial::OpenResponse;
use super::grant::{Grant, Origin};
use super::inject::Draft;
use super::journal::Journal;
use super::memory::AnswerMemory;
use super::scrub::Scrubber;
use super::send::Egress;
use super::wire::{Departure, DestinationClass, WireRequest};
use super::{EgressFailure, FailureKind, policy, receipt};

/// A request that the host makes on its own behalf. May hold secrets, so it prints nothing.
pub struct HostRequest {
    pub method: http::Method,
    /// What it is for.
    pub class: DestinationClass,
    /// Any public https address, or one of `origins`.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    /// Origins that the operator named, private or not (an on-premise server's address).
    pub origins: Vec<String>,
    pub response_bytes_max: usize,
    pub timeout: Duration,
}

/// Its answer, neither cleaned nor scrubbed: it is for the host alone.
pub struct HostResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Egress {
    /// Whether [`Egress::send_for_host`] would send to `url` at all: a public https name, or a host
    /// with an allowed upstream. What its name resolves to is looked at when it is dialled.
    pub fn allows_for_host(&self, url: &str) -> Result<(), EgressFailure> {
        let none =
            Grant::new(&[], &[]).map_err(|error| EgressFailure::denied(error.to_string()))?;
        let target = policy::decide_for_host(&none, url);
        target
            .map(|_| ())
            .map_err(|refusal| EgressFailure::denied(refusal.to_string()))
    }

    /// The same way out, whose requests of the host are written down before they leave. Bodies are
    /// not: they may be made of credentials.
    pub fn with_journal(&self, journal: Arc<dyn Journal>) -> Self {
        Self {
            inner: self.inner.clone(),
            journal: Some(journal),
        }
    }

    /// Sends a request of the host itself. Redirects come back as they are.
    pub async fn send_for_host(&self, request: HostRequest) -> Result<HostResponse, EgressFailure> {
        let Some(journal) = &self.journal else {
            return self.exchange_for_host(request).await;
        };
        self.allows_for_host_at(&request)?;
        let url =
            Url::parse(&request.url).map_err(|cause| EgressFailure::denied(cause.to_string()))?;
        let mut record =
            receipt::record(&request.method, &url, &[], None, None, &Scrubber::default());
        record.bytes_out = request.body.len() as u64;
        journal.leaving(&record, None).await?;
        let began = Instant::now();
        let answer = self.exchange_for_host(request).await;
        if let Ok(answer) = &answer {
            record.status = Some(answer.status);
            record.bytes_in = answer.body.len() as u64;
        }
        record.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        journal.answered(&record);
        answer
    }

    /// Whether it would be sent at all: what is refused before leaves no line.
    fn allows_for_host_at(&self, request: &HostRequest) -> Result<(), EgressFailure> {
        let grant = Grant::new(&[], &request.origins)
            .map_err(|error| EgressFailure::denied(error.to_string()))?;
        let target = policy::decide_for_host(&grant, &request.url);
        target
            .map(|_| ())
            .map_err(|refusal| EgressFailure::denied(refusal.to_string()))
    }

    async fn exchange_for_host(&self, request: HostRequest) -> Result<HostResponse, EgressFailure> {
        let (bytes_max, within) = (request.response_bytes_max, request.timeout);
        let class = request.class;
        let (draft, private, wire) = self.depart_for_host(request)?;
        let host = draft.url.host_str().unwrap_or_default().to_owned();
        let memory = AnswerMemory::default();
        let work = Box::pin(self.inner.dialler.exchange(
            draft,
            &host,
            private,
            bytes_max,
            &memory,
            |_, _, _| Ok(()),
        ));
        let answer = timeout(within, work)
            .await
            .unwrap_or_else(|_| Err(late(&host)));
        wire.exchanged(&answer);
        let answer = answer.inspect_err(|failure| self.inner.refused(class, failure))?;
        Ok(HostResponse {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
        })
    }

    /// The same for an answer that is read while it arrives; its head has to be there in time.
    pub async fn open_for_host(&self, request: HostRequest) -> Result<OpenResponse, EgressFailure> {
        let (bytes_max, within) = (request.response_bytes_max, request.timeout);
        let class = request.class;
        let (draft, private, wire) = self.depart_for_host(request)?;
        let host = draft.url.host_str().unwrap_or_default().to_owned();
        let work = Box::pin(self.inner.dialler.open(draft, &host, private, bytes_max));
        let answer = timeout(within, work)
            .await
            .unwrap_or_else(|_| Err(late(&host)));
        wire.opened(&answer);
        answer.inspect_err(|failure| self.inner.refused(class, failure))
    }

    /// The request as it leaves; a refusal is counted.
    fn depart_for_host(
        &self,
        request: HostRequest,
    ) -> Result<(Draft, bool, WireRequest<'_>), EgressFailure> {
        let class = request.class;
        let drafted = self.draft_for_host(request);
        let (mut draft, private, origin) = drafted.inspect_err(|failure| {
            self.inner.refused(class, failure);
        })?;
        let departure = Departure {
            class,
            method: &draft.method,
            origin: &origin,
            credential: false,
            resend: 0,
        };
        let wire = self.inner.depart(&departure, &mut draft.headers);
        Ok((draft, private, wire))
    }

    /// The request as it goes out, whether a private address may be dialled for it, and whom it is meant
    /// for.
    fn draft_for_host(&self, request: HostRequest) -> Result<(Draft, bool, Origin), EgressFailure> {
        let grant = Grant::new(&[], &request.origins)
            .map_err(|error| EgressFailure::denied(error.to_string()))?;
        let target = policy::decide_for_host(&grant, &request.url)
            .map_err(|refusal| EgressFailure::denied(refusal.to_string()))?;
        let mut headers = HeaderMap::with_capacity(request.headers.len());
        for (name, value) in &request.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| EgressFailure::denied("a header has an invalid name"))?;
            let mut parsed = HeaderValue::from_str(value).map_err(|_| {
                EgressFailure::denied(format!("header `{name}` has an invalid value"))
            })?;
            parsed.set_sensitive(true);
            if ![HOST, CONTENT_LENGTH, TRANSFER_ENCODING].contains(&name) {
                headers.append(name, parsed);
            }
        }
        let mapping = self.inner.mapping(&target);
        if mapping.is_none() {
            self.inner.elsewhere(&target)?;
        }
        let private = target.named || mapping.is_some();
        let url = mapping.map_or_else(
            || target.url.clone(),
            |mapping| mapping.rewrite(&target.url),
        );
        let draft = Draft {
            method: request.method,
            url,
            headers,
            body: request.body,
        };
        Ok((draft, private, target.origin))
    }
}

fn late(host: &str) -> EgressFailure {
    EgressFailure {
        kind: FailureKind::Timeout,
        message: format!("`{host}` did not answer in time"),
        sent: true,
    }
}
