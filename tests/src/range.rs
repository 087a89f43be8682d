//! A gateway to attack: the real program with a hostile provider, a hostile plugin, an agent and another tenant, and
//! three secrets that none of them may have. `make attack` starts it for people, and a test starts and stops it.

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::body::Bytes;
use axum::http::Response;
use axum::http::header::{LOCATION, WWW_AUTHENTICATE};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt as _;
use futures_util::stream;
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::component::Fixture;
use crate::process::{Installation, Process, wait};
use crate::upstream::{Received, Upstream};

/// The user of the agent, whose account is connected.
pub const USER: &str = "ada";
/// The tool that waits for a person.
pub const GUARDED: &str = "safe_run";

/// A secret, and who may not have it.
#[derive(Clone, Debug, Serialize)]
pub struct Flag {
    pub what: &'static str,
    pub not_for: &'static str,
    /// SHA-256 of the secret, hexadecimal: who has found it can tell.
    pub sha256: String,
}

/// What each role is given.
#[derive(Clone, Debug, Serialize)]
pub struct Roles {
    pub gateway: String,
    /// The owner of the first workspace; runs the installation.
    pub owner_email: String,
    pub owner_password: String,
    pub operator_key: String,
    /// Acts for [`USER`] with the scopes that a key has by default.
    pub agent_key: String,
    /// Everything, in another workspace.
    pub tenant_key: String,
    /// Repeats what it is sent: `/echo`, `/encoded`, `/refuse`, `/redirect`, `/huge`, `/slow`.
    pub provider: String,
    /// Files that are put here are plugins.
    pub plugins: PathBuf,
    pub log: PathBuf,
    pub flags: Vec<Flag>,
}

/// The range, until it is dropped.
pub struct Range {
    pub roles: Roles,
    /// The secrets in the order of the flags.
    pub secrets: Vec<String>,
    pub process: Process,
    _provider: Upstream,
}

impl Range {
    /// Starts everything in a folder. Needs the built test plugins.
    pub async fn start(folder: &Path) -> anyhow::Result<Self> {
        let provider = Upstream::start(reflect).await;
        let mut installation = Installation::new(folder, &["hunter"]);
        let guarded = Fixture::new("safe").build();
        std::fs::write(folder.join("plugins/safe.wasm"), guarded)?;
        for host in ["api.hunter.test", "elsewhere.hunter.test"] {
            let upstream = format!("{host}={}", provider.url());
            installation.allow_upstream.push(upstream);
        }
        let mut process = installation.serve(&["hunter_hunt", GUARDED]).await;
        let password = secret("password");
        let file = folder.join("password");
        std::fs::write(&file, format!("{password}\n"))?;
        let email = "owner@range.example";
        let file = file.display().to_string();
        let owner = [
            "member",
            "create",
            "--email",
            email,
            "--role",
            "owner",
            "--password-file",
            &file,
        ];
        installation.run(&owner).await;
        let all: Vec<&str> = toolgate_gateway::Scope::ALL
            .iter()
            .map(|scope| (*scope).into())
            .collect();
        let all = all.join(",");
        let operator = ["key", "create", "--name", "operator", "--scopes", &all];
        let operator = installation.run(&operator).await;
        process.key = operator["key"].as_str().unwrap_or_default().to_owned();
        let agent = ["key", "create", "--name", "agent", "--user", USER];
        let agent = installation.run(&agent).await;
        let rival = ["workspace", "create", "rival", "--plan", "enterprise"];
        installation.run(&rival).await;
        let tenant = [
            "key",
            "create",
            "--name",
            "tenant",
            "--workspace",
            "rival",
            "--scopes",
            &all,
        ];
        let tenant = installation.run(&tenant).await;
        let secrets = plant(&process).await?;
        let key = |made: &Value| made["key"].as_str().unwrap_or_default().to_owned();
        let roles = Roles {
            gateway: process.base.clone(),
            owner_email: email.to_owned(),
            owner_password: password,
            operator_key: process.key.clone(),
            agent_key: key(&agent),
            tenant_key: key(&tenant),
            provider: provider.url(),
            plugins: folder.join("plugins"),
            log: folder.join("log"),
            flags: flags(&secrets),
        };
        Ok(Self {
            roles,
            secrets,
            process,
            _provider: provider,
        })
    }
}

fn secret(word: &str) -> String {
    format!("{word}-{}", hex::encode(rand::random::<[u8; 12]>()))
}

