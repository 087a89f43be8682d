//! Identity assertions (ID-JAG) of an issuer that the operator trusts, and every refusal of them. The issuer here
//! signs whatever a test asks for; `company` has the certified one.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use toolgate_core::clock::Clock;
use toolgate_core::ids;
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_tenant};
use toolgate_tests::issuer::Issuer;
use toolgate_tests::postgres;

use super::way::{App, MemberBrowser, error_of, form, gateway_with, is_let_in, member};
use super::whole::actions;

const TYPE: &str = "oauth-id-jag+jwt";
const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const NOW_MS: i64 = 1_795_167_030_000;
const NOW_S: i64 = NOW_MS / 1_000;
const ADA: &str = "ada@example.com";

struct IssuingCompany {
    gateway: TestGateway,
    issuer: Issuer,
    clock: Clock,
}

impl IssuingCompany {
    async fn start(database_url: Option<String>) -> Self {
        let (issuer, clock) = (Issuer::start().await, Clock::manual(NOW_MS));
        let options = Options {
            id_jag_issuer: vec![issuer.url()],
            clock: Some(clock.clone()),
            database_url,
            ..Options::default()
        };
        Self {
            gateway: gateway_with(options).await,
            issuer,
            clock,
        }
    }

    /// What an assertion says for Ada and this client; each has another id.
    fn claims(&self, client: &App<'_>) -> Value {
        json!({
            "iss": self.issuer.url(), "sub": "account-7", "email": ADA,
            "aud": self.gateway.url("/oauth"), "resource": self.gateway.url("/mcp"),
            "client_id": client.id, "jti": ids::uuid(), "iat": NOW_S, "exp": NOW_S + 300,
            "scope": "tools:read tools:execute",
        })
    }

    fn signed(&self, claims: &Value) -> String {
        self.issuer.sign(&header(), claims)
    }
}

fn header() -> Value {
    json!({ "alg": "EdDSA", "kid": "one", "typ": TYPE })
}

async fn present(client: &App<'_>, assertion: &str, more: &[(&str, &str)]) -> Answer {
    let mut pairs = vec![
        ("grant_type", GRANT_TYPE),
        ("client_id", &client.id),
        ("assertion", assertion),
    ];
    pairs.extend(more);
    client.post("/oauth/token", form(&pairs)).await
}

fn token_of(answer: &Answer) -> String {
    let body = answer.json();
    assert_eq!(answer.status, 200, "{body}");
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(body["token_type"], "Bearer");
    assert!(
        body.get("refresh_token").is_none(),
        "the issuer decides anew"
    );
    body["access_token"].as_str().unwrap().to_owned()
}

