//! Clients as they are: what `tests/clients` has recorded of each is played against a gateway, from the address alone
//! to a refresh that several processes of the client ask for at once.

use std::collections::BTreeSet;
use std::path::PathBuf;

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::issuer::Issuer;
use toolgate_tests::upstream::Upstream;

use super::way::{
    AppTokens, CHALLENGE, MemberBrowser, VERIFIER, call_at, form, gateway_with, is_let_in, param,
    register,
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("clients")
}

fn recorded(name: &str) -> Value {
    let file = folder().join(format!("{name}.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|cause| panic!("{file:?}: {cause}"));
    serde_json::from_str(&text).unwrap()
}

/// What the client publishes at its own host: its document and its keys.
async fn published(client: &Value, issuer: &Issuer) -> (Upstream, String) {
    let keys = reqwest::get(format!("{}/keys", issuer.url()))
        .await
        .unwrap();
    let keys = keys.text().await.unwrap();
    let document = client["document"].clone();
    let kind = client["served_as"]
        .as_str()
        .unwrap_or("application/json")
        .to_owned();
    let host = Upstream::start(move |request| {
        let body = match request.target.ends_with("jwks.json") {
            true => keys.clone(),
            false => document.to_string(),
        };
        let answer = Response::builder().header("content-type", &kind);
        answer.body(Body::from(body)).unwrap()
    });
    let id = client["document"]["client_id"]
        .as_str()
        .unwrap_or("https://unused.example/");
    let name = url::Url::parse(id).unwrap().host_str().unwrap().to_owned();
    (host.await, name)
}

struct Recorded<'a> {
    gateway: &'a TestGateway,
    client: Value,
    id: String,
    issuer: &'a Issuer,
    token_endpoint: String,
}

impl Recorded<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.client[name].as_str().map(str::to_owned)
    }

    fn resource(&self) -> Option<String> {
        match self.client["resource"].as_str().unwrap() {
            "exact" => Some(self.gateway.url("/mcp")),
            "slash" => Some(self.gateway.url("/mcp/")),
            "origin" => Some(self.gateway.url("")),
            "absent" => None,
            other => panic!("{other}"),
        }
    }

    /// A request to the token endpoint, with the client's proof.
    async fn token(&self, mut pairs: Vec<(&str, String)>) -> Answer {
        pairs.push(("client_id", self.id.clone()));
        if self.client["proof"] == "private_key_jwt" {
            let now_s = Clock::system().now_ms() / 1_000;
            let claims = json!({
                "iss": self.id, "sub": self.id, "aud": self.token_endpoint, "jti": ids::uuid(), "iat": now_s,
                "exp": now_s + 300,
            });
            let header = json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" });
            let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
            pairs.push(("client_assertion_type", kind.to_owned()));
            pairs.push(("client_assertion", self.issuer.sign(&header, &claims)));
        }
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let request = self.gateway.client.post(&self.token_endpoint);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Answer::read(request.body(form(&pairs)).send().await.unwrap()).await
    }
}

async fn get(gateway: &TestGateway, url: &str) -> Value {
    let answer = Answer::read(gateway.client.get(url).send().await.unwrap()).await;
    assert_eq!(answer.status, 200, "{url}: {}", answer.text);
    answer.json()
}

/// The description of the authorization server, found as the client looks for it.
async fn discovered(gateway: &TestGateway, client: &Value) -> Value {
    let refused = call_at(gateway, "/mcp", None, "svc_health_check", json!({})).await;
    let challenge = refused.headers["www-authenticate"]
        .to_str()
        .unwrap()
        .to_owned();
    let (_, found) = challenge.split_once("resource_metadata=\"").unwrap();
    let resource = get(gateway, found.split('"').next().unwrap()).await;
    assert_eq!(resource["resource"], gateway.url("/mcp"));
    let issuer = resource["authorization_servers"][0].as_str().unwrap();
    let path = issuer.strip_prefix(&gateway.url("")).unwrap();
    let at = match client["metadata"].as_str().unwrap() {
        "oauth" => gateway.url(&format!("/.well-known/oauth-authorization-server{path}")),
        "openid" => gateway.url(&format!("/.well-known/openid-configuration{path}")),
        "openid_at_end" => format!("{issuer}/.well-known/openid-configuration"),
        other => panic!("{other}"),
    };
    let metadata = get(gateway, &at).await;
    assert_eq!(metadata["issuer"], issuer);
    metadata
}