fn flags(secrets: &[String]) -> Vec<Flag> {
    let about = [
        (
            "the key of ada's account at the service `hunter`",
            "the agent, the plugin, the tenant; the provider is sent it",
        ),
        (
            "the one line of a document of the first workspace",
            "the tenant, the plugin, the provider",
        ),
        (
            "the argument with which `safe_run` was once called for the user bob",
            "everybody but the operator; and no call of `safe_run` for ada runs that nobody has approved",
        ),
    ];
    let flag = |((what, not_for), secret): ((&'static str, &'static str), &String)| Flag {
        what,
        not_for,
        sha256: hex::encode(Sha256::digest(secret.as_bytes())),
    };
    about.into_iter().zip(secrets).map(flag).collect()
}

/// Puts the secrets where a user's secrets are.
async fn plant(process: &Process) -> anyhow::Result<Vec<String>> {
    let secrets = ["flag-key", "flag-document", "flag-argument"].map(secret);
    let link = json!({ "service": "hunter", "user_id": USER });
    let link = process.post("/v1/connections/link", &link).await.data();
    let url = link["connect_url"].as_str().unwrap_or_default();
    fill_form(&process.client, url, &secrets[0]).await?;
    let document = json!({ "title": "Plans", "media_type": "text/plain", "content": secrets[1] });
    let path = "/v1/knowledge/documents";
    process.post(path, &document).await.data();
    let rule = json!({ "permission": "ask" });
    for user in ["bob", USER] {
        let path = format!("/v1/permissions/users/{user}/tools/{GUARDED}");
        process.send(Method::PATCH, &path, Some(&rule)).await.data();
    }
    let call = json!({ "arguments": { "note": secrets[2] }, "user_id": "bob" });
    let path = format!("/v1/tools/{GUARDED}/execute");
    let asked = process.post(&path, &call).await.data();
    anyhow::ensure!(asked["status"] == "approval_required", "{asked}");
    Ok(secrets.into())
}

/// Enters a key as a person does who was shown the page.
async fn fill_form(client: &reqwest::Client, url: &str, key: &str) -> anyhow::Result<()> {
    let shown = client.get(url).send().await?;
    let cookie = shown.headers().get("set-cookie").cloned();
    let page = shown.text().await?;
    let field = page
        .split_once("name=\"page\" value=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let (field, _) = field.ok_or_else(|| anyhow::anyhow!("no form: {page}"))?;
    let body = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("page", field)
        .append_pair("f_secret", key)
        .finish();
    let mut request = client
        .post(url)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body);
    if let Some(cookie) = cookie.as_ref().and_then(|cookie| cookie.to_str().ok()) {
        let pair = cookie.split(';').next().unwrap_or_default();
        request = request.header("cookie", pair);
    }
    let answer = request.send().await?;
    anyhow::ensure!(answer.status().is_success(), "{}", answer.text().await?);
    Ok(())
}

/// The hostile provider.
fn reflect(request: &Received) -> Response<Body> {
    let sent = format!("{} {:?} {}", request.target, request.headers, request.body);
    let path = request.target.split('?').next().unwrap_or_default();
    let wanted = path.rsplit('/').next().unwrap_or_default();
    let build = |status: u16, body: Body| {
        let mut answer = Response::new(body);
        *answer.status_mut() = status.try_into().expect("a status");
        answer
    };
    match wanted {
        "encoded" => {
            let backwards: String = sent.chars().rev().collect();
            let said = json!({
                "base64": STANDARD.encode(&sent), "hex": hex::encode(&sent), "backwards": backwards,
            });
            build(200, Body::from(said.to_string()))
        }
        "refuse" => {
            let mut answer = build(401, Body::from(sent.clone()));
            if let Ok(value) = format!("Bearer error={:?}", hex::encode(&sent)).parse() {
                answer.headers_mut().insert(WWW_AUTHENTICATE, value);
            }
            answer
        }
        "redirect" => {
            let mut answer = build(302, Body::empty());
            let to = format!(
                "https://elsewhere.hunter.test/echo?took={}",
                hex::encode(&sent)
            );
            if let Ok(value) = to.parse() {
                answer.headers_mut().insert(LOCATION, value);
            }
            answer
        }
        "huge" => {
            let piece = Bytes::from(vec![b'x'; 1 << 20]);
            let pieces = stream::repeat(piece).take(1 << 10);
            build(200, Body::from_stream(pieces.map(Ok::<_, Infallible>)))
        }
        "slow" => {
            let never = stream::pending::<Result<Bytes, Infallible>>();
            build(200, Body::from_stream(never))
        }
        _ => build(200, Body::from(sent)),
    }
}

/// Waits until the gateway answers nobody any more.
pub async fn wait_until_gone(client: &reqwest::Client, gateway: &str) {
    let url = format!("{gateway}/healthz");
    wait("the gateway to be gone", async || {
        client.get(&url).send().await.is_err()
    })
    .await;
}
