//! An OpenID Connect provider on loopback that signs in whom a test names: with a real signature over
//! the claims, and none of the pages in front of it.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_ED25519, SigningKey as _};
use serde_json::{Value, json};

use crate::provider::query_of;
use crate::upstream::{Received, Upstream};

/// The client that the provider knows.
pub const CLIENT: &str = "the-dashboard";

/// Who stands before the provider.
#[derive(Clone, Debug)]
pub struct Person {
    pub subject: String,
    pub email: String,
    pub email_verified: bool,
}

#[derive(Default)]
struct Expecting {
    person: Option<Person>,
    nonce: Option<String>,
    issuer: String,
    groups: Option<Vec<String>>,
    trouble: Option<Trouble>,
    /// How many refresh tokens were given; the last one is good.
    refreshes: usize,
}

/// How the provider fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It answers everything with status 503.
    Down,
    /// It takes no refresh token any more.
    SessionEnded,
}

/// A running provider.
pub struct Issuer {
    upstream: Upstream,
    expecting: Arc<Mutex<Expecting>>,
    key: Arc<KeyPair>,
}

impl Issuer {
    pub async fn start() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("a fresh key");
        let key = Arc::new(key);
        let expecting: Arc<Mutex<Expecting>> = Arc::default();
        let (shared, signing) = (expecting.clone(), key.clone());
        let upstream = Upstream::start(move |request| {
            let mut expecting = shared.lock().expect("no test panics while it holds this");
            let (status, answer) = answer(&mut expecting, &signing, request);
            Response::builder()
                .status(status)
                .header("content-type", "application/json")
                .body(Body::from(answer.to_string()))
                .expect("a plain answer")
        })
        .await;
        expecting.lock().expect("nobody panics").issuer = upstream.url();
        Self {
            upstream,
            expecting,
            key,
        }
    }

    /// From now on the person is in these groups.
    pub fn put_in(&self, groups: &[&str]) {
        let groups = groups.iter().map(|&one| one.to_owned()).collect();
        self.expecting.lock().expect("nobody panics").groups = Some(groups);
    }

    pub fn fail(&self, trouble: Option<Trouble>) {
        self.expecting.lock().expect("nobody panics").trouble = trouble;
    }

    /// How often refresh tokens were exchanged.
    pub fn refreshed(&self) -> usize {
        let received = self.upstream.received();
        let asked = received.iter();
        asked
            .filter(|one| one.body.contains("grant_type=refresh_token"))
            .count()
    }

    /// How often its description was asked for.
    pub fn described(&self) -> usize {
        let received = self.upstream.received();
        let asked = received.iter();
        asked
            .filter(|one| one.target.ends_with("/openid-configuration"))
            .count()
    }

    /// A compact JWS of the issuer's key.
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        compact(&self.key, header, claims)
    }

    pub fn url(&self) -> String {
        self.upstream.url()
    }

    /// The person agrees: what the browser carries back for this authorization address.
    pub fn consent(&self, authorize_url: &str, person: Person) -> String {
        let asked = query_of(authorize_url);
        let mut expecting = self.expecting.lock().expect("nobody panics");
        expecting.nonce = Some(asked["nonce"].clone());
        expecting.person = Some(person);
        format!("code=the-code&state={}", asked["state"])
    }
}

fn answer(expecting: &mut Expecting, key: &KeyPair, request: &Received) -> (u16, Value) {
    if expecting.trouble == Some(Trouble::Down) {
        return (503, json!({ "error": "temporarily_unavailable" }));
    }
    let issuer = &expecting.issuer;
    match request.target.as_str() {
        "/.well-known/openid-configuration" => (
            200,
            json!({
                "issuer": issuer,
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"),
                "jwks_uri": format!("{issuer}/keys"),
            }),
        ),
        "/keys" => (
            200,
            json!({ "keys": [{
                "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "one",
                "x": URL_SAFE_NO_PAD.encode(key.public_key_raw()),
            }] }),
        ),
        _ => tokens(expecting, key, request),
    }
}

/// For a code, or for the last refresh token: each is good once.
fn tokens(expecting: &mut Expecting, key: &KeyPair, request: &Received) -> (u16, Value) {
    if request.body.contains("grant_type=refresh_token") {
        let last = format!("refresh_token=refresh-{}&", expecting.refreshes);
        let ended = expecting.trouble == Some(Trouble::SessionEnded);
        if ended || !format!("{}&", request.body).contains(&last) {
            return (400, json!({ "error": "invalid_grant" }));
        }
        expecting.nonce = None;
    }
    expecting.refreshes += 1;
    let header = json!({ "alg": "EdDSA", "typ": "JWT", "kid": "one" });
    (
        200,
        json!({
            "access_token": "an-access-token", "token_type": "Bearer",
            "refresh_token": format!("refresh-{}", expecting.refreshes),
            "id_token": compact(key, &header, &claims(expecting)),
        }),
    )
}

fn claims(expecting: &Expecting) -> Value {
    let person = expecting.person.as_ref().expect("somebody has agreed");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.expect("after 1970").as_secs();
    let mut claims = json!({
        "iss": expecting.issuer, "aud": CLIENT, "sub": person.subject,
        "iat": now, "exp": now + 300,
        "email": person.email, "email_verified": person.email_verified,
    });
    if let Some(nonce) = &expecting.nonce {
        claims["nonce"] = json!(nonce);
    }
    if let Some(groups) = &expecting.groups {
        claims["groups"] = json!(groups);
    }
    claims
}

/// A compact JWS (RFC 7515) by Ed25519 (RFC 8037).
fn compact(key: &KeyPair, header: &Value, claims: &Value) -> String {
    let text = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header.to_string()),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let signature = key.sign(text.as_bytes()).expect("the key signs");
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}
