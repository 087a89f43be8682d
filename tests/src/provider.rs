//! An authorization server with an API behind it, on loopback: issues codes, checks PKCE, rotates
//! refresh tokens, refuses what it has not issued. As strict as the standards and as rude as a test
//! wants it to be.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::{Url, form_urlencoded};

use crate::upstream::{Received, Upstream};

/// Under which name [`Provider::consent`] answers the address to which the browser goes back.
pub const RETURN_ADDRESS: &str = "redirect_uri";

/// What the server remembers and what a test asks of it.
#[derive(Default)]
pub struct Memory {
    /// Code to PKCE challenge and redirect URI; gone once used.
    codes: HashMap<String, (String, String)>,
    access: HashSet<String>,
    refresh: HashSet<String>,
    issued: u64,
    /// Grants of tokens for refresh tokens.
    pub refreshes: u64,
    /// Requests for a refresh, granted or not.
    pub refresh_requests: u64,
    pub revoked: Vec<String>,
    /// The client need not show its secret.
    pub public: bool,
    /// How the client named itself for each token: `basic`, `post` or `none`.
    pub clients: Vec<&'static str>,
    /// The API takes no token at all.
    pub refuses: bool,
    /// Status with which the token endpoint answers instead.
    pub broken: Option<u16>,
    /// `expires_in` of a token for a code; of all others it is 3600.
    pub lifetime_s: Option<f64>,
    /// Access tokens come alone.
    pub no_refresh: bool,
    /// `scope` of the answers; `repo,read:user` if absent.
    pub scope: Option<String>,
    /// What a token answer says beside the tokens, or in place of what it would say.
    pub beside: serde_json::Map<String, serde_json::Value>,
    /// Name of the account.
    pub login: String,
}

impl Memory {
    /// Counts the tokens from one again.
    pub fn reset_token_counter(&mut self) {
        self.issued = 0;
    }
}

/// A running server.
pub struct Provider {
    pub upstream: Upstream,
    memory: Arc<Mutex<Memory>>,
}

impl Provider {
    pub async fn start() -> Self {
        let memory = Arc::new(Mutex::new(Memory {
            login: "octo-ada".to_owned(),
            ..Memory::default()
        }));
        let shared = memory.clone();
        let upstream = Upstream::start(move |request| {
            answer(&mut shared.lock().expect("no test panics here"), request)
        })
        .await;
        Self { upstream, memory }
    }

    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().expect("no test panics here")
    }

    /// The user signs in and agrees: what the browser carries back for this authorization address, and under
    /// [`RETURN_ADDRESS`] where it carries it.
    pub fn consent(&self, authorize_url: &str) -> BTreeMap<String, String> {
        let query = query_of(authorize_url);
        assert_eq!(query["response_type"], "code");
        assert_eq!(query["code_challenge_method"], "S256");
        let mut memory = self.memory();
        memory.issued += 1;
        let code = format!("code-{}", memory.issued);
        memory.codes.insert(
            code.clone(),
            (
                query["code_challenge"].clone(),
                query["redirect_uri"].clone(),
            ),
        );
        BTreeMap::from([
            ("code".to_owned(), code),
            ("state".to_owned(), query["state"].clone()),
            (RETURN_ADDRESS.to_owned(), query["redirect_uri"].clone()),
        ])
    }

    /// Every access token ends at once.
    pub fn expire_access_tokens(&self) {
        self.memory().access.clear();
    }

    /// The user takes everything back.
    pub fn revoke_everything(&self) {
        let mut memory = self.memory();
        memory.access.clear();
        memory.refresh.clear();
    }

    /// Every token that was ever handed out, for looking where none may be.
    pub fn secrets(&self) -> Vec<String> {
        (1..=self.memory().issued)
            .flat_map(|n| {
                [
                    format!("access-token-{n:06}"),
                    format!("refresh-token-{n:06}"),
                ]
            })
            .collect()
    }
}

/// The address of the browser's return: `back` as the query of the one that it names, or of `otherwise`.
pub fn return_url<'a>(
    otherwise: &str,
    back: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let mut address = otherwise;
    for (name, value) in back {
        match name == RETURN_ADDRESS {
            true => address = value,
            false => _ = query.append_pair(name, value),
        }
    }
    format!("{address}?{}", query.finish())
}

