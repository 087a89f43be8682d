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
use crate::upstream::Upstream;

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
    nonce: String,
    issuer: String,
}

/// A running provider.
pub struct Issuer {
    upstream: Upstream,
    expecting: Arc<Mutex<Expecting>>,
}

impl Issuer {
    pub async fn start() -> Self {
        let key = KeyPair::generate_for(&PKCS_ED25519).expect("a fresh key");
        let expecting: Arc<Mutex<Expecting>> = Arc::default();
        let shared = expecting.clone();
        let upstream = Upstream::start(move |request| {
            let expecting = shared.lock().expect("no test panics while it holds this");
            let issuer = &expecting.issuer;
            let answer = match request.target.as_str() {
                "/.well-known/openid-configuration" => json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"),
                    "jwks_uri": format!("{issuer}/keys"),
                }),
                "/keys" => json!({ "keys": [{
                    "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "one",
                    "x": URL_SAFE_NO_PAD.encode(key.public_key_raw()),
                }] }),
                _ => json!({
                    "access_token": "an-access-token", "token_type": "Bearer",
                    "id_token": signed(&key, &claims(&expecting)),
                }),
            };
            Response::builder()
                .header("content-type", "application/json")
                .body(Body::from(answer.to_string()))
                .expect("a plain answer")
        })
        .await;
        expecting.lock().expect("nobody panics").issuer = upstream.url();
        Self {
            upstream,
            expecting,
        }
    }

    pub fn url(&self) -> String {
        self.upstream.url()
    }

    /// The person agrees: what the browser carries back for this authorization address.
    pub fn consent(&self, authorize_url: &str, person: Person) -> String {
        let asked = query_of(authorize_url);
        let mut expecting = self.expecting.lock().expect("nobody panics");
        expecting.nonce = asked["nonce"].clone();
        expecting.person = Some(person);
        format!("code=the-code&state={}", asked["state"])
    }
}

fn claims(expecting: &Expecting) -> Value {
    let person = expecting.person.as_ref().expect("somebody has agreed");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.expect("after 1970").as_secs();
    json!({
        "iss": expecting.issuer, "aud": CLIENT, "sub": person.subject, "nonce": expecting.nonce,
        "iat": now, "exp": now + 300,
        "email": person.email, "email_verified": person.email_verified,
    })
}

/// A compact JWS (RFC 7515) by Ed25519 (RFC 8037).
fn signed(key: &KeyPair, claims: &Value) -> String {
    let head = json!({ "alg": "EdDSA", "typ": "JWT", "kid": "one" });
    let text = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(head.to_string()),
        URL_SAFE_NO_PAD.encode(claims.to_string())
    );
    let signature = key.sign(text.as_bytes()).expect("the key signs");
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
}
