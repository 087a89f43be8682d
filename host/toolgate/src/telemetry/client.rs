//! How the collector is reached: the program's own HTTP client and TLS, on its runtime.
//!
//! The exporters run on threads without a runtime. Redirects are not followed and proxies of the
//! environment are not used, as for everything that leaves the gateway.

use std::pin::Pin;
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use super::variable;

/// Where `OTEL_EXPORTER_OTLP_TIMEOUT` (milliseconds) is not set.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A collector's answer says what it did not take; more is not read.
const ANSWER_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(super) struct CollectorClient {
    client: reqwest::Client,
    runtime: Handle,
}

impl CollectorClient {
    pub(super) fn open() -> anyhow::Result<Self> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut roots = Vec::new();
        if let Some(file) = variable("OTEL_EXPORTER_OTLP_CERTIFICATE") {
            let pem = std::fs::read(&file).map_err(|cause| {
                anyhow::anyhow!("the certificate {file} cannot be read: {cause}")
            })?;
            roots = reqwest::Certificate::from_pem_bundle(&pem)?;
        }
        let timeout = variable("OTEL_EXPORTER_OTLP_TIMEOUT")
            .and_then(|text| text.parse().ok())
            .map_or(TIMEOUT, Duration::from_millis);
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(timeout)
            .tls_certs_merge(roots)
            .build()?;
        Ok(Self {
            client,
            runtime: Handle::current(),
        })
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'life, 'sending>(
        &'life self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'life: 'sending,
        Self: 'sending,
    {
        let sending = send(self.client.clone(), request);
        let sending = self.runtime.spawn(sending);
        Box::pin(async move { sending.await? })
    }
}

async fn send(
    client: reqwest::Client,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let mut answer = client.execute(request.try_into()?).await?;
    let mut response = Response::builder().status(answer.status());
    if let Some(headers) = response.headers_mut() {
        *headers = std::mem::take(answer.headers_mut());
    }
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        if body.len() + piece.len() > ANSWER_BYTES_MAX {
            return Err("the collector's answer is too large".into());
        }
        body.extend_from_slice(&piece);
    }
    Ok(response.body(body.into())?)
}