/// The parameters of an address.
pub fn query_of(url: &str) -> BTreeMap<String, String> {
    Url::parse(url)
        .expect("an address")
        .query_pairs()
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect()
}

fn answer(memory: &mut Memory, request: &Received) -> Response<Body> {
    let path = request.target.split('?').next().unwrap_or_default();
    match path {
        _ if path.ends_with("token") => token(memory, request),
        _ if path.ends_with("revoke") => {
            let form = form(request);
            let token = form.get("token").cloned().unwrap_or_default();
            memory.refresh.remove(&token);
            memory.revoked.push(token);
            json_answer(200, json!({}))
        }
        _ => api(memory, request),
    }
}

fn api(memory: &Memory, request: &Received) -> Response<Body> {
    let token = request
        .headers
        .iter()
        .find(|(name, _)| name == "authorization")
        .and_then(|(_, value)| value.strip_prefix("Bearer "));
    match token {
        // It answers with the credential, as a hostile or careless service may.
        Some(token) if !memory.refuses && memory.access.contains(token) => json_answer(
            200,
            // `data`: where Twitch's answers have their lists.
            json!({"login": memory.login, "id": 7, "company": format!("echo {token}"), "data": []}),
        ),
        _ => json_answer(401, json!({"message": "Bad credentials"})),
    }
}

fn token(memory: &mut Memory, request: &Received) -> Response<Body> {
    let form = form(request);
    let field = |key: &str| form.get(key).cloned().unwrap_or_default();
    if field("grant_type") == "refresh_token" {
        memory.refresh_requests += 1;
    }
    if let Some(status) = memory.broken {
        return json_answer(status, json!({}));
    }
    let basic = format!("Basic {}", STANDARD.encode("the-client:the-client-secret"));
    let header = request
        .headers
        .iter()
        .find(|(name, _)| name == "authorization");
    let (named, secret) = (field("client_id"), field("client_secret"));
    let client = match (header, named.as_str(), secret.as_str()) {
        (Some((_, value)), "", "") if *value == basic => "basic",
        (None, "the-client", "the-client-secret") => "post",
        (None, "the-client", "") if memory.public => "none",
        _ => return json_answer(401, json!({"error": "invalid_client"})),
    };
    memory.clients.push(client);
    let mut lifetime_s = 3600.0;
    let granted = match field("grant_type").as_str() {
        "authorization_code" => {
            lifetime_s = memory.lifetime_s.unwrap_or(lifetime_s);
            memory
                .codes
                .remove(&field("code"))
                .is_some_and(|(challenge, uri)| {
                    let hash = Sha256::digest(field("code_verifier").as_bytes());
                    uri == field("redirect_uri") && challenge == URL_SAFE_NO_PAD.encode(hash)
                })
        }
        "client_credentials" => true,
        "refresh_token" => {
            let known = memory.refresh.remove(&field("refresh_token"));
            memory.refreshes += u64::from(known);
            known
        }
        _ => false,
    };
    if !granted {
        return json_answer(400, json!({"error": "invalid_grant"}));
    }
    memory.issued += 1;
    let n = memory.issued;
    let (access, refresh) = (
        format!("access-token-{n:06}"),
        format!("refresh-token-{n:06}"),
    );
    memory.access.insert(access.clone());
    let mut said = serde_json::Map::new();
    if !memory.no_refresh {
        memory.refresh.insert(refresh.clone());
        said.insert("refresh_token".to_owned(), json!(refresh));
    }
    said.extend([
        ("access_token".to_owned(), json!(access)),
        ("token_type".to_owned(), json!("bearer")),
        ("expires_in".to_owned(), json!(lifetime_s)),
        (
            "scope".to_owned(),
            json!(memory.scope.as_deref().unwrap_or("repo,read:user")),
        ),
    ]);
    said.extend(memory.beside.clone());
    json_answer(200, said.into())
}

fn form(request: &Received) -> BTreeMap<String, String> {
    form_urlencoded::parse(request.body.as_bytes())
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect()
}

fn json_answer(status: u16, body: serde_json::Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a plain answer")
}
