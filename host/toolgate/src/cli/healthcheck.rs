//! `toolgate healthcheck`: whether the gateway of these settings takes requests, for containers that
//! hold no other program.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::output::OutputFormat;
use crate::config::{Config, base_url, reachable};

const ANSWER_TIME: Duration = Duration::from_secs(5);

pub(super) async fn run(config: &Config, output: OutputFormat) -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = format!(
        "{}/readyz",
        base_url(reachable(config.listen), config.tls.as_ref())
    );
    let client = reqwest::Client::builder()
        .timeout(ANSWER_TIME)
        .no_proxy()
        // The certificate names the public address, not this one. Nothing secret is sent.
        .tls_danger_accept_invalid_certs(true)
        .build()?;
    let answer = client.get(&url).send().await;
    let status = answer
        .with_context(|| format!("{url} does not answer"))?
        .status();
    ensure!(status.is_success(), "{url} answers {status}");
    output.print(&json!({ "ready": true, "url": url }), |_| {
        "The gateway takes requests.".to_owned()
    })
}
