//! One server in the place of every provider.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolgate_tests::provider::query_of;
use toolgate_tests::upstream::{Received, Upstream};
use url::{Url, form_urlencoded};

use super::shipped::ShippedSlot;
use crate::connect::REDIRECT_NAME;

const CLIENT: (&str, &str) = ("the-client", "the-client-secret");

/// How a provider speaks: one entry of `tests/dialects/providers.json`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Speech {
    pub provider: String,
    /// The shipped integrations that sign in there.
    services: Vec<String>,
    /// Where it is written.
    source: String,
    /// How the client shows its secret; either way if absent.
    client: Option<String>,
    #[serde(default = "client_id")]
    client_id: String,
    #[serde(default = "client_secret")]
    client_secret: String,
    /// `form` or `json`.
    #[serde(default = "form")]
    body: String,
    /// What the authorization request, as it is written, has to hold.
    #[serde(default)]
    authorize: Vec<String>,
    /// Parameters that the token requests have to carry; `*` is any value, `null` none.
    #[serde(default)]
    code: BTreeMap<String, Value>,
    #[serde(default)]
    refresh: BTreeMap<String, Value>,
    /// Path of the refresh request, where it is another.
    refresh_path: Option<String>,
    /// Answer to a code.
    answer: Value,
    /// Answer to a refresh, if it is not the same.
    renewal: Option<Value>,
    /// Status and body for a refresh token that ended, and words of it that have to reach people.
    refusal: Option<(u16, Value)>,
    words: Option<String>,
    /// Parameter and kind (`access`, `refresh`) of the token to revoke.
    revoke: Option<(String, String)>,
    /// Whether an answer says when the refresh token ends.
    #[serde(default)]
    refresh_ends: bool,
}

fn client_id() -> String {
    "client_id".to_owned()
}
fn client_secret() -> String {
    "client_secret".to_owned()
}
fn form() -> String {
    "form".to_owned()
}

/// As RFC 6749 says.
fn standard() -> Speech {
    serde_json::from_value(json!({
        "provider": "", "services": [], "source": "",
        "answer": {"access_token": "$access", "refresh_token": "$refresh", "token_type": "Bearer", "expires_in": 3600},
        "refusal": [400, {"error": "invalid_grant"}], "words": "invalid_grant",
    }))
    .expect("an entry")
}

#[derive(Debug, Default)]
struct State {
    /// Code to redirect address and challenge.
    codes: HashMap<String, (String, Option<String>)>,
    scope: String,
    access: Option<String>,
    refresh: Option<String>,
    issued: u32,
    /// Requests that the API has served with a good token.
    served: u32,
    revoked: bool,
}

struct Known {
    speech: Speech,
    slot: ShippedSlot,
    state: State,
}

#[derive(Default)]
struct Memory {
    services: BTreeMap<String, Known>,
    /// Every code and token to its service.
    issued: HashMap<String, String>,
}

pub(super) struct FakeProvider {
    upstream: Upstream,
    memory: Arc<Mutex<Memory>>,
    entries: Vec<Speech>,
}

impl FakeProvider {
    pub(super) async fn start(slots: &[ShippedSlot]) -> Self {
        let text = std::fs::read_to_string(super::data("providers.json")).expect("the entries");
        let entries: Vec<Speech> = serde_json::from_str(&text).expect("entries");
        let mut memory = Memory::default();
        for slot in slots {
            let entry = entries
                .iter()
                .find(|entry| entry.services.contains(&slot.service));
            let known = Known {
                speech: entry.cloned().unwrap_or_else(standard),
                slot: slot.clone(),
                state: State::default(),
            };
            memory.services.insert(slot.service.clone(), known);
        }
        let memory = Arc::new(Mutex::new(memory));
        let shared = memory.clone();
        let upstream = Upstream::start(move |request| {
            answer(&mut shared.lock().expect("no test panics here"), request)
        })
        .await;
        Self {
            upstream,
            memory,
            entries,
        }
    }