async fn an_assertion_is_exchanged(database_url: Option<String>) {
    let company = &IssuingCompany::start(database_url).await;
    let gateway = &company.gateway;
    let person = MemberBrowser::new(gateway, ADA, Role::Member).await;
    let client = App::new(gateway).await;
    let metadata = gateway.url("/.well-known/oauth-authorization-server/oauth");
    let metadata = Answer::read(gateway.client.get(metadata).send().await.unwrap()).await;
    let metadata = metadata.json();
    assert_eq!(
        metadata["authorization_grant_profiles_supported"],
        json!(["urn:ietf:params:oauth:grant-profile:id-jag"])
    );
    let types = metadata["grant_types_supported"].as_array().unwrap();
    assert!(types.contains(&json!(GRANT_TYPE)), "{types:?}");

    let first = present(&client, &company.signed(&company.claims(&client)), &[]).await;
    assert_eq!(first.json()["scope"], "tools:read tools:execute");
    let first = token_of(&first);
    assert!(is_let_in(gateway, &first).await);
    // The next one belongs to the same connected app.
    let second = present(&client, &company.signed(&company.claims(&client)), &[]).await;
    let second = token_of(&second);
    let apps = person.apps().await;
    assert_eq!(apps.len(), 1, "{apps:?}");
    assert_eq!(apps[0]["member_name"], "ada");
    assert!(is_let_in(gateway, &first).await && is_let_in(gateway, &second).await);

    // Ended by the member, both end; the issuer may decide anew.
    let path = format!("/internal/apps/{}", apps[0]["app_id"].as_str().unwrap());
    let ended = person.ask(Method::DELETE, &path, Value::Null).await;
    assert_eq!(ended.status, 200);
    assert!(!is_let_in(gateway, &first).await && !is_let_in(gateway, &second).await);
    // Less than the issuer grants, where the client asks for less.
    let claims = company.claims(&client);
    let less = [("scope", "tools:read skills:read")];
    let less = present(&client, &company.signed(&claims), &less).await;
    assert_eq!(less.json()["scope"], "tools:read", "{}", less.text);
    // An hour, and no more.
    let last = token_of(&present(&client, &company.signed(&company.claims(&client)), &[]).await);
    company.clock.advance_ms(60 * 60 * 1_000);
    assert!(!is_let_in(gateway, &last).await);
    let told = actions(gateway).await;
    let entered = told
        .iter()
        .filter(|(one, _)| one == "apps.enter_by_assertion");
    assert_eq!(entered.count(), 4, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assertion_is_exchanged_on_sqlite() {
    an_assertion_is_exchanged(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assertion_is_exchanged_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    an_assertion_is_exchanged(Some(url.await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_other_assertion_is_refused_and_written_down() {
    let company = &IssuingCompany::start(None).await;
    let gateway = &company.gateway;
    member(gateway, ADA, Role::Member, None).await;
    let (client, other) = (App::new(gateway).await, App::new(gateway).await);
    let mut written = 0;
    for (name, value) in [
        ("aud", json!(gateway.url("/mcp"))),
        ("aud", json!("https://other.test/oauth")),
        ("resource", json!(gateway.url("/mcp/key"))),
        ("resource", json!("https://other.test/mcp")),
        ("client_id", json!(other.id)),
        ("iss", json!("https://evil.test")),
        ("exp", json!(NOW_S - 61)),
        ("exp", json!(NOW_S + 4_000)),
        ("iat", json!(NOW_S + 120)),
        ("nbf", json!(NOW_S + 120)),
        ("jti", json!("")),
        ("email", json!("nobody@example.com")),
        ("email_verified", json!(false)),
        ("aud_tenant", json!("another")),
    ] {
        let mut claims = company.claims(&client);
        claims[name] = value.clone();
        let refused = present(&client, &company.signed(&claims), &[]).await;
        let expected = (400, "invalid_grant".to_owned());
        assert_eq!(
            error_of(&refused),
            expected,
            "{name} {value}: {}",
            refused.text
        );
        written += 1;
    }
    let claims = company.claims(&client);
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let with = |name: &str, value: Value| {
        let mut header = header();
        header[name] = value;
        header
    };
    // The public key as the secret of an HMAC, which a careless verifier would take.
    let text = format!("{}.{}", part(&with("alg", json!("HS256"))), part(&claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(b"public").unwrap();
    mac.update(text.as_bytes());
    let hmac = format!(
        "{text}.{}",
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    );
    let none = format!("{}.{}.", part(&with("alg", json!("none"))), part(&claims));
    let stranger = Issuer::start().await;
    for (assertion, what) in [
        (hmac, "HMAC"),
        (none, "none"),
        (
            company.issuer.sign(&with("typ", json!("JWT")), &claims),
            "typ",
        ),
        (
            company.issuer.sign(&with("kid", json!("two")), &claims),
            "kid",
        ),
        (stranger.sign(&header(), &claims), "another key"),
        ("a.b.c".to_owned(), "no JWT"),
    ] {
        let refused = present(&client, &assertion, &[]).await;
        assert_eq!(
            error_of(&refused),
            (400, "invalid_grant".to_owned()),
            "{what}"
        );
        written += 1;
    }
    let told = actions(gateway).await;
    let refusals = told
        .iter()
        .filter(|(one, _)| one == "apps.refuse_assertion");
    assert_eq!(refusals.count(), written, "{told:?}");

    // A bad request is refused before the assertion is read, so the assertion can still be used.
    let good = company.signed(&claims);
    let elsewhere = gateway.url("/mcp/key");
    let refused = present(&client, &good, &[("resource", &elsewhere)]).await;
    assert_eq!(error_of(&refused).1, "invalid_target");
    let refused = present(&client, &good, &[("scope", "admin")]).await;
    assert_eq!(error_of(&refused).1, "invalid_scope");
    let refused = present(&other, &good, &[]).await;
    assert_eq!(error_of(&refused).1, "invalid_grant");
    assert!(is_let_in(gateway, &token_of(&present(&client, &good, &[]).await)).await);
    // Once.
    let again = present(&client, &good, &[]).await;
    assert_eq!(error_of(&again), (400, "invalid_grant".to_owned()));
    assert!(again.text.contains("used before"), "{}", again.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_refused_after_the_grant_has_ended_too() {
    let company = &IssuingCompany::start(None).await;
    let person = MemberBrowser::new(&company.gateway, ADA, Role::Member).await;
    let client = App::new(&company.gateway).await;
    let assertion = company.signed(&company.claims(&client));
    token_of(&present(&client, &assertion, &[]).await);
    let id = person.apps().await[0]["app_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/internal/apps/{id}");
    person.ask(Method::DELETE, &path, Value::Null).await;
    let again = present(&client, &assertion, &[]).await;
    assert_eq!(error_of(&again).1, "invalid_grant");
    // At the same time, one of several.
    let assertion = company.signed(&company.claims(&client));
    let presented = (0..6).map(|_| present(&client, &assertion, &[]));
    let answers = futures_util::future::join_all(presented).await;
    let taken = answers.iter().filter(|answer| answer.status == 200);
    assert_eq!(taken.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_switched_off_or_of_another_workspace_gets_nothing() {
    let company = &IssuingCompany::start(None).await;
    let gateway = &company.gateway;
    let admin = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    member(gateway, ADA, Role::Member, None).await;
    let client = App::new(gateway).await;
    let block = json!({ "client_id": client.id });
    let blocked = admin
        .ask(Method::POST, "/internal/app-blocks", block.clone())
        .await;
    assert_eq!(blocked.status, 200);
    let refused = present(&client, &company.signed(&company.claims(&client)), &[]).await;
    assert_eq!(error_of(&refused).1, "invalid_grant");
    admin
        .ask(Method::DELETE, "/internal/app-blocks", block)
        .await;
    token_of(&present(&client, &company.signed(&company.claims(&client)), &[]).await);

    // A member of two workspaces: the assertion has to say of which.
    let (_, theirs) = new_tenant(&gateway.gateway, "theirs").await.unwrap();
    member(gateway, ADA, Role::Member, Some(&theirs)).await;
    let refused = present(&client, &company.signed(&company.claims(&client)), &[]).await;
    assert_eq!(error_of(&refused).1, "invalid_grant");
    assert!(refused.text.contains("aud_tenant"), "{}", refused.text);
    let mut claims = company.claims(&client);
    claims["aud_tenant"] = json!("theirs");
    token_of(&present(&client, &company.signed(&claims), &[]).await);

    // Without a trusted issuer there is no such grant.
    let plain = &gateway_with(Options::default()).await;
    let client = App::new(plain).await;
    let refused = present(&client, &company.signed(&company.claims(&client)), &[]).await;
    assert_eq!(error_of(&refused), (400, "unsupported_grant_type".into()));
    let metadata = plain.url("/.well-known/oauth-authorization-server/oauth");
    let metadata = Answer::read(plain.client.get(metadata).send().await.unwrap()).await;
    assert!(!metadata.text.contains("id-jag"), "{}", metadata.text);
}
