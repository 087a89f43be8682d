//! Who answers where. Every request has a time limit, follows no redirect and carries no credential
//! but the model's key, to the model.

use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use url::Url;

use super::state::CLOCK_MS_MAX;
use super::{DoctorFinding, DoctorOptions};
use crate::config::{Config, reachable};
use toolgate_core::clock::Clock;
use toolgate_gateway::config::ModelSettings;
use toolgate_vault::keyfile;

/// For a connection, its handshake and the answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// What is read of an answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;

pub(super) async fn examine(
    config: &Config,
    options: &DoctorOptions,
    clock: &Clock,
) -> Vec<DoctorFinding> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(ANSWER_TIME)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build();
    let client = match client {
        Ok(client) => client,
        Err(cause) => {
            let found = super::with_causes(&cause);
            return vec![
                DoctorFinding::failed("upstream_tls", found)
                    .next("Install the certificates of this machine (package ca-certificates)."),
            ];
        }
    };
    let (serves, listening) = listen(config, &client).await;
    let mut findings = vec![listening, public_address(config, &client, serves).await];
    if options.offline {
        findings.push(DoctorFinding::skipped("upstream_tls", "--offline"));
        return findings;
    }
    for upstream in &options.upstreams {
        findings.push(reach(&client, upstream, clock.now_ms()).await);
    }
    if let Some(model) = &config.gateway.model {
        findings.push(ask_model(&client, model).await);
    }
    if let Some(oidc) = &config.gateway.oidc {
        findings.push(ask_provider(&client, &oidc.issuer).await);
    }
    findings
}

/// Whether the address is free or a gateway answers at it.
async fn listen(config: &Config, client: &Client) -> (bool, DoctorFinding) {
    const CHECK: &str = "listen";
    let address = config.listen;
    let bound = tokio::net::TcpListener::bind(address).await;
    let cause = match bound {
        Ok(_free) => {
            let found = format!("{address} is free: no gateway serves there now");
            return (false, DoctorFinding::ok(CHECK, found));
        }
        Err(cause) => cause,
    };
    if cause.kind() != std::io::ErrorKind::AddrInUse {
        let found = format!("{address} cannot be listened on: {cause}");
        let step =
            "Choose another address with --listen; ports below 1024 need CAP_NET_BIND_SERVICE.";
        return (false, DoctorFinding::failed(CHECK, found).next(step));
    }
    let local = reachable(address);
    if config.tls.is_some() {
        // The certificate names the public address, at which it is looked at next.
        let found = format!(
            "{address} is in use; with TLS its certificate is checked at the public address"
        );
        return (true, DoctorFinding::ok(CHECK, found));
    }
    match healthz(client, &format!("http://{local}")).await {
        Ok(()) => {
            let found = format!("a gateway answers at {address}");
            (true, DoctorFinding::ok(CHECK, found))
        }
        Err(NoGateway::Unreached(found) | NoGateway::Other(found)) => {
            let found = format!("{address} is in use by another program: {found}");
            let step = format!(
                "Find it with `ss -ltnp 'sport = :{}'` and end it, or choose another address with --listen.",
                address.port()
            );
            (false, DoctorFinding::failed(CHECK, found).next(step))
        }
    }
}

async fn public_address(config: &Config, client: &Client, serves: bool) -> DoctorFinding {
    const CHECK: &str = "public_address";
    let url = &config.gateway.public_url;
    if !config.has_public_url {
        return DoctorFinding::skipped(CHECK, "no --public-url is set");
    }
    match healthz(client, url).await {
        Ok(()) => DoctorFinding::ok(CHECK, format!("a gateway answers at {url}")),
        Err(NoGateway::Unreached(found)) if !serves => DoctorFinding::skipped(
            CHECK,
            format!("no gateway serves here now, so {url} need not answer: {found}"),
        ),
        Err(NoGateway::Unreached(found) | NoGateway::Other(found)) => DoctorFinding::failed(
            CHECK,
            format!("{url} does not reach the gateway: {found}"),
        )
        .next(
            "Check DNS, the proxy and its certificate; people open connect links at this address.",
        ),
    }
}

/// Why an address is not a gateway's.
enum NoGateway {
    Unreached(String),
    /// Something else answers.
    Other(String),
}

/// Whether a gateway answers at `base`.
async fn healthz(client: &Client, base: &str) -> Result<(), NoGateway> {
    let answer = client.get(format!("{base}/healthz")).send().await;
    let answer = answer.map_err(|cause| NoGateway::Unreached(super::with_causes(&cause)))?;
    let status = answer.status();
    let ours = answer.headers().contains_key("x-request-id");
    let body = json(answer).await;
    let ok = body.is_some_and(|body| body["status"] == "ok");
    match status {
        StatusCode::OK if ours && ok => Ok(()),
        status => {
            let found = format!("/healthz answered {status}, not as toolgate does");
            Err(NoGateway::Other(found))
        }
    }
}