    pub(super) fn upstreams(&self, slots: &[ShippedSlot]) -> Vec<String> {
        let hosts: BTreeSet<String> = slots
            .iter()
            .flat_map(|slot| slot.token_hosts().into_iter().chain([slot.host()]))
            .collect();
        let url = self.upstream.url();
        hosts
            .into_iter()
            .map(|host| format!("{host}={url}"))
            .collect()
    }

    fn with<T>(&self, service: &str, look: impl FnOnce(&mut Known) -> T) -> T {
        let mut memory: MutexGuard<'_, Memory> = self.memory.lock().expect("no test panics here");
        look(memory.services.get_mut(service).expect("a shipped service"))
    }

    /// Entries for nothing that is shipped.
    pub(super) fn unplayed(&self) -> Vec<&String> {
        let memory = self.memory.lock().expect("no test panics here");
        let names = self.entries.iter().flat_map(|entry| &entry.services);
        names
            .filter(|name| !memory.services.contains_key(*name))
            .collect()
    }

    pub(super) fn source(&self, service: &str) -> Option<String> {
        self.with(service, |known| {
            (!known.speech.source.is_empty()).then(|| known.speech.source.clone())
        })
    }

    pub(super) fn name(&self, service: &str) -> String {
        self.with(service, |known| known.speech.provider.clone())
    }

    pub(super) fn says_refresh_life(&self, service: &str) -> bool {
        self.with(service, |known| known.speech.refresh_ends)
    }

    pub(super) fn gives_refresh_token(&self, service: &str) -> bool {
        self.with(service, |known| known.state.refresh.is_some())
    }

    pub(super) fn words(&self, service: &str) -> String {
        self.with(service, |known| {
            known.speech.words.clone().unwrap_or_default()
        })
    }

    pub(super) fn served(&self, service: &str) -> u32 {
        self.with(service, |known| known.state.served)
    }

    pub(super) fn revoked(&self, service: &str) -> bool {
        self.with(service, |known| known.state.revoked)
    }

    /// The API takes the access token no more.
    pub(super) fn expire(&self, service: &str) {
        self.with(service, |known| known.state.access = None);
    }

    /// Nor the token endpoint the refresh token.
    pub(super) fn end(&self, service: &str) {
        self.with(service, |known| {
            known.state.access = None;
            known.state.refresh = None;
        });
    }

    /// The user agrees: where the browser is sent back to. `callback`: the gateway's address for the service.
    pub(super) fn consent(
        &self,
        slot: &ShippedSlot,
        authorize_url: &str,
        callback: &str,
    ) -> Result<String, String> {
        let query = query_of(authorize_url);
        let mut memory = self.memory.lock().expect("no test panics here");
        let known = memory.services.get_mut(&slot.service).expect("known");
        let speech = &known.speech;
        for part in &speech.authorize {
            if !authorize_url.contains(part) {
                return Err(format!(
                    "the authorization request lacks {part}: {authorize_url}"
                ));
            }
        }
        if slot.slot.scope_separator == "," && authorize_url.contains("%2C") {
            return Err(format!(
                "the commas between scopes are hidden: {authorize_url}"
            ));
        }
        let value = |key: &str| query.get(key).cloned().unwrap_or_default();
        if value(&speech.client_id) != CLIENT.0 || value("response_type") != "code" {
            return Err(format!("not the request of a client: {authorize_url}"));
        }
        let redirect = ["redirect_uri", "redirect_url"].map(value).concat();
        // The address is registered behind its name.
        let address = match slot.slot.redirect_name {
            Some(_) if redirect == REDIRECT_NAME => callback,
            _ => &redirect,
        };
        known.state.scope = ["scope", "user_scope"].map(value).concat();
        let code = token(&slot.service, "code", 0);
        let challenge = query.get("code_challenge").cloned();
        let mut back = Url::parse(address).map_err(|why| format!("{why}: {authorize_url}"))?;
        back.query_pairs_mut()
            .append_pair("code", &code)
            .append_pair("state", &value("state"));
        known
            .state
            .codes
            .insert(code.clone(), (redirect, challenge));
        memory.issued.insert(code, slot.service.clone());
        Ok(back.into())
    }