/// Does with the tokens of an answer what they are good for.
async fn calls(gateway: &TestGateway, issued: &Answer) -> AppTokens {
    let tokens = AppTokens::read(issued);
    let body = issued.json();
    let scopes = body["scope"].as_str().unwrap();
    if scopes.contains("tools:execute") {
        assert!(is_let_in(gateway, &tokens.access).await);
    } else {
        assert_eq!(scopes, "tools:read");
        let search = json!({ "query": "run" });
        let found = call_at(
            gateway,
            "/mcp",
            Some(&tokens.access),
            "svc_search_tools",
            search,
        )
        .await;
        assert_eq!(found.status, 200, "{}", found.text);
    }
    tokens
}

async fn plays(name: &str) {
    let client = recorded(name);
    let issuer = Issuer::start().await;
    let (host, host_name) = published(&client, &issuer).await;
    let options = Options {
        allow_upstream: vec![format!("{host_name}={}", host.url())],
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let metadata = discovered(gateway, &client).await;
    let endpoint = |name: &str| metadata[name].as_str().unwrap().to_owned();
    let id = match &client["registers"] {
        Value::Null => client["document"]["client_id"].as_str().unwrap().to_owned(),
        body => {
            let registered = register(gateway, body).await;
            assert_eq!(registered.status, 201, "{}", registered.text);
            registered.json()["client_id"].as_str().unwrap().to_owned()
        }
    };
    let app = Recorded {
        gateway,
        id,
        issuer: &issuer,
        token_endpoint: endpoint("token_endpoint"),
        client,
    };

    let mut pairs = vec![
        ("response_type", "code".to_owned()),
        ("client_id", app.id.clone()),
        ("redirect_uri", app.text("redirect_uri").unwrap()),
        ("code_challenge", CHALLENGE.to_owned()),
        ("code_challenge_method", "S256".to_owned()),
        ("state", "st&te".to_owned()),
    ];
    pairs.extend(app.text("scope").map(|scope| ("scope", scope)));
    pairs.extend(app.resource().map(|resource| ("resource", resource)));
    let query: Vec<_> = pairs
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let url = format!("{}?{}", endpoint("authorization_endpoint"), form(&query));
    let opened = gateway.client.get(url).send().await.unwrap();
    assert_eq!(opened.status(), 303, "{}", opened.text().await.unwrap());
    let page = opened.headers()["location"].to_str().unwrap().to_owned();
    let request_id = param(&page, "request").unwrap();
    let path = format!("/internal/app-requests/{request_id}");
    let shown = person.ask(Method::GET, &path, Value::Null).await.data();
    assert_eq!(shown["goes_to"], app.client["goes_to"], "{shown}");
    let back = person.decide(&request_id, true).await.data()["url"].clone();
    let back = back.as_str().unwrap();
    assert!(
        back.starts_with(&app.text("redirect_uri").unwrap()),
        "{back}"
    );

    let mut pairs = vec![
        ("grant_type", "authorization_code".to_owned()),
        ("code", param(back, "code").unwrap()),
        ("redirect_uri", app.text("redirect_uri").unwrap()),
        ("code_verifier", VERIFIER.to_owned()),
    ];
    pairs.extend(app.resource().map(|resource| ("resource", resource)));
    let tokens = calls(gateway, &app.token(pairs).await).await;

    let refresh = &app.client["refresh"];
    let renewals = (0..refresh["at_once"].as_u64().unwrap()).map(|_| {
        let mut pairs = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", tokens.refresh.clone()),
        ];
        if refresh["scope"] == true {
            pairs.extend(app.text("scope").map(|scope| ("scope", scope)));
        }
        if refresh["resource"] == true {
            pairs.extend(app.resource().map(|resource| ("resource", resource)));
        }
        app.token(pairs)
    });
    for renewed in futures_util::future::join_all(renewals).await {
        calls(gateway, &renewed).await;
    }
    assert_eq!(person.apps().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn chatgpt_signs_in_and_renews_its_token() {
    plays("chatgpt").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_signs_in_and_renews_its_token() {
    plays("claude").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_signs_in_and_renews_its_token() {
    plays("claude_code").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cursor_signs_in_and_renews_its_token() {
    plays("cursor").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn vs_code_signs_in_and_renews_its_token() {
    plays("vscode").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn warp_signs_in_and_renews_its_token() {
    plays("warp").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_signs_in_and_renews_its_token() {
    plays("codex").await;
}

#[test]
fn each_recorded_client_is_played_and_names_its_sources() {
    let names: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let is_client = path.extension().is_some_and(|kind| kind == "json");
            is_client.then(|| path.file_stem().unwrap().to_str().unwrap().to_owned())
        })
        .collect();
    let played = [
        "chatgpt",
        "claude",
        "claude_code",
        "codex",
        "cursor",
        "vscode",
        "warp",
    ];
    assert_eq!(names, played.map(String::from).into());
    for name in names {
        let sources = recorded(&name)["sources"].as_array().map_or(0, Vec::len);
        assert!(sources >= 2, "{name}");
    }
}
