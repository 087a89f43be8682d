//! The certified authorization server (npm `oidc-provider`) as the company's: its groups decide who is a member, and
//! it issues identity assertions (ID-JAG) that MCP clients exchange for tokens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_gateway::identity::members::oidc::{CONFIRMED_MS, OIDC_CALLBACK_PATH};
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway, client};
use toolgate_tests::oidc::Server;
use toolgate_tests::person;
use url::Url;

use super::way::{
    App, CHALLENGE, MemberBrowser, REDIRECT, VERIFIER, error_of, form, gateway_with, is_let_in,
    member, param,
};

const ADA: &str = "ada@example.com";

struct CertifiedCompany {
    gateway: TestGateway,
    provider: Server,
    clock: Clock,
    _folder: tempfile::TempDir,
}

impl CertifiedCompany {
    async fn start() -> Self {
        let mut provider = Server::start().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "the-client-secret\n").unwrap();
        let clock = Clock::manual(system_ms());
        let options = Options {
            oidc_issuer: Some(provider.issuer()),
            oidc_client: Some(("the-client".to_owned(), secret)),
            oidc_group_role: vec!["engineering=member".to_owned()],
            id_jag_issuer: vec![provider.issuer()],
            clock: Some(clock.clone()),
            ..Options::default()
        };
        let gateway = gateway_with(options).await;
        let callback = gateway.url(OIDC_CALLBACK_PATH);
        provider.register_sign_in(&callback).await.unwrap();
        member(&gateway, "owner@example.com", Role::Owner, None).await;
        Self {
            gateway,
            provider,
            clock,
            _folder: folder,
        }
    }

    /// What the provider signs now is of now for the gateway too.
    fn catch_up(&self) {
        self.clock
            .advance_ms((system_ms() - self.clock.now_ms()).max(0));
    }

    async fn sign_in(&self, login: &str) -> Result<MemberBrowser<'_>, String> {
        let (there, flow) = MemberBrowser::start_by_provider(&self.gateway).await;
        let callback = self.gateway.url(OIDC_CALLBACK_PATH);
        let back = person::agree(&there, login, &callback).await.unwrap();
        let query = Url::parse(&back).unwrap().query().unwrap().to_owned();
        MemberBrowser::back(&self.gateway, &flow, &query).await
    }
}

fn system_ms() -> i64 {
    Clock::system().now_ms()
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_a_certified_provider_let_in_and_out() {
    let company = &CertifiedCompany::start().await;
    let (gateway, provider) = (&company.gateway, &company.provider);
    let refused = company.sign_in(ADA).await.err();
    assert_eq!(refused.as_deref(), Some("/sign-in?problem=oidc_no_group"));
    provider
        .put_in(ADA, &["marketing", "engineering"])
        .await
        .unwrap();
    let ada = company.sign_in(ADA).await.unwrap();
    let app = App::new(gateway).await;
    let tokens = app.connect(&ada).await;
    assert!(is_let_in(gateway, &tokens.access).await);
    // Asked again with a refresh token that the provider rotates each time.
    for round in 1..=3 {
        company.clock.advance_ms(CONFIRMED_MS);
        assert!(is_let_in(gateway, &tokens.access).await, "{round}");
    }
    assert_eq!(provider.refreshes().await.unwrap(), 3);
    provider.put_in(ADA, &["marketing"]).await.unwrap();
    company.clock.advance_ms(CONFIRMED_MS);
    assert!(!is_let_in(gateway, &tokens.access).await);
    let refused = app.refresh(&tokens.refresh, &[]).await;
    assert_eq!(error_of(&refused).1, "invalid_grant");
    // A session that the provider takes back ends too.
    provider.put_in(ADA, &["engineering"]).await.unwrap();
    let ada = company.sign_in(ADA).await.unwrap();
    let tokens = app.connect(&ada).await;
    provider.revoke_everything().await.unwrap();
    company.clock.advance_ms(CONFIRMED_MS);
    assert!(!is_let_in(gateway, &tokens.access).await);
}

/// What the provider answers its own client, the agent.
async fn as_agent(provider: &Server, pairs: &[(&str, &str)]) -> Value {
    let basic = format!("Basic {}", STANDARD.encode("the-agent:the-agent-secret"));
    let url = format!("{}/login/oauth/access_token", provider.issuer());
    let request = client().post(url).body(form(pairs));
    let request = request
        .header("content-type", "application/x-www-form-urlencoded")
        .header("authorization", basic);
    Answer::read(request.send().await.unwrap()).await.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_comes_with_an_assertion_of_a_certified_provider() {
    let company = &CertifiedCompany::start().await;
    let (gateway, provider) = (&company.gateway, &company.provider);
    provider.put_in(ADA, &["engineering"]).await.unwrap();
    company.sign_in(ADA).await.unwrap();
    let client = App::new(gateway).await;

    // Single sign-on to the agent, at the company's provider.
    let authorize = format!(
        "{}/login/oauth/authorize?{}",
        provider.issuer(),
        form(&[
            ("response_type", "code"),
            ("client_id", "the-agent"),
            ("redirect_uri", REDIRECT),
            ("scope", "openid email"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ])
    );
    let back = person::agree(&authorize, ADA, REDIRECT).await.unwrap();
    let tokens = as_agent(
        provider,
        &[
            ("grant_type", "authorization_code"),
            ("code", &param(&back, "code").unwrap()),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ],
    )
    .await;
    let id_token = tokens["id_token"]
        .as_str()
        .unwrap_or_else(|| panic!("{tokens}"));

    // Exchanged there for an assertion, and here for an access token, without asking anybody.
    let exchange = async |resource: &str| {
        let issuer = gateway.url("/oauth");
        let exchanged = as_agent(
            provider,
            &[
                (
                    "grant_type",
                    "urn:ietf:params:oauth:grant-type:token-exchange",
                ),
                (
                    "requested_token_type",
                    "urn:ietf:params:oauth:token-type:id-jag",
                ),
                (
                    "subject_token_type",
                    "urn:ietf:params:oauth:token-type:id_token",
                ),
                ("subject_token", id_token),
                ("audience", &issuer),
                ("resource", resource),
                ("scope", "tools:read tools:execute"),
                ("client_at_audience", &client.id),
            ],
        )
        .await;
        company.catch_up();
        assert_eq!(exchanged["token_type"], "N_A", "{exchanged}");
        let pairs = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("client_id", client.id.as_str()),
            ("assertion", exchanged["access_token"].as_str().unwrap()),
        ];
        client.post("/oauth/token", form(&pairs)).await
    };
    let issued = exchange(&gateway.url("/mcp")).await;
    assert_eq!(issued.status, 200, "{}", issued.text);
    assert_eq!(issued.json()["scope"], json!("tools:read tools:execute"));
    let access = issued.json()["access_token"].as_str().unwrap().to_owned();
    assert!(is_let_in(gateway, &access).await);
    let elsewhere = exchange("https://other.test/mcp").await;
    assert_eq!(error_of(&elsewhere).1, "invalid_grant");

    // Out of the group, out: with the token that is there, and with a new assertion.
    provider.put_in(ADA, &[]).await.unwrap();
    company.clock.advance_ms(CONFIRMED_MS);
    assert!(!is_let_in(gateway, &access).await);
}