    /// The scopes that the answer to the code has named.
    pub(super) fn granted(&self, service: &str) -> Option<Vec<String>> {
        self.with(service, |known| {
            known.speech.answer.to_string().contains("$scope").then(|| {
                known
                    .state
                    .scope
                    .split([' ', ',', ';', '+'])
                    .filter(|scope| !scope.is_empty())
                    .map(str::to_owned)
                    .collect()
            })
        })
    }
}

/// One that shares no text with a name.
fn token(service: &str, kind: &str, number: u32) -> String {
    hex::encode(&Sha256::digest(format!("{service} {kind} {number}"))[..20])
}

fn answer(memory: &mut Memory, request: &Received) -> Response<Body> {
    let headers = |name: &str| {
        let found = request.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    if request.method == "GET" {
        return api(memory, request);
    }
    let json_body = headers("content-type").starts_with("application/json");
    let form: BTreeMap<String, String> = if json_body {
        let value: BTreeMap<String, Value> =
            serde_json::from_str(&request.body).unwrap_or_default();
        let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
        value
            .into_iter()
            .map(|(key, value)| (key, text(value)))
            .collect()
    } else {
        form_urlencoded::parse(request.body.as_bytes())
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .collect()
    };
    let service = form
        .values()
        .find_map(|value| memory.issued.get(value))
        .cloned();
    let Some(service) = service else {
        return said(
            400,
            &json!({"error": "invalid_request", "error_description": "whose is it?"}),
        );
    };
    let known = memory.services.get_mut(&service).expect("known");
    let path = request.target.as_str();
    if !form.contains_key("grant_type") {
        revoke(known, &form);
        return said(200, &json!({}));
    }
    let refresh = form["grant_type"] == "refresh_token";
    if refresh && known.state.refresh.is_none() {
        return refusal(&known.speech);
    }
    if let Err(why) = check(known, &form, json_body, &headers("authorization"), path) {
        return said(
            400,
            &json!({"error": "invalid_request", "error_description": why}),
        );
    }
    let state = &mut known.state;
    state.issued += 1;
    let (access, renewal) = (
        token(&service, "access", state.issued),
        token(&service, "refresh", state.issued),
    );
    let template = match &known.speech.renewal {
        Some(renewal) if refresh => renewal,
        _ => &known.speech.answer,
    };
    let text = template.to_string();
    if text.contains("$refresh") {
        state.refresh = Some(renewal.clone());
    }
    state.access = Some(access.clone());
    let end_s = toolgate_core::clock::Clock::system().now_ms() / 1_000 + 3_600;
    let body = text
        .replace("\"$end_s\"", &end_s.to_string())
        .replace("\"$end_ms\"", &(end_s * 1_000).to_string())
        .replace("$end_iso", &toolgate_core::clock::rfc3339(end_s * 1_000))
        .replace("$end_text", &end_s.to_string())
        .replace(
            "\"$scopes\"",
            &json!(state.scope.split([' ', ',']).collect::<Vec<_>>()).to_string(),
        )
        .replace("$scope", &state.scope)
        .replace("$access", &access)
        .replace("$refresh", &renewal);
    memory.issued.insert(access, service.clone());
    memory.issued.insert(renewal, service);
    said(200, &serde_json::from_str(&body).expect("JSON"))
}

/// Whether a token request is one that this provider takes.
fn check(
    known: &mut Known,
    form: &BTreeMap<String, String>,
    json_body: bool,
    authorization: &str,
    path: &str,
) -> Result<(), String> {
    let speech = &known.speech;
    let field = |key: &str| form.get(key).cloned().unwrap_or_default();
    let basic = format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{}", CLIENT.0, CLIENT.1))
    );
    let posted = field(&speech.client_id) == CLIENT.0 && field(&speech.client_secret) == CLIENT.1;
    let shown = match speech.client.as_deref() {
        Some("basic") => authorization == basic,
        Some("post") => posted && authorization.is_empty(),
        _ => posted || authorization == basic,
    };
    if !shown {
        return Err(format!(
            "the client is not known: {authorization} {:?}",
            form.keys()
        ));
    }
    if json_body != (speech.body == "json") {
        return Err("the body has another type".to_owned());
    }
    let refresh = form["grant_type"] == "refresh_token";
    let needed = if refresh {
        &speech.refresh
    } else {
        &speech.code
    };
    for (key, value) in needed {
        let sent = form.get(key);
        let good = match value {
            Value::Null => sent.is_none(),
            Value::String(any) if any == "*" => sent.is_some_and(|sent| !sent.is_empty()),
            value => sent.map(String::as_str) == value.as_str(),
        };
        if !good {
            return Err(format!("{key} is not {value}: {sent:?}"));
        }
    }
    if refresh {
        if let Some(own) = &speech.refresh_path
            && path != own
        {
            return Err(format!("tokens are renewed at {own}, not {path}"));
        }
        return match known.state.refresh.as_deref() == form.get("refresh_token").map(String::as_str)
        {
            true => Ok(()),
            false => Err("this refresh token is not the last one".to_owned()),
        };
    }
    let code = known.state.codes.remove(&field("code"));
    let (redirect, challenge) = code.ok_or("the code is used")?;
    let back = ["redirect_uri", "redirect_url"].map(field).concat();
    let verified = challenge.is_none_or(|challenge| {
        challenge == URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")))
    });
    match back == redirect && verified {
        true => Ok(()),
        false => Err("the redirect address or the verifier is another".to_owned()),
    }
}

