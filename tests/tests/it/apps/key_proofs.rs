//! Clients that prove themselves with a key that they publish (`private_key_jwt`), and every assertion that proves
//! nothing.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::issuer::Issuer;
use toolgate_tests::upstream::Upstream;

use super::way::{
    App, AppTokens, MemberBrowser, REDIRECT, VERIFIER, error_of, form, gateway_with, is_let_in,
    register,
};

const ID: &str = "https://client.example/mcp/client.json";
const KEYS: &str = "https://client.example/keys.json";
const KIND: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

struct PublishingClient {
    issuer: Issuer,
    host: Upstream,
    keys: Arc<Mutex<String>>,
}

impl PublishingClient {
    async fn start(methods: Value) -> Self {
        let issuer = Issuer::start().await;
        let keys = reqwest::get(format!("{}/keys", issuer.url()))
            .await
            .unwrap();
        let keys = Arc::new(Mutex::new(keys.text().await.unwrap()));
        let published = keys.clone();
        let host = Upstream::start(move |request| {
            let document = json!({
                "client_id": ID, "client_name": "Example", "redirect_uris": [REDIRECT], "jwks_uri": KEYS,
                "token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": methods,
            });
            let body = match request.target.as_str() {
                "/keys.json" => published.lock().unwrap().clone(),
                _ => document.to_string(),
            };
            Response::new(Body::from(body))
        });
        Self {
            issuer,
            host: host.await,
            keys,
        }
    }

    fn options(&self) -> Options {
        Options {
            allow_upstream: vec![format!("client.example={}", self.host.url())],
            ..Options::default()
        }
    }

    fn keys_read(&self) -> usize {
        let received = self.host.received();
        received
            .iter()
            .filter(|one| one.target == "/keys.json")
            .count()
    }

    fn assertion(&self, audience: &str, changed: (&str, Value)) -> String {
        let now_s = Clock::system().now_ms() / 1_000;
        let mut claims = json!({
            "iss": ID, "sub": ID, "aud": audience, "jti": ids::uuid(), "iat": now_s, "exp": now_s + 60,
        });
        if !changed.0.is_empty() {
            claims[changed.0] = changed.1;
        }
        let header = json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" });
        self.issuer.sign(&header, &claims)
    }
}

async fn exchange(gateway: &TestGateway, code: &str, more: &[(&str, &str)]) -> Answer {
    let mut pairs = vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    pairs.extend(more);
    let request = gateway.client.post(gateway.url("/oauth/token"));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    Answer::read(request.body(form(&pairs)).send().await.unwrap()).await
}