/// One HTTPS request to an upstream: name, route, certificate, and its clock beside ours.
async fn reach(client: &Client, upstream: &Url, now_ms: i64) -> DoctorFinding {
    const CHECK: &str = "upstream_tls";
    let host = upstream.host_str().unwrap_or_default();
    let answer = match client.head(upstream.clone()).send().await {
        Ok(answer) => answer,
        Err(cause) => {
            return DoctorFinding::failed(
                CHECK,
                format!("{host} is not reached: {}", super::with_causes(&cause)),
            )
            .next(
                "Check DNS, the firewall and this machine's certificates; a proxy that opens TLS needs its own authority installed.",
            );
        }
    };
    let date = answer.headers().get(reqwest::header::DATE);
    let date = date.and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    let theirs_ms = date
        .and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_millis()).ok());
    match theirs_ms {
        Some(theirs_ms) if (theirs_ms - now_ms).abs() > CLOCK_MS_MAX => DoctorFinding::failed(
            "clock",
            format!(
                "the clock of {host} is {} s ahead of this machine's",
                (theirs_ms - now_ms) / 1_000
            ),
        )
        .next("Synchronize the clock of this machine (timedatectl set-ntp true)."),
        _ => DoctorFinding::ok(
            CHECK,
            format!("{host} is reached with a certificate that is trusted"),
        ),
    }
}

async fn ask_model(client: &Client, model: &ModelSettings) -> DoctorFinding {
    const CHECK: &str = "model";
    let mut request = client.get(format!("{}/models", model.url));
    if let Some(file) = &model.key_file {
        match keyfile::read_text(file) {
            Ok(key) => request = request.bearer_auth(key.expose()),
            Err(_) => return DoctorFinding::skipped(CHECK, "its key cannot be read"),
        }
    }
    let (url, name) = (&model.url, &model.name);
    let answer = match request.send().await {
        Ok(answer) => answer,
        Err(cause) => {
            let found = format!("{url} is not reached: {}", super::with_causes(&cause));
            return DoctorFinding::failed(CHECK, found)
                .next("Check --model-url, and that its server runs.");
        }
    };
    match answer.status() {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            return DoctorFinding::failed(CHECK, format!("{url} refuses the key"))
                .next("Put a valid key into the file of --model-key-file.");
        }
        StatusCode::OK => {}
        status => {
            return DoctorFinding::failed(CHECK, format!("{url}/models answered {status}"))
                .next("Set --model-url to the base address of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1.");
        }
    }
    let listed = json(answer).await;
    let listed = listed.as_ref().and_then(|body| body["data"].as_array());
    match listed {
        Some(models) if models.iter().any(|one| one["id"] == **name) => {
            DoctorFinding::ok(CHECK, format!("{url} serves {name}"))
        }
        Some(_) => DoctorFinding::failed(CHECK, format!("{url} does not list the model {name}"))
            .next("Set --model to a name that it lists."),
        None => DoctorFinding::warning(
            CHECK,
            format!("{url} answers, but does not list its models"),
        ),
    }
}

async fn ask_provider(client: &Client, issuer: &str) -> DoctorFinding {
    const CHECK: &str = "oidc";
    let url = format!("{issuer}/.well-known/openid-configuration");
    let answer = match client.get(&url).send().await {
        Ok(answer) => json(answer).await,
        Err(cause) => {
            let found = format!("{url} is not reached: {}", super::with_causes(&cause));
            return DoctorFinding::failed(CHECK, found).next("Check --oidc-issuer.");
        }
    };
    let named = answer.as_ref().and_then(|body| body["issuer"].as_str());
    match named {
        Some(named) if named.trim_end_matches('/') == issuer => {
            DoctorFinding::ok(CHECK, format!("{issuer} describes itself"))
        }
        Some(named) => DoctorFinding::failed(CHECK, format!("{url} has the issuer {named}"))
            .next("Set --oidc-issuer to exactly that value."),
        None => DoctorFinding::failed(CHECK, format!("{url} holds no description of a provider"))
            .next("Check --oidc-issuer."),
    }
}

/// A JSON answer of a bounded length.
async fn json(mut answer: Response) -> Option<Value> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.ok()? {
        body.extend_from_slice(&piece);
        if body.len() > ANSWER_BYTES_MAX {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}