fn revoke(known: &mut Known, form: &BTreeMap<String, String>) {
    let usual = ("token".to_owned(), "refresh".to_owned());
    let (name, kind) = known.speech.revoke.clone().unwrap_or(usual);
    let state = &known.state;
    let due = match kind.as_str() {
        "refresh" => state.refresh.as_ref().or(state.access.as_ref()),
        _ => state.access.as_ref(),
    };
    known.state.revoked = due.is_some() && form.get(&name) == due;
}

fn api(memory: &mut Memory, request: &Received) -> Response<Body> {
    let holds = |token: &str| {
        let basic = [
            format!("{token}:"),
            format!("{token}:x"),
            format!(":{token}"),
        ]
        .map(|pair| STANDARD.encode(pair));
        let carried = |text: &str| {
            text.contains(token) || basic.iter().any(|pair| text.ends_with(pair.as_str()))
        };
        carried(&request.target) || request.headers.iter().any(|(_, value)| carried(value))
    };
    let found = memory
        .services
        .values_mut()
        .find(|known| known.state.access.as_deref().is_some_and(holds));
    match found {
        Some(known) => {
            let me = request.target.split('?').next() == Some("/me");
            known.state.served += u32::from(!me);
            said(200, &json!({"name": known.slot.service, "ok": true}))
        }
        None => said(401, &json!({"error": "the token is not known"})),
    }
}

fn said(status: u16, body: &Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a plain answer")
}

/// What this provider says to a refresh token that ended.
fn refusal(speech: &Speech) -> Response<Body> {
    match &speech.refusal {
        Some((status, Value::String(page))) => Response::builder()
            .status(*status)
            .header("content-type", "text/html")
            .body(Body::from(page.clone()))
            .expect("a plain answer"),
        Some((status, body)) => said(*status, body),
        None => said(400, &json!({"error": "invalid_grant"})),
    }
}