fn app(gateway: &TestGateway) -> App<'_> {
    App {
        gateway,
        id: ID.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_proves_itself_with_its_published_key_once_for_each_assertion() {
    let client = PublishingClient::start(json!(["private_key_jwt"])).await;
    let gateway = &gateway_with(client.options()).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let code = app(gateway).code(&person, &[]).await;
    let (issuer, endpoint) = (gateway.url("/oauth"), gateway.url("/oauth/token"));
    let far = json!(Clock::system().now_ms() / 1_000 + 2 * 60 * 60);
    let past = json!(Clock::system().now_ms() / 1_000 - 2 * 60);
    for (changed, said) in [
        (
            ("iss", json!("https://other.example/client.json")),
            "iss and sub",
        ),
        (("aud", json!("https://evil.test/oauth")), "aud"),
        (("aud", json!([issuer, "https://evil.test"])), "aud"),
        (("exp", far), "more than an hour"),
        (("exp", past), "expired"),
        (("jti", json!("")), "jti"),
    ] {
        let assertion = client.assertion(&issuer, changed.clone());
        let proof = [
            ("client_assertion_type", KIND),
            ("client_assertion", assertion.as_str()),
        ];
        let refused = exchange(gateway, &code, &proof).await;
        assert_eq!(
            error_of(&refused),
            (401, "invalid_client".into()),
            "{changed:?}"
        );
        assert!(refused.text.contains(said), "{}", refused.text);
    }
    let good = client.assertion(&issuer, ("", Value::Null));
    let other = Issuer::start().await;
    let forged = PublishingClient {
        issuer: other,
        ..PublishingClient::start(json!([])).await
    };
    let forged = forged.assertion(&issuer, ("", Value::Null));
    let unsigned = format!("{}.", good.rsplit_once('.').unwrap().0);
    let own = ("client_id", ID);
    for proof in [
        &[own][..],
        &[own, ("client_secret", "made up")],
        &[("client_assertion", good.as_str())],
        &[
            ("client_assertion_type", "other"),
            ("client_assertion", good.as_str()),
        ],
        &[
            ("client_id", "tgc_x"),
            ("client_assertion_type", KIND),
            ("client_assertion", good.as_str()),
        ],
        &[
            ("client_assertion_type", KIND),
            ("client_assertion", "a.b.c"),
        ],
        &[
            ("client_assertion_type", KIND),
            ("client_assertion", forged.as_str()),
        ],
        &[
            ("client_assertion_type", KIND),
            ("client_assertion", unsigned.as_str()),
        ],
    ] {
        let refused = exchange(gateway, &code, proof).await;
        assert_eq!(
            error_of(&refused),
            (401, "invalid_client".into()),
            "{proof:?}"
        );
    }
    // One that was not used up by a refusal of something else.
    let proof = [
        ("client_assertion_type", KIND),
        ("client_assertion", good.as_str()),
    ];
    let tokens = AppTokens::read(&exchange(gateway, &code, &proof).await);
    assert!(is_let_in(gateway, &tokens.access).await);
    let renew = async |assertion: &str| {
        let pairs = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh.as_str()),
            ("client_assertion_type", KIND),
            ("client_assertion", assertion),
        ];
        app(gateway).post("/oauth/token", form(&pairs)).await
    };
    let again = renew(&good).await;
    assert_eq!(
        error_of(&again),
        (401, "invalid_client".into()),
        "{}",
        again.text
    );
    assert!(again.text.contains("used before"), "{}", again.text);
    let fresh = client.assertion(&endpoint, ("", Value::Null));
    AppTokens::read(&renew(&fresh).await);
    // A forged one has the keys read again, at most once a minute.
    assert!(client.keys_read() <= 2, "{}", client.keys_read());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_says_it_may_come_without_a_proof_does_either() {
    let client = PublishingClient::start(json!(["none", "private_key_jwt"])).await;
    let gateway = &gateway_with(client.options()).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let code = app(gateway).code(&person, &[]).await;
    AppTokens::read(&exchange(gateway, &code, &[("client_id", ID)]).await);
    let code = app(gateway).code(&person, &[]).await;
    let assertion = client.assertion(&gateway.url("/oauth"), ("", Value::Null));
    let proof = [
        ("client_assertion_type", KIND),
        ("client_assertion", assertion.as_str()),
    ];
    AppTokens::read(&exchange(gateway, &code, &proof).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_cannot_be_read_prove_nothing() {
    let client = PublishingClient::start(json!(["private_key_jwt"])).await;
    let gateway = &gateway_with(client.options()).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let code = app(gateway).code(&person, &[]).await;
    let assertion = client.assertion(&gateway.url("/oauth"), ("", Value::Null));
    let proof = [
        ("client_assertion_type", KIND),
        ("client_assertion", assertion.as_str()),
    ];
    let good = client.keys.lock().unwrap().clone();
    for bad in ["", "<html>", "[]", "{}"] {
        *client.keys.lock().unwrap() = bad.to_owned();
        let refused = exchange(gateway, &code, &proof).await;
        assert_eq!(error_of(&refused), (401, "invalid_client".into()), "{bad}");
    }
    *client.keys.lock().unwrap() = format!("\u{feff}{good}");
    AppTokens::read(&exchange(gateway, &code, &proof).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_registers_the_address_of_its_keys() {
    let client = PublishingClient::start(json!([])).await;
    let gateway = &gateway_with(client.options()).await;
    let metadata = |jwks_uri: Value| json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": jwks_uri });
    let registered = register(gateway, &metadata(json!(KEYS))).await;
    assert_eq!(registered.status, 201, "{}", registered.text);
    assert!(registered.json().get("client_secret").is_none());
    for bad in [
        json!(null),
        json!("http://client.example/keys"),
        json!("file:///keys"),
        json!("x"),
    ] {
        let refused = register(gateway, &metadata(bad.clone())).await;
        assert_eq!(
            error_of(&refused),
            (400, "invalid_client_metadata".into()),
            "{bad}"
        );
    }
}
